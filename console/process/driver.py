"""Textual's driver for terminals, which tells the watchdog what happens outside the event loop."""

from textual import events
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from console.process.quitting import Quitting
from console.process.watchdog import Watchdog


def watched(base: type[Driver], watchdog: Watchdog, quitting: Quitting) -> type[Driver]:
    """Make a driver that a watchdog knows of, if ``base`` is that of terminals.

    Keys are read in a thread of their own, so a request to quit is noticed while the event loop is
    stuck. A terminal that takes no more text, such as one behind a stalled connection, stops the
    event loop, too, and that is no hang.
    """
    if base is not LinuxDriver:
        return base

    class WatchedDriver(LinuxDriver):
        """Reads keys and writes text under the eyes of the watchdog."""

        def process_message(self, message: Message) -> None:
            """Note a request to quit before the event loop gets it."""
            if isinstance(message, events.Key) and quitting.ends(message.key):
                watchdog.ask(0)
            super().process_message(message)

        def write(self, data: str) -> None:
            """Write text, unless nobody is left who could."""
            writer = self._writer_thread
            if writer is not None and writer.is_alive():
                with watchdog.writing():
                    super().write(data)

        @property
        def is_behind(self) -> bool:
            """Whether text of earlier frames still waits for the terminal."""
            writer = self._writer_thread
            return writer is not None and not writer._queue.empty()

        def start_application_mode(self) -> None:
            """Take the terminal."""
            watchdog.tty.is_left = False
            super().start_application_mode()  # type: ignore[no-untyped-call]

        def stop_application_mode(self) -> None:
            """Give it back."""
            super().stop_application_mode()
            watchdog.tty.is_left = True

    return WatchedDriver
