from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest

from console import app
from console.controllers import time_travel
from console.model import reader
from console.screens.partitions import PartitionsScreen
from console.widgets.virtual_table import VirtualTable
from emulator import events
from sessions.model.touches import touches
from sessions.sources.replay import ReplaySource
from tests.console.driving import SIZES, SMALL, Console, console
from tests.console.fakes import ListSource, failover
from tests.console.render.test_verdict import slow_follower
from tests.sessions.examples import record_story, small_chunks


def table_of(driven: Console) -> list[str]:
    """The names in the table, from the top."""
    screen = driven.app.screen
    assert isinstance(screen, PartitionsScreen)
    return list(screen.table.order)


async def test_a_large_screen_shows_table_inspector_and_log() -> None:
    async with console(None, "2") as driven:
        rows = driven.lines()
        assert rows[2].startswith(" ✖ NO LEADER: 1 partition cannot be written or read ")
        assert "── partitions ── 6/6 ── 6 faults ── sort STAT ▴ " in rows[3]
        assert "── orders-5 ──" in rows[3]
        assert rows[4].split()[2:7] == ["LDR", "WRITES", "REPLICAS", "ISR", "OSR"]
        assert rows[5].startswith("▌ ✖ OFFL orders-5")
        assert "leader none  epoch 1" in driven.text()
        assert "── events of orders-5 ──" in driven.text()
        assert "INPUT  broker crash 1" in driven.text()


async def test_a_small_screen_shows_the_whole_table() -> None:
    async with console(None, "2", size=SMALL) as driven:
        rows = driven.lines()
        titles = "STAT▴ TOPIC-PART LDR WRITES REPLICAS ISR OSR HW LEO LAG"
        assert rows[4].split() == titles.split()
        offline = ["▌", "✖", "OFFL", "orders-5", "-", "nobody", "1", "1", "0", "15", "15"]
        assert rows[5].split() == offline
        table, _, log = driven.screen.panes
        assert len([row for row in rows[: log.region.y] if "orders-" in row]) == 6
        assert (table.region.height, log.region.height) == (8, 11), "no line is left blank"


async def test_tab_visits_every_pane_even_where_only_one_fits() -> None:
    async with console(None, "2", "tab", size=SMALL) as driven:
        assert "controller epoch" in driven.text()
        await driven.press("tab")
        assert "── events of orders-5 ──" in driven.text()
        await driven.press("tab")
        assert "TOPIC-PART" in driven.text()
        await driven.press("shift+tab")
        assert "── events of orders-5 ──" in driven.text()


async def test_the_worst_stands_first_and_the_cursor_stays_with_it_until_it_is_moved() -> None:
    source = ListSource(failover(), at=150)
    async with console(source, "2") as driven:
        before = table_of(driven)[0]
        await driven.press("t")
        await driven.type("end")
        await driven.press("enter")
        assert (before, table_of(driven)[0]) == ("orders-3", "orders-5")
        assert driven.screen.selection() == ("orders-5",)


async def test_a_moved_cursor_stays_with_its_row() -> None:
    source = ListSource(failover(), "LIVE")
    async with console(source, "2", "down", "down") as driven:
        assert driven.screen.selection() == ("orders-1",)
        source.feed(
            events.PartitionStateChanged(171, source.time_us, 0, "orders-3", -1, 2, [2], 2, 2)
        )
        await driven.press("full_stop")
        assert table_of(driven)[:2] == ["orders-3", "orders-5"]
        assert driven.screen.selection() == ("orders-1",)
        await driven.press("g")
        assert driven.screen.selection() == ("orders-3",)


async def test_sorting_follows_keys_and_the_menu() -> None:
    async with console(None, "2", "shift+right") as driven:
        assert table_of(driven)[0] == "orders-0"
        assert "TOPIC-PART▴" in driven.lines()[4]
        await driven.press("r")
        assert table_of(driven)[0] == "orders-5"
        assert "TOPIC-PART▾" in driven.lines()[4]
        await driven.press("s")
        assert "── sort by" in driven.text()
        await driven.press("G", "enter")
        assert table_of(driven)[0] == "orders-5"
        assert "LAG▴" in driven.lines()[4]


async def test_a_click_on_a_title_sorts() -> None:
    async with console(None, "2") as driven:
        column = driven.lines()[4].index("LEO")
        await driven.pilot.click(offset=(column, 4))
        await driven.settle()
        assert "LEO▴" in driven.lines()[4]
        await driven.pilot.click(offset=(column, 4))
        await driven.settle()
        assert "LEO▾" in driven.lines()[4]


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with console(None, "2") as driven:
        await driven.pilot.click(offset=(10, 7))
        await driven.settle()
        assert driven.screen.selection() == ("orders-1",)
        await driven.pilot.click(offset=(10, 7), times=2)
        await driven.settle()
        assert driven.screen.context == "partition"


async def test_a_filter_works_while_it_is_typed_and_escape_takes_it_back() -> None:
    async with console(None, "2", "slash") as driven:
        await driven.type("offl")
        assert table_of(driven) == ["orders-5"]
        await driven.press("escape")
        assert len(table_of(driven)) == 6
        await driven.press("slash")
        await driven.type("isr<min")
        await driven.press("enter")
        assert table_of(driven) == ["orders-5"]
        assert "filter isr<min" in driven.lines()[3]
        await driven.press("escape")
        assert len(table_of(driven)) == 6


async def test_a_filter_that_makes_no_sense_is_explained() -> None:
    async with console(None, "2", "slash") as driven:
        await driven.type("leadr=1")
        assert "did you mean 'leader'?" in driven.text()


async def test_what_matches_nothing_says_so_and_names_the_next_key() -> None:
    async with console(None, "2", "slash") as driven:
        await driven.type("nowhere")
        await driven.press("enter")
        assert "No partition matches 'nowhere'." in driven.text()
        assert "esc clears the filter" in driven.text()


async def test_faults_only_of_a_healthy_cluster_says_since_when() -> None:
    source = ListSource(failover(min_isr=1), at=126)
    async with console(source, "2", "f") as driven:
        assert table_of(driven) == []
        assert "No faults. 6 of 6 partitions healthy since" in driven.text()
        assert "since they exist." in driven.text()
        assert "f shows all" in driven.text()
        await driven.press("f")
        assert len(table_of(driven)) == 6


async def test_before_the_first_topic_there_is_a_hint() -> None:
    async with console(ListSource(failover(), at=3), "2") as driven:
        assert "There are no partitions at this time." in driven.text()
        assert ": topic create" in driven.text()


async def test_the_wide_view_can_be_scrolled_sideways() -> None:
    async with console(None, "2", "w") as driven:
        assert "REPLICAS" in driven.lines()[4]
        await driven.press(*("right",) * 8)
        assert "DIVG" in driven.lines()[4]
        assert "TOPIC-PART" in driven.lines()[4], "which partition a row is stays in sight"
        assert "columns 10-18 of 18" in driven.lines()[3]
        await driven.press("w")
        assert driven.lines()[4].startswith("  STAT")


async def test_walking_back_shows_the_partition_as_it_was() -> None:
    async with console(None, "2", "t") as driven:
        await driven.type("#120")
        await driven.press("enter")
        assert "leader 1  epoch 0" in driven.text()


async def test_why_opens_the_event_behind_the_state() -> None:
    async with console(None, "2", "W") as driven:
        assert driven.screen.context == "event"
        assert "PartitionStateChanged" in driven.text()
        assert "6 causes, 0 effects" in driven.text()


async def test_hostile_names_neither_style_nor_move_anything() -> None:
    history = failover()
    seq, time_us = len(history) + 1, history[-1].time_us
    history.append(events.TopicCreated(seq, time_us, 0, "[red]\x1b[2J", [[2, 3]], {}))
    async with console(ListSource(history), "2", size=(160, 40)) as driven:
        assert r"[red]\x1b[2J" in driven.text()


@pytest.mark.parametrize("keys", [("z",), ("tab", "z"), ("tab", "tab", "z")])
async def test_a_zoomed_pane_has_the_whole_body(keys: tuple[str, ...]) -> None:
    async with console(None, "2", *keys) as driven:
        assert len([row for row in driven.lines() if row.startswith("── ")]) == 1


async def test_a_key_does_not_wait_for_what_has_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    monkeypatch.setattr(reader, "AT_ONCE_MAX", 0)
    monkeypatch.setattr(app, "READ_AFTER_KEYS_S", 1_000.0)
    source = ReplaySource(path)
    source.to_tail()
    async with console(source, "2", "down") as driven:
        assert "WHY reading.." in driven.text()
        monkeypatch.setattr(app, "READ_AFTER_KEYS_S", 0.0)
        for _ in range(200):
            if "WHY reading.." not in driven.text():
                break
            driven.app._go_on()  # its timer waits for a thousand seconds
            await driven.settle()
        assert "WHY the root first" in driven.text()
        assert "── events of " in driven.text()


async def test_a_long_move_says_how_far_it_is_and_of_when_the_rows_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    monkeypatch.setattr("sessions.sources.replay.KEEP_UP_S", 0)
    source = ReplaySource(path, patience_s=0)
    async with console(source, "2") as driven:
        monkeypatch.setattr(app, "GO_ON_S", 1_000.0)
        await driven.app.run_action("time_live")
        assert source.heading_for == source.last_seq
        driven.app.frame()
        way = [str(row) for row in driven.screen.verdict.lines]
        assert f"Reading up to #{source.last_seq:,}: " in way[0]
        assert "Below is what was so at #0." in way[0]
        while not source.at_tail:
            driven.app.frame()
        await driven.settle()
        assert not driven.app.is_on_the_way()
        assert "Reading up to" not in driven.text()
        assert "orders-0" in driven.text()


def quiet_times(source: ReplaySource, tp: str) -> Iterator[tuple[int, int, str]]:
    """Each event that touches a partition, with the next one."""
    events_of = [
        seq for seq in range(1, source.last_seq) if touches(source.events(seq, seq)[0], {tp})
    ]
    yield from ((first, second, tp) for first, second in pairwise(events_of))


async def test_a_long_search_for_an_event_goes_on_between_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    monkeypatch.setattr(reader, "AT_ONCE_MAX", 0)
    monkeypatch.setattr(time_travel, "READ_AT_ONCE", 1)
    monkeypatch.setattr(app, "GO_ON_S", 1_000.0)
    source = ReplaySource(path)
    source.to_tail()
    gaps = (gap for tp in source.view.partitions for gap in quiet_times(source, tp))
    found, place, tp = max(gaps, key=lambda gap: gap[1] - gap[0])
    source.seek_seq(place)
    async with console(source, "2") as driven:
        table = driven.screen.query_one(VirtualTable)
        table.key = tp
        await driven.press("less_than_sign")
        assert source.seq == place, "the key itself has not searched far"
        driven.app.frame()
        assert f"Searching earlier events of {tp}: at #" in str(driven.screen.verdict.lines[0])
        await driven.press("escape")
        assert not driven.app.is_on_the_way(), "esc stops it"
        await driven.press("less_than_sign", "down")
        driven.app._go_on()
        assert not driven.app.is_on_the_way(), "another row is selected"
        table.key = tp
        await driven.press("less_than_sign")
        for _ in range(2_000):
            if not driven.app.is_on_the_way():
                break
            driven.app._go_on()  # its timer waits for a thousand seconds
        assert source.seq == found


async def test_a_table_that_was_away_takes_only_the_rows_that_changed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = ListSource(failover(), at=150)
    async with console(source, "2", "3") as driven:
        source.seek_seq(170)
        driven.app.frame()
        with mock.patch.object(VirtualTable, "arrange_rows") as arranged:
            await driven.press("2")
        assert not arranged.called
        moved = table_of(driven)
    async with console(ListSource(failover()), "2") as driven:
        assert moved == table_of(driven)


async def test_the_key_of_the_headline_lists_stalled_high_watermarks() -> None:
    async with console(ListSource(slow_follower()), "2", "exclamation_mark") as driven:
        assert table_of(driven) == ["orders-0"]
        assert "filter state=hw_stalled" in driven.lines()[3]


@pytest.mark.parametrize("size", SIZES)
async def test_what_distinguishes_long_names_is_shown(size: tuple[int, int]) -> None:
    history = failover()
    names = ("payments.europe.orders", "payments.eastern.orders")
    for name in names:
        last = history[-1]
        history.append(events.TopicCreated(last.seq + 1, last.time_us, 0, name, [[2, 3]], {}))
    async with console(ListSource(history), "2", size=size) as driven:
        assert all(f"{name}-0" in driven.text() for name in names)
