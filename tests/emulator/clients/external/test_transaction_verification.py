"""Leaders ask coordinators about transactions before they append (KIP-890), also across brokers."""

import pytest

from emulator.inputs.statements import CrashBroker, CreateTopic, CutLink, HealLinks
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.transaction_states import (
    DescribeProducersRequest,
    DescribeProducersTopic,
)
from emulator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.emulator.clients.external.test_transactions import (
    NAMES,
    TransactionalProducer,
    leader_of,
    read,
)
from tests.support.wire_client import WireLab

US_PER_SECOND = 1_000_000
VERIFY = "transaction.partition.verification.enable"


def lab_of(version: str = "3.9", **config: str) -> WireLab:
    made = WireLab.made(
        version=version,
        config={"transaction.state.log.num.partitions": "1", **config},
        brokers=3,
    )
    made.run(CreateTopic(topic="t", assignment=[[0, 1, 2], [1, 2, 0], [2, 0, 1]]))
    made.pass_time(5 * US_PER_SECOND)
    return made


def coordinator_of(lab: WireLab) -> int:
    return leader_of(lab, "__transaction_state-0")


@pytest.mark.parametrize("partition", range(3))
def test_a_partition_that_was_not_added_is_refused_by_every_leader(partition: int) -> None:
    lab = lab_of()
    producer = TransactionalProducer(lab)
    assert producer.init() == "NONE"
    tp = f"t-{partition}"
    assert producer.send(tp, "early") == "INVALID_TXN_STATE"
    producer.transact([tp], "in time", commit=True)
    assert producer.send(tp, "late") == "INVALID_TXN_STATE"
    assert read(lab, tp) == ["in time"]


@pytest.mark.parametrize(
    ("version", "config"), [("3.5", {}), ("2.8", {}), ("3.9", {VERIFY: "false"})]
)
def test_nobody_asks_before_3_6_or_if_it_is_off(version: str, config: dict[str, str]) -> None:
    lab = lab_of(version, **config)
    producer = TransactionalProducer(lab, version="2.8")
    assert producer.init() == "NONE"
    assert producer.send("t-0", "hanging") == "NONE"
    asked = DescribeProducersRequest([DescribeProducersTopic("t", [0])])
    response = lab.ask(lab.connect(0), asked, 0)
    (row,) = response.topics[0].partitions[0].active_producers
    assert row.current_txn_start_offset == 0, "the transaction hangs"


def test_a_coordinator_that_cannot_be_reached_is_not_enough_replicas(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = lab_of()
    producer = TransactionalProducer(lab)
    assert producer.init(timeout_ms=600_000) == "NONE"
    coordinator = coordinator_of(lab)
    tp = next(f"t-{n}" for n in range(3) if leader_of(lab, f"t-{n}") != coordinator)
    assert producer.add(tp) == ["NONE"]
    lab.run(CutLink(source=leader_of(lab, tp), destination=coordinator))
    received = lab.received
    monkeypatch.setattr(lab, "received", lambda here: received(here, 60 * US_PER_SECOND))
    assert producer.send(tp, "paid") == "NOT_ENOUGH_REPLICAS"
    lab.run(HealLinks())
    lab.pass_time(US_PER_SECOND)
    assert producer.send(tp, "paid") == "NONE"


def test_produce_12_adds_the_partition_itself() -> None:
    lab = lab_of("4.0")
    producer = TransactionalProducer(lab, version="4.1")
    producer.versions = {**producer.versions, "produce": 12}
    assert producer.init() == "NONE"
    assert [producer.send(f"t-{number}", "paid") for number in range(3)] == ["NONE"] * 3
    assert producer.end(commit=True) == "NONE"
    lab.pass_time(US_PER_SECOND)
    assert [read(lab, f"t-{number}") for number in range(3)] == [["paid"]] * 3


@pytest.mark.parametrize("version", ["3.7", "3.9", "4.1"])
def test_a_commit_whose_transaction_cannot_be_verified_is_sent_again(version: str) -> None:
    lab = lab_of(version, **{"offsets.topic.num.partitions": "1"})
    producer = TransactionalProducer(lab, version="2.8")
    assert producer.init(timeout_ms=600_000) == "NONE"
    coordinator = coordinator_of(lab)
    adding = AddOffsetsToTxnRequest(producer.name, producer.id, producer.epoch, "g")
    while lab.ask(producer.coordinator(), adding, 3).error_code:
        lab.pass_time(US_PER_SECOND)
    while lab.ask(lab.connect(), FindCoordinatorRequest("g"), 0).error_code:
        lab.pass_time(US_PER_SECOND)
    leader = leader_of(lab, "__consumer_offsets-0")
    assert leader != coordinator
    rows = [TxnOffsetCommitRequestPartition(0, 5)]
    topics = [TxnOffsetCommitRequestTopic("t", partitions=rows)]
    here = lab.connect(leader)
    commit = TxnOffsetCommitRequest(producer.name, "g", producer.id, producer.epoch, topics=topics)
    lab.send(here, commit, 3)
    lab.pass_time(30)
    lab.run(CrashBroker(broker=coordinator))
    response = lab.received(here, 60 * US_PER_SECOND)
    assert NAMES[response.topics[0].partitions[0].error_code] == "COORDINATOR_LOAD_IN_PROGRESS"
