"""A real terminal (tmux) for tests of the console."""

import re
import subprocess
import sys
import time
from pathlib import Path

PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
PROGRAM = "from commands.cli.main import main; main()"


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

    def history(self) -> str:
        """What the terminal has shown since it was opened, as far as it has scrolled."""
        return self.tmux("capture-pane", "-p", "-S", "-")

    def until(self, pattern: str) -> str:
        """Wait until the terminal shows what matches; returns what it shows."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            shown = self.shown()
            if re.search(pattern, shown):
                return shown
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"never shown: {pattern}\n{self.shown()}")

    def close(self) -> None:
        """Close the terminal, if it is still there."""
        command = ["tmux", "-S", self.socket, "kill-server"]
        subprocess.run(command, capture_output=True, check=False)

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def paste(self, text: str) -> None:
        """Paste text as a terminal does."""
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p")

    def prepare(self) -> None:
        """Let the shell begin in a known state."""
        self.type("unset NO_COLOR LC_ALL COLUMNS LINES; LANG=C.UTF-8; export LANG; PS1='ready> '")
        self.until(r"(?m)ready>\s*$")

    def start(self, *arguments: str, ready: str = r"brk \d", program: str = "") -> None:
        """Begin the program, or a file of Python, and wait until it has drawn its header."""
        begun = program or f'-c "{PROGRAM}"'
        self.type(f'{sys.executable} {begun} {" ".join(arguments)}; echo "status=$?"')
        self.until(ready)

    def program(self) -> int:
        """The process that was begun last."""
        pane = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        found = subprocess.run(["pgrep", "-P", pane], capture_output=True, text=True, check=True)
        return int(found.stdout.split()[-1])
