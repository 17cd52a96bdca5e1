"""Moving a partition to other brokers, and taking a move back."""

import json

import pytest

from emulator.events import LeaderElected, LogDeleted, ReplicasAssigned
from emulator.inputs.statements import (
    CancelReassignment,
    CrashBroker,
    CreateTopic,
    PauseReplica,
    Reassign,
    ResumeReplica,
    StartBroker,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from emulator.zookeeper.data import REASSIGN_PARTITIONS as REASSIGN
from emulator.zookeeper.data import moves_json
from tests.support.generations import since
from tests.support.lab import TP, Lab

CONFIG = {"auto.leader.rebalance.enable": "false"}
WITH_LISTS = since("2.4")
"""KIP-455: the topic's znode says what is added and removed, and a move can be taken back."""


def led_by_1(version: str = "3.9") -> Lab:
    lab = Lab(version, brokers=5, config=CONFIG)
    lab.topic(1, 2)
    lab.produce(*"abc")
    lab.wait(600)
    return lab


def held_up(version: str = "3.9") -> Lab:
    """A move from [1,2] to [2,3] that waits for 3, which has the log but fetches nothing."""
    lab = led_by_1(version)
    lab.do(CrashBroker(broker=3))
    lab.do(Reassign(tp=TP, replicas=[2, 3]))
    lab.wait(50)
    return lab


def test_a_move_of_one_replica_ends_in_epoch_3_and_version_4_with_the_leader_moved() -> None:
    for version in VERSIONS:
        lab = led_by_1(version)
        lab.do(Reassign(tp=TP, replicas=[2, 3]))
        lab.wait(9000)
        info = lab.cluster.state_of(TP)
        assert info is not None
        assert (info.leader, sorted(info.isr)) == (2, [2, 3])
        assert (info.leader_epoch, info.zk_version) == (3, 4), version


def test_the_replica_lists_pass_through_the_union() -> None:
    lab = led_by_1()
    lab.do(Reassign(tp=TP, replicas=[3, 4]))
    lab.wait(3000)
    lists = [each.replicas for each in lab.seen.of(ReplicasAssigned)]
    assert lists == [[3, 4, 1, 2], [3, 4]]


@pytest.mark.parametrize("version", WITH_LISTS)
def test_what_is_added_and_removed_stands_in_the_topics_znode_meanwhile(version: str) -> None:
    lab = held_up(version)
    found = json.loads(lab.cluster.zookeeper.get("/brokers/topics/t").data or "")
    assert found["partitions"] == {"0": [2, 3, 1]}
    assert found["adding_replicas"] == {"0": [3]}
    assert found["removing_replicas"] == {"0": [1]}
    lab.do(StartBroker(broker=3))
    lab.wait(25_000)
    found = json.loads(lab.cluster.zookeeper.get("/brokers/topics/t").data or "")
    assert (found["adding_replicas"], found["removing_replicas"]) == ({}, {})


def test_old_replicas_lose_their_logs_at_the_end() -> None:
    lab = led_by_1()
    lab.do(Reassign(tp=TP, replicas=[3, 4]))
    lab.wait(3000)
    assert sorted(each.broker for each in lab.seen.of(LogDeleted)) == [1, 2]
    assert [lab.values(broker) for broker in (3, 4)] == ["a b c"] * 2


def test_a_leader_that_stays_needs_no_election() -> None:
    lab = led_by_1()
    lab.do(Reassign(tp=TP, replicas=[1, 3]))
    lab.wait(3000)
    assert lab.seen.of(LeaderElected, strategy="Reassign") == []
    info = lab.cluster.state_of(TP)
    assert info is not None
    assert (info.leader, sorted(info.isr)) == (1, [1, 3])


def test_a_move_waits_for_every_target_replica() -> None:
    lab = held_up()
    lab.wait(3000)
    assert lab.cluster.zookeeper.find(REASSIGN) is not None
    assert lab.cluster.assigned(TP) == [2, 3, 1]
    lab.do(StartBroker(broker=3))
    lab.wait(25_000)
    assert lab.cluster.assigned(TP) == [2, 3]
    assert lab.cluster.zookeeper.find(REASSIGN) is None


def test_a_slow_target_holds_the_move_up_and_nothing_else() -> None:
    lab = led_by_1()
    lab.do(Reassign(tp=TP, replicas=[1, 3]))
    lab.wait(1)
    lab.do(PauseReplica(tp=TP, broker=3))
    lab.wait(2000)
    assert lab.cluster.zookeeper.find(REASSIGN) is not None
    assert lab.produce("d")[0].error == "NONE"
    lab.do(ResumeReplica(tp=TP, broker=3))
    lab.wait(3000)
    assert lab.cluster.zookeeper.find(REASSIGN) is None


@pytest.mark.parametrize("version", WITH_LISTS)
def test_a_move_can_be_taken_back(version: str) -> None:
    lab = held_up(version)
    assert lab.do(CancelReassignment(tp=TP)).error == "NONE"
    lab.wait(3000)
    assert lab.cluster.assigned(TP) == [2, 1]
    info = lab.cluster.state_of(TP)
    assert info is not None
    assert (info.leader, sorted(info.isr)) == (1, [1, 2])
    assert lab.cluster.zookeeper.find(REASSIGN) is None


@pytest.mark.parametrize("version", WITH_LISTS)
def test_a_move_of_what_nobody_has_ever_led_can_be_taken_back(version: str) -> None:
    lab = Lab(version, brokers=4)
    for broker in (2, 3):
        lab.do(CrashBroker(broker=broker))
    lab.wait(21_000)
    lab.do(CreateTopic(topic="t", assignment=[[2, 3]]))
    lab.do(Reassign(tp=TP, replicas=[1, 2]))
    lab.wait(100)
    assert lab.do(CancelReassignment(tp=TP)).error == "UNKNOWN_SERVER_ERROR"
    lab.wait(1000)
    assert lab.cluster.assigned(TP) == [2, 3]
    assert lab.state() == "nonexistent"


def test_taking_back_what_is_not_moving_is_refused() -> None:
    lab = led_by_1()
    assert lab.do(CancelReassignment(tp=TP)).error == "NO_REASSIGNMENT_IN_PROGRESS"


@pytest.mark.parametrize("data", ["no json", '{"version":1,"partitions":[]}'])
@pytest.mark.parametrize("version", VERSIONS)
def test_nonsense_stays_where_it_is_but_from_2_0_to_2_3(version: str, data: str) -> None:
    lab = led_by_1(version)
    lab.do(ZkCommand(command="create", path=REASSIGN, data=data))
    lab.wait(50)
    assert lab.cluster.assigned(TP) == [1, 2]
    is_rewritten = lab.cluster.profile.has("reassignments_dropped_together")
    assert (lab.cluster.zookeeper.find(REASSIGN) is None) == is_rewritten


@pytest.mark.parametrize("version", VERSIONS)
def test_from_1_1_a_controller_whose_znode_was_taken_away_is_deaf(version: str) -> None:
    lab = led_by_1(version)
    lab.do(CreateTopic(topic="u", assignment=[[1]]))
    lab.do(ZkCommand(command="create", path=REASSIGN, data=moves_json([("u-0", [9])])))
    lab.wait(50)
    lab.do(ZkCommand(command="delete", path=REASSIGN))
    lab.wait(50)
    lab.do(ZkCommand(command="create", path=REASSIGN, data=moves_json([(TP, [2, 3])])))
    lab.wait(9000)
    is_deaf = not lab.cluster.profile.has("admin_requests_data_watched")
    assert lab.cluster.assigned(TP) == ([1, 2] if is_deaf else [2, 3])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_move_to_the_dead_waits_or_is_refused(version: str) -> None:
    lab = led_by_1(version)
    lab.do(CrashBroker(broker=3))
    lab.wait(20_000)
    lab.do(Reassign(tp=TP, replicas=[2, 3]))
    lab.wait(50)
    refused = lab.cluster.profile.has("reassignment_needs_live_replicas")
    assert lab.cluster.assigned(TP) == ([1, 2] if refused else [2, 3, 1])
    assert (lab.cluster.zookeeper.find(REASSIGN) is None) == refused


@pytest.mark.parametrize("version", VERSIONS)
def test_a_move_to_where_it_is_costs_an_epoch_from_2_4(version: str) -> None:
    lab = led_by_1(version)
    lab.do(Reassign(tp=TP, replicas=[1, 2]))
    lab.wait(50)
    costs = lab.cluster.profile.has("cancel_reassignment")
    assert lab.state() == f"leader 1 e{int(costs)} isr [1, 2] v{int(costs)}"
    assert lab.cluster.zookeeper.find(REASSIGN) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_order_costs_one_epoch(version: str) -> None:
    lab = led_by_1(version)
    lab.do(Reassign(tp=TP, replicas=[2, 1]))
    lab.wait(50)
    assert lab.cluster.assigned(TP) == [2, 1]
    assert lab.state() == "leader 1 e1 isr [1, 2] v1"


@pytest.mark.parametrize("version", WITH_LISTS)
def test_a_new_controller_finds_the_move_in_the_topics_znode(version: str) -> None:
    lab = held_up(version)
    lab.do(ZkCommand(command="delete", path=REASSIGN))
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(100)
    lab.do(StartBroker(broker=3))
    lab.wait(25_000)
    assert lab.cluster.assigned(TP) == [2, 3]


@pytest.mark.parametrize("version", WITH_LISTS)
def test_another_target_takes_the_place_of_the_first(version: str) -> None:
    """What only the first added goes at once."""
    lab = held_up(version)
    lab.do(ZkCommand(command="delete", path=REASSIGN))
    lab.do(Reassign(tp=TP, replicas=[2, 4]))
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(9000)
    assert lab.cluster.assigned(TP) == [2, 4]
    assert lab.cluster.zookeeper.find(REASSIGN) is None


def test_a_new_controller_goes_on_with_the_move() -> None:
    lab = held_up()
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(100)
    lab.do(StartBroker(broker=3))
    lab.wait(25_000)
    assert lab.cluster.assigned(TP) == [2, 3]
    assert lab.cluster.zookeeper.find(REASSIGN) is None
