"""Transactional producers of each client library, and consumers that read committed."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

import pytest

from tests.wire.conftest import MODULES
from tests.wire.members import eventually
from tidegauge.kafka_cluster import KafkaCluster

# kafka-python and aiokafka leave sockets open whose connection failed.
pytestmark = [
    pytest.mark.clients,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
WAIT_SECONDS = 60


class Fenced(Exception):
    """Another producer of the same transactional id has begun."""


class Transactional(Protocol):
    """A transactional producer of any library."""

    def begin(self) -> None: ...

    def send(self, value: str, partition: int = 0) -> None: ...

    def commit(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class Confluent:
    """confluent-kafka, which is librdkafka."""

    def __init__(self, servers: str, name: str) -> None:
        from confluent_kafka import Producer

        config = {"bootstrap.servers": servers, "transactional.id": name, "log_level": 0}
        self.producer: Any = Producer(config)
        self.producer.init_transactions(WAIT_SECONDS)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, value: str, partition: int = 0) -> None:
        self.producer.produce("orders", value.encode(), partition=partition)

    def commit(self) -> None:
        from confluent_kafka import KafkaException

        try:
            self.producer.commit_transaction(WAIT_SECONDS)
        except KafkaException as error:
            raise Fenced from error

    def abort(self) -> None:
        self.producer.flush(WAIT_SECONDS)  # so that there is something to abort
        self.producer.abort_transaction(WAIT_SECONDS)

    def close(self) -> None:
        self.producer.purge()


class KafkaPython:
    """kafka-python."""

    def __init__(self, servers: str, name: str) -> None:
        from kafka import KafkaProducer

        self.producer: Any = KafkaProducer(bootstrap_servers=servers, transactional_id=name)
        self.producer.init_transactions()

    def begin(self) -> None:
        self.producer.begin_transaction()

    def send(self, value: str, partition: int = 0) -> None:
        self.producer.send("orders", value.encode(), partition=partition)

    def commit(self) -> None:
        from kafka.errors import KafkaError

        try:
            self.producer.commit_transaction()
        except KafkaError as error:
            raise Fenced from error

    def abort(self) -> None:
        self.producer.flush()
        self.producer.abort_transaction()

    def close(self) -> None:
        self.producer.close(timeout=1)


class Aiokafka:
    """aiokafka, on an event loop of its own."""

    def __init__(self, servers: str, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.producer: Any = self._run(lambda: self._started(servers, name))
        self.sent: list[Any] = []

    def _run(self, what: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever it is
        return self.loop.run_until_complete(asyncio.wait_for(what(), WAIT_SECONDS))

    @staticmethod
    async def _started(servers: str, name: str) -> Any:  # noqa: ANN401 - the library has no types
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(bootstrap_servers=servers, transactional_id=name)
        await producer.start()
        return producer

    def begin(self) -> None:
        self._run(self.producer.begin_transaction)

    def send(self, value: str, partition: int = 0) -> None:
        self._run(lambda: self.producer.send("orders", value.encode(), partition=partition))

    def commit(self) -> None:
        from aiokafka.errors import KafkaError

        try:
            self._run(self.producer.commit_transaction)
        except KafkaError as error:
            raise Fenced from error

    def abort(self) -> None:
        self._run(self.producer.flush)
        self._run(self.producer.abort_transaction)

    def close(self) -> None:
        with suppress(Exception):  # a producer that was fenced says so once more
            self._run(self.producer.stop)
        self.loop.close()


PRODUCERS: dict[str, Callable[[str, str], Transactional]] = {
    "confluent-kafka": Confluent,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
}


def read_committed(servers: str, library: str, count: int) -> list[str]:
    """The first records of the topic as a consumer of that library reads them."""
    if library == "confluent-kafka":
        return _with_confluent(servers, count)
    if library == "kafka-python":
        return _with_kafka_python(servers, count)
    return asyncio.run(_with_aiokafka(servers, count))


def _with_confluent(servers: str, count: int) -> list[str]:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer: Any = Consumer(
        {"bootstrap.servers": servers, "group.id": "g", "isolation.level": "read_committed"}
    )
    consumer.assign([TopicPartition("orders", 0, OFFSET_BEGINNING)])
    found = [consumer.poll(WAIT_SECONDS) for _ in range(count)]
    assert consumer.poll(0.3) is None
    consumer.close()
    return [each.value().decode() for each in found]


def _with_kafka_python(servers: str, count: int) -> list[str]:
    from kafka import KafkaConsumer, TopicPartition

    consumer: Any = KafkaConsumer(
        bootstrap_servers=servers,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        consumer_timeout_ms=1_000,
    )
    consumer.assign([TopicPartition("orders", 0)])
    found = [each.value.decode() for each in consumer]
    consumer.close()
    assert len(found) == count, found
    return found


async def _with_aiokafka(servers: str, count: int) -> list[str]:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    consumer: Any = AIOKafkaConsumer(
        bootstrap_servers=servers, isolation_level="read_committed", auto_offset_reset="earliest"
    )
    await consumer.start()
    consumer.assign([TopicPartition("orders", 0)])
    found: list[str] = []
    while len(found) < count:
        batches = await asyncio.wait_for(consumer.getmany(timeout_ms=500), WAIT_SECONDS)
        found += [each.value.decode() for rows in batches.values() for each in rows]
    await consumer.stop()
    return found


@pytest.fixture(params=PRODUCERS)
def library(request: pytest.FixtureRequest) -> Iterator[str]:
    name: str = request.param
    pytest.importorskip(MODULES[name])
    yield name
    gc.collect()  # what a library left open is told here, where it is no failure


def coordinator(cluster: KafkaCluster, library: str) -> int:
    """Who leads the partition of __transaction_state that holds the id of that name."""
    from emulator.coordinator.internal_topics import TRANSACTIONS

    topic, _, partition = TRANSACTIONS.partition_of(library, 50).rpartition("-")
    return cluster.leader(topic, int(partition))


@pytest.mark.parametrize(
    "version",
    [pytest.param(each, marks=pytest.mark.kafka(version=each)) for each in ("2.8", "3.9", "4.1")],
)
def test_commits_are_read_and_aborts_are_not(
    version: str, library: str, kafka_cluster: KafkaCluster
) -> None:
    kafka_cluster.run("topic create orders --replica-assignment 0:1:2")
    producer = PRODUCERS[library](kafka_cluster.bootstrap_servers, library)
    for number in range(3):
        producer.begin()
        producer.send(f"committed {number}")
        producer.commit()
        producer.begin()
        producer.send(f"aborted {number}")
        producer.abort()
    producer.begin()
    producer.send("last")
    producer.commit()
    found = read_committed(kafka_cluster.bootstrap_servers, library, 4)
    assert found == ["committed 0", "committed 1", "committed 2", "last"], version
    producer.close()
    kafka_cluster.assert_nothing_lost()


KAFKA_PYTHON_DROPS = (
    "kafka-python 3.0.12 loses EndTxn if the coordinator refuses the connection: Sender."
    "_maybe_send_pending_request catches the error with target_node set, and then retries only "
    "without one (https://github.com/dpkp/kafka-python/blob/3.0.12/kafka/producer/sender.py)"
)


@pytest.mark.parametrize("victim", ["leader", "coordinator"])
def test_a_transaction_goes_on_while_brokers_crash(
    victim: str, library: str, kafka_cluster: KafkaCluster
) -> None:
    if (victim, library) == ("coordinator", "kafka-python"):
        pytest.skip(KAFKA_PYTHON_DROPS)
    kafka_cluster.run("topic create orders --replica-assignment 0:1:2")
    producer = PRODUCERS[library](kafka_cluster.bootstrap_servers, library)
    producer.begin()
    producer.send("a")
    producer.commit()
    producer.begin()
    producer.send("b")
    broker = 0 if victim == "leader" else coordinator(kafka_cluster, library)
    kafka_cluster.crash(broker)
    eventually(lambda: kafka_cluster.leader("orders") not in (-1, broker), "another leader")
    producer.send("c")
    producer.commit()
    kafka_cluster.start(broker)
    kafka_cluster.wait_until("orders-0.isr == [0,1,2]")
    assert read_committed(kafka_cluster.bootstrap_servers, library, 3) == ["a", "b", "c"]
    producer.close()
    kafka_cluster.assert_nothing_lost()


def test_a_zombie_is_fenced(library: str, kafka_cluster: KafkaCluster) -> None:
    kafka_cluster.run("topic create orders --replica-assignment 0:1:2")
    zombie = PRODUCERS[library](kafka_cluster.bootstrap_servers, library)
    zombie.begin()
    zombie.send("never")
    second = PRODUCERS[library](kafka_cluster.bootstrap_servers, library)
    with pytest.raises(Fenced):
        zombie.commit()
    second.begin()
    second.send("a")
    second.commit()
    assert read_committed(kafka_cluster.bootstrap_servers, library, 1) == ["a"]
    zombie.close()
    second.close()
