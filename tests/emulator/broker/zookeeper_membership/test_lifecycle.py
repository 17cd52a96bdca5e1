"""A broker's coming and going, as ZooKeeper sees it."""

import json

import pytest

from emulator import events
from emulator.broker.zookeeper_membership.lifecycle import PATHS
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER, Event
from emulator.inputs.statements import (
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    HealLinks,
    Settle,
    StartBroker,
    StopBroker,
    Wait,
)
from emulator.scenario.conditions import value_of
from emulator.zookeeper.data import compact
from tests.support.running import QUICK, do, partition, produce, replica, until, with_topic


@pytest.mark.parametrize(
    ("version", "expected"),
    [("0.8.2", 1), ("0.9", 2), ("0.10.0", 3), ("0.10.2", 4), ("2.5", 4), ("2.7", 5), ("3.9", 5)],
)
def test_a_brokers_znode_has_its_releases_version(version: str, expected: int) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    node = cluster.zookeeper.get("/brokers/ids/1")
    assert json.loads(node.data or "")["version"] == expected
    assert node.ephemeral_owner == cluster.zookeeper.session_of(1)


@pytest.mark.parametrize(("version", "expected"), [("2.1", 0), ("2.2", 1), ("3.9", 1)])
def test_from_2_2_a_broker_registers_by_a_transaction(version: str, expected: int) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    assert cluster.zookeeper.get("/brokers/ids/1").version == expected


@pytest.mark.parametrize(("version", "expected"), [("2.8", 1), ("3.5", 2)])
def test_the_controllers_znode_has_its_releases_version(version: str, expected: int) -> None:
    cluster, _ = with_topic(1, 2, version=version)
    assert json.loads(cluster.zookeeper.get("/controller").data or "")["version"] == expected


def test_the_first_broker_makes_the_paths_of_its_release() -> None:
    cluster, _ = with_topic(1, 2, version="3.9")
    assert all(cluster.zookeeper.find(path) is not None for _, path in PATHS)
    old, _ = with_topic(1, 2, version="0.8.2")
    assert old.zookeeper.find("/isr_change_notification") is None
    assert old.zookeeper.find("/cluster") is None


def test_json_is_written_without_spaces() -> None:
    assert compact({"version": 1, "isr": [1, 2]}) == '{"version":1,"isr":[1,2]}'


def test_a_stopped_broker_moves_its_leaders_first_and_leaves_at_once() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, produce("a"), StopBroker(broker=1))
    kinds = [type(each) for each in seen]
    ended = kinds.index(events.SessionEnded)
    elections = [i for i, each in enumerate(seen) if isinstance(each, events.LeaderElected)]
    assert elections[-1] < ended
    assert cluster.zookeeper.find("/brokers/ids/1") is None
    assert cluster.broker_state(1) == "stopped"


def test_a_broker_that_returns_has_a_newer_epoch() -> None:
    cluster, _ = with_topic(1, 2)
    before = cluster.brokers[2].state.broker_epoch
    do(cluster, StopBroker(broker=2), StartBroker(broker=2))
    assert cluster.brokers[2].state.broker_epoch > before


def test_a_clean_stop_writes_the_high_watermark_down() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, produce("a", count=3), Settle(), StopBroker(broker=2))
    assert value_of(cluster, replica("t-0", 2, "hw")) == 3


def test_leaders_tell_of_their_isr_writes_up_to_2_6() -> None:
    cluster, seen = with_topic(1, 2, version="2.4")
    do(cluster, StopBroker(broker=2), StartBroker(broker=2), until("t-0", "isr", [1, 2]), Settle())
    do(cluster, Settle(quiet_us=10_000_000))
    made = [each.path for each in seen if isinstance(each, events.ZnodeCreated)]
    assert "/isr_change_notification/isr_change_0000000000" in made
    assert cluster.zookeeper.children("/isr_change_notification") == []


def without_zookeeper(version: str, session_ms: int = 4_000) -> tuple[Cluster, list[Event]]:
    """A cluster whose broker 1 leads ``t-0``, no longer hears ZooKeeper, and is told to stop."""
    seen: list[Event] = []
    config = {**QUICK, "zookeeper.session.timeout.ms": str(session_ms)}
    cluster = Cluster(CreateCluster(version=version, brokers=4, config=config), [seen.append])
    do(cluster, CreateTopic(topic="t", assignment=[[1, 2]]), until("t-0", "leader", 1), Settle())
    do(cluster, CutLink(source=1, destination=ZOOKEEPER), StopBroker(broker=1, wait=False))
    return cluster, seen


@pytest.mark.parametrize("version", ["0.8.2", "1.1", "2.8"])
def test_up_to_2_8_a_shutdown_waits_for_zookeeper_and_then_goes_on(version: str) -> None:
    cluster, seen = without_zookeeper(version, session_ms=18_000)
    do(cluster, Wait(duration_us=8_000_000))
    assert cluster.broker_state(1) == "controlled_shutdown"
    assert value_of(cluster, partition("t-0", "leader")) == 1
    do(cluster, HealLinks(), Wait(duration_us=5_000_000))
    assert cluster.broker_state(1) == "stopped"
    elected = [each for each in seen if isinstance(each, events.LeaderElected)]
    assert (elected[-1].leader, elected[-1].strategy) == (2, "ControlledShutdown")


def test_from_3_0_a_broker_asks_the_controller_that_it_knows() -> None:
    cluster, seen = without_zookeeper("3.0", session_ms=18_000)
    do(cluster, Wait(duration_us=1_000_000))
    assert value_of(cluster, partition("t-0", "leader")) == 2
    assert cluster.broker_state(1) == "controlled_shutdown"  # its session cannot be closed
    do(cluster, Wait(duration_us=12_000_000))
    assert cluster.broker_state(1) == "stopped"
    assert not any(isinstance(each, events.SessionEnded) for each in seen)


@pytest.mark.parametrize("version", ["1.0", "1.1", "2.8"])
def test_a_shutdown_whose_session_expires_registers_once_more(version: str) -> None:
    cluster, seen = without_zookeeper(version)
    do(cluster, Wait(duration_us=10_000_000))
    assert cluster.zookeeper.find("/brokers/ids/1") is None
    assert cluster.broker_state(1) == "controlled_shutdown"
    do(cluster, HealLinks(), Wait(duration_us=20_000_000))
    assert cluster.broker_state(1) == "stopped"
    registered = [each.broker for each in seen if isinstance(each, events.BrokerRegistered)]
    assert registered.count(1) == 2
    ended = [each for each in seen if isinstance(each, events.SessionEnded)]
    assert [each.reason for each in ended if each.host == 1] == ["expired", "closed"]


@pytest.mark.parametrize(("version", "seconds"), [("3.0", 15), ("3.1", 10)])
def test_a_broker_that_nobody_lets_go_waits_after_its_last_try_up_to_3_0(
    version: str, seconds: int
) -> None:
    cluster, seen = with_topic(1, 2, version=version)
    do(cluster, CrashBroker(broker=2), until("t-0", "isr", [1]), StopBroker(broker=1))
    states = [each for each in seen if isinstance(each, events.BrokerStateChanged)]
    began, ended = (each.time_us for each in states[-2:])
    assert (ended - began) // 1_000_000 == seconds
