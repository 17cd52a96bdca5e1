"""What outsiders write into the tree never stops the emulator."""

import pytest

from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    Settle,
    StartBroker,
    StopBroker,
    Wait,
    ZkCommand,
)
from tests.support.running import do, produce, with_topic

STATE = "/brokers/topics/t/partitions/0/state"


def _set(path: str, data: str) -> ZkCommand:
    return ZkCommand(command="set", path=path, data=data)


def _create(path: str, data: str = "") -> ZkCommand:
    return ZkCommand(command="create", path=path, data=data)


def _delete(path: str) -> ZkCommand:
    return ZkCommand(command="delete", path=path)


WRITES = {
    "a topic with a partition that is no number": _create(
        "/brokers/topics/x", '{"partitions":{"a":[1],"-1":[1],"0":[]}}'
    ),
    "a topic that is no JSON": _create("/brokers/topics/x", "{"),
    "a state that is no JSON": _set(STATE, "?"),
    "a deleted state": _delete(STATE),
    "an epoch that is no number": _set("/controller_epoch", "many"),
    "a broker that is no number": _create("/brokers/ids/abc", "{}"),
    "a broker that does not exist": _create("/brokers/ids/7", "{}"),
    "no notifications": _delete("/isr_change_notification"),
    "no deletions": _delete("/admin/delete_topics"),
    "moves that are no JSON": _create("/admin/reassign_partitions", "{"),
    "a move to nobody": _create(
        "/admin/reassign_partitions", '{"partitions":[{"topic":"t","partition":0,"replicas":[9]}]}'
    ),
    "elections of nothing": _create("/admin/preferred_replica_election", "[]"),
    "a deletion of nothing": _create("/admin/delete_topics/nothing"),
    "a configuration that is no JSON": _set("/config/topics/t", "{"),
    "a controller that is nobody": _set("/controller", '{"brokerid":77}'),
}


@pytest.mark.parametrize("version", ["seed", "0.8.2", "0.10.2", "2.0.1", "2.4", "3.9"])
@pytest.mark.parametrize("what", WRITES)
def test_the_cluster_goes_on(what: str, version: str) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    do(cluster, WRITES[what], Wait(duration_us=1_000_000))
    do(cluster, CrashBroker(broker=1), Wait(duration_us=8_000_000), StartBroker(broker=1))
    do(cluster, _delete("/controller"), Wait(duration_us=2_000_000))
    do(cluster, StopBroker(broker=2), StartBroker(broker=2), Settle())
    do(cluster, CreateTopic(topic="u", assignment=[[3]]), Wait(duration_us=2_000_000))
    do(cluster, produce("a", acks=1))
    assert cluster.broker_state(1) == "running"
