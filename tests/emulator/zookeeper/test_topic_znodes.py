"""The znodes that make a topic."""

import pytest

from emulator.releases.profiles import PROFILES
from emulator.zookeeper.data import compact, new_topic_json, topic_json
from emulator.zookeeper.metadata import write, write_topic
from tests.support.lab import Lab


def first(_below: int) -> int:
    """A random generator that always draws 0."""
    return 0


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
    assert new_topic_json(PROFILES[version], [[0]], first) == written


def test_from_2_8_a_topic_has_an_id() -> None:
    assert '"topic_id":"' in new_topic_json(PROFILES["2.8"], [[0]], first)


def test_a_topics_configuration_is_there_before_it() -> None:
    lab = Lab(brokers=1)
    cluster, topic = lab.cluster, topic_json(PROFILES["3.9"], [[0]], "")
    config = {"cleanup.policy": "compact"}
    write_topic(cluster.zookeeper, cluster.environment, "u", topic, config)
    node = lab.cluster.zookeeper.get("/config/topics/u")
    assert node.data == '{"version":1,"config":{"cleanup.policy":"compact"}}'
    assert node.czxid < lab.cluster.zookeeper.get("/brokers/topics/u").czxid


def test_a_znode_that_is_there_is_set() -> None:
    cluster = Lab(brokers=1).cluster
    for number in (1, 2):
        write(cluster.zookeeper, cluster.environment, "/admin/x", compact({"n": number}))
    node = cluster.zookeeper.get("/admin/x")
    assert (node.data, node.version) == ('{"n":2}', 1)
