"""Runs the trials of a rehearsal in several processes.

On Linux, each trial runs in a fork of the process that has the cluster: the system shares the
memory that a trial leaves as it is, and nothing is copied in advance. Elsewhere, and beside other
threads, which a fork could catch holding a lock, every worker starts a cluster of its own.
"""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Final

import msgspec
from msgspec.structs import replace

from emulator.cluster_image.image import ClusterImage
from emulator.inputs.statements import CreateCluster
from sessions.garbage_collection import collector_paused
from sessions.rehearsal.outcome import PartitionOutcome
from sessions.rehearsal.runs import Order, Progress, Rehearsal, RunTrials, Trial

SMALL: Final = 4_000
"""A rehearsal of fewer partitions times trials is done before other processes have started."""


def in_processes(rehearsal: Rehearsal, spec: CreateCluster, workers: int) -> RunTrials:
    """Run trials in up to ``workers`` processes, or in this one if there is little to do."""

    def run(trials: Sequence[Trial], progress: Progress) -> list[Order]:
        shared = _Shared()
        orders: dict[int, Order] = {}
        for number, order in _results(rehearsal, spec, trials, workers):
            orders[number] = shared.order(order)
            progress(len(orders))
        return [orders[number] for number in range(len(trials))]

    return run


def _results(
    rehearsal: Rehearsal, spec: CreateCluster, trials: Sequence[Trial], workers: int
) -> Iterator[tuple[int, Order]]:
    """Yield what came of each trial, and its number, in any order."""
    size = len(trials) * len(rehearsal.cluster.state.states)
    workers = min(workers, len(trials))
    if workers <= 1 or size < SMALL:
        yield from enumerate(map(rehearsal.run, trials))
    elif sys.platform == "linux" and threading.active_count() == 1:
        with collector_paused():  # it would write to every object, and end the sharing
            yield from _in_forks(rehearsal, trials, workers)
    else:
        with ProcessPoolExecutor(
            workers, get_context("spawn"), _begin, (spec, rehearsal.image)
        ) as pool:
            yield from enumerate(pool.map(_work, trials))


class _Shared:
    """Lets the outcomes of all trials share names and equal states: most of them are the same."""

    def __init__(self) -> None:
        self._states: dict[PartitionOutcome, PartitionOutcome] = {}

    def order(self, order: Order) -> Order:
        changed = {
            sys.intern(tp): self._states.setdefault(partition, partition)
            for tp, partition in order.outcome.changed.items()
        }
        return replace(order, outcome=replace(order.outcome, changed=changed))


# ---- forks of this process


def _in_forks(
    rehearsal: Rehearsal, trials: Sequence[Trial], workers: int
) -> Iterator[tuple[int, Order]]:
    waiting = iter(enumerate(trials))
    running: dict[Connection, tuple[int, ForkProcess]] = {}
    try:
        while True:
            while len(running) < workers and (following := next(waiting, None)) is not None:
                number, trial = following
                receiving, process = _forked(rehearsal, trial)
                running[receiving] = number, process
            if not running:
                return
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                number, process = running[ready]
                order = _received(ready, process)
                del running[ready]
                yield number, order
    finally:
        for _, process in running.values():
            process.kill()
            process.join()


def _forked(rehearsal: Rehearsal, trial: Trial) -> tuple[Connection, ForkProcess]:
    context = get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(rehearsal, trial, sending), daemon=True)
    process.start()
    sending.close()
    return receiving, process


def _run(rehearsal: Rehearsal, trial: Trial, sending: Connection) -> None:
    """Run one trial in a fork, whose cluster is its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its forks
    order = rehearsal.run_last(trial)
    with suppress(BrokenPipeError):  # the parent has ended
        sending.send_bytes(msgspec.msgpack.encode(order))  # pickle's memo would be far larger


def _received(receiving: Connection, process: ForkProcess) -> Order:
    try:
        with receiving:
            order = msgspec.msgpack.decode(receiving.recv_bytes(), type=Order)
    except EOFError:
        process.join()
        message = f"A process that ran a case ended early (exit status {process.exitcode})."
        raise BrokenProcessPool(message) from None
    process.join()
    return order


# ---- workers with clusters of their own

_rehearsal: Rehearsal | None = None


def _begin(spec: CreateCluster, image: ClusterImage) -> None:
    global _rehearsal  # noqa: PLW0603 - a worker's own cluster
    _rehearsal = Rehearsal(spec, image)


def _work(trial: Trial) -> Order:
    assert _rehearsal is not None
    return _rehearsal.run(trial)
