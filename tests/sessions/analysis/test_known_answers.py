"""The parts of the jobs on one small story whose answers are plain to see."""

from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from emulator.events import (
    BrokerStateChanged,
    ConsumeFinished,
    ControllerElected,
    ControllerStep,
    LeaderElected,
    LogLoaded,
    MessageSent,
    PartitionStateChanged,
    ProduceAcknowledged,
    RecordsConsumed,
    ReplicaRoleChanged,
    SessionCreated,
    SessionEnded,
    ZnodeChanged,
    ZnodeCreated,
)
from sessions.analysis.anomalies import anomalies
from sessions.analysis.availability import outages
from sessions.analysis.batches import batches, consumed_runs
from sessions.analysis.commit_latency import commit_latency, hw_lag, latencies, latency_by_release
from sessions.analysis.controller_work import controller_work
from sessions.analysis.durability import (
    durability,
    durability_records,
    generation_of,
    partition_durability,
)
from sessions.analysis.events import facts
from sessions.analysis.failover import failover, failovers
from sessions.analysis.final_state import final_partitions, final_znodes, states_in
from sessions.analysis.hw_lag import hw_lag_timeline
from sessions.analysis.intervals import edges, merged_intervals
from sessions.analysis.isr_churn import isr_churn
from sessions.analysis.latency import latency_histogram
from sessions.analysis.leader_balance import leader_balance
from sessions.analysis.logs import final_assignment, final_logs
from sessions.analysis.record_outcomes import fates
from sessions.analysis.replay import replay_differences
from sessions.analysis.state_intervals import leader_intervals, partition_intervals
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, later, nearest
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.location import Location
from sessions.dataset.rows.sessions import SessionFacts
from tests.sessions.analysis.reference_cluster import expected_failovers
from tests.sessions.dataset.streams import Story, committed_story

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

TP = "orders-0"
STATE = '{"leader":1,"leader_epoch":1,"controller_epoch":1,"isr":[1,2]}'


def crashed_story() -> Story:
    """Broker 0 leads and has a record that nobody fetches, crashes, and broker 1 takes over.

    The record was acknowledged; the next one takes its offset and is read.
    """
    story = committed_story()
    story.tell(ControllerElected, 2, 1, 0)
    story.tell(ControllerStep, 2, "onControllerFailover", 1, "registerListeners", "")
    lost = story.send(TP, 1, acks=1)
    story.append(lost)
    story.acknowledge(lost)
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.wait(6_000)
    story.tell(SessionEnded, 1, 0, "expired", 7)
    story.wait(100)
    story.tell(LeaderElected, TP, 2, 1, 1, [1, 2], "Offline")
    story.isr[TP] = [1, 2]
    story.tell(ZnodeCreated, "/brokers/topics/orders/partitions/0/state", "{}", 0, 8)
    story.wait(10)
    story.tell(MessageSent, "LeaderAndIsrRequest", 2, 1, 0, [[TP, 1]])
    story.elect(TP, 1)
    story.tell(ZnodeChanged, "/brokers/topics/orders/partitions/0/state", STATE, 1, 9)
    after = story.send(TP, 1)
    story.append(after)
    story.fetch(TP, 2)
    story.acknowledge(after)
    story.tell(RecordsConsumed, "c1", TP, 0, [(1, 3), (after.first_record, 1)], 4)
    story.tell(ConsumeFinished, "c1", TP, 4, "NONE")
    story.wait(2_890)
    return story


@pytest.fixture(scope="module")
def source(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> DatasetTables:
    folder = tmp_path_factory.mktemp("known")
    story = crashed_story()
    export_session(story.events, SessionFacts("s1", end_us=story.time_us), folder / "dataset")
    tables = DatasetTables(spark, Dataset(folder / "dataset"), Location(folder))
    latencies(tables).write.parquet(f"{folder}/latencies")
    return tables


def rows(frame: "DataFrame") -> list[dict[str, Any]]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def test_a_crash_is_an_outage_from_the_first_moment_on(source: DatasetTables) -> None:
    found = {row["kind"]: row for row in rows(outages(source))}
    assert set(found) == {"leaderless", "under_replicated"}
    assert found["leaderless"]["lasted_us"] == 6_110
    assert found["under_replicated"]["to_seq"] is None


def test_a_failover_has_its_steps(source: DatasetTables) -> None:
    (row,) = rows(failovers(source))
    assert (row["broker"], row["fault"], row["leader"]) == (0, "crashed", 1)
    assert (row["detection_us"], row["election_us"], row["takeover_us"]) == (6_000, 100, 10)
    assert row["total_us"] == 6_110
    assert not row["was_controller"]


def test_the_lag_of_the_hw_is_seen_when_it_was(source: DatasetTables) -> None:
    found = rows(hw_lag_timeline(source))
    assert max(row["lag_max"] for row in found) == 3
    assert {row["partition"] for row in found} == {0}


def test_latencies_are_grouped_by_quarters_of_octaves(source: DatasetTables) -> None:
    found = {(row["what"], row["acks"], row["from_us"], row["to_us"]): row["records"]
             for row in rows(latency_histogram(source))}  # fmt: skip
    assert found["commit", -1, 256, 320] == 3
    assert found["ack", 1, 0, 1] == 1


def test_a_replica_that_leaves_the_isr_is_named(source: DatasetTables) -> None:
    (row,) = rows(isr_churn(source))
    assert (row["changes"], row["shrinks"], row["by_controller"]) == (1, 1, 1)
    assert (row["restless"], row["size_min"]) == (0, 2)


def test_leading_is_counted_for_each_broker(source: DatasetTables) -> None:
    found = {row["broker"]: row for row in rows(leader_balance(source))}
    assert [found[broker]["led_at_end"] for broker in (0, 1, 2)] == [0, 1, 0]
    assert found[0]["imbalance_percent"] == 100.0
    assert found[1]["gained"] == 1


def test_a_controllers_work_is_counted(source: DatasetTables) -> None:
    (row,) = rows(controller_work(source))
    assert (row["broker"], row["epoch"], row["steps"], row["elections"]) == (2, 1, 1, 1)
    assert (row["leader_and_isr"], row["leader_and_isr_partitions"]) == (1, 1)
    assert row["unanswered"] == 1


def test_records_that_share_their_fate_are_one_run(source: DatasetTables) -> None:
    known = ("records", "first", "base", "outcome")
    produced = sorted(tuple(row[name] for name in known) for row in rows(batches(source)))
    assert produced == [(1, 4, 3, "acked"), (1, 5, 3, "acked"), (3, 1, 0, "acked")]
    read = sorted((row["records"], row["base"], row["end"]) for row in rows(consumed_runs(source)))
    assert read == [(1, 3, 3), (3, 0, 2)]


def test_a_step_of_an_offset_does_not_end_a_spell(source: DatasetTables) -> None:
    states = sorted(rows(partition_intervals(source)), key=lambda row: row["from_seq"])
    found = [(row["state"], row["leader"], row["isr"]) for row in states]
    led = [("online", 0, [0, 1, 2]), ("online", 1, [1, 2])]
    assert found == [("nonexistent", None, []), *led]
    ends = [row["to_seq"] for row in states]
    assert ends == [*(row["from_seq"] for row in states[1:]), None]
    leaders = sorted(rows(leader_intervals(source)), key=lambda row: row["from_seq"])
    assert [(row["broker"], row["leader_epoch"]) for row in leaders] == [(0, 0), (1, 1)]
    assert leaders[0]["to_seq"] is not None


def test_clients_see_another_record_in_the_place_of_a_lost_one(source: DatasetTables) -> None:
    found = {row["name"]: row for row in rows(anomalies(source))}
    assert set(found) == {"lost-write", "inconsistent-offsets", "nonmonotonic-send"}
    lost = found["lost-write"]
    assert (lost["record"], lost["offset"], lost["other_record"]) == (4, 3, 5)


def test_logs_are_put_together_from_appends_and_truncations(source: DatasetTables) -> None:
    found = rows(final_logs(source))
    runs = sorted((row["broker"], row["base"], row["end"], row["first"]) for row in found)
    assert runs == [(0, 0, 3, 1), (1, 0, 3, 1), (1, 3, 4, 5), (2, 0, 3, 1), (2, 3, 4, 5)]
    assert {row["broker"] for row in found if row["leads"]} == {1}
    assert facts(source, "TopicCreated").count() == 1
    (assigned,) = rows(final_assignment(source))
    assert assigned["replicas"] == [0, 1, 2]


def test_what_is_lost_is_known_by_the_logs(source: DatasetTables) -> None:
    found = [(row["fate"], row["offset"], row["record"]) for row in rows(fates(source))]
    assert found == [("lost", 3, 4)]


def test_the_state_znode_says_what_the_partition_is(source: DatasetTables) -> None:
    (partition,) = rows(final_partitions(source))
    (said,) = rows(states_in(final_znodes(source)))
    assert (partition["leader"], partition["isr"]) == (said["leader"], said["isr"]) == (1, [1, 2])
    assert (partition["hw"], partition["leo"]) == (4, 4)


def test_only_what_the_audit_never_said_differs(source: DatasetTables) -> None:
    found = [
        (row["what"], row["field"], row["rebuilt"]) for row in rows(replay_differences(source))
    ]
    assert found == [("session", "lost", "1")]


def test_what_a_client_cannot_see_does_not_differ(spark: "SparkSession", tmp_path: Path) -> None:
    story = committed_story()
    story.tell(PartitionStateChanged, TP, 1, 1, [1, 2], 1, 1)
    watched = told(spark, tmp_path, story)
    assert not [row for row in rows(replay_differences(watched)) if row["what"] == "znode"]


def test_rows_that_follow_each_other_are_one_stretch(spark: "SparkSession") -> None:
    values = [
        ("a", 1, 10, 3, 30),
        ("a", 3, 30, 5, 50),
        ("a", 4, 40, 7, 70),
        ("a", 9, 90, None, None),
    ]
    schema = "name string, from_seq bigint, from_us bigint, to_seq bigint, to_us bigint"
    frame = spark.createDataFrame(values, schema)
    found = sorted((row["seq"], row["change"]) for row in rows(edges(frame, ["name"])))
    assert found == [(1, 1), (4, 1), (5, -1), (7, -1), (9, 1)]
    whole = sorted(
        (row["from_seq"], row["to_seq"]) for row in rows(merged_intervals(frame, ["name"]))
    )
    assert whole == [(1, 7), (9, None)]


def test_what_is_nearest_is_found_in_both_directions(spark: "SparkSession") -> None:
    frame = spark.createDataFrame(
        [(1, "a"), (2, None), (3, None), (4, "b")], "seq int, name string"
    )
    before = nearest("name", earlier(())).alias("before")
    after = nearest("name", later((), now=0)).alias("after")
    found = rows(frame.select("seq", before, after).orderBy("seq"))
    assert [row["before"] for row in found] == [None, "a", "a", "a"]
    assert [row["after"] for row in found] == ["a", "b", "b", "b"]


@pytest.mark.parametrize(
    ("version", "generation"),
    [("seed", "HW"), ("0.10.2", "HW"), ("0.11", "KIP-101"), ("2.0.1", "KIP-279"),
     ("2.1", "KIP-320"), ("2.7", "KIP-497"), ("3.5", "KIP-595"), ("3.9", "KAFKA-15583")],
)  # fmt: skip
def test_a_release_speaks_one_generation_of_the_protocol(version: str, generation: str) -> None:
    assert generation_of(version) == generation


# ---- definitions


def told(spark: "SparkSession", folder: Path, story: Story) -> DatasetTables:
    """The tables of one story."""
    export_session(story.events, SessionFacts("s1", end_us=story.time_us), folder / "dataset")
    return DatasetTables(spark, Dataset(folder / "dataset"), Location(folder))


def frozen_story(frozen_us: int) -> Story:
    """The leader is frozen for so long, thaws before anybody notices, and stays leader.

    Much later another one is elected for another reason.
    """
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "frozen")
    story.wait(frozen_us)
    story.tell(BrokerStateChanged, 0, "running")
    story.wait(57_000_000)
    story.tell(LeaderElected, TP, 2, 1, 1, [1, 2], "Preferred")
    story.elect(TP, 1)
    story.wait(1_000)
    return story


def test_a_frozen_leader_serves_nobody(spark: "SparkSession", tmp_path: Path) -> None:
    source = told(spark, tmp_path, frozen_story(500_000))
    (outage,) = (row for row in rows(outages(source)) if row["kind"] == "leaderless")
    assert outage["lasted_us"] == 500_000
    (session,) = rows(source.sessions)
    assert session["leaderless_us"] == 500_000


def test_a_broker_that_thaws_in_time_is_no_failover(spark: "SparkSession", tmp_path: Path) -> None:
    (row,) = rows(failovers(told(spark, tmp_path, frozen_story(500_000))))
    assert (row["outcome"], row["total_us"]) == ("returned", 500_000)
    assert (row["elected_seq"], row["leader"]) == (None, None)


def test_a_broker_that_is_back_before_its_session_ends_is_no_failover(
    spark: "SparkSession", tmp_path: Path
) -> None:
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.wait(400)
    story.tell(BrokerStateChanged, 0, "starting")
    story.wait(200)
    story.tell(ReplicaRoleChanged, TP, 0, "leader", 0, 0)
    story.wait(1_000)
    source = told(spark, tmp_path, story)
    (row,) = rows(failovers(source))
    assert (row["outcome"], row["total_us"]) == ("returned", 600)
    rows_written = failovers(source)
    rows_written.write.parquet(f"{tmp_path}/failovers")
    (kind,) = rows(failover(source))
    assert (kind["failovers"], kind["served"], kind["returned"]) == (0, 0, 1)
    assert (kind["total_n"], kind["total_p50_us"]) == (0, None)


@pytest.mark.parametrize(
    ("leader", "strategy", "outcome"),
    [(0, "Offline", "open"), (1, "Reassign", "moved"), (1, "Preferred", "moved"),
     (0, "New", "moved"), (1, "Offline", "open"), (1, "Unclean", "open")],
)  # fmt: skip
def test_only_an_election_by_which_leadership_leaves_a_failed_broker_is_a_failover(
    spark: "SparkSession", tmp_path: Path, leader: int, strategy: str, outcome: str
) -> None:
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.wait(400)
    story.tell(LeaderElected, TP, 2, leader, 1, [0, 1], strategy)
    (row,) = rows(failovers(told(spark, tmp_path, story)))
    assert row["outcome"] == outcome
    is_one = leader == 1 and strategy in ("Offline", "Unclean")
    assert row["leader"] == (1 if is_one else None)
    (expected,) = expected_failovers("s1", story.events)
    assert {name: row[name] for name in expected} == expected


def test_a_new_leader_epoch_of_a_failed_leader_does_not_hide_its_failover(
    spark: "SparkSession", tmp_path: Path
) -> None:
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.wait(400)
    story.tell(LeaderElected, TP, 2, 0, 1, [0, 1], "Offline")  # the ISR shrank, no more
    story.wait(600)
    story.tell(LeaderElected, TP, 2, 1, 2, [1], "Offline")
    story.elect(TP, 1)
    (row,) = rows(failovers(told(spark, tmp_path, story)))
    assert (row["leader"], row["leader_epoch"]) == (1, 2)
    assert (row["outcome"], row["total_us"]) == ("failed over", 1_000)


def restarted_story(first_fault: str) -> Story:
    """The leader's process ends and the next one waits until the old session has expired."""
    story = committed_story()
    story.tell(SessionCreated, 100, 0, 18_000, 1)
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, first_fault)
    if first_fault != "crashed":
        story.wait(100_000)
        story.tell(BrokerStateChanged, 0, "crashed")
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.wait(2_000_000)
    story.tell(BrokerStateChanged, 0, "starting")
    story.tell(SessionCreated, 101, 0, 18_000, 2)
    story.tell(BrokerStateChanged, 0, "running")
    story.wait(15_000_000)
    story.tell(SessionEnded, 100, 0, "expired", 3)
    story.wait(355)
    story.tell(LeaderElected, TP, 2, 1, 1, [1, 2], "Offline")
    story.elect(TP, 1)
    story.wait(1_000)
    return story


@pytest.mark.parametrize(("fault", "down_us"), [("crashed", 0), ("frozen", 100_000)])
def test_a_restarted_brokers_old_session_tells_of_its_crash(
    spark: "SparkSession", tmp_path: Path, fault: str, down_us: int
) -> None:
    story = restarted_story(fault)
    (row,) = rows(failovers(told(spark, tmp_path, story)))
    assert (row["fault"], row["outcome"], row["leader"]) == (fault, "failed over", 1)
    assert row["detection_us"] == 17_000_000 + down_us
    assert row["total_us"] == 17_000_355 + down_us
    (expected,) = expected_failovers("s1", story.events)
    assert {name: row[name] for name in expected} == expected


def test_the_end_of_a_running_process_own_session_is_a_fault(
    spark: "SparkSession", tmp_path: Path
) -> None:
    story = restarted_story("crashed")
    story.elect(TP, 0)
    story.wait(1_000)
    story.tell(SessionEnded, 101, 0, "expired", 4)
    _, row = sorted(rows(failovers(told(spark, tmp_path, story))), key=itemgetter("fault_seq"))
    assert (row["fault"], row["detection_us"], row["outcome"]) == ("expired", 0, "open")


def test_a_leader_that_is_down_has_no_lag(spark: "SparkSession", tmp_path: Path) -> None:
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.tell(LogLoaded, TP, 0, 0, 1, 3, None)
    story.wait(1_000_000)
    (row,) = rows(hw_lag(told(spark, tmp_path, story)))
    assert row["hw_lag_max"] == 3
    assert row["online_us"] < 1_000_000
    assert min(each["lag_max"] for each in rows(hw_lag_timeline(told_again(spark, tmp_path)))) >= 0


def told_again(spark: "SparkSession", folder: Path) -> DatasetTables:
    return DatasetTables(spark, Dataset(folder / "dataset"), Location(folder / "again"))


def test_records_without_acks_are_neither_acknowledged_nor_lost(
    spark: "SparkSession", tmp_path: Path
) -> None:
    story = committed_story()
    batch = story.send(TP, 2, acks=0)
    story.tell(ProduceAcknowledged, "p1", TP, batch.first_record, 2, -1)
    story.wait(1_000)
    source = told(spark, tmp_path, story)
    found = {row["acks"]: row for row in rows(commit_latency(source))}
    assert (found[0]["acked"], found[0]["sent"], found[0]["ack_n"]) == (0, 2, 0)
    fates_found = durability_records(source)
    assert {row["fate"] for row in rows(fates_found)} == {"unacknowledged"}
    fates_found.write.parquet(f"{tmp_path}/durability_records")
    by_partition = partition_durability(source)
    by_partition.write.parquet(f"{tmp_path}/partition_durability")
    cells = {row["acks"]: row for row in rows(durability(source))}
    assert (cells[0]["acked"], cells[0]["lost"], cells[0]["unacknowledged"]) == (0, 0, 2)
    assert cells[0]["sessions_harmed"] == 0


def test_an_outage_of_no_time_is_none(spark: "SparkSession", tmp_path: Path) -> None:
    story = committed_story()
    story.wait(1_000)
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.tell(ReplicaRoleChanged, TP, 0, "leader", 0, 1)
    story.wait(1_000)
    found = rows(outages(told(spark, tmp_path, story)))
    assert [row for row in found if row["kind"] == "leaderless"] == []


def test_percentiles_do_not_mix_ways_to_produce(source: DatasetTables) -> None:
    found = {row["acks"]: row for row in rows(latency_by_release(source))}
    assert (found[-1]["commit_n"], found[-1]["ack_n"]) == (4, 4)
    assert (found[1]["commit_n"], found[1]["ack_n"]) == (0, 1)
