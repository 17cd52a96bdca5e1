"""Conversations in single requests, held with real brokers and with emulated ones.

``python -m tests.wire.same_requests HOST:PORT > requests/RELEASE.json`` holds them with a broker
that is alone in its cluster, has just been started, and has the settings of :data:`CONFIG`. What
differs from run to run (ids, times) is left out of what is noted, or is compared with what was told
before.
"""

import json
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any, Final, Protocol

from emulator.common.errors import ERROR_NAMES
from emulator.wire.apis import API_NAMED
from emulator.wire.codec import decode_response, encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages import alter_configs as whole
from emulator.wire.messages.cluster import (
    ApiVersionsRequest,
    DescribeClusterRequest,
    MetadataRequest,
    MetadataRequestTopic,
)
from emulator.wire.messages.committed_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from emulator.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterConfigsRequest,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from emulator.wire.messages.groups import DeleteGroupsRequest, DescribeGroupsRequest
from emulator.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from emulator.wire.messages.membership import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
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
from emulator.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from emulator.wire.messages.transaction_states import (
    DescribeProducersRequest,
    DescribeProducersTopic,
    DescribeTransactionsRequest,
    ListTransactionsRequest,
)
from emulator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    EndTxnRequest,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer
from emulator.wire.types import Message

CONFIG: Final = {
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
}
Facts = list[Any]
AGAIN: Final = (
    *("CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE"),
    "NOT_COORDINATOR",
)


class Peer(Protocol):
    """A broker, and connections to it."""

    def connect(self) -> int: ...

    def send(self, connection: int, request: Message, version: int) -> None: ...

    def received(self, connection: int) -> Any: ...  # noqa: ANN401

    def ask(self, connection: int, request: Message, version: int) -> Any: ...  # noqa: ANN401

    def pass_time(self, us: int) -> None: ...


class RealBroker:
    """A broker that listens somewhere."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.address = host, int(port)
        self._sockets: list[socket.socket] = []
        self._asked: list[list[tuple[int, int]]] = []

    def connect(self) -> int:
        self._sockets.append(socket.create_connection(self.address, 60))
        self._asked.append([])
        return len(self._sockets) - 1

    def send(self, connection: int, request: Message, version: int) -> None:
        key = API_NAMED[type(request).__name__.removesuffix("Request")].key
        self._asked[connection].append((key, version))
        frame = encode_request(RequestHeader(key, version, 1, "me"), request)
        self._sockets[connection].sendall(struct.pack(">i", len(frame)) + frame)

    def received(self, connection: int) -> Any:  # noqa: ANN401
        stream = self._sockets[connection].makefile("rb")
        frame = stream.read(int.from_bytes(stream.read(4), "big"))
        key, version = self._asked[connection].pop(0)
        return decode_response(key, version, frame)[1]

    def ask(self, connection: int, request: Message, version: int) -> Any:  # noqa: ANN401
        self.send(connection, request, version)
        return self.received(connection)

    def pass_time(self, us: int) -> None:
        time.sleep(us / 1_000_000)


def error(code: int) -> str:
    return ERROR_NAMES.get(code, str(code))


def create(peer: Peer, here: int, topic: str, partitions: int = 1) -> bytes:
    """Create a topic and wait until it has leaders; its id."""
    peer.ask(here, CreateTopicsRequest([CreatableTopic(topic, partitions, 1)], 5_000), 5)
    wanted = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    while True:
        (found,) = peer.ask(here, wanted, 12).topics
        rows = found.partitions
        if len(rows) == partitions and all(row.leader_id >= 0 for row in rows):
            peer.pass_time(500_000)  # until the leaders know it as well
            topic_id: bytes = found.topic_id
            return topic_id
        peer.pass_time(50_000)


def batch(*values: str, timestamp: int = 1_700_000_000_000) -> bytes:
    return memory_records.build([Record(None, v.encode(), timestamp) for v in values], 2)


def produce(peer: Peer, here: int, topic: str, partition: int, data: bytes) -> Any:  # noqa: ANN401
    rows = [TopicProduceData(topic, partition_data=[PartitionProduceData(partition, data)])]
    response = peer.ask(here, ProduceRequest(None, -1, 5_000, rows), 9)
    return response.responses[0].partition_responses[0]


# ---- fetch sessions (KIP-227)


def fetch_sessions(peer: Peer) -> Facts:
    here, facts, sessions = peer.connect(), Facts(), [0]
    topic_id = create(peer, here, "sessions", 3)

    def fetch(
        session: int,
        epoch: int,
        offsets: dict[int, int] | None = None,
        forgotten: tuple[int, ...] = (),
        version: int = 12,
    ) -> None:
        named = {"topic": "sessions"} if version < 13 else {"topic_id": topic_id}
        rows = [
            FetchPartition(number, fetch_offset=offset, partition_max_bytes=1 << 20)
            for number, offset in (offsets or {}).items()
        ]
        wanted = FetchRequest(
            max_wait_ms=50,
            min_bytes=1,
            session_id=sessions[session],
            session_epoch=epoch,
            topics=[FetchTopic(**named, partitions=rows)] if rows else [],
            forgotten_topics_data=[ForgottenTopic(**named, partitions=list(forgotten))]
            if forgotten
            else [],
        )
        response = peer.ask(here, wanted, version)
        if response.session_id not in sessions:
            sessions.append(response.session_id)
        facts.append(
            [
                error(response.error_code),
                sessions.index(response.session_id),
                [
                    [
                        row.partition_index,
                        error(row.error_code),
                        row.high_watermark,
                        row.log_start_offset,
                        [
                            (each.value or b"").decode()
                            for each in memory_records.decode(row.records or b"")
                        ],
                    ]
                    for topic in response.responses
                    for row in topic.partitions
                ],
            ]
        )

    fetch(0, 0, {0: 0, 1: 0, 2: 0})
    fetch(1, 1)
    produce(peer, here, "sessions", 1, batch("a"))
    fetch(1, 2)
    fetch(1, 3)
    fetch(1, 4, {1: 1})
    for number in range(3):
        produce(peer, here, "sessions", number, batch(f"b{number}"))
    fetch(1, 5)
    fetch(1, 6, {0: 1, 2: 1})
    fetch(1, 7, {1: 99})
    fetch(1, 8)
    fetch(1, 9, {1: 2}, forgotten=(0,))
    fetch(1, 9)
    fetch(1, 11)
    fetch(1, 10, forgotten=(1, 2))
    fetch(1, 11)
    fetch(0, 0, {0: 0})
    fetch(2, 0, {1: 0})
    fetch(2, 1)
    fetch(3, 1, {7: 0})
    fetch(3, 2)
    fetch(3, 3, {1: 0}, version=13)
    fetch(3, -1, {0: 0})
    fetch(3, 3)
    fetch(0, 0, {0: 0}, version=13)
    fetch(4, 1, {0: 1}, version=13)
    fetch(4, 2)
    return facts


# ---- static members (KIP-345)


def static_members(peer: Peer) -> Facts:  # noqa: C901, PLR0915 - one conversation
    here, facts = peer.connect(), Facts()
    wanted = FindCoordinatorRequest(coordinator_keys=["static"])
    while peer.ask(here, wanted, 4).coordinators[0].error_code:
        peer.pass_time(100_000)
    peer.pass_time(500_000)
    known: list[str] = [""]

    def alias(member: str) -> str:
        if member not in known:
            known.append(member)
        return f"member {known.index(member)}" if member else ""

    def join(
        where: int, member: int, instance: str, *names: str, version: int = 7, waits: bool = False
    ) -> Callable[[], None]:
        protocols = [JoinGroupRequestProtocol(name, name.encode()) for name in names or ("range",)]
        fields = ("static", 6_000, 10_000, known[member], instance, "consumer", protocols)
        peer.send(where, JoinGroupRequest(*fields), version)

        def take() -> None:
            response = peer.received(where)
            facts.append(
                [
                    "join",
                    error(response.error_code),
                    response.generation_id,
                    response.protocol_name,
                    alias(response.member_id),
                    response.member_id.startswith(f"{instance}-"),
                    alias(response.leader),
                    response.skip_assignment,
                    sorted([alias(m.member_id), m.group_instance_id] for m in response.members),
                ]
            )

        if not waits:
            take()
        return take

    def sync(
        where: int, generation: int, member: int, instance: str | None, given: dict[int, bytes]
    ) -> None:
        rows = [SyncGroupRequestAssignment(known[each], data) for each, data in given.items()]
        fields = ("static", generation, known[member], instance)
        response = peer.ask(where, SyncGroupRequest(*fields, assignments=rows), 3)
        facts.append(["sync", error(response.error_code), response.assignment.decode()])

    def beat(where: int, generation: int, member: int, instance: str | None) -> None:
        asked = HeartbeatRequest("static", generation, known[member], instance)
        facts.append(["heartbeat", error(peer.ask(where, asked, 3).error_code)])

    def leave(*members: tuple[int, str | None]) -> None:
        rows = [MemberIdentity(known[each], instance) for each, instance in members]
        response = peer.ask(here, LeaveGroupRequest("static", members=rows), 3)
        told = [[error(each.error_code), each.group_instance_id] for each in response.members]
        facts.append(["leave", error(response.error_code), told])

    def describe() -> None:
        (group,) = peer.ask(here, DescribeGroupsRequest(["static"]), 5).groups
        rows = [
            [alias(m.member_id), m.group_instance_id, m.member_assignment.decode()]
            for m in group.members
        ]
        facts.append([group.group_state, sorted(rows)])

    one, two = peer.connect(), peer.connect()
    join(one, 0, "a", "range", "sticky")  # member 1
    sync(one, 1, 1, "a", {1: b"all"})
    take = join(two, 0, "b", "range", "sticky", waits=True)  # member 2
    peer.pass_time(200_000)
    beat(one, 1, 1, "a")
    join(one, 1, "a", "range", "sticky")
    take()
    sync(one, 2, 1, "a", {1: b"first", 2: b"second"})
    sync(two, 2, 2, "b", {})
    describe()
    join(two, 0, "b", "range", "sticky")  # member 3 in the place of 2
    sync(two, 2, 3, "b", {})
    beat(two, 2, 2, "b")
    beat(two, 2, 2, None)
    beat(two, 2, 3, "a")
    beat(two, 2, 3, "nobody")
    beat(two, 2, 3, None)
    join(one, 0, "a", "range", "sticky", version=7)  # member 4 in the place of 1, which leads
    sync(one, 2, 4, "a", {})
    join(one, 0, "a", "range", "sticky", version=9)  # member 5
    join(two, 0, "b", "range", "sticky", version=9)  # member 6
    join(one, 1, "a", "range", "sticky")
    describe()
    leave((0, "nobody"), (2, "b"), (6, "a"), (1, None))
    leave((6, "b"))
    peer.pass_time(200_000)
    beat(one, 2, 5, "a")
    join(one, 5, "a", "range", "sticky")
    sync(one, 3, 5, "a", {5: b"all"})
    leave((0, "a"))
    peer.pass_time(200_000)
    describe()
    return facts


# ---- transactions: verification on produce (KIP-890), and how they are described (KIP-664)


def transactions(peer: Peer) -> Facts:  # noqa: C901, PLR0915 - one conversation
    here, facts = peer.connect(), Facts()
    create(peer, here, "ledger", 2)
    wanted = FindCoordinatorRequest(key_type=1, coordinator_keys=["x", "y"])
    while any(each.error_code for each in peer.ask(here, wanted, 4).coordinators):
        peer.pass_time(100_000)
    peer.pass_time(500_000)
    ids: list[int] = []
    held: dict[str, tuple[int, int]] = {}

    def init(name: str, timeout_ms: int = 60_000) -> None:
        request = InitProducerIdRequest(name, timeout_ms, -1, -1)
        for _ in range(50):
            response = peer.ask(here, request, 4)
            if error(response.error_code) not in AGAIN:
                break
            peer.pass_time(100_000)
        if response.producer_id not in ids:
            ids.append(response.producer_id)
        held[name] = response.producer_id, response.producer_epoch
        told = [ids.index(response.producer_id), response.producer_epoch]
        facts.append(["init", name, error(response.error_code), *told])

    def add(name: str, *numbers: int) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=held[name][0],
            v3_and_below_producer_epoch=held[name][1],
            v3_and_below_topics=[AddPartitionsToTxnTopic("ledger", list(numbers))],
        )
        for _ in range(50):
            (topic,) = peer.ask(here, request, 3).results_by_topic_v3_and_below
            told = [error(each.partition_error_code) for each in topic.results_by_partition]
            if told[0] not in AGAIN:
                break
            peer.pass_time(100_000)
        facts.append(["add", name, told])

    def send(name: str, number: int, sequence: int, version: int, epoch: int | None = None) -> None:
        producer = Producer(held[name][0], held[name][1] if epoch is None else epoch, sequence)
        data = record_batch.build(
            [Record(None, b"v", 1_700_000_000_000)], producer=producer, is_transactional=True
        )
        rows = [TopicProduceData("ledger", partition_data=[PartitionProduceData(number, data)])]
        response = peer.ask(here, ProduceRequest(name, -1, 5_000, rows), version)
        row = response.responses[0].partition_responses[0]
        facts.append(["produce", name, number, error(row.error_code), row.base_offset])

    def end(name: str, *, commit: bool) -> None:
        response = peer.ask(here, EndTxnRequest(name, *held[name], commit), 3)
        facts.append(["end", name, error(response.error_code)])
        peer.pass_time(500_000)

    def describe(*names: str) -> None:
        response = peer.ask(here, DescribeTransactionsRequest(list(names)), 0)
        for each in response.transaction_states:
            facts.append(
                [
                    "transaction",
                    each.transactional_id,
                    error(each.error_code),
                    each.transaction_state,
                    each.transaction_timeout_ms,
                    each.transaction_start_time_ms > 0,
                    ids.index(each.producer_id) if each.producer_id in ids else each.producer_id,
                    each.producer_epoch,
                    [[topic.topic, sorted(topic.partitions)] for topic in each.topics],
                ]
            )

    def listed(
        states: tuple[str, ...] = (), producers: tuple[int, ...] = (), duration_ms: int = -1
    ) -> None:
        request = ListTransactionsRequest(
            list(states), [ids[each] for each in producers], duration_ms
        )
        response = peer.ask(here, request, 1)
        rows = [
            [each.transactional_id, ids.index(each.producer_id), each.transaction_state]
            for each in response.transaction_states
        ]
        told = [error(response.error_code), response.unknown_state_filters]
        facts.append(["list", *told, sorted(rows)])

    def producers(topic: str = "ledger", *numbers: int) -> None:
        asked = DescribeProducersRequest([DescribeProducersTopic(topic, list(numbers))])
        for found in peer.ask(here, asked, 0).topics:
            for row in found.partitions:
                rows = [
                    [
                        ids.index(each.producer_id),
                        each.producer_epoch,
                        each.last_sequence,
                        each.last_timestamp == 1_700_000_000_000,
                        each.coordinator_epoch,
                        each.current_txn_start_offset,
                    ]
                    for each in row.active_producers
                ]
                told = [error(row.error_code), row.error_message]
                facts.append(["producers", row.partition_index, *told, sorted(rows)])

    describe("x")
    init("x")
    init("y")
    describe("x", "")
    send("x", 0, 0, 9)
    send("x", 0, 0, 11)
    add("x", 0)
    send("x", 1, 0, 11)
    send("x", 0, 0, 9)
    send("x", 0, 1, 9)
    describe("x", "y")
    listed()
    listed(("Ongoing",))
    listed(("Ongoing", "Nonsense"), (1,))
    listed((), (1,))
    listed((), (), 60_000)
    listed((), (), 0)
    producers("ledger", 0, 1, 7)
    producers("nowhere", 0)
    end("x", commit=True)
    producers("ledger", 0)
    describe("x")
    send("x", 0, 2, 9)
    send("x", 0, 2, 11)
    add("x", 0, 1)
    send("x", 1, 0, 9)
    end("x", commit=False)
    producers("ledger", 0, 1)
    init("x")
    add("x", 1)
    send("x", 1, 1, 9, epoch=0)
    send("x", 1, 0, 9)
    init("x")
    send("x", 1, 1, 9, epoch=1)
    send("x", 0, 0, 11, epoch=1)
    producers("ledger", 1)
    return facts


# ---- the times of records


NAMES: Final = ("retention.ms", "min.insync.replicas", "cleanup.policy", "message.timestamp.type")


def topics(peer: Peer) -> Facts:
    """What created topics are said to have: id, partitions, replication factor, configuration."""
    here, facts = peer.connect(), Facts()

    def make(version: int, *, validate: bool = False, **wanted: dict[str, Any]) -> None:
        rows = [
            CreatableTopic(
                name,
                each.get("partitions", 1),
                each.get("factor", 1),
                [CreatableReplicaAssignment(*row) for row in each.get("assigned", [])],
                [CreatableTopicConfig(*row) for row in each.get("configs", {}).items()],
            )
            for name, each in wanted.items()
        ]
        response = peer.ask(here, CreateTopicsRequest(rows, 5_000, validate), version)
        peer.pass_time(300_000)
        for each in response.topics:
            configs = [
                [row.name, row.value, row.read_only, row.config_source, row.is_sensitive]
                for row in each.configs or ()
                if row.name in NAMES
            ]
            counts = [each.num_partitions, each.replication_factor, each.topic_config_error_code]
            told = [any(each.topic_id), *counts, sorted(configs)]
            facts.append([version, each.name, error(each.error_code), *told])

    make(5, short={"configs": {"retention.ms": "60000", "cleanup.policy": "compact"}})
    make(7, two={"partitions": 2})
    make(7, short={}, wrong={"configs": {"retention.ms": "soon"}}, none={"partitions": 0})
    make(7, validate=True, only={"partitions": 3})
    make(7, defaults={"partitions": -1, "factor": -1})
    make(7, assigned={"partitions": -1, "factor": -1, "assigned": [(0, [0]), (1, [0])]})
    make(7, many={"factor": 2})
    make(4, older={})
    return facts


def configurations(peer: Peer) -> Facts:  # noqa: PLR0915 - one conversation
    """Configurations of topics and brokers: described, with synonyms, and changed."""
    here, facts = peer.connect(), Facts()
    create(peer, here, "plain")

    def make(name: str, values: dict[str, str]) -> None:
        configs = [CreatableTopicConfig(*each) for each in values.items()]
        peer.ask(here, CreateTopicsRequest([CreatableTopic(name, 1, 1, [], configs)], 5_000), 5)
        peer.pass_time(300_000)

    def describe(kind: int, name: str, *keys: str, version: int = 4, synonyms: bool = True) -> None:
        wanted = DescribeConfigsRequest(
            [DescribeConfigsResource(kind, name, list(keys))], synonyms, include_documentation=False
        )
        (found,) = peer.ask(here, wanted, version).results
        rows = [
            [
                each.name,
                each.value,
                each.read_only,
                each.config_source,
                each.is_default if version == 0 else None,
                each.is_sensitive,
                [[s.name, s.value, s.source] for s in each.synonyms],
                each.config_type,
            ]
            for each in found.configs
        ]
        facts.append(["describe", error(found.error_code), sorted(rows)])

    def change(name: str, *changes: tuple[str, int, str | None], kind: int = 2) -> None:
        rows = [AlterableConfig(*each) for each in changes]
        wanted = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, rows)])
        (found,) = peer.ask(here, wanted, 1).responses
        facts.append(["change", error(found.error_code)])
        peer.pass_time(300_000)

    def replace(name: str, **values: str) -> None:
        rows = [whole.AlterableConfig(key.replace("_", "."), v) for key, v in values.items()]
        wanted = whole.AlterConfigsRequest([whole.AlterConfigsResource(2, name, rows)])
        (found,) = peer.ask(here, wanted, 2).responses
        facts.append(["replace", error(found.error_code)])
        peer.pass_time(300_000)

    make("short", {"retention.ms": "60000", "cleanup.policy": "compact"})
    describe(2, "short", *NAMES)
    describe(2, "short", *NAMES, synonyms=False)
    describe(2, "nowhere", *NAMES)
    describe(4, "0", "min.insync.replicas", "num.partitions", "log.retention.ms")
    describe(4, "1", "num.partitions")
    change("plain", ("retention.ms", 0, "1000"), ("min.insync.replicas", 0, "2"))
    describe(2, "plain", *NAMES)
    change("plain", ("retention.ms", 1, None))
    change("plain", ("cleanup.policy", 2, "compact"))
    describe(2, "plain", *NAMES)
    change("plain", ("cleanup.policy", 3, "delete"))
    describe(2, "plain", *NAMES)
    change("plain", ("retention.ms", 2, "1000"))
    change("plain", ("retention.ms", 0, "soon"))
    change("plain", ("no.such.thing", 0, "1"))
    change("plain", ("retention.ms", 0, "1"), ("retention.ms", 0, "2"))
    change("nowhere", ("retention.ms", 0, "1"))
    change("0", ("min.insync.replicas", 0, "3"), kind=4)
    change("", ("log.retention.ms", 0, "5000"), kind=4)
    describe(4, "0", "min.insync.replicas", "log.retention.ms")
    describe(2, "plain", *NAMES)
    replace("plain", cleanup_policy="delete")
    describe(2, "plain", *NAMES)
    replace("nowhere", cleanup_policy="delete")
    change("0", ("min.insync.replicas", 1, None), kind=4)
    change("", ("log.retention.ms", 1, None), kind=4)
    describe(4, "0", "min.insync.replicas", "log.retention.ms")
    return facts


def timestamps(peer: Peer) -> Facts:
    """The times of records where the broker sets them (message.timestamp.type)."""
    here, facts = peer.connect(), Facts()
    create(peer, here, "stamped")
    asked = IncrementalAlterConfigsRequest(
        [
            AlterConfigsResource(
                2, "stamped", [AlterableConfig("message.timestamp.type", 0, "LogAppendTime")]
            )
        ]
    )
    sent = 1_500_000_000_000

    def write(*values: str) -> int:
        row = produce(peer, here, "stamped", 0, batch(*values, timestamp=sent))
        told = row.log_append_time_ms
        facts.append(["produce", error(row.error_code), row.base_offset, told > sent, told == -1])
        at: int = told
        return at

    def read(offset: int) -> list[int]:
        rows = [FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)]
        wanted = FetchRequest(max_wait_ms=50, topics=[FetchTopic("stamped", partitions=rows)])
        found = peer.ask(here, wanted, 12).responses[0].partitions[0].records or b""
        return [each.timestamp for each in memory_records.decode(found)]

    def look_up(timestamp: int) -> tuple[int, int]:
        rows = [ListOffsetsPartition(0, timestamp=timestamp)]
        wanted = ListOffsetsRequest(topics=[ListOffsetsTopic("stamped", rows)])
        row = peer.ask(here, wanted, 7).topics[0].partitions[0]
        return row.offset, row.timestamp

    write("a", "b")
    facts.append(read(0) == [sent, sent])
    peer.ask(here, asked, 1)
    peer.pass_time(500_000)
    at = write("c", "d")
    facts.append(read(2) == [at, at])
    peer.pass_time(50_000)
    later = write("e")
    facts.append([later > at, read(2) == [at, at, later]])
    facts.append([look_up(sent) == (0, sent), look_up(sent + 1) == (2, at)])
    facts.append([look_up(at + 1) == (4, later), look_up(later + 1) == (-1, -1)])
    facts.append(look_up(-3)[0])
    return facts


def log_directories(peer: Peer) -> Facts:
    """What a broker's log directory contains, and moving replicas to it and elsewhere (KIP-113)."""
    here, facts = peer.connect(), Facts()
    create(peer, here, "sized", 2)
    create(peer, here, "empty")
    written = [batch("a", "b"), batch("c")]
    for data in written:
        produce(peer, here, "sized", 1, data)
    sizes = [0, len(written[0]), sum(map(len, written))]
    peer.pass_time(500_000)
    paths: list[str] = []

    def describe(version: int, *asked: DescribableLogDirTopic) -> None:
        wanted = DescribeLogDirsRequest(list(asked) or None)
        response = peer.ask(here, wanted, version)
        paths[:] = [found.log_dir for found in response.results]
        rows = [
            [
                topic.name,
                sorted(
                    [
                        row.partition_index,
                        sizes.index(row.partition_size) if row.partition_size in sizes else "?",
                        row.offset_lag,
                        row.is_future_key,
                    ]
                    for row in topic.partitions
                ),
            ]
            for found in response.results
            for topic in found.topics
            if topic.name in ("sized", "empty")
        ]
        told = [
            [error(each.error_code), each.total_bytes > 0, each.usable_bytes > 0, each.is_cordoned]
            for each in response.results
        ]
        facts.append([version, error(response.error_code), told, sorted(rows)])

    def move(path: str, version: int, **topics: list[int]) -> None:
        rows = [AlterReplicaLogDirTopic(*each) for each in topics.items()]
        asked = AlterReplicaLogDirsRequest([AlterReplicaLogDir(path, rows)])
        told = [
            [row.topic_name, [[each.partition_index, error(each.error_code)] for each in found]]
            for row in peer.ask(here, asked, version).results
            if (found := sorted(row.partitions, key=lambda each: each.partition_index))
        ]
        facts.append([version, sorted(told)])

    for version in (1, 2, 3, 4):
        describe(version)
    describe(4, DescribableLogDirTopic("sized", [1]))
    describe(4, DescribableLogDirTopic("sized", [0, 7]), DescribableLogDirTopic("nowhere", [0]))
    for version in (1, 2):
        move(paths[0], version, sized=[0, 1])
        move("/no/such/directory", version, sized=[0], empty=[0])
        move(paths[0], version, nowhere=[0], sized=[7])
    describe(4)
    return facts


def features(peer: Peer) -> Facts:
    """The features in ApiVersions (KIP-584)."""
    here, facts = peer.connect(), Facts()
    peer.pass_time(1_000_000)
    newest = {
        each.api_key: each.max_version for each in peer.ask(here, ApiVersionsRequest(), 0).api_keys
    }
    for version in range(newest[18] + 1):
        found = peer.ask(here, ApiVersionsRequest("me", "1"), version)
        supported = [[e.name, e.min_version, e.max_version] for e in found.supported_features]
        finalized = [
            [e.name, e.min_version_level, e.max_version_level] for e in found.finalized_features
        ]
        epoch = min(found.finalized_features_epoch, 1)
        facts.append([version, sorted(supported), sorted(finalized), epoch])
        facts.append(found.zk_migration_ready)
    if newest[18] >= MEANT_SINCE:
        cluster = peer.ask(here, DescribeClusterRequest(), 1)
        for cluster_id in (None, cluster.cluster_id, "another"):
            for broker in (-1, cluster.brokers[0].broker_id, 77):
                asked = ApiVersionsRequest("me", "1", cluster_id, broker)
                found = peer.ask(peer.connect(), asked, MEANT_SINCE)
                facts.append([broker, error(found.error_code), len(found.api_keys) > 1])
    return facts


MEANT_SINCE: Final = 5
"""The first ApiVersions version that names the broker that the client means."""


def topic_ids_of_groups(peer: Peer) -> Facts:  # noqa: C901 - one conversation
    """Committed offsets by topic id (4.2), in transactions too (4.4), and deleted groups."""
    here, facts = peer.connect(), Facts()
    newest = {
        each.api_key: each.max_version for each in peer.ask(here, ApiVersionsRequest(), 0).api_keys
    }
    if newest[8] < 10:
        return []
    ids = {create(peer, here, "named"): "named", bytes(range(16)): "unknown"}
    for kind, name in ((1, "m"), (0, "ids")):
        wanted = FindCoordinatorRequest(key_type=kind, coordinator_keys=[name])
        while any(each.error_code for each in peer.ask(here, wanted, 4).coordinators):
            peer.pass_time(100_000)
    peer.pass_time(500_000)

    def commit(offset: int, *names: str) -> None:
        rows = [
            OffsetCommitRequestTopic(
                topic_id=topic_id, partitions=[OffsetCommitRequestPartition(0, offset)]
            )
            for topic_id, name in ids.items()
            if name in names
        ]
        response = peer.ask(here, OffsetCommitRequest("ids", topics=rows), 10)
        facts.append(["commit", *told(response)])

    def told(response: Any) -> list[Any]:  # noqa: ANN401
        return [
            [ids[t.topic_id], [[p.partition_index, error(p.error_code)] for p in t.partitions]]
            for t in response.topics
        ]

    def fetch(*names: str) -> None:
        rows = [
            OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[0, 1])
            for topic_id, name in ids.items()
            if name in names
        ]
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("ids", topics=rows or None)])
        (group,) = peer.ask(here, asked, 10).groups
        found = [
            [
                ids[topic.topic_id],
                [
                    [row.partition_index, row.committed_offset, error(row.error_code)]
                    for row in topic.partitions
                ],
            ]
            for topic in group.topics
        ]
        facts.append(["fetch", error(group.error_code), found])

    commit(3, "named")
    commit(4, "unknown")
    commit(5, "named", "unknown")
    fetch()
    fetch("named")
    fetch("unknown")
    fetch("unknown", "named")
    if newest[28] >= 6:
        request = InitProducerIdRequest("m", 60_000, -1, -1)
        producer = peer.ask(here, request, 5)
        while producer.error_code:
            peer.pass_time(100_000)
            producer = peer.ask(here, request, 5)
        own = (producer.producer_id, producer.producer_epoch)
        for names in (("unknown",), ("named",), ("named", "unknown")):
            offsets = [
                TxnOffsetCommitRequestTopic(
                    topic_id=topic_id, partitions=[TxnOffsetCommitRequestPartition(0, 7)]
                )
                for topic_id, name in ids.items()
                if name in names
            ]
            response = peer.ask(here, TxnOffsetCommitRequest("m", "ids", *own, topics=offsets), 6)
            facts.append(["transaction", *told(response)])
        ended = peer.ask(here, EndTxnRequest("m", *own, True), 5)
        facts.append(["end", error(ended.error_code)])
        peer.pass_time(500_000)
        fetch()
    for version in range(2, newest[42] + 1):
        deleted = peer.ask(here, DeleteGroupsRequest(["ids", "nobody"]), version)
        results = sorted(
            [each.group_id, error(each.error_code), each.error_message] for each in deleted.results
        )
        facts.append(["delete", version, results])
    return facts


def newer_transactions(peer: Peer) -> Facts:  # noqa: C901, PLR0915 - one conversation
    """Transactions of version 2 (KIP-890), from 4.0 on: each end bumps the producer's epoch."""
    here, facts = peer.connect(), Facts()
    apis = peer.ask(here, ApiVersionsRequest(), 0).api_keys
    if max(each.max_version for each in apis if each.api_key == 26) < 5:
        return []
    create(peer, here, "newer", 2)
    for kind, name in ((1, "n"), (0, "g")):
        wanted = FindCoordinatorRequest(key_type=kind, coordinator_keys=[name])
        while any(each.error_code for each in peer.ask(here, wanted, 4).coordinators):
            peer.pass_time(100_000)
    peer.pass_time(500_000)
    own = [0, 0]

    def again(ask: Callable[[], Any], code: Callable[[Any], int]) -> Any:  # noqa: ANN401
        for _ in range(50):
            response = ask()
            if error(code(response)) not in AGAIN:
                break
            peer.pass_time(100_000)
        return response

    def init() -> None:
        request = InitProducerIdRequest("n", 60_000, -1, -1)
        response = again(lambda: peer.ask(here, request, 5), lambda each: each.error_code)
        own[:] = [response.producer_id, response.producer_epoch]
        facts.append(["init", error(response.error_code), response.producer_epoch])

    def send(number: int, sequence: int, epoch: int | None = None, version: int = 12) -> None:
        producer = Producer(own[0], own[1] if epoch is None else epoch, sequence)
        data = record_batch.build(
            [Record(None, b"v", 1_700_000_000_000)], producer=producer, is_transactional=True
        )
        rows = [TopicProduceData("newer", partition_data=[PartitionProduceData(number, data)])]
        request = ProduceRequest("n", -1, 5_000, rows)
        response = again(
            lambda: peer.ask(here, request, version),
            lambda each: each.responses[0].partition_responses[0].error_code,
        )
        row = response.responses[0].partition_responses[0]
        facts.append(["produce", number, error(row.error_code), row.base_offset])

    def end(*, commit: bool, epoch: int | None = None, version: int = 5) -> None:
        request = EndTxnRequest("n", own[0], own[1] if epoch is None else epoch, commit)
        response = again(lambda: peer.ask(here, request, version), lambda each: each.error_code)
        told = [response.producer_id == own[0], response.producer_epoch]
        facts.append(["end", commit, error(response.error_code), *told])
        if not response.error_code and version >= 5:
            own[1] = response.producer_epoch
        peer.pass_time(500_000)

    def commit_offset(offset: int, version: int = 5, epoch: int | None = None) -> None:
        rows = [TxnOffsetCommitRequestPartition(0, offset)]
        request = TxnOffsetCommitRequest(
            "n",
            "g",
            own[0],
            own[1] if epoch is None else epoch,
            topics=[TxnOffsetCommitRequestTopic("newer", partitions=rows)],
        )
        response = again(
            lambda: peer.ask(here, request, version),
            lambda each: each.topics[0].partitions[0].error_code,
        )
        facts.append(["commit", error(response.topics[0].partitions[0].error_code)])

    def committed() -> None:
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        (group,) = peer.ask(here, asked, 8).groups
        rows = [[t.name, [p.committed_offset for p in t.partitions]] for t in group.topics]
        facts.append(["committed", error(group.error_code), rows])

    def describe() -> None:
        (found,) = peer.ask(here, DescribeTransactionsRequest(["n"]), 0).transaction_states
        topics = sorted([each.topic, sorted(each.partitions)] for each in found.topics)
        facts.append([found.transaction_state, found.producer_epoch, topics])

    init()
    describe()
    end(commit=True)
    end(commit=False)
    describe()
    send(0, 0)
    send(1, 0)
    describe()
    end(commit=True)
    describe()
    end(commit=True, epoch=own[1] - 1)
    end(commit=False, epoch=own[1] - 1)
    end(commit=False)
    end(commit=True)
    send(0, 0)
    send(0, 1)
    send(1, 0, version=11)
    end(commit=False)
    end(commit=False, epoch=own[1] - 1)
    end(commit=True, epoch=own[1] - 1)
    send(0, 0, epoch=own[1] - 1)
    end(commit=False, epoch=own[1] - 2)
    commit_offset(3)
    describe()
    committed()
    end(commit=True)
    committed()
    commit_offset(4, version=4)
    commit_offset(5, epoch=own[1] - 1)
    commit_offset(6)
    end(commit=False)
    committed()
    send(0, 0)
    end(commit=True, version=4)
    describe()
    send(0, 1)
    end(commit=True)
    init()
    send(1, 0)
    init()
    describe()
    return facts


CONVERSATIONS: Final[dict[str, Callable[[Peer], Facts]]] = {
    "fetch sessions": fetch_sessions,
    "static members": static_members,
    "transactions": transactions,
    "topics": topics,
    "configurations": configurations,
    "timestamps": timestamps,
    "log directories": log_directories,
    "features": features,
    "newer transactions": newer_transactions,
    "topic ids of groups": topic_ids_of_groups,
}


def hold(peer: Peer) -> dict[str, Facts]:
    """Hold all conversations; one that the broker is too old for has no facts, and is left out."""
    held = {name: conversation(peer) for name, conversation in CONVERSATIONS.items()}
    return {name: facts for name, facts in held.items() if facts}


if __name__ == "__main__":
    json.dump(hold(RealBroker(sys.argv[1])), sys.stdout, indent=1)
