"""The terminal that the console was started in: how it was, and how to leave it that way."""

import os
import sys
import termios
from contextlib import suppress
from typing import Any, Final

LEAVE: Final = (
    "\x1b[?2004l\x1b[?7h\x1b[?2048l"  # bracketed paste, line wrap, reports of the size
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # the mouse
    "\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l\x1b[0m"  # keyboard, screen, cursor, focus, colour
)
"""Undoes everything that Textual's driver switches on."""


class Tty:
    """The terminal of standard input and error; nothing here waits for it."""

    def __init__(self) -> None:
        self.fileno = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
        self._before: list[Any] | None = None
        self.is_left = False
        """Whether Textual has put everything back already."""

    def remember(self) -> None:
        """Remember how the terminal is before the console changes it."""
        with suppress(termios.error):
            self._before = termios.tcgetattr(self.fileno)

    def restore(self) -> None:
        """Put the terminal back as it was."""
        if self._before is not None:
            with suppress(termios.error):
                termios.tcsetattr(self.fileno, termios.TCSANOW, self._before)
        if not self.is_left:
            self.say(LEAVE)

    def say(self, text: str) -> None:
        """Write text, unless the terminal is gone or takes none."""
        with suppress(OSError):
            descriptor = os.open(os.ttyname(self.fileno), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
