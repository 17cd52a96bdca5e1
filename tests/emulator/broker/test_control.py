"""What a broker does at the controller's word, and what it refuses."""

import pytest

from emulator import events
from emulator.broker.broker import Broker
from emulator.inputs.statements import CrashBroker, CreateTopic, DeleteTopic, Produce, Settle
from emulator.protocol import (
    LeaderAndIsrRequest,
    PartitionInfo,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from emulator.protocol.controller import DURING_DELETE
from emulator.scenario.conditions import value_of
from tests.support.lab import Lab
from tests.support.running import do, partition, replica, with_topic

CONTROLLER = 0


def _broker(version: str = "3.9") -> tuple[Broker, list[events.Event]]:
    cluster, seen = with_topic(1, 2, version=version)
    seen.clear()
    return cluster.brokers[2], seen


def _responses(seen: list[events.Event]) -> list[str]:
    return [e.name for e in seen if isinstance(e, events.MessageSent)]


def test_an_older_controller_is_refused() -> None:
    broker, seen = _broker()
    info = PartitionInfo(2, 9, [2], 9, [1, 2], 0)
    epoch = broker.state.broker_epoch
    broker.replica_manager.leader_and_isr(
        CONTROLLER, 1, LeaderAndIsrRequest(0, 0, epoch, {"t-0": info}, [1, 2])
    )
    assert broker.state.replicas["t-0"].role == "follower"
    assert _responses(seen) == ["LeaderAndIsrResponse"]


def test_a_request_for_an_earlier_life_is_refused() -> None:
    broker, _ = _broker()
    info = PartitionInfo(2, 9, [2], 9, [1, 2], 1)
    broker.replica_manager.leader_and_isr(
        CONTROLLER, 1, LeaderAndIsrRequest(0, 1, 1, {"t-0": info}, [1, 2])
    )
    assert broker.state.replicas["t-0"].role == "follower"


@pytest.mark.parametrize(("epoch", "leads"), [(0, False), (1, True)])
def test_only_a_newer_leader_epoch_counts(epoch: int, *, leads: bool) -> None:
    broker, _ = _broker()
    info = PartitionInfo(2, epoch, [2], 9, [1, 2], 1)
    mine = broker.state.broker_epoch
    broker.replica_manager.leader_and_isr(
        CONTROLLER, 1, LeaderAndIsrRequest(0, 1, mine, {"t-0": info}, [1, 2])
    )
    assert (broker.state.replicas["t-0"].role == "leader") is leads


def test_a_broker_that_is_not_assigned_makes_no_log() -> None:
    broker, _ = _broker()
    info = PartitionInfo(1, 0, [1], 0, [1, 3], 1)
    mine = broker.state.broker_epoch
    broker.replica_manager.leader_and_isr(
        CONTROLLER, 1, LeaderAndIsrRequest(0, 1, mine, {"x-0": info}, [1, 3])
    )
    assert "x-0" not in broker.state.replicas


def test_stopping_with_delete_removes_the_log() -> None:
    broker, seen = _broker()
    mine = broker.state.broker_epoch
    broker.replica_manager.stop_replica(
        CONTROLLER, 1, StopReplicaRequest(0, 1, mine, {"t-0": -2}, delete=True)
    )
    assert "t-0" not in broker.state.replicas
    assert any(isinstance(each, events.LogDeleted) for each in seen)


def test_a_partition_that_is_being_deleted_leaves_the_metadata() -> None:
    broker, _ = _broker()
    mine = broker.state.broker_epoch
    gone = PartitionInfo(DURING_DELETE, 0, [], 0, [1, 2], 1)
    request = UpdateMetadataRequest(0, 1, mine, [1, 2], {"t-0": gone}, names_deleted=True)
    broker.metadata.update(CONTROLLER, 1, request)
    assert "t-0" not in broker.state.process.metadata


def test_clients_of_a_deleted_topic_are_told_that_there_is_none() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, DeleteTopic(topic="t"), Settle())
    assert value_of(cluster, partition("t-0", "state")) == "nonexistent"
    assert value_of(cluster, replica("t-0", 1, "leo")) is None
    outcome = do(cluster, Produce(topic="t", value="a", retries=0))
    assert outcome.error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_partition_that_nobody_has_led_hides_none_behind_it() -> None:
    lab = Lab("3.9", brokers=4)
    lab.do(CrashBroker(broker=3))
    lab.wait(20_000)
    lab.do(CreateTopic(topic="t", assignment=[[1], [3], [2]]))
    lab.wait(1_000)
    errors = [
        lab.do(Produce(topic="t", partition=number, value="v", acks=-1)).error
        for number in range(4)
    ]
    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    assert errors == ["NONE", unknown, "NONE", unknown]
