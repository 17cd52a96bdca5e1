"""Writing session files: rows are there once committed."""

import os
import sqlite3
from pathlib import Path
from typing import NoReturn

import pytest

from emulator.events import Event
from sessions.format import writer as writing
from sessions.format.errors import SessionError, SessionMissingError
from sessions.format.file import SessionFile
from sessions.format.metadata import Outcome
from sessions.format.writer import SessionWriter
from sessions.recording.recorder import Recorder
from tests.sessions.examples import origin, story_events


def part(first: int, last: int) -> list[Event]:
    return list(story_events()[first - 1 : last])


def test_a_longer_chunk_takes_the_place_of_the_one_it_continues(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    for last in (10, 20, 30):
        stored = writer.put_chunk(part(1, last))
    writer.put_chunk(part(31, 40))
    writer.commit()
    assert stored.size > 0
    assert sum(map(len, stored.groups.values())) == 30
    with SessionFile(tmp_path / "a.tide.db") as session:
        assert [(chunk.first_seq, chunk.last_seq) for chunk in session.chunks] == [
            (1, 30),
            (31, 40),
        ]
    writer.close(None)


def test_nothing_is_seen_before_it_is_committed(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    writer.put_chunk(part(1, 10))
    with SessionFile(tmp_path / "a.tide.db") as session:
        assert session.last_seq == 0
        writer.commit()
        session.refresh()
        assert session.last_seq == 10
    writer.close(None)


def test_a_writer_may_close_while_somebody_reads(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    writer.put_chunk(part(1, 10))
    writer.commit()
    with SessionFile(tmp_path / "a.tide.db") as session:
        writer.close(None)
        assert list(session.all_events()) == part(1, 10)
    with SessionFile(tmp_path / "a.tide.db") as session:
        assert list(session.all_events()) == part(1, 10)


def test_a_chunk_says_which_records_it_names(tmp_path: Path) -> None:
    writer = SessionWriter(tmp_path / "a.tide.db", origin())
    writer.put_chunk(part(1, 20))
    writer.put_chunk(part(21, len(story_events())))
    writer.commit()
    with SessionFile(tmp_path / "a.tide.db") as session:
        first, second = session.chunks
        assert (first.first_record, first.last_record) == (-1, -1)
        assert 0 <= second.first_record < second.last_record
    writer.close(None)


def full(*_: object) -> NoReturn:
    raise sqlite3.OperationalError("database or disk is full")


def open_files(folder: Path) -> list[str]:
    """What this process has open in a folder."""
    found = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    return [each for each in found if each.startswith(str(folder))]


def test_a_file_that_cannot_be_tidied_up_at_the_end_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    monkeypatch.setattr(SessionWriter, "_squeeze", full)
    writer = SessionWriter(path, origin())
    writer.put_chunk(part(1, 10))
    writer.close(Outcome(events=10, time_us=0, steps=0, state_hash=""))
    with SessionFile(path) as session:
        assert (session.complete, session.damage, session.last_seq) == (True, "", 10)
    assert open_files(tmp_path) == []


def test_a_file_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_make_tables", full)
    with pytest.raises(SessionMissingError, match="disk is full"):
        SessionWriter(tmp_path / "a.tide.db", origin())
    assert list(tmp_path.iterdir()) == []
    assert open_files(tmp_path) == []


def test_a_write_that_fails_leaves_one_plain_file_of_what_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.tide.db"
    recorder = Recorder(path, origin())
    for event in part(1, 20):
        recorder(event)
    recorder.flush()
    monkeypatch.setattr(recorder.writer, "put_input", full)
    for event in part(21, 900):
        recorder(event)
    recorder.flush()
    assert open_files(tmp_path) == []
    assert [each.name for each in tmp_path.iterdir()] == ["a.tide.db"]
    with pytest.raises(SessionError, match="disk is full"):
        recorder.close()
    with SessionFile(path) as session:
        assert tuple(session.all_events()) == tuple(part(1, 20))
        assert not session.complete
