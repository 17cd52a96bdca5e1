"""What a broker does whose follower has more than its leader, and may not truncate."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    ConfigureTopic,
    CrashBroker,
    CreateTopic,
    StartBroker,
    Wait,
)
from emulator.scenario.conditions import value_of
from tests.support.running import do, partition, produce, until, with_topic

SECOND_US = 1_000_000


def with_follower_ahead(version: str) -> Cluster:
    """Broker 1 of 1 and 2 comes back with records, to leader 2, which came back with none."""
    cluster, _ = with_topic(1, 2, version=version)
    do(cluster, ConfigureTopic(topic="t", config={"unclean.leader.election.enable": "false"}))
    do(cluster, CreateTopic(topic="u", assignment=[[3, 1]]), until("u-0", "leader", 3))
    do(cluster, produce("a"), Wait(duration_us=6 * SECOND_US))
    do(cluster, CrashBroker(broker=1), until("t-0", "isr", [2]))
    do(cluster, CrashBroker(broker=2), until("t-0", "leader", -1))
    do(cluster, StartBroker(broker=2, clean=True), until("t-0", "leader", 2))
    do(cluster, Wait(duration_us=SECOND_US), StartBroker(broker=1))
    return cluster


@pytest.mark.parametrize("version", ["0.8.2.2", "0.10.0.0"])
def test_up_to_0_10_0_0_it_halts_at_once(version: str) -> None:
    cluster = with_follower_ahead(version)
    do(cluster, Wait(duration_us=SECOND_US))
    assert cluster.broker_state(1) == "crashed"
    assert cluster.zookeeper.find("/brokers/ids/1") is not None


@pytest.mark.parametrize("version", ["0.10.0.1", "0.10.2.2"])
def test_up_to_0_10_2_it_hangs_in_its_shutdown_and_stays_registered(version: str) -> None:
    """Real 0.10.2.2 (x5): no StopReplica takes effect, and its other fetchers run on."""
    cluster = with_follower_ahead(version)
    do(cluster, Wait(duration_us=20 * SECOND_US))
    assert cluster.broker_state(1) == "controlled_shutdown"
    assert cluster.zookeeper.find("/brokers/ids/1") is not None
    assert value_of(cluster, partition("u-0", "isr")) == [3, 1]
    do(cluster, CrashBroker(broker=1), until("u-0", "isr", [3]))


@pytest.mark.parametrize("version", ["0.11.0.0", "1.1.1", "2.0.0"])
def test_from_0_11_to_2_0_0_it_shuts_down_in_order(version: str) -> None:
    cluster = with_follower_ahead(version)
    do(cluster, Wait(duration_us=5 * SECOND_US))
    assert cluster.broker_state(1) == "stopped"
    assert cluster.zookeeper.find("/brokers/ids/1") is None


@pytest.mark.parametrize("version", ["2.0.1", "3.9"])
def test_from_2_0_1_it_truncates(version: str) -> None:
    cluster = with_follower_ahead(version)
    do(cluster, until("t-0", "isr", [1, 2]))
    assert cluster.broker_state(1) == "running"
