"""Statements of a producer: batches one after another or several under way, pauses, questions."""

from itertools import pairwise
from typing import Any

import pytest

from emulator.clients.network_client import RESPONSE_US
from emulator.events import CLIENTS, MessageSent, ProduceAcknowledged, ProduceSent
from emulator.inputs.statements import (
    ConfigureTopic,
    CrashBroker,
    FreezeBroker,
    HoldMessages,
    Produce,
    ReleaseMessages,
    StartBroker,
)
from emulator.scenario.runner import Runner
from tests.support.lab import SECOND_US, Lab

FAST = {"zookeeper.session.timeout.ms": "4000", "auto.leader.rebalance.enable": "false"}


def one_broker(version: str = "3.9") -> Lab:
    lab = Lab(version, brokers=1)
    lab.topic(0)
    return lab


def under_way(lab: Lab, **options: Any) -> int:
    """How many requests are out while no response comes."""
    lab.produce("first")
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="ProduceResponse"))
    before = len(lab.seen.of(MessageSent, name="ProduceRequest"))
    lab.submit(Produce(topic="t", partition=0, value="v", acks=1, **options))
    lab.wait(500)
    return len(lab.seen.of(MessageSent, name="ProduceRequest")) - before


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"count": 9}, 1),
        ({"count": 9, "in_flight": 4}, 4),
        ({"count": 9, "in_flight": 50}, 9),
        ({"count": 9, "batch": 4, "in_flight": 50}, 3),
    ],
)
def test_as_many_requests_are_under_way_as_asked(options: dict[str, Any], expected: int) -> None:
    assert under_way(one_broker(), **options) == expected


def test_each_response_lets_another_request_go() -> None:
    lab = one_broker()
    under_way(lab, count=9, in_flight=4)
    lab.do(ReleaseMessages(source=0, destination=CLIENTS, count=3))
    lab.wait(50)
    assert len(lab.seen.of(ProduceAcknowledged)) == 1 + 3
    assert len(lab.seen.of(ProduceSent)) == 1 + 7
    assert lab.cluster.clients.state.producers["p1"].pending == 6


def test_nothing_new_begins_while_a_batch_waits_to_be_sent_again() -> None:
    lab = Lab("3.9", brokers=3, config=FAST)
    lab.topic(1, 2, config={"min.insync.replicas": "2"})
    lab.produce("first")
    lab.do(CrashBroker(broker=2))
    lab.wait(10_000)
    wanted = Produce(topic="t", partition=0, value="v", acks=-1, count=9, in_flight=3)
    ticket = lab.submit(wanted)
    lab.wait(5_000)
    assert len(lab.seen.of(ProduceSent)) == 1 + 3
    lab.do(StartBroker(broker=2))
    lab.wait(10_000)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"
    assert sorted(lab.values(1).split()) == ["first", *(f"v-{n}" for n in range(9))]


def test_batches_that_fail_together_come_back_the_other_way_round() -> None:
    """RecordAccumulator.reenqueue puts each of them first."""
    lab = Lab("2.0.1", brokers=1)
    lab.topic(0, config={"min.insync.replicas": "2"})
    lab.submit(
        Produce(topic="t", partition=0, value="v", acks=-1, count=3, in_flight=3, retries=99)
    )
    lab.wait(50)
    lab.do(ConfigureTopic(topic="t", config={"min.insync.replicas": "1"}))
    lab.wait(1_000)
    assert lab.values(0) == "v-2 v-1 v-0"


def test_statements_of_one_name_follow_one_another_and_those_of_others_do_not() -> None:
    lab = one_broker()
    lab.produce("first")
    lab.produce("first", producer="p2")
    for name, value in (("p1", "a"), ("p1", "b"), ("p2", "c")):
        wanted = Produce(topic="t", partition=0, value=value, count=3, acks=1, producer=name)
        lab.submit(wanted)
    lab.wait(1_000)
    values = lab.values(0).split()[2:]
    assert [each for each in values if each[0] != "c"] == ["a-0", "a-1", "a-2", "b-0", "b-1", "b-2"]
    assert values[:2] in (["a-0", "c-0"], ["c-0", "a-0"])


def test_what_becomes_of_statements_in_the_background_is_not_kept() -> None:
    lab = one_broker()
    for value in "abc":
        lab.do(Produce(topic="t", partition=0, value=value, background=True))
    lab.wait(1_000)
    assert lab.values(0).split() == ["a", "b", "c"]
    assert lab.cluster.clients.state.finished == {}


def test_a_pause_is_kept_from_the_start_of_one_request_to_the_next() -> None:
    lab = one_broker()
    lab.produce("v", count=4, every_us=SECOND_US)
    times = [each.time_us for each in lab.seen.of(ProduceSent)]
    assert [after - before for before, after in pairwise(times)] == [SECOND_US] * 3


def test_a_pause_holds_for_several_under_way_too() -> None:
    lab = one_broker()
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="ProduceResponse"))
    lab.submit(Produce(topic="t", partition=0, value="v", count=9, in_flight=5, every_us=SECOND_US))
    lab.wait(2_500)
    assert len(lab.seen.of(ProduceSent)) == 3


def test_a_silent_broker_is_asked_for_the_leader_for_three_seconds() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="MetadataResponse"))
    begin_us = lab.cluster.now_us
    assert lab.produce("a")[0].error == "NONE"
    assert RESPONSE_US <= lab.cluster.now_us - begin_us < RESPONSE_US + SECOND_US


def test_a_broken_question_is_put_to_the_next_broker_at_once() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="MetadataResponse"))
    ticket = lab.submit(Produce(topic="t", partition=0, value="a", acks=1))
    lab.wait(20)
    lab.do(ReleaseMessages(source=0, destination=CLIENTS, lose=True))
    lab.wait(50)
    assert ticket.outcome is not None


def test_an_id_is_asked_of_another_broker_if_one_is_silent() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="InitProducerIdResponse"))
    wanted = Produce(topic="t", partition=0, value="a", idempotent=True)
    assert lab.do(wanted).error == "NONE"
    asked = [each.destination for each in lab.seen.of(MessageSent, name="InitProducerIdRequest")]
    assert list(dict.fromkeys(asked)) == [0, 1]


def test_an_id_is_looked_for_until_there_is_one() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    for broker in (0, 1):
        lab.do(HoldMessages(source=broker, destination=CLIENTS, api="InitProducerIdResponse"))
    ticket = lab.submit(Produce(topic="t", partition=0, value="a", idempotent=True))
    lab.wait(20_000)
    assert not ticket.done
    lab.do(ReleaseMessages(source=1, destination=CLIENTS))
    lab.wait(5_000)
    assert ticket.outcome is not None
    assert lab.values(1) == "a"


def asked_for_leaders(lab: Lab) -> list[int]:
    return [each.destination for each in lab.seen.of(MessageSent, name="MetadataRequest")]


def test_a_frozen_broker_is_found_out_by_its_silence_and_not_asked_while_another_answers() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(FreezeBroker(broker=0))
    begin_us = lab.cluster.now_us
    assert lab.produce("a")[0].error == "NONE"
    assert RESPONSE_US <= lab.cluster.now_us - begin_us < RESPONSE_US + SECOND_US
    assert asked_for_leaders(lab) == [0, 1]
    lab.do(Produce(topic="u", value="b", retries=0))
    assert set(asked_for_leaders(lab)[2:]) == {1}


def test_a_crashed_broker_refuses_the_connection_and_the_next_one_is_asked_at_once() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(CrashBroker(broker=0))
    begin_us = lab.cluster.now_us
    assert lab.produce("a")[0].error == "NONE"
    assert lab.cluster.now_us - begin_us < SECOND_US // 10
    assert asked_for_leaders(lab) == [0, 1]


def test_one_producers_silent_connection_tells_another_nothing() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(FreezeBroker(broker=0))
    lab.produce("a")
    lab.produce("b", producer="p2")
    assert asked_for_leaders(lab) == [0, 1, 0, 1]


def test_a_broker_that_answers_again_is_asked_again() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(CrashBroker(broker=0))
    lab.produce("a")
    lab.do(StartBroker(broker=0))
    lab.do(CrashBroker(broker=1))
    lab.wait(2_000)
    lab.do(Produce(topic="t", partition=0, value="b", retries=0))
    assert asked_for_leaders(lab)[2] == 0


def test_a_copy_of_a_cluster_goes_on_with_what_is_under_way() -> None:
    lab = one_broker()
    under_way(lab, count=9, in_flight=4)
    copy = lab.cluster.fork()
    for cluster in (lab.cluster, copy):
        cluster.network.release(0, CLIENTS, None, lose=False)
        Runner(cluster).run_until(cluster.now_us + SECOND_US)
    assert copy.clients.state.producers["p1"].acked == 10
    assert copy.state_hash == lab.cluster.state_hash


@pytest.mark.parametrize("version", ["0.8.2", "0.10.2"])
def test_before_0_11_there_are_no_idempotent_producers(version: str) -> None:
    outcome = one_broker(version).do(Produce(topic="t", idempotent=True))
    assert outcome.refused
    assert outcome.error == "UNSUPPORTED_VERSION"
    assert "0.11" in outcome.message


@pytest.mark.parametrize("options", [{"acks": 1}, {"acks": 0}, {"retries": 0}, {"in_flight": 6}])
def test_what_contradicts_idempotence_is_refused_before_anything_is_sent(
    options: dict[str, Any],
) -> None:
    lab = one_broker()
    outcome = lab.do(Produce(topic="t", idempotent=True, **options))
    assert outcome.refused
    assert outcome.error == "INVALID_CONFIG"
    assert lab.seen.of(MessageSent, source=CLIENTS) == []
