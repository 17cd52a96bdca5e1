"""The znodes that make a topic."""

import pytest

from emulator.zookeeper.data import compact
from emulator.zookeeper.metadata import write, write_topic
from tests.support.lab import Lab


@pytest.mark.parametrize(
    ("version", "written"),
    [
        ("2.2", '{"version":1,"partitions":{"0":[0]}}'),
        (
            "2.7",
            '{"version":2,"partitions":{"0":[0]},"adding_replicas":{},"removing_replicas":{}}',
        ),
    ],
)
def test_a_topic_is_written_as_in_its_release(version: str, written: str) -> None:
    assert Lab(version, brokers=1).cluster.world.topic_json([[0]]) == written


def test_from_2_8_a_topic_has_an_id() -> None:
    assert '"topic_id":"' in Lab("2.8", brokers=1).cluster.world.topic_json([[0]])


def test_a_topics_configuration_is_there_before_it() -> None:
    lab = Lab(brokers=1)
    world = lab.cluster.world
    write_topic(world.zookeeper, world, "u", world.topic_json([[0]]), {"cleanup.policy": "compact"})
    node = lab.cluster.zookeeper.get("/config/topics/u")
    assert node.data == '{"version":1,"config":{"cleanup.policy":"compact"}}'
    assert node.czxid < lab.cluster.zookeeper.get("/brokers/topics/u").czxid


def test_a_znode_that_is_there_is_set() -> None:
    world = Lab(brokers=1).cluster.world
    for number in (1, 2):
        write(world.zookeeper, world, "/admin/x", compact({"n": number}))
    node = world.zookeeper.get("/admin/x")
    assert (node.data, node.version) == ('{"n":2}', 1)
