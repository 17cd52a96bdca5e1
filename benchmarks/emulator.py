"""The emulator's figures: events dispatched, records replicated, what recording costs, forks.

``python -m benchmarks.emulator [--rounds N] [--records N]``. Each figure is the median of N rounds
(5); figures to compare are measured alternately within one run. Time is the process's own CPU time,
which equals wall time on an otherwise idle machine: the emulator never waits.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AnyInput,
    CreateCluster,
    CreateTopic,
    Produce,
    Statement,
    Wait,
)
from emulator.scenario.runner import Runner
from sessions.format.metadata import Origin
from sessions.garbage_collection import collect_seldom
from sessions.recording.recorder import Recorder

SECOND_US = 1_000_000
IDLE_SECONDS = 120
BATCH = 100


def _run(cluster: Cluster, wanted: AnyInput) -> None:
    Runner(cluster).execute(Statement(wanted, type(wanted).__name__))


def _quiet_cluster(brokers: int, partitions: int, recorder: Recorder | None = None) -> Cluster:
    """Return a cluster whose replicas have all found their leaders."""
    cluster = Cluster(CreateCluster(brokers=brokers), [] if recorder is None else [recorder])
    topic = CreateTopic(topic="t", partitions=partitions, replication_factor=3)
    _run(cluster, topic)
    _run(cluster, Wait(duration_us=2 * SECOND_US))
    return cluster


def dispatched_per_second() -> float:
    """Kernel events a second of an idle 12-broker cluster: fetches, parking, pings, tasks."""
    cluster = _quiet_cluster(12, 100)
    before, begin = cluster.steps, time.process_time()
    _run(cluster, Wait(duration_us=IDLE_SECONDS * SECOND_US))
    return (cluster.steps - before) / (time.process_time() - begin)


def idle_ratio() -> float:
    """Virtual seconds per wall second of the same cluster."""
    cluster = _quiet_cluster(12, 100)
    begin = time.process_time()
    _run(cluster, Wait(duration_us=IDLE_SECONDS * SECOND_US))
    return IDLE_SECONDS / (time.process_time() - begin)


def _produce_seconds(records: int, recorder: Recorder | None = None) -> float:
    cluster = _quiet_cluster(3, 1, recorder)
    wanted = Produce(topic="t", partition=0, value="v", count=records, acks=-1, batch=BATCH)
    begin = time.process_time()
    _run(cluster, wanted)
    if recorder is not None:
        recorder.flush()
    seconds = time.process_time() - begin
    assert cluster.clients.state.producers["p1"].acked == records
    return seconds


def records_per_second(records: int) -> float:
    """Records replicated to three replicas, acks=all, batches of 100, audit and invariants on."""
    return records / _produce_seconds(records)


def recorded_seconds(records: int) -> float:
    """The same run's wall time with a recorder that writes a session file."""
    with tempfile.TemporaryDirectory() as folder:
        origin = Origin("bench", "bench", "3.9", 1, CreateCluster())
        recorder = Recorder(Path(folder) / "bench.tide.db", origin)
        seconds = _produce_seconds(records, recorder)
        recorder.close()
    return seconds


def fork_milliseconds() -> float:
    """An independent copy of a cluster with 1,000 partitions."""
    cluster = _quiet_cluster(6, 1_000)
    begin = time.process_time()
    cluster.fork()
    return (time.process_time() - begin) * 1_000


def _medians(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each, measured in turns."""
    taken = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=200_000)
    chosen = parser.parse_args()
    collect_seldom()
    records = chosen.records
    dispatched, idle, plain, recorded, fork = _medians(
        chosen.rounds,
        dispatched_per_second,
        idle_ratio,
        lambda: _produce_seconds(records),
        lambda: recorded_seconds(records),
        fork_milliseconds,
    )
    rows = [
        ("kernel events dispatched, recording off", f"{dispatched:,.0f} /s", ">= 150,000 /s"),
        ("idle cluster of 12 brokers, virtual per wall second", f"{idle:,.0f}", ">= 200"),
        (
            "records replicated to 3 replicas, acks=all, batches of 100",
            f"{records / plain:,.0f} /s",
            ">= 300,000 /s",
        ),
        ("the same with recording on", f"{recorded / plain:.2f} x the time", "<= 1.4 x"),
        ("fork of 1,000 partitions", f"{fork:.1f} ms", "< 20 ms"),
    ]
    for what, figure, goal in rows:
        sys.stdout.write(f"{what:<60} {figure:>18}   goal {goal}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
