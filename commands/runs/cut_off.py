"""Ends a run inside of one long step: at the limits of time and of memory, and after ctrl-c.

A run looks at the clock between two slices of events. A single event can take much longer, such as
the registration of 1,000 brokers or a batch of 100 million records. So a timer of the operating
system looks at the clock and at the process's memory; what is over a limit is interrupted. Then an
event is half processed, and the cluster is given up. A recording ends with what has been written
to its file, as after a kill.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from math import inf
from threading import current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Final

from sessions.memory import memory_left

GRACE_SECONDS: Final = 0.6
"""How long a run has to end by itself, so that its result can be shown."""
LOOK_SECONDS: Final = 0.2
"""Time between two looks: Python code can take some hundred megabytes meanwhile."""
US_PER_SECOND: Final = 1_000_000
HAS_TIMER: Final = hasattr(signal, "setitimer")
"""Windows has none: a run ends after the step there."""


class Cause(Enum):
    """Why a run ended inside of a step."""

    INTERRUPTED = "interrupted"
    TIME = "the time limit was reached"
    MEMORY = "memory did not suffice"


class CutOff(BaseException):  # nothing that handles the failures of a step may handle this one
    """The run ended inside of a step."""

    def __init__(self, cause: Cause) -> None:
        super().__init__()
        self.cause = cause


class _State:
    """The time limit of the current work, and its cause."""

    def __init__(self) -> None:
        self.active = False
        self.deadline = inf
        self.cause = Cause.TIME


_state: Final = _State()


@contextmanager
def cutting_off(limit_us: int | None = None) -> Iterator[None]:
    """End what runs inside a little after ``limit_us`` of wall time, and after :func:`soon`.

    It is ended too before it takes more memory than the machine can spare.

    Raises:
        CutOff: it did not end by itself.
    """
    if not HAS_TIMER or _state.active or current_thread() is not main_thread():
        yield
        return
    limit = inf if limit_us is None else limit_us / US_PER_SECOND
    _state.active, _state.cause = True, Cause.TIME
    _state.deadline = monotonic() + limit + GRACE_SECONDS
    previous = signal.signal(signal.SIGALRM, _look)
    signal.setitimer(signal.ITIMER_REAL, LOOK_SECONDS, LOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        _state.active = False


def soon() -> None:
    """End the work inside :func:`cutting_off` unless it ends by itself: ctrl-c was pressed."""
    if _state.active:
        _state.cause = Cause.INTERRUPTED
        _state.deadline = min(_state.deadline, monotonic() + GRACE_SECONDS)


def _look(_number: int, _frame: FrameType | None) -> None:
    is_over = monotonic() >= _state.deadline
    if is_over or memory_left() < 0:
        signal.setitimer(signal.ITIMER_REAL, 0)  # what is cleaned up now may take its time
        raise CutOff(_state.cause if is_over else Cause.MEMORY)
