"""A running cluster is imported with nothing but read requests."""

import gc
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from emulator.cluster_image.document import encode
from emulator.cluster_image.image import (
    DEFAULT,
    Broker,
    ClientQuota,
    ClusterImage,
    CommittedOffset,
    ScramUser,
)
from sessions.own_cluster.importing import import_sources, read_source
from sessions.own_cluster.read_only_client import (
    READ_REQUESTS,
    WriteRequestError,
    guarded_connections,
    servers_of,
)
from sessions.own_cluster.reading import SourceError
from sessions.own_cluster.running_cluster import Reader
from tidegauge.kafka_cluster import ClusterServer, KafkaCluster

pytest.importorskip("kafka")
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@contextmanager
def recorded() -> Iterator[list[int]]:
    """Record the API keys of all requests as bytes that are written to connections."""
    from kafka.net.transport import KafkaTCPTransport

    keys: list[int] = []
    lock, write = threading.Lock(), KafkaTCPTransport.write

    def noted(transport: object, data: bytes) -> object:
        at = 0
        with lock:
            while at < len(data):
                keys.append(int.from_bytes(data[at + 4 : at + 6], "big"))
                at += 4 + int.from_bytes(data[at : at + 4], "big")
        return write(transport, data)

    KafkaTCPTransport.write = noted
    try:
        yield keys
    finally:
        KafkaTCPTransport.write = write


def filled(cluster: KafkaCluster) -> str:
    """Give a cluster two topics, records and a broker that is down; return its address."""
    cluster.run(
        "topic create orders --replica-assignment 0:1:2,1:2:0 --config retention.ms=9000000"
    )
    cluster.run("topic create small --replica-assignment 2:1 --config min.insync.replicas=2")
    cluster.wait_until("small-0.leader == 2")
    cluster.run("produce orders --value paid --partition 0 --count 12 --acks all")
    cluster.crash(2)
    cluster.wait_until("small-0.leader == 1")
    cluster.wait_until("orders-0.isr == [0,1]")
    alive = [each for each in cluster.bootstrap_servers.split(",")][:2]
    return f"kafka://{','.join(alive)}"


@pytest.mark.kafka(version="3.9")
def test_a_cluster_with_zookeeper_is_read_and_only_read(kafka_cluster: KafkaCluster) -> None:
    address = filled(kafka_cluster)
    with recorded() as keys:
        reading = read_source(address)
    assert {*keys} <= READ_REQUESTS.keys()
    assert {3, 32, 35} <= {*keys}
    image = reading.image
    assert (image.release, image.mode) == ("3.9", "zk")
    assert {broker.id: broker.up for broker in image.brokers} == {0: True, 1: True, 2: False}
    orders = image.partition("orders", 0)
    assert orders is not None
    assert (orders.replicas, orders.leader, orders.isr) == ((0, 1, 2), 0, (0, 1))
    assert (orders.log_start, orders.log_end) == (0, 12)
    assert [log.broker for log in orders.logs] == [0, 1]
    small = image.topic("small")
    assert small is not None
    assert small.configs == {"min.insync.replicas": "2"}
    assert small.id
    assert len(small.id) == 22


@pytest.mark.kafka(version="3.9")
def test_values_that_no_broker_sends_are_left_out(
    kafka_cluster: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka import KafkaAdminClient

    def confused(*_arguments: object) -> object:
        raise ValueError("24 is not a valid ACLOperation")

    monkeypatch.setattr(KafkaAdminClient, "describe_log_dirs", confused)
    reading = read_source(f"kafka://{kafka_cluster.bootstrap_servers}")
    reason = "an answer that no broker gives: ValueError: 24 is not a valid ACLOperation"
    assert reading.notes == (f"sizes of logs left out: {reason}",)
    monkeypatch.setattr(Reader, "_metadata", confused)
    with pytest.raises(SourceError, match="24 is not a valid"):
        read_source(f"kafka://{kafka_cluster.bootstrap_servers}")


@pytest.mark.kafka(version="4.1")
def test_a_cluster_without_zookeeper_tells_elrs_quorum_and_features(
    kafka_cluster: KafkaCluster,
) -> None:
    address = filled(kafka_cluster)
    with recorded() as keys:
        result = import_sources([address])
    assert {*keys} <= READ_REQUESTS.keys()
    assert {55, 60, 75} <= {*keys}
    image = result.image
    assert (image.release, image.mode) == ("4.1", "kraft")
    assert image.quorum is not None
    assert image.quorum.leader == 100
    small = image.partition("small", 0)
    assert small is not None
    assert (small.leader, small.isr, small.elr) == (1, (1,), (2,))
    assert {broker.id: broker.up for broker in image.brokers} == {0: True, 1: True, 2: False}
    assert image.features is not None
    assert image.features["eligible.leader.replicas.version"] == 1
    assert {broker.id: broker.fenced for broker in image.brokers}[2] is True
    assert [str(each) for each in result.assumed] == []
    assert [note for note in result.readings[0].notes if "left out" in note] == []


@pytest.mark.parametrize(
    "release",
    [
        pytest.param(each, marks=pytest.mark.kafka(version=each))
        for each in ("1.1", "2.4", "2.8", "3.6")
    ],
)
def test_older_brokers_answer_what_they_can(kafka_cluster: KafkaCluster, release: str) -> None:
    reading = read_source(filled(kafka_cluster))
    assert reading.image.release == release
    small = reading.image.partition("small", 0)
    assert small is not None
    assert (small.replicas, small.leader, small.isr) == ((2, 1), 1, (1,))
    left_out = [note.partition(" left out")[0] for note in reading.notes]
    assert left_out == (["reassignments"] if release == "1.1" else [])  # KIP-455 came with 2.4


@pytest.mark.kafka(version="3.9")
def test_groups_and_their_offsets_are_read_and_are_in_a_copy(
    kafka_cluster: KafkaCluster, kafka_cluster_server: ClusterServer, tmp_path: Path
) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    servers = kafka_cluster.bootstrap_servers
    kafka_cluster.run("topic create t --replica-assignment 0:1")
    with recorded():
        producer = KafkaProducer(bootstrap_servers=servers)
        producer.send("t", b"v").get(10)
        producer.close()
        consumer = KafkaConsumer(
            "t", bootstrap_servers=servers, group_id="readers", auto_offset_reset="earliest"
        )
        assert len(list(consumer.poll(20_000).values())) == 1
        consumer.commit()
        consumer.close()
        del producer, consumer
        gc.collect()  # what the library left open is told here, where it is no failure
    image = read_source(f"kafka://{servers}").image
    (group,) = image.groups
    assert (group.id, group.state) == ("readers", "Empty")
    assert [(each.partition, each.offset) for each in group.offsets] == [(0, 1)]
    assert isinstance(group.offsets[0], CommittedOffset)
    file = tmp_path / "prod.cluster.json"
    file.write_bytes(encode(image))
    with closing(KafkaCluster(kafka_cluster_server, image=file)) as copy:
        (restored,) = read_source(f"kafka://{copy.bootstrap_servers}").image.groups
    assert (restored.id, restored.state, restored.offsets) == ("readers", "Empty", group.offsets)


@pytest.mark.parametrize("release", ["2.6", "4.1"])
def test_users_quotas_and_directories_are_told(
    kafka_cluster_server: ClusterServer, tmp_path: Path, release: str
) -> None:
    users = (ScramUser("alice", {"SCRAM-SHA-256": 8_192}),)
    quotas = (ClientQuota("alice", DEFAULT, values={"producer_byte_rate": 1_024.0}),)
    file = tmp_path / "prod.cluster.json"
    file.write_bytes(
        encode(ClusterImage(release, users=users, quotas=quotas, brokers=(Broker(1, up=True),)))
    )
    with closing(KafkaCluster(kafka_cluster_server, image=file)) as copy, recorded() as keys:
        reading = read_source(f"kafka://{copy.bootstrap_servers}")
    assert {*keys} <= READ_REQUESTS.keys()
    assert reading.image.users == (() if release == "2.6" else users)  # KIP-554 came with 2.7
    assert reading.image.quotas == quotas
    [broker] = reading.image.brokers
    assert len(broker.log_dirs or ()) == 1
    assert [note for note in reading.notes if "left out" in note] == []


@pytest.mark.kafka(version="3.9")
def test_a_request_that_is_no_read_is_not_sent(kafka_cluster: KafkaCluster) -> None:
    from kafka.admin import KafkaAdminClient

    client = KafkaAdminClient(
        bootstrap_servers=kafka_cluster.bootstrap_servers, kafka_client=guarded_connections
    )
    try:
        with recorded() as keys, pytest.raises(WriteRequestError, match="CreateTopicsRequest"):
            client.create_topics({"t": {"num_partitions": 1, "replication_factor": 1}})
        assert 19 not in keys
    finally:
        client.close()


def test_an_address_without_a_cluster_is_refused_in_a_sentence() -> None:
    assert servers_of("kafka://a:1,[::1]:2") == ["a:1", "[::1]:2"]
    for address in ("kafka://", "kafka://host", "kafka://:9092"):
        with pytest.raises(SourceError, match="written kafka://HOST:PORT"):
            servers_of(address)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "kafka.admin", None)
    with pytest.raises(SourceError, match=r"pip install 'tidegauge\[attach\]'"):
        read_source("kafka://127.0.0.1:1")


def test_an_unreachable_cluster_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.own_cluster.read_only_client.CONNECT_TIMEOUT_MS", 200)
    with pytest.raises(SourceError, match="cannot be reached"):
        read_source("kafka://127.0.0.1:1")
    gc.collect()  # the library leaves the refused connection open, which is told here
