"""Very many partitions without ZooKeeper, beside ZooKeeper mode: time of a core, and by the clock.

    python -m benchmarks.kraft [--partitions N] [--controllers N]

Prints what it takes to create the partitions and bring them up in either mode; how long the
cluster is without an active controller after the active one has ended, in virtual time and by the
clock; and how long the console takes to look at the metadata image, at first and after a step back.
"""

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, process_time
from typing import Literal

from emulator.cluster import Cluster
from emulator.inputs.statements import ChangeController, CreateCluster, CreateTopic, Statement
from emulator.scenario.runner import Runner
from sessions.garbage_collection import collector_resting
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import MetadataReader

BROKERS = 12
VERSION = "3.9"
"""The last release that has both modes."""
TOPIC_PARTITIONS = 5_000
"""A KRaft controller writes at most 10,000 records for a request (``MAX_RECORDS_PER_USER_OP``)."""
SECOND_US = 1_000_000
IN_SIGHT = 40
MS = 1_000


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something took."""
    clock, core = perf_counter(), process_time()
    yield
    core, clock = process_time() - core, perf_counter() - clock
    print(f"  {what:<58}{core:>8.2f} s of a core{clock:>8.2f} s by the clock")


def grow(runner: Runner, partitions: int) -> None:
    """Create topics and let every follower fetch."""
    for first in range(0, partitions, TOPIC_PARTITIONS):
        count = min(TOPIC_PARTITIONS, partitions - first)
        name = f"t{first // TOPIC_PARTITIONS}"
        wanted = CreateTopic(topic=name, partitions=count, replication_factor=3)
        runner.execute(Statement(wanted, "topic create"))
    runner.run_until(runner.now_us + 2 * SECOND_US)


def fail_over(runner: Runner, action: Literal["stop", "crash"]) -> None:
    """End the active controller, and wait for the next, and then for this one's return."""
    former, before_us = runner.cluster.active_controller(), runner.now_us
    with timed(f"the active controller's {action} until another is active"):
        runner.execute(Statement(ChangeController(action=action, which="active"), action))
        while runner.cluster.active_controller() in (None, former):
            runner.run_until(runner.now_us + SECOND_US // 1000)
    print(f"  (that took {(runner.now_us - before_us) / SECOND_US:.2f} virtual seconds)")
    with timed("its return, and the virtual minute after that"):
        runner.execute(Statement(ChangeController(action="start", which=str(former)), "start"))
        runner.run_until(runner.now_us + 60 * SECOND_US)


def look(view: ClusterView) -> None:
    """Look at the metadata image as the console does for each frame."""
    reader = MetadataReader()
    rows = list(view.partitions.values())[:IN_SIGHT]
    log = view.state.quorum.log if view.state.quorum else []
    for what, taken in (("at first", len(log)), *((f"after step {n} back", -n) for n in (1, 2, 3))):
        earlier = view.copy()
        if earlier.state.quorum is not None:
            earlier.state.quorum.log = log[:taken]
        began = process_time()
        metadata = reader.at(earlier.state)
        assert metadata is not None
        for row in rows:
            metadata.elr(row)
        nodes = metadata.nodes
        children = sum(len(nodes[f"/topics/{t}"].children) for t in nodes["/topics"].children)
        took = (process_time() - began) * MS
        print(f"  {f'the metadata image of {children:,} partitions, {what}':<58}{took:>8.1f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--controllers", type=int, default=3)
    chosen = parser.parse_args()
    print(f"{chosen.partitions:,} partitions x 3 on {BROKERS} brokers, release {VERSION}:")
    with collector_resting():
        for mode in ("zk", "kraft"):
            controllers = chosen.controllers if mode == "kraft" else 1
            spec = CreateCluster(
                brokers=BROKERS, version=VERSION, mode=mode, controllers=controllers
            )
            runner = Runner(Cluster(spec))
            with timed(f"build in mode {mode}"):
                grow(runner, chosen.partitions)
            if mode == "kraft":
                fail_over(runner, "stop")
                fail_over(runner, "crash")
            del runner
            gc.collect()
        view = ClusterView()
        runner = Runner(Cluster(spec, observers=[view.apply]))
        grow(runner, chosen.partitions)
        look(view)


if __name__ == "__main__":
    main()
