"""Clients outside on brokers in KRaft mode, by bytes."""

import pytest

from emulator.common.errors import ERROR_NAMES, ERRORS
from emulator.inputs.statements import CrashBroker, CreateTopic, DeleteTopic, StartBroker
from emulator.wire.messages import alter_configs
from emulator.wire.messages.cluster import (
    ApiVersionsRequest,
    DescribeTopicPartitionsRequest,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
    TopicRequest,
)
from emulator.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterConfigsRequest,
)
from emulator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from emulator.wire.messages.partitions import ListPartitionReassignmentsRequest
from emulator.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from emulator.wire.messages.quorum import (
    DescribeQuorumPartition,
    DescribeQuorumRequest,
    DescribeQuorumTopic,
)
from emulator.wire.messages.topics import CreatableTopic, CreateTopicsRequest
from emulator.wire.types import NO_UUID, Message
from tests.support.wire_client import WireLab, batch_of, values_in

METADATA, PRODUCE, FETCH = 13, 13, 17
NAMES = {each.code: each.name for each in ERRORS.values()}


def error(name: str) -> int:
    return ERRORS[name].code


@pytest.fixture
def lab() -> WireLab:
    made = WireLab.made(brokers=3, version="4.1", config={"default.replication.factor": "3"})
    made.pass_time(2_000_000)
    assert all(broker.takes_requests for broker in made.cluster.brokers.values())
    return made


def metadata(lab: WireLab, here: int, topic: str) -> MetadataResponse:
    request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
    found: MetadataResponse = lab.ask(here, request, METADATA)
    return found


def topic_with_id(lab: WireLab, here: int, topic: str) -> MetadataResponseTopic:
    assert metadata(lab, here, topic).topics[0].error_code == error("UNKNOWN_TOPIC_OR_PARTITION")
    lab.pass_time(200_000)
    (found,) = metadata(lab, here, topic).topics
    assert found.error_code == 0
    return found


def by_id(topic_id: bytes, *values: str) -> ProduceRequest:
    rows = [PartitionProduceData(0, batch_of(*values))]
    return ProduceRequest(None, -1, 30_000, [TopicProduceData("", topic_id, rows)])


def fetched(topic_id: bytes) -> FetchRequest:
    rows = [FetchPartition(0, -1, 0, partition_max_bytes=1 << 20)]
    return FetchRequest(max_wait_ms=0, topics=[FetchTopic("", topic_id, rows)])


def test_a_broker_advertises_what_4_1_does_and_takes_no_message_sets(lab: WireLab) -> None:
    here = lab.connect()
    response = lab.ask(here, ApiVersionsRequest("me", "1"), 4)
    ranges = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
    assert (ranges[0], ranges[1], ranges[3]) == ((0, 13), (4, 18), (0, 13))
    lab.send(here, ProduceRequest(None, -1, 1_000, []), 2)
    lab.pass_time(1_000)
    assert "Produce 2" in lab.closed[here]


def test_metadata_has_the_broker_itself_for_the_controller(lab: WireLab) -> None:
    response = lab.ask(lab.connect(1), MetadataRequest([]), METADATA)
    assert response.controller_id == 1
    assert [each.node_id for each in response.brokers] == [0, 1, 2]


def test_the_controller_makes_a_topic_that_metadata_asks_for(lab: WireLab) -> None:
    found = topic_with_id(lab, lab.connect(), "auto")
    assert found.topic_id != NO_UUID
    assert len(found.partitions[0].replica_nodes) == 3


def test_records_are_produced_and_fetched_by_the_topics_id(lab: WireLab) -> None:
    found = topic_with_id(lab, lab.connect(), "t")
    here = lab.connect(found.partitions[0].leader_id)
    (response,) = lab.ask(here, by_id(found.topic_id, "a", "b"), PRODUCE).responses
    assert response.topic_id == found.topic_id
    assert response.partition_responses[0].error_code == 0
    lab.pass_time(600_000)
    (given,) = lab.ask(here, fetched(found.topic_id), FETCH).responses
    assert values_in(given.partitions[0].records) == [(0, "a"), (1, "b")]


def test_the_id_of_a_topic_that_was_deleted_and_made_anew_is_unknown(lab: WireLab) -> None:
    here = lab.connect()
    old = topic_with_id(lab, here, "t")
    lab.run(DeleteTopic(topic="t"))
    lab.pass_time(200_000)
    new = topic_with_id(lab, here, "t")
    assert new.topic_id != old.topic_id
    there = lab.connect(new.partitions[0].leader_id)
    (response,) = lab.ask(there, by_id(old.topic_id, "a"), PRODUCE).responses
    assert response.partition_responses[0].error_code == error("UNKNOWN_TOPIC_ID")
    (given,) = lab.ask(there, fetched(old.topic_id), FETCH).responses
    assert given.partitions[0].error_code == error("UNKNOWN_TOPIC_ID")


def test_topics_are_made_by_the_controller_and_keep_their_values(lab: WireLab) -> None:
    here = lab.connect(2)
    request = CreateTopicsRequest([CreatableTopic("made", 2, 3)], timeout_ms=1_000)
    assert lab.ask(here, request, 7).topics[0].error_code == 0
    lab.pass_time(100_000)
    wanted = DescribeConfigsRequest([DescribeConfigsResource(2, "made", None)])
    (found,) = lab.ask(here, wanted, 4).results
    assert found.error_code == 0
    assert "min.insync.replicas" in {each.name for each in found.configs}
    moves = lab.ask(here, ListPartitionReassignmentsRequest(topics=None), 0)
    assert (moves.error_code, moves.topics) == (0, [])


def test_after_a_crash_another_broker_leads(lab: WireLab) -> None:
    lab.run(CreateTopic(topic="t", assignment=[[1, 2, 0]]))
    lab.pass_time(100_000)
    here = lab.connect(0)
    before = metadata(lab, here, "t").topics[0].partitions[0]
    lab.run(CrashBroker(broker=1))
    lab.pass_time(15_000_000)
    after = metadata(lab, here, "t").topics[0].partitions[0]
    assert (before.leader_id, after.leader_id) == (1, 2)
    assert after.leader_epoch > before.leader_epoch


def test_the_quorum_is_described_with_voters_and_observers() -> None:
    lab = WireLab.made(brokers=2, controllers=3, version="4.1")
    lab.pass_time(5_000_000)
    wanted = DescribeQuorumRequest(
        [DescribeQuorumTopic("__cluster_metadata", [DescribeQuorumPartition(0)])]
    )
    response = lab.ask(lab.connect(), wanted, 2)
    assert response.error_code == 0
    (found,) = response.topics[0].partitions
    assert found.leader_id == lab.cluster.active_controller()
    assert sorted(each.replica_id for each in found.current_voters) == [100, 101, 102]
    assert [each.replica_id for each in found.observers] == [0, 1]
    assert all(found.high_watermark <= each.log_end_offset + 1 for each in found.current_voters), (
        "all are caught up"
    )
    assert all(each.last_caught_up_timestamp > 0 for each in found.observers)
    other = DescribeQuorumRequest([DescribeQuorumTopic("orders", [DescribeQuorumPartition(0)])])
    (refused,) = lab.ask(lab.connect(), other, 2).topics[0].partitions
    assert refused.error_code == error("UNKNOWN_TOPIC_OR_PARTITION")


def test_partitions_are_described_a_page_at_a_time(lab: WireLab) -> None:
    for topic in ("a", "b"):
        lab.run(CreateTopic(topic=topic, assignment=[[0, 1, 2]] * 3))
    lab.pass_time(500_000)
    found: list[tuple[str, int]] = []
    cursor, pages = None, 0
    while cursor is not None or not pages:
        wanted = DescribeTopicPartitionsRequest([], 2, cursor)
        page = lab.ask(lab.connect(), wanted, 0)
        found += [(t.name, p.partition_index) for t in page.topics for p in t.partitions]
        cursor, pages = page.next_cursor, pages + 1
    assert found == [(topic, number) for topic in ("a", "b") for number in range(3)]
    assert pages == 3


def test_eligible_leaders_and_dead_replicas_are_told() -> None:
    lab = WireLab.made(version="4.1", config={"min.insync.replicas": "2"})
    lab.pass_time(2_000_000)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    lab.pass_time(500_000)
    for broker in (2, 1):
        lab.run(CrashBroker(broker=broker))
        lab.pass_time(30_000_000)
    wanted = DescribeTopicPartitionsRequest([TopicRequest("t")])
    (partition,) = lab.ask(lab.connect(0), wanted, 0).topics[0].partitions
    assert (partition.isr_nodes, partition.eligible_leader_replicas) == ([0], [1])
    assert partition.offline_replicas == [1, 2]


def test_all_brokers_tell_one_cluster_id(lab: WireLab) -> None:
    told = {
        lab.ask(lab.connect(broker), MetadataRequest([]), METADATA).cluster_id
        for broker in range(3)
    }
    assert len(told) == 1
    assert len(told.pop()) == 22


def test_alter_configs_replaces_what_incremental_alter_configs_adds_to(lab: WireLab) -> None:
    here = lab.connect()
    topic_with_id(lab, here, "t")
    keys = ["retention.ms", "min.insync.replicas", "cleanup.policy"]

    def own() -> dict[str, str]:
        asked = DescribeConfigsRequest([DescribeConfigsResource(2, "t", keys)])
        lab.pass_time(500_000)
        rows = lab.ask(here, asked, 4).results[0].configs
        return {row.name: row.value for row in rows if row.config_source == 1}

    def add(*rows: tuple[str, int, str | None]) -> str:
        changes = [AlterableConfig(*row) for row in rows]
        asked = IncrementalAlterConfigsRequest([AlterConfigsResource(2, "t", changes)])
        return NAMES[lab.ask(here, asked, 1).responses[0].error_code]

    assert add(("retention.ms", 0, "1000"), ("min.insync.replicas", 0, "2")) == "NONE"
    assert add(("cleanup.policy", 0, "compact"), ("retention.ms", 1, None)) == "NONE"
    assert own() == {"min.insync.replicas": "2", "cleanup.policy": "compact"}
    assert add(("retention.ms", 0, "1"), ("retention.ms", 0, "2")) == "INVALID_REQUEST"
    rows = [alter_configs.AlterableConfig("cleanup.policy", "delete")]
    whole = alter_configs.AlterConfigsRequest([alter_configs.AlterConfigsResource(2, "t", rows)])
    assert lab.ask(here, whole, 2).responses[0].error_code == 0
    assert own() == {"cleanup.policy": "delete"}


def test_configs_of_brokers_are_set_and_refused_as_by_real_brokers() -> None:
    """As recorded with 3.9.2; the last four changes follow ``ConfigAdminManager``."""
    lab = WireLab.made(version="3.9", mode="kraft", brokers=2)
    lab.pass_time(5_000_000)
    here = lab.connect(0)
    lab.run(CreateTopic(topic="t", assignment=[[0, 1]]))

    def change(kind: int, name: str, *changes: tuple[str, int, str | None]) -> str:
        rows = [AlterableConfig(*each) for each in changes]
        asked = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, rows)])
        (found,) = lab.ask(here, asked, 1).responses
        lab.pass_time(300_000)
        return ERROR_NAMES[found.error_code]

    def told(kind: int, name: str, key: str) -> tuple[str, list[tuple[str | None, int]]]:
        asked = DescribeConfigsRequest([DescribeConfigsResource(kind, name, [key])])
        (found,) = lab.ask(here, asked, 4).results
        rows = [(each.value, each.config_type) for each in found.configs]
        return ERROR_NAMES[found.error_code], rows

    assert change(4, "0", ("min.insync.replicas", 0, "3")) == "NONE"
    assert change(4, "", ("log.retention.ms", 0, "5000")) == "NONE"
    assert told(4, "0", "min.insync.replicas") == ("NONE", [("3", 3)])
    assert told(2, "t", "retention.ms") == ("NONE", [("5000", 5)])
    assert told(2, "t", "cleanup.policy") == ("NONE", [("delete", 7)])
    assert told(4, "1", "num.partitions") == ("INVALID_REQUEST", [])
    assert change(4, "0", ("min.insync.replicas", 1, None)) == "NONE"
    assert told(4, "0", "min.insync.replicas") == ("NONE", [("1", 3)])
    assert change(2, "t", ("retention.ms", 2, "1000")) == "INVALID_CONFIG"
    twice = ("retention.ms", 0, "1"), ("retention.ms", 0, "2")
    assert change(2, "t", *twice) == "INVALID_REQUEST"
    assert change(2, "t", ("retention.ms", 0, None)) == "INVALID_REQUEST"
    assert change(4, "1", ("min.insync.replicas", 0, "2")) == "INVALID_REQUEST"
    assert change(4, "0", ("num.partitions", 0, "2")) == "INVALID_REQUEST"
    assert change(4, "0", ("min.insync.replicas", 0, "many")) == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("request_", "version"), [(ApiVersionsRequest("me", "1"), 3), (MetadataRequest([]), METADATA)]
)
def test_a_broker_whose_ports_are_closed_yet_refuses_connections(
    lab: WireLab, request_: Message, version: int
) -> None:
    """It opens them when it is first unfenced (``BrokerServer.startup``)."""
    lab.run(CrashBroker(broker=1))
    lab.pass_time(1_000_000)
    lab.give(StartBroker(broker=1))
    lab.pass_time(1_000)
    assert not lab.cluster.brokers[1].takes_requests
    here = lab.connect(1)
    lab.send(here, request_, version)
    lab.pass_time(10_000)
    assert (here in lab.closed, lab.responses[here]) == (True, [])
    lab.pass_time(30_000_000)
    assert lab.ask(lab.connect(1), MetadataRequest([]), METADATA).controller_id == 1
