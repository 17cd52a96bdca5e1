"""The adapter of confluent-kafka, which is librdkafka."""

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import confluent_kafka
from confluent_kafka import (
    AcknowledgeType,
    Consumer,
    KafkaException,
    Producer,
    ShareConsumer,
    TopicPartition,
)

from commands.conformance.adapters.lines import WAIT_SECONDS, Values, answer

OTHER_NAMES = {
    "default.api.timeout.ms": "",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.block.ms": "",
    "max.poll.records": "",
    "metadata.max.age.ms": "topic.metadata.refresh.interval.ms",
}
"""What librdkafka calls settings of Java's client; empty: it has none."""
OF_CLASSIC_MEMBERS = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "partition.assignment.strategy",
)
OF_SHARE_CONSUMERS = ("bootstrap.servers", "client.id", "group.id", "log_level")


def settings_of(settings: Values) -> Values:
    """Return the settings by librdkafka's names."""
    own = {OTHER_NAMES.get(name, name): value for name, value in settings.items()}
    own.pop("", None)
    own["socket.timeout.ms"] = settings["request.timeout.ms"]
    own["log_level"] = 0
    return own


class Client:
    """One producer or one consumer at a time."""

    def __init__(self) -> None:
        self.client: Any = None

    def hello(self) -> Values:
        can = ["idempotence", "transactions", "groups", "cooperative", "static"]
        name = f"confluent-kafka {version('confluent-kafka')}"
        library = confluent_kafka.libversion()[0]
        can += ["consumer protocol", "truncation", "share groups"]
        return {"client": f"{name} (librdkafka {library})", "can": can}

    # ---- producers

    def producer(self, settings: Values) -> None:
        own = settings_of(settings)
        if settings.get("transactional.id"):
            own["enable.idempotence"] = True
        self.servers = settings["bootstrap.servers"]
        self.client = Producer(own)
        if settings.get("transactional.id"):
            self.client.init_transactions(WAIT_SECONDS)

    def send(self, records: list[Values]) -> Values:
        results: list[Values] = [{"error": "no delivery report"} for _ in records]
        for number, record in enumerate(records):
            try:
                self.client.produce(
                    record["topic"],
                    key=record["key"],
                    value=record["value"],
                    partition=record["partition"],
                    on_delivery=self._report_into(results, number),
                )
            except KafkaException as error:
                results[number] = {"error": str(error)}
        self.client.flush(WAIT_SECONDS)
        return {"results": results}

    @staticmethod
    def _report_into(results: list[Values], number: int) -> Callable[[Any, Any], None]:
        def report(error: Any, message: Any) -> None:  # noqa: ANN401 - librdkafka's
            outcome = {"offset": message.offset()} if error is None else {"error": str(error)}
            results[number] = outcome

        return report

    def begin(self) -> None:
        self.client.begin_transaction()

    def commit_transaction(self) -> None:
        self.client.commit_transaction(WAIT_SECONDS)

    def abort(self) -> None:
        self.client.abort_transaction(WAIT_SECONDS)

    def send_offsets(self, group: str, offsets: list[Values]) -> None:
        # It takes a consumer's metadata, which is in another process: those of the group alone.
        alone = Consumer({"bootstrap.servers": self.servers, "group.id": group, "log_level": 0})
        try:
            metadata = alone.consumer_group_metadata()
            self.client.send_offsets_to_transaction(positions(offsets), metadata, WAIT_SECONDS)
        finally:
            alone.close()

    # ---- consumers

    def consumer(
        self, settings: Values, topics: list[str], partitions: list[tuple[str, int]]
    ) -> None:
        own = {"group.id": "alone", **settings_of(settings)}
        if own.get("group.protocol") == "consumer":
            own = {name: own[name] for name in own if name not in OF_CLASSIC_MEMBERS}
        self.client = Consumer(own)
        if topics:
            self.client.subscribe(topics)
        else:
            self.client.assign([TopicPartition(*partition, 0) for partition in partitions])

    def share_consumer(self, settings: Values, topics: list[str]) -> None:
        own = {name: settings[name] for name in OF_SHARE_CONSUMERS if name in settings}
        self.client = ShareConsumer({**own, "share.acknowledgement.mode": "explicit"})
        self.client.subscribe(topics)
        self.given: list[Any] = []

    def acknowledge(self, how: str) -> None:
        for message in self.given:
            self.client.acknowledge(message, AcknowledgeType[how.upper()])
        for error in self.client.commit_sync(WAIT_SECONDS).values():
            if error is not None:
                raise error

    def poll(self, ms: int) -> Values:
        records: list[Values] = []
        errors: list[str] = []
        until = time.monotonic() + ms / 1000
        while not (records or errors) and time.monotonic() < until:
            for message in self._messages(ms / 1000):
                if message.error() is None:
                    records.append(
                        {
                            "topic": message.topic(),
                            "partition": message.partition(),
                            "offset": message.offset(),
                            "value": message.value().decode(),
                        }
                    )
                elif not message.error().retriable():
                    errors.append(str(message.error()))
        is_consumer = isinstance(self.client, Consumer)
        assigned = [
            [tp.topic, tp.partition] for tp in (self.client.assignment() if is_consumer else ())
        ]
        answer: Values = {"records": records, "assigned": assigned}
        return answer | ({"error": errors[0]} if errors else {})

    def _messages(self, seconds: float) -> list[Any]:
        if isinstance(self.client, Consumer):
            return self.client.consume(500, seconds)
        self.given = [m for m in self.client.poll(seconds) if m.error() is None]
        return self.given

    def commit(self, offsets: list[Values]) -> None:
        for tp in self.client.commit(offsets=positions(offsets), asynchronous=False):
            if tp.error is not None:
                raise KafkaException(tp.error)

    def close(self) -> None:
        client, self.client = self.client, None
        if isinstance(client, Consumer | ShareConsumer):
            client.close()
        else:
            client.purge()
            client.flush(2)


def positions(offsets: list[Values]) -> list[TopicPartition]:
    """Return offsets as the client takes them."""
    return [TopicPartition(at["topic"], at["partition"], at["offset"]) for at in offsets]


if __name__ == "__main__":
    answer(Client())
