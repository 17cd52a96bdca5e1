"""The replica and the partition state machine: every transition, legal or refused."""

from itertools import product
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.controller.channels import Batch
from emulator.controller.context import NEW, NON_EXISTENT, OFFLINE, ONLINE
from emulator.controller.controller import Controller
from emulator.controller.partition_state_machine import PARTITION
from emulator.controller.replica_state_machine import (
    DELETION_INELIGIBLE,
    DELETION_STARTED,
    DELETION_SUCCESSFUL,
    REPLICA,
    REPLICA_NEW,
    REPLICA_NON_EXISTENT,
    REPLICA_OFFLINE,
    REPLICA_ONLINE,
)
from emulator.events import ControllerStep, Event
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    DeleteTopic,
    Reassign,
    StartBroker,
)
from emulator.replication.election import Choice
from emulator.scenario.runner import Runner
from tests.support.lab import TP, Lab
from tests.support.memberships import zookeeper_membership
from tests.support.random_scripts import run, script_of, spec_of

PAGE = Path(__file__).parents[3] / "docs" / "controller.md"
LEGAL_OF_REPLICAS = """
NonExistentReplica -> NewReplica
NewReplica -> OnlineReplica OfflineReplica
OnlineReplica -> OnlineReplica OfflineReplica
OfflineReplica -> OnlineReplica OfflineReplica ReplicaDeletionStarted ReplicaDeletionIneligible
ReplicaDeletionStarted -> ReplicaDeletionSuccessful ReplicaDeletionIneligible
ReplicaDeletionSuccessful -> NonExistentReplica
ReplicaDeletionIneligible -> OnlineReplica OfflineReplica
"""
LEGAL_OF_PARTITIONS = """
NonExistentPartition -> NewPartition
NewPartition -> OnlinePartition OfflinePartition
OnlinePartition -> OnlinePartition OfflinePartition
OfflinePartition -> OnlinePartition OfflinePartition NonExistentPartition
"""


def pairs(text: str) -> set[tuple[str, str]]:
    rows = [line.split(" -> ") for line in text.strip().splitlines()]
    return {(before, after) for before, targets in rows for after in targets.split()}


def with_controller() -> tuple[Lab, Controller]:
    lab = Lab(brokers=4, config={"delete.topic.enable": "true"})
    lab.topic(1, 2)
    return lab, zookeeper_membership(lab.cluster, 0).controller


def refused(lab: Lab) -> list[str]:
    return [each.detail for each in lab.seen.of(ControllerStep, name="illegalTransition")]


@pytest.mark.parametrize(("current", "target"), list(product(REPLICA, REPLICA)))
def test_a_replica_moves_as_the_table_says_or_not_at_all(current: str, target: str) -> None:
    lab, controller = with_controller()
    broker = 3 if current == REPLICA_NON_EXISTENT else 1
    if current not in (REPLICA_NON_EXISTENT, REPLICA_ONLINE):
        controller.context.state.replicas[f"{TP}@1"] = current
    assert controller.replicas.state_of(TP, broker) == current
    legal = (current, target) in pairs(LEGAL_OF_REPLICAS)
    assert controller.replicas.move(TP, broker, target) == legal
    assert refused(lab) == (
        [] if legal else [f"{TP}@{broker} is {current} and cannot become {target}"]
    )
    if not legal:
        assert controller.replicas.state_of(TP, broker) == current
    elif target != REPLICA_NON_EXISTENT:
        assert controller.replicas.state_of(TP, broker) == target


@pytest.mark.parametrize(("current", "target"), list(product(PARTITION, PARTITION)))
def test_a_partition_moves_as_the_table_says_or_not_at_all(current: str, target: str) -> None:
    lab, controller = with_controller()
    controller.context.state.partitions.pop(TP)
    if current != NON_EXISTENT:
        controller.context.state.partitions[TP] = current
    legal = (current, target) in pairs(LEGAL_OF_PARTITIONS)
    assert controller.partitions.move(TP, target) == legal
    assert controller.partitions.state_of(TP) == (target if legal else current)
    assert len(refused(lab)) == (not legal)


def test_an_election_that_may_not_be_writes_nothing() -> None:
    lab, controller = with_controller()
    before = lab.state()
    controller.context.state.partitions.pop(TP)
    batch = Batch()
    controller.partitions.elect(TP, "Preferred", Choice(2, [1, 2]), [2], batch)
    controller.replicas.go_offline(TP, 3, batch)
    assert lab.state() == before
    assert (batch.leader_and_isr, len(refused(lab))) == ({}, 2)


def test_replicas_of_a_dead_broker_are_offline_until_it_returns() -> None:
    lab, controller = with_controller()
    lab.do(CrashBroker(broker=2))
    lab.wait(20_000)
    assert (controller.replicas.state_of(TP, 1), controller.replicas.state_of(TP, 2)) == (
        REPLICA_ONLINE,
        REPLICA_OFFLINE,
    )
    lab.do(StartBroker(broker=2))
    lab.wait(2_000)
    assert controller.context.state.replicas == {}


def test_a_new_controller_holds_dead_replicas_for_offline() -> None:
    lab = Lab(brokers=4)
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=2))
    lab.do(CrashBroker(broker=0))
    lab.wait(40_000)
    holder = lab.cluster.controller_id()
    assert holder is not None
    controller = zookeeper_membership(lab.cluster, holder).controller
    assert controller.replicas.state_of(TP, 2) in (REPLICA_OFFLINE, DELETION_INELIGIBLE)
    assert controller.partitions.state_of(TP) == ONLINE


def test_what_is_moved_is_new_until_it_is_in_sync_and_gone_when_it_is_dropped() -> None:
    lab, controller = with_controller()
    lab.do(Reassign(tp=TP, replicas=[1, 3]))
    assert controller.replicas.state_of(TP, 3) == REPLICA_NON_EXISTENT
    lab.wait(1)
    states = [controller.replicas.state_of(TP, b) for b in (1, 2, 3)]
    assert states == [REPLICA_ONLINE, REPLICA_ONLINE, REPLICA_NEW]
    lab.wait(5_000)
    assert [controller.replicas.state_of(TP, b) for b in (1, 2, 3)] == [
        REPLICA_ONLINE,
        REPLICA_NON_EXISTENT,
        REPLICA_ONLINE,
    ]
    assert controller.context.state.replicas == {}


def test_replicas_of_a_deleted_topic_wait_for_the_dead_one() -> None:
    lab, controller = with_controller()
    lab.do(CrashBroker(broker=2))
    lab.wait(20_000)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(1)
    assert controller.replicas.state_of(TP, 1) in (DELETION_STARTED, DELETION_SUCCESSFUL)
    assert controller.replicas.state_of(TP, 2) in (DELETION_INELIGIBLE, REPLICA_OFFLINE)
    lab.wait(1_000)
    assert controller.replicas.state_of(TP, 1) == DELETION_SUCCESSFUL
    lab.do(StartBroker(broker=2))
    lab.wait(2_000)
    assert (controller.partitions.state_of(TP), controller.context.state.replicas) == (
        NON_EXISTENT,
        {},
    )


def test_a_partition_without_live_replicas_stays_new() -> None:
    lab, controller = with_controller()
    lab.do(CrashBroker(broker=3))
    lab.wait(20_000)
    lab.do(CreateTopic(topic="u", assignment=[[3]]))
    lab.wait(100)
    assert controller.partitions.state_of("u-0") == NEW
    lab.do(StartBroker(broker=3))
    lab.wait(2_000)
    assert controller.partitions.state_of("u-0") == ONLINE


@pytest.mark.parametrize("seed", range(6))
def test_nothing_illegal_is_tried_whatever_happens(seed: int) -> None:
    seen: list[Event] = []
    cluster = Cluster(spec_of(seed), [seen.append])
    run(Runner(cluster), script_of(seed, 25))
    steps = [each for each in seen if isinstance(each, ControllerStep)]
    assert [each.detail for each in steps if each.name == "illegalTransition"] == []


def test_an_offline_partition_is_so_called() -> None:
    lab, controller = with_controller()
    lab.do(CrashBroker(broker=1))
    lab.do(CrashBroker(broker=2))
    lab.wait(20_000)
    assert controller.partitions.state_of(TP) == OFFLINE


@pytest.mark.parametrize("machine", [REPLICA, PARTITION], ids=["replicas", "partitions"])
def test_the_documentation_shows_the_same_table(machine: dict[str, tuple[str, ...]]) -> None:
    rows = [f"| {target} | {', '.join(before)} |" for target, before in machine.items()]
    table = "| state | may be entered from |\n|--|--|\n" + "\n".join(rows)
    assert table in PAGE.read_text("utf-8")
