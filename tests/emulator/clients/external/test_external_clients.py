from functools import partial
from typing import Any

import pytest

from emulator.audit.ground_truth import PartitionAudit
from emulator.cluster import Cluster
from emulator.common.errors import ERRORS, LOADING
from emulator.events import FaultInjected
from emulator.inputs.conditions import Subject
from emulator.inputs.statements import (
    CrashBroker,
    CreateTopic,
    CutLink,
    FreezeBroker,
    HealLinks,
    InjectError,
    Produce,
    ReceiveRequest,
    ThawBroker,
    Wait,
)
from emulator.scenario.conditions import value_of
from emulator.scenario.runner import Runner
from emulator.wire.codec import decode_response, encode_request
from emulator.wire.header import RequestHeader
from emulator.wire.messages.cluster import ApiVersionsRequest, MetadataRequest, MetadataRequestTopic
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.groups import DescribeGroupsRequest
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
from emulator.wire.messages.sasl import SaslHandshakeRequest
from emulator.wire.records import memory_records, message_set, record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.record import Record
from emulator.wire.types import Message
from tests.support.wire_client import WireLab, batch_of, values_in


def produce(*batches: bytes, acks: int = -1, topic: str = "t") -> ProduceRequest:
    """A request with a batch for each partition of the topic."""
    rows = [PartitionProduceData(number, data) for number, data in enumerate(batches)]
    return ProduceRequest(None, acks, 30_000, [TopicProduceData(topic, partition_data=rows)])


def fetch(
    offset: int = 0, *, wait_ms: int = 0, min_bytes: int = 1, partition_bytes: int = 1 << 20
) -> FetchRequest:
    rows = [FetchPartition(0, -1, offset, partition_max_bytes=partition_bytes)]
    return FetchRequest(
        max_wait_ms=wait_ms, min_bytes=min_bytes, topics=[FetchTopic("t", partitions=rows)]
    )


def error(name: str) -> int:
    return ERRORS[name].code


def audited(lab: WireLab) -> PartitionAudit:
    lab.cluster.audit.settle()
    return lab.cluster.state.audit.partitions["t-0"]


@pytest.fixture
def lab() -> WireLab:
    made = WireLab.made()
    made.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    made.pass_time(100_000)
    return made


# ---- versions and metadata


def test_an_unknown_version_of_api_versions_is_answered_in_version_0(lab: WireLab) -> None:
    here = lab.connect()
    frame = encode_request(RequestHeader(18, 3, 9, "me"), ApiVersionsRequest("me", "1"))
    lab.give(ReceiveRequest(connection=here, frame=frame[:2] + b"\0\x63" + frame[4:]))
    lab.pass_time(10_000)
    correlation, response = decode_response(18, 0, lab.responses[here][0])
    assert correlation == 9
    assert response.error_code == error("UNSUPPORTED_VERSION")  # type: ignore[attr-defined]
    assert 18 in {each.api_key for each in response.api_keys}  # type: ignore[attr-defined]


def test_a_release_advertises_what_it_had() -> None:
    def newest(version: str) -> dict[int, int]:
        lab = WireLab.made(version=version)
        response = lab.ask(lab.connect(), ApiVersionsRequest(), 0)
        return {each.api_key: each.max_version for each in response.api_keys}

    assert newest("0.10.2")[0] == 2
    assert newest("0.10.2")[1] == 3
    assert newest("3.9")[0] >= 9
    assert 60 not in newest("2.4")
    assert 60 in newest("3.9")


def test_a_version_that_the_release_does_not_have_ends_the_connection() -> None:
    lab = WireLab.made(version="0.10.2")
    here = lab.connect()
    lab.send(here, fetch(), 11)
    assert "Fetch 11" in lab.closed[here]


def test_metadata_names_brokers_controller_and_topic_ids(lab: WireLab) -> None:
    wanted = MetadataRequest([MetadataRequestTopic(name="t")], allow_auto_topic_creation=False)
    response = lab.ask(lab.connect(1), wanted, 12)
    assert [(b.node_id, b.host, b.port) for b in response.brokers] == [
        (number, "127.0.0.1", 9092 + number) for number in range(3)
    ]
    assert response.controller_id == lab.cluster.controller_id()
    (topic,) = response.topics
    assert (topic.name, topic.error_code, len(topic.topic_id)) == ("t", 0, 16)
    assert any(topic.topic_id)
    (partition,) = topic.partitions
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (
        *(0, [0, 1, 2], [0, 1, 2]),
    )


@pytest.mark.parametrize(
    ("config", "allowed", "exists"),
    [("true", True, True), ("true", False, False), ("false", True, False)],
)
def test_metadata_makes_a_topic_only_if_both_sides_want_it(
    config: str, allowed: bool, exists: bool
) -> None:
    lab = WireLab.made(config={"auto.create.topics.enable": config, "num.partitions": "2"})
    wanted = MetadataRequest([MetadataRequestTopic(name="new")], allow_auto_topic_creation=allowed)
    here = lab.connect()
    first = lab.ask(here, wanted, 9).topics[0].error_code
    lab.pass_time(100_000)
    (topic,) = lab.ask(here, wanted, 9).topics
    assert lab.cluster.has_topic("new") is exists
    if exists:
        assert (first, topic.error_code) == (error("LEADER_NOT_AVAILABLE"), 0)
        assert len(topic.partitions) == 2
    else:
        assert topic.error_code == first == error("UNKNOWN_TOPIC_OR_PARTITION")


@pytest.mark.parametrize(
    ("version", "creates", "expected"),
    [
        ("2.7", False, "UNKNOWN_TOPIC_OR_PARTITION"),
        ("2.7", True, "INVALID_TOPIC_EXCEPTION"),
        ("2.8", False, "INVALID_TOPIC_EXCEPTION"),
    ],
)
def test_metadata_of_what_cannot_be_a_topic(version: str, creates: bool, expected: str) -> None:
    """As brokers of 2.4.1 answered, and of 2.8.2."""
    lab = WireLab.made(version=version, brokers=1)
    lab.pass_time(1_000_000)
    here, names = lab.connect(), ("", ".", "a b", "x" * 250)
    wanted = MetadataRequest([MetadataRequestTopic(name=name) for name in names], creates)
    topics = lab.ask(here, wanted, 9).topics
    assert {topic.name: topic.error_code for topic in topics} == dict.fromkeys(
        names, error(expected)
    )


# ---- records


def test_a_batch_comes_back_as_it_was_sent_with_offset_and_epoch_of_the_log(lab: WireLab) -> None:
    here = lab.connect()
    sent = batch_of("a", "b")
    responses = [lab.ask(here, produce(sent), 9), lab.ask(here, produce(batch_of("c")), 9)]
    rows = [response.responses[0].partition_responses[0] for response in responses]
    assert [(row.error_code, row.base_offset) for row in rows] == [(0, 0), (0, 2)]
    found = lab.ask(here, fetch(), 12).responses[0].partitions[0]
    assert found.high_watermark == found.last_stable_offset == 3
    assert values_in(found.records) == [(0, "a"), (1, "b"), (2, "c")]
    assert found.records[: len(sent)][16:] == sent[16:]
    assert int.from_bytes(found.records[12:16]) == 0


def test_a_scripted_record_is_a_batch_to_a_real_client(lab: WireLab) -> None:
    lab.run(Produce(topic="t", key="k", value="scripted", acks=-1))
    found = lab.ask(lab.connect(), fetch(), 12).responses[0].partitions[0]
    assert values_in(found.records) == [(0, "scripted")]
    (record,) = record_batch.decode(found.records)
    assert record.key == b"k"


def test_an_old_consumer_gets_an_older_format(lab: WireLab) -> None:
    here = lab.connect()
    lab.ask(here, produce(batch_of("a", "b")), 9)
    found = lab.ask(here, fetch(), 3).responses[0].partitions[0]
    assert found.records[16] == 1
    assert values_in(found.records) == [(0, "a"), (1, "b")]


def test_a_release_before_0_11_keeps_message_sets() -> None:
    lab = WireLab.made(version="0.10.2")
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    lab.pass_time(100_000)
    here = lab.connect()
    row = lab.ask(here, produce(batch_of("a", "b", magic=1)), 2).responses[0].partition_responses[0]
    assert (row.error_code, row.base_offset) == (0, 0)
    lab.ask(here, produce(batch_of("c", magic=1)), 2)
    found = lab.ask(here, fetch(), 3).responses[0].partitions[0]
    assert found.records[16] == 1
    assert values_in(found.records) == [(0, "a"), (1, "b"), (2, "c")]


@pytest.mark.parametrize("by", ["topic", "broker"])
def test_leaders_set_the_time_of_message_sets_too(by: str) -> None:
    lab = WireLab.made(
        version="0.10.2",
        config={"log.message.timestamp.type": "LogAppendTime"} if by == "broker" else {},
    )
    own = {"message.timestamp.type": "LogAppendTime"} if by == "topic" else {}
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]], config=own))
    lab.pass_time(100_000)
    here = lab.connect()
    packed = memory_records.build(
        [Record(None, value, 5) for value in (b"a", b"b")], 1, compression=Compression.GZIP
    )
    times = []
    for data in (packed, batch_of("c", magic=1)):
        row = lab.ask(here, produce(data), 2).responses[0].partition_responses[0]
        times.append(row.log_append_time_ms)
        lab.pass_time(50_000)
    at, later = times
    assert 1_584_267_360_000 < at < later
    data = lab.ask(here, fetch(), 3).responses[0].partitions[0].records
    assert [(each.offset, each.timestamp) for each in memory_records.decode(data)] == [
        *((0, at), (1, at), (2, later)),
    ]
    assert {entry.timestamp_type for entry in message_set.read_entries(data)} == {1}

    def offset(timestamp: int) -> tuple[int, int]:
        rows = [ListOffsetsPartition(0, -1, timestamp)]
        wanted = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("t", rows)])
        found = lab.ask(here, wanted, 1).topics[0].partitions[0]
        return found.offset, found.timestamp

    assert [offset(each) for each in (5, at + 1, later + 1)] == [(0, at), (2, later), (-1, -1)]


def test_damaged_records_are_refused_and_nothing_is_written(lab: WireLab) -> None:
    here = lab.connect()
    good = batch_of("a")
    damaged = good[:-1] + bytes([good[-1] ^ 1])
    row = lab.ask(here, produce(damaged), 9).responses[0].partition_responses[0]
    assert row.error_code == error("CORRUPT_MESSAGE")
    assert lab.ask(here, fetch(), 12).responses[0].partitions[0].high_watermark == 0


def test_records_for_a_broker_that_does_not_lead_are_refused(lab: WireLab) -> None:
    row = lab.ask(lab.connect(1), produce(batch_of("a")), 9).responses[0].partition_responses[0]
    assert row.error_code == error("NOT_LEADER_OR_FOLLOWER")


def test_too_few_in_sync_replicas_refuse_acks_all() -> None:
    lab = WireLab.made(config={"min.insync.replicas": "3"})
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    lab.run(CrashBroker(broker=2))
    lab.pass_time(30_000_000)
    here = lab.connect()
    row = lab.ask(here, produce(batch_of("a")), 9).responses[0].partition_responses[0]
    assert row.error_code == error("NOT_ENOUGH_REPLICAS")
    row = lab.ask(here, produce(batch_of("a"), acks=1), 9).responses[0].partition_responses[0]
    assert row.error_code == 0


def test_acks_0_has_no_response_and_what_follows_is_answered(lab: WireLab) -> None:
    here = lab.connect()
    lab.send(here, produce(batch_of("a"), acks=0), 9)
    lab._asked[here].clear()
    found = lab.ask(here, fetch(wait_ms=100), 12).responses[0].partitions[0]
    assert values_in(found.records) == [(0, "a")]
    assert lab.responses[here] == []


def test_answers_keep_the_order_of_requests(lab: WireLab) -> None:
    here, other = lab.connect(), lab.connect()
    lab.send(here, fetch(wait_ms=400), 12)
    lab.send(here, ApiVersionsRequest(), 0)
    lab.pass_time(50_000)
    assert lab.responses[here] == []
    lab.send(other, produce(batch_of("a")), 9)
    assert values_in(lab.received(here).responses[0].partitions[0].records) == [(0, "a")]
    assert lab.received(here).error_code == 0


def test_a_fetch_waits_for_min_bytes_or_its_time(lab: WireLab) -> None:
    here = lab.connect()
    lab.send(here, fetch(wait_ms=500, min_bytes=10_000), 12)
    lab.ask(lab.connect(), produce(batch_of("a")), 9)
    begin_us = lab.runner.now_us
    response = lab.received(here)
    assert lab.runner.now_us - begin_us > 400_000
    assert values_in(response.responses[0].partitions[0].records) == [(0, "a")]


def test_a_first_batch_is_given_however_large_it_is(lab: WireLab) -> None:
    here = lab.connect()
    lab.ask(here, produce(batch_of("x" * 5_000)), 9)
    lab.ask(here, produce(batch_of("y")), 9)
    found = lab.ask(here, fetch(partition_bytes=10), 12).responses[0].partitions[0]
    assert [offset for offset, _ in values_in(found.records)] == [0]


def test_offsets_are_found_by_the_timestamps_in_records(lab: WireLab) -> None:
    here = lab.connect()
    lab.ask(here, produce(batch_of("a", "b", timestamp=1_000)), 9)
    lab.ask(here, produce(batch_of("c", timestamp=2_000)), 9)

    def offset(timestamp: int) -> tuple[int, int]:
        rows = [ListOffsetsPartition(0, -1, timestamp)]
        wanted = ListOffsetsRequest(-1, topics=[ListOffsetsTopic("t", rows)])
        found = lab.ask(here, wanted, 7).topics[0].partitions[0]
        return found.offset, found.timestamp

    assert [offset(each) for each in (-2, -1, 500, 1_500, 2_001, -3)] == [
        *((0, -1), (3, -1), (0, 1_000), (2, 2_000), (-1, -1), (2, 2_000)),
    ]


def test_a_consumer_whose_last_record_is_gone_learns_where_logs_differ(lab: WireLab) -> None:
    lab.ask(lab.connect(), produce(batch_of("a", "b")), 9)
    lab.run(CrashBroker(broker=0))
    lab.pass_time(40_000_000)
    leader = lab.cluster.state.states["t-0"].leader
    here = lab.connect(leader)
    lab.ask(here, produce(batch_of("c")), 9)
    rows = [FetchPartition(0, -1, 4, 0, partition_max_bytes=1_000)]
    wanted = FetchRequest(max_wait_ms=500, topics=[FetchTopic("t", partitions=rows)])
    found = lab.ask(here, wanted, 12).responses[0].partitions[0]
    assert (found.diverging_epoch.epoch, found.diverging_epoch.end_offset) == (0, 2)
    assert not found.records


# ---- the truth


def test_a_batch_that_comes_again_is_known_as_a_duplicate(lab: WireLab) -> None:
    batch = batch_of("a")
    there = lab.connect()
    lab.run(CutLink(source=0, destination=-2, one_way=True))
    lab.send(there, produce(batch), 9)
    lab.pass_time(100_000)
    lab.hang_up(there)
    lab.run(HealLinks())
    lab.ask(lab.connect(), produce(batch), 9)
    assert len(audited(lab).duplicated) == 1
    assert lab.cluster.state.audit.acked == 1


def test_the_same_bytes_after_a_response_are_other_records(lab: WireLab) -> None:
    here = lab.connect()
    for _ in range(2):
        lab.ask(here, produce(batch_of("a")), 9)
    assert audited(lab).duplicated == []
    assert lab.cluster.state.audit.acked == 2


def test_an_idempotent_batch_that_comes_again_is_written_once(lab: WireLab) -> None:
    here = lab.connect()
    assert lab.ask(here, InitProducerIdRequest(None), 4).error_code == ERRORS[LOADING].code
    lab.pass_time(100_000)
    producer = lab.ask(here, InitProducerIdRequest(None), 4)
    assert (producer.error_code, producer.producer_epoch) == (0, 0)
    batch = record_batch.build(
        [Record(None, b"a", 1)],
        producer=record_batch.Producer(producer.producer_id, 0, 0),
    )
    offsets = [
        lab.ask(here, produce(batch), 9).responses[0].partition_responses[0].base_offset
        for _ in range(2)
    ]
    assert offsets == [0, 0]
    assert audited(lab).clean
    assert len(values_in(lab.ask(here, fetch(), 12).responses[0].partitions[0].records)) == 1


def test_a_record_that_was_acknowledged_and_is_gone_is_noticed() -> None:
    lab = WireLab.made(config={"unclean.leader.election.enable": "true"})
    lab.run(CreateTopic(topic="t", assignment=[[0, 1]]))
    lab.pass_time(100_000)
    for pair in ((0, 1), (0, 2)):
        lab.run(CutLink(source=pair[0], destination=pair[1]))
    here = lab.connect()
    row = lab.ask(here, produce(batch_of("a"), acks=1), 9).responses[0].partition_responses[0]
    assert row.error_code == 0
    lab.run(CrashBroker(broker=0))
    lab.run(Wait(duration_us=60_000_000))
    assert [record for _, record in audited(lab).lost] == [
        lab.cluster.state.clients.ledger[-1].first_record
    ]


# ---- faults


def test_a_crash_closes_connections_to_the_broker_and_no_others(lab: WireLab) -> None:
    here, there = lab.connect(0), lab.connect(1)
    lab.run(CrashBroker(broker=0))
    lab.pass_time(10_000)
    assert lab.closed == {here: ""}
    assert lab.ask(there, ApiVersionsRequest(), 0).error_code == 0


def test_a_frozen_broker_answers_when_it_has_thawed(lab: WireLab) -> None:
    here = lab.connect()
    lab.run(FreezeBroker(broker=0))
    lab.send(here, ApiVersionsRequest(), 0)
    lab.pass_time(1_000_000)
    assert lab.responses[here] == []
    lab.run(ThawBroker(broker=0))
    assert lab.received(here).error_code == 0


def test_a_cut_link_keeps_requests_on_the_way(lab: WireLab) -> None:
    here = lab.connect()
    lab.run(CutLink(source=0, destination=-2))
    lab.send(here, ApiVersionsRequest(), 0)
    lab.pass_time(1_000_000)
    assert lab.responses[here] == []
    lab.run(HealLinks())
    assert lab.received(here).error_code == 0


def test_injected_errors_are_told_as_often_as_was_asked(lab: WireLab) -> None:
    here = lab.connect()
    lab.run(InjectError(api="Produce", error="NOT_ENOUGH_REPLICAS", times=2))
    codes = [
        lab.ask(here, produce(batch_of("a")), 9).responses[0].partition_responses[0].error_code
        for _ in range(3)
    ]
    assert codes == [error("NOT_ENOUGH_REPLICAS")] * 2 + [0]
    assert len(values_in(lab.ask(here, fetch(), 12).responses[0].partitions[0].records)) == 1


@pytest.mark.parametrize(
    ("selectors", "fails"),
    [
        ({"client": "me"}, True),
        ({"client": "other"}, False),
        ({"topic": "t"}, True),
        ({"topic": "u"}, False),
        ({"broker": 0}, True),
        ({"broker": 1}, False),
        ({"group": "g"}, False),
        ({"client": "me", "topic": "u"}, False),
        ({"topic": "t", "partition": 0}, True),
        ({"partition": 0}, True),
        ({"topic": "t", "partition": 1}, False),
        ({"transactional_id": "x"}, False),
    ],
    ids=str,
)
def test_an_injected_error_is_for_the_requests_that_were_selected(
    lab: WireLab, selectors: dict[str, Any], fails: bool
) -> None:
    here = lab.connect(0)
    lab.run(InjectError(api="Fetch", error="NOT_LEADER_OR_FOLLOWER", **selectors))
    found = lab.ask(here, fetch(), 12).responses[0].partitions[0].error_code
    assert (found == error("NOT_LEADER_OR_FOLLOWER")) == fails


def test_an_injected_error_may_be_for_a_later_request(lab: WireLab) -> None:
    here = lab.connect()
    lab.run(InjectError(api="Produce", error="NOT_ENOUGH_REPLICAS", topic="t", after=1))
    codes = [
        lab.ask(here, produce(batch_of("a")), 9).responses[0].partition_responses[0].error_code
        for _ in range(3)
    ]
    assert codes == [0, error("NOT_ENOUGH_REPLICAS"), 0]


def test_a_dropped_request_is_never_handled_nor_are_later_ones_of_its_connection(
    lab: WireLab,
) -> None:
    here, other = lab.connect(), lab.connect()
    lab.run(InjectError(api="Produce", drop=True))
    lab.send(here, produce(batch_of("a")), 9)
    lab.send(here, MetadataRequest(), 9)
    lab.pass_time(60_000_000)
    assert not lab.responses[here]
    assert here not in lab.closed
    assert lab.external.is_deaf_to(here)
    assert not lab.ask(other, fetch(), 12).responses[0].partitions[0].records
    lab.hang_up(here)
    assert not lab.external.is_deaf_to(here)


def test_a_delayed_response_is_that_of_an_executed_request(lab: WireLab) -> None:
    here, other = lab.connect(), lab.connect()
    lab.run(InjectError(api="Produce", delay_us=2_000_000))
    started_us = lab.runner.now_us
    lab.send(here, produce(batch_of("a")), 9)
    lab.send(here, produce(batch_of("b")), 9)
    lab.pass_time(1_000_000)
    assert not lab.responses[here]
    assert values_in(lab.ask(other, fetch(), 12).responses[0].partitions[0].records) == [(0, "a")]
    lab.received(here)
    assert lab.runner.now_us - started_us == pytest.approx(2_000_000, abs=10_000)
    lab.received(here)
    assert lab.runner.now_us - started_us == pytest.approx(2_000_000, abs=20_000)


def test_a_throttled_client_is_told_at_once_and_not_read_from_meanwhile(lab: WireLab) -> None:
    here, other = lab.connect(), lab.connect()
    lab.run(InjectError(api="Produce", throttle_us=2_000_000))
    started_us = lab.runner.now_us
    assert lab.ask(here, produce(batch_of("a")), 9).throttle_time_ms == 2_000
    assert lab.runner.now_us - started_us < 100_000
    assert lab.ask(other, produce(batch_of("b")), 9).throttle_time_ms == 0
    assert lab.ask(here, produce(batch_of("c")), 9).throttle_time_ms == 0
    assert lab.runner.now_us - started_us == pytest.approx(2_000_000, abs=20_000)
    lab.run(InjectError(api="Fetch", throttle_us=1_000_000))
    answer = lab.ask(here, fetch(), 12)
    assert (answer.throttle_time_ms, answer.responses) == (1_000, [])
    assert len(values_in(lab.ask(here, fetch(), 12).responses[0].partitions[0].records)) == 3


def test_a_response_that_cannot_tell_of_a_quota_is_as_it_is(lab: WireLab) -> None:
    here = lab.connect()
    lab.run(InjectError(api="SaslHandshake", throttle_us=2_000_000))
    assert lab.ask(here, SaslHandshakeRequest("PLAIN"), 1).error_code


def test_before_two_a_throttled_client_waits_for_its_response() -> None:
    lab = WireLab.made(version="1.1")
    here = lab.connect()
    lab.run(InjectError(api="Metadata", throttle_us=2_000_000))
    started_us = lab.runner.now_us
    assert lab.ask(here, MetadataRequest(), 5).throttle_time_ms == 2_000
    assert lab.runner.now_us - started_us == pytest.approx(2_000_000, abs=20_000)
    lab.ask(here, MetadataRequest(), 5)
    assert lab.runner.now_us - started_us == pytest.approx(2_000_000, abs=20_000)


def test_an_error_may_be_delayed_and_its_client_be_gone_by_then(lab: WireLab) -> None:
    here = lab.connect()
    lab.run(InjectError(api="Produce", error="NOT_ENOUGH_REPLICAS", delay_us=50_000, times=2))
    response = lab.ask(here, produce(batch_of("a")), 9)
    code = response.responses[0].partition_responses[0].error_code
    assert code == error("NOT_ENOUGH_REPLICAS")
    lab.send(here, produce(batch_of("a")), 9)
    lab.pass_time(10_000)
    lab.hang_up(here)
    lab.pass_time(100_000)
    assert not lab.responses[here]


@pytest.mark.parametrize("acks", [-1, 0])
def test_a_connection_is_closed_after_a_request_was_executed(lab: WireLab, acks: int) -> None:
    here, other = lab.connect(), lab.connect()
    lab.run(InjectError(api="Produce", close_after=True))
    lab.send(here, produce(batch_of("a"), acks=acks), 9)
    lab.send(here, produce(batch_of("b")), 9)
    lab.pass_time(1_000_000)
    assert not lab.responses[here]
    assert "--close-after" in lab.closed[here]
    found = lab.ask(other, fetch(), 12).responses[0].partitions[0].records
    assert values_in(found) == [(0, "a")]


def test_faults_are_counted_and_recorded(lab: WireLab) -> None:
    here = lab.connect()
    seen: list[FaultInjected] = []
    lab.cluster.kernel.subscribe(seen.append, [FaultInjected])
    lab.run(InjectError(api="Produce", error="NOT_ENOUGH_REPLICAS", times=3, name="few"))
    assert lab.run(InjectError(api="Fetch", drop=True, name="few")) == "INVALID_REQUEST"
    lab.run(InjectError(api="Fetch", drop=True))
    for _ in range(2):
        lab.ask(here, produce(batch_of("a")), 9)
    count = partial(value_of, lab.cluster)
    assert count(Subject("fault", "few", "injected")) == 2
    assert count(Subject("fault", "few", "left")) == 1
    assert count(Subject("fault", "2", "injected")) == 0
    assert count(Subject("fault", "3", "injected")) is None
    assert [(each.name, each.effect) for each in seen] == [("few", "NOT_ENOUGH_REPLICAS")] * 2


@pytest.mark.parametrize(
    ("api", "selectors", "request_", "is_for"),
    [
        ("FindCoordinator", {"group": "g"}, FindCoordinatorRequest("g"), True),
        ("FindCoordinator", {"group": "g"}, FindCoordinatorRequest("g", 1), False),
        ("FindCoordinator", {"transactional_id": "g"}, FindCoordinatorRequest("g", 1), True),
        ("FindCoordinator", {"transactional_id": "g"}, FindCoordinatorRequest("g"), False),
        ("InitProducerId", {"transactional_id": "x"}, InitProducerIdRequest("x"), True),
        ("InitProducerId", {"transactional_id": "x"}, InitProducerIdRequest("y"), False),
        ("DescribeGroups", {"group": "g"}, DescribeGroupsRequest(["f", "g"]), True),
        ("DescribeGroups", {"group": "g"}, DescribeGroupsRequest(["f"]), False),
    ],
    ids=str,
)
def test_a_fault_may_be_for_a_group_or_a_transaction(
    lab: WireLab, api: str, selectors: dict[str, Any], request_: Message, *, is_for: bool
) -> None:
    here = lab.connect()
    lab.run(InjectError(api=api, drop=True, **selectors))
    lab.send(here, request_, 3)
    lab.pass_time(10_000)
    assert lab.external.is_deaf_to(here) == is_for


# ---- repeatable


def test_the_same_inputs_come_to_the_same_state_without_a_client(lab: WireLab) -> None:
    here = lab.connect()
    for each in ("a", "b"):
        lab.ask(here, produce(batch_of(each)), 9)
    lab.send(here, fetch(2, wait_ms=300), 12)
    lab.run(CrashBroker(broker=1))
    lab.pass_time(50_000)
    again = Runner(Cluster(lab.cluster.spec))
    for time_us, steps, statement in lab.given:
        again.return_to(time_us, steps)
        again.submit(statement)
    again.return_to(lab.runner.now_us, lab.runner.steps)
    assert again.state_hash == lab.runner.state_hash


def test_a_copy_goes_on_with_a_request_under_way(lab: WireLab) -> None:
    here = lab.connect()
    lab.send(here, produce(batch_of("a")), 9)
    copy = WireLab(lab.runner.fork())
    copy.responses, copy._asked = {here: []}, {here: [(0, 9)]}
    assert copy.received(here).responses[0].partition_responses[0].error_code == 0
    assert lab.received(here).responses[0].partition_responses[0].error_code == 0
