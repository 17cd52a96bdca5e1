"""The report as a real browser shows it: whole, without a word to the network, and right."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from sessions.report.page import write_report
from tests.browser import Page, browser, opened_page
from tests.sessions.report.made_results import analysed, results

CELLS = """
[...document.querySelectorAll('table[data-table]')].map(table => [
  table.dataset.table,
  [...table.querySelectorAll('tbody tr')].map(row => Object.fromEntries(
    [...row.querySelectorAll('td')].map(cell => [cell.dataset.column, cell.dataset.value ?? null])
  )),
])
"""
VISIBLE = """
[...document.querySelectorAll('svg .area')].filter(shape =>
  shape.getBoundingClientRect().height > 0 && getComputedStyle(shape).fill !== 'rgb(0, 0, 0)'
).length
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = results(tmp_path_factory.mktemp("browser") / "out")
    write_report(made, analysed(made / "dataset"))
    return made


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = browser()
    if program is None:
        assert "CI" not in os.environ, "the gate needs a browser"
        pytest.skip("needs Chromium")
    with opened_page(program, tmp_path_factory.mktemp("profile")) as opened:
        opened.open(folder / "report.html")
        yield opened


def test_it_asks_the_network_for_nothing(page: Page, folder: Path) -> None:
    asked = [each["request"]["url"] for each in page.events("Network.requestWillBeSent")]
    assert [url for url in asked if not url.startswith("data:")] == [
        (folder / "report.html").as_uri()
    ]


def test_it_has_no_errors(page: Page) -> None:
    assert page.events("Runtime.exceptionThrown") == []
    assert page.events("Runtime.consoleAPICalled") == []
    assert page.events("Log.entryAdded") == []


def test_its_numbers_are_those_of_the_parquet_files(page: Page, folder: Path) -> None:
    tables: list[Any] = page.value(CELLS)
    assert len(tables) > 10
    for name, rows in tables:
        written = [
            {column: None if value is None else str(value) for column, value in row.items()}
            for row in pq.read_table(folder / name).to_pylist()
        ]
        for row in rows:
            assert any(row.items() <= each.items() for each in written), (name, row)


def test_every_plot_is_drawn_in_its_colours(page: Page) -> None:
    drawn = page.value("document.querySelectorAll('svg .area').length")
    assert drawn > 50
    assert page.value(VISIBLE) == drawn


def test_nothing_is_wider_than_the_page(page: Page) -> None:
    assert page.value("document.documentElement.scrollWidth <= innerWidth")


def test_an_events_number_gives_its_command(page: Page) -> None:
    command = "document.getElementById('command')"
    assert page.value(f"{command}.hidden")
    page.value(
        "[...document.querySelectorAll('.event')].find(b => b.textContent == '#501').click()"
    )
    assert not page.value(f"{command}.hidden")
    assert page.value(f"{command}.querySelector('code').textContent") == (
        "tidegauge replay failover.tide.db --paused --at '#501'"
    )


def test_it_has_a_look_for_the_dark(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page.do(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    dark = page.value(ground)
    page.do("Emulation.setEmulatedMedia", features=[])
    assert dark != page.value(ground)
