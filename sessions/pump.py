"""Letting a cluster's time pass so that it can be done again, exactly.

A statement ends when somebody looks. The looks are after each kernel event, and at the times for
which a statement asked, however the way is cut into slices: so a recording does not depend on who
drove the cluster, or how fast.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Final

from emulator.cluster import Cluster
from emulator.scenario.runner import Ticket

SLICE_STEPS: Final = 64
"""Moves between two looks at the wall clock."""
NEVER_US: Final = 1 << 62


def run_to(cluster: Cluster, steps: int, time_us: int) -> None:
    """Dispatch kernel events until there were ``steps``, then let time pass up to ``time_us``."""
    while cluster.steps < steps and move(cluster):
        pass
    while _wake(cluster, time_us):
        pass
    if cluster.now_us < time_us:
        cluster.run_until(time_us, budget=0)


def run_for(
    cluster: Cluster, time_us: int, wall_seconds: float, stop: Callable[[], bool] | None = None
) -> bool:
    """Let time pass up to ``time_us``; False if ``wall_seconds`` ran out, or ``stop()`` holds."""
    deadline = perf_counter() + wall_seconds
    while True:
        for _ in range(SLICE_STEPS):
            if not move(cluster, time_us):
                cluster.run_until(time_us, budget=0)
                return True
            if stop is not None and stop():
                return False
        if perf_counter() >= deadline:
            return False


def finish(cluster: Cluster, ticket: Ticket) -> None:
    """Let as much time pass as a statement takes."""
    while not ticket.done and move(cluster):
        pass


def move(cluster: Cluster, limit_us: int = NEVER_US) -> bool:
    """Go on to what comes next up to ``limit_us``; False if nothing does.

    That is a kernel event, or a time for which a statement asked if it lies before that event.
    """
    if _wake(cluster, limit_us):
        return True
    due_us = cluster.next_time_us
    if due_us is None or due_us > limit_us:
        return False
    cluster.step()
    cluster.poll()
    return True


def _wake(cluster: Cluster, limit_us: int) -> bool:
    """Let time pass up to the next time for which a statement asked, if no event is due by then."""
    times = (ticket.wake_us for ticket in cluster.execution.open)
    now_us, due_us = cluster.now_us, cluster.next_time_us
    wake_us = min((us for us in times if us is not None and us > now_us), default=NEVER_US)
    if wake_us > limit_us or wake_us >= (NEVER_US if due_us is None else due_us):
        return False
    cluster.run_until(wake_us, budget=0)
    cluster.poll()
    return True
