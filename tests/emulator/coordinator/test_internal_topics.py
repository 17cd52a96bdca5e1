"""The coordinators' topics: whose groups are where, and how they come to be."""

import pytest

from emulator.common.java_collections import java_hash
from emulator.coordinator.internal_topics import OFFSETS
from emulator.inputs.statements import CrashBroker, CreateTopic
from emulator.protocol import FindCoordinatorRequest
from tests.emulator.coordinator.bench import Bench
from tests.support.lab import Lab


@pytest.mark.parametrize(
    ("text", "hashed"),
    [
        ("", 0),
        ("a", 97),
        ("abc", 96354),
        ("consumer-group", 2556575208),
        ("console-consumer-12345", 158455506),
        ("中文", 646394),
        ("\U0001f600", 1772899),
    ],
)
def test_a_text_hashes_as_in_java(text: str, hashed: int) -> None:
    assert java_hash(text) == hashed


def test_a_negative_hash_loses_its_sign_only() -> None:
    assert java_hash("consumer-group") > (1 << 31)
    assert OFFSETS.partition_of("consumer-group", 50) == f"{OFFSETS.name}-10"


def asked(version: str, brokers: int, **config: str) -> Lab:
    """A cluster in which somebody has asked for a coordinator, twice."""
    lab = Lab(version, brokers=brokers, config=config)
    for _ in range(2):
        lab.cluster.network.send(-2, 0, FindCoordinatorRequest("g"))
        lab.wait(200)
    return lab


def made(lab: Lab) -> list[int]:
    """How many replicas each partition has."""
    tps = [tp for tp in lab.cluster.partitions() if tp.startswith(OFFSETS.name)]
    return [len(lab.cluster.assigned(tp) or ()) for tp in tps]


@pytest.mark.parametrize("version", ["0.9", "2.1", "3.9"])
def test_the_first_question_makes_the_topic(version: str) -> None:
    assert made(asked(version, 3)) == [3] * 50


@pytest.mark.parametrize(("version", "replicas"), [("0.10.2", [2] * 4), ("0.11", []), ("3.9", [])])
def test_too_few_brokers_get_fewer_replicas_up_to_0_10_2_and_no_topic_since(
    version: str, replicas: list[int]
) -> None:
    assert made(asked(version, 2, **{"offsets.topic.num.partitions": "4"})) == replicas


def test_nobody_coordinates_before_there_is_a_topic_and_its_leader_afterwards() -> None:
    bench = Bench(brokers=2)
    found = bench.ask(FindCoordinatorRequest("g"), broker=1)
    assert (found.error, found.coordinator) == ("NONE", 0)
    bench.lab.do(CrashBroker(broker=0))
    bench.lab.wait(30)
    bench.lab.cluster.brokers[1].state.process.live_brokers = [1]
    found = bench.ask(FindCoordinatorRequest("g"), broker=1)
    assert (found.error, found.coordinator) == ("COORDINATOR_NOT_AVAILABLE", -1)


def test_a_topic_made_by_hand_counts_as_it_is() -> None:
    lab = Lab("3.9", brokers=1)
    lab.do(CreateTopic(topic=OFFSETS.name, assignment=[[0], [0], [0]]))
    coordinator = lab.cluster.brokers[0].core.coordinator
    assert coordinator.partition_of("consumer-group") == f"{OFFSETS.name}-1"
