"""The parts of the jobs on small stories whose answers are plain to see.

The stories are sessions of one dataset: Spark takes as long for one of them as for all.
"""

from collections.abc import Callable, Iterator
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
from sessions.analysis.final_state import (
    PARTITIONS,
    ZNODES,
    final_partitions,
    final_znodes,
    states_in,
)
from sessions.analysis.hw_lag import hw_lag_timeline
from sessions.analysis.intervals import edges, merged_intervals
from sessions.analysis.isr_churn import isr_churn
from sessions.analysis.latency import latency_histogram
from sessions.analysis.leader_balance import leader_balance
from sessions.analysis.logs import final_assignment, final_logs
from sessions.analysis.record_outcomes import KEPT, LOGS, fates
from sessions.analysis.replay import replay_differences
from sessions.analysis.results.failover import FAILOVERS
from sessions.analysis.results.latency import LATENCIES
from sessions.analysis.results.truth import DURABILITY_RECORDS, PARTITION_DURABILITY
from sessions.analysis.sizing import suited
from sessions.analysis.state_intervals import leader_intervals, partition_intervals
from sessions.analysis.tables import DatasetTables
from sessions.analysis.windows import earlier, later, nearest
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.location import Location
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION, Table
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


Row = dict[str, Any]
Part = Callable[[DatasetTables], "DataFrame"]

RESULTS: dict[Part, Table] = {
    latencies: LATENCIES,
    failovers: FAILOVERS,
    durability_records: DURABILITY_RECORDS,
    partition_durability: PARTITION_DURABILITY,
}
"""Parts that are results, which other parts read."""
SHARED: dict[Part, str] = {
    fates: KEPT, final_logs: LOGS, final_partitions: PARTITIONS, final_znodes: ZNODES
}  # fmt: skip
"""Parts that other parts read, too, by the names under which jobs share them."""


class Known:
    """All stories in one dataset, and what parts of the jobs make of it."""

    def __init__(self, spark: "SparkSession", folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.stories = stories()
        for name, story in self.stories.items():
            facts_of = SessionFacts(name, end_us=story.time_us)
            export_session(story.events, facts_of, folder / "dataset")
        self.dataset = Dataset(folder / "dataset")
        self.tables = DatasetTables(spark, self.dataset, Location(folder))
        self._rows: dict[Part, list[Row]] = {}

    def rows(self, part: Part, session: str = "crashed") -> list[Row]:
        """A story's rows; those of all stories are computed at once."""
        if part not in self._rows:
            self._rows[part] = rows(self.frame(part))
        return [row for row in self._rows[part] if row[SESSION] == session]

    def frame(self, part: Part) -> "DataFrame":
        """The rows of all stories; what other parts read is computed once."""
        if part in SHARED:
            return self.tables.materialised(SHARED[part], part)
        if part not in RESULTS:
            return part(self.tables)
        table = RESULTS[part]
        if not (self.folder / table.name).exists():
            self.tables.write(table, part(self.tables))
        return self.tables.result(table)

    def alone(self, part: Part, session: str) -> DatasetTables:
        """Tables that read a result with the rows of one story alone, which is written here."""
        source = DatasetTables(self.spark, self.dataset, Location(self.folder / session))
        source.write(RESULTS[part], self.frame(part).where(f"{SESSION} = '{session}'"))
        return source


@pytest.fixture(scope="module")
def known(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Known]:
    known = Known(spark, tmp_path_factory.mktemp("known"))
    with suited(spark, known.dataset.commits()):
        known.frame(latencies)
        yield known


def rows(frame: "DataFrame") -> list[Row]:
    return [row.asDict(recursive=True) for row in frame.collect()]


def test_a_crash_is_an_outage_from_the_first_moment_on(known: Known) -> None:
    found = {row["kind"]: row for row in known.rows(outages)}
    assert set(found) == {"leaderless", "under_replicated"}
    assert found["leaderless"]["lasted_us"] == 6_110
    assert found["under_replicated"]["to_seq"] is None


def test_a_failover_has_its_steps(known: Known) -> None:
    (row,) = known.rows(failovers)
    assert (row["broker"], row["fault"], row["leader"]) == (0, "crashed", 1)
    assert (row["detection_us"], row["election_us"], row["takeover_us"]) == (6_000, 100, 10)
    assert row["total_us"] == 6_110
    assert not row["was_controller"]


def test_the_lag_of_the_hw_is_seen_when_it_was(known: Known) -> None:
    found = known.rows(hw_lag_timeline)
    assert max(row["lag_max"] for row in found) == 3
    assert {row["partition"] for row in found} == {0}


def test_latencies_are_grouped_by_quarters_of_octaves(known: Known) -> None:
    found = {(row["what"], row["acks"], row["from_us"], row["to_us"]): row["records"]
             for row in known.rows(latency_histogram)}  # fmt: skip
    assert found["commit", -1, 256, 320] == 3
    assert found["ack", 1, 0, 1] == 1


def test_a_replica_that_leaves_the_isr_is_named(known: Known) -> None:
    (row,) = known.rows(isr_churn)
    assert (row["changes"], row["shrinks"], row["by_controller"]) == (1, 1, 1)
    assert (row["restless"], row["size_min"]) == (0, 2)


def test_leading_is_counted_for_each_broker(known: Known) -> None:
    found = {row["broker"]: row for row in known.rows(leader_balance)}
    assert [found[broker]["led_at_end"] for broker in (0, 1, 2)] == [0, 1, 0]
    assert found[0]["imbalance_percent"] == 100.0
    assert found[1]["gained"] == 1


def test_a_controllers_work_is_counted(known: Known) -> None:
    (row,) = known.rows(controller_work)
    assert (row["broker"], row["epoch"], row["steps"], row["elections"]) == (2, 1, 1, 1)
    assert (row["leader_and_isr"], row["leader_and_isr_partitions"]) == (1, 1)
    assert row["unanswered"] == 1


def test_records_that_share_their_fate_are_one_run(known: Known) -> None:
    columns = ("records", "first", "base", "outcome")
    produced = sorted(tuple(row[name] for name in columns) for row in known.rows(batches))
    assert produced == [(1, 4, 3, "acked"), (1, 5, 3, "acked"), (3, 1, 0, "acked")]
    read = sorted((row["records"], row["base"], row["end"]) for row in known.rows(consumed_runs))
    assert read == [(1, 3, 3), (3, 0, 2)]


def test_a_step_of_an_offset_does_not_end_a_spell(known: Known) -> None:
    states = sorted(known.rows(partition_intervals), key=lambda row: row["from_seq"])
    found = [(row["state"], row["leader"], row["isr"]) for row in states]
    led = [("online", 0, [0, 1, 2]), ("online", 1, [1, 2])]
    assert found == [("nonexistent", None, []), *led]
    ends = [row["to_seq"] for row in states]
    assert ends == [*(row["from_seq"] for row in states[1:]), None]
    leaders = sorted(known.rows(leader_intervals), key=lambda row: row["from_seq"])
    assert [(row["broker"], row["leader_epoch"]) for row in leaders] == [(0, 0), (1, 1)]
    assert leaders[0]["to_seq"] is not None


def test_clients_see_another_record_in_the_place_of_a_lost_one(known: Known) -> None:
    found = {row["name"]: row for row in known.rows(anomalies)}
    assert set(found) == {"lost-write", "inconsistent-offsets", "nonmonotonic-send"}
    lost = found["lost-write"]
    assert (lost["record"], lost["offset"], lost["other_record"]) == (4, 3, 5)


def topics_created(source: DatasetTables) -> "DataFrame":
    return facts(source, "TopicCreated")


def test_logs_are_put_together_from_appends_and_truncations(known: Known) -> None:
    found = known.rows(final_logs)
    runs = sorted((row["broker"], row["base"], row["end"], row["first"]) for row in found)
    assert runs == [(0, 0, 3, 1), (1, 0, 3, 1), (1, 3, 4, 5), (2, 0, 3, 1), (2, 3, 4, 5)]
    assert {row["broker"] for row in found if row["leads"]} == {1}
    assert len(known.rows(topics_created)) == 1
    (assigned,) = known.rows(final_assignment)
    assert assigned["replicas"] == [0, 1, 2]


def test_what_is_lost_is_known_by_the_logs(known: Known) -> None:
    found = [(row["fate"], row["offset"], row["record"]) for row in known.rows(fates)]
    assert found == [("lost", 3, 4)]


def states_said(source: DatasetTables) -> "DataFrame":
    return states_in(source.materialised(ZNODES, final_znodes))


def test_the_state_znode_says_what_the_partition_is(known: Known) -> None:
    (partition,) = known.rows(final_partitions)
    (said,) = known.rows(states_said)
    assert (partition["leader"], partition["isr"]) == (said["leader"], said["isr"]) == (1, [1, 2])
    assert (partition["hw"], partition["leo"]) == (4, 4)


def test_only_what_the_audit_never_said_differs(known: Known) -> None:
    found = [(row["what"], row["field"], row["rebuilt"]) for row in known.rows(replay_differences)]
    assert found == [("session", "lost", "1")]


def watched_story() -> Story:
    """The state znode changes, and no client sees it."""
    story = committed_story()
    story.tell(PartitionStateChanged, TP, 1, 1, [1, 2], 1, 1)
    return story


def test_what_a_client_cannot_see_does_not_differ(known: Known) -> None:
    differences = known.rows(replay_differences, "watched")
    assert not [row for row in differences if row["what"] == "znode"]


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


def frozen_story() -> Story:
    """The leader is frozen for half a second, thaws before anybody notices, and stays leader.

    Much later another one is elected for another reason.
    """
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "frozen")
    story.wait(500_000)
    story.tell(BrokerStateChanged, 0, "running")
    story.wait(57_000_000)
    story.tell(LeaderElected, TP, 2, 1, 1, [1, 2], "Preferred")
    story.elect(TP, 1)
    story.wait(1_000)
    return story


def sessions(source: DatasetTables) -> "DataFrame":
    return source.sessions


def test_a_frozen_leader_serves_nobody(known: Known) -> None:
    (outage,) = (row for row in known.rows(outages, "frozen") if row["kind"] == "leaderless")
    assert outage["lasted_us"] == 500_000
    (session,) = known.rows(sessions, "frozen")
    assert session["leaderless_us"] == 500_000


def test_a_broker_that_thaws_in_time_is_no_failover(known: Known) -> None:
    (row,) = known.rows(failovers, "frozen")
    assert (row["outcome"], row["total_us"]) == ("returned", 500_000)
    assert (row["elected_seq"], row["leader"]) == (None, None)


def returned_story() -> Story:
    """The leader's process ends, and is back before anybody notices."""
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.wait(400)
    story.tell(BrokerStateChanged, 0, "starting")
    story.wait(200)
    story.tell(ReplicaRoleChanged, TP, 0, "leader", 0, 0)
    story.wait(1_000)
    return story


def test_a_broker_that_is_back_before_its_session_ends_is_no_failover(known: Known) -> None:
    (row,) = known.rows(failovers, "returned")
    assert (row["outcome"], row["total_us"]) == ("returned", 600)
    (kind,) = rows(failover(known.alone(failovers, "returned")))
    assert (kind["failovers"], kind["served"], kind["returned"]) == (0, 0, 1)
    assert (kind["total_n"], kind["total_p50_us"]) == (0, None)


ELECTIONS = {
    (0, "Offline"): "open", (1, "Reassign"): "moved", (1, "Preferred"): "moved",
    (0, "New"): "moved", (1, "Offline"): "open", (1, "Unclean"): "open",
}  # fmt: skip
"""A failover's outcome when this broker is elected by this strategy, and does not lead yet."""


def elected_story(leader: int, strategy: str) -> Story:
    """The leader dies, and a broker is elected by a strategy."""
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.wait(400)
    story.tell(LeaderElected, TP, 2, leader, 1, [0, 1], strategy)
    return story


@pytest.mark.parametrize(("leader", "strategy"), ELECTIONS)
def test_only_an_election_by_which_leadership_leaves_a_failed_broker_is_a_failover(
    known: Known, leader: int, strategy: str
) -> None:
    name = f"{strategy}-{leader}"
    (row,) = known.rows(failovers, name)
    assert row["outcome"] == ELECTIONS[leader, strategy]
    is_one = leader == 1 and strategy in ("Offline", "Unclean")
    assert row["leader"] == (1 if is_one else None)
    (expected,) = expected_failovers(name, known.stories[name].events)
    assert {column: row[column] for column in expected} == expected


def shrunk_story() -> Story:
    """A failed leader gets a new leader epoch before another broker is elected."""
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.wait(400)
    story.tell(LeaderElected, TP, 2, 0, 1, [0, 1], "Offline")  # the ISR shrank, no more
    story.wait(600)
    story.tell(LeaderElected, TP, 2, 1, 2, [1], "Offline")
    story.elect(TP, 1)
    return story


def test_a_new_leader_epoch_of_a_failed_leader_does_not_hide_its_failover(known: Known) -> None:
    (row,) = known.rows(failovers, "shrunk")
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
    known: Known, fault: str, down_us: int
) -> None:
    name = f"{fault}-and-restarted"
    (row,) = known.rows(failovers, name)
    assert (row["fault"], row["outcome"], row["leader"]) == (fault, "failed over", 1)
    assert row["detection_us"] == 17_000_000 + down_us
    assert row["total_us"] == 17_000_355 + down_us
    (expected,) = expected_failovers(name, known.stories[name].events)
    assert {column: row[column] for column in expected} == expected


def expired_story() -> Story:
    """The session of a process that runs again expires, too."""
    story = restarted_story("crashed")
    story.elect(TP, 0)
    story.wait(1_000)
    story.tell(SessionEnded, 101, 0, "expired", 4)
    return story


def test_the_end_of_a_running_process_own_session_is_a_fault(known: Known) -> None:
    _, row = sorted(known.rows(failovers, "expired"), key=itemgetter("fault_seq"))
    assert (row["fault"], row["detection_us"], row["outcome"]) == ("expired", 0, "open")


def loaded_story() -> Story:
    """The leader is down for a second, and its log is loaded."""
    story = committed_story()
    story.wait(1_000)
    story.tell(BrokerStateChanged, 0, "crashed")
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.tell(LogLoaded, TP, 0, 0, 1, 3, None)
    story.wait(1_000_000)
    return story


def test_a_leader_that_is_down_has_no_lag(known: Known) -> None:
    (row,) = known.rows(hw_lag, "loaded")
    assert row["hw_lag_max"] == 3
    assert row["online_us"] < 1_000_000
    assert min(row["lag_max"] for row in known.rows(hw_lag_timeline, "loaded")) >= 0


def unacknowledged_story() -> Story:
    """Records are sent without acks."""
    story = committed_story()
    batch = story.send(TP, 2, acks=0)
    story.tell(ProduceAcknowledged, "p1", TP, batch.first_record, 2, -1)
    story.wait(1_000)
    return story


def test_records_without_acks_are_neither_acknowledged_nor_lost(known: Known) -> None:
    name = "unacknowledged"
    found = {row["acks"]: row for row in known.rows(commit_latency, name)}
    assert (found[0]["acked"], found[0]["sent"], found[0]["ack_n"]) == (0, 2, 0)
    source = known.alone(durability_records, name)
    assert {row["fate"] for row in rows(source.result(DURABILITY_RECORDS))} == {name}
    source = known.alone(partition_durability, name)
    cells = {row["acks"]: row for row in rows(durability(source))}
    assert (cells[0]["acked"], cells[0]["lost"], cells[0]["unacknowledged"]) == (0, 0, 2)
    assert cells[0]["sessions_harmed"] == 0


def short_story() -> Story:
    """A partition is without a leader for no time."""
    story = committed_story()
    story.wait(1_000)
    story.tell(ReplicaRoleChanged, TP, 0, "offline", 0, 0)
    story.tell(ReplicaRoleChanged, TP, 0, "leader", 0, 1)
    story.wait(1_000)
    return story


def test_an_outage_of_no_time_is_none(known: Known) -> None:
    found = known.rows(outages, "short")
    assert [row for row in found if row["kind"] == "leaderless"] == []


def test_percentiles_do_not_mix_ways_to_produce(known: Known) -> None:
    source = known.alone(latencies, "crashed")
    found = {row["acks"]: row for row in rows(latency_by_release(source))}
    assert (found[-1]["commit_n"], found[-1]["ack_n"]) == (4, 4)
    assert (found[1]["commit_n"], found[1]["ack_n"]) == (0, 1)


def stories() -> dict[str, Story]:
    """The stories by the names of their sessions."""
    return {
        "crashed": crashed_story(),
        "watched": watched_story(),
        "frozen": frozen_story(),
        "returned": returned_story(),
        **{
            f"{strategy}-{leader}": elected_story(leader, strategy)
            for leader, strategy in ELECTIONS
        },
        "shrunk": shrunk_story(),
        **{f"{fault}-and-restarted": restarted_story(fault) for fault in ("crashed", "frozen")},
        "expired": expired_story(),
        "loaded": loaded_story(),
        "unacknowledged": unacknowledged_story(),
        "short": short_story(),
    }
