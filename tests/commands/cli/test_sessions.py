"""``sessions trim``, ``delete`` and ``run --keep``, as people type them."""

import json
import sys
from io import StringIO
from pathlib import Path

import pytest

from commands.cli.main import run_program
from emulator.common.version import THIS_PROGRAM
from sessions.format.file import SessionFile
from sessions.text import clock


@pytest.fixture
def recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "run.tide.db"
    assert (
        run_program(["run", "-c", "cluster; wait 20s; mark half; wait 20s", "--record", str(path)])
        == 0
    )
    capsys.readouterr()
    return path


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_piece_of_a_session_is_cut_and_verifies(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = recording.with_name("piece.tide.db")
    places = ["--from", "10s", "--to=-10s"]
    assert run_program(["sessions", "trim", str(recording), *places, "--out", str(out)]) == 0
    assert capsys.readouterr().err.startswith(f"{out}: events ")
    with SessionFile(out) as session:
        times = [event.time_us for event in session.all_events()]
        assert [mark.name for mark in session.bookmarks()] == ["half"]
    assert min(times) >= 10_000_000
    assert max(times) <= 31_000_000
    assert run_program(["sessions", "verify", str(out)]) == 0
    assert "does not contain the events before" in capsys.readouterr().out


def test_a_verification_is_printed_as_json(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "verify", str(recording), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    with SessionFile(recording) as session:
        assert session.origin.program == THIS_PROGRAM
        assert session.outcome is not None
        assert found == {
            "schema": 1,
            "session": str(recording),
            "same": True,
            "damaged": False,
            "events": session.last_seq,
            "difference": None,
            "outcome": [],
            "state_hash": session.outcome.state_hash,
            "note": "",
        }


@pytest.mark.parametrize(
    ("out", "places", "status", "said"),
    [
        ("run.tide.db", [], 3, "already exists"),
        ("piece.db", [], 2, "named *.tide.db"),
        ("no/piece.tide.db", [], 3, "no folder"),
        ("piece.tide.db", ["--from", "#900000"], 3, "there are none from 900,000"),
        ("piece.tide.db", ["--from", "5m"], 3, ", so there are none from "),
        ("piece.tide.db", ["--from", "+5m"], 3, ", the last at 00:00:"),
        ("piece.tide.db", ["--from", "soon"], 2, "is not a place in time"),
    ],
)
def test_a_piece_that_cannot_be_cut_is_told(
    recording: Path,
    capsys: pytest.CaptureFixture[str],
    out: str,
    places: list[str],
    status: int,
    said: str,
) -> None:
    target = str(recording.with_name(out) if "/" not in out else recording.parent / out)
    assert run_program(["sessions", "trim", str(recording), *places, "--out", target]) == status
    assert said in capsys.readouterr().err
    assert [path.name for path in recording.parent.iterdir()] == ["run.tide.db"]


@pytest.mark.parametrize("place", ["5m", "+5m", "#900000"])
def test_a_place_after_the_end_is_the_end_and_a_note_says_so(
    recording: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    assert run_program(["sessions", "why", str(recording), "--at", place]) == 0
    with SessionFile(recording) as session:
        at = f"{clock(session.last_us)} (#{session.last_seq:,})"
    assert capsys.readouterr().err == f"note: the end is {at}\n"
    assert run_program(["sessions", "why", str(recording), "--at", "end"]) == 0
    assert not capsys.readouterr().err


def test_sessions_are_deleted_without_a_question_if_told_so(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "delete", str(recording), "--yes"]) == 0
    assert capsys.readouterr().err == f"deleted: {recording}\n"
    assert not recording.exists()


@pytest.mark.parametrize(("answer", "is_kept"), [("y\n", False), ("n\n", True), ("\n", True)])
def test_sessions_are_deleted_after_a_question(
    recording: Path, monkeypatch: pytest.MonkeyPatch, answer: str, is_kept: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    assert run_program(["sessions", "delete", str(recording)]) == 0
    assert recording.exists() == is_kept


def test_where_nobody_can_be_asked_nothing_is_deleted(
    recording: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("y\n"))
    assert run_program(["sessions", "delete", str(recording)]) == 2
    assert "give --yes" in capsys.readouterr().err
    assert recording.exists()


@pytest.mark.parametrize(("name", "status"), [("none.tide.db", 3), ("notes.tide.db", 5)])
def test_if_one_is_no_session_none_is_deleted(recording: Path, name: str, status: int) -> None:
    (recording.parent / "notes.tide.db").write_text("precious")
    other = str(recording.with_name(name))
    assert run_program(["sessions", "delete", str(recording), other, "--yes"]) == status
    assert recording.exists()


def test_the_commands_are_among_those_of_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["sessions", "--help"]) == 0
    said = capsys.readouterr().out
    for name in ("list", "show", "verify", "diff", "trim", "delete", "export", "script"):
        assert f"  {name} " in said


def test_a_recording_is_kept_to_a_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.tide.db"
    assert run_program(["run", "-c", "cluster", "--record", str(path), "--keep", "1MB"]) == 0
    assert run_program(["run", "-c", "cluster", "--keep", "1MB"]) == 2
    assert "--record, which is missing" in capsys.readouterr().err
    assert run_program(["run", "-c", "cluster", "--record", str(path), "--keep", "9"]) == 2
    assert "'9' is not a size" in capsys.readouterr().err
