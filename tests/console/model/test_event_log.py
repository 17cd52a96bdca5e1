from collections.abc import Sequence
from pathlib import Path

import pytest

from console.model import reader as reader_module
from console.model.event_log import (
    AllEvents,
    FixedEvents,
    FoundEvents,
    PageScan,
    Scan,
    TouchScan,
    search_further,
)
from console.model.reader import EventReader
from emulator import events
from emulator.events import CHANGE, FAULT, Event
from sessions.format.file import SessionFile
from sessions.model.touches import objects_of
from sessions.playback.trim import trim
from sessions.sources.replay import ReplaySource
from tests.console.fakes import ListSource, failover
from tests.sessions.examples import record_story, small_chunks

HISTORY = failover()


def is_fault(event: Event) -> bool:
    return event.level >= FAULT


def seqs(log: AllEvents | FixedEvents | FoundEvents) -> list[int]:
    return [log.seq_at(index) for index in range(len(log))]


def worked(log: FoundEvents) -> FoundEvents:
    while not log.complete:
        log.work()
    return log


@pytest.mark.parametrize("at", [0, 60, 135, 170])
def test_a_page_scan_finds_all_matches_from_anywhere(at: int) -> None:
    reader = EventReader(ListSource(HISTORY, at=at))
    log = worked(FoundEvents(reader, PageScan(reader, is_fault)))
    assert seqs(log) == [event.seq for event in HISTORY if is_fault(event)]


@pytest.mark.parametrize("at", [0, 60, 170])
def test_a_touch_scan_finds_what_touches_the_object(at: int) -> None:
    reader = EventReader(ListSource(HISTORY, at=at))
    log = worked(FoundEvents(reader, TouchScan(reader, ["orders-5"], lambda event: True)))
    assert seqs(log) == [event.seq for event in HISTORY if "orders-5" in objects_of(event)]


def test_causes_are_shown_once_and_in_order() -> None:
    reader = EventReader(ListSource(HISTORY))
    scan = TouchScan(reader, ["orders-5"], lambda event: event.level >= CHANGE)
    found = seqs(worked(FoundEvents(reader, scan, with_causes=True)))
    assert found == sorted(set(found))
    assert {127, 128, 135, 136, 137} <= set(found)


def test_no_budget_means_no_work() -> None:
    reader = EventReader(ListSource(HISTORY))
    log = FoundEvents(reader, PageScan(reader, is_fault))
    assert not log.work(budget_ms=0)
    assert not log.complete


def test_a_live_log_goes_on_at_its_end() -> None:
    source = ListSource(HISTORY, "LIVE")
    reader = EventReader(source)
    everything, faults = AllEvents(source), FoundEvents(reader, PageScan(reader, is_fault))
    worked(faults)
    before = len(faults)
    source.feed(events.BrokerStateChanged(171, 9_000_000, 0, 2, "crashed"))
    assert everything.work()
    assert faults.work()
    assert (everything.seq_at(170), faults.seq_at(before)) == (171, 171)


@pytest.mark.parametrize(
    ("found", "seq", "line"), [([3, 9], 2, -1), ([3, 9], 3, 0), ([3, 9], 8, 0), ([3, 9], 99, 1)]
)
def test_a_place_in_time_is_the_line_at_or_before_it(
    found: Sequence[int], seq: int, line: int
) -> None:
    assert FixedEvents(found).index_of(seq) == line


def test_all_events_are_arithmetic() -> None:
    log = AllEvents(ListSource(HISTORY))
    assert (len(log), log.seq_at(0), log.index_of(170), log.index_of(999)) == (170, 1, 169, 169)


def test_a_recording_that_begins_late_has_a_line_for_each_event_that_it_has(
    tmp_path: Path,
) -> None:
    record_story(tmp_path / "whole.tide.db")
    with SessionFile(tmp_path / "whole.tide.db") as session:
        trim(session, tmp_path / "late.tide.db", 700, 900)
    source = ReplaySource(tmp_path / "late.tide.db")
    source.seek_seq(800)
    log, reader = AllEvents(source), EventReader(source)
    assert seqs(log) == list(range(700, 901))
    assert [log.index_of(seq) for seq in (1, 699, 700, 800, 900, 5_000)] == [
        -1,
        -1,
        0,
        100,
        200,
        200,
    ]
    assert [event.seq for event in reader.page(1, 702)] == [700, 701, 702]
    assert reader.get(699) is None
    assert [event.seq for event in reader.causes(720)][-1] == 720
    found = worked(FoundEvents(reader, PageScan(reader, lambda event: True)))
    assert seqs(found) == list(range(700, 901))
    source.close()


@pytest.mark.parametrize("touching", [True, False])
def test_a_long_recording_is_searched_bit_by_bit(
    touching: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    monkeypatch.setattr(reader_module, "AT_ONCE_MAX", 0)

    def log_of(source: ReplaySource) -> FoundEvents:
        reader = EventReader(source)
        scan: Scan = PageScan(reader, is_fault)
        if touching:
            scan = TouchScan(reader, ["orders-1"], lambda event: event.level >= CHANGE)
        return FoundEvents(reader, scan, with_causes=touching)

    at_once, by_turns = ReplaySource(path), ReplaySource(path)
    expected = seqs(worked(log_of(at_once)))
    log, turns = log_of(by_turns), 0
    while not log.complete:
        with log.reader.painting(1):
            search_further(log, log.reader)
        turns += 1
    assert seqs(log) == expected
    assert turns > 1
    at_once.close()
    by_turns.close()
