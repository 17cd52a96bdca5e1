"""Whom a leader takes for the controller, and what a response does that it does not expect."""

import pytest

from emulator import events
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER, Event
from emulator.inputs.statements import (
    CrashBroker,
    CutLink,
    ExpireSession,
    HealLinks,
    IsolateBroker,
    PauseReplica,
    ResumeReplica,
    Settle,
    Wait,
)
from emulator.scenario.conditions import value_of
from tests.support.running import do, partition, produce, until, with_topic

SECOND_US = 1_000_000


def asked(seen: list[Event]) -> list[int]:
    """The brokers that leader 1 has sent an AlterPartition to, in order."""
    return [
        each.destination
        for each in seen
        if isinstance(each, events.MessageSent)
        and each.name == "AlterPartitionRequest"
        and each.source == 1
    ]


def with_deposed_controller(version: str) -> tuple[Cluster, list[Event]]:
    """Controller 0 is isolated and replaced; leader 1 of 1, 2 and 3 has lost its follower 3."""
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1))
    do(
        cluster,
        until("t-0", "isr", [1, 2]),
        IsolateBroker(broker=0),
        Wait(duration_us=9 * SECOND_US),
    )
    assert cluster.controller_id() not in (0, None)
    seen.clear()
    return cluster, seen


@pytest.mark.parametrize("version", ["2.7", "2.8", "3.9"])
def test_a_leader_goes_on_asking_the_controller_that_it_is_connected_to(version: str) -> None:
    cluster, seen = with_deposed_controller(version)
    do(cluster, ResumeReplica(tp="t-0", broker=3), Wait(duration_us=10 * SECOND_US))
    assert asked(seen) == [0]
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2]
    do(cluster, Wait(duration_us=25 * SECOND_US))
    assert asked(seen) == [0, cluster.controller_id()]
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2, 3]


def test_a_controller_that_has_crashed_is_forgotten_at_the_first_request() -> None:
    cluster, seen = with_topic(1, 2, 3, version="2.8")
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1), until("t-0", "isr", [1, 2]))
    do(cluster, Settle(), CrashBroker(broker=0), Wait(duration_us=9 * SECOND_US))
    seen.clear()
    do(cluster, ResumeReplica(tp="t-0", broker=3), until("t-0", "isr", [1, 2, 3]))
    assert asked(seen) == [0, cluster.controller_id()]


@pytest.mark.parametrize(
    ("version", "joins"),
    [("2.7", False), ("2.8", False), ("3.0", False), ("3.1", True), ("3.9", True)],
)
def test_up_to_3_0_an_error_that_is_not_expected_leaves_the_change_pending(
    version: str, *, joins: bool
) -> None:
    """The deposed controller is heard again before it knows: its ZooKeeper session is over."""
    cluster, seen = with_deposed_controller(version)
    do(cluster, ResumeReplica(tp="t-0", broker=3), Wait(duration_us=5 * SECOND_US))
    do(cluster, HealLinks(), Settle(), Wait(duration_us=60 * SECOND_US))
    replica = cluster.replica("t-0", 1)
    assert replica is not None
    assert (replica.isr == [1, 2, 3]) is joins
    assert (replica.pending is None) is joins
    assert asked(seen)[0] == 0
    assert (len(asked(seen)) > 1) is joins


@pytest.mark.parametrize("version", ["2.7", "3.9"])
def test_a_controller_without_zookeeper_answers_when_it_is_back(version: str) -> None:
    cluster, seen = with_topic(1, 2, 3, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=3), produce("a", acks=1), until("t-0", "isr", [1, 2]))
    do(cluster, CutLink(source=0, destination=ZOOKEEPER), ResumeReplica(tp="t-0", broker=3))
    seen.clear()
    do(cluster, Wait(duration_us=SECOND_US))
    assert asked(seen) == [0]
    assert not [
        e for e in seen if isinstance(e, events.MessageSent) and e.name == "AlterPartitionResponse"
    ]
    do(cluster, HealLinks(), until("t-0", "isr", [1, 2, 3]))
    assert asked(seen) == [0]


@pytest.mark.parametrize("version", ["2.7", "2.8", "3.9"])
def test_what_is_queued_behind_a_blocked_event_is_dropped_unanswered(version: str) -> None:
    """The controller's session ends right behind another one, whose end it then cannot look at.

    Real 2.8.2: AlterIsrReceived.preempt does nothing, and the leader waits for 30 s.
    """
    cluster, seen = with_topic(1, 2, version=version)
    do(cluster, PauseReplica(tp="t-0", broker=2), produce("a", acks=1), until("t-0", "isr", [1]))
    do(cluster, Settle())
    seen.clear()
    do(cluster, ExpireSession(broker=3), ExpireSession(broker=0))
    do(cluster, ResumeReplica(tp="t-0", broker=2), Wait(duration_us=20 * SECOND_US))
    assert asked(seen) == [0]
    assert value_of(cluster, partition("t-0", "isr")) == [1]
    do(cluster, Wait(duration_us=15 * SECOND_US))
    assert asked(seen) == [0, cluster.controller_id()]
    assert value_of(cluster, partition("t-0", "isr")) == [1, 2]
