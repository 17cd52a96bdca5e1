"""A topic is created in the same way whoever creates it."""

import pytest

from emulator.coordinator.internal_topics import OFFSETS
from emulator.inputs.statements import CreateTopic
from emulator.releases.profiles import PROFILES
from emulator.zookeeper.admin_client import AdminZkClient, colliding
from tests.support.lab import Lab


def written(version: str, racks: dict[int, str]) -> tuple[AdminZkClient, list[tuple[str, str]]]:
    found: list[tuple[str, str]] = []
    client = AdminZkClient(
        PROFILES[version], lambda: racks, lambda _below: 0, lambda *znode: found.append(znode)
    )
    return client, found


@pytest.mark.parametrize("version", ["0.8.2", "2.8", "3.9"])
def test_the_configuration_is_written_before_the_topic(version: str) -> None:
    client, found = written(version, {})
    client.create("t", [[1, 2]], {"retention.ms": "1"})
    assert [path for path, _ in found] == ["/config/topics/t", "/brokers/topics/t"]
    assert '"retention.ms":"1"' in found[0][1]
    assert '"0":[1,2]' in found[1][1]


def test_racks_count_only_where_brokers_have_them() -> None:
    racks = {1: "a", 2: "a", 3: "b"}
    assert written("3.9", racks)[0].assign([1, 2, 3], 1, 2) == [[1, 3]]
    assert written("0.9", racks)[0].assign([1, 2, 3], 1, 2) == [[1, 2]]


def test_added_partitions_begin_where_the_topic_began() -> None:
    client, _ = written("3.9", {})
    assert client.assign_added([3, 1, 2], 2, [2, 3], 1) == [[3, 2], [1, 3]]


def test_an_internal_topic_is_assigned_as_a_users_topic_is() -> None:
    """The same draws of random numbers give the same replicas."""
    by_tool, by_broker = Lab("3.9", brokers=3), Lab("3.9", brokers=3)
    by_tool.do(CreateTopic(topic="t", partitions=3, replication_factor=2, policy="kafka"))
    broker = by_broker.cluster.brokers[0]
    broker.context.metadata.create(OFFSETS.name, 3, 2, {})
    by_broker.wait(100)
    assert [by_tool.cluster.assigned(f"t-{number}") for number in range(3)] == [
        by_broker.cluster.assigned(f"{OFFSETS.name}-{number}") for number in range(3)
    ]


def test_names_collide_that_metrics_cannot_tell_apart() -> None:
    assert colliding("a.b", ["a", "a_b"]) == "a_b"
    assert colliding("a.b", ["a-b", "ab"]) is None
