"""What the controller decides: elections, shutdowns, moves, deletions, and who may write."""

import json

import pytest

from emulator.events import ControllerResigned, LeaderElected, MessageSent
from emulator.inputs.statements import (
    ConfigureTopic,
    CrashBroker,
    CreateTopic,
    DeleteTopic,
    ElectPreferred,
    ExpireSession,
    FreezeBroker,
    Produce,
    Reassign,
    StartBroker,
    StopBroker,
    ThawBroker,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from tests.support.generations import ASSIGNED_AT_ELECTION, BY_HIGH_WATERMARK, WITH_EPOCHS, since
from tests.support.lab import Lab

EXPIRY_MS = 21_000
UNCLEAN = {"unclean.leader.election.enable": "true"}
CLEAN = {"unclean.leader.election.enable": "false"}
NO_REBALANCE = {"auto.leader.rebalance.enable": "false"}


def crash(lab: Lab, broker: int) -> None:
    lab.do(CrashBroker(broker=broker))
    lab.wait(EXPIRY_MS)


def start(lab: Lab, broker: int) -> None:
    lab.do(StartBroker(broker=broker))
    lab.wait(3000)


def isr_of(lab: Lab, tp: str = "t-0") -> str:
    """The state without the order of the ISR, which chance decides."""
    info = lab.cluster.state_of(tp)
    assert info is not None
    return f"leader {info.leader} e{info.leader_epoch} isr {sorted(info.isr)} v{info.zk_version}"


# ---- the last replica, and unclean elections


def only_the_dead_leader_has_it(version: str, config: dict[str, str]) -> Lab:
    """a is on both, b and c only on 1, which is dead; 2 has returned. 0 is the controller."""
    lab = Lab(version, brokers=3, config=NO_REBALANCE)
    lab.topic(1, 2, config=config)
    lab.produce("a", acks=-1)
    lab.wait(6000)
    crash(lab, 2)
    assert lab.state() == "leader 1 e1 isr [1] v1"
    lab.produce("b", "c", acks=-1)
    assert lab.ends(1) == "3/3"
    lab.wait(6000)
    crash(lab, 1)
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_v16_without_unclean_election_the_last_replica_is_waited_for(version: str) -> None:
    lab = only_the_dead_leader_has_it(version, CLEAN)
    assert lab.state() == "leader -1 e2 isr [1] v2"
    start(lab, 2)
    assert lab.state() == "leader -1 e2 isr [1] v2"
    (outcome,) = lab.produce("x", producer="p2")
    assert outcome.error == "LEADER_NOT_AVAILABLE"
    start(lab, 1)
    assert isr_of(lab).startswith("leader 1 e3 isr [1, 2]")
    assert [lab.values(broker) for broker in (1, 2)] == ["a b c"] * 2
    assert lab.cluster.audit.count("lost") == 0


@pytest.mark.parametrize("version", ["documents", *BY_HIGH_WATERMARK, *WITH_EPOCHS])
def test_v16_an_unclean_election_loses_what_only_the_dead_leader_had(version: str) -> None:
    lab = only_the_dead_leader_has_it(version, UNCLEAN)
    empties = version in since("0.8.1", "0.11")
    assert lab.state() == f"leader -1 e2 isr {[] if empties else [1]} v2"
    start(lab, 2)
    assert lab.state() == "leader 2 e3 isr [2] v3"
    assert lab.ends(2) == "1/1"
    lab.produce("z", producer="p2")
    assert lab.cluster.audit.count("lost") == 2
    start(lab, 1)
    assert lab.ends(1, 2) == "2/2 2/2"
    assert lab.values(2) == "a z"
    if version in WITH_EPOCHS:
        assert lab.values(1) == "a z"
        entries = [(0, 0), (3, 1)]
        assert [lab.epochs(broker) for broker in (1, 2)] == [entries] * 2
    else:
        assert lab.values(1) == "a b"
        assert lab.cluster.audit.count("diverged") == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_turning_unclean_election_on_elects_at_once_from_2_1(version: str) -> None:
    lab = only_the_dead_leader_has_it(version, CLEAN)
    start(lab, 2)
    lab.do(ConfigureTopic(topic="t", config=UNCLEAN))
    lab.wait(1000)
    elected = lab.state().startswith("leader 2")
    assert elected == (version in since("2.1"))
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(1000)
    assert lab.state().startswith("leader 2")


# ---- min.insync.replicas


def under_min_isr(version: str) -> Lab:
    """RF 3, min.insync 2: 3 is gone, 2 is frozen, so that
    the ISR is about to shrink to the leader alone. Broker 0 is the controller.
    """
    config = {
        **NO_REBALANCE,
        "replica.lag.time.max.ms": "8000",
        "zookeeper.session.timeout.ms": "20000",
    }
    lab = Lab(version, brokers=4, config=config)
    lab.topic(1, 2, 3, config={"min.insync.replicas": "2"})
    lab.produce("r", acks=-1, count=10)
    lab.wait(2000)
    assert lab.ends(1) == "10/10"
    lab.do(StopBroker(broker=3))
    lab.wait(100)
    assert lab.state() == "leader 1 e1 isr [1, 2] v1"
    assert lab.produce("p", acks=-1)[0].error == "NONE"
    lab.wait(1000)
    assert lab.ends(1) == "11/11"
    lab.do(FreezeBroker(broker=2))
    return lab


def held_by_min_isr(version: str) -> bool:
    """The HW does not move while the ISR is too small."""
    return version in since("3.9")


def not_rechecked(version: str) -> bool:
    """The HW is not looked at when an ISR change is answered."""
    return version in since("2.7", "2.8")


@pytest.mark.parametrize("version", since("0.8.2"))
def test_v17_a_record_admitted_before_the_isr_shrank_stays(version: str) -> None:
    lab = under_min_isr(version)
    (outcome,) = lab.produce("q", acks=-1, timeout_us=18_000_000)
    waits = held_by_min_isr(version) or not_rechecked(version)
    error = "REQUEST_TIMED_OUT" if waits else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    assert outcome.error == error
    assert lab.state() == "leader 1 e1 isr [1] v2"
    assert lab.ends(1) == ("12/11" if waits else "12/12")


@pytest.mark.parametrize("version", since("0.8.2"))
def test_v17_under_min_isr_acks_all_is_refused_and_acks_1_is_not(version: str) -> None:
    lab = under_min_isr(version)
    lab.produce("q", acks=-1, timeout_us=15_000_000)
    assert lab.state() == "leader 1 e1 isr [1] v2"
    (outcome,) = lab.produce("r", acks=-1)
    assert outcome.error == "NOT_ENOUGH_REPLICAS"
    assert lab.replica(1).log.end == 12
    (outcome,) = lab.produce("s", acks=1)
    assert outcome.error == "NONE"
    assert lab.ends(1) == ("13/11" if held_by_min_isr(version) else "13/13")


@pytest.mark.parametrize("version", since("0.8.2"))
def test_v17_when_a_member_returns_everything_is_committed(version: str) -> None:
    lab = under_min_isr(version)
    lab.produce("q", acks=-1, timeout_us=15_000_000)
    lab.do(ThawBroker(broker=2))
    lab.wait(4000)
    assert isr_of(lab).split(" v")[0].endswith("isr [1, 2]")
    leader = lab.cluster.state_of("t-0")
    assert leader is not None
    assert lab.ends(leader.leader) == "12/12"


# ---- creation


@pytest.mark.parametrize("version", VERSIONS)
def test_v36_a_dead_preferred_replica_is_neither_leader_nor_in_the_isr(version: str) -> None:
    lab = Lab(version, brokers=4)
    crash(lab, 3)
    lab.topic(3, 1, 2)
    assert lab.state() == "leader 1 e0 isr [1, 2] v0"


@pytest.mark.parametrize("version", VERSIONS)
def test_v36_without_a_live_replica_there_is_no_state_until_one_appears(version: str) -> None:
    lab = Lab(version, brokers=4)
    crash(lab, 2)
    crash(lab, 3)
    lab.topic(3, 2)
    assert lab.state() == "nonexistent"
    (outcome,) = lab.produce("x")
    assert outcome.error in ("LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION")
    start(lab, 2)
    assert lab.state() == "leader 2 e0 isr [2] v0"


# ---- controlled shutdown, and the way back


def four_kinds(version: str) -> Lab:
    """p [1,2,3], q [2,1,3], r [1], s [1,2] with ISR [1]; broker 1 is to go, 0 is controller."""
    handing_over = {"controlled.shutdown.enable": "true"}  # which is not the default of 0.8.1
    lab = Lab(version, brokers=4, config=NO_REBALANCE | handing_over)
    for topic, replicas in {"p": [1, 2, 3], "q": [2, 1, 3], "r": [1], "s": [1, 2]}.items():
        lab.do(CreateTopic(topic=topic, assignment=[replicas]))
    lab.wait(2000)
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_v25_a_controlled_shutdown_moves_leaders_and_leaves_isrs(version: str) -> None:
    lab = four_kinds(version)
    assert lab.do(StopBroker(broker=1)).error == "NONE"
    lab.wait(1000)
    assert lab.state("p-0") == "leader 2 e1 isr [2, 3] v1"
    assert lab.state("q-0") == "leader 2 e1 isr [2, 3] v1"
    assert lab.state("s-0") == "leader 2 e1 isr [2] v1"
    empties = version in since("0.8.1", "0.10.2")
    assert lab.state("r-0") == f"leader -1 e1 isr {[] if empties else [1]} v1"


@pytest.mark.parametrize("version", VERSIONS)
def test_v25_a_broker_that_leads_what_nobody_can_take_goes_after_three_tries(version: str) -> None:
    lab = four_kinds(version)
    crash(lab, 2)
    before_us = lab.cluster.now_us
    lab.do(StopBroker(broker=1))
    lab.wait(1000)
    tries = lab.seen.of(MessageSent, name="ControlledShutdownRequest", source=1)
    assert [round((each.time_us - before_us) / 1_000_000) for each in tries] == [0, 5, 10]
    empties = version in since("0.8.1", "0.10.2")
    assert lab.state("s-0") == f"leader -1 e2 isr {[] if empties else [1]} v2"


@pytest.mark.parametrize("version", VERSIONS)
def test_v26_a_broker_that_returned_leads_again_only_by_a_preferred_election(version: str) -> None:
    lab = four_kinds(version)
    lab.do(StopBroker(broker=1))
    start(lab, 1)
    assert lab.state("p-0") == "leader 2 e1 isr [2, 3, 1] v2"
    lab.do(ElectPreferred(partitions=["p-0"]))
    lab.wait(100)
    assert lab.state("p-0") == "leader 1 e2 isr [2, 3, 1] v3"
    assert lab.seen.of(LeaderElected, tp="p-0")[-1].strategy == "Preferred"
    assert lab.cluster.zookeeper.find("/admin/preferred_replica_election") is None


@pytest.mark.parametrize("version", VERSIONS)
def test_v26_the_automatic_rebalance_elects_the_preferred_replica(version: str) -> None:
    config = {
        "auto.leader.rebalance.enable": "true",  # which is not the default of 0.8.1
        "leader.imbalance.check.interval.seconds": "10",
    }
    lab = Lab(version, brokers=3, config=config)
    lab.topic(1, 2)
    lab.do(StopBroker(broker=1))
    start(lab, 1)
    lab.wait(12_000)
    assert isr_of(lab) == "leader 1 e2 isr [1, 2] v3"


# ---- reassignment and deletion


@pytest.mark.parametrize("version", VERSIONS)
def test_v27_a_reassignment_ends_with_the_new_replicas_in_sync_and_the_old_logs_gone(
    version: str,
) -> None:
    lab = Lab(version, brokers=7, config=NO_REBALANCE)
    lab.topic(1, 2, 3)
    lab.produce(*"abc")
    lab.do(Reassign(tp="t-0", replicas=[4, 5, 6]))
    lab.wait(8000)
    info = lab.cluster.state_of("t-0")
    assert info is not None
    assert info.leader == 4
    assert sorted(info.isr) == [4, 5, 6]
    assert lab.cluster.assigned("t-0") == [4, 5, 6]
    assert [lab.cluster.replica("t-0", broker) for broker in (1, 2, 3)] == [None] * 3
    assert [lab.values(broker) for broker in (4, 5, 6)] == ["a b c"] * 3
    assert lab.cluster.zookeeper.find("/admin/reassign_partitions") is None


@pytest.mark.parametrize("version", since("1.1"))
def test_v28_a_topic_with_a_dead_replica_waits_for_it_to_be_deleted(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(1, 2)
    lab.produce("a")
    crash(lab, 2)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(1000)
    assert lab.cluster.zookeeper.find("/admin/delete_topics/t") is not None
    assert lab.cluster.zookeeper.find("/brokers/topics/t") is not None
    assert lab.cluster.replica("t-0", 1) is None
    (outcome,) = lab.produce("b", producer="p2")
    assert outcome.error == "UNKNOWN_TOPIC_OR_PARTITION"
    start(lab, 2)
    assert lab.cluster.zookeeper.find("/admin/delete_topics/t") is None
    assert lab.cluster.zookeeper.find("/brokers/topics/t") is None
    assert lab.cluster.replica("t-0", 2) is None


# ---- who is controller, and who only believes so


@pytest.mark.parametrize("version", VERSIONS)
def test_v21_a_frozen_controller_is_replaced_and_resigns_when_it_wakes(version: str) -> None:
    lab = Lab(version, brokers=3, config=NO_REBALANCE)
    lab.topic(1, 2)
    lab.do(FreezeBroker(broker=0))
    lab.wait(EXPIRY_MS)
    assert lab.cluster.controller_id() != 0
    assert lab.cluster.controller_epoch() == 2
    lab.do(ThawBroker(broker=0))
    lab.wait(2000)
    assert [each.broker for each in lab.seen.of(ControllerResigned)] == [0]
    assert lab.cluster.controller_cache(0) is None


@pytest.mark.parametrize("version", since("2.2"))
def test_v38_a_session_that_expired_costs_the_broker_its_leaderships_only(version: str) -> None:
    lab = Lab(version, brokers=3, config=NO_REBALANCE)
    lab.topic(1, 2)
    before = lab.cluster.brokers[1].state.broker_epoch
    lab.do(ExpireSession(broker=1))
    lab.wait(10_000)
    assert lab.cluster.brokers[1].state.broker_epoch > before
    assert isr_of(lab).startswith("leader 2 e1 isr [1, 2]")


@pytest.mark.parametrize("version", since("0.8.2"))
def test_v38_a_leader_without_zookeeper_writes_on_until_it_is_told(version: str) -> None:
    lab = Lab(version, brokers=3, config=NO_REBALANCE)
    lab.topic(1, 2)
    lab.produce("a", acks=-1)
    lab.do(FreezeBroker(broker=1))
    lab.wait(EXPIRY_MS)
    assert lab.state().startswith("leader 2 e1")
    lab.submit(Produce(topic="t", partition=0, value="zombie", acks=1, retries=0))
    lab.do(ThawBroker(broker=1))
    lab.wait(10_000)
    assert isr_of(lab).startswith("leader 2 e1 isr [1, 2]")
    assert lab.values(1) == lab.values(2)


# ---- epochs and versions


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_v30_bounces_show_when_an_epoch_enters_the_cache(version: str) -> None:
    lab = Lab(version, brokers=3, config=NO_REBALANCE)
    lab.topic(1, 2)
    lab.produce("a", acks=-1)
    lab.wait(1000)
    lab.do(StopBroker(broker=2))
    start(lab, 2)
    at_election = version in ASSIGNED_AT_ELECTION
    assert lab.epochs(1) == ([(0, 0), (1, 1)] if at_election else [(0, 0)])
    assert lab.epochs(2) == [(0, 0)]
    lab.produce("b", acks=-1)
    lab.wait(1000)
    assert [lab.epochs(broker) for broker in (1, 2)] == [[(0, 0), (1, 1)]] * 2
    lab.do(StopBroker(broker=1))
    start(lab, 1)
    both = [(0, 0), (1, 1)]
    assert lab.epochs(2) == ([*both, (2, 2)] if at_election else both)
    lab.produce("c", acks=-1, producer="p2")
    lab.wait(1000)
    assert [lab.epochs(broker) for broker in (1, 2)] == [[*both, (2, 2)]] * 2


@pytest.mark.parametrize("version", VERSIONS)
def test_v39_znode_versions_count_the_controllers_bumps_and_the_leaders_writes(
    version: str,
) -> None:
    lab = Lab(version, brokers=2, config=NO_REBALANCE)
    zookeeper = lab.cluster.zookeeper
    multi = version in since("2.1")
    epoch = zookeeper.get("/controller_epoch")
    assert (epoch.data, epoch.version) == ("1", 1 if multi else 0)
    set_at_once = version in ("documents", *since("2.2"))
    assert zookeeper.get("/brokers/ids/0").version == (1 if set_at_once else 0)
    assert zookeeper.get("/controller").version == 0
    lab.topic(0, 1)
    state = zookeeper.get("/brokers/topics/t/partitions/0/state")
    assert json.loads(state.data or "") == {
        **{"controller_epoch": 1, "leader": 0, "version": 1, "leader_epoch": 0, "isr": [0, 1]}
    }
    crash(lab, 1)
    assert lab.state() == "leader 0 e1 isr [0] v1"
    start(lab, 1)
    assert lab.state() == "leader 0 e1 isr [0, 1] v2"
    crash(lab, 0)
    epoch = zookeeper.get("/controller_epoch")
    assert (epoch.data, epoch.version) == ("2", 2 if multi else 1)
    twice = version in since("2.4")
    assert lab.state() == ("leader 1 e3 isr [1] v4" if twice else "leader 1 e2 isr [1] v3")
    state = zookeeper.get("/brokers/topics/t/partitions/0/state")
    assert json.loads(state.data or "")["controller_epoch"] == 2
