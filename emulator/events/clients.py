"""Producers and consumers, and the ground truth about their records."""

from emulator.events.base import Event


class ProduceSent(Event, frozen=True, gc=False):
    """A producer sent a batch for the first time.

    This event defines its records, ids ``first_record ..``. ``keys`` and ``values`` have one entry
    per record (``keys`` is empty if none has a key); ``acks`` is 0, 1 or -1.
    """

    producer: str
    tp: str
    first_record: int
    keys: list[str | None]
    values: list[str]
    acks: int


class ProduceRetried(Event, frozen=True, gc=False):
    """A producer will retry the batch that starts with ``first_record``.

    ``counted`` tells whether this used up one of its retries.
    """

    producer: str
    tp: str
    first_record: int
    error: str
    counted: bool


class ProduceAcknowledged(Event, frozen=True, gc=False):
    """A producer received a successful response for a batch of ``count`` records.

    With acks=0, it handed the batch to the network, and the base offset is -1.
    """

    producer: str
    tp: str
    first_record: int
    count: int
    base_offset: int


class ProduceFailed(Event, frozen=True, gc=False):
    """A producer gave up on a batch of ``count`` records with ``error``.

    The batch may still be in the log.
    """

    producer: str
    tp: str
    first_record: int
    count: int
    error: str


class RecordsConsumed(Event, frozen=True, gc=False):
    """A consumer received records: runs of ``[first_record, count]`` starting at ``offset``.

    ``position`` is its position afterwards.
    """

    consumer: str
    tp: str
    offset: int
    runs: list[tuple[int, int]]
    position: int


class ConsumeFinished(Event, frozen=True, gc=False):
    """A ``consume`` statement finished at ``position`` of its last partition.

    ``error`` is ``NONE`` if it read all available records.
    """

    consumer: str
    tp: str
    position: int
    error: str


class ConsumerTruncationDetected(Event, frozen=True, gc=False):
    """A consumer detected that the log was truncated below its position (2.1+, KIP-320).

    ``epoch`` is the leader epoch of the last record before ``position``, ``end_offset`` the end
    offset of that epoch in the leader's log (-1: the leader does not know).
    """

    consumer: str
    tp: str
    position: int
    epoch: int
    end_offset: int


class AuditChanged(Event, frozen=True, gc=False):
    """Ground truth about one partition, emitted when it changes.

    Each list holds ``[offset, record id]``. ``lost``: acknowledged records that are not in the
    current leader's log (``offset`` as acknowledged, -1: unknown). ``duplicated``: extra copies
    in that log. ``diverged``: offsets below both LEOs at which two replicas hold different records.
    ``consumed_lost``: records that a consumer received and that are no longer in that log.
    """

    tp: str
    lost: list[tuple[int, int]]
    duplicated: list[tuple[int, int]]
    diverged: list[tuple[int, int]]
    consumed_lost: list[tuple[int, int]]


class InvariantViolated(Event, frozen=True, gc=False):
    """A protocol invariant is violated; ``known`` if the release is known to violate it."""

    name: str
    tp: str
    detail: str
    known: bool
