"""Work that takes minutes: done in a thread, and looked at frame by frame.

Textual's thread workers are waited for when the application ends. Quitting must not wait for Spark
or a verification, so these threads are daemons.
"""

from collections.abc import Callable
from threading import Thread

Tell = Callable[[str], None]
Work = Callable[[Tell], str]
"""Does the work, reports its progress now and then, and returns a sentence about the result."""


class Job:
    """A background job; :attr:`said` is its progress, :attr:`outcome` its result."""

    def __init__(self, title: str, work: Work) -> None:
        self.title = title
        self.progress = ""
        self.outcome = ""
        self.failed = False
        self._work = work
        self._thread = Thread(target=self._run, name=title, daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        return not self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def _tell(self, text: str) -> None:
        self.progress = " ".join(text.split())

    def _run(self) -> None:
        try:
            self.outcome = self._work(self._tell)
        except Exception as error:  # reported on the screen, whatever it is
            self.failed = True
            self.outcome = str(error) or type(error).__name__
