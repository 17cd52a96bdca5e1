"""A real cluster's session in the dataset: the tables agree with events and with the read model."""

from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import (
    AnyInput,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    Produce,
    Settle,
    StartBroker,
    Statement,
)
from emulator.scenario.runner import Runner
from sessions.dataset.export import export_session
from sessions.dataset.rows.events import as_event
from sessions.dataset.rows.sessions import SessionFacts
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState
from tests.sessions.dataset.reading import Row, rows
from tests.sessions.dataset.reference import expected_produced

STORY: tuple[AnyInput, ...] = (
    CreateTopic(topic="orders", partitions=2, replication_factor=3),
    Settle(),
    Produce(topic="orders", count=30, batch=5, acks=-1),
    CrashBroker(broker=1),
    Produce(topic="orders", count=20, batch=4, acks=1, key="k"),
    Produce(topic="orders", count=5, acks=0),
    StartBroker(broker=1),
    Settle(),
    Consume(topic="orders"),
)


class Recorded:
    """A cluster's events and what the read model makes of them."""

    def __init__(self, version: str, dataset: Path) -> None:
        self.events: list[Event] = []
        cluster = Cluster(CreateCluster(version=version), [self.events.append])
        runner = Runner(cluster)
        for statement in STORY:
            assert runner.execute(Statement(statement, "")).error == "NONE"
        self.view = ClusterView()
        for event in self.events:
            self.view.apply(event)
        self.facts = SessionFacts("s1", state_hash=runner.state_hash, end_us=cluster.now_us)
        self.report = export_session(self.events, self.facts, dataset)
        self.dataset = dataset

    def rows(self, table: str) -> list[Row]:
        return rows(self.dataset, table)

    def last(self, table: str, tp: str) -> list[Row]:
        """The rows that hold until the end."""
        return [row for row in self.rows(table) if row["tp"] == tp and row["to_seq"] is None]


@pytest.fixture(scope="module", params=["0.10.2", "3.9"])
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(request.param, tmp_path_factory.mktemp("dataset"))


def test_all_events_are_there(recorded: Recorded) -> None:
    assert [as_event(row) for row in recorded.rows("events")] == recorded.events


def test_records_fared_as_following_each_one_says(recorded: Recorded) -> None:
    found = sorted(recorded.rows("produced"), key=lambda row: row["record"])
    assert found == expected_produced(recorded.events)


def partition_values(state: PartitionState) -> Row:
    """What the read model knows of a partition, by the names of columns."""
    leader = state.leader_replica
    return {
        "state": state.state,
        "leader": state.leader,
        "leader_epoch": state.leader_epoch,
        "controller_epoch": state.controller_epoch,
        "zk_version": state.zk_version,
        "isr": state.isr,
        "replicas": state.replicas,
        "min_isr": state.min_isr,
        "hw": leader and leader.high_watermark,
        "leo": leader and leader.log_end_offset,
    }


def test_partitions_end_as_the_read_model_has_them(recorded: Recorded) -> None:
    for tp, state in recorded.view.state.partitions.items():
        (row,) = recorded.last("partition_states", tp)
        assert row.items() >= partition_values(state).items()


def test_replicas_end_as_the_read_model_has_them(recorded: Recorded) -> None:
    for tp, state in recorded.view.state.partitions.items():
        found = {row["broker"]: row for row in recorded.last("replica_states", tp)}
        assert found.keys() == state.replica_states.keys()
        for broker, replica in state.replica_states.items():
            assert (
                found[broker].items()
                >= {
                    "role": replica.role,
                    "leader_epoch": replica.leader_epoch,
                    "leo": replica.log_end_offset,
                    "hw": replica.high_watermark,
                    "log_start": replica.log_start,
                    "remote_leo": state.remote_leo.get(broker),
                    "in_isr": broker in state.isr,
                }.items()
            )


def test_what_was_consumed_is_what_was_produced(recorded: Recorded) -> None:
    produced = {
        (row["tp"], row["offset"]): row["record"]
        for row in recorded.rows("produced")
        if row["committed_us"] is not None
    }
    consumed = {(row["tp"], row["offset"]): row["record"] for row in recorded.rows("consumed")}
    assert consumed == produced


def test_the_sessions_row_says_how_it_ended(recorded: Recorded) -> None:
    (row,) = recorded.rows("sessions")
    never_committed = [made for made in recorded.rows("produced") if made["committed_us"] is None]
    assert {made["acks"] for made in never_committed} == {0}
    assert row["lost"] == 0  # nobody was promised them
    assert row["acked"] == sum(made["outcome"] == "acked" for made in recorded.rows("produced")) > 0
    assert row["state_hash"] == recorded.facts.state_hash
    assert row["outcome"] == "passed"
    assert row["events"] == len(recorded.events) == recorded.report.events
