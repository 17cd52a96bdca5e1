"""The report as a real browser shows it: whole, without a word to the network, and right."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec import Struct

from sessions.report.page import write_report
from tests.sessions.report.made_results import analysed, results
from tests.support.browser import browser_page, program

CELLS = """
[...document.querySelectorAll('table[data-table]')].map(table => [
  table.dataset.table,
  [...table.querySelectorAll('tbody tr')].map(row => Object.fromEntries(
    [...row.querySelectorAll('td')].map(cell => [cell.dataset.column, cell.dataset.value ?? null])
  )),
])
"""
SHAPES = "document.querySelectorAll('svg .area').length"
VISIBLE = """
[...document.querySelectorAll('svg .area')].filter(shape =>
  shape.getBoundingClientRect().height > 0 && getComputedStyle(shape).fill !== 'rgb(0, 0, 0)'
).length
"""
FITS = "document.documentElement.scrollWidth <= innerWidth"
GROUND = "getComputedStyle(document.body).backgroundColor"
BAR = "document.getElementById('command')"
PRESS = "[...document.querySelectorAll('.event')].find(b => b.textContent == '#501').click()"


class Seen(Struct):
    """What the browser says of the page."""

    requests: list[str]
    complaints: list[str]
    tables: list[tuple[str, list[dict[str, Any]]]]
    shapes: int
    visible: int
    fits: bool
    light: str
    dark: str
    hidden: bool
    command: str


async def looked_at(path: Path) -> Seen:
    async with browser_page() as page:
        await page.open(path.as_uri())
        await page.until("document.readyState == 'complete'")
        light, hidden = await page.evaluate(GROUND), await page.evaluate(f"{BAR}.hidden")
        tables = await page.evaluate(CELLS)
        await page.evaluate(PRESS)
        command = await page.evaluate(f"{BAR}.hidden || {BAR}.querySelector('code').textContent")
        dark = {"name": "prefers-color-scheme", "value": "dark"}
        await page.call("Emulation.setEmulatedMedia", features=[dark])
        return Seen(
            page.requests,
            page.complaints,
            tables,
            await page.evaluate(SHAPES),
            await page.evaluate(VISIBLE),
            await page.evaluate(FITS),
            light,
            await page.evaluate(GROUND),
            hidden,
            command,
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = results(tmp_path_factory.mktemp("browser") / "out")
    write_report(made, analysed(made / "dataset"))
    return made


@pytest.fixture(scope="module")
def seen(folder: Path) -> Seen:
    if program() is None:
        assert "CI" not in os.environ, "the gate needs a browser"
        pytest.skip("there is no chromium here")
    return asyncio.run(looked_at(folder / "report.html"))


def test_it_asks_the_network_for_nothing(seen: Seen, folder: Path) -> None:
    asked = [url for url in seen.requests if not url.startswith("data:")]
    assert asked == [(folder / "report.html").as_uri()]


def test_it_has_no_errors(seen: Seen) -> None:
    assert seen.complaints == []


def test_its_numbers_are_those_of_the_parquet_files(seen: Seen, folder: Path) -> None:
    assert len(seen.tables) > 10
    for name, rows in seen.tables:
        written = [
            {column: None if value is None else str(value) for column, value in row.items()}
            for row in pq.read_table(folder / name).to_pylist()
        ]
        for row in rows:
            assert any(row.items() <= each.items() for each in written), (name, row)


def test_every_plot_is_drawn_in_its_colours(seen: Seen) -> None:
    assert seen.visible == seen.shapes > 50


def test_nothing_is_wider_than_the_page(seen: Seen) -> None:
    assert seen.fits


def test_an_events_number_gives_its_command(seen: Seen) -> None:
    assert seen.hidden
    assert seen.command == "tidegauge replay failover.tide.db --paused --at '#501'"


def test_it_has_a_look_for_the_dark(seen: Seen) -> None:
    assert seen.dark != seen.light
