"""The server over real sockets of the loopback interface."""

import asyncio
import logging
import os
import random
import resource
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    CloseConnection,
    CrashBroker,
    CreateCluster,
    FreezeBroker,
    OpenConnection,
    StartBroker,
    Statement,
    ThawBroker,
    Wait,
)
from emulator.scenario.runner import Runner
from emulator.simulation import bytes_by_number
from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.simulation.packed_list import as_list
from emulator.wire.apis import API_NAMED
from emulator.wire.codec import decode_response, encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import ApiVersionsRequest, MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.configs import DescribeConfigsRequest, DescribeConfigsResource
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from emulator.wire.types import Message
from sessions import memory
from sessions.format.metadata import Origin
from sessions.gateway import gateway, journal
from sessions.gateway.connection import REQUESTS_MAX
from sessions.gateway.endpoints import Endpoint, UnreachableError
from sessions.gateway.gateway import Gateway
from sessions.gateway.journal import Journal
from sessions.gateway.spill_file import TemporarySpillFile
from sessions.playback.verify import verify
from tests.support.wire_client import batch_of, values_in

CONFIG = {
    "default.replication.factor": "3",
    "offsets.topic.num.partitions": "1",
    "socket.request.max.bytes": "2000000",
    "zookeeper.session.timeout.ms": "1000",
}
SPEC = CreateCluster(latency_us=20, config=CONFIG)
SECONDS = 60.0


class Client:
    """A connection that sends requests and reads responses."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._sent = 0

    @classmethod
    async def connected(cls, address: tuple[str, int]) -> "Client":
        return cls(*await asyncio.open_connection(*address))

    def send(self, request: Message, version: int) -> tuple[int, int]:
        key = API_NAMED[type(request).__name__.removesuffix("Request")].key
        self._sent += 1
        frame = encode_request(RequestHeader(key, version, self._sent, "test"), request)
        self.writer.write(len(frame).to_bytes(4) + frame)
        return key, version

    async def received(self, key: int, version: int) -> Any:  # noqa: ANN401 - any response
        length = int.from_bytes(await self.reader.readexactly(4))
        frame = await self.reader.readexactly(length)
        return decode_response(key, version, frame)[1]

    async def ask(self, request: Message, version: int) -> Any:  # noqa: ANN401 - any response
        return await asyncio.wait_for(self.received(*self.send(request, version)), SECONDS)

    async def is_closed(self) -> bool:
        """Whether the server hangs up, whatever it may have said before."""
        with suppress(ConnectionError):
            while await asyncio.wait_for(self.reader.read(65_536), SECONDS):
                pass
        return True

    def close(self) -> None:
        self.writer.close()


class Served:
    """A cluster that is served, and a journal of what it was asked."""

    def __init__(self, spec: CreateCluster, *endpoints: Endpoint) -> None:
        self.runner = Runner(Cluster(spec))
        self.journal = Journal(self.runner, Statement(spec, "cluster"))
        self.gateway = Gateway(self.runner, self.journal.note, endpoints=endpoints or (Endpoint(),))
        self.addresses: list[tuple[str, int]] = []

    async def run(self, wanted: Any) -> str:  # noqa: ANN401 - any input
        ticket = await asyncio.wait_for(self.gateway.perform(Statement(wanted, "")), SECONDS)
        assert ticket.outcome is not None
        return ticket.outcome.error

    async def client(self, broker: int = 0) -> Client:
        return await Client.connected(self.addresses[broker])

    async def leader_of_new_topic(self) -> int:
        """Have topic ``t`` made by asking for it; the broker that leads it."""
        client = await self.client()
        wanted = MetadataRequest([MetadataRequestTopic(name="t")])
        try:
            while True:
                (topic,) = (await client.ask(wanted, 9)).topics
                if not topic.error_code:
                    return int(topic.partitions[0].leader_id)
        finally:
            client.close()


@pytest.fixture
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    made = Served(getattr(request, "param", SPEC))
    await made.gateway.start()
    made.addresses = made.gateway.addresses
    yield made
    await made.gateway.stop()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(SECONDS):
        while not await condition():  # noqa: ASYNC110 - the condition is a look from outside
            await asyncio.sleep(0.005)


def produce(*values: str) -> ProduceRequest:
    rows = [PartitionProduceData(0, batch_of(*values))]
    return ProduceRequest(None, -1, 30_000, [TopicProduceData("t", partition_data=rows)])


def fetch(offset: int = 0, wait_ms: int = 0) -> FetchRequest:
    rows = [FetchPartition(0, -1, offset, partition_max_bytes=1 << 24)]
    topics = [FetchTopic("t", partitions=rows)]
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=topics)


async def test_records_go_in_and_come_out(served: Served) -> None:
    client = await served.client(await served.leader_of_new_topic())
    response = await client.ask(produce("a", "b"), 9)
    assert response.responses[0].partition_responses[0].error_code == 0
    found = (await client.ask(fetch(), 12)).responses[0].partitions[0]
    assert values_in(found.records) == [(0, "a"), (1, "b")]
    client.close()


async def test_a_broker_that_is_down_refuses_and_one_that_starts_keeps_its_port(
    served: Served,
) -> None:
    client = await served.client(1)
    await client.ask(ApiVersionsRequest(), 0)
    await served.run(CrashBroker(broker=1))
    assert await client.is_closed()
    client.close()

    async def refuses() -> bool:
        try:
            (await served.client(1)).close()
        except ConnectionRefusedError:
            return True
        return False

    await until(refuses)
    assert await served.run(StartBroker(broker=1)) == "NONE"
    await until(_not(refuses))
    client = await served.client(1)
    assert (await client.ask(ApiVersionsRequest(), 0)).error_code == 0
    client.close()


def _not(condition: Callable[[], Awaitable[bool]]) -> Callable[[], Awaitable[bool]]:
    async def negated() -> bool:
        return not await condition()

    return negated


async def test_where_clients_connect_from_is_recorded(served: Served) -> None:
    client = await served.client(2)
    await client.ask(ApiVersionsRequest(), 2)
    host, port = client.writer.get_extra_info("sockname")
    given = [statement.input for *_, statement in served.journal.so_far().inputs()]
    assert OpenConnection(connection=2, broker=2, address=f"{host}:{port}") in given
    client.close()


async def test_who_asked_for_the_coordinator_does_not_stay(served: Served) -> None:
    async def gone() -> bool:
        return not served.runner.cluster.clients.external.state.connections

    await until(gone)


async def test_a_frozen_broker_takes_connections_and_says_nothing(served: Served) -> None:
    await served.run(FreezeBroker(broker=0))
    client = await served.client(0)
    asked = client.send(ApiVersionsRequest(), 0)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(client.reader.readexactly(4), 0.2)
    await served.run(ThawBroker(broker=0))
    assert (await asyncio.wait_for(client.received(*asked), SECONDS)).error_code == 0
    client.close()


async def test_virtual_time_follows_the_wall_clock(served: Served) -> None:
    loop = asyncio.get_running_loop()
    begin, begin_us = loop.time(), served.runner.now_us
    await served.run(Wait(duration_us=300_000))
    assert loop.time() - begin > 0.29
    assert served.runner.now_us - begin_us >= 300_000


async def test_the_end_waits_for_responses_that_are_under_way(served: Served) -> None:
    client = await served.client(await served.leader_of_new_topic())
    asked = client.send(fetch(wait_ms=300), 12)
    await asyncio.sleep(0.05)
    await served.gateway.stop()
    assert (await client.received(*asked)).error_code == 0
    assert await client.is_closed()
    client.close()


async def test_what_clients_did_verifies_without_them(served: Served, tmp_path: Path) -> None:
    leader = await served.leader_of_new_topic()
    client = await served.client(leader)
    for value in ("a", "b", "c"):
        await client.ask(produce(value), 9)
    await served.run(CrashBroker(broker=(leader + 1) % 3))
    await served.run(Wait(duration_us=50_000))
    asked = client.send(fetch(3, wait_ms=200), 12)
    path = tmp_path / "clients.tide.db"
    origin = Origin("clients", "tidegauge", SPEC.version, SPEC.seed, SPEC)
    served.journal.write(path, origin, served.journal.so_far())
    await client.received(*asked)
    client.close()
    found = verify(path)
    assert found.same, found
    assert found.outcome == []
    assert found.events > 100


def as_plain(value: object) -> object:
    return dict(value) if isinstance(value, BytesByNumber) else as_list(value)


async def test_records_in_files_are_the_same_records(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read from the first offset on, hashed, copied, and run again in memory alone."""
    monkeypatch.setattr(journal, "LATEST_BYTES_MAX", 1_000)
    monkeypatch.setattr(bytes_by_number, "SPILLED_AT_ONCE", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cluster = served.runner.cluster
    cluster.ledger.encoded.spill(0, TemporarySpillFile)
    client = await served.client(await served.leader_of_new_topic())
    values = [f"{number} {'x' * 200}" for number in range(20)]
    for value in values:
        await client.ask(produce(value), 9)
    assert cluster.ledger.encoded.kept_bytes == 0
    assert os.listdir(tmp_path) == []  # nothing that a kill would leave behind
    (topic,) = (await client.ask(fetch(0), 12)).responses
    assert values_in(topic.partitions[0].records) == list(enumerate(values))
    client.close()
    assert cluster.fork().state_hash == cluster.state_hash
    in_memory = msgspec.msgpack.encode(cluster.state, enc_hook=as_plain)
    assert cluster.state_hash == sha256(in_memory).hexdigest()
    path = tmp_path / "clients.tide.db"
    origin = Origin("clients", "tidegauge", SPEC.version, SPEC.seed, SPEC)
    served.journal.write(path, origin, served.journal.so_far())
    found = verify(path)
    assert found.same, found
    assert found.outcome == []


async def test_inputs_without_bytes_do_not_stay_in_memory(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of those who connect, and leave without a request."""
    monkeypatch.setattr(journal, "LATEST_BYTES_MAX", 3_000)
    statements = [
        Statement(CloseConnection(connection=number), "close") for number in range(1, 101)
    ]
    kept = Journal(served.runner, Statement(SPEC, "cluster"))
    for statement in statements:
        kept.note(statement)
    so_far = kept.so_far()
    assert len(so_far.latest) < 11
    for first in (0, 5, 11, 37, 98, 100):
        assert [statement for _, _, statement in so_far.inputs(first)] == statements[first:]


# ---- safety


async def still_serves(served: Served) -> bool:
    client = await served.client()
    response = await client.ask(ApiVersionsRequest(), 0)
    client.close()
    return bool(response.error_code == 0)


@pytest.mark.parametrize("seed", range(5))
async def test_random_bytes_end_their_connection_and_nothing_else(
    served: Served, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    draw = random.Random(seed)
    bystander = await served.client()
    for _ in range(40):
        client = await served.client()
        body = draw.randbytes(draw.randrange(8, 200))
        frame = len(body).to_bytes(4) + body if draw.random() < 0.7 else body
        with suppress(ConnectionError):
            client.writer.write(frame)
            client.writer.write_eof()
            await client.is_closed()
        client.close()
    assert (await bystander.ask(ApiVersionsRequest(), 0)).error_code == 0
    bystander.close()
    assert any("disconnected" in record.message for record in caplog.records)


async def test_requests_that_are_cut_or_changed_anywhere_disturb_nobody(served: Served) -> None:
    draw = random.Random(1)
    leader = await served.leader_of_new_topic()
    whole = [
        encode_request(RequestHeader(0, 9, 1, "x"), produce("a", "b")),
        encode_request(RequestHeader(1, 12, 2, "x"), fetch()),
        encode_request(RequestHeader(3, 9, 3, "x"), MetadataRequest(None)),
    ]
    for _ in range(60):
        frame = bytearray(draw.choice(whole))
        for _ in range(draw.randrange(1, 4)):
            frame[draw.randrange(len(frame))] = draw.randrange(256)
        del frame[draw.randrange(8, len(frame) + 1) :]
        client = await served.client(leader)
        with suppress(ConnectionError):
            client.writer.write(len(frame).to_bytes(4) + frame)
            client.writer.write_eof()
            await client.is_closed()
        client.close()
    assert await still_serves(served)
    assert not served.runner.cluster.state.invariants.pending


@pytest.mark.parametrize("length", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\3", b"HTTP"])
async def test_a_wrong_length_ends_the_connection_with_a_line_in_the_log(
    served: Served, length: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    client = await served.client()
    client.writer.write(length + b"x" * 100)
    assert await client.is_closed()
    client.close()
    assert [r.levelno for r in caplog.records if "a frame of" in r.message] == [logging.WARNING]
    assert await still_serves(served)


async def test_half_a_request_and_a_hang_up_leave_nothing_behind(served: Served) -> None:
    before = len(served.gateway.connections)
    for _ in range(20):
        client = await served.client()
        client.writer.write(b"\0\0\1\0half")
        await client.writer.drain()
        client.close()
        await client.writer.wait_closed()

    async def gone() -> bool:
        return len(served.gateway.connections) == before

    await until(gone)


async def test_the_largest_of_too_many_incomplete_requests_costs_its_own_connection(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(gateway, "INCOMPLETE_BYTES_MAX", 100_000)
    leader = await served.leader_of_new_topic()
    greedy, modest = await served.client(leader), await served.client(leader)
    start = (1_000_000).to_bytes(4) + bytes(2)  # Produce

    async def held(byte_count: int) -> None:
        async def is_held() -> bool:
            return served.gateway._incomplete_bytes == byte_count

        await until(is_held)

    greedy.writer.write(start + bytes(80_000))
    await held(len(start) + 80_000)
    modest.writer.write(start + bytes(30_000))
    assert await greedy.is_closed()
    assert "incomplete requests" in caplog.text
    await held(len(start) + 30_000)
    for client in (greedy, modest):
        client.close()
    await held(0)
    assert await still_serves(served)


async def test_a_request_for_which_there_is_no_memory_costs_its_own_connection(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    leader = await served.leader_of_new_topic()
    with monkeypatch.context() as patched:
        patched.setattr(memory, "memory_limit", lambda: 0)
        client = await served.client(leader)
        client.send(produce("x" * memory.LOOK_BYTES), 9)
        assert await client.is_closed()
        client.close()
    assert "there is no memory for a request of 1,0" in caplog.text
    assert await still_serves(served)


async def test_a_client_that_never_reads_is_read_from_no_further(served: Served) -> None:
    """What the server keeps for it is bounded: so the client's own sends come to a stop."""
    leader = await served.leader_of_new_topic()
    writer = await served.client(leader)
    await writer.ask(produce("x" * 1_000_000), 9)
    writer.close()
    client = await served.client(leader)
    client.writer.transport.set_write_buffer_limits(high=0)
    client.reader._transport.pause_reading()  # type: ignore[attr-defined]

    sent = 0

    async def ask_on_and_on() -> None:
        nonlocal sent
        while True:
            client.send(fetch(), 12)
            await client.writer.drain()
            sent += 1

    asking = asyncio.create_task(ask_on_and_on())
    (connection,) = served.gateway.connections.values()
    before = -1
    async with asyncio.timeout(SECONDS):
        while not connection._is_paused or sent != before:
            before = sent
            await asyncio.sleep(0.2)
    asking.cancel()
    assert connection.held_bytes < 3_000_000
    assert len(connection._waiting) > REQUESTS_MAX
    assert connection._is_paused
    assert await still_serves(served)
    client.writer.transport.abort()


async def test_a_thousand_connections_are_served(served: Served) -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(1_000, (soft - 200) // 2)
    clients = [await served.client(number % 3) for number in range(count)]
    responses = await asyncio.gather(*(each.ask(ApiVersionsRequest(), 0) for each in clients))
    assert {response.error_code for response in responses} == {0}
    for each in clients:
        each.close()

    async def gone() -> bool:
        return not served.gateway.connections

    await until(gone)


async def test_a_fault_that_a_request_leads_to_ends_the_server(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await served.client()
    await client.ask(ApiVersionsRequest(), 0)
    waits = asyncio.create_task(served.gateway.perform(Statement(Wait(duration_us=10**9), "")))
    await asyncio.sleep(0)

    def broken(_statement: Statement) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(served.runner, "submit", broken)
    client.send(ApiVersionsRequest(), 0)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(served.gateway.wait_for_fault(), SECONDS)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(waits, SECONDS)
    assert await client.is_closed()
    with pytest.raises(ConnectionRefusedError):
        await served.client()
    client.close()


async def test_a_client_that_closes_its_half_is_closed_as_by_a_broker(served: Served) -> None:
    client = await served.client()
    await client.ask(ApiVersionsRequest(), 0)
    client.writer.write_eof()
    assert await client.is_closed()
    assert await still_serves(served)
    client.close()


IMPATIENT = replace(SPEC, config={**SPEC.config, "connections.max.idle.ms": "300"})


@pytest.mark.parametrize("served", [IMPATIENT], indirect=True)
async def test_an_idle_connection_is_closed_and_one_in_use_is_not(served: Served) -> None:
    idle, busy = await served.client(), await served.client()
    closed = asyncio.create_task(idle.is_closed())

    async def is_closed() -> bool:
        await busy.ask(MetadataRequest([]), 9)
        return closed.done()

    await until(is_closed)
    assert [each.broker for each in served.gateway.connections.values()] == [0]
    await busy.ask(MetadataRequest([]), 9)
    busy.close()
    idle.close()


async def test_clients_are_told_the_addresses_of_the_listener_that_they_connect_to() -> None:
    inside = Endpoint(advertised_host="kafka", advertised_port=9_000)
    outside = Endpoint(name="OUTSIDE", host="127.0.0.1", advertised_host="example.org")
    served = Served(replace(SPEC, hosts=["one", "two", "three"]), inside, outside)
    await served.gateway.start()
    try:
        told = {}
        for listener in served.gateway.listeners[::3]:
            client = await Client.connected((listener.host, listener.port))
            brokers = (await client.ask(MetadataRequest([]), 9)).brokers
            told[listener.name] = [(each.host, each.port) for each in brokers]
            client.close()
        assert told["PLAINTEXT"] == [("kafka", 9_000), ("kafka", 9_001), ("kafka", 9_002)]
        ports = [each.port for each in served.gateway.listeners[3:]]
        assert told["OUTSIDE"] == [("example.org", port) for port in ports]
        assert served.gateway.bootstrap_servers == "kafka:9000,kafka:9001,kafka:9002"
    finally:
        await served.gateway.stop()


async def test_clients_are_told_the_hosts_of_the_script() -> None:
    served = Served(replace(SPEC, hosts=["one", "", "three"]), Endpoint(host="127.0.0.1"))
    await served.gateway.start()
    try:
        client = await Client.connected(served.gateway.addresses[0])
        brokers = (await client.ask(MetadataRequest([]), 9)).brokers
        assert [each.host for each in brokers] == ["one", "127.0.0.1", "three"]
        wanted = DescribeConfigsRequest([DescribeConfigsResource(4, "0", None)])
        (described,) = (await client.ask(wanted, 2)).results
        values = {each.name: (each.value, each.config_source) for each in described.configs}
        ports = {each.broker: each.port for each in served.gateway.listeners}
        assert values["listeners"] == (f"PLAINTEXT://127.0.0.1:{ports[0]}", 4)
        assert values["advertised.listeners"] == (f"PLAINTEXT://one:{ports[0]}", 4)
        client.close()
    finally:
        await served.gateway.stop()


def test_no_client_is_told_a_meta_address() -> None:
    served = Served(SPEC, Endpoint(host="0.0.0.0"))
    with pytest.raises(UnreachableError, match="nonroutable meta-address"):
        served.gateway.bind()
