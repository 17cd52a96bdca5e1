"""What Kafka refuses, and clients' bugs would go unnoticed otherwise, release by release."""

from typing import Any

import pytest

from emulator.inputs.statements import CreateTopic, DeleteTopic
from emulator.wire.messages.committed_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from emulator.wire.messages.topics import CreatableTopic, CreateTopicsRequest
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer
from tests.support.wire_client import WireLab, batch_of

UNKNOWN_ID = 100
CORRUPT_MESSAGE, UNKNOWN_PARTITION, TOO_LARGE, INVALID_REQUEST, INVALID_RECORD = 2, 3, 10, 42, 87


def committed(lab: WireLab, version: int, topics: dict[str, list[int]]) -> dict[str, Any]:
    rows = [
        OffsetCommitRequestTopic(
            name, partitions=[OffsetCommitRequestPartition(each, 5) for each in partitions]
        )
        for name, partitions in topics.items()
    ]
    response = lab.ask(lab.connect(), OffsetCommitRequest("g", topics=rows), version)
    return {
        topic.name: {each.partition_index: each.error_code for each in topic.partitions}
        for topic in response.topics
    }


@pytest.mark.parametrize(("release", "version"), [("0.10.2", 2), ("2.8", 8), ("4.1", 9)])
def test_offsets_of_partitions_that_are_not_there_are_not_committed(
    release: str, version: int
) -> None:
    config = {"offsets.topic.replication.factor": "1"}
    lab = WireLab.made(brokers=1, version=release, config=config)
    lab.run(CreateTopic(topic="t"))
    lab.pass_time(1_000_000)
    lab.ask(lab.connect(), FindCoordinatorRequest("g"), 0)
    lab.pass_time(2_000_000)
    found = committed(lab, version, {"t": [0, 7], "other": [0]})
    assert found == {
        "other": {0: UNKNOWN_PARTITION},
        "t": {0: 0, 7: UNKNOWN_PARTITION},
    }
    assert list(found) == ["other", "t"]
    assert committed(lab, version, {"other": [0]}) == {"other": {0: UNKNOWN_PARTITION}}


def test_offsets_are_not_told_of_a_topic_with_another_id() -> None:
    config = {"offsets.topic.replication.factor": "1"}
    lab = WireLab.made(brokers=1, version="4.2", config=config)
    lab.pass_time(1_000_000)
    here = lab.connect()
    topics = [CreatableTopic("t", 1, 1)]
    old = lab.ask(here, CreateTopicsRequest(topics, 30_000), 7).topics[0].topic_id
    lab.ask(here, FindCoordinatorRequest("g"), 0)
    lab.pass_time(2_000_000)
    assert committed(lab, 9, {"t": [0]}) == {"t": {0: 0}}
    fetch = OffsetFetchRequestGroup(
        "g", topics=[OffsetFetchRequestTopics(topic_id=old, partition_indexes=[0])]
    )

    def told() -> list[tuple[bytes, int]]:
        (group,) = lab.ask(here, OffsetFetchRequest(groups=[fetch]), 10).groups
        return [(topic.topic_id, topic.partitions[0].error_code) for topic in group.topics]

    assert told() == [(old, 0)]
    for statement in (DeleteTopic(topic="t"), CreateTopic(topic="t")):
        lab.run(statement)
        lab.pass_time(2_000_000)
    assert committed(lab, 9, {"t": [0]}) == {"t": {0: 0}}
    assert told() == [(old, UNKNOWN_ID)]


def produced(lab: WireLab, records: bytes, version: int) -> Any:  # noqa: ANN401 - a response
    rows = [PartitionProduceData(0, records)]
    request = ProduceRequest(None, -1, 30_000, [TopicProduceData("t", partition_data=rows)])
    (topic,) = lab.ask(lab.connect(), request, version).responses
    return topic.partition_responses[0]


@pytest.mark.parametrize(
    ("release", "version", "error"),
    [("0.11.0", 3, CORRUPT_MESSAGE), ("2.3", 7, CORRUPT_MESSAGE), ("2.4", 8, INVALID_RECORD)],
)
def test_a_compacted_topic_takes_no_records_without_a_key(
    release: str, version: int, error: int
) -> None:
    lab = WireLab.made(brokers=1, version=release)
    lab.run(CreateTopic(topic="t", config={"cleanup.policy": "compact"}))
    lab.pass_time(1_000_000)
    records = [Record(b"k", b"1", 1_700_000_000_000), Record(None, b"2", 1_700_000_000_000)]
    refused = produced(lab, memory_records.build(records, 2), version)
    assert (refused.error_code, refused.base_offset) == (error, -1)
    taken = produced(lab, memory_records.build(records[:1], 2), version)
    assert (taken.error_code, taken.base_offset) == (0, 0)


NO_KEY = "Compacted topic cannot accept message without key in topic partition t-0"
COUNTED = (
    "One or more records have been rejected due to 2 record errors in total, and only showing the"
    " first three errors at most: "
    f"[RecordError(batchIndex=1, message='{NO_KEY}'), "
    f"RecordError(batchIndex=2, message='{NO_KEY}')]"
)


@pytest.mark.parametrize(
    ("release", "reason", "text"),
    [
        ("2.8", f"{NO_KEY}.", "One or more records have been rejected"),
        ("4.1", NO_KEY, COUNTED),
    ],
)
def test_the_reason_is_what_brokers_of_the_release_say(
    release: str, reason: str, text: str
) -> None:
    """As 2.8.2 and 4.1.2 answered."""
    lab = WireLab.made(brokers=1, version=release)
    lab.run(CreateTopic(topic="t", config={"cleanup.policy": "compact"}))
    lab.pass_time(1_000_000)
    records = [Record(key, b"v", 1_700_000_000_000) for key in (b"k", None, None)]
    refused = produced(lab, memory_records.build(records, 2), 8)
    rows = [(row.batch_index, row.batch_index_error_message) for row in refused.record_errors]
    assert rows == [(1, reason), (2, reason)]
    assert refused.error_message == text


def test_other_topics_take_records_without_a_key() -> None:
    lab = WireLab.made(brokers=1)
    lab.run(CreateTopic(topic="t"))
    lab.pass_time(1_000_000)
    assert produced(lab, batch_of("a"), 9).error_code == 0


@pytest.mark.parametrize(
    ("release", "version", "rows", "words"),
    [
        ("2.3", 3, 1, "multiple entries"),
        ("3.9", 7, 2, "Found multiple entries for this topic."),
        ("4.1", 7, 1, "Duplicate topic name."),
    ],
)
def test_a_topic_that_is_named_twice_is_not_created(
    release: str, version: int, rows: int, words: str
) -> None:
    lab = WireLab.made(brokers=1, version=release)
    lab.pass_time(1_000_000)
    topics = [CreatableTopic(name, 1, 1) for name in ("twice", "once", "twice")]
    response = lab.ask(lab.connect(), CreateTopicsRequest(topics, 30_000), version)
    found = [(each.name, each.error_code) for each in response.topics]
    assert found == [("twice", INVALID_REQUEST)] * rows + [("once", 0)]
    assert words in response.topics[0].error_message


LIMIT_BYTES = 1_000


def records_for(topic: str, data: bytes, acks: int) -> ProduceRequest:
    partition = PartitionProduceData(0, data)
    return ProduceRequest(None, acks, 3_000, [TopicProduceData(topic, partition_data=[partition])])


@pytest.mark.parametrize(
    ("topic", "data"),
    [
        ("t", batch_of("a")[:-1] + b"?"),
        ("no name", batch_of("a")),
        (
            "t",
            record_batch.build(
                [Record(None, b"v", 0)], producer=Producer(1, 0, 0), is_transactional=True
            ),
        ),
    ],
    ids=["damaged", "a topic without a valid name", "transactional without an id"],
)
def test_a_connection_is_closed_if_records_without_acknowledgement_are_refused(
    topic: str, data: bytes
) -> None:
    lab = WireLab.made(brokers=1, version="3.9")
    lab.run(CreateTopic(topic="t"))
    lab.pass_time(1_000_000)
    handle = lab.connect()
    lab.send(handle, records_for(topic, data, 0), 8)
    lab.pass_time(1_000_000)
    assert handle in lab.closed


def test_the_size_of_damaged_records_is_checked_first() -> None:
    lab = WireLab.made(brokers=1, version="3.9")
    lab.run(CreateTopic(topic="t", config={"max.message.bytes": str(LIMIT_BYTES)}))
    lab.pass_time(1_000_000)
    damaged = batch_of("x" * LIMIT_BYTES)[:-1] + b"?"
    response = lab.ask(lab.connect(), records_for("t", damaged, -1), 8)
    assert response.responses[0].partition_responses[0].error_code == TOO_LARGE
