"""The console in a real terminal (tmux), as a user drives it."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console.terminals import PATIENCE_SECONDS, POLL_SECONDS, Terminal

SCRIPT = """\
cluster --brokers 3 --seed 7 --config zookeeper.session.timeout.ms=4000
topic create orders --replica-assignment 1:2:0
wait until orders-0.leader == 1
produce orders --count 5 --value a --acks all --retries 5
settle
"""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal of 120x40 in a folder with a script."""
    (tmp_path / "orders.tide").write_text(SCRIPT)
    made = Terminal(tmp_path, 120, 40)
    try:
        made.prepare()
        yield made
    finally:
        made.close()


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        assert time.monotonic() < end, sorted(path.parent.iterdir())
        time.sleep(POLL_SECONDS)


def test_a_user_breaks_a_broker_sees_the_election_and_walks_back(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.start("console", "orders.tide")
    terminal.press("2")
    terminal.until(r"orders-0 +1 ")
    terminal.press("Enter")
    terminal.until(r"1 . leader")
    terminal.press(":")
    terminal.until(r"a statement:")
    terminal.type("broker crash 1")
    terminal.until(r"brk 2/3")
    terminal.press(")", ")", ")")
    terminal.until(r"2 . leader")
    terminal.press("Space")
    terminal.until(r"PAUSED")
    terminal.press("<")
    terminal.until(r"REPLAY|PAUSED")
    terminal.press("S")
    terminal.until(r"save as script")
    terminal.press("Enter")
    wait_for(tmp_path / "live.tide")
    terminal.press("C-q")
    shown = terminal.until(r"status=0")
    assert "brk 2/3" not in shown
    assert "broker crash 1\n" in (tmp_path / "live.tide").read_text()


def test_a_terminal_is_left_as_it_was_when_the_process_is_ended(terminal: Terminal) -> None:
    before = terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
    terminal.start("console", "orders.tide")
    inside = terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
    assert inside != before
    os.kill(terminal.program(), signal.SIGTERM)
    terminal.until(r"status=143")
    assert terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}") == before


def test_a_terminal_that_changes_its_size_is_followed(terminal: Terminal) -> None:
    terminal.start("console", "orders.tide", "--paused")
    terminal.press("2")
    terminal.until(r"TOPIC-PART")
    terminal.resize(50, 12)
    terminal.until(r"60")
    terminal.resize(80, 24)
    terminal.until(r"TOPIC-PART")
    terminal.press("C-q")
    terminal.until(r"status=0")


def test_copying_reaches_the_clipboard_of_tmux(terminal: Terminal) -> None:
    terminal.start("console", "orders.tide", "--paused")
    terminal.press("2")
    terminal.until(r"orders-0 +1 ")
    terminal.press("Y")
    terminal.until(r"copied")
    assert '"topic":"orders"' in terminal.tmux("show-buffer")
    terminal.press("C-q")
    terminal.until(r"status=0")
