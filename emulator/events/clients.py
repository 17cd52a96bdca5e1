"""Producers and consumers, and the ground truth about their records."""

from emulator.events.base import Event


class ProduceSent(Event, frozen=True, gc=False):
    """A producer sent a batch for the first time.

    This event is the place where its records, ids ``first_record ..``, are named. ``keys`` and
    ``values`` have one entry a record (``keys`` is empty if none has a key); ``acks`` is 0, 1 or
    -1.
    """

    producer: str
    tp: str
    first_record: int
    keys: list[str | None]
    values: list[str]
    acks: int


class ProduceRetried(Event, frozen=True, gc=False):
    """A producer will send the batch of ``first_record`` again.

    ``counted`` tells whether it used up one of its retries.
    """

    producer: str
    tp: str
    first_record: int
    error: str
    counted: bool


class ProduceAcknowledged(Event, frozen=True, gc=False):
    """A producer got a successful answer for a batch of ``count`` records.

    With acks=0: it handed the batch to the network; the base offset is then -1.
    """

    producer: str
    tp: str
    first_record: int
    count: int
    base_offset: int


class ProduceFailed(Event, frozen=True, gc=False):
    """A batch of ``count`` records ended in ``error`` for its producer.

    It may still be in the log.
    """

    producer: str
    tp: str
    first_record: int
    count: int
    error: str


class RecordsConsumed(Event, frozen=True, gc=False):
    """A consumer was given records: runs of ``[first_record, count]`` from ``offset`` on.

    Its position is then ``position``.
    """

    consumer: str
    tp: str
    offset: int
    runs: list[tuple[int, int]]
    position: int


class ConsumeFinished(Event, frozen=True, gc=False):
    """A ``consume`` ended at ``position`` of its last partition.

    ``error`` is ``NONE`` if it has read everything that there is.
    """

    consumer: str
    tp: str
    position: int
    error: str


class ConsumerTruncationDetected(Event, frozen=True, gc=False):
    """A consumer found out that the log was truncated below its position (2.1+, KIP-320).

    ``epoch`` is that of the last record before ``position``, ``end_offset`` where that epoch ends
    in the leader's log (-1: the leader cannot say).
    """

    consumer: str
    tp: str
    position: int
    epoch: int
    end_offset: int


class AuditChanged(Event, frozen=True, gc=False):
    """Ground truth about one partition, stated when it changes.

    Each list holds ``[offset, record id]``. ``lost``: acknowledged records that are not in the
    current leader's log (``offset`` as acknowledged, -1 unknown). ``duplicated``: extra copies in
    it. ``diverged``: offsets below both LEOs at which two replicas hold different records.
    ``consumed_lost``: records given to a consumer and no longer in it.
    """

    tp: str
    lost: list[tuple[int, int]]
    duplicated: list[tuple[int, int]]
    diverged: list[tuple[int, int]]
    consumed_lost: list[tuple[int, int]]


class InvariantViolated(Event, frozen=True, gc=False):
    """A protocol invariant does not hold; ``known`` if the version profile is known to break it."""

    name: str
    tp: str
    detail: str
    known: bool
