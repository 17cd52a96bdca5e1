"""What is refused is a fact: who refused what, and which values did not fit."""

import pytest

from emulator.events import (
    ZOOKEEPER,
    ElectionHeld,
    IsrChanged,
    RequestRefused,
    ZooKeeperRefused,
)
from emulator.inputs.statements import (
    CancelReassignment,
    CrashBroker,
    CutLink,
    ElectUnclean,
    FreezeBroker,
    HealLinks,
    Wait,
    ZkCommand,
)
from emulator.protocol import (
    AlterIsrItem,
    AlterPartitionRequest,
    LeaderAndIsrRequest,
    PartitionInfo,
    UpdateMetadataRequest,
)
from emulator.replication.partition import SHRINK, ProposeIsr
from tests.support.lab import TP, Lab
from tests.support.memberships import zookeeper_membership

STATE = "/brokers/topics/t/partitions/0/state"


def alter_isr(lab: Lab, item: AlterIsrItem) -> None:
    """Broker 1, which leads t-0, asks the controller for an ISR."""
    epoch = lab.cluster.brokers[1].state.broker_epoch
    lab.cluster.network.send(1, 0, AlterPartitionRequest(1, epoch, {TP: item}))
    lab.wait(10)


def test_an_isr_under_an_old_version_is_refused_and_the_outsiders_write_stays() -> None:
    lab = Lab("3.9", brokers=3, stepwise=True)
    lab.topic(1, 2)
    data = '{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[2]}'
    lab.do(ZkCommand(command="set", path=STATE, data=data))
    alter_isr(lab, AlterIsrItem(0, [1], 0))
    assert lab.state() == "leader 1 e0 isr [2] v1"
    (refused,) = lab.seen.of(RequestRefused, tp=TP)
    assert (refused.error, refused.given, refused.known) == ("INVALID_UPDATE_VERSION", 0, 1)
    (write,) = lab.seen.of(ZooKeeperRefused, path=STATE)
    assert (write.operation, write.error, write.expected) == ("setData", "BadVersionError", 0)


def test_the_loser_of_a_race_for_controller_is_told_that_the_znode_exists() -> None:
    lab = Lab("3.9", brokers=3)
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(100)
    lost = lab.seen.of(ZooKeeperRefused, path="/controller")
    holder = lab.cluster.controller_id()
    assert holder not in {each.broker for each in lost}
    assert {(each.operation, each.error) for each in lost} == {("create", "NodeExistsError")}


def test_a_request_of_an_older_controller_is_refused_with_both_epochs() -> None:
    lab = Lab("3.9", brokers=2)
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(100)
    lab.cluster.network.send(0, 1, UpdateMetadataRequest(0, 1, 0, [0, 1], {}))
    lab.wait(10)
    refused = lab.seen.of(RequestRefused, broker=1, error="STALE_CONTROLLER_EPOCH")[-1]
    assert (refused.given, refused.known) == (1, 2)


@pytest.mark.parametrize(("leader_epoch", "error"), [(0, "STALE_CONTROLLER_EPOCH"), (1, "")])
def test_a_leader_epoch_that_is_not_newer_is_refused_with_both_epochs(
    leader_epoch: int, error: str
) -> None:
    """ReplicaManager.becomeLeaderOrFollower reports it by the error of an old controller."""
    lab = Lab("3.9", brokers=3, stepwise=True)
    lab.topic(1, 2)
    epoch = lab.cluster.brokers[2].state.broker_epoch
    told = PartitionInfo(2, leader_epoch, [2], 1, [1, 2], 1)
    lab.cluster.network.send(0, 2, LeaderAndIsrRequest(0, 1, epoch, {TP: told}, [0, 1, 2]))
    lab.wait(10)
    refused = [(e.error, e.given, e.known) for e in lab.seen.of(RequestRefused, broker=2, tp=TP)]
    assert refused == ([(error, 0, 0)] if error else [])
    assert lab.replica(2).role == ("follower" if error else "leader")


def test_an_election_names_its_candidates_and_what_spoke_against_them() -> None:
    lab = Lab("3.9", brokers=4)
    lab.topic(3, 1, 2)
    lab.do(CrashBroker(broker=3))
    lab.wait(25_000)
    held = lab.seen.of(ElectionHeld, tp=TP)[-1]
    assert (held.strategy, held.leader, held.live) == ("Offline", 1, [0, 1, 2])
    assert held.candidates == [(3, "not alive"), (1, "elected"), (2, "not asked")]


def test_an_election_that_found_nobody_says_why_each_was_passed_over() -> None:
    lab = Lab("3.9", brokers=3, config={"unclean.leader.election.enable": "false"})
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=2))
    lab.wait(25_000)
    lab.do(CrashBroker(broker=1))
    lab.wait(25_000)
    held = lab.seen.of(ElectionHeld, tp=TP)[-1]
    assert (held.leader, held.isr) == (-1, [1])
    assert held.candidates == [(1, "not alive"), (2, "not alive")]


# ---- replies that are lost


def test_a_leader_whose_isr_write_was_carried_out_unheard_finds_that_out() -> None:
    """ReplicationUtils.checkLeaderAndIsrZkData: the znode says what was to be written."""
    lab = Lab("2.5", brokers=3, config={"zookeeper.session.timeout.ms": "18000"})
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=2))
    lab.do(CutLink(source=ZOOKEEPER, destination=1, one_way=True))
    leader = lab.replica(1)
    written = lab.cluster.zookeeper.get(STATE).version
    manager = zookeeper_membership(lab.cluster, 1).zk_isr
    assert manager is not None
    manager.propose(leader, ProposeIsr([1], SHRINK, 2))
    assert lab.cluster.zookeeper.get(STATE).version == written + 1
    assert leader.isr == [1, 2]
    lab.do(HealLinks())
    lab.wait(150)
    assert lab.cluster.zookeeper.get(STATE).version == written + 1
    assert (leader.isr, leader.zk_version) == ([1], written + 1)
    assert lab.seen.of(IsrChanged, broker=1)[-1].isr == [1]


# ---- administrators ask by messages


def test_a_frozen_controller_does_not_elect() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    lab.do(FreezeBroker(broker=0))
    ticket = lab.submit(ElectUnclean(tp=TP))
    lab.wait(5_000)
    assert not ticket.done
    lab.wait(60_000)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "ELECTION_NOT_NEEDED"  # by the next controller


def test_a_response_takes_as_long_as_messages_take() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    before_us = lab.cluster.now_us
    assert lab.do(CancelReassignment(tp=TP)).error == "NO_REASSIGNMENT_IN_PROGRESS"
    assert 10_000 < lab.cluster.now_us - before_us < 100_000


def test_without_a_controller_the_call_is_given_up_after_60_s() -> None:
    """AdminClient: default.api.timeout.ms; a wrong controller's refusal is tried again."""
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    lab.do(ZkCommand(command="set", path="/controller", data="nobody"))
    lab.do(Wait(duration_us=10_000))
    before_us = lab.cluster.now_us
    outcome = lab.do(ElectUnclean(tp=TP))
    assert (outcome.error, outcome.refused) == ("REQUEST_TIMED_OUT", True)
    assert lab.cluster.now_us - before_us == 60_000_000
