"""The console in a real terminal ends when asked to, and by itself when it is stuck."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions.format.file import SessionFile
from tests.console.mashing import gone
from tests.console.terminals import Terminal

STUCK = """\
import time
from pathlib import Path
from console.app import TidegaugeApp
from commands.cli.main import main

usual = TidegaugeApp.frame


def frame(app):
    while Path("burns").exists():
        pass
    if Path("sleeps").exists():
        time.sleep(600)
    usual(app)


TidegaugeApp.frame = frame
main()
"""
"""A console whose event loop gets stuck when a file appears: in a loop, or in a system call."""
ENDS_WITHIN = 4.0
"""Seconds: two, and as many again for a slow machine."""
KEEPS = ("console", "--record", "run.tide.db")

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in which a console runs that can be made to hang."""
    (tmp_path / "stuck.py").write_text(STUCK)
    made = Terminal(tmp_path, 100, 30)
    try:
        made.prepare()
        made.type(f"TMPDIR={tmp_path}; export TMPDIR")
        made.start(*KEEPS, program="stuck.py")
        yield made
    finally:
        made.close()


def test_a_hang_is_noticed_explained_and_survived_by_the_recording(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "sleeps").touch()
    shown = terminal.until(r"status=70")
    assert "did not react any more" in shown
    assert "recorded in" in shown
    (report,) = tmp_path.glob("tidegauge-stacks-*.txt")
    assert "in frame" in report.read_text()
    mode = terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
    assert mode.split() == ["0", "0"]
    file = SessionFile(tmp_path / "run.tide.db")
    assert file.last_seq > 100
    file.close()


def test_every_wish_to_end_is_granted_while_the_event_loop_is_stuck(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "burns").touch()
    process = terminal.program()
    terminal.press("C-q")
    assert gone(process) < ENDS_WITHIN
    terminal.until(r"status=0")
    for wish in (signal.SIGTERM, "close"):
        (tmp_path / "burns").unlink()
        (tmp_path / "run.tide.db").unlink(missing_ok=True)
        terminal.type("clear")
        terminal.start("console", program="stuck.py")
        process = terminal.program()
        (tmp_path / "burns").touch()
        if isinstance(wish, signal.Signals):
            os.kill(process, wish)
        else:
            terminal.close()
        assert gone(process) < ENDS_WITHIN, wish
    assert not list(tmp_path.glob("tidegauge-stacks-*"))


def test_a_healthy_console_ends_with_its_terminal(terminal: Terminal) -> None:
    process = terminal.program()
    terminal.close()
    assert gone(process) < ENDS_WITHIN
