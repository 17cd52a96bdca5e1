"""A limit on the wall-clock time of something that may never end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLong(BaseException):
    """The limit was reached. Not an Exception, so that the interrupted work cannot catch it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TooLong` in the block when the time is over; for the main thread only."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
