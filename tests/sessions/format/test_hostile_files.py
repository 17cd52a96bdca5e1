"""Session files from strangers: whatever lies in them or beside them, opening only reads."""

import os
import shutil
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from sessions.format.bookmarks import BookmarkError, put_bookmark
from sessions.format.catalog import delete_session, list_sessions, show_session
from sessions.format.errors import SessionError, SessionUnsafeError
from sessions.format.file import SessionFile
from sessions.format.writer import PAGE_BYTES
from sessions.model.states import Bookmark
from sessions.recording.recorder import Recorder
from tests.sessions.examples import STORY, origin, record_story, small_chunks, story_events

SECTOR = 512
FLUSHED = 600
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
READING = (
    ["sessions", "show", "a.tide.db"],
    ["sessions", "list", "."],
    ["sessions", "verify", "a.tide.db"],
    ["sessions", "export", "a.tide.db", "--out", "dataset"],
    ["sessions", "script", "a.tide.db"],
)


def plant_journal(path: Path, victim: Path) -> None:
    """Beside a session, leave a journal of no pages that names the victim as its super-journal."""
    pages = path.stat().st_size // PAGE_BYTES
    head = JOURNAL_MAGIC + struct.pack(">5I", 0, 7, pages, SECTOR, PAGE_BYTES)
    name = str(victim).encode()
    named = struct.pack(">I", 0x40000000 // PAGE_BYTES + 1) + name
    named += struct.pack(">2I", len(name), sum(name)) + JOURNAL_MAGIC
    path.with_name(f"{path.name}-journal").write_bytes(head.ljust(SECTOR, b"\0") + named)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A closed recording, alone in the current folder."""
    path = tmp_path / "sessions" / "a.tide.db"
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    record_story(path, STORY[:4])
    return path


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """What a killed recorder leaves: its file, the log and the index."""
    folder = tmp_path / "killed"
    folder.mkdir()
    live = tmp_path / "live.tide.db"
    with small_chunks(), Recorder(live, origin()) as recorder:
        for event in story_events()[:FLUSHED]:
            recorder(event)
        recorder.flush()
        for suffix in ("", "-wal", "-shm"):
            shutil.copy(f"{live}{suffix}", folder / f"a.tide.db{suffix}")
    return folder / "a.tide.db"


def test_sqlite_itself_would_delete_what_a_journal_names(session: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    plant_journal(session, victim)
    database = sqlite3.connect(session)
    database.execute("SELECT count(*) FROM chunks").fetchone()
    database.close()
    assert not victim.exists()


@pytest.mark.parametrize("command", READING, ids=lambda command: command[1])
def test_a_journal_beside_a_session_is_refused_and_names_nothing(
    session: Path, tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    plant_journal(session, victim)
    before = content(session.parent)
    status = run_program(command)
    captured = capsys.readouterr()
    assert "a.tide.db-journal beside it" in captured.out + captured.err
    assert "list" in command or status == ExitCode.BAD_SESSION
    assert content(session.parent) == before
    assert victim.read_text() == "precious"


def test_the_journal_beside_the_file_that_a_link_refers_to_is_the_one_that_counts(
    session: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    plant_journal(session, victim)
    link = tmp_path / "link.tide.db"
    link.symlink_to(session)
    with pytest.raises(SessionUnsafeError, match=r"a\.tide\.db-journal"):
        SessionFile(link)
    delete_session(link)
    assert session.exists()
    assert victim.exists()


def test_a_session_with_a_journal_is_deleted_and_nothing_else(
    session: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    plant_journal(session, victim)
    delete_session(session)
    assert list(session.parent.iterdir()) == []
    assert victim.exists()


def test_a_bookmark_is_not_written_past_a_journal(session: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    with SessionFile(session) as opened:
        plant_journal(session, victim)
        with pytest.raises(BookmarkError, match=r"a\.tide\.db-journal"):
            put_bookmark(opened, Bookmark("x", "", 1, 1))
    assert victim.exists()


@pytest.mark.parametrize("check", [True, False])
def test_reading_what_a_killed_recorder_left_changes_nothing(killed: Path, check: bool) -> None:
    before = content(killed.parent)
    with SessionFile(killed, check=check) as opened:
        assert tuple(opened.all_events()) == story_events()[:FLUSHED]
    assert show_session(killed).events == FLUSHED
    assert content(killed.parent) == before


def test_a_log_without_an_index_is_read_and_none_is_created(killed: Path) -> None:
    killed.with_name("a.tide.db-shm").unlink()
    before = content(killed.parent)
    with SessionFile(killed) as opened:
        assert opened.last_seq == FLUSHED
    assert content(killed.parent) == before


def test_an_index_that_is_another_file_is_neither_believed_nor_written(
    killed: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * 9_000)
    index = killed.with_name("a.tide.db-shm")
    index.unlink()
    os.link(victim, index)
    with SessionFile(killed) as opened:
        assert opened.last_seq == FLUSHED
        with pytest.raises(BookmarkError, match="hard link"):
            put_bookmark(opened, Bookmark("x", "", 1, 1))
    assert victim.read_bytes() == b"precious" * 9_000


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_log_that_is_no_file_is_refused(
    session: Path, suffix: str, make: Callable[[Path], object]
) -> None:
    make(session.with_name(f"a.tide.db{suffix}"))
    with pytest.raises(SessionUnsafeError, match=f"a.tide.db{suffix} beside it is not a regular"):
        SessionFile(session)


def test_one_such_file_is_one_line_of_a_list(session: Path) -> None:
    record_story(session.with_name("b.tide.db"), STORY[:4])
    session.with_name("a.tide.db-journal").write_bytes(b"")
    first, second = list_sessions(session.parent)
    assert "a.tide.db-journal" in first.problem
    assert second.problem == ""


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH 'other' AS other",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "SELECT load_extension('x')",
        "SELECT zeroblob(1000000000)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
        "DELETE FROM chunks",
        "CREATE TABLE x (y)",
        "CREATE TEMP TRIGGER t AFTER INSERT ON bookmarks BEGIN DELETE FROM chunks; END",
        "VACUUM INTO 'other'",
    ],
)
def test_an_opened_session_does_nothing_but_read_its_tables(session: Path, statement: str) -> None:
    with SessionFile(session) as opened:
        with pytest.raises(sqlite3.DatabaseError):
            opened._database.execute(statement).fetchall()
        assert opened.last_seq > 0
    assert sorted(path.name for path in session.parent.iterdir()) == ["a.tide.db"]


def test_a_recording_is_private_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.tide.db", origin()) as recorder:
        recorder(story_events()[0])
        recorder.flush()
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"a.tide.db": 0o600, "a.tide.db-wal": 0o600, "a.tide.db-shm": 0o600}
    assert (tmp_path / "a.tide.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_recording_does_not_start_among_the_files_of_another(tmp_path: Path, suffix: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    os.link(victim, tmp_path / f"a.tide.db{suffix}")
    with pytest.raises(SessionError, match=f"a.tide.db{suffix} is there already"):
        Recorder(tmp_path / "a.tide.db", origin())
    assert victim.read_text() == "precious"
    assert not (tmp_path / "a.tide.db").exists()


def test_a_recording_stays_locked_when_its_own_process_lists_it(tmp_path: Path) -> None:
    path = tmp_path / "a.tide.db"
    with Recorder(path, origin()) as recorder:
        recorder(story_events()[0])
        recorder.flush()
        assert [listed.events for listed in list_sessions(tmp_path)] == [1]
        os.unlink(f"{path}-shm")  # it is also locked, and would say so in its stead
        with pytest.raises(SessionError, match="is being recorded"):
            delete_session(path)


def test_a_bookmark_leaves_one_file_that_reads_see(session: Path) -> None:
    with SessionFile(session) as opened:
        put_bookmark(opened, Bookmark("x", "", 1, 1))
        assert Bookmark("x", "", 1, 1) in opened.bookmarks()
    assert [path.name for path in session.parent.iterdir()] == ["a.tide.db"]
