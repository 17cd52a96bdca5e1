"""Transactions by raw frames in virtual time: commit, abort, fencing, crashes, time-outs."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from emulator.cluster import Cluster
from emulator.common.errors import ERRORS
from emulator.coordinator.transaction_metadata import EPOCH_MAX
from emulator.events import Event, MessageSent
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    HoldMessages,
    ReleaseMessages,
    StartBroker,
)
from emulator.scenario.runner import Runner
from emulator.wire.messages.committed_offsets import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from emulator.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from emulator.wire.messages.produce import (
    InitProducerIdRequest,
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from emulator.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from emulator.wire.records import record_batch
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer
from emulator.wire.types import Message
from tests.support.wire_client import WireLab, values_in

COMMITTED, UNCOMMITTED = 1, 0
ABORT = b"\0\0\0\0"
NAMES = {error.code: error.name for error in ERRORS.values()}
VERSIONS = {
    "0.11": {"init": 0, "produce": 3, "add": 0, "end": 0, "fetch": 5, "list": 2},
    "2.0": {"init": 1, "produce": 6, "add": 1, "end": 1, "fetch": 8, "list": 3},
    "2.8": {"init": 4, "produce": 9, "add": 3, "end": 3, "fetch": 12, "list": 6},
    "3.9": {"init": 5, "produce": 9, "add": 3, "end": 3, "fetch": 12, "list": 7},
    "4.1": {"init": 5, "produce": 11, "add": 3, "end": 4, "fetch": 12, "list": 8},
}
NEWER = {**VERSIONS["4.1"], "produce": 12, "end": 5}
"""What producers send for transactions of version 2 (KIP-890)."""


def leader_of(lab: WireLab, tp: str) -> int:
    found = lab.cluster.state_of(tp)
    assert found is not None
    return found.leader


class TransactionalProducer:
    """A transactional producer, request by request; it asks again while it is told to."""

    def __init__(self, lab: WireLab, name: str = "x", version: str = "3.9") -> None:
        self.lab = lab
        self.name = name
        self.versions = VERSIONS.get(version, NEWER)
        self.id, self.epoch = -1, -1
        self.sequences: dict[str, int] = {}

    # ---- requests

    def coordinator(self) -> int:
        """A connection to the coordinator, once there is one."""
        for _ in range(400):
            asked = FindCoordinatorRequest(self.name, key_type=1)
            here = self.lab.connect(next(iter(self._running())))
            found = self.lab.ask(here, asked, 1)
            self.lab.hang_up(here)
            if not found.error_code and found.node_id in self._running():
                return self.lab.connect(found.node_id)
            self.lab.pass_time(50_000)
        raise AssertionError("there is no coordinator")

    def _running(self) -> list[int]:
        brokers = self.lab.cluster.brokers.values()
        return [
            each.id for each in brokers if each.takes_requests and each.state.state == "running"
        ]

    def _until_answered(self, request: Message, version: int, code: Callable[[Any], int]) -> Any:  # noqa: ANN401
        """Ask the coordinator until it says something else than that it should be asked again."""
        for _ in range(400):
            response = self.lab.ask(self.coordinator(), request, version)
            error = NAMES[code(response)]
            if not ERRORS[error].retriable:
                return response
            self.lab.pass_time(50_000)
        raise AssertionError(error)

    def init(self, timeout_ms: int = 60_000) -> str:
        request = InitProducerIdRequest(self.name, timeout_ms, self.id, self.epoch)
        response = self._until_answered(request, self.versions["init"], lambda a: a.error_code)
        if not response.error_code:
            self.id, self.epoch = response.producer_id, response.producer_epoch
            self.sequences.clear()
        return NAMES[response.error_code]

    def add(self, *tps: str) -> list[str]:
        topics = [
            AddPartitionsToTxnTopic(tp.rpartition("-")[0], [int(tp.rpartition("-")[2])])
            for tp in tps
        ]
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=topics,
        )

        def first(response: AddPartitionsToTxnResponse) -> int:
            row = response.results_by_topic_v3_and_below[0].results_by_partition[0]
            return int(row.partition_error_code)

        response = self._until_answered(request, self.versions["add"], first)
        return [
            NAMES[row.partition_error_code]
            for topic in response.results_by_topic_v3_and_below
            for row in topic.results_by_partition
        ]

    def send(self, tp: str, *values: str) -> str:
        """Produce to a partition's leader."""
        batch = record_batch.build(
            [Record(None, value.encode(), 1_700_000_000_000) for value in values],
            producer=Producer(self.id, self.epoch, self.sequences.get(tp, 0)),
            is_transactional=True,
        )
        topic, _, number = tp.rpartition("-")
        rows = [PartitionProduceData(int(number), batch)]
        request = ProduceRequest(
            self.name, -1, 30_000, [TopicProduceData(topic, partition_data=rows)]
        )
        leader = leader_of(self.lab, tp)
        response = self.lab.ask(self.lab.connect(leader), request, self.versions["produce"])
        error = NAMES[response.responses[0].partition_responses[0].error_code]
        if error == "NONE":
            self.sequences[tp] = self.sequences.get(tp, 0) + len(values)
        return error

    def end(self, *, commit: bool) -> str:
        request = EndTxnRequest(self.name, self.id, self.epoch, commit)
        response = self._until_answered(request, self.versions["end"], lambda a: a.error_code)
        if not response.error_code and self.versions["end"] >= 5:
            self.id, self.epoch = response.producer_id, response.producer_epoch
            self.sequences.clear()
        return NAMES[response.error_code]

    def transact(self, tps: Sequence[str], *values: str, commit: bool) -> None:
        """A whole transaction, its markers included."""
        assert set(self.add(*tps)) == {"NONE"}
        for tp in tps:
            assert self.send(tp, *values) == "NONE"
        assert self.end(commit=commit) == "NONE"
        self.lab.pass_time(1_000_000)


def fetched(
    lab: WireLab, tp: str, isolation: int, offset: int = 0, version: int = 4
) -> PartitionData:
    topic, _, number = tp.rpartition("-")
    rows = [FetchPartition(int(number), -1, offset, partition_max_bytes=1 << 20)]
    request = FetchRequest(isolation_level=isolation, topics=[FetchTopic(topic, partitions=rows)])
    response = lab.ask(lab.connect(leader_of(lab, tp)), request, version)
    found: PartitionData = response.responses[0].partitions[0]
    return found


def read(lab: WireLab, tp: str, isolation: int = COMMITTED) -> list[str]:
    """What a consumer makes of a partition: it leaves out markers and what was aborted."""
    row = fetched(lab, tp, isolation)
    aborted = [(each.first_offset, each.producer_id) for each in row.aborted_transactions or ()]
    leaving_out: set[int] = set()
    found: list[str] = []
    for batch in record_batch_list(row.records or b""):
        header = record_batch.read_header(batch)
        leaving_out |= {who for first, who in aborted if first <= header.last_offset}
        aborted = [each for each in aborted if each[0] > header.last_offset]
        if header.is_control:
            (marker,) = record_batch.decode(batch)
            if marker.key == ABORT:
                leaving_out.discard(header.producer_id)
            continue
        if not (header.is_transactional and header.producer_id in leaving_out):
            found += [value for _, value in values_in(batch)]
    return found


def record_batch_list(records: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(records):
        end = at + 12 + int.from_bytes(records[at + 8 : at + 12])
        found.append(records[at:end])
        at = end
    return found


def latest(lab: WireLab, tp: str, isolation: int, version: int = 7) -> int:
    topic, _, number = tp.rpartition("-")
    rows = [ListOffsetsPartition(int(number), timestamp=-1)]
    request = ListOffsetsRequest(isolation_level=isolation, topics=[ListOffsetsTopic(topic, rows)])
    response = lab.ask(lab.connect(leader_of(lab, tp)), request, version)
    return int(response.topics[0].partitions[0].offset)


def made(version: str = "3.9", **config: str) -> WireLab:
    small = {"transaction.state.log.num.partitions": "3"}
    lab = WireLab.made(version=version, config={**small, **config})
    lab.pass_time(3_000_000)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2], [1, 2, 0]]))
    lab.pass_time(500_000)
    return lab


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_committed_is_read_and_what_is_aborted_is_not(version: str) -> None:
    lab = made(version)
    producer = TransactionalProducer(lab, version=version)
    assert producer.init() == "NONE"
    assert (producer.epoch, producer.id >= 0) == (0, True)
    producer.transact(["t-0", "t-1"], "a", "b", commit=True)
    producer.transact(["t-0"], "c", commit=False)
    producer.transact(["t-0"], "d", commit=True)
    assert read(lab, "t-0", UNCOMMITTED) == ["a", "b", "c", "d"]
    assert read(lab, "t-0") == ["a", "b", "d"]
    assert read(lab, "t-1") == ["a", "b"]
    row = fetched(lab, "t-0", COMMITTED, version=VERSIONS[version]["fetch"])
    assert (row.high_watermark, row.last_stable_offset) == (7, 7)
    aborted = row.aborted_transactions or ()
    assert [(a.producer_id, a.first_offset) for a in aborted] == [(producer.id, 3)]
    assert fetched(lab, "t-0", UNCOMMITTED).aborted_transactions is None


def test_an_open_transaction_holds_back_who_reads_committed() -> None:
    lab = made()
    producer = TransactionalProducer(lab)
    producer.init()
    producer.transact(["t-0"], "a", commit=True)
    producer.add("t-0")
    producer.send("t-0", "b")
    row = fetched(lab, "t-0", COMMITTED)
    assert (row.high_watermark, row.last_stable_offset) == (3, 2)
    assert read(lab, "t-0") == ["a"]
    assert (latest(lab, "t-0", COMMITTED), latest(lab, "t-0", UNCOMMITTED)) == (2, 3)
    assert producer.end(commit=True) == "NONE"
    lab.pass_time(1_000_000)
    assert read(lab, "t-0") == ["a", "b"]
    assert latest(lab, "t-0", COMMITTED) == 4


@pytest.mark.parametrize(
    ("version", "error"), [("2.0", "INVALID_PRODUCER_EPOCH"), ("3.9", "PRODUCER_FENCED")]
)
def test_a_second_producer_of_the_id_aborts_and_fences_the_first(version: str, error: str) -> None:
    lab = made(version)
    zombie = TransactionalProducer(lab, version=version)
    zombie.init()
    zombie.add("t-0")
    zombie.send("t-0", "never")
    second = TransactionalProducer(lab, version=version)
    assert second.init() == "NONE"
    assert (second.id, second.epoch) == (zombie.id, 2)  # 1 is the epoch that aborted
    assert zombie.add("t-0") == [error]
    assert zombie.end(commit=True) == error
    assert zombie.send("t-0", "late") == "INVALID_PRODUCER_EPOCH"
    second.transact(["t-0"], "a", commit=True)
    assert read(lab, "t-0") == ["a"]


def test_a_new_coordinator_ends_what_the_old_one_began() -> None:
    lab = made(**{"transaction.state.log.min.isr": "1"})
    producer = TransactionalProducer(lab)
    producer.init()
    producer.add("t-0", "t-1")
    producer.send("t-0", "a")
    producer.send("t-1", "b")
    here = producer.coordinator()
    coordinator = lab.external.state.connections[here].broker
    request = EndTxnRequest(producer.name, producer.id, producer.epoch, True)
    lab.send(here, request, 3)
    while not lab.responses[here]:
        lab.pass_time(20)
    assert lab.received(here).error_code == 0
    lab.run(CrashBroker(broker=coordinator))
    lab.pass_time(30_000_000)
    assert lab.cluster.brokers[coordinator].state.state == "crashed"
    assert (read(lab, "t-0"), read(lab, "t-1")) == (["a"], ["b"])
    producer.transact(["t-0"], "c", commit=True)
    assert read(lab, "t-0") == ["a", "c"]


def test_a_transaction_survives_the_crash_of_a_leader() -> None:
    lab = made()
    producer = TransactionalProducer(lab)
    producer.init()
    producer.transact(["t-0"], "aborted", commit=False)
    producer.add("t-0")
    producer.send("t-0", "a")
    lab.run(CrashBroker(broker=0))
    lab.pass_time(30_000_000)
    assert leader_of(lab, "t-0") == 1
    assert (read(lab, "t-0"), read(lab, "t-0", UNCOMMITTED)) == ([], ["aborted", "a"])
    producer.send("t-0", "b")
    assert producer.end(commit=True) == "NONE"
    lab.pass_time(1_000_000)
    assert read(lab, "t-0") == ["a", "b"]
    lab.run(StartBroker(broker=0))
    lab.pass_time(30_000_000)
    replica = lab.cluster.brokers[0].core.replicas.by_name["t-0"]
    assert replica.last_stable_offset == replica.high_watermark == replica.log_end


def test_a_transaction_that_takes_too_long_is_aborted() -> None:
    lab = made()
    producer = TransactionalProducer(lab)
    producer.init(timeout_ms=5_000)
    producer.add("t-0")
    producer.send("t-0", "a")
    lab.pass_time(20_000_000)
    assert read(lab, "t-0") == []
    assert fetched(lab, "t-0", COMMITTED).last_stable_offset == 2
    assert producer.end(commit=True) == "PRODUCER_FENCED"


def test_a_timeout_beyond_the_brokers_is_refused() -> None:
    assert TransactionalProducer(made()).init(timeout_ms=900_001) == "INVALID_TRANSACTION_TIMEOUT"


def test_positions_of_a_transaction_count_once_it_is_committed() -> None:
    lab = made()
    producer = TransactionalProducer(lab)
    producer.init()
    find = FindCoordinatorRequest("g", key_type=0)
    while lab.ask(lab.connect(), find, 1).error_code:
        lab.pass_time(100_000)
    group = lab.connect(lab.ask(lab.connect(), find, 1).node_id)

    def commit_offset(offset: int) -> None:
        request = AddOffsetsToTxnRequest(producer.name, producer.id, producer.epoch, "g")
        assert lab.ask(producer.coordinator(), request, 3).error_code == 0
        rows = [TxnOffsetCommitRequestPartition(0, offset)]
        topics = [TxnOffsetCommitRequestTopic("t", partitions=rows)]
        wanted = TxnOffsetCommitRequest(
            producer.name, "g", producer.id, producer.epoch, topics=topics
        )
        response = lab.ask(group, wanted, 3)
        assert response.topics[0].partitions[0].error_code == 0

    def position(*, stable: bool) -> tuple[int, str]:
        wanted = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup("g", topics=None)], require_stable=stable
        )
        (found,) = lab.ask(group, wanted, 8).groups
        if not found.topics:
            return -1, "NONE"
        (row,) = found.topics[0].partitions
        return row.committed_offset, NAMES[row.error_code]

    commit_offset(5)
    assert position(stable=False)[0] == -1
    producer.end(commit=True)
    lab.pass_time(1_000_000)
    assert position(stable=True) == (5, "NONE")
    commit_offset(9)
    assert position(stable=True) == (-1, "UNSTABLE_OFFSET_COMMIT")
    assert position(stable=False) == (5, "NONE")
    producer.end(commit=False)
    lab.pass_time(1_000_000)
    assert position(stable=True) == (5, "NONE")


def test_a_producer_that_begins_anew_goes_on_in_its_next_epoch() -> None:
    lab = made()
    producer = TransactionalProducer(lab)
    producer.init()
    first = (producer.id, producer.epoch)
    assert producer.init() == "NONE"
    assert (producer.id, producer.epoch) == (first[0], first[1] + 1)
    producer.id, producer.epoch = first  # its response was lost: it asks again (KIP-360)
    assert producer.init() == "NONE"
    assert producer.epoch == first[1] + 1
    producer.epoch = 7
    assert producer.init() == "PRODUCER_FENCED"


@pytest.mark.parametrize("version", ["3.9", "4.1"])
def test_the_same_inputs_come_to_the_same_state_without_a_client(version: str) -> None:
    lab = made(version)
    producer = TransactionalProducer(lab, version=version)
    producer.init()
    producer.transact(["t-0", "t-1"], "a", commit=True)
    producer.add("t-0")
    producer.send("t-0", "open")
    again = Runner(Cluster(lab.cluster.spec))
    for time_us, steps, statement in lab.given:
        again.return_to(time_us, steps)
        again.submit(statement)
    again.return_to(lab.runner.now_us, lab.runner.steps)
    assert again.state_hash == lab.runner.state_hash
    copy = WireLab(lab.runner.fork())
    copy.pass_time(120_000_000)
    assert copy.cluster.brokers[0].core.replicas.by_name["t-0"].last_stable_offset == 4
    lab.pass_time(120_000_000)
    assert copy.runner.state_hash == lab.runner.state_hash


def test_a_transactional_id_that_nobody_uses_is_forgotten() -> None:
    config = {
        "transactional.id.expiration.ms": "60000",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "10000",
    }
    lab = WireLab.made(version="3.9", config=config)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    lab.pass_time(100_000)
    producer = TransactionalProducer(lab)
    assert producer.init() == "NONE"
    producer.transact(["t-0"], "paid", commit=True)
    lab.pass_time(55_000_000)
    producer.transact(["t-0"], "shipped", commit=True)  # it is used, and kept
    lab.pass_time(55_000_000)
    assert producer.add("t-0") == ["NONE"]
    lab.pass_time(58_000_000)
    assert producer.send("t-0", "returned") == "NONE"  # an ongoing transaction keeps it, too
    assert producer.end(commit=True) == "NONE"
    lab.pass_time(80_000_000)
    assert producer.add("t-0") == ["INVALID_PRODUCER_ID_MAPPING"]
    crashed = leader_of(lab, "__transaction_state-0")
    lab.run(CrashBroker(broker=crashed))
    lab.pass_time(10_000_000)
    assert producer.add("t-0") == ["INVALID_PRODUCER_ID_MAPPING"]
    again = TransactionalProducer(lab)
    assert again.init() == "NONE"
    assert again.id != producer.id


def test_a_producer_that_has_used_up_its_epochs_goes_on_with_a_new_id() -> None:
    lab = made("4.1")
    producer = TransactionalProducer(lab, version="newer")
    producer.init()
    coordinator = lab.external.state.connections[producer.coordinator()].broker
    known = lab.cluster.brokers[coordinator].state.core.transactions.transactions[producer.name]
    known.epoch = producer.epoch = EPOCH_MAX
    first = producer.id
    assert producer.send("t-0", "a") == "NONE"
    assert producer.end(commit=True) == "NONE"
    assert producer.id != first
    assert producer.epoch == 0
    lab.pass_time(1_000_000)
    again = EndTxnRequest(producer.name, first, EPOCH_MAX, True)
    response = lab.ask(producer.coordinator(), again, 5)
    assert (NAMES[response.error_code], response.producer_id) == ("NONE", producer.id)
    assert producer.send("t-0", "b") == "NONE"
    assert producer.end(commit=False) == "NONE"
    assert (producer.id != first, producer.epoch) == (True, 1)
    assert read(lab, "t-0") == ["a"]


def test_a_leader_waits_a_while_for_the_end_of_a_producers_previous_transaction() -> None:
    lab = made("4.1")
    producer = TransactionalProducer(lab, version="newer")
    producer.init()
    coordinator = leader_of(lab, lab.cluster.brokers[0].core.transactions.log.partition_of("x"))
    topic = next(tp for tp in ("t-0", "t-1") if leader_of(lab, tp) != coordinator)
    asked: list[int] = []

    def note(event: Event) -> None:
        if isinstance(event, MessageSent) and event.name == "AddPartitionsToTxnRequest":
            asked.append(event.time_us)

    producer.send(topic, "a")
    lab.cluster.subscribe(note)
    link = {"source": coordinator, "destination": leader_of(lab, topic)}
    lab.run(HoldMessages(**link, api="WriteTxnMarkersRequest"))
    assert producer.end(commit=True) == "NONE"
    assert producer.send(topic, "b") == "CONCURRENT_TRANSACTIONS"
    assert len(asked) == 6
    assert all(20_000 < b - a < 21_000 for a, b in pairwise(asked))
    lab.run(ReleaseMessages(source=coordinator, destination=link["destination"]))
    assert producer.send(topic, "b") == "NONE"
    assert producer.end(commit=True) == "NONE"
    lab.pass_time(1_000_000)
    assert read(lab, topic) == ["a", "b"]


def test_the_end_of_a_transaction_without_an_id_is_an_invalid_request() -> None:
    """Whichever broker is asked: that it coordinates no such id is not looked at."""
    lab = made("4.1")
    for broker in lab.cluster.brokers:
        response = lab.ask(lab.connect(broker), EndTxnRequest("", 1, 0, True), NEWER["end"])
        assert NAMES[response.error_code] == "INVALID_REQUEST"
