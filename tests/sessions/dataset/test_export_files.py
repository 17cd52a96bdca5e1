"""Session files into a dataset: each once, whatever happened before."""

from pathlib import Path

import pytest
from pyarrow import parquet

from emulator.events import ProduceSent
from sessions.dataset.export import export_session
from sessions.dataset.export_files import add_session, session_id
from sessions.dataset.layout import STAGING, Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.maintenance import compact
from sessions.dataset.rows.sessions import SessionFacts
from sessions.format.errors import SessionDamagedError, SessionIncompleteError
from sessions.format.file import SessionFile
from sessions.playback.trim import trim
from sessions.recording.recorder import Recorder
from tests.sessions.dataset.reading import files as files_of
from tests.sessions.dataset.reading import rows
from tests.sessions.examples import STORY, origin, record_story, small_chunks, story_events


def files(folder: Path) -> dict[str, int]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in found}


def test_a_recording_is_exported_with_its_facts(recording: Path, tmp_path: Path) -> None:
    with SessionFile(recording) as session:
        outcome = session.outcome
        added = add_session(session, tmp_path / "dataset")
    assert added.report is not None
    assert (added.session, added.events) == ("story", len(story_events()))
    (row,) = rows(tmp_path / "dataset", "sessions", "story")
    assert outcome is not None
    assert (row["state_hash"], row["time_us"]) == (outcome.state_hash, outcome.time_us)
    unpromised = [
        event for event in story_events() if isinstance(event, ProduceSent) and event.acks == 0
    ]
    assert (row["acked"], row["lost"], row["duplicated"], row["diverged"]) == (
        outcome.acked - sum(len(event.values) for event in unpromised),
        outcome.lost,
        outcome.duplicated,
        outcome.diverged,
    )
    assert len(rows(tmp_path / "dataset", "events", "story")) == row["events"]


def test_a_session_that_is_in_the_dataset_is_left_out(recording: Path, tmp_path: Path) -> None:
    with SessionFile(recording) as session:
        add_session(session, tmp_path)
        before = files(tmp_path)
        again = add_session(session, tmp_path)
    assert (again.session, again.report) == ("story", None)
    assert files(tmp_path) == before


def test_the_dataset_knows_where_a_sessions_file_is(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recording.parent)
    with SessionFile(Path(recording.name)) as session:
        add_session(session, tmp_path)
    assert [row["path"] for row in rows(tmp_path, "sessions", "story")] == [str(recording)]


def test_another_session_of_the_same_name_is_refused(recording: Path, tmp_path: Path) -> None:
    other = tmp_path / "story.tide.db"
    record_story(other, STORY[:6])
    with SessionFile(recording) as session:
        add_session(session, tmp_path / "dataset")
    with SessionFile(other) as session, pytest.raises(DatasetError, match="another session called"):
        add_session(session, tmp_path / "dataset")


def test_a_recording_that_has_grown_since_is_another_session(
    recording: Path, tmp_path: Path
) -> None:
    part = tmp_path / "story.tide.db"
    with SessionFile(recording) as session:
        trim(session, part, 1, 500)
        with SessionFile(part) as piece:
            add_session(piece, tmp_path / "dataset")
        with pytest.raises(DatasetError, match="it has 500 events"):
            add_session(session, tmp_path / "dataset")


def test_a_recording_that_has_grown_takes_the_place_of_its_part_if_it_is_told_to(
    recording: Path, tmp_path: Path
) -> None:
    part, dataset = tmp_path / "story.tide.db", tmp_path / "dataset"
    with SessionFile(recording) as session:
        trim(session, part, 1, 500)
        with SessionFile(part) as piece:
            add_session(piece, dataset)
        export_session(story_events()[:300], SessionFacts("other"), dataset)
        compact(Dataset(dataset))
        add_session(session, dataset, replace=True)
        again = add_session(session, dataset, replace=True)
    assert again.report is None
    assert Dataset(dataset).sessions() == ["other", "story"]
    assert len(rows(dataset, "events", "story")) == len(story_events())
    assert len(rows(dataset, "events", "other")) == 300
    (commit,) = Dataset(dataset).commits()
    assert (commit.sessions, commit.events) == (2, len(story_events()) + 300)


def test_what_a_killed_export_left_is_dropped_and_done_anew(
    recording: Path, tmp_path: Path
) -> None:
    with SessionFile(recording) as session:
        add_session(session, tmp_path / "whole")
        export_session([], SessionFacts("other"), tmp_path / "dataset")
        left = tmp_path / "dataset" / STAGING / "a" / "events"
        left.mkdir(parents=True)
        (left / "a-00000.parquet").write_bytes(b"half")
        added = add_session(session, tmp_path / "dataset")
    assert added.report is not None
    assert Dataset(tmp_path / "dataset").sessions() == ["other", "story"]
    assert rows(tmp_path / "dataset", "events", "story") == rows(
        tmp_path / "whole", "events", "story"
    )
    assert list((tmp_path / "dataset").glob(f"{STAGING}/*")) == []


def test_a_session_without_its_beginning_cannot_be_exported(
    recording: Path, tmp_path: Path
) -> None:
    late, early = tmp_path / "late.tide.db", tmp_path / "early.tide.db"
    with SessionFile(recording) as session:
        trim(session, late, 500, 900)
        trim(session, early, 1, 900)
    with SessionFile(late) as session, pytest.raises(SessionIncompleteError, match="event 500"):
        add_session(session, tmp_path / "dataset")
    assert not (tmp_path / "dataset").exists()
    with SessionFile(early) as session:
        assert add_session(session, tmp_path / "dataset").events == 900


def test_a_damaged_session_is_exported_as_far_as_it_can_be_read(
    recording: Path, tmp_path: Path
) -> None:
    content = recording.read_bytes()
    path = tmp_path / "cut.tide.db"
    path.write_bytes(content[: len(content) // 2])
    with SessionFile(path) as session:
        added = add_session(session, tmp_path / "dataset")
        last = session.last_seq
        assert 0 < added.events == last < len(story_events())
        assert session.outcome is not None or session.damaged_at is not None
    (row,) = rows(tmp_path / "dataset", "sessions", "cut")
    assert (row["complete"], row["damaged_at"]) == (False, last + 1)
    assert (row["time_us"], row["state_hash"]) == (story_events()[last - 1].time_us, None)


def test_a_session_that_is_still_recorded_is_exported_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "growing.tide.db"
    recorder = Recorder(path, origin())
    for event in story_events()[:500]:
        recorder(event)
    recorder.flush()
    with SessionFile(path) as session:
        assert add_session(session, tmp_path / "dataset").events == 500
    recorder.close()
    (row,) = rows(tmp_path / "dataset", "sessions", "growing")
    assert (row["complete"], row["damaged_at"], row["events"]) == (False, None, 500)
    assert row["time_us"] == story_events()[499].time_us


def test_a_session_of_which_no_event_can_be_read_is_not_exported(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path, STORY[:6])
    content = path.read_bytes()
    with SessionFile(path) as session:
        first = session.chunks[0]
        row = session._row("SELECT events FROM chunks WHERE first_seq = ?", (first.first_seq,))
    at = content.index(row[0][:200])
    path.write_bytes(content[:at] + b"\x00" * 100 + content[at + 100 :])
    with SessionFile(path) as session:
        assert session.last_seq == 0
        with pytest.raises(SessionDamagedError, match="no event to export"):
            add_session(session, tmp_path / "dataset")
    assert not (tmp_path / "dataset").exists()


def test_a_damaged_dataset_is_told(recording: Path, tmp_path: Path) -> None:
    with SessionFile(recording) as session:
        add_session(session, tmp_path)
        (part,) = files_of(tmp_path, "sessions")
        part.write_bytes(b"PAR1 nothing")
        with pytest.raises(DatasetUnreadable, match=r"sessions/.* is damaged|is damaged: "):
            add_session(session, tmp_path)
        part.unlink()
        with pytest.raises(DatasetUnreadable, match="is missing"):
            Dataset(tmp_path).require_whole()
        with pytest.raises(DatasetError, match="could not be read"):
            add_session(session, tmp_path)


def test_a_dataset_that_cannot_be_written_is_told(recording: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with SessionFile(recording) as session, pytest.raises(DatasetError, match="Not a directory"):
        add_session(session, tmp_path / "file" / "dataset")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_long_names_make_short_ids() -> None:
    assert session_id(Path("x" * 300 + ".tide.db")) == "x" * 128


def test_large_records_are_written_before_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.dataset.arrow_rows.MEMORY_WAITING", 1 << 20)
    monkeypatch.setattr("sessions.dataset.writer.ROW_GROUP_BYTES", 1 << 20)
    monkeypatch.setattr("sessions.recording.recorder.CHUNK_TEXT_MAX", 1 << 20)
    events, values = list(story_events()), ["v" * 60_000, "w" * 60_000]
    last, count = events[-1], 60
    record = 1 + max(e.first_record + len(e.values) for e in events if isinstance(e, ProduceSent))
    with Recorder(tmp_path / "large.tide.db", origin()) as recorder:
        for event in events:
            recorder(event)
        for number in range(1, count + 1):
            seq, first = last.seq + number, record + 2 * number
            event = ProduceSent(seq, last.time_us, 0, "p", "orders-0", first, [], values, 0)
            recorder(event)
    with SessionFile(tmp_path / "large.tide.db") as session:
        add_session(session, tmp_path / "dataset")
    produced = rows(tmp_path / "dataset", "produced", "large")
    assert [row["value"] for row in produced[-2 * count :]] == values * count
    (path,) = files_of(tmp_path / "dataset", "events")
    groups = parquet.ParquetFile(path).metadata
    assert groups.num_row_groups > 4
    assert all(
        groups.row_group(number).total_byte_size < 4 << 20
        for number in range(groups.num_row_groups)
    )
