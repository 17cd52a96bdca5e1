"""Exporting by two processes: the same tables, and one end for both."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.dataset import export_files, parallel_export
from sessions.dataset.export_files import add_session
from sessions.dataset.layout import STAGING, Dataset, DatasetError, Staging
from sessions.dataset.parallel_export import exporting_beside
from sessions.dataset.tables import TABLES
from sessions.format.errors import SessionDamagedError
from sessions.format.file import SessionFile
from tests.sessions.conftest import Growing
from tests.sessions.dataset.reading import rows

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60

KILLED = """
import os, signal, subprocess, sys
from sessions.dataset.layout import Dataset
SECOND = "import os, sys; sys.stdin.read(); print('ended', flush=True)"
with Dataset(sys.argv[1]).staging() as staging:
    subprocess.Popen([sys.executable, "-c", SECOND], pass_fds=(staging.lock,))
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""A process that is killed while a second one, which has its lock and standard input, goes on."""


@pytest.fixture
def by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process is worth its start for any session."""
    monkeypatch.setattr(export_files, "WORTH_EVENTS", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


@pytest.mark.usefixtures("by_two")
def test_two_processes_write_what_one_does(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SessionFile(recording) as session:
        by_two = add_session(session, tmp_path / "two").report
        monkeypatch.setattr(os, "cpu_count", lambda: 1)
        by_one = add_session(session, tmp_path / "one").report
    assert by_two is not None
    assert by_one is not None
    assert (by_two.events, by_two.rows) == (by_one.events, by_one.rows)
    assert list(by_two.rows) == [table.name for table in TABLES]
    for table in TABLES:
        found = rows(tmp_path / "two", table.name, "story")
        assert found == rows(tmp_path / "one", table.name, "story")
        assert len(found) == by_two.rows[table.name]


@pytest.mark.usefixtures("by_two")
def test_both_export_a_recording_that_goes_on_up_to_the_same_event(
    growing: Growing, tmp_path: Path
) -> None:
    seen = growing.session.last_seq
    growing.grow()
    report = add_session(growing.session, tmp_path / "dataset").report
    assert report is not None
    assert (report.events, report.rows["events"]) == (seen, seen)


@pytest.mark.usefixtures("by_two")
def test_a_second_process_that_dies_leaves_nothing(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with SessionFile(recording) as session, pytest.raises(DatasetError, match="ended with status"):
        add_session(session, tmp_path / "dataset")
    assert list(tmp_path.iterdir()) == []


def test_what_the_second_process_cannot_write_or_read_is_told(
    recording: Path, tmp_path: Path
) -> None:
    (tmp_path / "events").touch()
    part = tmp_path / "story.tide.db"
    part.write_bytes(recording.read_bytes())
    dataset = Dataset(tmp_path / "dataset")
    with SessionFile(part) as session, (tmp_path / "lock").open("wb") as lock:
        staging = Staging(dataset, tmp_path, "a", lock.fileno())
        with (
            exporting_beside(session, "story", staging) as other,
            pytest.raises(OSError, match=r"exists|Not a directory"),
        ):
            other.rows()
        last = session.chunks[-1].first_seq
        block = session._row("SELECT events FROM chunks WHERE first_seq = ?", (last,))[0]
        part.write_bytes(part.read_bytes().replace(block[:50], b"\x00" * 50))
        staging = Staging(dataset, tmp_path / "damaged", "a", lock.fileno())
        with (
            exporting_beside(session, "story", staging) as other,
            pytest.raises(SessionDamagedError),
        ):
            other.rows()


def test_the_second_process_ends_with_the_first(recording: Path, tmp_path: Path) -> None:
    """It waits for a library that never comes, until its standard input is closed."""
    (tmp_path / "pyarrow.py").write_text("import threading; threading.Event().wait()")
    arguments = [str(recording), "1", "a", str(tmp_path / "staging"), "c"]
    with subprocess.Popen(
        [sys.executable, "-m", parallel_export.__name__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
    ) as process:
        said, _ = process.communicate(timeout=PATIENCE_S)
        assert (said, process.returncode) == (b"", 1)


def test_what_a_killed_process_leaves_is_no_leftover_while_the_second_is_at_work(
    tmp_path: Path,
) -> None:
    arguments = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(
        arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.wait(PATIENCE_S) == -signal.SIGKILL
        Dataset(tmp_path).recover()
        assert list(tmp_path.glob(f"{STAGING}/*"))
        assert first.stdin is not None
        assert first.stdout is not None
        first.stdin.close()
        assert first.stdout.read() == b"ended\n"
    Dataset(tmp_path).recover()
    assert list(tmp_path.glob(f"{STAGING}/*")) == []
