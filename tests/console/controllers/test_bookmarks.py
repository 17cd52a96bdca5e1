"""Bookmarks, alert edges, conditions, and the difference between two moments."""

import pytest

from console.controllers.bookmarks import Bookmarks
from console.screens.bookmarks import BookmarksScreen
from emulator.events import BrokerStateChanged
from tests.console.driving import LARGE, SMALL, Console, console
from tests.console.fakes import ListSource, failover
from tests.console.test_app import toasts


def source_of(kind: str, at: int | None = None) -> ListSource:
    return ListSource(failover(min_isr=1), kind, at=at)


async def ask(driven: Console, key: str, text: str) -> None:
    await driven.press(key)
    driven.screen.prompt.input.value = text
    await driven.press("enter")


@pytest.mark.parametrize("kind", ["LIVE", "REPLAY"])
async def test_bookmarks_are_set_changed_listed_and_taken_away(kind: str) -> None:
    source = source_of(kind, at=50)
    async with console(source) as driven:
        await ask(driven, "b", "calm all was well here")
        assert "bookmark calm at #50" in toasts(driven)
        assert source.submitted == []
        assert (source.seq, source.bookmarks()[0].note) == (50, "all was well here")
        await driven.press("b")
        assert driven.screen.prompt.input.value == "calm all was well here"
        await driven.press("escape")
        await ask(driven, "b", " ")
        assert "A bookmark needs a name." in driven.text()
        await driven.press("escape", "B")
        assert isinstance(driven.screen, BookmarksScreen)
        rows = [row for row in driven.lines() if "#" in row and "00:00:0" in row][1:]
        assert "▸ 00:00:00.050" in rows[0]
        assert "calm" in rows[0]
        assert "b1                 before the crash" in rows[1]
        await driven.press("down", "enter")
        assert driven.screen.context == "overview"
        assert source.seq == 126
        await driven.press("left_square_bracket", "B", "delete")
        assert [mark.name for mark in source.bookmarks()] == ["b1"]
        await driven.press("delete")
        assert "There are no bookmarks." in driven.text()
        assert "b sets one" in driven.text()


@pytest.mark.parametrize("kind", ["LIVE", "REPLAY"])
async def test_braces_go_from_one_alert_to_the_next(kind: str) -> None:
    source = source_of(kind, at=126)
    async with console(source, "right_curly_bracket") as driven:
        assert source.seq == 128
        assert "00:00:00.128 WRITES BLOCKED (before: all is well)" in toasts(driven)
        await driven.press("right_curly_bracket")
        after = source.seq
        assert after > 128
        await driven.press("left_curly_bracket")
        assert source.seq == 128
        source.seek_seq(170)
        await driven.press("right_curly_bracket")
        assert "no alert begins or ends later" in toasts(driven)


async def test_a_place_can_be_a_condition() -> None:
    source = source_of("REPLAY", at=10)
    async with console(source) as driven:
        await ask(driven, "t", "when offline>0")
        assert source.view.counts().offline == 1
        assert f"#{source.seq}: offline>0" in toasts(driven)
        found = source.seq
        await ask(driven, "t", "when upr>1")
        assert "did you mean 'urp'" in driven.text()
        await driven.press("escape")
        await ask(driven, "t", "when offline>5")
        assert "offline>5 never holds after this point" in toasts(driven)
        assert source.seq == found


async def test_a_live_cluster_runs_until_a_condition_holds() -> None:
    source = ListSource(failover()[:127], "LIVE")
    async with console(source) as driven:
        await ask(driven, "t", "when broker.1.state=crashed")
        assert not driven.app.stage.pacer.paused
        assert any("running until it does" in toast for toast in toasts(driven))
        source.feed(BrokerStateChanged(128, source.time_us, 127, 1, "crashed"))
        for _ in range(20):
            await driven.pilot.pause(0.03)
        assert (source.seq, driven.app.stage.pacer.paused) == (128, True)
        assert driven.app.stage.search is None


async def test_escape_stops_a_search() -> None:
    source = ListSource(failover()[:127], "LIVE")
    async with console(source, "2") as driven:
        await ask(driven, "t", "when broker.1.state=crashed")
        await driven.press("escape")
        assert driven.app.stage.search is None
        assert driven.screen.context == "partitions"


@pytest.mark.parametrize(("kind", "size"), [("LIVE", LARGE), ("REPLAY", SMALL)])
async def test_a_and_d_show_what_differs_and_lead_there(kind: str, size: tuple[int, int]) -> None:
    source = source_of(kind, at=126)
    async with console(source, "d", size=size) as driven:
        assert "set A first (a); then d shows what differs between A and here" in toasts(driven)
        await driven.press("a", "d")
        assert "Nothing differs." in driven.text()
        await driven.press("L", "space") if kind == "LIVE" else await driven.press("L")
        text = driven.text()
        assert "A #126 00:00:00.126 ── here #170" in text
        assert any("broker 1" in row and "crashed" in row for row in driven.lines())
        before = driven.screen.panes[0].view.count()
        await driven.press("f")
        assert driven.screen.panes[0].view.count() <= before
        await driven.press("slash")
        await driven.type("orders-0 leader")
        await driven.press("enter", "enter")
        assert driven.screen.trail() == "orders-0"
        await driven.press("escape", "escape", "escape")
        assert driven.screen.context == "overview"


async def test_the_place_of_a_stands_on_the_time_bar() -> None:
    async with console(ListSource(failover(), at=126), "a", "L") as driven:
        assert "A" in driven.lines()[-2]
        assert isinstance(driven.app.bookmarks, Bookmarks)
