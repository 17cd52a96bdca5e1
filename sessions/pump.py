"""Letting a cluster's time pass so that it can be done again, exactly.

A statement ends when somebody looks. The looks are after each kernel event and at the times for
which a statement asked, however the way is cut into slices: so a recording does not depend on who
drove the cluster, or how fast.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Final

from emulator.cluster import Cluster

SLICE_STEPS: Final = 64
"""Kernel events between two looks at the wall clock."""


def run_to(cluster: Cluster, steps: int, time_us: int) -> None:
    """Dispatch kernel events until there were ``steps``, then let time pass up to ``time_us``."""
    while cluster.steps < steps and step(cluster):
        pass
    _pass_time(cluster, time_us)


def run_for(
    cluster: Cluster, time_us: int, wall_seconds: float, stop: Callable[[], bool] | None = None
) -> bool:
    """Let time pass up to ``time_us``; False if ``wall_seconds`` ran out, or ``stop()`` holds."""
    deadline = perf_counter() + wall_seconds
    while True:
        for _ in range(SLICE_STEPS):
            due_us = cluster.next_time_us
            if due_us is None or due_us > time_us:
                _pass_time(cluster, time_us)
                return True
            step(cluster)
            if stop is not None and stop():
                return False
        if perf_counter() >= deadline:
            return False


def step(cluster: Cluster) -> bool:
    """Dispatch the next kernel event; False if there is none."""
    due_us = cluster.next_time_us
    if due_us is None:
        return False
    _wake(cluster, due_us - 1)
    cluster.step()
    cluster.poll()
    return True


def _pass_time(cluster: Cluster, time_us: int) -> None:
    """Let time pass in which no kernel event is due."""
    _wake(cluster, time_us)
    if cluster.now_us < time_us:
        cluster.run_until(time_us, budget=0)


def _wake(cluster: Cluster, time_us: int) -> None:
    """Let the statements that asked for a time up to ``time_us`` have their look then."""
    while (wake_us := _next_wake_us(cluster)) is not None and wake_us <= time_us:
        cluster.run_until(max(wake_us, cluster.now_us), budget=0)
        cluster.poll()
        if _next_wake_us(cluster) == wake_us:
            return


def _next_wake_us(cluster: Cluster) -> int | None:
    """The next time for which a statement that is under way has asked."""
    times = (ticket.wake_us for ticket in cluster.execution.open)
    return min((us for us in times if us is not None), default=None)
