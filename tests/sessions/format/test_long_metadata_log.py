"""The metadata log of a real cluster has millions of records: they are in events alone."""

from contextlib import suppress
from pathlib import Path

import pytest

from emulator import events
from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from sessions.format import keyframes
from sessions.format.allowance import Allowance, StillReadingError
from sessions.format.chunks import Chunks
from sessions.format.codec import BlockError
from sessions.format.errors import SessionDamagedError
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin
from sessions.model.cluster_view import ClusterView
from sessions.model.handlers import quorum
from sessions.model.long_metadata_log import LongMetadataLog
from sessions.model.metadata_image import MetadataReader
from sessions.playback.replay import Replay
from sessions.playback.trim import trim
from sessions.recording import keyframe_taker, recorder
from sessions.recording.recorder import Recorder


def committed(first: int, count: int) -> list[Event]:
    return [
        events.MetadataRecordCommitted(seq, seq, 0, seq, 1, seq, "Topic", 0, '{"name":"t"}')
        for seq in range(first, first + count)
    ]


@pytest.mark.parametrize("long", [4, 1_000_000])
def test_a_keyframe_has_only_the_records_since_its_base(
    long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quorum, "LONG_RECORDS", long)
    view = ClusterView()
    view.apply_all(committed(1, 10))
    first = view.snapshot()
    frame_1 = keyframes.take(view, keyframes.EMPTY, first)
    view.apply_all(committed(11, 1_000))
    second = view.snapshot()
    frame_2 = keyframes.take(view, first, second)
    assert frame_2.kept_records == 10
    assert frame_2.state.quorum is not None
    assert len(frame_2.state.quorum.log) == 1_000
    assert second.state.quorum is not None
    assert len(second.state.quorum.log) == 1_010
    assert isinstance(second.state.quorum.log, LongMetadataLog) == (long == 4)
    frames = [keyframes.decode(keyframes.encode(frame)) for frame in (frame_1, frame_2)]
    rebuilt = keyframes.rebuild(keyframes.EMPTY, frames)
    assert rebuilt.state.quorum is not None
    assert list(rebuilt.state.quorum.log) == list(second.state.quorum.log)
    assert len(first.state.quorum.log if first.state.quorum else []) == 10


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is long, and so is a recording, from a few records on."""
    monkeypatch.setattr(quorum, "LONG_RECORDS", 600)
    monkeypatch.setattr(keyframe_taker, "KEYFRAME_EVENTS_MIN", 400)
    monkeypatch.setattr(keyframe_taker, "KEYFRAME_EVENTS_MAX", 400)
    monkeypatch.setattr(keyframe_taker, "CHAIN_MAX", 3)
    monkeypatch.setattr(recorder, "CHUNK_EVENTS_MAX", 100)


def recorded(path: Path, count: int) -> Path:
    """A session of records; every third event is another one, and two controllers led."""
    origin = Origin("s", "s", "4.1", 1, CreateCluster(version="4.1", mode="kraft"))
    with Recorder(path, origin) as record:
        for seq in range(1, count + 1):
            if seq % 3:
                elects = seq in (1, 700)
                kind, data = (
                    ("LeaderChange", f'{{"leaderId":{seq}}}') if elects else ("Topic", "{}")
                )
                epoch = 1 + (seq >= 700)
                place = seq, epoch, seq
                event = events.MetadataRecordCommitted(seq, seq, 0, *place, kind, 0, data)
                record(event)
            else:
                record(events.MetadataApplied(seq, seq, 0, 2, seq))
    return path


@pytest.mark.usefixtures("short")
def test_keyframes_say_in_which_events_the_records_are(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.tide.db", 6_000)
    whole = ClusterView()
    with SessionFile(path) as session:
        whole.apply_all(session.all_events())
        assert whole.state.quorum is not None
        all_records = list(whole.state.quorum.log)
        assert len(all_records) == 4_000
        frames = [session.keyframe(place) for place in session.keyframes]
        assert len(frames) > 10
        for frame in frames[3:]:
            assert frame is not None
            assert frame.state.quorum is not None
            assert frame.state.quorum.log == []
        replay = Replay(Chunks(session))
        for seq in (6_000, 3_210, 950, 5_555, 2_400, 10):
            replay.seek_seq(seq)
            state = replay.view.state.quorum
            assert state is not None
            expected = all_records[: sum(1 for number in range(1, seq + 1) if number % 3)]
            log = state.log
            assert len(log) == len(expected)
            assert log[-7:] == expected[-7:]
            assert log[len(log) // 2] == expected[len(log) // 2]
            assert list(log) == expected
            assert state.led == ({1: 1, 700: 2} if seq >= 700 else {1: 1})
        with pytest.raises(IndexError):
            replay.view.state.quorum.log[5_000]  # type: ignore[union-attr]


@pytest.mark.usefixtures("short")
def test_a_keyframe_with_pieces_may_be_based_on_one_with_the_records_itself() -> None:
    view = ClusterView()
    view.apply_all(committed(1, 500))
    first = view.snapshot()
    view.apply_all(committed(501, 500))
    state = view.state.quorum
    assert state is not None
    assert isinstance(state.log, LongMetadataLog)
    state.log.pieces = [(500, 500), (1_000, 1_000)]
    second = view.snapshot()
    frames = [
        keyframes.take(view, keyframes.EMPTY, first),
        keyframes.take(view, first, second),
    ]
    frames = [keyframes.decode(keyframes.encode(frame)) for frame in frames]
    assert frames[1].pieces == [(500, 500), (1_000, 1_000)]
    rebuilt = keyframes.rebuild(keyframes.EMPTY, frames).state.quorum
    assert rebuilt is not None
    assert len(rebuilt.log) == 1_000


@pytest.mark.usefixtures("short")
def test_a_session_that_begins_later_has_the_records_itself(tmp_path: Path) -> None:
    path, part = recorded(tmp_path / "s.tide.db", 6_000), tmp_path / "part.tide.db"
    with SessionFile(path) as session:
        trim(session, part, 3_000, 6_000)
        whole = Replay(Chunks(session))
        whole.seek_seq(5_000)
        with SessionFile(part) as trimmed:
            replay = Replay(Chunks(trimmed))
            replay.seek_seq(5_000)
            assert replay.view.state.quorum is not None
            assert whole.view.state.quorum is not None
            assert list(replay.view.state.quorum.log) == list(whole.view.state.quorum.log)


@pytest.mark.usefixtures("short")
def test_pieces_that_no_recording_has_are_refused(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.tide.db", 3_000)
    with SessionFile(path) as session:
        frame = session.keyframe(session.keyframes[-1])
        assert frame is not None
        with pytest.raises(SessionDamagedError, match="lacks metadata records"):
            Chunks(session).records(1, 300, 1 << 40)
        for pieces in (
            [(frame.seq + 1, 5)],
            [(5, 6)],
            [(frame.seq, 5), (frame.seq, 6)],
            [(-1, -2)],
        ):
            frame.pieces = pieces
            with pytest.raises(BlockError):
                keyframes.decode(keyframes.encode(frame))


def changes(path: Path, count: int) -> Path:
    """A session of a topic whose partitions change in turn."""
    origin = Origin("s", "s", "4.1", 1, CreateCluster(version="4.1", mode="kraft"))
    with Recorder(path, origin) as record:
        for seq in range(1, count + 1):
            kind, data = "Topic", '{"name":"t","topicId":"t"}'
            if seq > 1:
                number = seq % 3
                kind = "Partition" if seq <= 4 else "PartitionChange"
                data = f'{{"partitionId":{number},"topicId":"t","isr":[{seq}],"leader":{seq}'
                data += ',"replicas":[1,2]}' if seq <= 4 else "}"
            place = seq, seq, 0, seq, 1, seq
            record(events.MetadataRecordCommitted(*place, kind, 0, data))
    return path


@pytest.mark.usefixtures("short")
def test_the_metadata_is_read_a_piece_at_a_time(tmp_path: Path) -> None:
    with SessionFile(changes(tmp_path / "s.tide.db", 6_000)) as session:
        chunks = Chunks(session)
        replay = Replay(chunks)
        replay.seek_seq(5_999)
        reader, tries = MetadataReader(), 0
        while not reader.has(replay.view.state):
            tries += 1
            with suppress(StillReadingError), chunks.reading_at_most(Allowance(150)):
                reader.at(replay.view.state)
        assert tries > 10
        for seq in (5_999, 700, 2_400, 5):
            replay.seek_seq(seq)
            assert reader.has(replay.view.state)
            metadata = reader.at(replay.view.state)
            assert metadata is not None
            assert metadata.taken == seq
            for number in range(3):
                last = max(at for at in range(2, seq + 1) if at % 3 == number)
                node = metadata.nodes[f"/topics/t/{number}"]
                assert (node.changed, node.value["isr"]) == (last, [last])
                assert node.records == sum(at % 3 == number for at in range(2, seq + 1))
