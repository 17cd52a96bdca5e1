"""Metadata logs made for a test, as bytes and as folders."""

from collections.abc import Sequence
from pathlib import Path

from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.codec import encode_value
from emulator.wire.metadata.control_records import (
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    Voter,
    encode_control_record,
)
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import build
from emulator.wire.types import Message

BEGIN_MS = 1_790_000_000_000
TOPIC = bytes(range(16))


class Log:
    """Batches one after another; each is a second after the one before it."""

    def __init__(self, offset: int = 0, epoch: int = 1, second: int = 0) -> None:
        self.offset, self.epoch, self.second = offset, epoch, second
        self.batches: list[bytes] = []

    def add(self, *records: Message, version: int = 0) -> "Log":
        """A batch of records."""
        return self.add_values(*(encode_value(record, version) for record in records))

    def add_values(self, *values: bytes) -> "Log":
        """A batch of encoded records."""
        time_ms = BEGIN_MS + 1000 * self.second
        made = [Record(None, value, time_ms) for value in values]
        return self._put(build(made, base_offset=self.offset, leader_epoch=self.epoch), made)

    def control(self, *records: Message) -> "Log":
        """A batch of control records."""
        time_ms = BEGIN_MS + 1000 * self.second
        pairs = [Record(*encode_control_record(record), time_ms) for record in records]
        batch = build(pairs, base_offset=self.offset, leader_epoch=self.epoch, is_control=True)
        return self._put(batch, pairs)

    def _put(self, batch: bytes, records: Sequence[Record]) -> "Log":
        self.batches.append(batch)
        self.offset += len(records)
        self.second += 1
        return self

    def leader(self, leader: int, voters: Sequence[int], epoch: int | None = None) -> "Log":
        """An election of the quorum."""
        self.epoch = self.epoch if epoch is None else epoch
        each = [Voter(voter) for voter in voters]
        return self.control(LeaderChangeMessage(0, leader, each, each))

    @property
    def data(self) -> bytes:
        return b"".join(self.batches)

    def write(self, folder: Path, offset: int = 0) -> Path:
        """The log as the only segment of a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{offset:020}.log").write_bytes(self.data)
        return folder


def broker(number: int, epoch: int, rack: str | None = None) -> wire.RegisterBrokerRecord:
    """A broker that starts."""
    feature = wire.BrokerFeature("metadata.version", 7, 27)
    return wire.RegisterBrokerRecord(
        number, False, bytes([number] * 16), epoch, [], [feature], rack, True
    )


def unfence(number: int, epoch: int) -> wire.BrokerRegistrationChangeRecord:
    return wire.BrokerRegistrationChangeRecord(number, epoch, -1)


def fence(number: int, epoch: int) -> wire.BrokerRegistrationChangeRecord:
    return wire.BrokerRegistrationChangeRecord(number, epoch, 1)


def cluster(log: Log | None = None) -> Log:
    """Controller 100, brokers 1, 2 and 3, and a topic ``t`` with one partition led by 1."""
    log = log or Log()
    log.leader(100, [100, 101, 102])
    log.add(wire.FeatureLevelRecord("metadata.version", 27))
    epochs = {}
    for number in (1, 2, 3):
        epochs[number] = log.offset
        log.add(broker(number, log.offset, f"r{number}"), version=3)
        log.add(unfence(number, epochs[number]), version=1)
    log.add(
        wire.TopicRecord("t", TOPIC),
    )
    log.add(
        wire.PartitionRecord(
            0, TOPIC, [1, 2, 3], [1, 2, 3], [], [], 1, 0, 0, 0, [bytes(16)] * 3, None, None
        ),
        version=2,
    )
    return log


def snapshot(records: bytes) -> bytes:
    """A complete snapshot with these batches."""
    return (
        Log().control(SnapshotHeaderRecord(0, BEGIN_MS)).data
        + records
        + (Log().control(SnapshotFooterRecord()).data)
    )
