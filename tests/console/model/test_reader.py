import pytest

from console.model.reader import EventReader
from emulator import events
from emulator.events import Event
from sessions.format.chunks import weight_of
from tests.console.fakes import ListSource, failover

HISTORY = failover()


def reader() -> EventReader:
    return EventReader(ListSource(HISTORY))


def test_events_are_read_by_number() -> None:
    assert [reader().get(seq) for seq in (1, 90, 170)] == [HISTORY[0], HISTORY[89], HISTORY[169]]


def test_numbers_outside_are_none() -> None:
    assert reader().get(0) is reader().get(171) is None


def test_a_page_ends_where_the_source_ends() -> None:
    assert reader().page(168, 999) == HISTORY[167:]
    assert reader().page(200, 300) == []


def test_causes_lead_to_the_root() -> None:
    chain = reader().causes(170)
    assert [type(event) for event in chain] == [
        events.InputReceived,
        events.BrokerStateChanged,
        events.SessionEnded,
        events.ZnodeDeleted,
        events.ControllerElected,
        events.ZnodeChanged,
        events.PartitionStateChanged,
    ]
    assert chain[0].cause == 0


def test_a_limited_chain_keeps_its_newest_links() -> None:
    assert [event.seq for event in reader().causes(170, limit=2)] == [169, 170]


def test_effects_name_the_event_as_their_cause() -> None:
    effects = reader().effects(128)
    assert effects
    assert {event.cause for event in effects} == {128}


def test_new_events_of_a_live_source_are_seen() -> None:
    source = ListSource(HISTORY, "LIVE")
    living = EventReader(source)
    assert living.get(171) is None
    source.feed(events.BookmarkSet(171, 9_000_000, 0, "now", ""))
    assert living.get(171) == source.history[-1]


def test_long_messages_are_kept_only_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.model.reader.KEPT_WEIGHT_MAX", 1_000)
    rows: list[list[str | int]] = [["orders-0", 1]] * 300
    history: list[Event] = [
        events.MessageSent(seq, seq, 0, "UpdateMetadataRequest", 0, 1, 0, rows if seq % 2 else [])
        for seq in range(1, 601)
    ]
    long = EventReader(ListSource(history))
    for seq in range(1, 601):
        assert long.get(seq) == history[seq - 1]
        assert sum(map(weight_of, long._kept.values())) <= 1_000
