"""The same requests as real brokers were given, in the same order: the same responses.

What differs between any two clusters is left out: ports, random ids, and the order in which hash
maps give topics, partitions and groups.
"""

import socket
import struct
from typing import Any

import msgspec
import pytest

from emulator.common.errors import ERRORS
from emulator.wire.apis import API_NAMED
from emulator.wire.codec import decode_request, decode_response, encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import MetadataRequest, MetadataRequestTopic, MetadataResponse
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from emulator.wire.messages.groups import DescribeGroupsResponse
from emulator.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from emulator.wire.messages.topics import CreateTopicsResponse
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.record import Record
from emulator.wire.types import NO_UUID
from emulator.wire.versions import versions_of
from tests.emulator.wire.test_brokers import RELEASES, exchanges
from tidegauge.kafka_cluster import KafkaCluster

SECONDS = 10.0
NOT_COMPARED = {
    "ApiVersions",  # which leaves out the next one, and others
    "DeleteRecords",
    "JoinGroup",  # waits for members, and took longer than the recorder did
    "DescribeGroups",
    "ListGroups",
    "InitProducerId",  # the recorded broker was still about to begin with it
    "DescribeConfigs",  # not every value of every release is known
}
"""APIs whose recorded answers depend on when they were asked, or on what is not emulated."""
FETCH_BY_ID = 13
WAITING = {"CreateTopics", "FindCoordinator", "OffsetCommit", "JoinGroup", "DescribeGroups"}
"""What is asked so that the first group waits for its leader, and another has only offsets."""
NOTHING = {"port": 0, "cluster_id": None, "topic_id": NO_UUID}


def ask(address: str, frame: bytes) -> bytes:
    """The response to a request; nothing if the connection is closed."""
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host, int(port)), SECONDS)
    with connection, connection.makefile("rb") as stream:
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        return stream.read(int.from_bytes(stream.read(4), "big"))


def compared(release: str) -> list[tuple[str, int, bytes, bytes]]:
    """What is asked of the emulated broker, in order, without versions that it does not take."""
    return [each for each in exchanges(release) if each[1] in versions_of(release)[key_of(each[0])]]


def key_of(name: str) -> int:
    return API_NAMED[name].key


def content(name: str, version: int, told: bytes) -> Any:  # noqa: ANN401 - of any message
    """What a response says, without what differs between any two clusters."""
    if not told:
        return "the connection is closed"
    _, response = decode_response(key_of(name), version, told)
    if isinstance(response, FetchResponse):
        return [
            (
                part.error_code,
                part.high_watermark,
                part.last_stable_offset,
                part.log_start_offset,
                whole(part.records),
            )
            for topic in response.responses
            for part in topic.partitions
        ]
    if isinstance(response, CreateTopicsResponse):
        return sorted((topic.name, topic.error_code) for topic in response.topics)
    return normal("", msgspec.to_builtins(response))


def with_topic_id_of(address: str, asked: bytes) -> bytes:
    """The fetch with the id that its topic has here, if it names it by an id (KIP-516)."""
    header, request = decode_request(asked)
    assert isinstance(request, FetchRequest)
    if header.api_version < FETCH_BY_ID:
        return asked
    named = MetadataRequest([MetadataRequestTopic(name="t0")])
    _, found = decode_response(3, 12, ask(address, encode_request(RequestHeader(3, 12, 1), named)))
    assert isinstance(found, MetadataResponse)
    (topic,) = request.topics
    there = msgspec.structs.replace(topic, topic_id=found.topics[0].topic_id)
    return encode_request(header, msgspec.structs.replace(request, topics=[there]))


def whole(records: bytes | None) -> list[Record]:
    """The records of all batches but one that is cut: brokers read the log by bytes."""
    data = records or b""
    end = at = 0
    while at + 12 <= len(data):
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        if at <= len(data):
            end = at
    return memory_records.decode(data[:end])


def normal(field: str, value: Any) -> Any:  # noqa: ANN401 - of any field
    match field, value:
        case (("port" | "cluster_id" | "topic_id"), _):
            return value != NOTHING.get(field)
        case "error_message", _:
            return None  # the errors of the emulator have texts of their own
        case _, dict():
            return {key: normal(key, each) for key, each in value.items()}
        case _, list():
            return sorted((normal("", each) for each in value), key=repr)
    return value


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(
            release,
            marks=pytest.mark.kafka(
                brokers=1,
                version=release,
                config={"auto.create.topics.enable": False, "delete.topic.enable": True},
            ),
        )
        for release in RELEASES
    ],
)
def test_the_emulated_broker_answers_as_the_real_one(
    release: str, kafka_cluster: KafkaCluster
) -> None:
    address = kafka_cluster.bootstrap_servers
    differences = []
    before = ""
    for name, version, asked, told in compared(release):
        if before == "CreateTopics" != name:
            kafka_cluster.wait_until("t0-1.leader == 0")
        before = name
        if name in NOT_COMPARED:
            continue
        given = with_topic_id_of(address, asked) if name == "Fetch" else asked
        real, found = content(name, version, told), content(name, version, ask(address, given))
        if found != real:
            differences.append(f"{name} {version}\n  real      {real}\n  emulated  {found}")
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize(
    ("release", "version"),
    [
        pytest.param(release, version, marks=pytest.mark.kafka(brokers=1, version=release))
        for release, version in (("0.10.2.2", 1), ("0.10.2.2", 4), ("2.0.1", 3), ("2.8.2", 4))
    ],
)
def test_an_unknown_version_of_api_versions_gets_the_same_bytes(
    release: str, version: int, kafka_cluster: KafkaCluster
) -> None:
    (asked, told) = next(
        (asked, told)
        for name, number, asked, told in exchanges(release)
        if (name, number) == ("ApiVersions", version)
    )
    assert ask(kafka_cluster.bootstrap_servers, asked) == told


@pytest.mark.kafka(brokers=1, version="0.10.2.2")
def test_a_group_that_waits_for_its_leader_has_the_old_name(kafka_cluster: KafkaCluster) -> None:
    states = []
    for name, version, asked, told in exchanges("0.10.2.2"):
        found = ask(kafka_cluster.bootstrap_servers, asked) if name in WAITING else b""
        if name == "DescribeGroups":
            for each in (told, found):
                _, response = decode_response(key_of(name), version, each)
                assert isinstance(response, DescribeGroupsResponse)
                states.append([group.group_state for group in response.groups])
    assert states[0] == states[1] == ["AwaitingSync", "Empty"]


PAIR = [Record(b"k", b"v", 5)]
BATCH = record_batch.build(PAIR)
ZSTD = record_batch.build(PAIR, compression=Compression.ZSTD)
SET = memory_records.build(PAIR, 1)


@pytest.mark.kafka(brokers=1)
def test_records_are_refused_as_real_brokers_refuse_them(kafka_cluster: KafkaCluster) -> None:
    """As brokers of 2.8.2 and 3.9.1 answered each of these."""
    produced = {
        (9, ZSTD): "NONE",
        (6, ZSTD): "UNSUPPORTED_COMPRESSION_TYPE",
        (9, SET): "INVALID_RECORD",
        (2, SET): "NONE",
        (2, BATCH): "NONE",
        (9, b""): "INVALID_RECORD",
        (9, BATCH + BATCH): "INVALID_RECORD",
        (9, BATCH[:-3]): "INVALID_RECORD",
        (9, BATCH[:-1] + b"x"): "CORRUPT_MESSAGE",
    }
    address = kafka_cluster.bootstrap_servers
    kafka_cluster.run("topic create t --partitions 1 --replication-factor 1")
    for (version, data), error in produced.items():
        part = PartitionProduceData(0, data)
        request = ProduceRequest(None, -1, 5_000, [TopicProduceData("t", partition_data=[part])])
        told = ask(address, encode_request(RequestHeader(0, version, 1), request))
        _, response = decode_response(0, version, told)
        assert isinstance(response, ProduceResponse)
        ((found,),) = (topic.partition_responses for topic in response.responses)
        assert found.error_code == ERRORS[error].code, (version, data)
    for version, error in ((12, "NONE"), (4, "NONE"), (3, "UNSUPPORTED_COMPRESSION_TYPE")):
        wanted = FetchPartition(0, -1, 0, partition_max_bytes=1_000)
        fetch = FetchRequest(max_wait_ms=100, topics=[FetchTopic("t", partitions=[wanted])])
        told = ask(address, encode_request(RequestHeader(1, version, 1), fetch))
        _, fetched = decode_response(1, version, told)
        assert isinstance(fetched, FetchResponse)
        ((given,),) = (topic.partitions for topic in fetched.responses)
        assert given.error_code == ERRORS[error].code, version
