"""Recording: complete, cheap to the cluster's fate, and safe from sudden death."""

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from emulator.clients.record_sizes import BUFFER_BYTES
from emulator.cluster import Cluster
from emulator.events import ClientConnected, Event, ProduceSent
from emulator.inputs.statements import AnyInput
from emulator.scenario.runner import Runner
from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.storage.record_ledger import LedgerEntries, RecordLedger
from sessions.format import limits
from sessions.format.chunks import Chunks
from sessions.format.errors import SessionError, SessionMissingError
from sessions.format.file import SessionFile
from sessions.playback.replay import Replay
from sessions.playback.verify import verify
from sessions.recording import recorder as record
from sessions.recording.recorder import Recorder
from tests.sessions.examples import (
    SPEC,
    STORY,
    comparable,
    execute,
    folded,
    origin,
    record_story,
    run,
    small_chunks,
    statement,
    story_events,
)


def test_recording_does_not_change_what_happens(tmp_path: Path) -> None:
    with small_chunks():
        recorded = record_story(tmp_path / "a.tide.db")
    assert recorded.state_hash == run(lambda event: None).state_hash


def test_the_recorders_view_is_up_to_date_after_each_event(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.tide.db", origin())
    view = recorder.view
    for event in story_events():
        recorder(event)
        if event.seq % 3:  # else it is folded with those that follow
            assert recorder.view.seq == event.seq
    assert recorder.view is view
    assert comparable(view) == comparable(folded(story_events()))
    recorder.close()


def test_a_view_forgets_batches_that_the_ledger_has_and_still_knows_all_values() -> None:
    recorder, ledger = Recorder(None, origin()), RecordLedger(LedgerEntries(), BytesByNumber())
    recorder.look_in(ledger)
    produced = 3_000
    for seq in range(1, produced + 1):
        ledger.enter("p", "t-0", [], [f"v-{seq}"], acks=-1, now_us=seq)
        recorder(ProduceSent(seq, seq, 0, "p", "t-0", seq, [], [f"v-{seq}"], -1))
    recorder.flush()
    assert len(recorder.view.state.batches) == 1
    runs = [(1, produced)]
    assert recorder.view.values_of(runs) == [f"v-{seq}" for seq in range(1, produced + 1)]
    assert recorder.view.copy().value(1) == "v-1"
    recorder.close()


def test_large_records_make_short_chunks(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.tide.db", origin())
    chunks: list[int] = []
    recorder.chunk_listeners.append(lambda members: chunks.append(len(members)))
    value = "v" * (record.CHUNK_TEXT_MAX // 3)
    for seq in range(1, 30):
        recorder(ProduceSent(seq, seq, 0, "p", "t-0", seq, [], [value], -1))
    recorder.close()
    assert chunks == [3] * 9


def test_a_recording_of_the_largest_batches_can_be_read(tmp_path: Path) -> None:
    """Without acknowledgements nothing comes between them."""
    path, count = tmp_path / "a.tide.db", 5
    recorder = Recorder(path, origin())
    for seq in range(1, count + 1):
        values = [f"{number} {'v' * 16_000}" for number in range(BUFFER_BYTES // 16_100)]
        first = 1 + (seq - 1) * len(values)
        recorder(ProduceSent(seq, seq, 0, "p", "t-0", first, [], values, 0))
    recorder.close()
    with SessionFile(path) as session:
        assert (session.damage, session.last_seq) == ("", count)
        assert all(len(session.events(chunk)) == 1 for chunk in session.chunks)


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    path.write_text("precious")
    with pytest.raises(SessionError, match="already exists"):
        Recorder(path, origin())
    assert path.read_text() == "precious"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(SessionMissingError, match="cannot be written"):
        Recorder(tmp_path / "no" / "folder.tide.db", origin())


def test_what_is_flushed_can_be_read_and_what_is_not_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    recorder = Recorder(path, origin())
    events = story_events()
    for event in events[:100]:
        recorder(event)
    recorder.flush()
    for event in events[100:110]:
        recorder.tail.append(event)
    with SessionFile(path) as session:
        assert session.last_seq == 100
    recorder.close()
    with SessionFile(path) as session:
        assert session.last_seq == 110


def test_events_that_trickle_in_are_flushed_by_the_wall_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(record, "monotonic", lambda: clock[0])
    path = tmp_path / "a.tide.db"
    recorder = Recorder(path, origin())
    with SessionFile(path) as session:
        for event in story_events()[:30]:
            clock[0] += 0.09
            recorder(event)
            session.refresh()
            assert session.last_seq > event.seq - 4
        clock[0] += record.FLUSH_SECONDS
        recorder.tick()
        session.refresh()
        assert session.last_seq == 30
    recorder.close()


def test_statements_are_kept_as_they_were_announced(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    record_story(path)
    with SessionFile(path) as session:
        inputs = [each.statement for each in session.inputs()]
    assert inputs[1:] == [statement(given, line) for line, given in enumerate(STORY, start=2)]
    assert inputs[0] is not None
    assert inputs[0].input == SPEC


def test_a_statement_given_behind_the_recorders_back_is_known_by_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with Recorder(path, origin()) as recorder:
        runner = Runner(Cluster(SPEC, (recorder,)))
        execute(runner, STORY[0], 2)
        recorder.announce(statement(STORY[2], 3))
        execute(runner, STORY[2], 3)
    with SessionFile(path) as session:
        assert [each.statement is None for each in session.inputs()] == [False, True, False]
        assert list(session.inputs())[1].text == "CreateTopic"


def test_a_recording_is_closed_when_its_run_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"

    def break_off() -> None:
        with Recorder(path, origin()) as recorder:
            recorder.follow(Runner(Cluster(SPEC, (recorder,))))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    with SessionFile(path) as session:
        assert session.outcome is not None
        assert session.outcome.outcome == "KeyboardInterrupt"
        assert session.last_seq == session.outcome.events > 0


def test_closing_twice_does_no_harm(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.tide.db", origin())
    recorder.close()
    recorder.close()


def test_a_recording_without_a_file_goes_with_its_recorder() -> None:
    recorder = Recorder(None, origin())
    run(recorder)
    with SessionFile(recorder.path) as session:
        session.refresh()
    recorder.close()
    assert not recorder.path.parent.exists()


def test_a_write_that_fails_ends_the_recording_and_not_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with small_chunks():
        recorder = Recorder(tmp_path / "a.tide.db", origin())
        monkeypatch.setattr(recorder.writer, "put_chunk", full)
        runner = run(recorder)
    assert runner.state_hash == run(lambda event: None).state_hash
    assert recorder.view.seq == runner.cluster.sequence
    assert len(recorder.tail) < 200
    with pytest.raises(SessionError, match="disk is full"):
        recorder.close()


def test_large_events_make_shorter_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "CHUNK_BYTES", 600)
    path = tmp_path / "a.tide.db"
    with small_chunks(events=256):
        record_story(path)
    with SessionFile(path) as session:
        lengths = [chunk.last_seq - chunk.first_seq + 1 for chunk in session.chunks]
        assert min(lengths[:-1]) < 256
        assert tuple(session.all_events()) == story_events()


def kill_after(path: Path, events: int, *limit_bytes: str) -> int:
    """Kill a recording child once it has flushed so many events; how many it had flushed."""
    command = [sys.executable, "-m", "tests.sessions.recording_child", str(path), *limit_bytes]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as child:
        assert child.stdout is not None
        flushed = 0
        for line in child.stdout:
            flushed = int(line)
            if flushed >= events:
                break
        child.kill()
        return max([flushed, *map(int, child.stdout.read().split("\n")[:-1])])


@pytest.mark.parametrize("events", random.Random(5).sample(range(40, 1500), 6))
def test_a_killed_recorder_leaves_everything_up_to_its_last_flush(
    tmp_path: Path, events: int
) -> None:
    path = tmp_path / "killed.tide.db"
    flushed = kill_after(path, events)
    with SessionFile(path) as session:
        assert session.damage == ""
        assert not session.complete
        assert session.last_seq >= flushed
        found: list[Event] = list(session.all_events())
        assert [event.seq for event in found] == list(range(1, session.last_seq + 1))
        replay = Replay(Chunks(session))
        replay.seek_seq(session.last_seq)
        assert comparable(replay.view) == comparable(folded(found))
    assert verify(path).same


@pytest.mark.parametrize("events", random.Random(6).sample(range(1_500, 4_000), 4))
def test_a_killed_recorder_of_bounded_size_leaves_its_newest_events(
    tmp_path: Path, events: int
) -> None:
    path = tmp_path / "killed.tide.db"
    flushed = kill_after(path, events, "40000")
    with SessionFile(path) as session:
        assert session.damage == ""
        assert 1 < session.first_seq < flushed <= session.last_seq
        found = [event.seq for event in session.all_events()]
        assert found == list(range(session.first_seq, session.last_seq + 1))
        replay = Replay(Chunks(session))
        replay.seek_seq(session.last_seq)
        assert replay.seq == session.last_seq
    assert verify(path).same


def test_a_story_of_nothing_is_a_session(tmp_path: Path) -> None:
    nothing: tuple[AnyInput, ...] = ()
    record_story(tmp_path / "a.tide.db", nothing)
    assert verify(tmp_path / "a.tide.db").same


def test_the_size_of_chunks_that_were_one_is_what_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHUNK_TEXT_MAX", 1_000)
    path, sizes = tmp_path / "a.tide.db", list[tuple[int, int]]()
    recorder = Recorder(path, origin())
    monkeypatch.setattr(recorder._frames, "note_chunk", lambda *chunk: sizes.append(chunk))
    recorder.tail += [ClientConnected(seq, seq, 0, seq, 0, "a" * 100) for seq in range(1, 31)]
    recorder.flush()
    assert recorder.tail == []
    recorder.close()
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT count(*), sum(length(events) + length(objects)) FROM chunks JOIN touches"
        chunks, size = database.execute(f"{query} USING (first_seq)").fetchone()
    assert chunks > 2
    assert sizes == [(30, size)]
