"""Three client libraries behind one small face, so that each goes through the same tests.

What a test asks is what all of them can do: create topics, send and be told where each record is,
read a topic from its beginning, and be a member of a group.
"""

import asyncio
import json
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeVar

Result = TypeVar("Result")
WAIT_SECONDS = 30.0
SESSION_TIMEOUT_MS = 6_000
HEARTBEAT_MS = 300
FETCH_WAIT_MS = 100


class Stored(NamedTuple):
    """A record where it was stored: what an acknowledgement and a read say of it."""

    partition: int
    offset: int
    value: str


class Sender(ABC):
    """A producer that notes what it was told of each record."""

    def __init__(self) -> None:
        self.acknowledged: list[Stored] = []
        self.failed: list[str] = []

    @abstractmethod
    def send(self, topic: str, partition: int, value: str) -> None:
        """Send without waiting."""

    @abstractmethod
    def flush(self) -> None:
        """Wait until everything that was sent has a response."""


class Client(ABC):
    """A client library, given the addresses of a cluster."""

    def __init__(self, servers: str) -> None:
        self.servers = servers

    def close(self) -> None:  # noqa: B027 - most have nothing of their own
        """Give back what the client holds."""

    @abstractmethod
    def create_topic(self, topic: str, partitions: int, replicas: int) -> None: ...

    @abstractmethod
    def add_partitions(self, topic: str, total: int) -> None: ...

    @abstractmethod
    def delete_topic(self, topic: str) -> None: ...

    @abstractmethod
    def topics(self) -> set[str]: ...

    @abstractmethod
    def set_config(self, topic: str, key: str, value: str) -> None: ...

    @abstractmethod
    def config(self, topic: str, key: str) -> str: ...

    @abstractmethod
    def groups(self) -> set[str]: ...

    @abstractmethod
    @contextmanager
    def sender(self, *, idempotent: bool, compression: str | None = None) -> Iterator[Sender]: ...

    @abstractmethod
    def read(self, topic: str, partitions: int) -> list[Stored]:
        """Everything from the beginning to the high watermark."""

    @abstractmethod
    def follow(self, group: str, topic: str, tell: Callable[[dict[str, Any]], None]) -> None:
        """Be a member of a group for ever: tell what is assigned, and each committed record."""


# ---- confluent-kafka


class Confluent(Client):
    """confluent-kafka, which is librdkafka."""

    def __init__(self, servers: str) -> None:
        super().__init__(servers)
        from confluent_kafka.admin import AdminClient

        self._admin: Any = AdminClient(self._config())  # its futures end with it

    def _config(self, **more: object) -> dict[str, Any]:
        quiet = {"bootstrap.servers": self.servers, "log_level": 0}
        return quiet | {key.replace("_", "."): value for key, value in more.items()}

    def create_topic(self, topic: str, partitions: int, replicas: int) -> None:
        from confluent_kafka.admin import NewTopic

        self._admin.create_topics([NewTopic(topic, partitions, replicas)])[topic].result(30)

    def add_partitions(self, topic: str, total: int) -> None:
        from confluent_kafka.admin import NewPartitions

        self._admin.create_partitions([NewPartitions(topic, total)])[topic].result(30)

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result(30)

    def topics(self) -> set[str]:
        return set(self._admin.list_topics(timeout=30).topics)

    def set_config(self, topic: str, key: str, value: str) -> None:
        from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource("topic", topic, incremental_configs=[entry])
        for future in self._admin.incremental_alter_configs([resource]).values():
            future.result(30)

    def config(self, topic: str, key: str) -> str:
        from confluent_kafka.admin import ConfigResource

        (future,) = self._admin.describe_configs([ConfigResource("topic", topic)]).values()
        found: str = future.result(30)[key].value
        return found

    def groups(self) -> set[str]:
        return {each.group_id for each in self._admin.list_consumer_groups().result(30).valid}

    @contextmanager
    def sender(self, *, idempotent: bool, compression: str | None = None) -> Iterator[Sender]:
        yield (made := ConfluentSender(self._config(), idempotent, compression))
        made.flush()

    def read(self, topic: str, partitions: int) -> list[Stored]:
        from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition

        consumer = Consumer(
            self._config(group_id="reader", enable_partition_eof=True, enable_auto_commit=False)
        )
        consumer.assign(
            [TopicPartition(topic, each, OFFSET_BEGINNING) for each in range(partitions)]
        )
        found: list[Stored] = []
        ended: set[int] = set()
        while len(ended) < partitions:
            message: Any = consumer.poll(WAIT_SECONDS)
            assert message is not None, "nothing came"
            if message.error() is None:
                found.append(
                    Stored(message.partition(), message.offset(), message.value().decode())
                )
            else:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ended.add(message.partition())
        consumer.close()
        return found

    def follow(self, group: str, topic: str, tell: Callable[[dict[str, Any]], None]) -> None:
        from confluent_kafka import Consumer

        consumer = Consumer(
            self._config(
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                session_timeout_ms=SESSION_TIMEOUT_MS,
                heartbeat_interval_ms=HEARTBEAT_MS,
            )
        )

        def assigned(_consumer: object, partitions: list[Any]) -> None:
            tell({"assigned": sorted(each.partition for each in partitions)})

        consumer.subscribe([topic], on_assign=assigned)
        while True:
            message: Any = consumer.poll(1.0)
            if message is not None and message.error() is None:
                consumer.commit(message=message, asynchronous=False)
                tell(record(message.partition(), message.offset(), message.value()))


class ConfluentOfConsumerProtocol(Confluent):
    """confluent-kafka with ``group.protocol=consumer`` (KIP-848): its callbacks tell changes."""

    def follow(self, group: str, topic: str, tell: Callable[[dict[str, Any]], None]) -> None:
        from confluent_kafka import Consumer

        consumer = Consumer(
            self._config(
                group_id=group,
                group_protocol="consumer",
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            )
        )
        owned: set[int] = set()

        def assigned(_consumer: object, partitions: list[Any]) -> None:
            owned.update(each.partition for each in partitions)
            consumer.incremental_assign(partitions)
            tell({"assigned": sorted(owned)})

        def revoked(_consumer: object, partitions: list[Any]) -> None:
            owned.difference_update(each.partition for each in partitions)
            consumer.incremental_unassign(partitions)
            tell({"assigned": sorted(owned)})

        consumer.subscribe([topic], on_assign=assigned, on_revoke=revoked)
        while True:
            message: Any = consumer.poll(1.0)
            if message is not None and message.error() is None:
                tell(record(message.partition(), message.offset(), message.value()))
                consumer.commit(message=message, asynchronous=False)


class ConfluentSender(Sender):
    """Its callbacks are called within ``poll`` and ``flush``."""

    def __init__(self, config: dict[str, Any], idempotent: bool, compression: str | None) -> None:
        from confluent_kafka import Producer

        super().__init__()
        config |= {"acks": "all", "enable.idempotence": idempotent, "linger.ms": 2}
        self._producer = Producer(config | {"compression.type": compression or "none"})

    def send(self, topic: str, partition: int, value: str) -> None:
        self._producer.produce(topic, value.encode(), partition=partition, on_delivery=self._told)
        self._producer.poll(0)

    def _told(self, error: object, message: Any) -> None:  # noqa: ANN401 - a librdkafka message
        value = message.value().decode()
        if error is None:
            self.acknowledged.append(Stored(message.partition(), message.offset(), value))
        else:
            self.failed.append(f"{value}: {error}")

    def flush(self) -> None:
        assert self._producer.flush(WAIT_SECONDS) == 0, "records without a response"


# ---- kafka-python


class KafkaPython(Client):
    """kafka-python, in pure Python."""

    @contextmanager
    def _admin(self) -> Iterator[Any]:
        from kafka import KafkaAdminClient

        admin = KafkaAdminClient(bootstrap_servers=self.servers)
        try:
            yield admin
        finally:
            admin.close()

    def create_topic(self, topic: str, partitions: int, replicas: int) -> None:
        from kafka.admin import NewTopic

        with self._admin() as admin:
            admin.create_topics([NewTopic(topic, partitions, replicas)])

    def add_partitions(self, topic: str, total: int) -> None:
        from kafka.admin import NewPartitions

        with self._admin() as admin:
            admin.create_partitions({topic: NewPartitions(total)})

    def delete_topic(self, topic: str) -> None:
        with self._admin() as admin:
            admin.delete_topics([topic])

    def topics(self) -> set[str]:
        with self._admin() as admin:
            return set(admin.list_topics())

    def set_config(self, topic: str, key: str, value: str) -> None:
        from kafka.admin import ConfigResource, ConfigResourceType

        with self._admin() as admin:
            admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, {key: value})])

    def config(self, topic: str, key: str) -> str:
        from kafka.admin import ConfigResource, ConfigResourceType

        with self._admin() as admin:
            found = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        return json.dumps(found)

    def groups(self) -> set[str]:
        with self._admin() as admin:
            return {each["group_id"] for each in admin.list_groups()}

    @contextmanager
    def sender(self, *, idempotent: bool, compression: str | None = None) -> Iterator[Sender]:
        made = KafkaPythonSender(self.servers, idempotent, compression)
        try:
            yield made
            made.flush()
        finally:
            made.producer.close(WAIT_SECONDS)

    def read(self, topic: str, partitions: int) -> list[Stored]:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(
            bootstrap_servers=self.servers, fetch_max_wait_ms=FETCH_WAIT_MS, group_id=None
        )
        parts = [TopicPartition(topic, each) for each in range(partitions)]
        consumer.assign(parts)
        consumer.seek_to_beginning(*parts)
        ends = consumer.end_offsets(parts)
        found: list[Stored] = []
        while any(consumer.position(part) < ends[part] for part in parts):
            for batch in consumer.poll(1_000).values():
                found += [Stored(r.partition, r.offset, r.value.decode()) for r in batch]
        consumer.close()
        return found

    def follow(self, group: str, topic: str, tell: Callable[[dict[str, Any]], None]) -> None:
        from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc] # without types
            def on_partitions_revoked(self, revoked: Any) -> None:  # noqa: ANN401
                pass

            def on_partitions_assigned(self, assigned: Any) -> None:  # noqa: ANN401
                tell({"assigned": sorted(each.partition for each in assigned)})

        consumer = KafkaConsumer(
            bootstrap_servers=self.servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            fetch_max_wait_ms=FETCH_WAIT_MS,
        )
        consumer.subscribe([topic], listener=Listener())
        while True:
            for part, batch in consumer.poll(1_000, max_records=1).items():
                for each in batch:
                    consumer.commit({part: OffsetAndMetadata(each.offset + 1, "", -1)})
                    tell(record(each.partition, each.offset, each.value))


class KafkaPythonSender(Sender):
    """Its callbacks are called by a thread of its own."""

    def __init__(self, servers: str, idempotent: bool, compression: str | None) -> None:
        from kafka import KafkaProducer

        super().__init__()
        self.producer = KafkaProducer(
            bootstrap_servers=servers,
            acks="all",
            enable_idempotence=idempotent,
            compression_type=compression,
            linger_ms=2,
        )

    def send(self, topic: str, partition: int, value: str) -> None:
        future = self.producer.send(topic, value.encode(), partition=partition)
        future.add_callback(lambda m: self.acknowledged.append(Stored(partition, m.offset, value)))
        future.add_errback(lambda error: self.failed.append(f"{value}: {error!r}"))

    def flush(self) -> None:
        self.producer.flush(WAIT_SECONDS)


# ---- aiokafka


class Aiokafka(Client):
    """aiokafka, on an event loop in a thread of its own."""

    def __init__(self, servers: str) -> None:
        super().__init__(servers)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(2 * WAIT_SECONDS)

    def _with_admin(self, work: Callable[[Any], Coroutine[Any, Any, Result]]) -> Result:
        from aiokafka.admin import AIOKafkaAdminClient

        async def session() -> Result:
            admin = AIOKafkaAdminClient(bootstrap_servers=self.servers)
            await admin.start()
            try:
                return await work(admin)
            finally:
                await admin.close()

        return self.run(session())

    def create_topic(self, topic: str, partitions: int, replicas: int) -> None:
        from aiokafka.admin import NewTopic

        made = [NewTopic(topic, partitions, replicas)]
        response = self._with_admin(lambda admin: admin.create_topics(made))
        assert [error for _, error, *_ in response.topic_errors] == [0], response

    def add_partitions(self, topic: str, total: int) -> None:
        from aiokafka.admin import NewPartitions

        wanted = {topic: NewPartitions(total)}
        response = self._with_admin(lambda admin: admin.create_partitions(wanted))
        assert [error for _, error, *_ in response.topic_errors] == [0], response

    def delete_topic(self, topic: str) -> None:
        self._with_admin(lambda admin: admin.delete_topics([topic]))

    def topics(self) -> set[str]:
        return set(self._with_admin(lambda admin: admin.list_topics()))

    def set_config(self, topic: str, key: str, value: str) -> None:
        from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {key: value})
        self._with_admin(lambda admin: admin.alter_configs([resource]))

    def config(self, topic: str, key: str) -> str:
        from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (response,) = self._with_admin(lambda admin: admin.describe_configs([resource]))
        ((*_, values),) = response.resources
        found: str = next(value for name, value, *_ in values if name == key)
        return found

    def groups(self) -> set[str]:
        return {group for group, _ in self._with_admin(lambda admin: admin.list_consumer_groups())}

    @contextmanager
    def sender(self, *, idempotent: bool, compression: str | None = None) -> Iterator[Sender]:
        made = AiokafkaSender(self, idempotent, compression)
        try:
            yield made
            made.flush()
        finally:
            self.run(made.producer.stop())

    def read(self, topic: str, partitions: int) -> list[Stored]:
        return self.run(self._read(topic, partitions))

    async def _read(self, topic: str, partitions: int) -> list[Stored]:
        from aiokafka import AIOKafkaConsumer, TopicPartition

        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.servers, fetch_max_wait_ms=FETCH_WAIT_MS, group_id=None
        )
        await consumer.start()
        parts = [TopicPartition(topic, each) for each in range(partitions)]
        consumer.assign(parts)
        await consumer.seek_to_beginning(*parts)
        ends = await consumer.end_offsets(parts)
        found: list[Stored] = []
        while any([await consumer.position(part) < ends[part] for part in parts]):
            for batch in (await consumer.getmany(timeout_ms=1_000)).values():
                found += [Stored(r.partition, r.offset, r.value.decode()) for r in batch]
        await consumer.stop()
        return found

    def follow(self, group: str, topic: str, tell: Callable[[dict[str, Any]], None]) -> None:
        asyncio.run_coroutine_threadsafe(self._follow(group, topic, tell), self._loop).result()

    async def _follow(self, group: str, topic: str, tell: Callable[[dict[str, Any]], None]) -> None:
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc] # without types
            def on_partitions_revoked(self, revoked: Any) -> None:  # noqa: ANN401
                pass

            def on_partitions_assigned(self, assigned: Any) -> None:  # noqa: ANN401
                tell({"assigned": sorted(each.partition for each in assigned)})

        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            fetch_max_wait_ms=FETCH_WAIT_MS,
        )
        consumer.subscribe([topic], listener=Listener())
        await consumer.start()
        async for each in consumer:
            await consumer.commit({TopicPartition(topic, each.partition): each.offset + 1})
            tell(record(each.partition, each.offset, each.value))


class AiokafkaSender(Sender):
    """Its futures end on the loop of the client."""

    def __init__(self, client: Aiokafka, idempotent: bool, compression: str | None) -> None:
        super().__init__()
        self._client = client
        self._waiting: list[Future[None]] = []
        self.producer = client.run(self._start(idempotent, compression))

    async def _start(self, idempotent: bool, compression: str | None) -> Any:  # noqa: ANN401
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(
            bootstrap_servers=self._client.servers,
            acks="all",
            enable_idempotence=idempotent,
            compression_type=compression,
            linger_ms=2,
        )
        await producer.start()
        return producer

    def send(self, topic: str, partition: int, value: str) -> None:
        sending = self._send(topic, partition, value)
        loop = self._client._loop
        self._waiting.append(asyncio.run_coroutine_threadsafe(sending, loop))

    async def _send(self, topic: str, partition: int, value: str) -> None:
        try:
            sent = await self.producer.send_and_wait(topic, value.encode(), partition=partition)
        except Exception as error:
            self.failed.append(f"{value}: {error!r}")
        else:
            self.acknowledged.append(Stored(partition, sent.offset, value))

    def flush(self) -> None:
        for future in self._waiting:
            future.result(WAIT_SECONDS)


CLIENTS: dict[str, type[Client]] = {
    "confluent-kafka": Confluent,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
}
NEW_PROTOCOL: Final = "confluent-kafka, group.protocol=consumer"
FOLLOWERS: Final = CLIENTS | {NEW_PROTOCOL: ConfluentOfConsumerProtocol}
"""The clients that can follow a topic, by protocol."""


# ---- a member of a group, in a process that can be killed


def record(partition: Any, offset: Any, value: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"partition": partition, "offset": offset, "value": value.decode()}


def say(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main(name: str, servers: str, group: str, topic: str) -> None:
    """Follow a topic, and print a JSON line for each thing that happens."""
    FOLLOWERS[name](servers).follow(group, topic, say)


if __name__ == "__main__":
    main(*sys.argv[1:])
