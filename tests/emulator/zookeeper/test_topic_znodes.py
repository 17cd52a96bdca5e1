"""The znodes that make a topic."""

import pytest

from emulator.inputs.statements import ConfigureTopic, CreateTopic
from emulator.releases.profiles import PROFILES
from emulator.zookeeper.data import new_topic_json
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
    assert new_topic_json(PROFILES[version], [[0]], first)[0] == written


def test_from_2_8_a_topic_has_an_id() -> None:
    data, topic_id = new_topic_json(PROFILES["2.8"], [[0]], first)
    assert topic_id
    assert f'"topic_id":"{topic_id}"' in data


def test_a_topics_configuration_is_there_before_it() -> None:
    lab = Lab(brokers=1)
    lab.do(CreateTopic(topic="u", assignment=[[0]], config={"min.insync.replicas": "1"}))
    node = lab.cluster.zookeeper.get("/config/topics/u")
    assert node.data == '{"version":1,"config":{"min.insync.replicas":"1"}}'
    assert node.czxid < lab.cluster.zookeeper.get("/brokers/topics/u").czxid


def test_a_configuration_that_is_there_is_set() -> None:
    lab = Lab(brokers=1)
    lab.do(CreateTopic(topic="u", assignment=[[0]]))
    lab.do(ConfigureTopic(topic="u", config={"min.insync.replicas": "1"}))
    node = lab.cluster.zookeeper.get("/config/topics/u")
    assert (node.data, node.version) == (
        '{"version":1,"config":{"min.insync.replicas":"1"}}',
        1,
    )
