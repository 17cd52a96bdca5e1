"""Each client library on an emulated cluster: produce, consume, groups, administration."""

import pytest

from tests.wire.clients import Client, Stored
from tests.wire.members import Member, eventually
from tidegauge.kafka_cluster import KafkaCluster

# kafka-python and aiokafka leave sockets open whose connection failed.
pytestmark = [
    pytest.mark.clients,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

COUNT = 200


def send_numbers(
    client: Client, *, idempotent: bool = True, compression: str | None = None
) -> list[Stored]:
    client.create_topic("orders", 2, 3)
    with client.sender(idempotent=idempotent, compression=compression) as sender:
        for number in range(COUNT):
            sender.send("orders", number % 2, f"v{number}")
    assert sender.failed == []
    return sender.acknowledged


@pytest.mark.parametrize("idempotent", [True, False])
def test_what_was_sent_is_read_back_where_it_was_acknowledged(
    client: Client, kafka_cluster: KafkaCluster, *, idempotent: bool
) -> None:
    acknowledged = send_numbers(client, idempotent=idempotent)
    assert len(acknowledged) == COUNT
    assert sorted(client.read("orders", 2)) == sorted(acknowledged)
    kafka_cluster.assert_nothing_lost()


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_records_are_read_back(client: Client, compression: str) -> None:
    acknowledged = send_numbers(client, compression=compression)
    assert sorted(client.read("orders", 2)) == sorted(acknowledged)


@pytest.mark.parametrize(
    "version",
    [
        pytest.param(release, marks=pytest.mark.kafka(version=release))
        for release in ("0.10.2", "0.11", "1.1", "2.0", "2.4", "2.8", "3.5")
    ],
)
def test_clients_speak_with_brokers_of_older_releases(
    client: Client, client_name: str, version: str
) -> None:
    idempotent = version != "0.10.2"  # which knows no InitProducerId
    acknowledged = send_numbers(client, idempotent=idempotent)
    assert len(acknowledged) == COUNT
    assert sorted(client.read("orders", 2)) == sorted(acknowledged)


def test_a_member_takes_over_what_one_that_died_had(
    client: Client, client_name: str, kafka_cluster: KafkaCluster
) -> None:
    client.create_topic("orders", 2, 3)
    servers = kafka_cluster.bootstrap_servers
    one, two = (Member(client_name, servers, "billing", "orders") for _ in range(2))
    try:
        eventually(
            lambda: sorted(one.assigned + two.assigned) == [0, 1] and len(one.assigned) == 1,
            f"each has a partition: {one.assigned} {two.assigned}",
        )
        with client.sender(idempotent=True) as sender:
            for number in range(10):
                sender.send("orders", number % 2, f"v{number}")
        eventually(
            lambda: len(one.records) == len(two.records) == 5,
            f"each reads its own: {one.records} {two.records}",
        )
        assert "billing" in client.groups()
        one.kill()
        eventually(lambda: two.assigned == [0, 1], "the one that is left has both")
        with client.sender(idempotent=True) as sender:
            for number in range(10, 20):
                sender.send("orders", number % 2, f"v{number}")
        eventually(lambda: len(two.records) == 15, f"it reads on: {two.records}")
        read = sorted(one.records + two.records)
        assert read == sorted(client.read("orders", 2)), "nothing is read twice"
    finally:
        one.kill()
        two.kill()


def test_topics_are_administered(client: Client, kafka_cluster: KafkaCluster) -> None:
    client.create_topic("orders", 1, 3)
    client.create_topic("audit", 1, 2)
    assert {"orders", "audit"} <= client.topics()
    client.add_partitions("orders", 3)
    kafka_cluster.wait_until("orders-2.leader != -1")
    client.set_config("orders", "min.insync.replicas", "2")
    assert "2" in client.config("orders", "min.insync.replicas")
    client.delete_topic("audit")
    eventually(lambda: "audit" not in client.topics(), "the topic is gone")
