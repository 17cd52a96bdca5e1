"""A served cluster beside librdkafka's mock cluster: ``python -m benchmarks.wire``.

Both run the same program with the same client library, confluent-kafka. The mock keeps one log per
partition in the client's own process, and does not replicate; a served cluster has three replicas,
in a separate process.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from confluent_kafka import Consumer, Producer

from tidegauge.kafka_cluster import ClusterServer, KafkaCluster

RECORDS = 200_000
SYNCHRONOUS = 300
VALUE = bytes(100)
SECONDS = 60
QUIET = {"log_level": 0}
CLUSTERS = 20


@contextmanager
def mock() -> Iterator[dict[str, Any]]:
    """The mock cluster of librdkafka: it lives as long as the client that made it."""
    owner = Producer({"bootstrap.servers": "unused", "test.mock.num.brokers": 3, **QUIET})
    (first, *_) = owner.list_topics(timeout=SECONDS).brokers.values()
    yield {"bootstrap.servers": f"{first.host}:{first.port}", **QUIET}


@contextmanager
def served() -> Iterator[dict[str, Any]]:
    """A cluster of this project."""
    server = ClusterServer()
    cluster = KafkaCluster(server)
    yield {"bootstrap.servers": cluster.bootstrap_servers, **QUIET}
    cluster.close()
    server.stop()


def produced(client: dict[str, Any], topic: str, linger_ms: int) -> tuple[float, int]:
    """Records a second, and how many of them were acknowledged."""
    limits = {"queue.buffering.max.messages": 1_000_000, "linger.ms": linger_ms}
    producer = Producer({**client, **limits, "acks": "all"})
    producer.produce(topic, VALUE)
    producer.flush(SECONDS)
    begin = time.perf_counter()
    for number in range(RECORDS):
        producer.produce(topic, VALUE)
        if number % 1_000 == 0:
            producer.poll(0)
    left = producer.flush(SECONDS)
    return RECORDS / (time.perf_counter() - begin), RECORDS + 1 - left


def read(client: dict[str, Any], topic: str) -> tuple[float, int]:
    """Seconds until a group's first record, and how many records can be read."""
    group = {"group.id": topic, "auto.offset.reset": "earliest", "enable.partition.eof": True}
    consumer = Consumer({**client, **group})
    consumer.subscribe([topic])
    begin, first, count, ends = time.perf_counter(), 0.0, 0, 0
    while not ends and time.perf_counter() - begin < SECONDS:
        for message in consumer.consume(10_000, 1.0):
            ends += message.error() is not None
            count += message.error() is None
            first = first or time.perf_counter() - begin
    consumer.close()
    return first, count


def synchronous(client: dict[str, Any], topic: str) -> float:
    """The median of milliseconds that a record takes, one after another."""
    producer = Producer({**client, "linger.ms": 0, "acks": "all"})
    taken = []
    for _ in range(SYNCHRONOUS):
        begin = time.perf_counter()
        producer.produce(topic, VALUE)
        producer.flush(SECONDS)
        taken.append((time.perf_counter() - begin) * 1_000)
    return median(taken)


def first_record(client: dict[str, Any]) -> None:
    """Produce one record and wait for its acknowledgement."""
    producer = Producer({**client, "acks": "all"})
    producer.produce("first", VALUE)
    assert producer.flush(SECONDS) == 0


def start_of_mock() -> None:
    """Print how long a test waits for a mock cluster; it creates topics in its first response."""
    taken = []
    for _ in range(CLUSTERS):
        begin = time.perf_counter()
        with mock() as client:
            first_record(client)
            taken.append((time.perf_counter() - begin) * 1_000)
    print(f"  first record acknowledged after {median(taken):.1f} ms")


def start_of_served() -> None:
    """Print how long a test waits for its cluster, in a running server.

    A topic that the first request creates has no leader in the first response, as with real
    brokers, and librdkafka waits before it asks again.
    """
    server = ClusterServer()
    for creates in (True, False):
        made, acknowledged = [], []
        for _ in range(CLUSTERS):
            begin = time.perf_counter()
            cluster = KafkaCluster(server)
            made.append((time.perf_counter() - begin) * 1_000)
            if creates:
                cluster.run("topic create first --partitions 1 --replication-factor 3")
            first_record({"bootstrap.servers": cluster.bootstrap_servers, **QUIET})
            acknowledged.append((time.perf_counter() - begin) * 1_000)
            cluster.close()
        topic = "created before" if creates else "created by the first request"
        print(f"  ready after {median(made):.1f} ms")
        print(f"  first record acknowledged after {median(acknowledged):.1f} ms (topic {topic})")
    server.stop()


def main() -> None:
    """Print the figures of both."""
    for name, made, start in (("mock", mock, start_of_mock), ("served", served, start_of_served)):
        print(name)
        start()
        with made() as client:
            for linger_ms in (5, 0):
                topic = f"linger-{linger_ms}"
                rate, acked = produced(client, topic, linger_ms)
                first, count = read(client, topic)
                print(
                    f"  linger {linger_ms} ms: {rate:10,.0f} records/s; {count:,} of {acked:,} can "
                    f"be read, the first after {first * 1_000:,.0f} ms"
                )
            print(f"  synchronous: {synchronous(client, 'synchronous'):10.3f} ms")


if __name__ == "__main__":
    main()
