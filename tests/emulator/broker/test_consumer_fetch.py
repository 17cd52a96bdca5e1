"""Which replica serves a consumer, and how far."""

import pytest

from emulator.broker.consumer_fetch import ConsumerReads
from emulator.inputs.statements import Consume, CrashBroker
from tests.support.lab import Lab

RACK_AWARE = {"replica.selector.class": "RackAwareReplicaSelector"}


def lab(version: str = "3.9", racks: str = "abb", **spec: object) -> Lab:
    """Three brokers, the first of which leads ``t-0``; followers fetch when they are told."""
    given = {"config": RACK_AWARE, "stepwise": True, **spec}
    made = Lab(version, brokers=3, racks=list(racks), **given)
    made.topic(0, 1, 2)
    return made


def chosen(made: Lab, rack: str, offset: int = 0) -> int:
    """The broker that the leader names for a consumer of that rack."""
    reads: ConsumerReads = made.cluster.brokers[0].reads
    return reads.preferred(made.replica(0), offset, rack)


def test_without_the_selector_the_leader_serves_every_rack() -> None:
    made = lab(config={})
    made.fetch(1)
    assert chosen(made, "b") == 0


def test_the_leader_serves_its_own_rack() -> None:
    made = lab(racks="aab")
    made.fetch(1)
    assert chosen(made, "a") == 0


def test_of_two_followers_in_the_rack_the_one_with_more_records_serves() -> None:
    made = lab()
    made.produce("m", "n")
    made.fetch(1, times=2)
    made.fetch(2)
    assert (chosen(made, "b"), chosen(made, "b", offset=2)) == (1, 1)


def test_of_two_equal_followers_the_one_that_was_caught_up_last_serves() -> None:
    made = lab()
    made.produce("m")
    made.fetch(2, times=2)
    made.fetch(1, times=2)
    assert chosen(made, "b") == 1


def test_a_follower_without_the_offset_is_passed_over() -> None:
    made = lab()
    made.produce("m", "n")
    made.fetch(1)
    made.fetch(2)
    assert chosen(made, "b", offset=1) == 0


def test_a_dead_follower_is_passed_over() -> None:
    made = lab(racks="abc")
    made.fetch(1)
    assert chosen(made, "b") == 1
    made.do(CrashBroker(broker=1))
    made.wait(30_000)
    assert chosen(made, "b") == 0


@pytest.mark.parametrize(("version", "serves"), [("2.8", 1), ("3.5", 0)])
def test_a_follower_outside_the_isr_serves_up_to_3_3(version: str, serves: int) -> None:
    made = lab(version, racks="abc")
    made.fetch(1)
    made.fetch(2)
    made.produce("m")
    made.wait(40_000)
    made.fetch(2, times=2)
    made.tick("isr", 0)
    assert made.replica(0).isr == [0, 2]
    assert chosen(made, "b") == serves


def test_a_rack_is_refused_before_followers_served() -> None:
    made = lab("2.2", config={})
    outcome = made.do(Consume(topic="t", rack="b"))
    assert (outcome.error, outcome.refused) == ("UNSUPPORTED_VERSION", True)
    assert "since 2.4" in outcome.message


def test_a_follower_that_stops_serving_sends_its_consumer_back_to_the_leader() -> None:
    made = lab(racks="abc")
    made.produce("m")
    made.fetch(1, times=2)
    made.fetch(2, times=2)
    made.fetch(1)
    ticket = made.submit(Consume(topic="t", rack="b"))
    made.do(CrashBroker(broker=1))
    while not ticket.done:
        made.runner.advance()
    assert ticket.outcome is not None
    assert ticket.outcome.error in ("NONE", "NOT_LEADER_OR_FOLLOWER")
