"""Any fact unfolds to what somebody did."""

import pytest

from emulator import events
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER, Event
from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    FreezeBroker,
    Statement,
    Wait,
)
from emulator.scenario.runner import Runner
from emulator.zookeeper import server

SILENCERS: list[AnyInput] = [
    CrashBroker(broker=1),
    FreezeBroker(broker=1),
    CutLink(source=1, destination=ZOOKEEPER),
]


def _root_of(event: Event, seen: list[Event]) -> Event:
    while event.cause:
        event = seen[event.cause - 1]
    return event


@pytest.mark.parametrize("silencer", SILENCERS, ids=lambda each: type(each).__name__)
def test_an_election_unfolds_to_what_silenced_the_leader(silencer: AnyInput) -> None:
    seen: list[Event] = []
    config = {"zookeeper.session.timeout.ms": "4000"}
    cluster = Cluster(CreateCluster(config=config), [seen.append])
    topic = CreateTopic(topic="t", assignment=[[1, 2]])
    steps: tuple[AnyInput, ...] = (
        topic,
        Wait(duration_us=1_000_000),
        silencer,
        Wait(duration_us=8_000_000),
    )
    for step in steps:
        Runner(cluster).execute(Statement(step, type(step).__name__))
    elected = [each for each in seen if isinstance(each, events.LeaderElected)][-1]
    assert elected.leader == 2
    root = _root_of(elected, seen)
    assert isinstance(root, events.InputReceived)
    assert root.text == type(silencer).__name__


def test_every_cause_is_an_earlier_event() -> None:
    seen: list[Event] = []
    cluster = Cluster(CreateCluster(), [seen.append])
    Runner(cluster).execute(Statement(Wait(duration_us=5_000_000), "wait 5s"))
    assert [each.seq for each in seen] == list(range(1, len(seen) + 1))
    assert all(each.cause < each.seq for each in seen)


def test_the_server_looks_at_sessions_only_when_one_may_be_over() -> None:
    cluster = Cluster(CreateCluster())
    armed_us = cluster.state.server.armed_us
    assert isinstance(cluster.server, server.ZooKeeperServer)
    assert armed_us == cluster.zookeeper.next_expiry_us
