"""Metadata logs made for a test."""

from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.control_records import LeaderChangeMessage
from emulator.wire.types import Message

TOPIC = bytes(range(16))


class Log:
    """Batches, a minute apart unless ``between_ms`` says otherwise."""

    def __init__(self, between_ms: int = 60_000) -> None:
        self.between_ms = between_ms
        self.batches: list[MetadataBatch] = []
        self.offset = 0

    def add(self, *records: Message, is_control: bool = False) -> "Log":
        time_ms = self.between_ms * len(self.batches)
        versions = (0,) * len(records)
        batch = MetadataBatch(self.offset, 1, time_ms, is_control, records, versions)
        self.batches.append(batch)
        self.offset += len(records)
        return self


def cluster(partition_count: int, log: Log | None = None) -> Log:
    """Two brokers, and a topic whose partitions both of them have; broker 1 leads all."""
    log = (log or Log()).add(LeaderChangeMessage(leader_id=100), is_control=True)
    log.add(wire.FeatureLevelRecord("metadata.version", 21))
    for broker in (1, 2):
        epoch = log.offset
        feature = wire.BrokerFeature("metadata.version", 1, 21)
        log.add(
            wire.RegisterBrokerRecord(broker, False, bytes([broker] * 16), epoch, [], [feature])
        )
        log.add(wire.BrokerRegistrationChangeRecord(broker, epoch, -1))
    partitions = [
        wire.PartitionRecord(number, TOPIC, [1, 2], [1, 2], [], [], 1, 0, 0, 0)
        for number in range(partition_count)
    ]
    return log.add(wire.TopicRecord("t", TOPIC), *partitions)
