"""What the configurations of single groups change (GROUP resources)."""

import pytest

from emulator.cluster import Cluster
from emulator.common.errors import ERROR_NAMES
from emulator.inputs.statements import CreateCluster, CreateTopic
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import GROUP_RESOURCE, ConfigRecord
from emulator.releases.group_configs import duration_us, group_configs
from emulator.scenario.runner import Runner
from emulator.wire.messages import alter_configs
from emulator.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsResource,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    IncrementalAlterConfigsRequest,
)
from emulator.wire.messages.consumer_groups import ConsumerGroupDescribeRequest
from tests.emulator.clients.external.test_consumer_groups import (
    ONE_REPLICA,
    coordinated,
    error,
    join,
)
from tests.emulator.clients.external.test_share_groups import CONFIG, Member, produce
from tests.support.wire_client import FAST, WireLab

SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


def alter(lab: WireLab, group: str, **values: str) -> None:
    """Set values; their names have underscores for dots."""
    rows = [AlterableConfig(name.replace("_", "."), SET, value) for name, value in values.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, group, rows)])
    (row,) = lab.ask(lab.connect(), request, 1).responses
    assert (row.error_code, row.error_message) == (0, None)
    lab.pass_time(500_000)


def members(lab: WireLab, connection: int) -> int:
    (group,) = lab.ask(connection, ConsumerGroupDescribeRequest(["g"]), 0).groups
    return len(group.members)


def test_a_consumer_group_has_a_session_timeout_of_its_own() -> None:
    lab = WireLab.made(version="4.1", brokers=1, config=ONE_REPLICA)
    lab.run(CreateTopic(topic="t"))
    coordinator = coordinated(lab)
    alter(lab, "g", consumer_session_timeout_ms="60000", consumer_heartbeat_interval_ms="7000")
    joined = lab.ask(coordinator, join("x"), 1)
    assert (error(joined), joined.heartbeat_interval_ms) == ("NONE", 7_000)
    lab.pass_time(55_000_000)
    assert members(lab, coordinator) == 1
    lab.pass_time(6_000_000)
    assert members(lab, coordinator) == 0


def share_lab() -> WireLab:
    spec = CreateCluster(version="4.4", brokers=1, latency_us=20, config=FAST | CONFIG)
    lab = WireLab(Runner(Cluster(spec)))
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=1, replication_factor=1))
    return lab


def test_a_share_group_has_a_lock_and_a_delivery_limit_of_its_own() -> None:
    lab = share_lab()
    alter(
        lab,
        "g",
        share_auto_offset_reset="earliest",
        share_record_lock_duration_ms="5000",
        share_delivery_count_limit="2",
        share_heartbeat_interval_ms="6000",
        share_session_timeout_ms="50000",
    )
    produce(lab, 1)
    member = Member(lab)
    assert member.beat(member.epoch + 1).heartbeat_interval_ms in (0, 6_000)
    assert member.fetch(2_000) == [(0, 0, 1)]
    lab.pass_time(4_000_000)
    assert member.fetch() == []
    lab.pass_time(2_000_000)
    assert member.fetch() == [(0, 0, 2)]
    lab.pass_time(6_000_000)
    assert member.fetch() == []


@pytest.mark.parametrize(("reset", "first"), [("by_duration:PT10S", 1), ("by_duration:PT1H", 0)])
def test_a_share_group_begins_at_a_time(reset: str, first: int) -> None:
    lab = share_lab()
    alter(lab, "g", share_auto_offset_reset=reset)
    produce(lab, 1)
    lab.pass_time(60_000_000)
    produce(lab, 1)
    assert Member(lab).fetch(2_000)[0][0] == first


def test_a_share_group_begins_with_the_first_record_that_is_new_enough() -> None:
    lab = share_lab()
    alter(lab, "g", share_auto_offset_reset="by_duration:PT10S")
    produce(lab, 1)
    lab.pass_time(60_000_000)
    member = Member(lab)
    member.send_fetch(1_000)
    (topic,) = lab.received(member.connection).responses
    assert ERROR_NAMES[topic.partitions[0].error_code] == "OFFSET_NOT_AVAILABLE"


def test_configurations_outlive_a_snapshot() -> None:
    image = MetadataImage()
    image.replay(ConfigRecord(GROUP_RESOURCE, "a:b", "consumer.session.timeout.ms", "50000"), 0)
    copy = MetadataImage()
    for offset, record in enumerate(image.records()):
        copy.replay(record, offset)
    assert copy.configs == {"group:a:b": {"consumer.session.timeout.ms": "50000"}}


@pytest.mark.parametrize(("version", "mode"), [("3.9", "zk"), ("3.9", "kraft")])
def test_groups_have_no_configurations_before_4_0(version: str, mode: str) -> None:
    lab = WireLab.made(version=version, mode=mode)
    lab.pass_time(5_000_000)
    here = lab.connect()
    change = AlterableConfig("consumer.session.timeout.ms", SET, "50000")
    altered = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, "g", [change])])
    replaced = alter_configs.AlterConfigsRequest(
        [
            alter_configs.AlterConfigsResource(
                GROUP_RESOURCE, "g", [alter_configs.AlterableConfig("x", "1")]
            )
        ]
    )
    described = DescribeConfigsRequest([DescribeConfigsResource(GROUP_RESOURCE, "g", None)])
    for response in (lab.ask(here, altered, 1), lab.ask(here, replaced, 2)):
        assert error(response.responses[0]) == "INVALID_REQUEST"
    assert error(lab.ask(here, described, 2).results[0]) == "INVALID_REQUEST"
    assert group_configs((3, 9, 2)) == {}


@pytest.mark.parametrize(
    ("reset", "us"),
    [
        ("latest", None),
        ("by_duration:PT1H", 3_600_000_000),
        ("by_duration:P1DT1M2.5S", 86_462_500_000),
        ("by_duration:P", None),
        ("by_duration:PT", None),
    ],
)
def test_durations_are_read_as_java_does(reset: str, us: int | None) -> None:
    assert duration_us(reset) == us


@pytest.mark.parametrize(
    "changes",
    [
        [(APPEND, "streams.rack.aware.assignment.tags", "a")],
        [(SUBTRACT, "streams.rack.aware.assignment.tags", "a")],
        [(SET, "share.session.timeout.ms", "50000"), (APPEND, "nope", "1")],
    ],
)
def test_nothing_of_a_group_is_a_list_to_a_controller(changes: list[tuple[int, str, str]]) -> None:
    """As a broker of 4.4.0 answered, although the tags are described as a list."""
    lab = WireLab.made(version="4.4", brokers=1, config=ONE_REPLICA)
    rows = [AlterableConfig(name, operation, value) for operation, name, value in changes]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, "g", rows)])
    (result,) = lab.ask(lab.connect(), request, 1).responses
    operation, name, _ = changes[-1]
    word = {APPEND: "APPEND", SUBTRACT: "SUBTRACT"}[operation]
    assert (ERROR_NAMES[result.error_code], result.error_message) == (
        "INVALID_CONFIG",
        f"Can't {word} to key {name} because its type is not LIST.",
    )
