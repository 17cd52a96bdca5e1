"""Work that takes minutes: done in a thread, and looked at frame by frame.

Textual's thread workers are waited for when the application ends. Quitting must not wait for Spark
or a verification, so these threads are daemons.
"""

from collections.abc import Callable
from threading import Thread

Tell = Callable[[str], None]
Work = Callable[[Tell], str]
"""Does something, tells now and then how far it has come, and returns a sentence about its end."""


class Job:
    """One piece of work. :attr:`said` is how far it has come, :attr:`outcome` how it ended."""

    def __init__(self, title: str, work: Work) -> None:
        """Begin it."""
        self.title = title
        self.said = ""
        self.outcome = ""
        self.failed = False
        self._work = work
        self._thread = Thread(target=self._run, name=title, daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return not self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> None:
        """Wait for its end."""
        self._thread.join(seconds)

    def _tell(self, text: str) -> None:
        self.said = " ".join(text.split())

    def _run(self) -> None:
        try:
            self.outcome = self._work(self._tell)
        except Exception as error:  # whatever it is, it is told on the screen, not in a thread
            self.failed = True
            self.outcome = str(error) or type(error).__name__
