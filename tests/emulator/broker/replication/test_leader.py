"""A leader, message by message: produce, wait, answer, and questions about its log."""

import pytest

from emulator.broker.replication.purgatory import PurgatoryState
from emulator.events import CLIENTS, EpochCacheChanged, MessageSent, RecordsAppended
from emulator.inputs.statements import ConfigureTopic, PauseReplica
from emulator.protocol import (
    ListOffsetsRequest,
    OffsetsForLeaderEpochRequest,
    ProduceRequest,
    RecordBatch,
)
from emulator.releases.profiles import VERSIONS
from emulator.replication.partition import effective_min_isr, epoch_error
from tests.support.generations import ASSIGNED_AT_ELECTION, WITH_EPOCHS, since
from tests.support.lab import TP, Lab

SECOND_US = 1_000_000


def led_by_0(version: str = "3.9", **options: object) -> Lab:
    """t-0 on 0, 1 and 2, led by 0; followers fetch when they are told."""
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1, 2, **options)
    return lab


def send(lab: Lab, broker: int, *, acks: int, tp: str = TP, timeout_us: int = SECOND_US) -> int:
    """A ProduceRequest of one record; returns its number. Nothing is noted in the ledger."""
    request = ProduceRequest(tp, RecordBatch(0, 1, -1, 7), acks, timeout_us)
    number = lab.cluster.network.send(CLIENTS, broker, request)
    lab.wait(6)
    return number


def response_to(lab: Lab, request: int) -> list[object] | None:
    """Error and base offset of the response to a request; None: none yet."""
    found = lab.seen.of(MessageSent, name="ProduceResponse", request=request)
    return list(found[0].detail[0][1:]) if found else None


# ---- produce


def test_acks_1_is_answered_after_the_leaders_append() -> None:
    lab = led_by_0()
    assert response_to(lab, send(lab, 0, acks=1)) == ["NONE", 0]
    assert lab.ends(0, 1) == "1/0 0/0"


@pytest.mark.parametrize("version", VERSIONS)
def test_other_acks_are_refused_from_0_9(version: str) -> None:
    lab = led_by_0(version)
    refused = version in since("0.9")
    error = ["INVALID_REQUIRED_ACKS", -1] if refused else ["NONE", 0]
    assert response_to(lab, send(lab, 0, acks=2)) == error
    assert lab.ends(0) == ("0/0" if refused else "1/0")
    if refused:
        assert response_to(lab, send(lab, 0, acks=-2)) == error


def test_acks_0_is_never_answered() -> None:
    lab = led_by_0()
    assert response_to(lab, send(lab, 0, acks=0)) is None
    assert lab.ends(0) == "1/0"


def test_acks_0_to_a_broker_that_does_not_lead_is_never_answered() -> None:
    lab = led_by_0()
    lab.produce("known")
    before = len(lab.seen.of(MessageSent, name="ProduceResponse"))
    send(lab, 1, acks=0)
    send(lab, 0, acks=0, tp="nope-0")
    lab.wait(10)
    assert len(lab.seen.of(MessageSent, name="ProduceResponse")) == before


@pytest.mark.parametrize(
    ("broker", "tp", "error"),
    [
        (1, TP, "NOT_LEADER_OR_FOLLOWER"),
        (0, "nope-0", "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_what_is_not_led_here_is_refused(broker: int, tp: str, error: str) -> None:
    lab = led_by_0()
    assert response_to(lab, send(lab, broker, acks=1, tp=tp)) == [error, -1]


def test_acks_all_waits_for_everybody_in_the_isr() -> None:
    lab = led_by_0()
    request = send(lab, 0, acks=-1)
    lab.fetch(1, times=2)
    lab.fetch(2)
    assert response_to(lab, request) is None
    lab.fetch(2)
    assert response_to(lab, request) == ["NONE", 0]


def test_acks_all_is_answered_at_once_where_the_leader_is_the_isr() -> None:
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    assert response_to(lab, send(lab, 0, acks=-1)) == ["NONE", 0]


def test_acks_all_times_out_and_the_record_stays() -> None:
    lab = led_by_0()
    request = send(lab, 0, acks=-1, timeout_us=SECOND_US)
    lab.wait(990)
    assert response_to(lab, request) is None
    lab.wait(10)
    assert response_to(lab, request) == ["REQUEST_TIMED_OUT", -1]
    assert lab.ends(0) == "1/0"


def test_each_waiting_request_has_its_own_time() -> None:
    lab = led_by_0()
    early = send(lab, 0, acks=-1, timeout_us=SECOND_US)
    late = send(lab, 0, acks=-1, timeout_us=3 * SECOND_US)
    lab.wait(2000)
    assert response_to(lab, early) == ["REQUEST_TIMED_OUT", -1]
    assert response_to(lab, late) is None
    lab.wait(2000)
    assert response_to(lab, late) == ["REQUEST_TIMED_OUT", -1]
    assert lab.cluster.brokers[0].state.core.produces == PurgatoryState()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_leader_that_is_replaced_fails_what_waits(version: str) -> None:
    lab = led_by_0(version)
    request = send(lab, 0, acks=-1, timeout_us=60 * SECOND_US)
    lab.tell(leader=1, epoch=1, isr=[1, 0, 2], brokers=[0, 1, 2])
    assert response_to(lab, request) == ["NOT_LEADER_OR_FOLLOWER", -1]


# ---- min.insync.replicas


MIN_ISR_4 = {"min.insync.replicas": "4"}


@pytest.mark.parametrize("version", VERSIONS)
def test_min_insync_replicas_counts_at_most_the_replicas_from_3_7(version: str) -> None:
    lab = led_by_0(version, config=MIN_ISR_4)
    replicas, replica = lab.cluster.brokers[0].core.replicas, lab.replica(0)
    effective = effective_min_isr(replica, replicas.rules, replicas.moment)
    assert effective == (3 if version in since("3.9") else 4)


@pytest.mark.parametrize("version", since("documents", "3.5"))
def test_too_small_an_isr_refuses_acks_all_only(version: str) -> None:
    lab = led_by_0(version, config=MIN_ISR_4)
    assert response_to(lab, send(lab, 0, acks=-1)) == ["NOT_ENOUGH_REPLICAS", -1]
    assert lab.ends(0) == "0/0"
    assert response_to(lab, send(lab, 0, acks=1)) == ["NONE", 0]


def test_a_minimum_that_is_changed_holds_once_the_broker_has_been_notified() -> None:
    lab = led_by_0()
    assert response_to(lab, send(lab, 0, acks=1)) == ["NONE", 0]
    lab.do(ConfigureTopic(topic="t", config={"min.insync.replicas": "3"}))
    lab.wait(10)
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[0])
    assert response_to(lab, send(lab, 0, acks=-1)) == ["NOT_ENOUGH_REPLICAS", -1]


# ---- becoming leader


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_leader_knows_no_follower_and_one_that_stays_remembers(version: str) -> None:
    lab = led_by_0(version)
    lab.produce("a")
    lab.fetch(1)
    lab.fetch_at(1, 0, 1, 0 if version in since("2.1") else -1)
    assert lab.remote(0) == {1: 1, 2: -1}
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[0])
    assert lab.remote(0) == {1: 1, 2: -1}
    assert lab.ends(0) == "1/1"
    lab.tell(leader=1, epoch=2, isr=[0, 1], brokers=[1])
    assert lab.remote(1) == {0: -1, 2: -1}


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_an_epoch_enters_the_cache_at_the_election_from_2_0_1(version: str) -> None:
    lab = led_by_0(version)
    lab.produce("a")
    lab.tell(leader=0, epoch=1, isr=[0], brokers=[0])
    at_election = version in ASSIGNED_AT_ELECTION
    assert lab.epochs(0) == ([(0, 0), (1, 1)] if at_election else [(0, 0)])
    lab.produce("b")
    assert lab.epochs(0) == [(0, 0), (1, 1)]
    assert lab.seen.of(EpochCacheChanged, broker=0)[-1].entries == [(0, 0), (1, 1)]


def test_a_hw_outside_the_log_of_a_new_leader_begins_anew() -> None:
    lab = led_by_0("2.0.1")
    lab.replica(0).high_watermark = 9
    lab.tell(leader=0, epoch=1, isr=[0], brokers=[0])
    assert lab.ends(0) == "0/0"


@pytest.mark.parametrize("version", VERSIONS)
def test_records_carry_the_leaders_epoch_where_there_are_epochs(version: str) -> None:
    lab = led_by_0(version)
    lab.tell(leader=0, epoch=4, isr=[0], brokers=[0])
    lab.produce("a")
    epoch = lab.seen.of(RecordsAppended, broker=0)[0].leader_epoch
    assert epoch == (4 if version in (*WITH_EPOCHS, "documents") else -1)


# ---- questions


def ask(lab: Lab, request: OffsetsForLeaderEpochRequest | ListOffsetsRequest) -> list[object]:
    lab.cluster.network.send(1, 0, request)
    lab.wait(1)
    name = type(request).__name__.replace("Request", "Response")
    found: MessageSent = lab.seen.of(MessageSent, name=name, source=0)[-1]
    return list(found.detail[0]) if found.detail else []


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_a_leader_says_where_an_epoch_ends(version: str) -> None:
    lab = led_by_0(version)
    lab.produce("a", "b")
    lab.tell(leader=0, epoch=1, isr=[0], brokers=[0])
    lab.produce("c")
    told = ask(lab, OffsetsForLeaderEpochRequest(1, {TP: (-1, 0)}, one_shot=True))
    epoch = 0 if version in since("2.0.0") else -1
    assert told == [TP, "NONE", epoch, 2]


@pytest.mark.parametrize("version", since("2.1"))
@pytest.mark.parametrize(
    ("current", "error"), [(0, "FENCED_LEADER_EPOCH"), (2, "UNKNOWN_LEADER_EPOCH"), (1, "NONE")]
)
def test_a_question_of_another_epoch_is_refused(version: str, current: int, error: str) -> None:
    lab = led_by_0(version)
    lab.tell(leader=0, epoch=1, isr=[0], brokers=[0])
    told = ask(lab, OffsetsForLeaderEpochRequest(1, {TP: (current, 0)}, one_shot=True))
    assert told[1] == error


def test_epochs_are_checked_before_leadership() -> None:
    lab = led_by_0()
    rules = lab.cluster.brokers[1].core.replicas.rules
    replica = lab.replica(1)
    assert epoch_error(None, 0, rules) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert epoch_error(replica, 5, rules) == "UNKNOWN_LEADER_EPOCH"
    assert epoch_error(replica, 0, rules) == "NOT_LEADER_OR_FOLLOWER"
    assert epoch_error(replica, -1, rules) == "NOT_LEADER_OR_FOLLOWER"


# ---- what is remembered of followers that are at rest


def test_a_follower_at_the_log_end_is_caught_up_at_its_last_fetch_though_nothing_is_written() -> (
    None
):
    lab = Lab("3.9")
    lab.topic(0, 1)
    lab.produce("a")
    lab.wait(5000)
    remote_us = lab.cluster.brokers[0].core.sessions.caught_up_us(lab.replica(0), 1)
    assert lab.cluster.now_us - remote_us <= 501_000


def test_a_paused_follower_is_not_caught_up_any_longer() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    lab.wait(1000)
    lab.do(PauseReplica(tp=TP, broker=1))
    lab.produce("a")
    before_us = lab.cluster.brokers[0].core.sessions.caught_up_us(lab.replica(0), 1)
    lab.wait(5000)
    assert lab.cluster.brokers[0].core.sessions.caught_up_us(lab.replica(0), 1) == before_us


def test_a_request_over_the_limit_of_the_socket_closes_its_connection() -> None:
    lab = Lab("3.9", config={"socket.request.max.bytes": "200"})
    lab.topic(0, 1)
    small, large = lab.produce("x", "x" * 500)
    assert (small.error, large.error) == ("NONE", "NETWORK_EXCEPTION")
    assert lab.values(0) == "x"
