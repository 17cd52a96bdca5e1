"""Requests that ask for more than there can be: an error for them, and nothing for others."""

import struct

import pytest
from crc32c import crc32c

from emulator.broker.zookeeper_membership import admin_manager
from emulator.common.errors import ERROR_NAMES
from emulator.common.limits import AUTO_CREATED_MAX, REQUEST_PARTITIONS_MAX
from emulator.inputs.statements import CreateTopic
from emulator.quorum_controller import topics as topics_of_quorum_controller
from emulator.wire import codec
from emulator.wire.messages.cluster import ApiVersionsRequest, MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from emulator.wire.messages.topics import (
    CreatableTopic,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from emulator.wire.records import record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.record import RECORDS_MAX, Record
from tests.support.wire_client import WireLab, batch_of

HUGE = 1_000_000_000
INT32_MAX = (1 << 31) - 1
CRC_AT, CHECKED_FROM, LAST_OFFSET_DELTA_AT, COUNT_AT = 17, 21, 23, 57


@pytest.fixture(params=["zookeeper", "kraft"])
def lab(request: pytest.FixtureRequest) -> WireLab:
    return WireLab.made() if request.param == "zookeeper" else WireLab.made(mode="kraft")


@pytest.fixture
def controller(lab: WireLab) -> int:
    found = lab.cluster.controller_id()
    return lab.connect(0 if found is None or found not in lab.cluster.brokers else found)


def with_count(batch: bytes, count: int) -> bytes:
    """The batch with a count of records that it may not have, and a checksum that holds."""
    changed = bytearray(batch)
    struct.pack_into(">i", changed, LAST_OFFSET_DELTA_AT, count - 1)
    struct.pack_into(">i", changed, COUNT_AT, count)
    struct.pack_into(">I", changed, CRC_AT, crc32c(bytes(changed[CHECKED_FROM:])))
    return bytes(changed)


def is_alive(lab: WireLab) -> bool:
    return lab.ask(lab.connect(), ApiVersionsRequest(), 0).error_code == 0


@pytest.mark.parametrize(
    "topics",
    [
        [CreatableTopic("t", HUGE, 1)],
        [CreatableTopic("t", INT32_MAX, 3)],
        [CreatableTopic(f"t{n}", REQUEST_PARTITIONS_MAX // 2 + 1, 1) for n in range(2)],
    ],
)
def test_too_many_partitions_of_new_topics_are_refused(
    lab: WireLab, controller: int, topics: list[CreatableTopic]
) -> None:
    response = lab.ask(controller, CreateTopicsRequest(topics, 5_000), 2)
    assert len(response.topics) == len(topics)
    for row in response.topics:
        if lab.cluster.clients.context.in_kraft_mode:
            assert ERROR_NAMES[row.error_code] == "POLICY_VIOLATION"
            assert "in one request are too many" in row.error_message
        else:
            assert ERROR_NAMES[row.error_code] == "INVALID_PARTITIONS"
            assert "in one request are too many" in row.error_message
    assert is_alive(lab)


def test_many_requests_create_no_more_partitions_than_a_cluster_may_have(
    lab: WireLab, controller: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    existing = 10
    for place in (admin_manager, topics_of_quorum_controller):
        monkeypatch.setattr(place, "CLUSTER_PARTITIONS_MAX", existing + 3)
    request = CreateTopicsRequest([CreatableTopic("t", existing, 1)], 5_000)
    (row,) = lab.ask(controller, request, 2).topics
    assert row.error_code == 0
    lab.pass_time(2_000_000)
    request = CreateTopicsRequest([CreatableTopic("u", 4, 1)], 5_000)
    (row,) = lab.ask(controller, request, 2).topics
    assert ERROR_NAMES[row.error_code] == "INVALID_PARTITIONS"
    assert "at most 3 beside 10" in row.error_message
    request = CreateTopicsRequest([CreatableTopic("u", 3, 1)], 5_000)
    (row,) = lab.ask(controller, request, 2).topics
    assert row.error_code == 0


@pytest.mark.parametrize("count", [HUGE, INT32_MAX])
def test_too_many_added_partitions_are_refused(lab: WireLab, controller: int, count: int) -> None:
    assert lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1)) == "NONE"
    lab.pass_time(2_000_000)
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", count)], 5_000)
    (row,) = lab.ask(controller, request, 1).results
    assert ERROR_NAMES[row.error_code] == "INVALID_PARTITIONS"
    assert "in one request are too many" in row.error_message
    assert is_alive(lab)


@pytest.mark.parametrize("count", [3, INT32_MAX])
@pytest.mark.parametrize("codec_of_batch", [Compression.NONE, Compression.GZIP, Compression.ZSTD])
def test_records_that_a_batch_cannot_hold_are_refused(
    lab: WireLab, count: int, codec_of_batch: Compression
) -> None:
    assert lab.run(CreateTopic(topic="t", partitions=1, assignment=[[0]])) == "NONE"
    lab.pass_time(2_000_000)
    batch = record_batch.build([Record(value=b"v"), Record()], compression=codec_of_batch)
    data = with_count(batch, count)
    partition = TopicProduceData("t", partition_data=[PartitionProduceData(0, data)])
    request = ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[partition])
    row = lab.ask(lab.connect(), request, 7).responses[0].partition_responses[0]
    assert ERROR_NAMES[row.error_code] == "INVALID_RECORD"
    good = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch_of("v"))])
    request = ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[good])
    row = lab.ask(lab.connect(), request, 7).responses[0].partition_responses[0]
    assert (row.error_code, row.base_offset) == (0, 0)


def test_very_many_small_records_that_compress_well_are_refused(lab: WireLab) -> None:
    batch = record_batch.build([Record()] * (RECORDS_MAX // 100), compression=Compression.ZSTD)
    assert record_batch.check_produced(batch).count == RECORDS_MAX // 100
    assert lab.run(CreateTopic(topic="t", partitions=1, assignment=[[0]])) == "NONE"
    lab.pass_time(2_000_000)
    data = with_count(batch, RECORDS_MAX + 1)
    partition = TopicProduceData("t", partition_data=[PartitionProduceData(0, data)])
    request = ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[partition])
    row = lab.ask(lab.connect(), request, 7).responses[0].partition_responses[0]
    assert ERROR_NAMES[row.error_code] == "INVALID_RECORD"


def test_a_partition_of_a_negative_number_is_none_of_another_topic(lab: WireLab) -> None:
    """Of ``t--1`` the topic would be ``t-``."""
    assert lab.run(CreateTopic(topic="t-", partitions=2, assignment=[[0], [0]])) == "NONE"
    lab.pass_time(2_000_000)
    partition = TopicProduceData("t", partition_data=[PartitionProduceData(-1, batch_of("v"))])
    request = ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[partition])
    row = lab.ask(lab.connect(), request, 7).responses[0].partition_responses[0]
    assert (row.index, ERROR_NAMES[row.error_code]) == (-1, "UNKNOWN_TOPIC_OR_PARTITION")
    wanted = [FetchTopic("t", partitions=[FetchPartition(-1)])]
    (topic,) = lab.ask(lab.connect(), FetchRequest(topics=wanted), 11).responses
    (row,) = topic.partitions
    assert (topic.topic, row.partition_index) == ("t", -1)
    assert ERROR_NAMES[row.error_code] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_partition_of_a_negative_number_of_an_unknown_id_is_answered(lab: WireLab) -> None:
    wanted = [FetchTopic(topic_id=b"\1" * 16, partitions=[FetchPartition(-1)])]
    (topic,) = lab.ask(lab.connect(), FetchRequest(topics=wanted), 13).responses
    (row,) = topic.partitions
    assert (topic.topic_id, row.partition_index) == (b"\1" * 16, -1)
    assert ERROR_NAMES[row.error_code] == "UNKNOWN_TOPIC_ID"


def test_a_topic_that_is_named_twice_is_deleted_once_or_not_at_all(
    lab: WireLab, controller: int
) -> None:
    assert lab.run(CreateTopic(topic="t", partitions=1, assignment=[[0]])) == "NONE"
    lab.pass_time(2_000_000)
    request = DeleteTopicsRequest(topic_names=["t", "t"], timeout_ms=5_000)
    rows = lab.ask(controller, request, 2).responses
    in_kraft_mode = lab.cluster.clients.context.in_kraft_mode
    # A broker with ZooKeeper answers for each time that it is named.
    expected = ["INVALID_REQUEST"] if in_kraft_mode else ["NONE", "NONE"]
    assert [ERROR_NAMES[row.error_code] for row in rows] == expected
    assert is_alive(lab)


def test_a_version_of_an_api_that_a_release_does_not_have_ends_its_own_connection() -> None:
    lab = WireLab.made(version="0.8.2")
    connection = lab.connect()
    lab.send_frame(connection, bytes.fromhex("0012 7fff 00000001 ffff"))  # ApiVersions 32767
    assert connection in lab.closed
    assert lab.ask(lab.connect(), MetadataRequest([]), 0).brokers


def test_the_time_of_records_that_cannot_be_decoded_is_their_batchs(lab: WireLab) -> None:
    assert lab.run(CreateTopic(topic="t", partitions=1, assignment=[[0]])) == "NONE"
    lab.pass_time(2_000_000)
    batch = with_count(record_batch.build([Record(value=b"v" * 500, timestamp=9)]), 5)
    partition = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])
    request = ProduceRequest(acks=-1, timeout_ms=5_000, topic_data=[partition])
    assert lab.ask(lab.connect(), request, 7).responses[0].partition_responses[0].base_offset == 0
    asked = [ListOffsetsTopic("t", partitions=[ListOffsetsPartition(0, timestamp=9)])]
    (topic,) = lab.ask(lab.connect(), ListOffsetsRequest(topics=asked), 5).topics
    assert (topic.partitions[0].timestamp, topic.partitions[0].offset) == (9, 0)


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_a_request_that_cannot_be_decoded_costs_its_own_connection_only(
    lab: WireLab, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(frame: bytes) -> None:
        raise error(len(frame))

    connection = lab.connect()
    with monkeypatch.context() as patched:
        patched.setattr(codec, "decode_request", fail)
        lab.send(connection, ApiVersionsRequest(), 0)
    assert error.__name__ in lab.closed[connection]
    assert is_alive(lab)


def test_a_client_that_asks_for_very_many_unknown_topics_gets_some_of_them_each_time(
    lab: WireLab,
) -> None:
    names = [f"t{number}" for number in range(AUTO_CREATED_MAX + 10)]
    request = MetadataRequest([MetadataRequestTopic(name=name) for name in names], True)
    connection = lab.connect()
    lab.ask(connection, request, 4)
    lab.pass_time(40_000_000)
    first = lab.ask(connection, request, 4).topics
    assert [topic.name for topic in first if not topic.error_code] == names[:AUTO_CREATED_MAX]
    lab.pass_time(2_000_000)
    assert not [topic for topic in lab.ask(connection, request, 4).topics if topic.error_code]
