"""V21: a controller that has slept through its session wakes with work in its queue."""

import pytest

from emulator.events import ControllerResigned, ElectionFailed
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    FreezeBroker,
    Reassign,
    ThawBroker,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from tests.support.generations import since
from tests.support.lab import Lab
from tests.support.memberships import zookeeper_membership

CONFIG = {
    "zookeeper.session.timeout.ms": "4000",
    "auto.leader.rebalance.enable": "false",
    "unclean.leader.election.enable": "false",
}
FENCED = since("2.1")


def with_a_zombie(version: str) -> Lab:
    """0 was controller; its successor has rewritten p, but not q. Then 0 wakes.

    It has slept for less than its session lasts. What it finds in its queue is that 3, who leads
    both, has died.
    """
    lab = Lab(version, brokers=5, config=CONFIG)
    for topic, replicas in {"p": [3, 4], "q": [3, 2]}.items():
        lab.do(CreateTopic(topic=topic, assignment=[replicas]))
    lab.wait(1000)
    lab.do(FreezeBroker(broker=0))
    while lab.cluster.controller_id() in (0, 3):
        lab.do(ZkCommand(command="delete", path="/controller"))
        lab.wait(100)
    lab.do(Reassign(tp="p-0", replicas=[4, 3]))
    lab.wait(1000)
    lab.do(ThawBroker(broker=0))
    zombie = zookeeper_membership(lab.cluster, 0).controller
    assert zombie.state is not None
    zombie.state.live.pop(3)
    zombie._guarded(lambda: zombie.brokers.failed([3]))
    return lab


@pytest.mark.parametrize("version", [v for v in VERSIONS if v not in FENCED])
def test_v21_up_to_2_0_a_zombie_writes_what_its_successor_has_not_touched(version: str) -> None:
    lab = with_a_zombie(version)
    p = lab.state("p-0")
    assert lab.state("q-0") == "leader 2 e1 isr [2] v1"
    failed = lab.seen.of(ElectionFailed, tp="p-0", controller=0)[0]
    assert failed.reason == f"controller {lab.cluster.controller_epoch()} has written it"
    lab.wait(1000)
    assert lab.state("p-0") == p
    told = lab.cluster.replica("q-0", 2)
    assert told is not None
    assert (told.role, told.leader_epoch) == ("follower", 0)
    assert len(lab.seen.of(ControllerResigned, broker=0)) == 1
    lab.do(CrashBroker(broker=3))
    lab.wait(8000)
    info = lab.cluster.state_of("q-0")
    assert info is not None
    assert (info.leader, info.controller_epoch >= 2, info.leader_epoch > 1) == (2, True, True)
    assert told.role == "leader"


@pytest.mark.parametrize("version", FENCED)
def test_v21_from_2_1_a_zombie_finds_out_at_its_first_write(version: str) -> None:
    lab = with_a_zombie(version)
    (resigned,) = lab.seen.of(ControllerResigned, broker=0)
    assert (resigned.epoch, resigned.reason) == (1, "controller moved")
    assert lab.state("q-0") == "leader 3 e0 isr [3, 2] v0"
    assert lab.cluster.controller_cache(0) is None
