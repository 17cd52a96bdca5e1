"""Share groups (KIP-932), beyond what real brokers were asked."""

from typing import Any

import pytest

from emulator import events
from emulator.broker.share.in_flight import AVAILABLE
from emulator.broker.share.share_partition import (
    ACTIVE,
    Batch,
    Limits,
    SharePartition,
)
from emulator.broker.share.share_sessions import ShareSession
from emulator.cluster import Cluster
from emulator.common.errors import ERROR_NAMES
from emulator.inputs.statements import (
    ConfigureGroup,
    Consume,
    CreateCluster,
    CreateTopic,
    Produce,
)
from emulator.protocol import Acknowledgement
from emulator.scenario.runner import Runner
from emulator.wire.messages.cluster import (
    ApiVersionsRequest,
    MetadataRequest,
    MetadataRequestTopic,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from emulator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from emulator.wire.messages.share_groups import (
    AcknowledgementBatch,
    ShareAcknowledgePartition,
    ShareAcknowledgeRequest,
    ShareAcknowledgeTopic,
    ShareFetchPartition,
    ShareFetchRequest,
    ShareFetchTopic,
    ShareGroupHeartbeatRequest,
)
from emulator.wire.records import record_batch
from emulator.wire.records.checksum import crc32c
from tests.support.lab import Seen
from tests.support.wire_client import FAST, WireLab, batch_of

KEYS = range(76, 80)
CONFIG = {
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "2000",
    "group.share.delivery.count.limit": "3",
}
EARLY_ACCESS = {
    "unstable.api.versions.enable": "true",
    "group.coordinator.rebalance.protocols": "classic,consumer,share",
}
ACCEPT, RELEASE, REJECT = 1, 2, 3


class Member:
    """A member of the share group g, whose topic t has one partition at the only broker."""

    def __init__(self, lab: WireLab, name: str = "m1", version: int = 1) -> None:
        self.lab = lab
        self.name = name
        self.version = version
        self.connection = lab.connect()
        self.epoch = 0
        for _ in range(100):
            found = lab.ask(self.connection, FindCoordinatorRequest(key="g"), 2)
            if not found.error_code:
                break
            lab.pass_time(100_000)
        lab.pass_time(500_000)
        metadata = lab.ask(self.connection, MetadataRequest([MetadataRequestTopic(name="t")]), 12)
        self.topic_id = metadata.topics[0].topic_id
        for epoch in (0, 1):
            self.beat(epoch)
            lab.pass_time(500_000)

    def beat(self, epoch: int) -> Any:  # noqa: ANN401 - a response
        request = ShareGroupHeartbeatRequest("g", self.name, epoch, None, ["t"])
        return self.lab.ask(self.connection, request, self.version)

    def fetch(self, wait_ms: int = 100, max_bytes: int = 0) -> list[tuple[int, int, int]]:
        """Acquire records: first and last offset, and how often they were delivered."""
        self.send_fetch(wait_ms, max_bytes=max_bytes)
        found = self.lab.received(self.connection)
        assert not found.error_code
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for topic in found.responses
            for row in topic.partitions
            for each in row.acquired_records
        ]

    def send_fetch(self, wait_ms: int, partitions: int = 1, max_bytes: int = 0) -> None:
        rows = [ShareFetchPartition(partition, max_bytes) for partition in range(partitions)]
        topics = [ShareFetchTopic(self.topic_id, rows)]
        request = ShareFetchRequest(
            "g", self.name, self.epoch, wait_ms, 1, 1 << 20, 100, 100, topics=topics
        )
        self.lab.send(self.connection, request, self.version)
        self.epoch += 1

    def acknowledge(self, first: int, last: int, *kinds: int) -> str:
        batch = AcknowledgementBatch(first, last, list(kinds))
        topics = [ShareAcknowledgeTopic(self.topic_id, [ShareAcknowledgePartition(0, [batch])])]
        request = ShareAcknowledgeRequest("g", self.name, self.epoch, topics=topics)
        found = self.lab.ask(self.connection, request, 1)
        self.epoch += 1
        return ERROR_NAMES[found.responses[0].partitions[0].error_code]


def begun(seen: Seen) -> tuple[WireLab, Member]:
    """A member that has begun at the end of t-0."""
    spec = CreateCluster(version="4.2", brokers=1, latency_us=20, config=FAST | CONFIG)
    lab = WireLab(Runner(Cluster(spec, [seen.events.append])))
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1))
    member = Member(lab)
    member.fetch()
    lab.pass_time(500_000)
    assert member.fetch() == []
    return lab, member


def produce(lab: WireLab, count: int) -> None:
    assert lab.run(Produce(topic="t", value="v", count=count)) == "NONE"


def test_each_partition_that_was_acknowledged_is_in_the_response() -> None:
    lab = WireLab.made(version="4.2", brokers=1, config=CONFIG)
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=2, replication_factor=1))
    member = Member(lab)
    for _ in range(2):
        member.send_fetch(100, partitions=2)
        lab.received(member.connection)
        lab.pass_time(500_000)
    for partition in (0, 1):
        lab.run(Produce(topic="t", partition=partition, value="v"))
    assert len(member.fetch()) == 2
    batches = [AcknowledgementBatch(0, 0, [ACCEPT])]
    rows = [ShareAcknowledgePartition(partition, batches) for partition in (0, 1)]
    topics = [ShareAcknowledgeTopic(member.topic_id, rows)]
    request = ShareAcknowledgeRequest("g", member.name, member.epoch, topics=topics)
    (topic,) = lab.ask(member.connection, request, 1).responses
    assert [(row.partition_index, row.error_code) for row in topic.partitions] == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("spec", "error"),
    [({}, "UNSUPPORTED_VERSION"), ({"features": {"share.version": 1}}, "NONE")],
)
def test_the_preview_of_4_1_needs_its_feature(spec: dict[str, Any], error: str) -> None:
    lab = WireLab.made(version="4.1", brokers=1, config=CONFIG, **spec)
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1))
    member = Member(lab, "A" * 22)
    assert ERROR_NAMES[member.beat(-1).error_code] == error


@pytest.mark.parametrize(
    ("version", "config", "expected"),
    [
        ("3.9", {}, set()),
        ("4.0", {}, set()),
        ("4.0", EARLY_ACCESS, {(0, 0)}),
        ("4.1", {}, {(1, 1)}),
        ("4.2", {}, {(1, 1), (1, 2)}),
    ],
)
def test_each_release_advertises_what_it_has(
    version: str, config: dict[str, str], expected: set[tuple[int, int]]
) -> None:
    lab = WireLab.made(version=version, mode="kraft", brokers=1, config=config)
    lab.pass_time(5_000_000)
    response = lab.ask(lab.connect(), ApiVersionsRequest("me", "1"), 3)
    versions = {
        api.api_key: (api.min_version, api.max_version)
        for api in response.api_keys
        if api.api_key in KEYS
    }
    assert set(versions.values()) == expected
    assert len(versions) == (len(KEYS) if expected else 0)


def test_a_scripted_member_of_the_early_access_reads_as_soon_as_it_has_joined() -> None:
    seen = Seen()
    spec = CreateCluster(version="4.0", brokers=1, config=FAST | CONFIG | EARLY_ACCESS)
    lab = WireLab(Runner(Cluster(spec, [seen.events.append])))
    lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1))
    lab.run(ConfigureGroup(group="g", config={"share.auto.offset.reset": "earliest"}))
    produce(lab, 3)
    assert lab.run(Consume(topic="t", group="g", protocol="share")) == "NONE"
    (consumed,) = seen.of(events.RecordsConsumed)
    assert consumed.position == 3


def test_a_member_of_the_early_access_limits_what_it_reads_of_its_partitions_alone() -> None:
    config = FAST | CONFIG | EARLY_ACCESS
    lab = WireLab(Runner(Cluster(CreateCluster(version="4.0", brokers=1, config=config))))
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1))
    lab.run(ConfigureGroup(group="g", config={"share.auto.offset.reset": "earliest"}))
    member = Member(lab, "A" * 22, version=0)
    assert member.fetch(max_bytes=1 << 20) == []
    lab.pass_time(3_000_000)
    produce(lab, 1)
    produce(lab, 1)
    assert member.fetch(max_bytes=0) == [(0, 1, 1)]
    session = ShareSession("g", "m", "", 1, {"t-0": True}, {"t-0": 9})
    session.update(["t-1"], {"t-1": 9}, ["t-0", "t-1"])
    assert session.partitions == session.limits == {}


def test_a_record_that_nobody_accepts_is_archived_and_events_say_so() -> None:
    seen = Seen()
    lab, member = begun(seen)
    produce(lab, 2)
    for delivery in (1, 2):
        assert member.fetch() == [(0, 1, delivery)]
        assert member.acknowledge(0, 1, RELEASE) == "NONE"
    assert member.fetch() == [(0, 0, 3)], "a record is alone at its last delivery"
    assert member.acknowledge(0, 0, RELEASE) == "NONE"
    assert member.fetch() == [(1, 1, 3)]
    lab.pass_time(2_500_000)
    assert member.fetch() == []
    archived = seen.of(events.RecordsArchived)
    assert [(each.first_offset, each.deliveries) for each in archived] == [(0, 3)]
    (released,) = seen.of(events.RecordsReleased)
    assert (released.first_offset, released.state) == (1, "archived")
    assert released.reason == "lock expired"
    assert seen.of(events.ShareStartMoved)[-1].share_start == 2


def test_a_connection_that_ends_gives_records_back() -> None:
    seen = Seen()
    lab, member = begun(seen)
    produce(lab, 3)
    assert member.fetch() == [(0, 2, 1)]
    assert member.acknowledge(0, 0, ACCEPT) == "NONE"
    member.send_fetch(30_000)
    lab.pass_time(10_000)
    lab.hang_up(member.connection)
    lab.pass_time(500_000)
    assert {each.reason for each in seen.of(events.RecordsReleased)} == {"session ended"}


def test_a_copy_of_a_cluster_with_records_in_flight_goes_the_same_way() -> None:
    seen = Seen()
    lab, member = begun(seen)
    produce(lab, 3)
    assert member.fetch() == [(0, 2, 1)]
    copy = Runner(lab.cluster.fork())
    now_us = lab.runner.now_us
    lab.runner.run_until(now_us + 5_000_000)
    copy.run_until(now_us + 5_000_000)
    assert copy.cluster.state_hash == lab.cluster.state_hash
    assert lab.cluster.brokers[0].state.core.shares.partitions["g\nt-0"].next_expiry_us == 0


def test_a_lock_that_ends_while_its_acknowledgement_is_stored_lets_time_go_on() -> None:
    """The share coordinator is slow: the change that it stores decides, not the lock."""
    share = SharePartition("g", "t-0", "id", 0, ACTIVE)
    limits = Limits(lock_us=1_000, in_flight=10, deliveries=5)
    share.acquire("m1", 0, [Batch(0, 1)], 10, 10, limits, now_us=0)
    assert share.next_expiry_us == 1_000
    share.acknowledge("m1", [Acknowledgement(0, 1, [ACCEPT])], limits, write=1, now_us=500)
    assert share.next_expiry_us == 0
    assert share.expire(limits, now_us=1_000) == []
    share.complete(1, limits, now_us=2_000, stored=False)
    assert [run.state.state for run in share.runs()] == [AVAILABLE]


def dead_letters(
    records: bytes, copies: str, *kinds: int, batch_bytes: int = 1 << 20
) -> list[tuple[list[str], int]]:
    """What is written to the queue of a group whose member acknowledges so, and the group's start.

    The values are those of one write each.
    """
    seen = Seen()
    spec = CreateCluster(version="4.4", brokers=1, latency_us=20, config=FAST | CONFIG)
    lab = WireLab(Runner(Cluster(spec, [seen.events.append])))
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1))
    enabled = {"errors.deadletterqueue.group.enable": "true", "max.message.bytes": str(batch_bytes)}
    lab.run(CreateTopic(topic="dlq.t", partitions=1, replication_factor=1, config=enabled))
    queue = {
        "share.auto.offset.reset": "earliest",
        "errors.deadletterqueue.topic.name": "dlq.t",
        "errors.deadletterqueue.copy.record.enable": copies,
    }
    lab.run(ConfigureGroup(group="g", config=queue))
    rows = [PartitionProduceData(0, records)]
    request = ProduceRequest(None, -1, 30_000, [TopicProduceData("t", partition_data=rows)])
    assert not lab.ask(lab.connect(), request, 9).responses[0].partition_responses[0].error_code
    member = Member(lab)
    assert member.fetch() or member.fetch()
    assert member.acknowledge(0, len(kinds) - 1, *kinds) == "NONE"
    lab.pass_time(10_000_000)
    start = seen.of(events.ShareStartMoved)[-1].share_start
    writes = [event for event in seen.of(events.GroupRecordsWritten) if event.tp == "dlq.t-0"]
    return [(event.values, start) for event in writes]


def test_neighbours_that_are_rejected_are_written_together() -> None:
    kinds = [REJECT, REJECT, ACCEPT, REJECT]
    written = dead_letters(batch_of("a", "b", "c", "d"), "true", *kinds)
    assert written == [(["a", "b"], 4), (["d"], 4)]


def test_more_dead_letters_than_fit_in_a_batch_are_written_one_batch_after_the_other() -> None:
    values = [f"v{number}" for number in range(90)]
    for batch_bytes, sizes in ((320, [1] * 90), (14_550, [80, 10])):
        written = dead_letters(batch_of(*values), "true", *[REJECT] * 90, batch_bytes=batch_bytes)
        assert [len(batch) for batch, _ in written] == sizes
        assert [value for batch, _ in written for value in batch] == values
        assert {start for _, start in written} == {90}


def test_a_rejected_record_that_cannot_be_read_has_headers_alone_in_the_queue() -> None:
    damaged = bytearray(batch_of("abc"))
    damaged[record_batch.HEADER_BYTES] ^= 1  # the record's length
    damaged[17:21] = crc32c(bytes(damaged[21:])).to_bytes(4, "big")
    ((values, start),) = dead_letters(bytes(damaged), "true", REJECT)
    assert (values, start) == dead_letters(batch_of("abc"), "false", REJECT)[0]
