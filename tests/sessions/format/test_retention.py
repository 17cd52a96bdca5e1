"""Recordings of bounded size: what is left of them is right."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import ProduceSent
from emulator.inputs.statements import AnyInput, CreateTopic, Produce
from emulator.scenario.runner import Runner
from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.storage.record_ledger import LedgerEntries, RecordLedger
from sessions.format import retention
from sessions.format.chunks import Chunks
from sessions.format.errors import SessionDroppedError
from sessions.format.file import SessionFile
from sessions.format.retention import Bound, newest
from sessions.model.states import Batch
from sessions.playback.replay import Replay
from sessions.playback.verify import verify
from sessions.recording.recorder import Recorder
from sessions.sources.live import LiveSource
from sessions.sources.replay import ReplaySource
from tests.sessions.examples import (
    SPEC,
    comparable,
    execute,
    folded,
    origin,
    record_story,
    second,
    small_chunks,
    statement,
    story_events,
)

EVENTS = story_events()
LIMIT_BYTES = 48_000
BATCHES = [Batch(first, "p", "t-0", [], ["v"] * 10, 1, 0) for first in range(1, 100, 10)]


@contextmanager
def bounded(path: Path, limit_bytes: int = LIMIT_BYTES) -> Iterator[Recorder]:
    with small_chunks(), Recorder(path, origin(), limit_bytes=limit_bytes) as recorder:
        yield recorder


def test_a_bounded_recording_keeps_its_newest_events_and_its_size(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    largest = 0
    with bounded(path) as recorder:
        for event in EVENTS:
            recorder(event)
            largest = max(largest, recorder.writer.used_bytes)
    assert largest < 1.5 * LIMIT_BYTES
    with SessionFile(path) as session:
        assert session.damage == ""
        first = session.first_seq
        assert 1 < first < len(EVENTS)
        assert tuple(session.all_events()) == EVENTS[first - 1 :]
        replay = Replay(Chunks(session))
        for seq in (first - 1, first, len(EVENTS)):
            replay.seek_seq(seq)
            assert comparable(replay.view) == comparable(folded(EVENTS[:seq]))
        expected = folded(EVENTS)
        for broker in expected.partitions["orders-0"].replica_states:
            values = replay.view.values("orders-0", broker)
            assert values == expected.values("orders-0", broker)


def test_a_file_takes_along_what_its_view_has_forgotten(tmp_path: Path) -> None:
    path, last = tmp_path / "a.tide.db", 12_000
    with bounded(path) as recorder:
        ledger = RecordLedger(LedgerEntries(), BytesByNumber())
        recorder.look_in(ledger)
        for seq in range(1, last + 1):
            text = f"{seq * 7919:x}" * 4
            ledger.enter("p", "t-0", [], [text], acks=1, now_us=seq)
            recorder(ProduceSent(seq, seq, 0, "p", "t-0", seq, [], [text], 1))
    with SessionFile(path) as session:
        first, beginning = session.first_seq, session.beginning()
    assert beginning is not None
    early = [batch.first_record for batch in beginning.state.batches]
    assert 100 < len(early) < first < last - 1_000
    assert early == list(range(first - len(early), first))


def test_a_bounded_recording_verifies(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks(), Recorder(path, origin(), limit_bytes=LIMIT_BYTES) as recorder:
        runner = Runner(Cluster(SPEC, (recorder,)))
        recorder.follow(runner)
        topic = CreateTopic(topic="t", partitions=3, replication_factor=3)
        batch = Produce(topic="t", value="v", count=30, acks=-1)
        story: tuple[AnyInput, ...] = (topic, second(), *[batch] * 20, second(60))
        for line, given in enumerate(story, start=2):
            recorder.announce(statement(given, line))
            execute(runner, given, line)
    with SessionFile(path) as session:
        assert session.first_seq > 100
        assert len(list(session.inputs())) == 24
    found = verify(path)
    assert found.same
    assert found.state_hash == runner.state_hash


def test_a_reader_of_a_bounded_recording_follows_what_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with bounded(path) as recorder:
        for event in EVENTS[:400]:
            recorder(event)
        recorder.flush()
        source = ReplaySource(path)
        source.seek_seq(300)
        chunk = source.session.chunks[0]
        for event in EVENTS[400:]:
            recorder(event)
        recorder.flush()
        with pytest.raises(SessionDroppedError, match="begins with event"):
            source.session.events(chunk)
        source.to_tail()
        assert comparable(source.view) == comparable(folded(EVENTS))
        source.seek_seq(10)
        assert source.seq == source.session.first_seq - 1
        assert comparable(source.view) == comparable(folded(EVENTS[: source.seq]))
        source.close()


@pytest.mark.parametrize("seq", [20, 399])
def test_a_reader_that_meets_a_gap_goes_on_behind_it(tmp_path: Path, seq: int) -> None:
    path = tmp_path / "a.tide.db"
    with bounded(path) as recorder:
        for event in EVENTS[:400]:
            recorder(event)
        recorder.flush()
        source = ReplaySource(path)
        for event in EVENTS[400:]:
            recorder(event)
        recorder.flush()
        source.seek_seq(seq)
        first = source.session.first_seq
        assert first > 400
        assert source.seq == first - 1
        assert list(source.events(1, 400)) == []
        source.close()


def test_a_live_cluster_with_a_bounded_past_is_walked_as_far_back_as_it_goes(
    tmp_path: Path,
) -> None:
    with small_chunks():
        recorder = Recorder(None, origin(), limit_bytes=LIMIT_BYTES)
        runner = Runner(Cluster(SPEC, (recorder,)))
        recorder.follow(runner)
        topic = CreateTopic(topic="t", partitions=3, replication_factor=3)
        batch = Produce(topic="t", value="v", count=20, acks=-1)
        asked = {"topic": statement(topic), "produce": statement(batch)}
        source = LiveSource(runner, recorder, lambda text: (asked[text],))
        source.submit("topic")
        seen = list(source.events(1, source.last_seq))
        source.put_bookmark("early", seq=5)
        for _ in range(30):
            source.submit("produce")
            source.advance(1, 1, 1_000)
            seen += source.events(seen[-1].seq + 1, source.last_seq)
        first = recorder.extent.first_seq
        assert first > 100
        assert source.bookmarks() == []
        assert source.events(1, 10**9)[0].seq == first
        source.seek_seq(0)
        assert source.seq == first - 1
        assert comparable(source.view) == comparable(folded(seen[: first - 1]))
        source.put_bookmark("as far back as it goes")
        source.to_tail()
        source.advance(1, 1, 1_000)
        source.close()
        recorder.close()


def test_a_recording_smaller_than_its_bound_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with bounded(path, limit_bytes=10_000_000) as recorder:
        for event in EVENTS:
            recorder(event)
    record_story(tmp_path / "b.tide.db")
    with SessionFile(path) as session:
        assert session.first_seq == 1
        assert tuple(session.all_events()) == EVENTS


def test_a_bound_lets_no_place_come_before_there_is_something_to_drop() -> None:
    bound = Bound(retention.PLACES * 100)
    due = [bound.is_place_due]
    bound.note_chunk(100)
    due.append(bound.is_place_due)
    bound.note_place(50, 7, BATCHES[3].first_record, 300)
    bound.note_chunk(200)
    due.append(bound.is_place_due)
    assert due == [False, True, False]
    assert bound.next_beginning(bound.limit_bytes) is None
    place = bound.next_beginning(bound.limit_bytes + 1)
    assert place is not None
    extent = place.extent
    assert (extent.first_seq, extent.before_us, extent.is_trimmed) == (51, 7, False)
    assert bound.early(place, BATCHES) == BATCHES[:3]
    assert bound.next_beginning(bound.limit_bytes + 1) is None


def test_the_newest_batches_are_those_of_the_last_records() -> None:
    assert newest(BATCHES[::-1], 25) == BATCHES[-3:]
    assert newest(BATCHES[::-1], 1_000) == BATCHES
    assert newest(BATCHES[::-1], 0) == []
    assert newest(BATCHES[::-1], characters=11) == BATCHES[-2:]
    assert newest(BATCHES[::-1], characters=0) == []
