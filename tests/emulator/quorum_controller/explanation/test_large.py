"""A fencing of more partitions than a batch has records, as a controller writes it."""

from collections.abc import Sequence

from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.result import MAX_RECORDS_PER_BATCH
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.control_records import LeaderChangeMessage
from emulator.wire.types import Message
from tests.emulator.quorum_controller.explanation.recorded import explained

PARTITIONS = MAX_RECORDS_PER_BATCH + 50
TOPIC = bytes(range(16))
SHRUNK = 1_000


class Log:
    def __init__(self) -> None:
        self.batches: list[MetadataBatch] = []
        self.offset = 0

    def add(self, *records: Message, is_control: bool = False) -> "Log":
        time_ms = 60_000 * len(self.batches)
        versions = (0,) * len(records)
        batch = MetadataBatch(self.offset, 1, time_ms, is_control, records, versions)
        self.batches.append(batch)
        self.offset += len(records)
        return self


def cluster() -> Log:
    """Two brokers, and a topic whose partitions both of them have; broker 1 leads all."""
    log = Log().add(LeaderChangeMessage(leader_id=100), is_control=True)
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
        for number in range(PARTITIONS)
    ]
    return log.add(wire.TopicRecord("t", TOPIC), *partitions)


def in_batches(log: Log, records: Sequence[Message]) -> Log:
    for begin in range(0, len(records), MAX_RECORDS_PER_BATCH):
        log.add(*records[begin : begin + MAX_RECORDS_PER_BATCH])
    return log


def test_an_outcome_may_go_on_in_the_next_batch() -> None:
    changes = [
        wire.PartitionChangeRecord(number, TOPIC, isr=[2], leader=2) for number in range(PARTITIONS)
    ]
    log = in_batches(cluster(), [*changes, wire.BrokerRegistrationChangeRecord(1, 2, 1)])

    last = explained(log.batches, "3.9.2")[-1]
    assert (last.rule, len(last.messages)) == (Rule.FENCING, PARTITIONS + 1)


def test_what_leaders_asked_for_just_before_is_told_apart() -> None:
    """The controller writes all of it into one batch: linger, and no order of rules."""
    change = wire.PartitionChangeRecord
    log = cluster()
    records: list[Message] = [change(number, TOPIC, isr=[1]) for number in range(SHRUNK)]
    records += [change(number, TOPIC, leader=-1) for number in range(SHRUNK)]
    records += [change(number, TOPIC, isr=[2], leader=2) for number in range(SHRUNK, PARTITIONS)]
    log = in_batches(log, [*records, wire.BrokerRegistrationChangeRecord(1, 2, 1)])

    found = explained(log.batches, "3.9.2")
    assert [each.rule for each in found[-SHRUNK - 1 :]] == [
        *[Rule.ALTER_PARTITION] * SHRUNK,
        Rule.FENCING,
    ]
    assert len(found[-1].messages) == PARTITIONS + 1
