"""Deleting topics: at once where everybody lives, later where somebody is down."""

import pytest

from emulator.events import LogDeleted, TopicDeleted, ZnodeDeleted
from emulator.inputs.statements import (
    AddPartitions,
    CrashBroker,
    CreateTopic,
    DeleteTopic,
    ElectPreferred,
    PauseReplica,
    Reassign,
    ResumeReplica,
    StartBroker,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from emulator.zookeeper.data import DELETE_TOPICS, topic_in
from tests.support.generations import since
from tests.support.lab import TP, Lab

CONFIG = {"delete.topic.enable": "true"}


def with_a_topic(version: str = "3.9") -> Lab:
    lab = Lab(version, brokers=4, config=CONFIG)
    lab.topic(1, 2)
    lab.produce(*"abc")
    lab.wait(600)
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_with_every_replica_alive_a_topic_goes_at_once(version: str) -> None:
    lab = with_a_topic(version)
    assert lab.do(DeleteTopic(topic="t")).error == "NONE"
    lab.wait(100)
    zookeeper = lab.cluster.zookeeper
    paths = ("/brokers/topics/t", "/config/topics/t", f"{DELETE_TOPICS}/t")
    assert [zookeeper.find(path) for path in paths] == [None] * 3
    assert sorted(each.broker for each in lab.seen.of(LogDeleted)) == [1, 2]
    assert [each.topic for each in lab.seen.of(TopicDeleted)] == ["t"]
    assert lab.cluster.partitions() == []


def test_the_marker_goes_last() -> None:
    lab = with_a_topic()
    lab.do(DeleteTopic(topic="t"))
    lab.wait(100)
    gone = [each.path for each in lab.seen.of(ZnodeDeleted)]
    kept = ("/brokers/topics/t", "/config/topics/t", f"{DELETE_TOPICS}/t")
    assert [path for path in gone if path in kept] == list(kept)


def test_a_topic_of_the_same_name_starts_anew() -> None:
    lab = with_a_topic()
    lab.do(DeleteTopic(topic="t"))
    lab.wait(100)
    lab.topic(2, 1)
    assert lab.state() == "leader 2 e0 isr [2, 1] v0"
    assert lab.ends(2, 1) == "0/0 0/0"


def test_a_marker_for_no_topic_is_taken_away() -> None:
    lab = with_a_topic()
    lab.do(ZkCommand(command="create", path=f"{DELETE_TOPICS}/nope"))
    lab.wait(50)
    assert lab.cluster.zookeeper.children(DELETE_TOPICS) == []


def test_where_deletion_is_disabled_the_marker_goes_and_the_topic_stays() -> None:
    lab = Lab("3.9", config={"delete.topic.enable": "false"})
    lab.topic(0, 1)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(50)
    assert lab.cluster.zookeeper.children(DELETE_TOPICS) == []
    assert lab.state() == "leader 0 e0 isr [0, 1] v0"


def waiting_for_2() -> Lab:
    lab = with_a_topic()
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(500)
    return lab


def test_a_dead_replica_holds_the_znodes_but_not_the_other_logs() -> None:
    lab = waiting_for_2()
    assert lab.state() == "leader -1 e2 isr [1] v2"
    assert lab.cluster.replica(TP, 1) is None
    assert lab.cluster.replica(TP, 2) is not None
    assert lab.cluster.zookeeper.children(DELETE_TOPICS) == ["t"]


def test_brokers_forget_a_partition_that_is_going() -> None:
    lab = waiting_for_2()
    assert [TP in lab.cluster.brokers[b].state.process.metadata for b in (0, 1, 3)] == [False] * 3


def test_a_new_controller_goes_on_with_the_deletion() -> None:
    lab = waiting_for_2()
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(500)
    lab.do(StartBroker(broker=2))
    lab.wait(1000)
    assert lab.cluster.zookeeper.find("/brokers/topics/t") is None
    assert lab.cluster.replica(TP, 2) is None


def test_a_topic_that_is_going_gets_no_new_leader() -> None:
    lab = waiting_for_2()
    lab.do(CrashBroker(broker=3))
    lab.wait(21_000)
    assert lab.state() == "leader -1 e2 isr [1] v2"


def test_a_reassignment_in_progress_does_not_keep_a_deletion_from_starting() -> None:
    lab = with_a_topic()
    lab.do(Reassign(tp=TP, replicas=[1, 3]))
    lab.wait(1)
    lab.do(PauseReplica(tp=TP, broker=3))
    lab.do(DeleteTopic(topic="t"))
    lab.wait(500)
    assert [lab.cluster.replica(TP, broker) for broker in (1, 2, 3)] == [None] * 3
    assert lab.cluster.zookeeper.find("/brokers/topics/t") is None
    assert lab.cluster.zookeeper.find("/admin/reassign_partitions") is not None


def halted_by_a_reassignment(version: str = "3.9") -> Lab:
    """A topic whose deletion a new controller halts: a replica of it is still being moved."""
    lab = with_a_topic(version)
    lab.do(Reassign(tp=TP, replicas=[1, 3]))
    lab.wait(1)
    lab.do(PauseReplica(tp=TP, broker=3))
    lab.do(CrashBroker(broker=0))
    lab.do(DeleteTopic(topic="t"))
    lab.wait(21_000)
    return lab


def test_a_new_controller_halts_a_deletion_for_a_reassignment_in_progress() -> None:
    lab = halted_by_a_reassignment()
    assert lab.cluster.replica(TP, 1) is not None


@pytest.mark.parametrize("version", ["0.10.0", "0.10.2", "3.9"])
def test_nobody_can_fetch_a_topic_whose_deletion_is_halted(version: str) -> None:
    lab = halted_by_a_reassignment(version)
    lab.do(ResumeReplica(tp=TP, broker=3))
    lab.wait(5000)
    # Up to 0.10.0 broker 3 catches up, so the reassignment is complete and deletion goes on.
    is_deleted = lab.cluster.zookeeper.find("/brokers/topics/t") is None
    assert is_deleted == (not lab.cluster.profile.has("requests_need_metadata"))


def test_other_topics_go_on() -> None:
    lab = waiting_for_2()
    lab.do(CreateTopic(topic="u", assignment=[[1, 3]]))
    lab.wait(100)
    assert lab.state("u-0") == "leader 1 e0 isr [1, 3] v0"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_dead_last_member_of_the_isr_costs_an_epoch_from_2_4(version: str) -> None:
    """Once the live replicas are gone, the dead ones are taken offline once more."""
    lab = Lab(version, brokers=4, config=CONFIG | {"unclean.leader.election.enable": "false"})
    topic = CreateTopic(topic="t", assignment=[[3], [1, 3]])
    lab.do(topic)
    lab.wait(600)
    lab.do(CrashBroker(broker=3))
    lab.wait(20_000)
    before = lab.cluster.state_of(TP)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(2_000)
    after = lab.cluster.state_of(TP)
    assert before is not None
    assert after is not None
    assert after.leader_epoch == before.leader_epoch + (version in since("2.4"))
    assert after.isr == before.isr == [3]


@pytest.mark.parametrize("version", ["0.8.2", "1.1", "2.4", "3.9"])
def test_a_new_controller_does_not_begin_while_a_replica_is_dead(version: str) -> None:
    """It lets the live ones follow once more, and clients still do not hear of them."""
    lab = with_a_topic(version)
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(500)
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(5_000)
    made_anew = lab.cluster.replica(TP, 1)
    assert made_anew is not None
    assert made_anew.log_end == 0
    assert TP not in lab.cluster.brokers[3].state.process.metadata
    lab.do(StartBroker(broker=2))
    lab.wait(2_000)
    assert lab.cluster.zookeeper.find("/brokers/topics/t") is None
    assert lab.cluster.replica(TP, 1) is None


@pytest.mark.parametrize(("version", "left"), [("1.1", 1), ("2.4", 1), ("2.5", 2), ("3.9", 2)])
def test_brokers_leave_an_isr_in_the_order_of_a_hash_map_up_to_2_4(version: str, left: int) -> None:
    lab = Lab(version, brokers=4, config=CONFIG)
    lab.topic(1, 2, 3)
    lab.do(CrashBroker(broker=3))
    lab.wait(21_000)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(100)
    assert lab.state().endswith(f" isr [{left}] v3")


@pytest.mark.parametrize(("version", "left"), [("1.1", 3), ("2.0.0", 1), ("3.9", 1)])
def test_a_topic_that_is_going_gets_no_new_partitions(version: str, left: int) -> None:
    lab = with_a_topic(version)
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(500)
    lab.do(AddPartitions(topic="t", partitions=3))
    lab.wait(500)
    found = topic_in(lab.cluster.zookeeper.get("/brokers/topics/t").data)
    assert found is not None
    assert list(found.replicas) == list(range(left))
    assert lab.cluster.zookeeper.children("/brokers/topics/t/partitions") == ["0"]


@pytest.mark.parametrize("version", ["0.11", "1.1", "3.9"])
def test_a_topic_that_is_going_gets_no_preferred_leader(version: str) -> None:
    lab = with_a_topic(version)
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(500)
    lab.do(ElectPreferred(partitions=[TP]))
    lab.wait(100)
    assert lab.state() == "leader -1 e2 isr [1] v2"
    assert lab.cluster.zookeeper.find("/admin/preferred_replica_election") is None


@pytest.mark.parametrize(("version", "goes"), [("0.10.2", False), ("1.1", False), ("2.0.0", True)])
def test_a_partition_that_was_never_led_kept_its_topic_from_going(version: str, goes: bool) -> None:
    lab = Lab(version, brokers=4, config=CONFIG)
    lab.do(CrashBroker(broker=3))
    lab.wait(21_000)
    lab.do(CreateTopic(topic="t", assignment=[[1, 2], [3]]))
    lab.wait(500)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(500)
    lab.do(StartBroker(broker=3))
    lab.wait(3000)
    assert (lab.cluster.zookeeper.find("/brokers/topics/t") is None) is goes
