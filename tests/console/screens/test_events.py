import pytest

from console.screens.events import EventsScreen
from console.widgets.event_log import EventView
from emulator import events
from tests.console.driving import LARGE, SMALL, console
from tests.console.fakes import ListSource, Script, failover


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_the_log_ends_at_the_time_cursor_with_causes(size: tuple[int, int]) -> None:
    async with console(None, "5", size=size) as driven:
        assert isinstance(driven.screen, EventsScreen)
        assert "── events ── 170 events, following" in driven.lines()[3]
        last = next(row for row in driven.lines() if row.startswith("▸"))
        assert "STATE  orders-5 leader none" in last
        assert last.rstrip(" ▃▂▁▄▅▆▇").endswith("← 169")


async def test_a_long_log_is_at_the_time_cursor_when_it_is_shown_first() -> None:
    """Then there is no scrollbar yet, without which Textual does not scroll unless forced to."""
    source = ListSource(failover())
    for seq in range(171, 3_000):
        source.feed(events.BookmarkSet(seq, source.time_us, 0, "now", "a note"))
    source.seek_seq(source.last_seq)
    async with console(source, size=SMALL) as driven:
        await driven.pilot.press("5")
        await driven.pilot.pause(0.3)  # as a user would, who presses nothing else
        assert driven.screen.query_one("#log", EventView).top > 0


async def test_the_log_follows_a_live_cluster() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source, "5", "space") as driven:
        source.feed(events.BookmarkSet(171, source.time_us, 0, "now", "a note"))
        await driven.pilot.pause(0.3)
        assert "MARK   now  a note" in driven.text()


async def test_moving_the_cursor_ends_following_and_the_end_begins_it_again() -> None:
    async with console(None, "5", "up") as driven:
        assert "following" not in driven.lines()[3]
        await driven.press("G")
        assert "following" in driven.lines()[3]


async def test_o_brings_the_time_cursor_to_the_event() -> None:
    async with console(None, "5", *("up",) * 3, "o") as driven:
        assert driven.source.seq == 167


async def test_a_filter_finds_events_by_words() -> None:
    async with console(None, "5", "slash") as driven:
        await driven.type("!re:orders elect")
        await driven.press("enter")
        await driven.settle()
        assert "2 of 170" in driven.lines()[3]
        await driven.press("slash", *("backspace",) * 16)
        await driven.type("elect")
        await driven.press("enter")
        await driven.settle()
        assert "8 of 170, filter elect" in driven.lines()[3]


async def test_traffic_can_be_left_out() -> None:
    async with console(None, "5", "f") as driven:
        assert "changes only" in driven.lines()[3]
        assert "APPEND" not in driven.text()


async def test_later_events_are_there_but_faint() -> None:
    async with console(ListSource(failover(), at=100), "5") as driven:
        assert "170 events" in driven.lines()[3]
        await driven.press("G")
        assert "#100" in driven.lines()[0]
        assert "STATE  orders-5 leader none" in driven.text()


async def test_an_event_shows_its_fields_causes_and_effects() -> None:
    async with console(None, "5", "enter") as driven:
        text = driven.text()
        assert "── causes, this event, effects ── 6 causes, 0 effects" in text
        assert "── PartitionStateChanged ── #170 ── 00:00:06.169" in text
        assert "leader_epoch      1" in text
        await driven.press("up", "enter")
        assert "── ZnodeChanged ── #169" in driven.text()
        assert "5 causes, 1 effect " in driven.text()
        await driven.press("escape", "escape")
        assert driven.screen.context == "events"


async def test_an_event_can_be_copied() -> None:
    async with console(None, "5", "y") as driven:
        assert driven.app.clipboard.startswith("00:06.169 #170 STATE orders-5 leader none")
        await driven.press("Y")
        assert driven.app.clipboard.startswith('{"event":"PartitionStateChanged","seq":170')


async def test_messages_to_and_fro_are_folded_in_a_chain_until_somebody_wants_them() -> None:
    script = Script()
    cause = script.add(events.InputReceived, "topic create t", 1, 1)
    for _ in range(8):
        cause = script.add(events.MessageSent, "FetchRequest", 3, 2, 0, [], cause=cause)
        cause = script.add(events.MessageSent, "FetchResponse", 2, 3, cause, [], cause=cause)
    script.add(events.HighWatermarkChanged, "t-0", 2, 4, 3, "fetch", cause=cause)
    async with console(ListSource(script.events), "5", "enter") as driven:
        assert "17 causes, 0 effects ── enter unfolds" in driven.text()
        folded = "▸ 14 messages between 2 and 3, 13ms: FetchRequest, FetchResponse"
        assert folded in driven.text()
        await driven.press("g", "down", "enter")
        assert folded not in driven.text()
        assert sum("SEND   3 > 2 FetchRequest" in row for row in driven.lines()) == 8
        await driven.press("down", "left")
        assert folded in driven.text()
        await driven.press("right")
        assert folded not in driven.text()
