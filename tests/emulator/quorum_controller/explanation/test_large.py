"""A fencing of more partitions than a batch has records, as a controller writes it."""

from collections.abc import Sequence

from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.result import MAX_RECORDS_PER_BATCH
from emulator.wire.metadata import messages as wire
from emulator.wire.types import Message
from tests.emulator.quorum_controller.explanation.made import TOPIC, Log, cluster
from tests.emulator.quorum_controller.explanation.recorded import explained

PARTITIONS = MAX_RECORDS_PER_BATCH + 50
SHRUNK = 1_000


def in_batches(log: Log, records: Sequence[Message]) -> Log:
    for begin in range(0, len(records), MAX_RECORDS_PER_BATCH):
        log.add(*records[begin : begin + MAX_RECORDS_PER_BATCH])
    return log


def test_an_outcome_may_go_on_in_the_next_batch() -> None:
    changes = [
        wire.PartitionChangeRecord(number, TOPIC, isr=[2], leader=2) for number in range(PARTITIONS)
    ]
    log = in_batches(cluster(PARTITIONS), [*changes, wire.BrokerRegistrationChangeRecord(1, 2, 1)])

    last = explained(log.batches, "3.9.2")[-1]
    assert (last.rule, len(last.messages)) == (Rule.FENCING, PARTITIONS + 1)


def test_what_leaders_asked_for_just_before_is_told_apart() -> None:
    """The controller writes all of it into one batch: linger, and no order of rules."""
    change = wire.PartitionChangeRecord
    log = cluster(PARTITIONS)
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
