"""Ctrl-c and the time limit hold inside of one long step."""

import os
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from commands.language import parser
from commands.output import streams
from commands.runs import cut_off
from commands.runs.cut_off import Cause, CutOff, cutting_off, soon
from emulator.scenario.runner import Advance, Runner
from sessions.format.file import SessionFile

pytestmark = pytest.mark.skipif(not cut_off.HAS_TIMER, reason="no timer on this system")
SCRIPT = """
cluster --brokers 1
topic create t --partitions 1 --replication-factor 1
produce t --count 3 --acks all
wait 9s
"""


def nothing() -> None:
    """Press no key."""


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def without_end() -> None:
    for _ in count():
        pass


@pytest.fixture(autouse=True)
def _hardly_any_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_off, "GRACE_SECONDS", 0.01)
    monkeypatch.setattr(cut_off, "LOOK_SECONDS", 0.005)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "long.tide"
    path.write_text(SCRIPT)
    return path


def never_comes_back(monkeypatch: pytest.MonkeyPatch, begin: Callable[[], None]) -> None:
    """Make a step begin after five seconds of virtual time that has no end."""
    advance = Runner.advance

    def caught(runner: Runner, *, budget: int) -> Advance:
        if runner.now_us > 5_000_000:
            begin()
            without_end()
        return advance(runner, 5_500_000, budget)

    monkeypatch.setattr(Runner, "advance", caught)


def test_a_step_without_end_ends_at_the_limit() -> None:
    with pytest.raises(CutOff) as ended, cutting_off(1):
        without_end()
    assert ended.value.cause is Cause.TIME


def test_a_step_without_end_ends_after_ctrl_c() -> None:
    def interrupted() -> None:
        soon()
        without_end()

    with pytest.raises(CutOff) as ended, cutting_off():
        interrupted()
    assert ended.value.cause is Cause.INTERRUPTED


def test_a_step_that_takes_too_much_memory_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut_off, "memory_left", lambda: -1)
    with pytest.raises(CutOff) as ended, cutting_off():
        without_end()
    assert ended.value.cause is Cause.MEMORY


def test_reading_a_script_ends_at_the_limit(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parser, "parse_script", lambda *_: without_end())
    assert run_program(["run", str(script), "--limit", "10ms"]) == ExitCode.TIME_LIMIT
    assert capsys.readouterr().err == (
        "the time limit was reached while the script was read; a shorter one takes less\n"
    )


def test_nothing_is_cut_off_later() -> None:
    with cutting_off(60_000_000):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    soon()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("begin", "limit", "status", "reason"),
    [
        (ctrl_c, "1h", ExitCode.INTERRUPTED, "interrupted"),
        (nothing, "3s", ExitCode.TIME_LIMIT, "the time limit was reached"),
    ],
)
def test_a_run_ends_inside_of_a_step(
    begin: Callable[[], None],
    limit: str,
    status: ExitCode,
    reason: str,
    script: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What has been recorded until then can be read."""
    never_comes_back(monkeypatch, begin)
    recording = script.with_suffix(".tide.db")
    said: list[str] = []
    monkeypatch.setattr(streams, "narrate", said.append)
    arguments = ["run", str(script), "--record", str(recording), "--limit", limit]
    assert run_program(arguments) == status
    assert said[-1].startswith(f"{reason} inside of one step, so there is no result; fewer ")
    with SessionFile(recording) as session:
        assert not session.complete


def test_memory_that_does_not_suffice_is_one_sentence(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> Advance:
        raise MemoryError

    monkeypatch.setattr(Runner, "advance", fails)
    assert run_program(["run", str(script)]) == ExitCode.TIME_LIMIT
    assert capsys.readouterr().err.splitlines()[-1] == (
        "there is not enough memory; fewer brokers, partitions or records (--count) at once take"
        " less"
    )
