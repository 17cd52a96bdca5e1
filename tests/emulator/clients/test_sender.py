"""What becomes of a batch: errors, retries, time limits."""

from typing import Any

import pytest

from emulator.clients.sender import FORGETS_LEADER, ROUTING
from emulator.common.errors import ERRORS
from emulator.events import CLIENTS, MessageLost, MessageSent, ProduceFailed, ProduceRetried
from emulator.inputs.statements import (
    ConfigureTopic,
    CrashBroker,
    CutLink,
    DeleteTopic,
    DropOnLink,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    PauseReplica,
    Produce,
    ReleaseMessages,
    StartBroker,
)
from emulator.protocol import ProduceResponse
from tests.support.lab import SECOND_US, Lab

FAST = {"zookeeper.session.timeout.ms": "4000", "auto.leader.rebalance.enable": "false"}
TOO_FEW = {"min.insync.replicas": "2"}


def alone(version: str = "3.9", **config: str) -> Lab:
    """One broker with ``t-0``."""
    lab = Lab(version, brokers=1)
    lab.topic(0, config={name.replace("_", "."): value for name, value in config.items()})
    return lab


def seconds_for(lab: Lab, value: str = "x", **options: object) -> tuple[str, float]:
    """How a record ended, and after how many seconds."""
    begin_us = lab.cluster.now_us
    [outcome] = lab.produce(value, **options)  # type: ignore[arg-type]
    return outcome.error, (lab.cluster.now_us - begin_us) / SECOND_US


def attempts(lab: Lab) -> int:
    return len(lab.seen.of(MessageSent, name="ProduceRequest"))


def test_every_error_named_here_exists_and_can_be_tried_again() -> None:
    assert all(ERRORS[name].retriable for name in (*ROUTING, *FORGETS_LEADER))


# ---- errors of the leader


def refusing(version: str) -> Lab:
    """A leader with too small an ISR for acks=all."""
    lab = Lab(version, brokers=2, config=FAST)
    lab.topic(0, 1, config=TOO_FEW)
    lab.produce("a")
    lab.do(CrashBroker(broker=1))
    lab.wait(10_000)
    return lab


def test_a_refused_record_is_tried_again_as_often_as_asked_100_ms_apart() -> None:
    lab = refusing("2.0.1")
    error, seconds = seconds_for(lab, acks=-1, retries=3)
    assert error == "NOT_ENOUGH_REPLICAS"
    assert 0.3 <= seconds < 0.4
    assert attempts(lab) == 1 + 4
    assert lab.cluster.clients.state.producers["p1"].retries == 3


def test_up_to_2_0_nothing_is_tried_again_by_default() -> None:
    lab = refusing("2.0.1")
    assert seconds_for(lab, acks=-1, retries=None)[0] == "NOT_ENOUGH_REPLICAS"
    assert attempts(lab) == 1 + 1


@pytest.mark.parametrize("version", ["2.1", "2.8", "3.5"])
def test_from_2_1_a_record_is_tried_again_for_two_minutes(version: str) -> None:
    lab = refusing(version)
    error, seconds = seconds_for(lab, acks=-1, retries=None)
    assert error == "NOT_ENOUGH_REPLICAS"
    assert seconds == 120
    assert attempts(lab) > 1_000


def test_a_record_that_succeeds_in_time_is_no_failure() -> None:
    lab = refusing("3.5")
    ticket = lab.submit(Produce(topic="t", partition=0, value="x", acks=-1))
    lab.wait(60_000)
    lab.do(ConfigureTopic(topic="t", config={"min.insync.replicas": "1"}))
    lab.wait(200)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"


@pytest.mark.parametrize(
    ("version", "largest"), [("0.9", 26 + 100), ("0.10.2", 34 + 100), ("3.9", 61 + 7 + 100)]
)
def test_a_message_over_the_topic_limit_is_refused_and_not_tried_again(
    version: str, largest: int
) -> None:
    lab = alone(version, max_message_bytes=str(largest))
    assert seconds_for(lab, "v" * 101, retries=9)[0] == "MESSAGE_TOO_LARGE"
    assert attempts(lab) == 1
    assert seconds_for(lab, "v" * 100)[0] == "NONE"
    assert lab.values(0) == "v" * 100


def test_the_broker_limit_holds_for_topics_without_one() -> None:
    lab = Lab("3.9", brokers=1, config={"message.max.bytes": "200"})
    lab.topic(0)
    assert seconds_for(lab, "v" * 200)[0] == "MESSAGE_TOO_LARGE"
    lab.do(ConfigureTopic(topic="t", config={"max.message.bytes": "300"}))
    assert seconds_for(lab, "v" * 200)[0] == "NONE"


# ---- no leader, no partition, no topic


def test_a_bad_name_fails_at_once() -> None:
    lab = alone()
    begin_us = lab.cluster.now_us
    assert lab.do(Produce(topic="what?", value="x")).error == "INVALID_TOPIC_EXCEPTION"
    assert lab.cluster.now_us - begin_us < SECOND_US


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (Produce(topic="u", retries=0), "UNKNOWN_TOPIC_OR_PARTITION"),
        (Produce(topic="t", partition=5, retries=0), "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
    ids=["topic", "partition"],
)
def test_what_does_not_exist_is_looked_for_for_three_seconds(wanted: Produce, error: str) -> None:
    lab = alone()
    begin_us = lab.cluster.now_us
    assert lab.do(wanted).error == error
    assert 3 * SECOND_US <= lab.cluster.now_us - begin_us < 3.3 * SECOND_US
    assert attempts(lab) == 0


def test_without_any_broker_there_is_no_leader() -> None:
    lab = alone()
    lab.do(CrashBroker(broker=0))
    assert seconds_for(lab, retries=0)[0] == "LEADER_NOT_AVAILABLE"


@pytest.mark.parametrize("version", ["1.1", "3.9"])
def test_a_topic_may_be_deleted_under_a_producer(version: str) -> None:
    lab = alone(version)
    lab.produce("a")
    lab.do(DeleteTopic(topic="t"))
    lab.wait(1_000)
    assert seconds_for(lab, retries=2)[0] == "UNKNOWN_TOPIC_OR_PARTITION"
    assert lab.cluster.partitions() == []
    lab.topic(0)
    assert seconds_for(lab, "b")[0] == "NONE"
    assert lab.values(0) == "b"


# ---- time limits


def test_the_leader_says_that_time_is_up_and_keeps_the_record() -> None:
    lab = Lab("2.0.1", brokers=2)
    lab.topic(0, 1)
    lab.do(PauseReplica(tp="t-0", broker=1))
    error, seconds = seconds_for(lab, acks=-1, timeout_us=SECOND_US)
    assert error == "REQUEST_TIMED_OUT"
    assert 1 < seconds < 1.1
    assert lab.values(0) == "x"


@pytest.mark.parametrize("version", ["0.8.2", "3.9"])
def test_a_silent_leader_is_given_up_two_seconds_after_its_limit(version: str) -> None:
    lab = alone(version)
    lab.produce("a")
    lab.do(FreezeBroker(broker=0))
    error, seconds = seconds_for(lab, timeout_us=SECOND_US)
    assert error == "NETWORK_EXCEPTION"
    assert seconds == 3


def test_two_minutes_end_an_attempt_that_is_still_under_way() -> None:
    """Nothing arrives: three attempts of 32 s, and the rest of the fourth."""
    lab = alone("3.9")
    lab.produce("a")
    lab.do(HoldMessages(source=CLIENTS, destination=0, api="ProduceRequest"))
    assert seconds_for(lab, retries=None) == ("NETWORK_EXCEPTION", 120)
    assert attempts(lab) == 1 + 4


def test_the_error_that_came_last_is_the_one_that_stands() -> None:
    """A frozen broker: first no response, then nobody left to ask for the leader."""
    lab = alone("3.9")
    lab.produce("a")
    lab.do(FreezeBroker(broker=0))
    assert seconds_for(lab, retries=None) == ("LEADER_NOT_AVAILABLE", 120)


@pytest.mark.parametrize("version", ["2.4", "3.9"])
def test_batches_that_wait_for_their_turn_end_in_time_too(version: str) -> None:
    """Only the oldest is sent again; the others never have their turn."""
    lab = refusing(version)
    options: dict[str, Any] = {"retries": None, "idempotent": True, "count": 4, "in_flight": 4}
    options["acks"] = None
    error, seconds = seconds_for(lab, **options)
    assert error == "NOT_ENOUGH_REPLICAS"
    assert 120 <= seconds < 120.2  # from 3.6 on, 0.1 s later: the producer id is asked for twice
    producer = lab.cluster.clients.state.producers["p1"]
    assert (producer.acked, producer.failed, producer.pending) == (1, 4, 0)
    assert lab.values(0) == "a"


def test_a_longer_request_timeout_makes_the_whole_time_longer() -> None:
    lab = alone("3.9")
    lab.produce("a")
    lab.do(FreezeBroker(broker=0))
    assert seconds_for(lab, timeout_us=200 * SECOND_US) == ("NETWORK_EXCEPTION", 202)


# ---- connections


def test_a_broken_connection_may_have_delivered_the_record() -> None:
    lab = alone("2.0.1")
    lab.produce("a")
    lab.do(DropOnLink(source=0, destination=CLIENTS, percent=100, one_way=True))
    assert seconds_for(lab)[0] == "NETWORK_EXCEPTION"
    assert lab.values(0) == "a x"


def test_v5_acks_0_succeeds_at_a_broker_that_leads_no_longer_and_learns_of_the_leader() -> None:
    lab = Lab("3.9", brokers=2, config=FAST)
    lab.topic(0, 1)
    lab.produce("a", acks=0)
    lab.wait(50)
    lab.tell(leader=1, epoch=1, isr=[0, 1], brokers=[0, 1])
    lab.produce("lost", acks=0)
    lab.wait(50)
    lab.produce("b", acks=0)
    lab.wait(50)
    assert lab.values(1) == "a b"
    assert lab.cluster.clients.state.producers["p1"].acked == 3


def test_an_error_without_acks_breaks_no_other_producer() -> None:
    lab = Lab("3.9", brokers=2, config=FAST)
    lab.topic(0, 1, config=TOO_FEW)
    lab.produce("a", acks=0, producer="careless")
    lab.produce("a")
    lab.do(PauseReplica(tp="t-0", broker=1))
    ticket = lab.submit(Produce(topic="t", partition=0, value="b", acks=-1, timeout_us=SECOND_US))
    lab.wait(50)
    lab.do(Produce(topic="t", partition=0, value="x" * 2_000_000, acks=0, producer="careless"))
    lab.wait(1_100)
    assert not lab.seen.of(ProduceRetried, error="NETWORK_EXCEPTION")
    assert lab.seen.of(ProduceRetried, producer="p1", error="REQUEST_TIMED_OUT")
    assert not ticket.done


def test_an_error_without_acks_makes_only_its_own_producer_ask_for_the_leader_again() -> None:
    lab = alone()
    for name in ("careless", "careful"):
        lab.produce("a", acks=0, producer=name)
    lab.produce("x" * 2_000_000, acks=0, producer="careless")
    lab.produce("b", acks=0, producer="careful")
    lab.wait(50)
    producers = lab.cluster.clients.state.producers
    assert producers["careless"].leaders == {}
    assert producers["careful"].leaders == {"t": {0: 0}}


def test_a_thousand_records_without_acks_are_sent_at_once() -> None:
    lab = alone()
    lab.produce("a", acks=0, count=2_000)
    assert lab.cluster.clients.state.producers["p1"].acked == 2_000
    lab.wait(100)
    assert lab.replica(0).log.end == 2_000


def test_a_response_to_an_attempt_that_was_given_up_is_not_taken() -> None:
    lab = alone("2.0.1")
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="ProduceResponse"))
    assert seconds_for(lab, timeout_us=SECOND_US)[0] == "NETWORK_EXCEPTION"
    lab.do(ReleaseMessages(source=0, destination=CLIENTS))
    lab.wait(100)
    producer = lab.cluster.clients.state.producers["p1"]
    assert (producer.acked, producer.failed, producer.pending) == (1, 1, 0)
    assert len(lab.seen.of(ProduceFailed)) == 1


def test_a_cut_link_holds_a_record_until_the_client_gives_up() -> None:
    lab = alone("2.0.1")
    lab.produce("a")
    lab.do(CutLink(source=CLIENTS, destination=0))
    assert seconds_for(lab, timeout_us=SECOND_US) == ("NETWORK_EXCEPTION", 3)
    assert lab.values(0) == "a"


def test_a_producer_that_gives_up_loses_its_own_records_only() -> None:
    """Behind a cut link each client waits on a connection of its own."""
    lab = alone("2.0.1")
    for name in ("hasty", "patient", "silent"):
        lab.produce("a", producer=name, acks=0 if name == "silent" else 1)
    lab.wait(50)
    lab.do(CutLink(source=CLIENTS, destination=0))
    patient = Produce(
        topic="t", partition=0, value="b", producer="patient", timeout_us=9 * SECOND_US
    )
    ticket = lab.submit(patient)
    lab.produce("c", acks=0, producer="silent")
    lab.produce("lost", acks=0, producer="hasty")
    assert (
        seconds_for(lab, "lost", producer="hasty", timeout_us=SECOND_US)[0] == "NETWORK_EXCEPTION"
    )
    lab.do(HealLinks())
    lab.wait(50)
    assert lab.values(0) == "a a a b c"
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"


def test_answers_on_their_way_to_others_are_kept_when_one_gives_up() -> None:
    lab = alone("2.0.1")
    for name in ("hasty", "patient"):
        lab.produce("a", producer=name)
    lab.do(CutLink(source=0, destination=CLIENTS, one_way=True))
    patient = Produce(
        topic="t", partition=0, value="b", producer="patient", timeout_us=9 * SECOND_US
    )
    ticket = lab.submit(patient)
    assert seconds_for(lab, "c", producer="hasty", timeout_us=SECOND_US)[0] == "NETWORK_EXCEPTION"
    assert len(lab.seen.of(MessageLost)) == 1
    lab.do(HealLinks())
    lab.wait(50)
    assert lab.values(0) == "a a b c"
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"


def test_a_duplicate_without_an_offset_counts_as_success() -> None:
    """DUPLICATE_SEQUENCE_NUMBER: the leader has the record but forgot where."""
    lab = alone()
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=CLIENTS, api="ProduceResponse"))
    ticket = lab.submit(Produce(topic="t", partition=0, value="b"))
    lab.wait(50)
    [flight] = lab.cluster.clients.state.producers["p1"].flights
    response = ProduceResponse(flight.request, "t-0", "DUPLICATE_SEQUENCE_NUMBER", -1)
    lab.cluster.clients.handle(0, response)
    lab.wait(1)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"


# ---- what counts as a retry


def with_a_stale_leader(version: str) -> Lab:
    """The producer believes that 0 leads; by now 1 does."""
    lab = Lab(version, brokers=2, config=FAST)
    lab.topic(0, 1)
    lab.wait(1_000)
    lab.produce("a")
    lab.tell(leader=1, epoch=1, isr=[0, 1], brokers=[0, 1])
    return lab


@pytest.mark.parametrize("version", ["0.8.2", "1.1", "3.9"])
def test_a_batch_that_is_sent_again_costs_no_retry_unless_retries_are_strict(version: str) -> None:
    lab = with_a_stale_leader(version)
    refused = lab.produce("b", retries=0, strict_retries=True)
    assert [each.error for each in refused] == ["NOT_LEADER_OR_FOLLOWER"]
    assert lab.cluster.clients.state.producers["p1"].retries == 0
    for strict, charged in ((True, 1), (False, 0)):
        lab = with_a_stale_leader(version)
        [ended] = lab.produce("b", retries=1, strict_retries=strict)
        assert ended.error == "NONE"
        assert lab.cluster.clients.state.producers["p1"].retries == charged


@pytest.mark.parametrize("version", ["0.8.2", "1.1", "3.9"])
def test_looking_for_a_leader_costs_no_retry_however_strict(version: str) -> None:
    lab = Lab(version, brokers=2, config=FAST)
    lab.topic(1)
    lab.do(CrashBroker(broker=1))
    lab.wait(8_000)
    lab.submit(Produce(topic="t", value="a", retries=0, strict_retries=True, background=True))
    lab.wait(20_000)
    assert lab.cluster.clients.state.producers["p1"].pending == 1
    lab.do(StartBroker(broker=1))
    lab.wait(10_000)
    producer = lab.cluster.clients.state.producers["p1"]
    assert (producer.acked, producer.failed, producer.retries) == (1, 0, 0)
