"""Random sessions of clusters with ZooKeeper and without, and plain Python's count of them.

Nothing here, nor in what it compares with, is shared with the jobs: references read events alone.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import AnyInput, CreateCluster
from emulator.scenario.runner import Runner
from tests.sessions.analysis import reference_quorum, reference_truth
from tests.sessions.analysis.followed import Row
from tests.sessions.analysis.test_agreement import (
    Told,
    analysed,
    by_session,
    of_clusters,
    of_latency,
    of_replay,
    of_truth,
    same,
)
from tests.support.kraft_faults import faults
from tests.support.kraft_soak import KRAFT_VERSIONS
from tests.support.random_scripts import BROKERS, run, script_of, spec_of

STATEMENTS = 30


def session_of(seed: int, length: int = STATEMENTS) -> tuple[list[Event], int]:
    """The events of a random script, and when it ended: of KRaft if the seed is odd."""
    events: list[Event] = []
    spec, script = spec_of(seed), script_of(seed, length)
    if seed % 2:
        version = Random(seed).choice(KRAFT_VERSIONS)
        spec = CreateCluster(
            brokers=BROKERS, version=version, mode="kraft", controllers=3, seed=seed
        )
        script = with_faults_of_controllers(script, seed)
    cluster = Cluster(spec, [events.append])
    run(Runner(cluster), script)
    return events, cluster.now_us


def with_faults_of_controllers(script: list[AnyInput], seed: int) -> list[AnyInput]:
    """The same script, with a fault of a broker, a controller or a link after some statements."""
    draw = Random(seed + 3_000_000)
    mixed: list[AnyInput] = []
    for number, wanted in enumerate(script):
        mixed.append(wanted)
        if draw.random() < 0.3:
            mixed.append(faults(draw, number)[0])
    return mixed


def told_of(seeds: range, length: int = STATEMENTS) -> Told:
    """Sessions by name."""
    return {f"seed-{seed}": session_of(seed, length) for seed in seeds}


def of_quorum(told: Told, found: dict[str, list[Row]]) -> None:
    """The quorum's leaders, the log's records, and who was fenced."""
    terms = by_session(told, lambda n, e, _: reference_quorum.expected_terms(n, e))
    same(found["quorum_terms"], terms)
    work = by_session(told, lambda n, e, _: reference_quorum.expected_work(n, e))
    same(found["metadata_work"], work)
    fencings = by_session(told, lambda n, e, _: reference_quorum.expected_fencings(n, e))
    same(found["fencings"], fencings)


def of_sessions(told: Told, found: dict[str, list[Row]]) -> None:
    """The totals of the sessions."""
    same(
        found["sessions"],
        by_session(told, lambda n, e, end: [reference_truth.expected_session(n, e, end)]),
    )


GROUPS: Final[dict[str, Callable[[Told, dict[str, list[Row]]], None]]] = {
    "availability, failover, isr, leaders and controller": of_clusters,
    "latency": of_latency,
    "durability and anomalies": of_truth,
    "quorum": of_quorum,
    "sessions": of_sessions,
    "replay": of_replay,
}
"""Jobs, and what holds their results against plain Python."""

COMPARED: Final = {
    *("outages", "availability", "availability_timeline", "failovers", "failover"),
    *("isr_churn", "leader_balance", "controller_work", "controller_steps"),
    *("commit_latency", "latencies", "latency", "latency_histogram", "hw_lag", "hw_lag_timeline"),
    *("durability_records", "lost_offsets", "partition_durability", "durability"),
    *("anomalies", "anomaly_counts"),
    *("quorum_terms", "metadata_work", "fencings", "replay", "replay_differences"),
}
"""The results that they hold against it."""


def compare(told: Told, folder: Path, invented: Told | None = None) -> dict[str, list[Row]]:
    """Compare every result of every job with plain Python, and return the results.

    Sessions that are ``invented`` are no cluster's: no state comes of their events, and no audit
    says in them what was lost.
    """
    everything = told | (invented or {})
    found = analysed(everything, folder)
    clusters_found = found | {
        "sessions": [row for row in found["sessions"] if row["session"] in told]
    }
    for agrees in GROUPS.values():
        if agrees in (of_replay, of_sessions):
            agrees(told, clusters_found)
        else:
            agrees(everything, found)
    return found
