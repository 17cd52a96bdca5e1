"""Jobs agree with plain Python on random sessions of real clusters and of invented ones.

:mod:`tests.sessions.analysis.test_both_modes` compares all of them on larger sessions.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.scenario.runner import Runner
from sessions.analysis.results.truth import ANOMALIES_KNOWN
from sessions.analyze import analyze
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.tables import SESSIONS
from tests.sessions.analysis import reference, reference_cluster, reference_truth
from tests.sessions.analysis.followed import Row, release_of
from tests.sessions.dataset.streams import Story, stories
from tests.support.random_scripts import run, script_of, spec_of
from tests.support.releases import THOROUGH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Told = dict[str, tuple[list[Event], int]]
"""Each session's events, and the time at which it ended."""


EXAMPLES = int(os.environ.get("TIDEGAUGE_EXAMPLES", "3" if THOROUGH else "1"))
"""How many examples that shrink: more find more, and each takes seconds."""


def cluster_told(seed: int, length: int = 25) -> tuple[list[Event], int]:
    """So many statements of a random script, run on a cluster of a random release."""
    events: list[Event] = []
    cluster = Cluster(spec_of(seed), [events.append])
    run(Runner(cluster), script_of(seed, length))
    return events, cluster.now_us


def analysed(told: Told, folder: Path, jobs: tuple[str, ...] = ()) -> dict[str, list[Row]]:
    """The rows of every result, or of those of some jobs."""
    for name, (events, end_us) in told.items():
        export_session(events, SessionFacts(name, end_us=end_us), folder / "dataset")
    report = analyze(folder / "dataset", folder / "out", jobs=jobs)
    found = {table.name: pq.read_table(str(table.path)).to_pylist() for table in report.tables}
    dataset = Dataset(folder / "dataset")
    found["sessions"] = dataset.scan(SESSIONS, SESSIONS.names).to_pylist()
    return found


def by_session(told: Told, rows_of: Callable[[str, list[Event], int], Iterable[Row]]) -> list[Row]:
    """The rows of all sessions."""
    return [row for name, (events, end) in told.items() for row in rows_of(name, events, end)]


def same(found: list[Row], expected: list[Row]) -> None:
    """The same rows in any order, as far as the expected ones go; floats nearly."""
    names = sorted(expected[0]) if expected else []
    left = sorted(([row[name] for name in names] for row in found), key=repr)
    right = sorted(([row[name] for name in names] for row in expected), key=repr)
    assert len(found) == len(expected)
    for row, wanted in zip(left, right, strict=True):
        if row != wanted:  # to compare nearly takes a hundred times as long
            assert dict(zip(names, row, strict=True)) == pytest.approx(
                dict(zip(names, wanted, strict=True))
            )


def of_replay(told: Told, found: dict[str, list[Row]]) -> None:
    """The events of a cluster build its state."""
    for row in found["replay"]:
        if row["session"] in told:
            assert row["equal"], [
                difference
                for difference in found["replay_differences"]
                if difference["session"] == row["session"]
            ]


def of_clusters(told: Told, found: dict[str, list[Row]]) -> None:
    """Availability, failover, ISR churn, leader balance and controllers."""
    outages = {
        name: reference_cluster.expected_outages(name, events, end)
        for name, (events, end) in told.items()
    }
    spells = [row for rows in outages.values() for row in rows]
    same(found["outages"], [row for row in spells if row["kind"] != "partitions"])
    leaderless = {row["session"]: row["leaderless_us"] for row in found["sessions"]}
    for name in told:
        mine = [row["leaderless_us"] for row in found["availability"] if row["session"] == name]
        assert sum(mine) == leaderless[name]
    availability = by_session(
        told, lambda n, _, __: reference_cluster.expected_availability(n, outages[n])
    )
    same(found["availability"], availability)
    timeline = by_session(
        told, lambda n, _, end: reference_cluster.expected_timeline(n, outages[n], end)
    )
    same(found["availability_timeline"], timeline)
    failovers = by_session(told, lambda n, e, _: reference_cluster.expected_failovers(n, e))
    same(found["failovers"], failovers)
    releases = {name: release_of(events) for name, (events, _) in told.items()}
    same(found["failover"], reference_cluster.expected_failover(failovers, releases))
    same(found["isr_churn"], by_session(told, reference_cluster.expected_isr_churn))
    same(found["leader_balance"], by_session(told, reference_cluster.expected_leader_balance))
    works = [
        reference_cluster.expected_controllers(name, events) for name, (events, _) in told.items()
    ]
    same(found["controller_work"], [row for terms, _ in works for row in terms])
    same(found["controller_steps"], [row for _, steps in works for row in steps])


def of_latency(told: Told, found: dict[str, list[Row]]) -> None:
    """Commit latency and HW lag."""
    of_acks = by_session(told, lambda n, e, _: reference.expected_commit_latency(n, e))
    same(found["commit_latency"], of_acks)
    lags, timeline = list[Row](), list[Row]()
    for name, (events, end_us) in told.items():
        lags_by_tp = reference.lags_of(events, end_us)
        lags += reference.expected_hw_lag(name, events, lags_by_tp)
        timeline += reference.expected_lag_timeline(name, end_us, lags_by_tp)
    same(found["hw_lag"], lags)
    assert all(row["hw_lag_max"] is None or row["hw_lag_max"] >= 0 for row in found["hw_lag"])
    releases = {name: release_of(events) for name, (events, _) in told.items()}
    of_release = reference.expected_latency({n: e for n, (e, _) in told.items()}, releases)
    same(found["latency"], of_release)
    for what in ("commit", "ack"):
        records = [row["records"] for row in found["latencies"] if row["what"] == what]
        assert sum(records) == sum(row["records"] for row in of_acks)
    same(found["hw_lag_timeline"], timeline)
    histogram = by_session(told, lambda n, e, _: reference.expected_histogram(n, e))
    same(found["latency_histogram"], histogram)


def of_truth(told: Told, found: dict[str, list[Row]]) -> None:
    """Durability and anomalies."""
    of_durability(told, found)
    of_anomalies(told, found)


def of_durability(told: Told, found: dict[str, list[Row]]) -> None:
    """What became of records."""
    fates = by_session(told, lambda n, e, _: reference_truth.expected_durability_records(n, e))
    same(found["durability_records"], fates)
    gaps = by_session(told, lambda n, e, _: reference_truth.expected_lost_offsets(n, e))
    same(found["lost_offsets"], gaps)
    cells = reference_truth.expected_durability({n: events for n, (events, _) in told.items()})
    same(found["durability"], cells)
    of_acks = by_session(told, lambda n, e, _: reference.expected_commit_latency(n, e))
    counted = ("session", "tp", "acks", "records", "acked", "sent", "failed", "pending")
    same(
        [{name: row[name] for name in counted} for row in found["partition_durability"]],
        [{name: row[name] for name in counted} for row in of_acks],
    )
    for name in ("lost", "duplicated", "diverged", "consumed_lost", "unacknowledged"):
        of_settings = sum(row[name] for row in found["durability"])
        assert sum(row[name] for row in found["partition_durability"]) == of_settings


def of_anomalies(told: Told, found: dict[str, list[Row]]) -> None:
    """What clients observed."""
    anomalies = by_session(told, lambda n, e, _: reference_truth.expected_anomalies(n, e))
    same(found["anomalies"], anomalies)
    releases = {name: release_of(events) for name, (events, _) in told.items()}
    counts = [
        {
            "version": release[0],
            "mode": release[1],
            "name": name,
            "sessions": list(releases.values()).count(release),
            "times": sum(
                row["name"] == name and releases[row["session"]] == release for row in anomalies
            ),
        }
        for release in sorted(set(releases.values()))
        for name in ANOMALIES_KNOWN
    ]
    same(found["anomaly_counts"], counts)


QUESTIONS: dict[tuple[str, ...], Callable[[Told, dict[str, list[Row]]], None]] = {
    ("latency",): of_latency,
    ("durability", "anomalies"): of_truth,
    ("availability", "failover", "isr", "leaders", "controller"): of_clusters,
}
"""Jobs, and what holds them against plain Python."""


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(list(QUESTIONS)),  # Hypothesis begins with the first, the quickest one
    st.lists(stories(), max_size=3),
    st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 25)), min_size=1, max_size=2),
)
def test_what_does_not_agree_is_shrunk_to_the_least_session(
    spark: "SparkSession",
    tmp_path_factory: pytest.TempPathFactory,
    jobs: tuple[str, ...],
    invented: list[Story],
    scripts: list[tuple[int, int]],
) -> None:
    """Few sessions and one kind of question, so that Hypothesis can try many smaller ones."""
    told: Told = {f"script-{i}": cluster_told(*each) for i, each in enumerate(scripts)}
    told |= {f"story-{i}": (each.events, each.time_us) for i, each in enumerate(invented)}
    QUESTIONS[jobs](told, analysed(told, tmp_path_factory.mktemp("shrunk"), jobs))


@pytest.mark.skipif(EXAMPLES == 1, reason="a single example is a script without statements")
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 100_000), st.integers(0, 40))
def test_a_replay_that_differs_is_shrunk_to_the_fewest_statements(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory, seed: int, length: int
) -> None:
    told: Told = {"script": cluster_told(seed, length)}
    of_replay(told, analysed(told, tmp_path_factory.mktemp("replayed"), ("replay",)))
