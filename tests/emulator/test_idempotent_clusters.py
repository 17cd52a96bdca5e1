"""Idempotent producers through whole clusters: recorded answers, failovers, cuts and restarts."""

import json
from pathlib import Path
from typing import Any

import pytest

from emulator.common.errors import ERRORS, LOADING
from emulator.events import CLIENTS, MessageSent, ProduceAcknowledged, ProduceRetried
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    ConfigureTopic,
    CrashBroker,
    DropOnLink,
    HoldMessages,
    PauseReplica,
    Produce,
    ReleaseMessages,
    ResumeReplica,
    StartBroker,
    WaitUntil,
)
from emulator.protocol import ProduceRequest, RecordBatch
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Ticket
from tests.emulator.broker.zookeeper_membership.test_producer_ids import ask
from tests.support.lab import SECOND_US, TP, Lab
from tests.support.releases import profile_of

RECORDED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "golden" / "idempotence.json").read_text("utf-8")
)
IDEMPOTENT = ("0.11", "1.1", "2.4", "2.5", "3.9")
MANY = 1_000_000
RESPONSE_MS = 50
FAST = {"zookeeper.session.timeout.ms": "4000", "auto.leader.rebalance.enable": "false"}


def produce(lab: Lab, value: str, **options: Any) -> Outcome:
    """One record of an idempotent producer."""
    return lab.do(statement_for(value, **options))


def statement_for(value: str, **options: Any) -> Produce:
    return Produce(topic="t", partition=0, value=value, idempotent=True, **options)


def led_by(broker: int) -> list[Clause]:
    """The condition that ``t-0`` is led by a broker."""
    return [Clause(Subject("partition", TP, "leader"), "==", broker)]


def identify(lab: Lab) -> int:
    """A producer id from broker 0, which from 3.6 on has to be asked again after its start."""
    [(error, producer_id, _)] = ask(lab)
    if error == LOADING:
        [(error, producer_id, _)] = ask(lab)
    assert error == "NONE"
    return producer_id


def send(lab: Lab, producer: int, epoch: int, sequence: int, count: int = 1) -> tuple[str, int]:
    """What the leader of ``t-0`` answers to a batch: error and base offset."""
    info = lab.cluster.state_of(TP)
    assert info is not None
    sent_after = lab.cluster.sequence
    first = lab.cluster.ledger.enter(
        "p", TP, [None] * count, ["v"] * count, acks=-1, now_us=lab.cluster.kernel.now
    )
    batch = RecordBatch(0, count, -1, first, producer, epoch, sequence)
    request = ProduceRequest(TP, batch, -1, 5_000_000)
    lab.cluster.network.send(CLIENTS, info.leader, request)
    lab.wait(RESPONSE_MS)
    responses = lab.seen.of(MessageSent, name="ProduceResponse")
    [response] = [each for each in responses if each.seq > sent_after]
    _, error, offset = response.detail[0]
    return error, offset


# ---- what real brokers answered


@pytest.mark.parametrize("recorded", RECORDED, ids=[each["kafka"] for each in RECORDED])
def test_a_cluster_answers_as_real_brokers_did(recorded: dict[str, Any]) -> None:
    lab = Lab(profile_of(recorded["kafka"]).version, brokers=1)
    lab.topic(0)
    ids = {name: identify(lab) for name in "AB"}
    for step in recorded["steps"]:
        numbers = step["epoch"], step["base_sequence"], step["records"]
        error, offset = send(lab, ids[step["producer"]], *numbers)
        assert (ERRORS[error].code, offset) == (step["error"], step["base_offset"]), step
    block = json.loads(lab.cluster.zookeeper.get("/latest_producer_id_block").data or "")
    assert block == recorded["latest_producer_id_block"]


@pytest.mark.parametrize("version", IDEMPOTENT)
def test_v34_the_window_of_an_idempotent_producer(version: str) -> None:
    lab = Lab(version, brokers=1)
    lab.topic(0)
    refused = ("OUT_OF_ORDER_SEQUENCE_NUMBER", -1)
    assert [send(lab, 7, 0, n) for n in range(7)] == [("NONE", n) for n in range(7)]
    assert send(lab, 7, 0, 2) == (refused if version == "0.11" else ("NONE", 2))
    assert send(lab, 7, 0, 1) == refused
    assert send(lab, 7, 0, 8) == refused
    assert send(lab, 7, 0, 7) == ("NONE", 7)
    assert send(lab, 7, 1, 3) == refused
    assert send(lab, 7, 1, 0) == ("NONE", 8)
    assert send(lab, 7, 0, 8) == ("INVALID_PRODUCER_EPOCH", -1)
    assert lab.replica(0).log.end == 9


# ---- through failures


@pytest.mark.parametrize("version", IDEMPOTENT)
def test_a_name_keeps_its_id_and_its_numbers_from_statement_to_statement(version: str) -> None:
    lab = Lab(version, brokers=1)
    lab.topic(0)
    for value in "abc":
        assert produce(lab, value).error == "NONE"
    assert produce(lab, "d", producer="p2").error == "NONE"
    batches = lab.replica(0).log.batches
    assert [(b.producer_id, b.base_sequence) for b in batches] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    asked = 3 if lab.cluster.profile.has("producer_ids_without_waiting") else 2
    assert len(lab.seen.of(MessageSent, name="InitProducerIdRequest")) == asked


@pytest.mark.parametrize("version", IDEMPOTENT)
def test_a_plain_statement_between_uses_up_no_number(version: str) -> None:
    lab = Lab(version, brokers=1)
    lab.topic(0)
    produce(lab, "a")
    lab.produce("b")
    produce(lab, "c")
    batches = lab.replica(0).log.batches
    assert [b.base_sequence for b in batches] == [0, -1, 1]


@pytest.mark.parametrize("version", IDEMPOTENT)
def test_a_restarted_leader_knows_the_batches_in_its_log(version: str) -> None:
    lab = Lab(version, brokers=1)
    lab.topic(0)
    producer = identify(lab)
    assert [send(lab, producer, 0, n) for n in range(3)] == [("NONE", n) for n in range(3)]
    lab.do(CrashBroker(broker=0))
    lab.do(StartBroker(broker=0))
    lab.do(WaitUntil(clauses=led_by(0)))
    lab.wait(1_000)
    assert send(lab, producer, 0, 2) == ("NONE", 2)
    assert send(lab, producer, 0, 3) == ("NONE", 3)
    assert lab.replica(0).log.end == 4


@pytest.mark.parametrize("version", IDEMPOTENT)
def test_followers_have_the_same_table_as_their_leader(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(0, 1, 2)
    for value in "abcdefg":
        produce(lab, value)
        produce(lab, value, producer="p2", batch=2, count=4)
    lab.wait(1_000)
    tables = [lab.replica(broker).producers for broker in range(3)]
    assert tables[0] == tables[1] == tables[2]
    assert [len(state.batches) for state in tables[0].producers.values()] == [5, 5]


@pytest.mark.parametrize("version", ["0.11", "2.4", "3.9"])
def test_a_batch_that_was_truncated_is_forgotten_and_may_come_again(version: str) -> None:
    """The old leader has a batch that nobody copied; back as a follower it loses it."""
    lab = Lab(version, brokers=3, config=FAST)
    lab.topic(1, 2)
    produce(lab, "a")
    producer = lab.cluster.clients.state.producers["p1"].identity.producer_id
    lab.do(PauseReplica(tp=TP, broker=2))
    lab.submit(statement_for("b"))
    lab.wait(100)
    assert lab.values(1) == "a b"
    lab.do(CrashBroker(broker=1))
    lab.do(WaitUntil(clauses=led_by(2)))
    lab.do(ResumeReplica(tp=TP, broker=2))
    lab.wait(1_000)
    assert lab.values(2) == "a b"
    lab.do(StartBroker(broker=1))
    lab.wait(5_000)
    assert lab.values(1) == "a b"
    assert lab.replica(1).producers == lab.replica(2).producers
    assert len(lab.replica(1).producers.producers[producer].batches) == 2
    assert lab.cluster.audit.count("duplicated") == lab.cluster.audit.count("lost") == 0


@pytest.mark.parametrize("version", IDEMPOTENT)
@pytest.mark.parametrize("seed", range(4))
def test_a_lossy_link_makes_no_duplicates(version: str, seed: int) -> None:
    lab = Lab(version, brokers=3, seed=seed)
    lab.topic(0, 1, 2)
    lab.do(DropOnLink(source=CLIENTS, destination=0, percent=20))
    wanted = Produce(topic="t", partition=0, value="v", count=60, idempotent=True, retries=MANY)
    assert lab.do(wanted).error == "NONE"
    assert lab.values(0).split() == [f"v-{n}" for n in range(60)]
    assert lab.seen.of(ProduceRetried, error="NETWORK_EXCEPTION")


@pytest.mark.parametrize("version", ["1.1", "2.4", "3.9"])
@pytest.mark.parametrize("seed", range(4))
def test_five_under_way_on_a_lossy_link_keep_their_order(version: str, seed: int) -> None:
    lab = Lab(version, brokers=3, seed=seed)
    lab.topic(0, 1, 2)
    produce(lab, "first")
    lab.do(DropOnLink(source=CLIENTS, destination=0, percent=10))
    wanted = Produce(
        topic="t", partition=0, value="v", count=60, idempotent=True, in_flight=5, retries=MANY
    )
    assert lab.do(wanted).error == "NONE"
    assert lab.values(0).split() == ["first", *(f"v-{n}" for n in range(60))]


@pytest.mark.parametrize("version", ["0.9", "3.9"])
def test_without_idempotence_a_lossy_link_duplicates_and_the_audit_tells(version: str) -> None:
    lab = Lab(version, brokers=3)
    lab.topic(0, 1, 2)
    lab.do(DropOnLink(source=0, destination=CLIENTS, percent=20, one_way=True))
    wanted = Produce(topic="t", partition=0, value="v", count=60, acks=1, in_flight=3, retries=MANY)
    assert lab.do(wanted).error == "NONE"
    values = lab.values(0).split()
    assert len(set(values)) == 60
    assert lab.cluster.audit.count("duplicated") == len(values) - 60 > 0
    assert lab.cluster.audit.count("lost") == 0


# ---- first batches (KAFKA-14359)


def first_two_under_way(version: str) -> tuple[Lab, Ticket]:
    """Two first batches under way; the first one is refused, the second finds a larger ISR."""
    lab = Lab(version, brokers=3, config=FAST)
    lab.topic(1, 2, config={"min.insync.replicas": "2"})
    lab.do(CrashBroker(broker=2))
    lab.wait(10_000)
    for broker in (0, 1):  # each has a block of producer ids then
        ask(lab, broker)
    lab.do(HoldMessages(source=CLIENTS, destination=1, api="ProduceRequest"))
    wanted = Produce(
        topic="t", partition=0, value="v", count=2, in_flight=2, idempotent=True, retries=MANY
    )
    ticket = lab.submit(wanted)
    lab.wait(50)
    lab.do(ReleaseMessages(source=CLIENTS, destination=1, count=1))
    lab.wait(50)
    lab.do(ConfigureTopic(topic="t", config={"min.insync.replicas": "1"}))
    lab.do(ReleaseMessages(source=CLIENTS, destination=1))
    lab.wait(1_000)
    return lab, ticket


@pytest.mark.parametrize("version", ["1.1", "2.4"])
def test_up_to_2_4_a_leader_refuses_a_first_batch_from_the_middle(version: str) -> None:
    lab, ticket = first_two_under_way(version)
    assert ticket.done
    assert lab.values(1) == "v-0 v-1"
    assert lab.seen.of(ProduceRetried, error="UNKNOWN_PRODUCER_ID")


@pytest.mark.parametrize("version", ["2.5", "3.9"])
def test_from_2_5_it_takes_it_and_then_refuses_the_first_one_for_good(version: str) -> None:
    lab, ticket = first_two_under_way(version)
    assert lab.values(1) == "v-1"
    lab.wait(120_000)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "OUT_OF_ORDER_SEQUENCE_NUMBER"
    producer = lab.cluster.clients.state.producers["p1"]
    assert (producer.acked, producer.failed) == (1, 1)


# ---- lost state


def lost_everything(version: str) -> Lab:
    """A producer whose records went with an unclean election."""
    unclean = {**FAST, "unclean.leader.election.enable": "true"}
    lab = Lab(version, brokers=3, config=unclean)
    lab.topic(1, 2)
    lab.do(PauseReplica(tp=TP, broker=2))
    lab.wait(40_000)
    produce(lab, "a")
    produce(lab, "b")
    lab.do(CrashBroker(broker=1))
    lab.do(WaitUntil(clauses=led_by(2)))
    return lab


@pytest.mark.parametrize(
    ("version", "error"),
    [("0.11", "OUT_OF_ORDER_SEQUENCE_NUMBER"), ("2.4", "UNKNOWN_PRODUCER_ID"), ("2.5", "NONE")],
)
def test_a_leader_that_lost_a_producers_records_may_refuse_the_next(
    version: str, error: str
) -> None:
    lab = lost_everything(version)
    assert produce(lab, "c").error == error
    assert produce(lab, "d").error == "NONE"
    identity = lab.cluster.clients.state.producers["p1"].identity
    assert (identity.producer_id > 0) is (error != "NONE")
    assert lab.cluster.audit.count("lost") == 2


def test_in_0_11_a_record_after_one_that_was_given_up_may_be_taken_for_it() -> None:
    """Its number is used again: the success is for the older record, and the newer one is lost."""
    lab = Lab("0.11", brokers=2)
    lab.topic(0, 1)
    lab.do(PauseReplica(tp=TP, broker=1))
    assert produce(lab, "a", retries=1, timeout_us=SECOND_US).error == "REQUEST_TIMED_OUT"
    lab.do(ResumeReplica(tp=TP, broker=1))
    lab.wait(1_000)
    assert produce(lab, "b").error == "NONE"
    assert lab.values(0) == "a"
    assert lab.cluster.audit.count("lost") == 1
    [acknowledged] = lab.seen.of(ProduceAcknowledged)
    assert acknowledged.base_offset == 0
