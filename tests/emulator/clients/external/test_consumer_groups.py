"""Consumer groups of the new protocol (KIP-848), beyond what real brokers were asked."""

from typing import Any

import pytest

from emulator import events
from emulator.cluster import Cluster
from emulator.common.errors import ERROR_NAMES
from emulator.inputs.statements import CreateCluster, CreateTopic
from emulator.scenario.runner import Runner
from emulator.wire.messages.cluster import ApiVersionsRequest
from emulator.wire.messages.consumer_groups import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    HeartbeatTopicPartitions,
)
from emulator.wire.messages.coordinator import FindCoordinatorRequest
from tests.support.lab import Seen
from tests.support.wire_client import FAST, WireLab

HEARTBEAT, DESCRIBE = 68, 69
ONE_REPLICA = {"offsets.topic.replication.factor": "1"}


def coordinated(lab: WireLab) -> int:
    """A connection to the coordinator of g."""
    asking = lab.connect()
    for _ in range(100):
        found = lab.ask(asking, FindCoordinatorRequest(key="g"), 2)
        if not found.error_code:
            lab.pass_time(500_000)
            return lab.connect(found.node_id)
        lab.pass_time(100_000)
    raise AssertionError("there is no coordinator")


def join(member: str, **more: Any) -> ConsumerGroupHeartbeatRequest:
    fields: dict[str, Any] = {
        "rebalance_timeout_ms": 60_000,
        "subscribed_topic_names": ["t"],
    } | more
    return ConsumerGroupHeartbeatRequest("g", member, 0, topic_partitions=[], **fields)


def error(found: Any) -> str:  # noqa: ANN401 - any response
    return ERROR_NAMES[found.error_code]


@pytest.mark.parametrize(
    ("version", "mode", "advertised"),
    [
        ("3.6", "zk", {}),
        ("3.7", "zk", {HEARTBEAT: 0}),
        ("3.9", "zk", {HEARTBEAT: 0, DESCRIBE: 0}),
        ("3.9", "kraft", {HEARTBEAT: 0, DESCRIBE: 0}),
        ("4.0", "kraft", {HEARTBEAT: 1, DESCRIBE: 1}),
    ],
)
def test_each_release_advertises_what_it_has(
    version: str, mode: str, advertised: dict[int, int]
) -> None:
    lab = WireLab.made(version=version, mode=mode, brokers=1)
    lab.pass_time(5_000_000)
    found = lab.ask(lab.connect(), ApiVersionsRequest("me", "1"), 3)
    versions = {each.api_key: each.max_version for each in found.api_keys}
    assert {key: versions[key] for key in (HEARTBEAT, DESCRIBE) if key in versions} == advertised


@pytest.mark.parametrize(
    "spec",
    [
        {"version": "3.9", "mode": "kraft"},
        {"version": "3.9", "mode": "zk"},
        {"version": "4.1", "features": {"group.version": 0}},
    ],
)
def test_brokers_without_the_protocol_say_so_at_once(spec: dict[str, Any]) -> None:
    lab = WireLab.made(brokers=1, **spec)
    lab.pass_time(5_000_000)
    connection = lab.connect()
    found = lab.ask(connection, join("m1"), 0)
    assert error(found) == "UNSUPPORTED_VERSION"
    (group,) = lab.ask(connection, ConsumerGroupDescribeRequest(["g"]), 0).groups
    assert error(group) == "UNSUPPORTED_VERSION"


def test_a_member_without_an_id_gets_one_in_version_0() -> None:
    lab = WireLab.made(version="4.1", brokers=1, config=ONE_REPLICA)
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=2, replication_factor=1))
    connection = coordinated(lab)
    found = lab.ask(connection, join(""), 0)
    assert (error(found), found.member_epoch) == ("NONE", 1)
    assert len(found.member_id) == 22
    assert [each.partitions for each in found.assignment.topic_partitions] == [[0, 1]]


def test_a_full_group_takes_no_more_members() -> None:
    lab = WireLab.made(
        version="4.1", brokers=1, config={"group.consumer.max.size": "1"} | ONE_REPLICA
    )
    lab.pass_time(5_000_000)
    connection = coordinated(lab)
    assert error(lab.ask(connection, join("m1"), 1)) == "NONE"
    assert error(lab.ask(connection, join("m2"), 1)) == "GROUP_MAX_SIZE_REACHED"
    assert error(lab.ask(connection, join("m1"), 1)) == "NONE"


def test_events_tell_why_partitions_move() -> None:
    seen = Seen()
    spec = CreateCluster(version="4.1", brokers=1, config=FAST | ONE_REPLICA)
    lab = WireLab(Runner(Cluster(spec, [seen.events.append])))
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=2, replication_factor=1))
    connection = coordinated(lab)
    (topic,) = lab.ask(connection, join("m1"), 1).assignment.topic_partitions
    lab.ask(connection, join("m2"), 1)
    owns_both = [HeartbeatTopicPartitions(topic.topic_id, [0, 1])]
    lab.ask(connection, ConsumerGroupHeartbeatRequest("g", "m1", 1, topic_partitions=owns_both), 1)
    last = seen.of(events.MemberAssignmentChanged)[-1]
    assert (last.member, last.state, last.partitions) == ("m1", "UNREVOKED_PARTITIONS", ["t-0"])
    assert last.revoking == ["t-1"]
    assert seen.of(events.MemberAssignmentChanged, member="m2")[-1].awaited == ["m1"]
    lab.pass_time(60_000_000)
    assert [each.reason for each in seen.of(events.MemberLeft)] == ["session expired"] * 2
    bumps = [each.reason for each in seen.of(events.GroupEpochBumped)]
    assert bumps == ["a member joined", "a member joined", *["me: session expired"] * 2]


@pytest.mark.parametrize(
    ("assignors", "default", "other"),
    [("range,uniform", "range", "NONE"), ("range", "range", "UNSUPPORTED_ASSIGNOR")],
)
def test_the_first_assignor_is_the_default(assignors: str, default: str, other: str) -> None:
    settings = ONE_REPLICA | {"group.consumer.assignors": assignors}
    lab = WireLab.made(version="4.1", brokers=1, config=settings)
    lab.pass_time(5_000_000)
    lab.run(CreateTopic(topic="t", partitions=2, replication_factor=1))
    connection = coordinated(lab)
    assert error(lab.ask(connection, join("m1"), 1)) == "NONE"
    (group,) = lab.ask(connection, ConsumerGroupDescribeRequest(["g"]), 0).groups
    assert group.assignor_name == default
    assert error(lab.ask(connection, join("m2", server_assignor="uniform"), 1)) == other
