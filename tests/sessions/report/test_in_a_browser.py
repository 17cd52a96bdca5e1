"""The report as a real browser shows it: whole, without a word to the network, and right."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import pytest_asyncio

from sessions.analysis.results.availability import AVAILABILITY, AVAILABILITY_TIMELINE
from sessions.report.page import write_report
from sessions.report.units import clock_text, number_text, time_text
from tests.sessions.report.made_results import analysed, place, results, write
from tests.support.browser import Page, browser_page, program

CELLS = """
[...document.querySelectorAll('table[data-table]')].map(table => {
  const columns = [...table.tHead.rows[0].cells].map(cell => cell.dataset);
  return [table.dataset.table, [...table.tBodies[0].rows].map(row => {
    const found = {};
    columns.forEach(({column, event}, at) => {
      found[column] = row.cells[at].dataset.value ?? null;
      const button = row.cells[at].querySelector('button.event');
      if (event && button) found[event] = button.dataset.seq;
    });
    return found;
  })];
})
"""
LAYOUT = """
(() => {
  const wide = document.documentElement.scrollWidth;
  const texts = [...document.querySelectorAll(
    'h1, h2, h3, p, figcaption, .legend, .tools, .bars .label, .bars .value, summary, nav a, label'
  )].filter(each => each.offsetParent && !each.classList.contains('hidden'));
  const outside = texts.filter(each => {
    const box = each.getBoundingClientRect();
    return box.left < 0 || box.right > innerWidth || each.scrollWidth > each.clientWidth + 1
      && getComputedStyle(each).display != 'inline';
  }).map(each => each.outerHTML.slice(0, 80));
  return [wide <= innerWidth, outside];
})()
"""
COLOURS = """
(() => {
  const canvas = document.querySelector('figure.chart canvas');
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const found = new Set();
  for (let at = 0; at < pixels.length; at += 4)
    if (pixels[at + 3] == 255) found.add(`rgb(${pixels.slice(at, at + 3).join(', ')})`);
  return [...found];
})()
"""
LEADERLESS = "getComputedStyle(document.querySelector('.key.leaderless')).backgroundColor"
GROUND = "getComputedStyle(document.body).backgroundColor"
COMMAND = "document.querySelector('#command code').textContent"
PLOT = "document.querySelector('#availability .plot')"
SCALES = "charts.map(each => [each.data.axis, each.plot.scales.x.min, each.plot.scales.x.max])"
MS = 1_000
SECOND = 1_000_000

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if program() is None:
        assert "CI" not in os.environ, "the gate needs a browser"
        pytest.skip("there is no chromium here")
    made = results(tmp_path_factory.mktemp("browser") / "out")
    write_report(made, analysed(made / "dataset"))
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(folder: Path) -> AsyncIterator[Page]:
    """One browser for all tests: its start takes longer than most of them."""
    async with browser_page() as page:
        yield page


@asynccontextmanager
async def shown(page: Page, folder: Path, width: int = 1200) -> AsyncIterator[None]:
    """The report, loaded anew; in the end it has asked for nothing and complained of nothing."""
    await page.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    await scheme(page, dark=False)
    await page.open("about:blank")
    await page.until("location.href == 'about:blank'")
    page.requests.clear()
    address = (folder / "report.html").as_uri()
    await page.open(address)
    await page.until(f"location.href == '{address}' && document.readyState == 'complete'")
    yield
    await page.evaluate("0")
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("data:")] == [address]


async def scheme(page: Page, *, dark: bool) -> None:
    value = "dark" if dark else "light"
    features = [{"name": "prefers-color-scheme", "value": value}]
    await page.call("Emulation.setEmulatedMedia", features=features)


def column(table: str, number: int, *, seen: bool = True) -> str:
    """The texts of a column of a table, of the rows that are seen."""
    rows = f"[...document.querySelector('table[data-table={table}]').tBodies[0].rows]"
    chosen = f"{rows}.filter(row => row.getClientRects().length)" if seen else rows
    return f"{chosen}.map(row => row.cells[{number}].firstChild.textContent)"


async def typed(page: Page, place: str, text: str, kind: str = "input") -> None:
    """Write into a field of the page."""
    await page.evaluate(
        f"(() => {{ const field = {place}; field.value = {json.dumps(text)};"
        f"field.dispatchEvent(new Event('{kind}', {{bubbles: true}})); }})()"
    )


async def test_its_numbers_are_those_of_the_parquet_files(tab: Page, folder: Path) -> None:
    async with shown(tab, folder):
        tables: list[tuple[str, list[dict[str, Any]]]] = await tab.evaluate(CELLS)
    assert len(tables) > 10
    for name, rows in tables:
        written = [
            {column: None if value is None else str(value) for column, value in row.items()}
            for row in pq.read_table(folder / name).to_pylist()
        ]
        for row in rows:
            known = {
                column: value for column, value in row.items() if not is_bare_event(row, column)
            }
            assert any(known.items() <= each.items() for each in written), (name, row)


def is_bare_event(row: dict[str, Any], column: str) -> bool:
    """A column that is nothing but an event has its value in the button."""
    return column.endswith("_seq") and row[column] is None


async def test_a_table_is_sorted_by_its_headings(tab: Page, folder: Path) -> None:
    press = (
        "document.querySelectorAll('table[data-table=commit_latency]')[0]"
        ".tHead.rows[0].cells[{}].querySelector('button').click()"
    )
    order = "document.querySelectorAll('table[data-table=commit_latency] [aria-sort]')"
    async with shown(tab, folder):
        assert (await tab.evaluate(column("commit_latency", 1)))[:2] == [
            "orders-129",
            "orders-128",
        ]
        await tab.evaluate(press.format(1))
        # as people count, not by letters: orders-100 comes after orders-30
        assert (await tab.evaluate(column("commit_latency", 1)))[:2] == ["orders-30", "orders-31"]
        assert await tab.evaluate(f"{order}.length") == 1
        assert await tab.evaluate(f"{order}[0].getAttribute('aria-sort')") == "ascending"
        await tab.evaluate(press.format(3))
        assert (await tab.evaluate(column("commit_latency", 3)))[:2] == ["229", "228"]
        assert await tab.evaluate(f"{order}[0].getAttribute('aria-sort')") == "descending"
        await tab.evaluate(press.format(3))
        assert (await tab.evaluate(column("commit_latency", 3)))[:2] == ["130", "131"]


async def test_what_has_no_value_is_sorted_last(tab: Page, folder: Path) -> None:
    press = (
        "[...document.querySelectorAll('table[data-table=failovers] button.sort')]"
        ".find(button => button.textContent == 'total').click()"
    )
    async with shown(tab, folder):
        for _ in range(2):
            await tab.evaluate(press)
            assert (await tab.evaluate(column("failovers", 1)))[-1] == "orders-0"


async def test_a_table_is_filtered_by_words_in_any_order(tab: Page, folder: Path) -> None:
    field = "document.querySelector('#latency .table .tools input')"
    async with shown(tab, folder):
        await typed(tab, field, "219 ORDERS-119")
        assert await tab.evaluate(column("commit_latency", 1)) == ["orders-119"]
        state = "document.querySelector('#latency .table .matches').textContent"
        assert await tab.evaluate(state) == "1 of 100 rows"
        await typed(tab, field, "")
        assert len(await tab.evaluate(column("commit_latency", 1))) == 100


async def test_the_filter_of_the_page_holds_for_tables_charts_and_bars(
    tab: Page, folder: Path
) -> None:
    figures = "[...document.querySelectorAll('figure.chart')].filter(each => !each.hidden).length"
    bars = "[...document.querySelectorAll('.bars li')].filter(each => !each.hidden).length"
    async with shown(tab, folder):
        before = [await tab.evaluate(each) for each in (figures, bars)]
        await typed(tab, "sessionInput", "calm")
        assert await tab.evaluate(column("availability", 0)) == ["calm"]
        # the latencies are of all sessions
        assert [await tab.evaluate(each) for each in (figures, bars)] == [2, 0]
        assert before == [4, 3]
        await tab.evaluate("everything.click()")
        assert [await tab.evaluate(each) for each in (figures, bars)] == before


async def test_a_drag_zooms_all_charts_of_virtual_time_and_the_rows_with_them(
    tab: Page, folder: Path
) -> None:
    async with shown(tab, folder):
        await tab.evaluate(f"{PLOT}.scrollIntoView({{block: 'center'}})")
        box = await tab.evaluate(
            f"(() => {{ const box = {PLOT}.querySelector('.u-over').getBoundingClientRect();"
            "return [box.left, box.top, box.width, box.height]; })()"
        )
        left, top, width, height = box
        at = top + height / 2
        await tab.drag((left + width * 0.25, at), (left + width * 0.5, at))
        scales = await tab.evaluate(SCALES)
        times = [scale[1:] for scale in scales if scale[0] == "time"]
        assert times[0] == pytest.approx([36 * SECOND, 72 * SECOND], rel=0.01)
        assert times[1][0] == times[0][0]  # of the HW lag, whose session is shorter
        assert [scale[1:] for scale in scales if scale[0] == "latency"] == [
            pytest.approx([12.0, 20.32], abs=0.01)
        ] * 2
        assert await tab.evaluate(column("failovers", 1)) == ["orders-0"]  # it never ended
        inputs = await tab.evaluate("[fromInput.value, toInput.value]")
        assert all(
            text.startswith(begin) for text, begin in zip(inputs, ("00:3", "01:1"), strict=True)
        )
        await tab.evaluate("everything.click()")
        assert (await tab.evaluate(SCALES))[0] == ["time", 0, 144 * SECOND]
        assert len(await tab.evaluate(column("failovers", 1))) == 4


async def test_a_time_that_is_typed_zooms_as_well(tab: Page, folder: Path) -> None:
    async with shown(tab, folder):
        await typed(tab, "fromInput", "500 ms", "change")
        await typed(tab, "toInput", "00:20.25", "change")
        assert (await tab.evaluate(SCALES))[0] == ["time", 500 * MS, 20_250 * MS]
        await typed(tab, "toInput", "soon", "change")
        assert (await tab.evaluate(SCALES))[0] == ["time", 500 * MS, 20_250 * MS]
        assert await tab.evaluate("toInput.getAttribute('aria-invalid')") == "true"
        assert "A time is 01:15" in await tab.evaluate("viewState.textContent")


async def test_a_chart_is_moved_through_by_keyboard_and_told_in_words(
    tab: Page, folder: Path
) -> None:
    told = f"{PLOT}.getAttribute('aria-valuetext')"
    async with shown(tab, folder):
        await tab.evaluate(f"{PLOT}.focus()")
        assert await tab.evaluate(f"[{PLOT}.role, {PLOT}.ariaLabel]") == [
            "slider",
            "failover: partitions with something wrong, of 4",
        ]
        # it begins where things are worst
        worst = (
            "00:01 to 00:19: under-replicated 2, under min ISR 0, leaderless 1, offline 0, "
            "event #501"
        )
        assert await tab.evaluate(told) == worst
        await tab.press("ArrowRight")
        assert (await tab.evaluate(told)).startswith("00:19 to 02:24: under-replicated 0")
        await tab.press("End")
        assert await tab.evaluate(f"{PLOT}.getAttribute('aria-valuenow')") == "3"
        await tab.press("Home")
        await tab.press("ArrowRight")
        assert await tab.evaluate(told) == worst
        await tab.press("+")
        _, begin, end = (await tab.evaluate(SCALES))[0]
        assert end - begin == 72 * SECOND
        assert begin <= SECOND <= end
        await tab.press("0")
        assert (await tab.evaluate(SCALES))[0] == ["time", 0, 144 * SECOND]
        await tab.press("Enter")
        assert await tab.evaluate(COMMAND) == (
            "tidegauge replay failover.tide.db --paused --at '#501'"
        )
        await tab.press("Escape")
        assert await tab.evaluate("document.getElementById('command').hidden")


async def test_everything_is_reached_with_the_tab_key(tab: Page, folder: Path) -> None:
    async with shown(tab, folder):
        controls = await tab.evaluate(
            "[...document.querySelectorAll('button, input, a, summary, [tabindex=\"0\"]')]"
            ".filter(each => each.getClientRects().length && !each.disabled).length"
        )
        reached = []
        for _ in range(30):
            await tab.press("Tab")
            reached.append(
                await tab.evaluate(
                    "[document.activeElement.tagName, document.activeElement.textContent]"
                )
            )
        assert reached[0] == ["A", "Skip to the content"]
        assert ["A", "Durability"] in reached
        assert [tag for tag, _ in reached].count("INPUT") == 3
        assert ["BUTTON", "releases"] in reached
        assert "BODY" not in [tag for tag, _ in reached]
        assert controls > 200
        unnamed = await tab.evaluate(
            "[...document.querySelectorAll('button, input, a, [role=slider], [role=region]')]"
            ".filter(each => !(each.ariaLabel || each.textContent.trim() || each.labels?.length))"
            ".map(each => each.outerHTML)"
        )
        assert unnamed == []


async def test_a_chart_is_a_table_for_who_wants_one(tab: Page, folder: Path) -> None:
    rows = (
        "[...document.querySelectorAll('#availability figure details tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    async with shown(tab, folder):
        assert await tab.evaluate(rows) == []
        await tab.evaluate("document.querySelector('#availability figure details').open = true")
        await tab.until(f"{rows}.length")
        assert await tab.evaluate(rows) == [
            ["00:00", "00:01", "0", "0", "0", "0", "#500"],
            ["00:01", "00:19", "2", "0", "1", "0", "#501"],
            ["00:19", "02:24", "0", "0", "0", "0", "#519"],
        ]


async def test_a_legend_hides_a_kind_everywhere(tab: Page, folder: Path) -> None:
    press = "document.querySelector('.legend [data-kind=leaderless] button').click()"
    async with shown(tab, folder):
        colour = await tab.evaluate(LEADERLESS)
        assert colour in await tab.evaluate(COLOURS)
        await tab.evaluate(press)
        await tab.until(f"!{COLOURS.strip()}.includes({json.dumps(colour)})")
        assert await tab.evaluate(
            "document.querySelector('.legend [data-kind=leaderless] button').ariaPressed"
        ) == "false"  # fmt: skip


async def test_the_least_of_an_outage_is_seen_beside_the_largest(tab: Page, tmp_path: Path) -> None:
    count = COLOURS.replace("[...found]", "[...found].length").replace(
        "found.add(", "pixels.slice(at, at + 3).join() == LEADERLESS && found.add(at + "
    )
    write(tmp_path, AVAILABILITY, [place("s", "t-0")])
    timeline: list[dict[str, Any]] = [
        {"session": "s", "from_us": begin, "to_us": begin + SECOND, "partitions": 100_000,
         "under_replicated": 100_000, "leaderless": int(begin == SECOND)}
        for begin in range(0, 4 * SECOND, SECOND)
    ]  # fmt: skip
    write(tmp_path, AVAILABILITY_TIMELINE, timeline)
    write_report(tmp_path, analysed(tmp_path / "dataset"))
    async with shown(tab, tmp_path):
        red = (await tab.evaluate(LEADERLESS)).removeprefix("rgb(").removesuffix(")")
        count = count.replace("LEADERLESS", json.dumps(red.replace(" ", "")))
        await tab.until(f"{count.strip()} > 500")
        await tab.evaluate("charts[0].drawLeast = () => {}; charts[0].plot.redraw()")
        await tab.until(f"{count.strip()} < 500")


async def test_an_events_number_gives_its_command(tab: Page, folder: Path) -> None:
    press = "[...document.querySelectorAll('.event')].find(b => b.textContent == '#501').click()"
    async with shown(tab, folder):
        assert await tab.evaluate("document.getElementById('command').hidden")
        await tab.evaluate(press)
        assert await tab.evaluate(COMMAND) == (
            "tidegauge replay failover.tide.db --paused --at '#501'"
        )
        assert await tab.evaluate("commandState.textContent") == "opens failover at event 501"


@pytest.mark.parametrize("width", [400, 1200])
async def test_nothing_is_clipped_or_wider_than_the_page(
    tab: Page, folder: Path, width: int
) -> None:
    async with shown(tab, folder, width):
        assert await tab.evaluate(LAYOUT) == [True, []]
        canvases = await tab.evaluate(
            "[...document.querySelectorAll('canvas')]"
            ".map(each => each.getBoundingClientRect().right)"
        )
        assert len(canvases) == 4
        assert max(canvases) <= width


async def test_it_has_a_look_for_the_dark(tab: Page, folder: Path) -> None:
    async with shown(tab, folder):
        light = await tab.evaluate(GROUND)
        await scheme(tab, dark=True)
        assert await tab.evaluate(GROUND) != light
        # charts are drawn anew in the dark's colours
        await tab.until(f"{COLOURS.strip()}.includes({LEADERLESS})")


async def test_its_texts_are_those_of_the_python_side(tab: Page, folder: Path) -> None:
    times = [0, 7, 999, 1_000, 5_946, 18_199_300, 90_000_000, 3_600_000_000, 7_200_000_391]
    numbers = [0, 1_234_567, 0.25, 87.5, 1 / 3]
    async with shown(tab, folder):
        said = [
            await tab.evaluate(f"{json.dumps(values)}.map({function})")
            for function, values in (
                ("timeText", times), ("clockText", times), ("numberText", numbers)
            )
        ]  # fmt: skip
    assert said == [
        [time_text(time) for time in times],
        [clock_text(time) for time in times],
        [number_text(number) for number in numbers],
    ]
