"""Random access to events: by number, time, record and object."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.events import ClientConnected, Event, PartitionStateChanged, ProduceSent
from sessions.format import chunks as chunks_module
from sessions.format import codec, limits
from sessions.format.allowance import Allowance, StillReadingError
from sessions.format.chunks import Chunks
from sessions.format.errors import SessionDamagedError
from sessions.format.file import SessionFile
from sessions.model.touches import objects_of
from sessions.recording.recorder import Recorder
from tests.sessions.examples import origin, record_story, small_chunks, story_events

EVENTS = story_events()
LAST = len(EVENTS)


@pytest.fixture(scope="module", params=["closed", "being written"])
def chunks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Chunks]:
    path = tmp_path_factory.mktemp("chunks") / "a.tide.db"
    with small_chunks():
        if request.param == "closed":
            record_story(path)
            with SessionFile(path) as session:
                yield Chunks(session)
            return
        recorder = Recorder(path, origin())
        for event in EVENTS:
            recorder(event)
        assert 1 < len(recorder.tail) < 64
        with SessionFile(path) as session:
            yield Chunks(session, lambda: recorder.tail)
        recorder.close()


@given(st.integers(-5, LAST + 5), st.integers(-5, LAST + 5))
def test_events_are_found_by_their_numbers(chunks: Chunks, first: int, last: int) -> None:
    assert tuple(chunks.events(first, last)) == EVENTS[max(0, first - 1) : max(0, last)]


@given(st.integers(0, EVENTS[-1].time_us + 10))
def test_the_last_event_at_or_before_a_time_is_found(chunks: Chunks, time_us: int) -> None:
    expected = sum(event.time_us <= time_us for event in EVENTS)
    assert chunks.seq_at(time_us) == expected


def test_every_batch_is_found_by_its_records(chunks: Chunks) -> None:
    for event in EVENTS:
        if isinstance(event, ProduceSent):
            last = event.first_record + len(event.values) - 1
            for record in (event.first_record, last):
                batch = chunks.batch(record)
                assert batch is not None
                assert batch.values == event.values
    assert chunks.batch(10_000) is None


NAMES = ["orders-0", "gone-1", "broker.1", "/controller", "producer.p2", "consumer.c1", "nothing"]


@given(st.sets(st.sampled_from(NAMES), min_size=1), st.integers(0, LAST + 1))
def test_the_next_and_previous_touching_events_are_found(
    chunks: Chunks, names: set[str], seq: int
) -> None:
    touching = [event.seq for event in EVENTS if objects_of(event) & names]
    later = next((number for number in touching if number > seq), None)
    earlier = next((number for number in reversed(touching) if number < seq), None)
    assert chunks.touching(names, seq, 1) == later
    assert chunks.touching(names, seq, -1) == earlier


def test_an_event_that_does_not_exist_is_not_found(chunks: Chunks) -> None:
    with pytest.raises(SessionDamagedError, match="has no event"):
        chunks.containing(LAST + 1)


def test_only_so_many_decoded_events_are_kept(
    chunks: Chunks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks_module, "CACHED_WEIGHT_MAX", 200)
    fresh = Chunks(chunks.session)
    fresh.events(1, chunks.session.last_seq)
    assert sum(len(kept) for kept in fresh._cache.values()) <= 200
    assert fresh._cache.keys() == fresh._weights.keys()


def test_a_remembered_chunk_is_not_decoded_again(tmp_path: Path) -> None:
    record_story(tmp_path / "a.tide.db")
    with SessionFile(tmp_path / "a.tide.db") as session:
        chunks = Chunks(session)
        mine: list[Event] = list(session.events(session.chunks[0]))
        chunks.remember(mine)
        assert chunks.containing(1) is mine


def test_no_more_is_read_than_is_allowed(chunks: Chunks) -> None:
    fresh = Chunks(chunks.session)
    last = chunks.session.last_seq
    with fresh.reading_at_most(Allowance(1)):
        assert fresh.containing(1)[0].seq == 1, "whatever is left, one chunk is read"
        with pytest.raises(StillReadingError):
            fresh.containing(last)
        assert fresh.containing(1)[0].seq == 1, "what is in memory costs nothing"
    assert fresh.containing(last)[-1].seq == last


@pytest.mark.parametrize(("begin", "direction"), [(0, 1), (LAST + 1, -1)])
def test_a_search_goes_on_where_the_allowance_ended(
    chunks: Chunks, begin: int, direction: int
) -> None:
    fresh = Chunks(chunks.session)
    found, turns = [], 0
    seq: int | None = begin
    while seq is not None:
        turns += 1
        try:
            with fresh.reading_at_most(Allowance(1)):
                while seq is not None:
                    seq = fresh.touching({"orders-0"}, seq, direction)
                    found.append(seq)
        except StillReadingError as error:
            seq = error.reached or seq
    touching = [event.seq for event in EVENTS if "orders-0" in objects_of(event)]
    stored = [seq for seq in touching if seq <= chunks.session.last_seq]
    assert found == [*stored[::direction], None]
    assert turns > 2


@pytest.mark.parametrize(("begin", "direction"), [(0, 1), (LAST + 1, -1)])
def test_a_search_for_some_types_decodes_no_others(
    chunks: Chunks, begin: int, direction: int
) -> None:
    kinds: frozenset[type[Event]] = frozenset({PartitionStateChanged})
    fresh = Chunks(chunks.session)
    found: list[int | None] = [begin]
    while (seq := found[-1]) is not None:
        found.append(fresh.touching({"orders-0"}, seq, direction, kinds))
    stored = [event for event in EVENTS if event.seq <= chunks.session.last_seq]
    matches = [
        event.seq
        for event in stored
        if isinstance(event, PartitionStateChanged) and "orders-0" in objects_of(event)
    ]
    assert found == [begin, *matches[::direction], None]
    assert matches
    assert not fresh._cache
    decoded = [event for events in fresh._partial.values() for event in events]
    assert {type(event) for event in decoded} == kinds


def test_a_chunk_that_becomes_too_large_keeps_what_readers_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, address, count = tmp_path / "a.tide.db", "a" * 100, 10
    most = count * len(address) * codec.PLANS[ProduceSent].texts
    monkeypatch.setattr(limits, "CHUNK_TEXT_MAX", most)
    recorder = Recorder(path, origin())
    events: list[Event] = [
        ClientConnected(seq, seq, 0, seq, 0, address)
        if seq % 5
        else ProduceSent(seq, seq, 0, "p", "t-0", seq, [], ["v"], -1)
        for seq in range(1, count + 6)
    ]
    recorder.tail += events[:count]
    recorder.flush()
    with SessionFile(path) as other, SessionFile(path) as own:
        chunks = Chunks(own, lambda: recorder.tail)
        recorder.chunk_listeners.append(chunks.remember)
        (before,) = other.chunks
        assert own.chunks == [before]
        recorder.tail += events[count:]
        recorder.flush()
        assert recorder.tail == []
        assert other.events(before) == events[:count]
        other.refresh()
        assert other.chunks[0] == before
        assert list(other.all_events()) == events
        assert chunks.events(1, len(events)) == events
        batches = chunks.batches_before(len(events) + 1)
        assert [batch.first_record for batch in batches] == [15, 10, 5]
    recorder.close()
