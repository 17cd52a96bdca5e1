"""A broker's ZooKeeper session: disconnected is not expired."""

import pytest

from emulator import events
from emulator.events import ZOOKEEPER, Event
from emulator.inputs.statements import (
    CutLink,
    ExpireSession,
    FreezeBroker,
    HealLinks,
    Settle,
    ThawBroker,
    Wait,
)
from emulator.zookeeper.client import CONNECTED, DISCONNECTED, EXPIRED
from emulator.zookeeper.errors import ConnectionLoss, NodeExistsError
from tests.support.memberships import zookeeper_membership
from tests.support.running import do, until, with_topic


def _states(seen: list[Event], broker: int) -> list[str]:
    return [
        each.state
        for each in seen
        if isinstance(each, events.ZkConnectionChanged) and each.broker == broker
    ]


def test_a_short_cut_keeps_the_session() -> None:
    cluster, seen = with_topic(1, 2)
    session = cluster.zookeeper.session_of(2)
    do(cluster, CutLink(source=2, destination=ZOOKEEPER), Wait(duration_us=2_000_000))
    assert not zookeeper_membership(cluster, 2).zk.usable()
    do(cluster, HealLinks(), Wait(duration_us=1_500_000))
    assert zookeeper_membership(cluster, 2).zk.usable()
    assert _states(seen, 2) == [CONNECTED]
    assert cluster.zookeeper.session_of(2) == session


def test_a_long_cut_expires_the_session_and_a_new_one_begins_when_it_heals() -> None:
    cluster, seen = with_topic(1, 2)
    session = cluster.zookeeper.session_of(2)
    do(cluster, CutLink(source=2, destination=ZOOKEEPER), until("t-0", "isr", [1]))
    assert _states(seen, 2)[-1] == DISCONNECTED
    do(cluster, HealLinks(), until("t-0", "isr", [1, 2]))
    assert EXPIRED in _states(seen, 2)
    assert cluster.zookeeper.session_of(2) != session


def test_a_frozen_broker_learns_of_its_end_when_it_wakes() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, FreezeBroker(broker=1), until("t-0", "leader", 2))
    assert EXPIRED not in _states(seen, 1)
    do(cluster, ThawBroker(broker=1), until("t-0", "isr", [1, 2]), Settle())
    assert EXPIRED in _states(seen, 1)


def test_an_expired_session_of_the_controller_costs_it_the_office() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, ExpireSession(broker=0), Wait(duration_us=3_000_000), Settle())
    assert any(isinstance(each, events.ControllerResigned) for each in seen)
    assert cluster.controller_epoch() == 2
    assert cluster.zookeeper.find("/brokers/ids/0") is not None


@pytest.mark.parametrize("cut", [(), (1, 2)], ids=["no fault", "a fault elsewhere"])
def test_the_parents_of_a_rejected_znode_are_created_if_they_lack(cut: tuple[int, ...]) -> None:
    cluster, seen = with_topic(1, 2)
    if cut:
        do(cluster, CutLink(source=cut[0], destination=cut[1]))
    with pytest.raises(NodeExistsError):
        zookeeper_membership(cluster, 0).zk.create_below(("/own", "/own/a", "/own"), "/own", "2")
    assert cluster.zookeeper.children("/own") == ["a"]
    refused = [each for each in seen if isinstance(each, events.ZooKeeperRefused)]
    assert [(each.broker, each.operation, each.path) for each in refused] == [(0, "create", "/own")]


def test_a_znode_and_its_parents_are_not_created_behind_a_cut() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, CutLink(source=0, destination=ZOOKEEPER))
    with pytest.raises(ConnectionLoss):
        zookeeper_membership(cluster, 0).zk.create_below((), "/own", "")
    assert cluster.zookeeper.find("/own") is None
