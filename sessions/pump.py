"""Letting a cluster's time pass so that it can be done again, exactly.

A statement ends when somebody looks. The looks are after each kernel event and at the times for which
a statement asked, however the way is cut into slices: then a recording does not depend on who drove.
"""

from time import perf_counter
from typing import Final

from emulator.cluster import Cluster

SLICE_STEPS: Final = 64
"""Kernel events between two looks at the wall clock."""


def run_to(cluster: Cluster, steps: int, time_us: int) -> None:
    """Dispatch up to ``steps`` kernel events in all, then let time pass up to ``time_us``."""
    while cluster.steps < steps:
        due_us = cluster.next_time_us
        if due_us is None:
            return
        _wake(cluster, due_us - 1)
        cluster.step()
        cluster.poll()
    _wake(cluster, time_us)
    if cluster.now_us < time_us:
        cluster.run_until(time_us, 0)


def run_for(cluster: Cluster, time_us: int, wall_seconds: float) -> bool:
    """Let time pass up to ``time_us``; False if ``wall_seconds`` did not do."""
    deadline = perf_counter() + wall_seconds
    while True:
        for _ in range(SLICE_STEPS):
            due_us = cluster.next_time_us
            if due_us is None or due_us > time_us:
                _wake(cluster, time_us)
                cluster.run_until(time_us, 0)
                return True
            step(cluster)
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


def _wake(cluster: Cluster, time_us: int) -> None:
    """Let the statements that asked for a time up to ``time_us`` have their look then."""
    while (wake_us := cluster.next_wake_us) is not None and wake_us <= time_us:
        cluster.run_until(max(wake_us, cluster.now_us), 0)
        cluster.poll()
        if cluster.next_wake_us == wake_us:
            return
