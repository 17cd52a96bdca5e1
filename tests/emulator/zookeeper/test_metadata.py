"""What znodes mean is read in one place, whoever wrote them."""

import pytest

from emulator import events
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import CreateCluster, Settle, ZkCommand
from emulator.zookeeper.metadata import ZnodeFacts
from tests.support.running import do, with_topic

STATE = "/brokers/topics/t/partitions/0/state"


def _facts() -> tuple[ZnodeFacts, list[Event]]:
    seen: list[Event] = []
    cluster = Cluster(CreateCluster(brokers=1), [seen.append])
    seen.clear()
    return cluster.facts, seen


def test_a_state_znode_states_leader_epoch_and_isr() -> None:
    facts, seen = _facts()
    data = '{"controller_epoch":4,"leader":2,"version":1,"leader_epoch":7,"isr":[2,3]}'
    facts.changed("created", STATE, data, 5)
    stated = seen[-1]
    assert isinstance(stated, events.PartitionStateChanged)
    assert (stated.tp, stated.leader, stated.leader_epoch) == ("t-0", 2, 7)
    assert (stated.isr, stated.controller_epoch, stated.zk_version) == ([2, 3], 4, 5)
    assert facts.states["t-0"].zk_version == 5


@pytest.mark.parametrize("data", ["", "{", '{"leader":"x"}', "[]", "null"])
def test_what_cannot_be_read_states_nothing(data: str) -> None:
    facts, seen = _facts()
    facts.changed("changed", STATE, data, 1)
    facts.changed("changed", "/brokers/topics/t", data, 1)
    facts.changed("changed", "/config/topics/t", data, 1)
    assert [each for each in seen if isinstance(each, events.PartitionStateChanged)] == []
    assert facts.states == {}
    assert facts.assignments == {}


def test_a_topic_is_created_grows_and_is_deleted() -> None:
    facts, seen = _facts()
    path = "/brokers/topics/t"
    facts.changed("created", path, '{"version":1,"partitions":{"0":[1,2]}}', 0)
    facts.changed("changed", path, '{"version":1,"partitions":{"1":[2,1],"0":[1,2]}}', 1)
    facts.changed("deleted", path, None, -1)
    kinds = [type(each) for each in seen]
    assert kinds == [events.TopicCreated, events.PartitionsAdded, events.TopicDeleted]
    added = seen[1]
    assert isinstance(added, events.PartitionsAdded)
    assert (added.first, added.assignment) == (1, [[2, 1]])


def test_another_replica_list_is_a_reassignment() -> None:
    facts, seen = _facts()
    path = "/brokers/topics/t"
    facts.changed("created", path, '{"partitions":{"0":[1,2]}}', 0)
    moving = (
        '{"partitions":{"0":[2,3,1]},"adding_replicas":{"0":[3]},"removing_replicas":{"0":[1]}}'
    )
    facts.changed("changed", path, moving, 1)
    moved = seen[-1]
    assert isinstance(moved, events.ReplicasAssigned)
    assert (moved.replicas, moved.adding, moved.removing) == ([2, 3, 1], [3], [1])


def test_a_deleted_state_is_a_fact() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, ZkCommand(command="delete", path=STATE))
    assert any(isinstance(each, events.PartitionStateRemoved) for each in seen)
    assert cluster.state_of("t-0") is None


def test_an_outsiders_configuration_counts() -> None:
    cluster, _ = with_topic(1, 2)
    data = '{"version":1,"config":{"min.insync.replicas":"2"}}'
    do(cluster, ZkCommand(command="set", path="/config/topics/t", data=data), Settle())


def test_who_controls_is_what_the_znode_says() -> None:
    cluster, _ = with_topic(1, 2)
    assert cluster.controller_id() == 0
    do(cluster, ZkCommand(command="set", path="/controller", data="nonsense"))
    assert cluster.controller_id() is None
