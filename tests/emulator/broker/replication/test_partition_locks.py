"""A leader that cannot store its ISR holds the partition's lock: what waits, and until when."""

import pytest

from emulator import events
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER, Event
from emulator.inputs.statements import (
    CreateCluster,
    CreateTopic,
    CutLink,
    FreezeBroker,
    HealLinks,
    PauseReplica,
    Produce,
    Settle,
    Wait,
)
from emulator.scenario.conditions import value_of
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Runner
from tests.support.running import do, partition, produce, replica, until, with_topic

SECOND_US = 1_000_000
HOLDING = ("0.8.2", "0.10.2", "0.11", "1.1", "2.1", "2.5")
ASKING = ("2.7", "3.9")


def leader_without_zookeeper(version: str) -> tuple[Cluster, list[Event]]:
    """Leader 1 of 1, 2, 3 wants follower 3 out of the ISR, and ZooKeeper does not hear it."""
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, CutLink(source=1, destination=ZOOKEEPER))
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    lag_us = cluster.brokers[1].context.config.replica_lag_time_max_us
    do(cluster, Wait(duration_us=lag_us * 2 + SECOND_US))
    return cluster, seen


def write(cluster: Cluster, value: str) -> Outcome:
    """One record that is sent once, and waited for for two seconds."""
    return do(cluster, Produce(topic="t", value=value, acks=1, retries=0, timeout_us=2 * SECOND_US))


@pytest.mark.parametrize("version", HOLDING)
def test_up_to_2_6_records_wait_for_the_lock_and_are_written_when_it_is_free(version: str) -> None:
    cluster, _ = leader_without_zookeeper(version)
    assert list(cluster.brokers[1].state.core.locks.held) == ["t-0"]
    leader = cluster.replica("t-0", 1)
    assert leader is not None
    before = leader.log_end
    write(cluster, "b")
    assert leader.log_end == before
    assert len(cluster.brokers[1].state.core.locks.waiting) >= 1
    do(cluster, HealLinks(), Settle())
    assert cluster.brokers[1].state.core.locks.held == {}
    assert cluster.brokers[1].state.core.locks.waiting == []


@pytest.mark.parametrize("version", ASKING)
def test_from_2_7_a_leader_holds_no_lock_while_the_controller_is_asked(version: str) -> None:
    cluster, _ = leader_without_zookeeper(version)
    assert cluster.brokers[1].state.core.locks.held == {}
    leader = cluster.replica("t-0", 1)
    assert leader is not None
    before = leader.log_end
    write(cluster, "b")
    assert leader.log_end == before + 1


def test_the_isr_is_stored_once_zookeeper_answers_again() -> None:
    cluster, _ = with_topic(1, 2, 3, version="2.5")
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    lag_us = cluster.brokers[1].context.config.replica_lag_time_max_us
    do(cluster, Wait(duration_us=lag_us - SECOND_US))
    do(cluster, CutLink(source=1, destination=ZOOKEEPER))
    Runner(cluster).run_until(cluster.now_us + lag_us)
    do(cluster, HealLinks(), until("t-0", "isr", [1, 2]))
    assert cluster.brokers[1].state.core.locks.held == {}


@pytest.mark.parametrize(("version", "parked_waits"), [("2.0.1", False), ("2.1", True)])
def test_a_followers_fetch_waits_and_from_2_1_what_is_parked_too(
    version: str, *, parked_waits: bool
) -> None:
    config = {"zookeeper.session.timeout.ms": "18000", "replica.lag.time.max.ms": "2000"}
    seen: list[Event] = []
    cluster = Cluster(CreateCluster(version=version, brokers=4, config=config), [seen.append])
    do(cluster, CreateTopic(topic="t", assignment=[[1, 2, 3]]), until("t-0", "leader", 1), Settle())
    do(cluster, CutLink(source=1, destination=ZOOKEEPER), PauseReplica(tp="t-0", broker=3))
    do(cluster, produce("a", acks=1), Wait(duration_us=5 * SECOND_US))
    locks = cluster.brokers[1].state.core.locks
    assert list(locks.held) == ["t-0"]
    assert [source for source, _, _ in locks.waiting] == ([] if parked_waits else [2])
    assert [follower for follower, _ in locks.responses.values()] == ([2] if parked_waits else [])
    mark = len(seen)
    do(cluster, HealLinks(), Settle())
    responses = [
        (each.source, each.destination)
        for each in seen[mark:]
        if isinstance(each, events.MessageSent) and each.name == "FetchResponse"
    ]
    assert (1, 2) in responses


@pytest.mark.parametrize("version", HOLDING)
def test_a_leader_that_holds_the_lock_hears_of_its_successor_only_when_it_is_free(
    version: str,
) -> None:
    cluster, _ = leader_without_zookeeper(version)
    assert value_of(cluster, partition("t-0", "leader")) != 1
    assert value_of(cluster, replica("t-0", 1, "role")) == "leader"
    do(cluster, HealLinks(), Settle())
    assert value_of(cluster, replica("t-0", 1, "role")) == "follower"


def test_the_expiry_thread_comes_to_no_other_partition_while_it_waits() -> None:
    cluster, seen = leader_without_zookeeper("2.0.1")
    mark = len(seen)
    do(cluster, FreezeBroker(broker=2), Wait(duration_us=60 * SECOND_US))
    assert not [each for each in seen[mark:] if isinstance(each, events.IsrChangeStarted)]


def test_a_held_lock_is_part_of_a_copy_of_the_cluster() -> None:
    cluster, _ = leader_without_zookeeper("2.5")
    write(cluster, "b")
    copy = cluster.fork()
    assert copy.state_hash == cluster.state_hash
    for each in (cluster, copy):
        do(each, HealLinks(), Settle())
    assert copy.state_hash == cluster.state_hash
    assert copy.brokers[1].state.core.locks.held == {}
