"""Ends a run inside of one long step: after ctrl-c, or at the limit of the wall clock.

A run looks at the clock between two slices of events. A single event can take much longer, such as
the registration of 1,000 brokers or a batch of 100 million records. So a timer of the operating
system interrupts what is not over soon; then an event is half processed, and the cluster is given
up. A recording ends with what has been written to its file, as after a kill.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Final, NoReturn

GRACE_SECONDS: Final = 0.6
"""How long a run has to end by itself, so that its result can be shown."""
US_PER_SECOND: Final = 1_000_000
HAS_TIMER: Final = hasattr(signal, "setitimer")
"""Windows has none: a run ends after the step there."""


class CutOff(BaseException):  # nothing that handles the failures of a step may handle this one
    """The run ended inside of a step, after ctrl-c (``interrupted``) or at its limit."""

    def __init__(self, *, interrupted: bool) -> None:
        super().__init__()
        self.interrupted = interrupted


class _State:
    """Whether a timer may be set, and why it was set last."""

    def __init__(self) -> None:
        self.active = False
        self.interrupted = False


_state: Final = _State()


@contextmanager
def cutting_off(limit_us: int | None = None) -> Iterator[None]:
    """End what runs inside a little after ``limit_us`` of wall time, and after :func:`soon`.

    Raises:
        CutOff: it did not end by itself.
    """
    if not HAS_TIMER or _state.active or current_thread() is not main_thread():
        yield
        return
    previous = signal.signal(signal.SIGALRM, _end)
    _state.active, _state.interrupted = True, False
    try:
        if limit_us is not None:
            signal.setitimer(signal.ITIMER_REAL, limit_us / US_PER_SECOND + GRACE_SECONDS)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        _state.active = False


def soon() -> None:
    """End what runs inside of :func:`cutting_off` unless it ends by itself: ctrl-c was pressed."""
    if _state.active:
        _state.interrupted = True
        signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise CutOff(interrupted=_state.interrupted)
