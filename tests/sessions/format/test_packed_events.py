"""Events that are kept packed are those that were added, in order."""

import tracemalloc

import pytest

from emulator.events import ClientConnected, Event, ProduceSent
from sessions.format import limits
from sessions.format.packed_events import BLOCK_EVENTS, BLOCK_TEXT_MAX, PackedEvents
from tests.sessions.examples import story_events


def connected(seq: int, address: str = "") -> Event:
    return ClientConnected(seq, seq, 0, seq, 0, address)


def test_events_are_read_in_order_any_number_of_times() -> None:
    kept = PackedEvents()
    count = 2 * BLOCK_EVENTS + 5
    added = [connected(seq) for seq in range(1, count + 1)]
    for event in added:
        kept.append(event)
    reading = iter(kept)
    first = next(reading)
    kept.append(connected(count + 1))
    assert [first, *reading] == added
    assert list(kept) == [*added, connected(count + 1)]


def test_events_of_all_kinds_stay_what_they_are() -> None:
    kept = PackedEvents()
    for event in story_events():
        kept.append(event)
    assert tuple(kept) == story_events()


def test_many_events_take_little_memory() -> None:
    kept, count = PackedEvents(), 40 * BLOCK_EVENTS
    tracemalloc.start()
    try:
        for seq in range(1, count + 1):
            kept.append(connected(seq, f"host-{seq % 7}"))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < count * 16
    assert sum(1 for _ in kept) == count


def test_large_records_and_texts_are_packed_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOB_BYTES_MAX", 32 << 20)
    kept = PackedEvents()
    value = "v" * (BLOCK_TEXT_MAX // 2)
    added: list[Event] = [
        ProduceSent(seq, seq, 0, "p", "t-0", seq, [], [value], -1) for seq in range(1, 8)
    ]
    size = limits.BLOB_BYTES_MAX * 2 // BLOCK_EVENTS
    added += [connected(seq, f"{seq} ".ljust(size)) for seq in range(8, BLOCK_EVENTS + 8)]
    for event in added:
        kept.append(event)
    assert list(kept) == added
