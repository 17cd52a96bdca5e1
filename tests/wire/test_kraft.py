"""Each client library on a cluster without ZooKeeper."""

import pytest

from tests.wire.clients import Client
from tests.wire.members import eventually
from tests.wire.test_faults import AFTER, BEFORE, PARTITIONS, leader_crash, sending
from tidegauge.kafka_cluster import KafkaCluster

# kafka-python and aiokafka leave sockets open whose connection failed.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.kafka(version="4.1", config={"min.insync.replicas": 2}),
]


def test_what_was_acknowledged_outlives_the_leader(
    client: Client, kafka_cluster: KafkaCluster
) -> None:
    client.create_topic("orders", PARTITIONS, 3)
    with client.sender(idempotent=True) as sender, sending(sender):
        eventually(lambda: len(sender.acknowledged) >= BEFORE, "records before the crash")
        leader_crash(kafka_cluster)
        enough = len(sender.acknowledged) + AFTER
        eventually(lambda: len(sender.acknowledged) >= enough, "records after the crash")
    assert sender.failed == []
    assert sorted(client.read("orders", PARTITIONS)) == sorted(sender.acknowledged)
    kafka_cluster.assert_nothing_lost()


def test_the_controller_makes_a_topic_that_a_producer_names(
    client: Client, kafka_cluster: KafkaCluster
) -> None:
    with client.sender(idempotent=True) as sender:
        sender.send("auto", 0, "first")
    assert sender.failed == []
    assert [each.value for each in client.read("auto", 1)] == ["first"]
    assert sorted(kafka_cluster.isr("auto")) == [0, 1, 2]
