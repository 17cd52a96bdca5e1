"""Producers and consumers, and the ground truth about their records."""

from msgspec import field

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, TRAFFIC, Event


class ProduceSent(Event, frozen=True, label="PROD", level=TRAFFIC):
    """A producer sent a batch for the first time.

    This event defines its records, ids ``first_record ..``. ``keys`` and ``values`` have one entry
    per record (``keys`` is empty if none has a key); ``acks`` is 0, 1 or -1.
    """

    producer: fields.Producer
    tp: fields.Tp
    first_record: fields.FirstRecord
    keys: fields.Keys
    values: fields.Values
    acks: fields.Acks


class ProduceRetried(Event, frozen=True, label="RETRY"):
    """A producer will retry the batch that starts with ``first_record``.

    ``counted`` tells whether this used up one of its retries.
    """

    producer: fields.Producer
    tp: fields.Tp
    first_record: fields.FirstRecord
    error: fields.Error
    counted: fields.Counted


class ProduceAcknowledged(Event, frozen=True, label="ACK", level=TRAFFIC):
    """A producer received a successful response for a batch of ``count`` records.

    With acks=0, it handed the batch to the network, and the base offset is -1.
    """

    producer: fields.Producer
    tp: fields.Tp
    first_record: fields.FirstRecord
    count: fields.Count
    base_offset: fields.BaseOffset


class ProduceFailed(Event, frozen=True, label="FAIL", level=FAULT):
    """A producer gave up on a batch of ``count`` records with ``error``.

    The batch may still be in the log.
    """

    producer: fields.Producer
    tp: fields.Tp
    first_record: fields.FirstRecord
    count: fields.Count
    error: fields.Error


class RecordsConsumed(Event, frozen=True, label="READ", level=TRAFFIC):
    """A consumer received records: runs of ``[first_record, count]`` starting at ``offset``.

    ``position`` is its position afterwards.
    """

    consumer: fields.Consumer
    tp: fields.Tp
    offset: fields.Offset
    runs: fields.Runs
    position: fields.Position


class ConsumeFinished(Event, frozen=True, label="READ"):
    """A ``consume`` statement finished at ``position`` of its last partition.

    ``error`` is ``NONE`` if it read all available records.
    """

    consumer: fields.Consumer
    tp: fields.Tp
    position: fields.Position
    error: fields.Error


class ConsumerTruncationDetected(Event, frozen=True, label="CUT", level=FAULT):
    """A consumer detected that the log was truncated below its position (2.1+, KIP-320).

    ``epoch`` is the leader epoch of the last record before ``position``, ``end_offset`` the end
    offset of that epoch in the leader's log (-1: the leader does not know).
    """

    consumer: fields.Consumer
    tp: fields.Tp
    position: fields.Position
    epoch: fields.Epoch
    end_offset: fields.EndOffset


class AuditChanged(Event, frozen=True, label="AUDIT", level=FAULT):
    """Ground truth about one partition, emitted when it changes.

    Each list holds ``[offset, record id]``. ``lost``: acknowledged records that are not in the
    current leader's log (``offset`` as acknowledged, -1: unknown). ``duplicated``: extra copies
    in that log. ``diverged``: offsets below both LEOs at which two replicas hold different records.
    ``consumed_lost``: records that a consumer received and that are no longer in that log.
    ``lost_offsets`` are ranges ``[begin, end)`` of offsets that were committed before the cluster
    started from an image, and that the current leader's log lacks: their records are not known.
    """

    tp: fields.Tp
    lost: list[tuple[int, int]]
    duplicated: list[tuple[int, int]]
    diverged: list[tuple[int, int]]
    consumed_lost: list[tuple[int, int]]
    lost_offsets: list[tuple[int, int]] = field(default_factory=list)

    @property
    def level(self) -> int:
        """A change if nothing is wrong any more."""
        findings = (
            self.lost,
            self.duplicated,
            self.diverged,
            self.consumed_lost,
            self.lost_offsets,
        )
        return FAULT if any(findings) else CHANGE


class InvariantViolated(Event, frozen=True, label="BROKEN", level=FAULT):
    """A protocol invariant is violated; ``known`` if the release is known to violate it."""

    name: fields.Name
    tp: fields.Tp
    detail: fields.Detail
    known: bool
