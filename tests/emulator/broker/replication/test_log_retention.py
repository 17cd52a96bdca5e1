"""What is deleted from the beginning of logs: when asked for, when too old, when too much."""

from collections.abc import Iterable

import pytest

from emulator.common.errors import ERRORS
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    DeleteTopic,
    FreezeBroker,
    StartBroker,
    ThawBroker,
)
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from emulator.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from emulator.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.support.wire_client import WireLab, batch_of, values_in

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
NAMES = {error.code: error.name for error in ERRORS.values()}


def made(version: str = "3.9", topic: Iterable[tuple[str, str]] = (), **config: str) -> WireLab:
    lab = WireLab.made(version=version, config=config)
    lab.pass_time(3 * SECOND_US)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]], config=dict(topic)))
    lab.pass_time(SECOND_US)
    return lab


def produce(lab: WireLab, *values: str) -> None:
    here = lab.connect()
    for value in values:
        rows = [PartitionProduceData(0, batch_of(value))]
        request = ProduceRequest(None, -1, 30_000, [TopicProduceData("t", partition_data=rows)])
        row = lab.ask(here, request, 9).responses[0].partition_responses[0]
        assert row.error_code == 0
    lab.pass_time(SECOND_US)


def read(lab: WireLab, offset: int) -> tuple[str, int, list[tuple[int, str]]]:
    rows = [FetchPartition(0, -1, offset, partition_max_bytes=1 << 20)]
    request = FetchRequest(topics=[FetchTopic("t", partitions=rows)])
    found = lab.ask(lab.connect(), request, 12).responses[0].partitions[0]
    return NAMES[found.error_code], found.log_start_offset, values_in(found.records or b"")


def delete(
    lab: WireLab, offset: int, broker: int = 0, topic: str = "t", timeout_ms: int = 4_000
) -> tuple[str, int]:
    rows = [DeleteRecordsPartition(0, offset)]
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, rows)], timeout_ms)
    found = lab.ask(lab.connect(broker), request, 2).topics[0].partitions[0]
    return NAMES[found.error_code], found.low_watermark


def starts(lab: WireLab) -> list[int]:
    return [log.start for log in lab.cluster.audit.logs_of("t-0").values()]


def lost(lab: WireLab) -> int:
    lab.cluster.audit.settle()
    return lab.cluster.audit.count("lost")


@pytest.mark.parametrize("version", ["2.8", "3.9", "4.1"])
def test_records_are_deleted_on_the_leader_and_its_followers(version: str) -> None:
    lab = made(version)
    produce(lab, "a", "b", "c", "d")
    assert delete(lab, 2) == ("NONE", 2)
    assert starts(lab) == [2, 2, 2], "it waits for the followers"
    assert read(lab, 2) == ("NONE", 2, [(2, "c"), (3, "d")])
    assert read(lab, 1)[0] == "OFFSET_OUT_OF_RANGE"
    assert delete(lab, -1) == ("NONE", 4)
    lab.pass_time(SECOND_US)
    assert starts(lab) == [4, 4, 4]
    produce(lab, "e")
    assert read(lab, 4) == ("NONE", 4, [(4, "e")])
    assert lost(lab) == 0


def test_a_deletion_waits_for_live_followers_as_long_as_it_may() -> None:
    lab = made()
    produce(lab, "a", "b")
    lab.run(FreezeBroker(broker=2))
    assert delete(lab, 1, timeout_ms=2_000) == ("REQUEST_TIMED_OUT", 0), "the low watermark of then"
    assert starts(lab)[:2] == [1, 1]
    lab.run(ThawBroker(broker=2))
    lab.pass_time(SECOND_US)
    assert delete(lab, 1) == ("NONE", 1)
    lab.run(CrashBroker(broker=2))
    lab.pass_time(20 * SECOND_US)  # until nobody counts on it any more
    assert delete(lab, 2) == ("NONE", 2)
    assert starts(lab) == [2, 2, 1]


def test_what_cannot_be_deleted_is_refused() -> None:
    lab = made()
    produce(lab, "a")
    assert delete(lab, 2) == ("OFFSET_OUT_OF_RANGE", -1)
    assert delete(lab, 1, broker=1) == ("NOT_LEADER_OR_FOLLOWER", -1)
    assert delete(lab, 1, topic="u") == ("UNKNOWN_TOPIC_OR_PARTITION", -1)
    compacted = CreatableTopic(
        "c", 1, 1, configs=[CreatableTopicConfig("cleanup.policy", "compact")]
    )
    request = CreateTopicsRequest([compacted], 30_000)
    (created,) = lab.ask(lab.connect(lab.cluster.controller_id() or 0), request, 5).topics
    assert created.error_code == 0
    lab.pass_time(SECOND_US)
    leader = lab.cluster.state_of("c-0").leader  # type: ignore[union-attr]
    assert delete(lab, 0, leader, "c") == ("POLICY_VIOLATION", -1)


def test_old_segments_go_and_their_bytes_with_them() -> None:
    lab = made(topic=[("retention.ms", "60000"), ("segment.ms", "10000")])
    produce(lab, "a", "b")
    lab.pass_time(20 * SECOND_US)
    produce(lab, "c")
    assert len(lab.cluster.ledger.encoded) == 3
    lab.pass_time(6 * MINUTE_US)
    produce(lab, "d")
    lab.pass_time(6 * MINUTE_US)
    assert starts(lab) == [4, 4, 4]
    assert lab.cluster.ledger.encoded == {}
    assert lost(lab) == 0
    produce(lab, "e")
    assert read(lab, 4)[2] == [(4, "e")]


def test_the_bytes_of_a_deleted_topic_go_with_its_last_log() -> None:
    lab = made()
    produce(lab, "a", "b")
    lab.run(CrashBroker(broker=2))
    lab.pass_time(SECOND_US)
    lab.run(DeleteTopic(topic="t"))
    lab.pass_time(5 * SECOND_US)
    assert len(lab.cluster.ledger.encoded) == 2
    lab.run(StartBroker(broker=2))
    lab.pass_time(5 * SECOND_US)
    assert lab.cluster.ledger.encoded == {}


def test_a_log_is_kept_to_its_size_by_whole_segments_and_read_one_at_a_time() -> None:
    size = len(batch_of("a"))
    lab = made(
        topic=[("retention.bytes", str(4 * size)), ("segment.bytes", str(2 * size))],
        **{"log.retention.check.interval.ms": "10000"},
    )
    produce(lab, *"abcdefg")
    lab.pass_time(MINUTE_US)
    assert starts(lab) == [2, 2, 2]
    segments = [[value for _, value in read(lab, offset)[2]] for offset in (2, 3, 4, 6)]
    assert segments == [["c", "d"], ["d"], ["e", "f"], ["g"]]
    assert lost(lab) == 0


def test_a_segment_with_something_new_stays() -> None:
    lab = made(topic=[("retention.ms", "60000")])
    for _ in range(10):
        produce(lab, "a")
        lab.pass_time(MINUTE_US)
    assert starts(lab) == [0, 0, 0]


def test_a_follower_that_was_away_begins_where_its_leader_does() -> None:
    lab = made()
    produce(lab, "a")
    lab.run(CrashBroker(broker=2))
    lab.pass_time(30 * SECOND_US)
    produce(lab, "b", "c")
    delete(lab, 3)
    lab.run(StartBroker(broker=2))
    lab.pass_time(30 * SECOND_US)
    produce(lab, "d")
    assert starts(lab) == [3, 3, 3]
    assert lab.cluster.state_of("t-0").isr == [0, 1, 2]  # type: ignore[union-attr]
    assert lost(lab) == 0
    assert lab.cluster.state.invariants.violated == {}
