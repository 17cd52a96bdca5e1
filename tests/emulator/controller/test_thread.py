"""The controller's one thread: what it waits for, and what waits for it."""

import pytest

from emulator.cluster import Cluster
from emulator.controller.context import SessionExpired
from emulator.events import (
    ZOOKEEPER,
    ControllerElected,
    ControllerResigned,
    ControllerStep,
    Event,
    LeaderElected,
    MessageSent,
)
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    CutLink,
    FreezeBroker,
    HealLinks,
    StopBroker,
    ThawBroker,
    Wait,
)
from emulator.scenario.conditions import value_of
from tests.support.memberships import zookeeper_membership, zookeeper_state
from tests.support.running import do, partition, until, with_topic

SECOND_US = 1_000_000
WAITING = ("0.10.2", "0.11", "1.1", "2.0.1", "2.1.0")
GOING_ON = ("0.9", "0.10.1", "0.10.2.0", "2.1.1", "2.8", "3.9")


def with_frozen_broker(version: str) -> tuple[Cluster, list[Event]]:
    """Broker 3 freezes, and controller 0 has just told it of a topic; then its session ends."""
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, FreezeBroker(broker=3), Wait(duration_us=SECOND_US))
    do(cluster, CreateTopic(topic="u", assignment=[[2, 3]]), until("u-0", "leader", 2))
    do(cluster, Wait(duration_us=6 * SECOND_US))
    return cluster, seen


@pytest.mark.parametrize("version", WAITING)
def test_the_controller_waits_for_the_last_response_of_a_broker_that_is_gone(version: str) -> None:
    cluster, _ = with_frozen_broker(version)
    assert cluster.zookeeper.find("/brokers/ids/3") is None
    thread = zookeeper_state(cluster, 0).controllership.thread
    assert list(thread.closing) == [3]
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2, 3]
    do(cluster, CrashBroker(broker=1), Wait(duration_us=6 * SECOND_US))
    assert value_of(cluster, partition("t-0", "leader")) == 1
    do(cluster, ThawBroker(broker=3), Wait(duration_us=3 * SECOND_US))
    assert thread.closing == {}
    assert thread.events == []
    assert value_of(cluster, partition("t-0", "leader")) == 2


@pytest.mark.parametrize("version", GOING_ON)
def test_before_and_after_it_closes_the_connection_and_goes_on(version: str) -> None:
    cluster, _ = with_frozen_broker(version)
    assert zookeeper_state(cluster, 0).controllership.thread.closing == {}
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2]


def test_it_waits_no_longer_than_the_request_may_take() -> None:
    cluster, _ = with_frozen_broker("1.1")
    do(cluster, Wait(duration_us=30 * SECOND_US))
    assert zookeeper_state(cluster, 0).controllership.thread.closing == {}
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2]


def test_a_broken_connection_ends_the_wait() -> None:
    cluster, _ = with_frozen_broker("1.1")
    do(cluster, CrashBroker(broker=3), Wait(duration_us=SECOND_US))
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2]


def responses(seen: list[Event]) -> list[int]:
    """Whom the controller has answered that it may go."""
    name = "ControlledShutdownResponse"
    return [e.destination for e in seen if isinstance(e, MessageSent) and e.name == name]


@pytest.mark.parametrize("version", ["0.11", "1.1"])
def test_a_request_to_the_controller_waits_for_its_thread(version: str) -> None:
    cluster, seen = with_frozen_broker(version)
    zookeeper_membership(cluster, 2).lifecycle.stop()
    do(cluster, Wait(duration_us=3 * SECOND_US))
    assert responses(seen) == []
    do(cluster, ThawBroker(broker=3), Wait(duration_us=SECOND_US))
    assert responses(seen) == [2]


@pytest.mark.parametrize(("version", "writes"), [("0.10.2", True), ("0.11", True), ("1.1", False)])
def test_up_to_1_0_what_waited_goes_on_in_the_next_session_after_the_office_is_lost(
    version: str, *, writes: bool
) -> None:
    """The frozen controller of recording n06: it comes back when another has long been elected."""
    cluster, _ = with_frozen_broker(version)
    do(cluster, FreezeBroker(broker=0), Wait(duration_us=8 * SECOND_US))
    assert cluster.controller_id() in (1, 2)
    do(cluster, ThawBroker(broker=0), ThawBroker(broker=3), Wait(duration_us=5 * SECOND_US))
    state = cluster.state_of("t-0")
    assert state is not None
    assert (state.isr, state.leader_epoch) == (([1, 2], 1) if writes else ([1, 2, 3], 0))
    assert state.controller_epoch == 1
    assert cluster.controller_cache(0) is None


def test_from_1_1_an_expired_session_drops_the_events_that_wait() -> None:
    cluster, seen = with_frozen_broker("1.1")
    do(cluster, CrashBroker(broker=1), Wait(duration_us=6 * SECOND_US))
    thread = zookeeper_state(cluster, 0).controllership.thread
    assert len(thread.events) >= 1
    do(cluster, CutLink(source=0, destination=ZOOKEEPER), Wait(duration_us=8 * SECOND_US))
    do(cluster, HealLinks(), Wait(duration_us=2 * SECOND_US))
    assert [type(event) for _, _, event in thread.events] == [SessionExpired]
    assert not [e for e in seen if isinstance(e, ControllerResigned)]
    do(cluster, ThawBroker(broker=3), Wait(duration_us=5 * SECOND_US))
    assert [e.broker for e in seen if isinstance(e, ControllerResigned)] == [0]
    assert {e.epoch for e in seen if isinstance(e, ControllerElected)} == {1, 2}


def test_what_waits_is_part_of_a_copy_of_the_cluster() -> None:
    cluster, _ = with_frozen_broker("2.0.1")
    copy = cluster.fork()
    for each in (cluster, copy):
        do(each, ThawBroker(broker=3), Wait(duration_us=5 * SECOND_US))
    assert copy.state_hash == cluster.state_hash


# ---- what a broker's death, coming and going bring, and in which order


def test_elections_are_sent_before_replicas_go_offline() -> None:
    """Two requests to a leader: one to lead what the dead broker led, one with the shrunk ISR."""
    cluster, seen = with_topic(3, 1, 2, version="0.10.2")
    do(cluster, CreateTopic(topic="u", assignment=[[1, 3]]), until("u-0", "leader", 1))
    before = len(seen)
    do(cluster, CrashBroker(broker=3), Wait(duration_us=8 * SECOND_US))
    told = [
        [tp for tp, *_ in e.detail]
        for e in seen[before:]
        if isinstance(e, MessageSent) and e.name == "LeaderAndIsrRequest" and e.destination == 1
    ]
    assert told[0] == ["t-0"]
    assert "u-0" in told[1]


@pytest.mark.parametrize("version", ["0.10.2", "2.1", "2.2", "3.9"])
def test_new_brokers_are_started_before_the_dead_are_mourned(version: str) -> None:
    cluster, seen = with_topic(1, 2, version=version)
    do(cluster, CrashBroker(broker=3), Wait(duration_us=8 * SECOND_US))
    before = len(seen)
    brokers = zookeeper_membership(cluster, 0).controller.brokers
    state = brokers.context.state
    change = [broker for broker in state.live if broker != 2]
    registered = {broker: state.live[broker] for broker in change} | {3: 10**12}
    brokers.context.registered = lambda: (registered, [])  # type: ignore[method-assign]
    brokers.look()
    steps = [e.name for e in seen[before:] if isinstance(e, ControllerStep)]
    assert steps == ["onBrokerStartup", "onBrokerFailure"]
    assert sorted(state.live) == [0, 1, 3]


# ---- controlled shutdown


@pytest.mark.parametrize(("version", "rejoins"), [("0.10.2", True), ("1.0", True), ("1.1", False)])
def test_up_to_1_0_a_broker_that_goes_can_come_back_into_an_isr(
    version: str, *, rejoins: bool
) -> None:
    """Recording n00: v-0 is stopped first, its fetcher is idle, and t-0 is never stopped."""
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, CreateTopic(topic="v", assignment=[[0, 1, 2]]), until("v-0", "leader", 0))
    do(cluster, Wait(duration_us=2 * SECOND_US), StopBroker(broker=2), Wait(duration_us=SECOND_US))
    state = cluster.state_of("t-0")
    assert state is not None
    assert (state.leader_epoch, state.zk_version) == ((2, 3) if rejoins else (1, 1))
    assert state.isr == [1, 3]
    assert not [e for e in seen if isinstance(e, LeaderElected) and e.strategy == "Offline"]
