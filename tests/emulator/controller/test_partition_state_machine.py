"""The controller's decisions on partitions, and that only the true controller writes them."""

import json

import pytest

from emulator.controller.channels import Batch
from emulator.controller.context import NEW, OFFLINE, ONLINE, ControllerMovedError
from emulator.controller.controller import Controller
from emulator.events import ElectionFailed, LeaderElected, ZooKeeperRefused
from emulator.inputs.statements import CrashBroker, CreateTopic, ZkCommand
from emulator.releases.profiles import VERSIONS
from emulator.zookeeper.errors import BadVersionError
from tests.support.generations import since
from tests.support.lab import Lab
from tests.support.memberships import zookeeper_membership

STATE = "/brokers/topics/t/partitions/0/state"
FENCED = since("2.1")
"""Every write of a controller checks that it still is one."""


def led_by_1(version: str = "3.9") -> tuple[Lab, Controller]:
    """t-0 on 1 and 2, led by 1; 0 is controller."""
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(1, 2)
    return lab, zookeeper_membership(lab.cluster, 0).controller


def outsider_writes(lab: Lab, **fields: object) -> None:
    """Somebody changes the state znode behind the controller's back."""
    found = json.loads(lab.cluster.zookeeper.get(STATE).data or "")
    data = json.dumps({**found, **fields})
    lab.do(ZkCommand(command="set", path=STATE, data=data))


def test_a_new_partition_gets_its_znodes_and_its_leader() -> None:
    lab, controller = led_by_1()
    zookeeper = lab.cluster.zookeeper
    assert zookeeper.children("/brokers/topics/t") == ["partitions"]
    assert zookeeper.get(STATE).version == 0
    assert controller.context.state.partitions == {"t-0": ONLINE}
    assert lab.seen.of(LeaderElected)[0].strategy == "New"


def test_a_new_partition_without_a_live_replica_stays_new() -> None:
    lab, controller = led_by_1()
    lab.do(CrashBroker(broker=3))
    lab.wait(21_000)
    lab.do(CreateTopic(topic="u", assignment=[[3]]))
    lab.wait(10)
    assert controller.context.state.partitions["u-0"] == NEW
    assert lab.seen.of(ElectionFailed, tp="u-0")[-1].strategy == "New"


def test_a_partition_that_another_controller_made_is_taken_as_it_is() -> None:
    lab, controller = led_by_1()
    before = lab.state()
    controller.context.state.infos.pop("t-0")
    controller.context.state.partitions.pop("t-0")
    controller.partitions.create(["t-0"])
    assert lab.state() == before
    assert controller.context.state.partitions["t-0"] == ONLINE
    assert controller.context.state.infos["t-0"].leader == 1


def test_every_write_raises_epoch_and_version() -> None:
    lab, controller = led_by_1()
    info = controller.context.write("t-0", 2, [1, 2])
    assert (info.leader_epoch, info.zk_version) == (1, 1)
    assert lab.state() == "leader 2 e1 isr [1, 2] v1"


def test_an_isr_that_a_leader_asked_for_raises_the_version_only() -> None:
    lab, controller = led_by_1()
    controller.context.write("t-0", 1, [1], bump=False)
    assert lab.state() == "leader 1 e0 isr [1] v1"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_write_under_an_old_version_changes_nothing_but_the_cache(version: str) -> None:
    lab, controller = led_by_1(version)
    outsider_writes(lab, isr=[1])
    with pytest.raises(BadVersionError):
        controller.context.write("t-0", 1, [1, 2])
    assert lab.state() == "leader 1 e0 isr [1] v1"
    known = controller.context.state.infos["t-0"]
    assert (known.isr, known.zk_version) == ([1], 1)
    (refused,) = lab.seen.of(ZooKeeperRefused, path=STATE)
    assert (refused.error, refused.expected, refused.actual) == ("BadVersionError", 0, 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_v21_a_state_of_a_newer_controller_is_left_alone(version: str) -> None:
    """From 2.1 it ends the office at once; before, only that partition is not decided on."""
    lab, controller = led_by_1(version)
    outsider_writes(lab, controller_epoch=2)
    if version in FENCED:
        with pytest.raises(ControllerMovedError):
            controller.context.refresh("t-0")
    else:
        assert controller.context.refresh("t-0") is None
    with pytest.raises(ControllerMovedError):
        controller.context.write("t-0", 2, [1, 2])
    assert lab.state() == "leader 1 e0 isr [1, 2] v1"


@pytest.mark.parametrize("version", VERSIONS)
def test_v21_a_zombie_writes_what_nobody_else_has_written_only_up_to_2_0(version: str) -> None:
    lab, controller = led_by_1(version)
    lab.do(ZkCommand(command="set", path="/controller_epoch", data="2"))
    if version in FENCED:
        with pytest.raises(ControllerMovedError):
            controller.context.write("t-0", 2, [1, 2])
        assert lab.state() == "leader 1 e0 isr [1, 2] v0"
    else:
        controller.context.write("t-0", 2, [1, 2])
        assert lab.state() == "leader 2 e1 isr [1, 2] v1"


def test_a_state_that_cannot_be_read_counts_as_none() -> None:
    lab, controller = led_by_1()
    lab.do(ZkCommand(command="set", path=STATE, data="no json"))
    assert controller.context.read("t-0") is None
    assert controller.context.read("nope-0") is None


@pytest.mark.parametrize("version", VERSIONS)
def test_a_replica_outside_the_isr_goes_offline_without_a_new_epoch(version: str) -> None:
    lab, controller = led_by_1(version)
    outsider_writes(lab, isr=[1])
    controller.replicas.go_offline("t-0", 2, Batch())
    assert lab.state() == "leader 1 e0 isr [1] v1"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_last_member_stays_in_the_isr(version: str) -> None:
    lab, controller = led_by_1(version)
    outsider_writes(lab, isr=[1])
    batch = Batch()
    controller.replicas.go_offline("t-0", 1, batch)
    empties = version in since("0.8.1", "0.10.2")
    assert lab.state() == f"leader -1 e1 isr {[] if empties else [1]} v2"
    assert controller.context.state.partitions["t-0"] == OFFLINE
    assert list(batch.leader_and_isr) == [2]


def test_what_is_hosted_by_brokers_is_found_by_assignment() -> None:
    lab, controller = led_by_1()
    lab.do(CreateTopic(topic="u", assignment=[[3], [2, 3]]))
    lab.wait(10)
    assert controller.context.hosted([1]) == ["t-0"]
    assert controller.context.hosted([3]) == ["u-0", "u-1"]
    assert controller.context.hosted([0]) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_preferred_election_of_what_is_led_already_bumps_only_in_1_1_to_2_1(
    version: str,
) -> None:
    lab, controller = led_by_1(version)
    controller.leader_rebalance.elect_preferred(["t-0"])
    bumps = version in since("1.1", "2.1")
    assert lab.state() == ("leader 1 e1 isr [1, 2] v1" if bumps else "leader 1 e0 isr [1, 2] v0")
