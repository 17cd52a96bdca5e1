"""What an active controller makes of topic, configuration and admin znodes."""

import json

import pytest

from emulator.controller.context import ControllerContext
from emulator.events import LeaderElected, MessageSent
from emulator.inputs.statements import (
    AddPartitions,
    ConfigureTopic,
    CrashBroker,
    CreateTopic,
    CutLink,
    ElectPreferred,
    HealLinks,
    StartBroker,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from emulator.zookeeper.data import topic_id_in, topic_in
from tests.support.generations import since
from tests.support.lab import Lab
from tests.support.memberships import zookeeper_membership

PREFERRED = "/admin/preferred_replica_election"


def context_of(lab: Lab) -> ControllerContext:
    return zookeeper_membership(lab.cluster, 0).controller.context


def create(lab: Lab, path: str, data: object) -> None:
    """An outsider creates a znode, and the controller has had time to react."""
    text = data if isinstance(data, str) else json.dumps(data)
    lab.do(ZkCommand(command="create", path=path, data=text))
    lab.wait(10)


def test_a_topic_that_somebody_writes_by_hand_gets_leaders() -> None:
    lab = Lab("3.9", brokers=3)
    create(lab, "/brokers/topics/hand", {"version": 1, "partitions": {"0": [1], "1": [2, 1]}})
    assert lab.state("hand-0") == "leader 1 e0 isr [1] v0"
    assert lab.state("hand-1") == "leader 2 e0 isr [2, 1] v0"


def test_a_topic_that_cannot_be_read_is_left_alone() -> None:
    lab = Lab("3.9")
    create(lab, "/brokers/topics/broken", "no json")
    assert lab.state("broken-0") == "nonexistent"
    lab.topic(0, 1)
    assert lab.state() == "leader 0 e0 isr [0, 1] v0"


def test_only_partitions_that_are_new_get_leaders_when_a_topic_grows() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    lab.do(AddPartitions(topic="t", partitions=3))
    lab.wait(10)
    assert [each.tp for each in lab.seen.of(LeaderElected)] == ["t-0", "t-1", "t-2"]
    assert lab.state() == "leader 1 e0 isr [1, 2] v0"


def test_a_topic_that_vanishes_is_forgotten() -> None:
    lab = Lab("3.9")
    lab.do(CreateTopic(topic="t", assignment=[[0], [1]]))
    lab.wait(10)
    for number in (0, 1):
        lab.do(ZkCommand(command="delete", path=f"/brokers/topics/t/partitions/{number}/state"))
        lab.do(ZkCommand(command="delete", path=f"/brokers/topics/t/partitions/{number}"))
    lab.do(ZkCommand(command="delete", path="/brokers/topics/t/partitions"))
    lab.do(ZkCommand(command="delete", path="/brokers/topics/t"))
    lab.wait(10)
    office = context_of(lab).state
    assert (office.topics, office.assignments, office.infos, office.partitions) == ({}, {}, {}, {})


def test_what_the_admin_znode_asks_for_is_done_and_the_znode_goes() -> None:
    lab = Lab("3.9", brokers=3, config={"auto.leader.rebalance.enable": "false"})
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=1))
    lab.wait(21_000)
    lab.do(StartBroker(broker=1))
    lab.wait(3000)
    create(lab, PREFERRED, {"version": 1, "partitions": [{"topic": "t", "partition": 0}]})
    assert lab.state().startswith("leader 1 e2")
    assert lab.cluster.zookeeper.find(PREFERRED) is None


@pytest.mark.parametrize("version", VERSIONS)
def test_up_to_2_1_a_preferred_election_of_what_is_not_there_is_never_over(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(1, 2)
    asked = [{"topic": "t", "partition": 0}, {"topic": "nowhere", "partition": 0}]
    create(lab, PREFERRED, {"version": 1, "partitions": asked})
    stays = version not in since("2.2")
    assert (lab.cluster.zookeeper.find(PREFERRED) is not None) == stays
    again = lab.do(ElectPreferred(partitions=["t-0"]))
    assert again.error == ("NodeExistsError" if stays else "NONE")
    lab.do(ZkCommand(command="delete", path="/controller"))
    lab.wait(3000)
    assert lab.cluster.zookeeper.find(PREFERRED) is None


def test_an_admin_znode_that_cannot_be_read_goes_too() -> None:
    lab = Lab("3.9")
    create(lab, PREFERRED, "no json")
    assert lab.cluster.zookeeper.find(PREFERRED) is None


@pytest.mark.parametrize("version", since("0.9", "2.5"))
def test_isr_changes_are_told_to_all_brokers_and_their_znodes_go(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(StartBroker(broker=2))
    lab.wait(15_000)
    assert lab.state() == "leader 1 e1 isr [1, 2] v2"
    assert lab.cluster.zookeeper.children("/isr_change_notification") == []
    told = [lab.cluster.brokers[b].state.process.metadata["t-0"].isr for b in (0, 1, 2)]
    assert told == [[1, 2]] * 3
    parent = lab.cluster.zookeeper.get("/isr_change_notification")
    assert parent.child_creates == 1


@pytest.mark.parametrize("version", since("2.7"))
def test_where_the_controller_writes_isrs_nobody_notifies_it(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=2))
    lab.wait(21_000)
    lab.do(StartBroker(broker=2))
    lab.wait(15_000)
    assert lab.state() == "leader 1 e1 isr [1, 2] v2"
    parent = lab.cluster.zookeeper.get("/isr_change_notification")
    assert parent.child_creates == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_change_of_configuration_is_heard_of_by_a_notification(version: str) -> None:
    lab = Lab(version)
    lab.topic(0, 1)
    lab.do(ConfigureTopic(topic="t", config={"min.insync.replicas": "2"}))
    lab.wait(10)
    assert lab.cluster.zookeeper.children("/config/changes") == ["config_change_0000000000"]
    assert sorted(lab.cluster.zookeeper.watches.children["/config/changes"]) == [0, 1]


def test_after_a_time_without_zookeeper_everything_is_looked_at_again() -> None:
    lab = Lab("3.9", brokers=3)
    lab.do(CutLink(source=0, destination=-1))
    lab.do(CreateTopic(topic="t", assignment=[[1, 2]]))
    lab.wait(2000)
    assert lab.state() == "nonexistent"
    lab.do(HealLinks())
    lab.wait(2000)
    assert lab.state() == "leader 1 e0 isr [1, 2] v0"


def test_a_watch_of_a_topic_is_set_anew_each_time() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1)
    for partitions in (2, 3):
        lab.do(AddPartitions(topic="t", partitions=partitions))
        lab.wait(10)
    assert lab.cluster.zookeeper.watches.data["/brokers/topics/t"] == (0,)
    assert lab.cluster.partitions() == ["t-0", "t-1", "t-2"]
    assert lab.seen.of(MessageSent, name="WatchEvent") != []


@pytest.mark.parametrize("version", ["0.10.2", "1.1", "2.8", "3.9"])
def test_a_broker_that_starts_leads_again_what_the_controller_remembers(version: str) -> None:
    lab = Lab(version, brokers=4)
    lab.topic(3, 2)
    lab.do(ZkCommand(command="delete", path="/brokers/topics/t/partitions/0/state"))
    lab.do(CrashBroker(broker=3))
    lab.wait(21_000)
    lab.do(StartBroker(broker=3))
    lab.wait(1000)
    assert lab.state() == "nonexistent"
    assert [each.error for each in lab.produce("a")] == ["NONE"]


@pytest.mark.parametrize("version", VERSIONS)
def test_from_2_8_a_topic_that_somebody_writes_by_hand_gets_an_id(version: str) -> None:
    lab = Lab(version, brokers=3)
    create(lab, "/brokers/topics/hand", {"version": 1, "partitions": {"0": [1, 2]}})
    node = lab.cluster.zookeeper.find("/brokers/topics/hand")
    assert node is not None
    found = topic_in(node.data)
    assert found is not None
    assert found.replicas == {0: [1, 2]}
    has_ids = lab.cluster.profile.has("topic_ids")
    assert bool(topic_id_in(node.data)) == has_ids
    assert node.version == int(has_ids)
    assert ('"version":3' in found.text) == has_ids
    assert lab.state("hand-0") == "leader 1 e0 isr [1, 2] v0"


def test_an_election_for_what_was_never_led_fails_as_a_whole_from_2_2() -> None:
    for version in ("2.1", "2.2", "3.9"):
        lab = Lab(version, brokers=4, config={"auto.leader.rebalance.enable": "false"})
        lab.do(CreateTopic(topic="a", assignment=[[1, 2]]))
        lab.wait(50)
        lab.do(CrashBroker(broker=3))
        lab.do(CrashBroker(broker=1))
        lab.wait(21_000)
        create(lab, "/brokers/topics/n", {"version": 1, "partitions": {"0": [3]}})
        lab.do(StartBroker(broker=1))
        lab.wait(3000)
        asked = [{"topic": "n", "partition": 0}, {"topic": "a", "partition": 0}]
        create(lab, PREFERRED, {"version": 1, "partitions": asked})
        lab.wait(50)
        assert lab.cluster.zookeeper.find(PREFERRED) is not None
        info = lab.cluster.state_of("a-0")
        assert info is not None
        assert info.leader == (1 if version == "2.1" else 2)
