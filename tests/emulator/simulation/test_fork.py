"""Forks: the same moment, twice, and from then on each for itself."""

import pytest

from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER, Event
from emulator.inputs.statements import (
    AddPartitions,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    FreezeBroker,
    HoldMessages,
    Produce,
    ReleaseMessages,
    Statement,
    Wait,
)
from emulator.scenario.runner import Runner
from tests.support.lab import TP, Lab
from tests.support.memberships import zookeeper_state
from tests.support.random_scripts import run, script_of, spec_of

MANY = range(24)


@pytest.mark.parametrize("seed", MANY)
def test_a_fork_goes_on_as_the_original_does(seed: int) -> None:
    """In the middle of whatever a random script has brought about."""
    script = script_of(seed, 20)
    original = Runner(Cluster(spec_of(seed)))
    run(original, script[:10])
    fork = original.fork()
    assert fork.state_hash == original.state_hash
    for runner in (original, fork):
        run(runner, script[10:])
    assert fork.state_hash == original.state_hash


@pytest.mark.parametrize("seed", MANY)
def test_what_happens_to_a_fork_does_not_happen_to_the_original(seed: int) -> None:
    script = script_of(seed, 20)
    original = Runner(Cluster(spec_of(seed)))
    run(original, script[:10])
    before = original.state_hash
    fork = original.fork()
    run(fork, script[10:])
    assert original.state_hash == before
    again = original.fork()
    run(again, script[10:])
    assert again.state_hash == fork.state_hash


def test_a_fork_has_no_observers() -> None:
    seen: list[Event] = []
    cluster = Cluster(CreateCluster(), [seen.append])
    before = len(seen)
    Runner(cluster.fork()).execute(Statement(Wait(duration_us=1_000_000), "wait 1s"))
    assert len(seen) == before


def test_a_fork_can_be_observed_for_itself() -> None:
    fork = Cluster(CreateCluster()).fork()
    seen: list[Event] = []
    first = fork.sequence + 1
    fork.subscribe(seen.append)
    Runner(fork).execute(Statement(Wait(duration_us=1_000_000), "wait 1s"))
    assert [each.seq for each in seen] == list(range(first, fork.sequence + 1))


def test_a_fork_of_a_fork_is_the_same_again() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    lab.produce("a", "b")
    assert lab.cluster.fork().fork().state_hash == lab.cluster.state_hash


def test_what_is_held_frozen_and_waiting_is_forked_too() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(0, 1, 2)
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    lab.do(FreezeBroker(broker=2))
    lab.submit(Produce(topic="t", value="a", acks=-1, retries=0))
    lab.wait(100)
    fork = lab.cluster.fork()
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(1000)
    assert lab.ends(1) == "1/0"
    replica = fork.replica(TP, 1)
    assert replica is not None
    assert replica.log.end == 0
    Runner(fork).execute(Statement(ReleaseMessages(source=0, destination=1), "release"))
    Runner(fork).run_until(fork.now_us + 1_000_000)
    assert replica.log.end == 1


def test_what_a_broker_has_read_already_makes_no_difference_to_a_fork() -> None:
    """It makes a log of a topic whose configuration it knows, but ZooKeeper cannot be asked."""
    lab = Lab("3.9", brokers=3, config={"auto.leader.rebalance.enable": "false"})
    controller = lab.cluster.controller_id()
    assert controller is not None
    broker = next(b for b in (0, 1, 2) if b != controller)
    lab.do(HoldMessages(source=controller, destination=broker, api="LeaderAndIsr"))
    lab.topic(broker)
    lab.wait(100)
    lab.do(AddPartitions(topic="t", partitions=2))
    lab.wait(500)
    lab.do(ReleaseMessages(source=controller, destination=broker, count=1))
    lab.wait(100)
    assert list(lab.cluster.state.brokers[broker].replicas) == ["t-0"]
    lab.do(CutLink(source=broker, destination=ZOOKEEPER, one_way=False))
    fork = lab.cluster.fork()
    release = ReleaseMessages(source=controller, destination=broker)
    for cluster in (lab.cluster, fork):
        Runner(cluster).execute(Statement(release, "release"))
        Runner(cluster).run_until(cluster.now_us + 1_000_000)
        assert list(cluster.state.brokers[broker].replicas) == ["t-0", "t-1"]
    assert fork.state_hash == lab.cluster.state_hash
    assert list(zookeeper_state(fork, broker).config.unread_topics) == ["t"]


def test_many_futures_start_from_one_present() -> None:
    """What if each of the brokers died now?"""
    lab = Lab("3.9", brokers=3, config={"auto.leader.rebalance.enable": "false"})
    lab.topic(0, 1, 2)
    leaders = []
    for broker in (0, 1, 2):
        future = lab.cluster.fork()
        Runner(future).execute(Statement(CrashBroker(broker=broker), "crash"))
        Runner(future).run_until(future.now_us + 25_000_000)
        info = future.state_of(TP)
        assert info is not None
        leaders.append((info.leader, info.isr))
    assert leaders == [(1, [1, 2]), (0, [0, 2]), (0, [0, 1])]
    assert lab.state() == "leader 0 e0 isr [0, 1, 2] v0"


def test_a_cluster_of_a_thousand_partitions_is_forked_whole() -> None:
    cluster = Cluster(CreateCluster(brokers=3))
    made = CreateTopic(topic="t", partitions=1000, replication_factor=3)
    Runner(cluster).execute(Statement(made, "topic create"))
    Runner(cluster).run_until(cluster.now_us + 1_000_000)
    fork = cluster.fork()
    assert fork.state_hash == cluster.state_hash
    assert len(fork.partitions()) == 1000
