"""The page as a real browser shows it: whole, without a word to the network, and right."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from commands.cli.main import run_program
from commands.exits import ExitCode
from commands.runs.session_page import story_of
from sessions.replay_page.page import replay_page
from sessions.replay_page.story import Story, state_at
from sessions.sources.replay import ReplaySource
from tests.support.browser import Page, browser_page, program
from tests.support.hostile_sessions.renaming import rename

WORD = "N" * 48
MARKUP = "</script><img src=x onerror=run=1 a='\"><b>bold</b>"[:48].ljust(48)
SCRIPT = f"""
cluster --brokers 3 --version 3.9 --mode zk
topic create orders --replica-assignment 0:1:2,1:2:0 --config min.insync.replicas=2
topic create {WORD} --replica-assignment 0
settle
produce orders --count 5 --acks all --value {WORD}
consume orders --consumer {WORD}
mark {WORD}
broker freeze 2
produce orders --acks all --timeout 60s
broker crash 1
wait 20s
"""
ROWS = """
Object.fromEntries([...document.querySelectorAll('#partitions tbody tr:not(.absent)')].map(row =>
  [row.cells[0].textContent, [...row.cells].slice(2).map(cell => cell.textContent)]))
"""
LAYOUT = """
(() => {
  const texts = [...document.querySelectorAll(
    'h1, h2, h3, p, button, label, #clock, #verdict, li, .filter input'
  )].filter(each => each.offsetParent && !each.closest('.scrolled'));
  const outside = texts.filter(each => {
    const box = each.getBoundingClientRect();
    return box.left < 0 || box.right > innerWidth;
  }).map(each => each.outerHTML.slice(0, 80));
  return [document.documentElement.scrollWidth <= innerWidth, outside];
})()
"""
HASH = "location.hash"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Story]:
    if program() is None:
        assert "CI" not in os.environ, "the gate needs a browser"
        pytest.skip("there is no chromium here")
    folder = tmp_path_factory.mktemp("replay")
    script, session = folder / "hang.tide", folder / "hang.tide.db"
    script.write_text(SCRIPT)
    assert run_program(["run", str(script), "--record", str(session)]) == ExitCode.OK
    rename(session, WORD, MARKUP)
    source = ReplaySource(session)
    try:
        story = story_of(source, MARKUP, f"tidegauge {MARKUP}", source.last_seq, lambda _: None)
    finally:
        source.close()
    page = folder / "page.html"
    page.write_text(replay_page(story), encoding="utf-8")
    return page, story


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def tab(told: tuple[Path, Story]) -> AsyncIterator[Page]:
    async with browser_page() as page:
        yield page


@asynccontextmanager
async def shown(
    tab: Page, page: Path, width: int = 1280, *, dark: bool = False, place: str = ""
) -> AsyncIterator[None]:
    """The page, loaded anew; in the end it has asked for nothing and complained of nothing."""
    await tab.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    await tab.call("Emulation.setEmulatedMedia", features=features)
    await tab.open("about:blank")
    await tab.until("location.href == 'about:blank'")
    tab.requests.clear()
    address = page.as_uri()
    await tab.open(f"{address}{place}")
    await tab.until("document.getElementById('main') && !document.getElementById('main').hidden")
    yield
    await tab.evaluate("0")
    assert tab.complaints == []
    asked = [url.partition("#")[0] for url in tab.requests if not url.startswith("data:")]
    assert asked == [address]


def rows_at(story: Story, place: int) -> dict[str, list[str]]:
    """The table of partitions as Python has it."""
    labels = {name: label for name, label, _ in story.states}
    rows = {}
    for key, row in state_at(story, place).items():
        if key[0] == "partition" and row:
            values: list[Any] = [labels[row[0]], *row[1:]]
            titled = zip(story.columns, values, strict=True)
            rows[str(key[1])] = [str(value) for title, value in titled if title]
    return rows


async def test_it_steps_both_ways_and_shows_what_was_so(
    tab: Page, told: tuple[Path, Story]
) -> None:
    page, story = told
    last = len(story.changes) - 1
    async with shown(tab, page):
        assert await tab.evaluate(HASH) == f"#{last}"
        assert await tab.evaluate(ROWS) == rows_at(story, last)
        for key, place in (
            ("ArrowLeft", last - 1),
            ("ArrowLeft", last - 2),
            ("ArrowRight", last - 1),
            ("Home", 0),
            ("End", last),
        ):
            await tab.press(key)
            assert await tab.evaluate(HASH) == f"#{place}"
            assert await tab.evaluate(ROWS) == rows_at(story, place)
        for stop in story.stops[:-1][::-5]:
            await tab.evaluate(f"show({stop + 1})")
            await tab.evaluate("document.getElementById('previous-stop').click()")
            assert await tab.evaluate(HASH) == f"#{stop}"
            assert await tab.evaluate(ROWS) == rows_at(story, stop)


async def test_the_slider_moves_through_time(tab: Page, told: tuple[Path, Story]) -> None:
    page, story = told
    drag = (
        "(() => { const s = document.getElementById('slider'); s.value = 5000000;"
        " s.dispatchEvent(new Event('input')); return location.hash; })()"
    )
    place, now = 0, story.begins_us
    for step in story.events.times:
        if now + step > 5_000_000:
            break
        now += step
        place += 1
    async with shown(tab, page):
        assert await tab.evaluate(drag) == f"#{place}"
        assert await tab.evaluate(ROWS) == rows_at(story, place)


async def test_it_opens_at_the_event_in_its_address(tab: Page, told: tuple[Path, Story]) -> None:
    page, story = told
    async with shown(tab, page, place="#120"):
        assert await tab.evaluate(ROWS) == rows_at(story, 120)
        text = await tab.evaluate("document.getElementById('now').textContent")
        assert text.endswith(story.events.texts[119])


async def test_it_says_why_and_shows_the_logs(tab: Page, told: tuple[Path, Story]) -> None:
    page, story = told
    async with shown(tab, page):
        selected = await tab.evaluate("selected")
        end = state_at(story, len(story.changes) - 1)
        states = [row[0] for key, row in end.items() if key[0] == "partition"]
        worst_first = [name for name, _, _ in story.states]
        assert end["partition", selected][0] == min(states, key=worst_first.index)
        for name in ("orders-1", "orders-0"):
            await tab.evaluate("[...document.querySelectorAll('button.name')]"
                               f".find(b => b.textContent == '{name}').click()")  # fmt: skip
            assert await tab.evaluate("selected") == name
        sentence, links = state_at(story, len(story.changes) - 1)["why", "orders-0"]
        assert "ISR lost 1,2" in sentence
        assert await tab.evaluate("document.getElementById('why').textContent") == sentence
        chain = await tab.evaluate("document.querySelectorAll('#why-chain li').length")
        assert chain == len(links) > 2
        tapes = "[...document.querySelectorAll('#tapes tbody tr')].map(row => row.cells.length)"
        assert await tab.evaluate(tapes) == [9, 9, 9]
        told_of = "document.querySelector('#tapes .cell').title"
        assert await tab.evaluate(told_of) == f"offset 0, epoch 0: {MARKUP[:40]}"


async def test_what_people_wrote_is_text_and_nothing_else(
    tab: Page, told: tuple[Path, Story]
) -> None:
    page, _ = told
    async with shown(tab, page):
        for place in range(1, 400, 40):
            await tab.evaluate(f"show({place})")
        await tab.evaluate("show(story.changes.length - 1)")
        assert await tab.evaluate("document.querySelectorAll('img, script[src]').length") == 0
        assert await tab.evaluate("typeof run") == "undefined"
        bold = "[...document.querySelectorAll('b')].filter(each => each.textContent == 'bold')"
        assert await tab.evaluate(f"{bold}.length") == 0
        assert await tab.evaluate("document.querySelector('h1').textContent") == MARKUP
        names = await tab.evaluate(
            "[...document.querySelectorAll('button.name')].map(each => each.textContent)"
        )
        assert f"{MARKUP}-0" in names


async def test_events_are_filtered_by_words(tab: Page, told: tuple[Path, Story]) -> None:
    page, story = told
    texts = [
        text for text, level in zip(story.events.texts, story.events.levels, strict=True) if level
    ]
    wanted = sum("freeze 2" in text for text in texts)
    async with shown(tab, page):
        assert await tab.evaluate("shownEvents.length") == len(texts)
        await tab.evaluate(
            "(() => { const f = document.getElementById('event-filter'); f.value = 'FREEZE 2';"
            " f.dispatchEvent(new Event('input')); })()"
        )
        assert 0 < await tab.evaluate("shownEvents.length") == wanted


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
async def test_nothing_is_clipped_or_wider_than_the_page(
    tab: Page, told: tuple[Path, Story], width: int, dark: bool
) -> None:
    page, _ = told
    async with shown(tab, page, width, dark=dark):
        assert await tab.evaluate(LAYOUT) == [True, []]
        ground = await tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") is not dark
        assert json.loads(await tab.evaluate("JSON.stringify(rows.size)")) == 3


async def test_names_of_replicas_stay_readable_beside_records_that_are_not_committed(
    tab: Page, told: tuple[Path, Story]
) -> None:
    page, story = told
    async with shown(tab, page, width=320):
        await tab.evaluate("selected = 'orders-0'")
        for place in range(len(story.changes)):
            await tab.evaluate(f"show({place})")
            if await tab.evaluate("document.querySelector('#tapes .pending') !== null"):
                break
        uncovered = await tab.evaluate("""
        [...document.querySelectorAll('#tapes tr')].filter(row => row.querySelector('.pending'))
          .map(row => {
            const scrolled = row.closest('.scrolled');
            scrolled.style.width = '140px';
            scrolled.scrollLeft = scrolled.scrollWidth;
            row.scrollIntoView({block: 'center'});
            const name = row.querySelector('th'), at = name.getBoundingClientRect();
            const pending = row.querySelector('.pending').getBoundingClientRect();
            return pending.left < at.right
              && document.elementFromPoint(pending.left + 2, at.top + at.height / 2) === name;
          })
        """)
        assert uncovered
        assert all(uncovered)
