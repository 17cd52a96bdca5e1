"""Recordings in folders that cannot be written, with what a killed recorder left beside them."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sessions.format.catalog import show_session
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.recording.recorder import Recorder
from tests.sessions.examples import origin, small_chunks, story_events

NOBODY = 65_534
FLUSHED = 900


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may write anywhere; here it is somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def killed() -> Iterator[Path]:
    """A session whose file holds little, and its log the rest, in a folder nobody can write."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        os.chmod(folder, 0o755)
        path = folder / "a.tide.db"
        live = folder / "live.tide.db"
        with small_chunks(), Recorder(live, origin()) as recorder:
            for event in story_events()[:FLUSHED]:
                recorder(event)
            recorder.flush()
            shutil.copy(live, path)
            shutil.copy(f"{live}-wal", f"{path}-wal")
        live.unlink()
        for each in folder.iterdir():
            os.chmod(each, 0o444)
        os.chmod(folder, 0o555)
        yield path
        os.chmod(folder, 0o755)


@pytest.mark.parametrize("check", [True, False])
def test_what_is_in_the_log_alone_is_read_where_nothing_can_be_written(
    killed: Path, check: bool
) -> None:
    before = sorted(killed.parent.iterdir())
    with without_privileges(), SessionFile(killed, check=check) as session:
        assert tuple(session.all_events()) == story_events()[:FLUSHED]
        assert (session.damage, session.complete) == ("", False)
    assert sorted(killed.parent.iterdir()) == before


def test_the_list_counts_what_is_in_the_log_alone(killed: Path) -> None:
    with without_privileges():
        assert show_session(killed).events == FLUSHED


def test_a_log_that_cannot_be_copied_is_told(killed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sessions.format.connection.shutil.copyfile", full)
    with without_privileges():
        try:
            session = SessionFile(killed)
        except SessionError as error:
            said = str(error)
        else:
            with session:
                assert session.last_seq < FLUSHED
                assert not session.complete
                said = session.damage
    assert "a.tide.db-wal" in said
    assert "No space left" in said


def test_a_closed_recording_is_read_where_nothing_can_be_written(recording: Path) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        path = Path(name, "story.tide.db")
        shutil.copy(recording, path)
        os.chmod(path, 0o444)
        os.chmod(name, 0o555)
        with without_privileges(), SessionFile(path) as session:
            assert tuple(session.all_events()) == story_events()
            assert (session.damage, session.complete) == ("", True)
        os.chmod(name, 0o755)
