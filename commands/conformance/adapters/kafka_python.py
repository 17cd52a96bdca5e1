"""The adapter of kafka-python."""

from typing import Any

import kafka
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.structs import OffsetAndMetadata

from commands.conformance.adapters.lines import (
    WAIT_SECONDS,
    Values,
    answer,
    error_text,
    polled,
    settings_of,
    to_send,
)

ASSIGNORS = {"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


class Client:
    """One producer or one consumer at a time."""

    def hello(self) -> Values:
        can = ["idempotence", "transactions", "groups", "cooperative", "static"]
        return {"client": f"kafka-python {kafka.__version__}", "can": can}

    def producer(self, settings: Values) -> None:
        chosen = settings_of(KafkaProducer.DEFAULT_CONFIG, settings)
        self.client = KafkaProducer(**chosen)
        if "transactional_id" in chosen:
            self.client.init_transactions()

    def send(self, records: list[Values]) -> Values:
        futures = [self.client.send(**to_send(record)) for record in records]
        return {"results": [result_of(future) for future in futures]}

    def begin(self) -> None:
        self.client.begin_transaction()

    def commit_transaction(self) -> None:
        self.client.commit_transaction()

    def abort(self) -> None:
        self.client.abort_transaction()

    def send_offsets(self, group: str, offsets: list[Values]) -> None:
        self.client.send_offsets_to_transaction(positions(offsets), group)

    def consumer(
        self, settings: Values, topics: list[str], partitions: list[tuple[str, int]]
    ) -> None:
        chosen = settings_of(KafkaConsumer.DEFAULT_CONFIG, settings)
        if strategy := settings.get("partition.assignment.strategy"):
            chosen["partition_assignment_strategy"] = [ASSIGNORS[strategy]]
        self.client = KafkaConsumer(**chosen)
        if topics:
            self.client.subscribe(topics)
        else:
            self.client.assign([TopicPartition(*partition) for partition in partitions])

    def poll(self, ms: int) -> Values:
        records = [record for batch in self.client.poll(ms).values() for record in batch]
        return polled(records, self.client.assignment())

    def commit(self, offsets: list[Values]) -> None:
        self.client.commit(positions(offsets))

    def close(self) -> None:
        if isinstance(self.client, KafkaProducer):
            self.client.close(timeout=2)
        else:
            self.client.close(autocommit=False)


def result_of(future: Any) -> Values:  # noqa: ANN401 - a class without types
    """Return the offset of a record, or why it was not written."""
    try:
        return {"offset": future.get(WAIT_SECONDS).offset}
    except Exception as error:
        return {"error": error_text(error)}


def positions(offsets: list[Values]) -> Values:
    """Return offsets as the client takes them."""
    return {
        TopicPartition(at["topic"], at["partition"]): OffsetAndMetadata(at["offset"], "", -1)
        for at in offsets
    }


if __name__ == "__main__":
    answer(Client())
