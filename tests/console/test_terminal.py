"""The console in a real terminal (tmux), as a user drives it."""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
PROGRAM = "from commands.cli.main import main; main()"
SCRIPT = """\
cluster --brokers 3 --seed 7 --config zookeeper.session.timeout.ms=4000
topic create orders --replica-assignment 1:2:0
wait until orders-0.leader == 1
produce orders --count 5 --value a --acks all --retries 5
settle
"""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")


class Terminal:
    """A shell in a tmux server of its own."""

    def __init__(self, folder: Path, columns: int, lines: int) -> None:
        self.socket = str(folder / "tmux")
        size = ("-x", str(columns), "-y", str(lines))
        self.tmux("-f", "/dev/null", "new-session", "-d", "-c", str(folder), *size, "sh")

    def tmux(self, *arguments: str) -> str:
        """What a tmux command prints."""
        command = ["tmux", "-u", "-S", self.socket, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type text, and enter."""
        self.tmux("send-keys", "-l", text)
        self.press("Enter")

    def shown(self) -> str:
        """What the terminal shows."""
        return self.tmux("capture-pane", "-p")

    def until(self, pattern: str) -> str:
        """Wait until the terminal shows what matches; returns what it shows."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            shown = self.shown()
            if re.search(pattern, shown):
                return shown
            time.sleep(POLL_SECONDS)
        pytest.fail(f"never shown: {pattern}\n{self.shown()}")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal of 120x40 in a folder with a script."""
    (tmp_path / "orders.tide").write_text(SCRIPT)
    made = Terminal(tmp_path, 120, 40)
    made.type("unset NO_COLOR LC_ALL COLUMNS LINES; LANG=C.UTF-8; export LANG; PS1='ready> '")
    try:
        made.until(r"(?m)ready>\s*$")
        yield made
    finally:
        made.tmux("kill-server")


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not path.exists():
        assert time.monotonic() < end, sorted(path.parent.iterdir())
        time.sleep(POLL_SECONDS)


def start(terminal: Terminal, *arguments: str) -> None:
    """Begin the console, and wait until it is drawn."""
    terminal.type(f'{sys.executable} -c "{PROGRAM}" {" ".join(arguments)}; echo "status=$?"')
    terminal.until(r"brk 3/3")


def test_a_user_breaks_a_broker_sees_the_election_and_walks_back(
    terminal: Terminal, tmp_path: Path
) -> None:
    start(terminal, "console", "orders.tide")
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
    start(terminal, "console", "orders.tide")
    inside = terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
    assert inside != before
    pane = terminal.tmux("display-message", "-p", "#{pane_pid}").strip()
    subprocess.run(["pkill", "-TERM", "-P", pane], check=True)
    terminal.until(r"status=143")
    assert terminal.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}") == before


def test_a_terminal_that_changes_its_size_is_followed(terminal: Terminal) -> None:
    start(terminal, "console", "orders.tide", "--paused")
    terminal.press("2")
    terminal.until(r"TOPIC-PART")
    terminal.tmux("resize-window", "-x", "50", "-y", "12")
    terminal.until(r"60")
    terminal.tmux("resize-window", "-x", "80", "-y", "24")
    terminal.until(r"TOPIC-PART")
    terminal.press("C-q")
    terminal.until(r"status=0")


def test_copying_reaches_the_clipboard_of_tmux(terminal: Terminal) -> None:
    start(terminal, "console", "orders.tide", "--paused")
    terminal.press("2")
    terminal.until(r"orders-0 +1 ")
    terminal.press("Y")
    terminal.until(r"copied")
    assert '"topic":"orders"' in terminal.tmux("show-buffer")
    terminal.press("C-q")
    terminal.until(r"status=0")
