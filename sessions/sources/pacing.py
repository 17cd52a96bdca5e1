"""Letting a cluster's time pass for a while of the wall clock.

The wall clock only decides when to stop for now: what happens is the same at any speed.
"""

from time import perf_counter
from typing import Final

from emulator.scenario.runner import Advance, Runner

SLICE_STEPS: Final = 64
"""Kernel events between two looks at the wall clock."""


def advance_for(runner: Runner, limit_us: int, wall_seconds: float) -> Advance:
    """As :meth:`Runner.advance`, for about ``wall_seconds``: BUDGET says that they ran out."""
    deadline = perf_counter() + wall_seconds
    while True:
        reached = runner.advance(limit_us, SLICE_STEPS)
        if reached is not Advance.BUDGET or perf_counter() >= deadline:
            return reached


def run_for(runner: Runner, limit_us: int, wall_seconds: float) -> bool:
    """Go on up to ``limit_us`` whatever ends on the way; False if ``wall_seconds`` ran out."""
    deadline = perf_counter() + wall_seconds
    while (reached := advance_for(runner, limit_us, deadline - perf_counter())) is Advance.ENDED:
        pass
    return reached is Advance.REACHED
