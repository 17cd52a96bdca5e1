"""A thread that ends the console when its event loop is stuck, and saves what can be saved."""

import faulthandler
import os
import select
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import clock_gettime, monotonic, pthread_getcpuclockid
from types import FrameType
from typing import Final, NoReturn

from console.process.tty import Tty
from console.process.vigil import Verdict, Vigil
from sessions.file_system import delete_file
from sessions.text import clean

LOOK_EVERY_S: Final = 0.2
HUNG: Final = 70
"""The exit status of a console that hung: an internal error."""
INTERPRETER_STUCK_S: Final = 30.0
"""How long this thread may not run at all: by then Python itself is stuck in one long call."""
SAVE_WITHIN_S: Final = 0.5
"""How long saving may take if the main thread cannot do it."""
TAKES_OVER: Final = signal.SIGUSR1
"""Makes the main thread run :meth:`Watchdog._end_here`, even in the middle of a system call."""
CLOSED: Final = 128 + signal.SIGHUP
"""The exit status of a process whose terminal was closed."""


class Watchdog:
    """Watches the main thread from :meth:`start` to :meth:`stop`.

    ``save`` writes what has been recorded, and returns lines for the user that say where it is.
    """

    def __init__(self, tty: Tty, save: Callable[[], list[str]]) -> None:
        self.tty = tty
        self.save = save
        self.vigil = Vigil(monotonic())
        self.report: Path | None = None
        self._stopped = threading.Event()
        self._saved: list[str] | None = None
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._main = threading.get_ident()

    def __enter__(self) -> "Watchdog":
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    # ---- what the console tells it

    def start(self) -> None:
        """Begin; call it in the main thread."""
        self.tty.remember()
        signal.signal(TAKES_OVER, self._end_here)
        handle, name = tempfile.mkstemp(prefix="tidegauge-stacks-", suffix=".txt")
        self.report, self._stacks = Path(name), os.fdopen(handle, "w")
        self.vigil.answered(monotonic())
        self._thread.start()

    def stop(self) -> None:
        """End: the console has ended by itself."""
        self._stopped.set()
        self._thread.join()
        faulthandler.cancel_dump_traceback_later()
        signal.signal(TAKES_OVER, signal.SIG_DFL)
        self._stacks.close()
        if self.report is not None:
            delete_file(self.report, self.report.parent)

    def answered(self) -> None:
        """Note that keys would be processed now."""
        self.vigil.answered(monotonic())

    def ask(self, status: int) -> None:
        """Note that the console was asked to end with this status; it is ended if it does not."""
        self.vigil.ask(status, monotonic())

    @contextmanager
    def working(self) -> Iterator[None]:
        """Be patient with what a user asked for."""
        self.vigil.begin_work()
        try:
            yield
        finally:
            self.vigil.end_work(monotonic())

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be patient with a slow terminal."""
        self.vigil.begin_write()
        try:
            yield
        finally:
            self.vigil.end_write(monotonic())

    # ---- in its own thread

    def _watch(self) -> None:
        terminal = select.poll()
        terminal.register(self.tty.fileno, 0)  # a hang-up is reported without being asked for
        main_clock = pthread_getcpuclockid(self._main)
        while not self._stopped.wait(LOOK_EVERY_S):
            faulthandler.dump_traceback_later(INTERPRETER_STUCK_S, exit=True, file=self._stacks)
            if any(happened & select.POLLHUP for _, happened in terminal.poll(0)):
                self.ask(CLOSED)
            verdict = self.vigil.look(monotonic(), clock_gettime(main_clock))
            if verdict is Verdict.INTERRUPT:
                if self.vigil.is_hung:
                    self._dump()
                signal.pthread_kill(self._main, TAKES_OVER)
            elif verdict is Verdict.KILL:
                saver = threading.Thread(target=self._save, daemon=True)
                saver.start()
                saver.join(SAVE_WITHIN_S)
                self._end()

    def _dump(self) -> None:
        """Write the stacks of all threads."""
        faulthandler.dump_traceback(self._stacks, all_threads=True)

    # ---- the end

    def _end_here(self, number: int, frame: FrameType | None) -> None:
        """Save and end; runs in the main thread, between two of its instructions."""
        self._save()
        self._end()

    def _save(self) -> None:
        try:
            self._saved = self.save()
        except Exception as error:  # whatever it is, the process has to end
            self._saved = [f"the end of the recording could not be saved: {error}"]

    def _end(self) -> NoReturn:
        self.tty.restore()
        lines = list(self._saved or ())
        status = self.vigil.status
        if self.vigil.is_hung:
            status = HUNG
            lines = ["The console did not react any more, and was ended.", *lines]
            lines.append(f"What it was doing is in {self.report}; please report it")
        elif self.report is not None:
            delete_file(self.report, self.report.parent)
        self.tty.say("".join(f"{clean(line)}\r\n" for line in lines))
        sys.stdout = sys.stderr = None
        os._exit(status)
