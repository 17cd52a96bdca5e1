"""A broker's coming and going, as ZooKeeper sees it."""

import json

import pytest

from emulator import events
from emulator.broker.lifecycle import PATHS
from emulator.inputs.statements import Settle, StartBroker, StopBroker
from emulator.scenario.conditions import value_of
from emulator.zookeeper.data import compact
from tests.support.running import do, produce, replica, until, with_topic


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
