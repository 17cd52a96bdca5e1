"""Which brokers a client asks, by what it has seen of its own connections."""

import pytest

from emulator.clients.network_client import (
    RECONNECT_US,
    SILENCE_US,
    NetworkClient,
    note_response,
)
from emulator.clients.state import Connections, Question
from emulator.cluster import Cluster
from emulator.events import CLIENTS
from emulator.inputs.statements import CrashBroker, CreateCluster, CreateTopic, FreezeBroker, Wait
from emulator.protocol import MetadataRequest, MetadataResponse, PartitionMetadata
from tests.emulator.coordinator.bench import Inbox
from tests.support.lab import Lab
from tests.support.running import do

NO_LEADER = PartitionMetadata("LEADER_NOT_AVAILABLE")


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(CreateCluster(brokers=4))


def network_client(cluster: Cluster) -> NetworkClient:
    return NetworkClient(cluster.clients.context)


def test_a_new_client_asks_all_brokers_in_id_order_whatever_state_they_are_in(
    cluster: Cluster,
) -> None:
    do(cluster, CrashBroker(broker=0), FreezeBroker(broker=2))
    assert network_client(cluster).candidates(Connections()) == [0, 1, 2, 3]


def test_brokers_that_failed_wait_for_their_backoff_and_are_then_asked_last(
    cluster: Cluster,
) -> None:
    client, connections = network_client(cluster), Connections()
    client.broke(connections, 0)
    client.is_silent(connections, 1)
    assert client.candidates(connections) == [2, 3]
    do(cluster, Wait(duration_us=RECONNECT_US))
    assert client.candidates(connections) == [2, 3, 0]
    do(cluster, Wait(duration_us=SILENCE_US))
    assert client.candidates(connections) == [2, 3, 0, 1]
    client.responded(connections, 0)
    assert client.candidates(connections) == [0, 2, 3, 1]


def test_if_all_failed_all_are_asked(cluster: Cluster) -> None:
    client, connections = network_client(cluster), Connections()
    for broker in range(4):
        client.is_silent(connections, broker)
    assert client.candidates(connections) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("responses", "error"),
    [
        ([], "NONE"),
        (
            [MetadataResponse(1, "t", "UNKNOWN_TOPIC_OR_PARTITION", {})],
            "UNKNOWN_TOPIC_OR_PARTITION",
        ),
        ([MetadataResponse(1, "t", "NONE", {1: NO_LEADER})], "UNKNOWN_TOPIC_OR_PARTITION"),
        (
            [
                MetadataResponse(1, "t", "NONE", {0: NO_LEADER}),
                MetadataResponse(2, "t", "UNKNOWN_TOPIC_OR_PARTITION", {}),
            ],
            "LEADER_NOT_AVAILABLE",
        ),
    ],
)
def test_a_response_that_knows_the_partition_counts_more_than_one_that_does_not(
    responses: list[MetadataResponse], error: str
) -> None:
    question = Question()
    for response in responses:
        note_response(question, response, 0)
    assert question.error == error


# ---- what brokers say of topics


def told(lab: Lab, topic: str) -> MetadataResponse:
    """What broker 0 says of a topic."""
    inbox = Inbox()
    lab.cluster.kernel.actors[CLIENTS] = inbox
    request = lab.cluster.clients.context.send(0, MetadataRequest(topic))
    lab.wait(50)
    response = inbox.responses[request]
    assert isinstance(response, MetadataResponse)
    return response


def test_a_broker_tells_topics_that_do_not_exist_from_those_without_a_leader() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(1)
    lab.do(CrashBroker(broker=1))
    lab.wait(30_000)
    assert told(lab, "t").partitions[0].error == "LEADER_NOT_AVAILABLE"
    assert told(lab, "x").error == "UNKNOWN_TOPIC_OR_PARTITION"
    assert told(lab, "a b").error == "INVALID_TOPIC_EXCEPTION"


def test_a_topic_that_never_had_a_leader_is_known_to_be_without_one() -> None:
    lab = Lab("3.9", brokers=2)
    lab.do(CrashBroker(broker=1))
    lab.wait(30_000)
    lab.do(CreateTopic(topic="t", assignment=[[1]]))
    lab.wait(1_000)
    assert told(lab, "t").error == "LEADER_NOT_AVAILABLE"


@pytest.mark.parametrize(("version", "epoch"), [("2.0.1", -1), ("2.1", 0), ("3.9", 0)])
def test_metadata_carries_leader_epochs_since_2_1(version: str, epoch: int) -> None:
    lab = Lab(version, brokers=1)
    lab.topic(0)
    assert told(lab, "t").partitions == {0: PartitionMetadata("NONE", 0, epoch)}
