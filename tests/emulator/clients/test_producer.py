"""Producers: what they are told, what they try again, and what they give up."""

import pytest

from emulator import events
from emulator.clients.producer import Producers
from emulator.clients.state import Producer
from emulator.cluster import Cluster
from emulator.events import CLIENTS, Event
from emulator.inputs.statements import (
    CrashBroker,
    FreezeBroker,
    HoldMessages,
    Produce,
    ReleaseMessages,
    Settle,
    Wait,
)
from tests.support.running import do, until, with_topic


def _producer(cluster: Cluster, name: str = "p1") -> Producer:
    return cluster.clients.state.producers[name]


def _sent(seen: list[Event]) -> list[events.ProduceSent]:
    return [each for each in seen if isinstance(each, events.ProduceSent)]


def _errors(seen: list[Event]) -> list[tuple[str, str]]:
    """The producers whose records failed, and with what."""
    return [(each.producer, each.error) for each in seen if isinstance(each, events.ProduceFailed)]


def test_records_are_numbered_in_the_order_in_which_they_are_sent() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, Produce(topic="t", value="v", count=3, batch=2, acks=-1))
    assert [each.values for each in _sent(seen)] == [["v-0", "v-1"], ["v-2"]]
    assert [each.first_record for each in _sent(seen)] == [1, 3]
    assert isinstance(cluster.clients.producers, Producers)


@pytest.mark.parametrize(("version", "acks"), [("2.8", 1), ("3.5", -1), ("3.9", -1)])
def test_acks_left_out_is_the_releases_default(version: str, acks: int) -> None:
    cluster, seen = with_topic(1, 2, version=version)
    do(cluster, Produce(topic="t", value="v"))
    assert _sent(seen)[0].acks == acks


def test_acks_0_is_acknowledged_when_it_is_handed_to_the_network() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, Produce(topic="t", value="v", acks=0))
    told = [each for each in seen if isinstance(each, events.ProduceAcknowledged)]
    assert [each.base_offset for each in told] == [-1]
    assert told[0].time_us == _sent(seen)[0].time_us


def test_a_producer_finds_the_new_leader_without_using_up_its_retries() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, Produce(topic="t", value="a", acks=-1, retries=0))
    do(cluster, CrashBroker(broker=1), until("t-0", "leader", 2), Settle())
    assert do(cluster, Produce(topic="t", value="b", acks=1, retries=0)).error == "NONE"
    assert _producer(cluster).retries == 0


def test_a_time_limit_at_the_leader_is_request_timed_out_and_the_record_stays() -> None:
    cluster, seen = with_topic(1, 2)
    do(cluster, Produce(topic="t", value="a", acks=-1), Settle(), FreezeBroker(broker=2))
    wanted = Produce(topic="t", value="b", acks=-1, retries=0, timeout_us=500_000)
    assert do(cluster, wanted).error == "REQUEST_TIMED_OUT"
    assert _errors(seen) == [("p1", "REQUEST_TIMED_OUT")]
    assert cluster.state.brokers[1].replicas["t-0"].log.end == 2


def test_a_leader_that_says_nothing_is_given_up_two_seconds_later() -> None:
    cluster, _ = with_topic(1, 2)
    do(cluster, Produce(topic="t", value="a", acks=-1), Settle(), FreezeBroker(broker=1))
    before = cluster.now_us
    wanted = Produce(topic="t", value="b", acks=1, retries=0, timeout_us=1_000_000)
    assert do(cluster, wanted).error == "NETWORK_EXCEPTION"
    assert cluster.now_us - before == 3_000_000


@pytest.mark.parametrize(
    ("topic", "error"), [("t", "LEADER_NOT_AVAILABLE"), ("x", "UNKNOWN_TOPIC_OR_PARTITION")]
)
def test_a_producer_without_leader_gives_up_after_three_seconds(topic: str, error: str) -> None:
    cluster, _ = with_topic(1)
    do(cluster, CrashBroker(broker=1), until("t-0", "leader", -1), Settle())
    before = cluster.now_us
    assert do(cluster, Produce(topic=topic, value="a", retries=0)).error == error
    assert 3_000_000 <= cluster.now_us - before < 3_500_000
    assert _producer(cluster).failed == 1


@pytest.mark.parametrize(
    ("way", "stored"), [((CLIENTS, 1, "Produce"), 1), ((1, CLIENTS, "ProduceResponse"), 2)]
)
def test_a_message_lost_on_the_way_breaks_the_connection_of_its_producer_alone(
    way: tuple[int, int, str], stored: int
) -> None:
    cluster, seen = with_topic(1, 2)
    source, destination, api = way
    do(cluster, HoldMessages(source=source, destination=destination, api=api))
    for name in ("p1", "p2"):
        do(
            cluster,
            Produce(topic="t", value=name, acks=1, retries=0, producer=name, background=True),
        )
    do(cluster, Wait(duration_us=100_000))
    do(cluster, ReleaseMessages(source=source, destination=destination, count=1, lose=True))
    do(cluster, ReleaseMessages(source=source, destination=destination), Settle())
    assert _errors(seen) == [("p1", "NETWORK_EXCEPTION")]
    assert _producer(cluster, "p2").acked == 1
    assert cluster.state.brokers[1].replicas["t-0"].log.end == stored
