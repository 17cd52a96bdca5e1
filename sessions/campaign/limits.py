"""A limit of wall time for something that may never end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLong(BaseException):
    """The limit ran out. No error of the work's own: nothing that it does may take it for one."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Break the block off with :class:`TooLong`, wherever it is; for a process's main thread."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
