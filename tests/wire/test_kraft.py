"""Each client library on a cluster without ZooKeeper."""

import pytest

from tests.wire.clients import Client
from tidegauge.kafka_cluster import KafkaCluster

# kafka-python and aiokafka leave sockets open whose connection failed.
pytestmark = [
    pytest.mark.clients,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.kafka(version="4.1", config={"min.insync.replicas": 2}),
]


def test_the_controller_makes_a_topic_that_a_producer_names(
    client: Client, kafka_cluster: KafkaCluster
) -> None:
    with client.sender(idempotent=True) as sender:
        sender.send("auto", 0, "first")
    assert sender.failed == []
    assert [each.value for each in client.read("auto", 1)] == ["first"]
    assert sorted(kafka_cluster.isr("auto")) == [0, 1, 2]
