"""Changes to replicas and their logs."""

from emulator.events.base import Event


class LogCreated(Event, frozen=True, gc=False):
    """A broker created a partition's (empty) log folder, which exists until :class:`LogDeleted`."""

    tp: str
    broker: int


class LogDeleted(Event, frozen=True, gc=False):
    """A broker deleted its log of a partition."""

    tp: str
    broker: int


class LogLoaded(Event, frozen=True, gc=False):
    """A starting broker read a log from disk.

    The log's start offset, LEO, initial HW and leader epoch cache (None before 0.11).
    """

    tp: str
    broker: int
    log_start: int
    log_end_offset: int
    high_watermark: int
    epochs: list[tuple[int, int]] | None


class ReplicaRoleChanged(Event, frozen=True, gc=False):
    """A broker took a role for a partition.

    ``role`` is ``leader``, ``follower`` or ``offline`` (by StopReplica, or its process
    ended).
    """

    tp: str
    broker: int
    role: str
    leader: int
    leader_epoch: int


class RecordsAppended(Event, frozen=True, gc=False):
    """A replica wrote ``count`` records at ``base_offset``; its LEO is now the sum of both.

    The records have the consecutive ids ``first_record ..`` (see :class:`ProduceSent` for their
    values) and carry ``leader_epoch`` (-1 before message format 2). On a leader the records are
    new; on a follower they came from a FetchResponse.
    """

    tp: str
    broker: int
    base_offset: int
    count: int
    leader_epoch: int
    first_record: int


class RecordsRead(Event, frozen=True, gc=False):
    """A leader read ``count`` records from ``offset`` on, for a follower that fetches them.

    A fetch that finds no record has no such event.
    """

    tp: str
    broker: int
    follower: int
    offset: int
    count: int


class HighWatermarkChanged(Event, frozen=True, gc=False):
    """A replica's HW moved from ``previous`` to ``high_watermark``.

    ``occasion`` names the rule (``append``, ``fetch``, ``make-leader``, ``isr``, ``response``,
    ``truncate``).
    """

    tp: str
    broker: int
    high_watermark: int
    previous: int
    occasion: str


class RemoteLogEndOffsetChanged(Event, frozen=True, gc=False):
    """The leader ``broker`` recorded the ``log_end_offset`` of ``follower`` (-1: unknown)."""

    tp: str
    broker: int
    follower: int
    log_end_offset: int


class LogTruncated(Event, frozen=True, gc=False):
    """A replica truncated its log from LEO ``previous`` to ``log_end_offset``.

    ``reason`` names the rule.
    """

    tp: str
    broker: int
    log_end_offset: int
    previous: int
    reason: str


class LogStartOffsetChanged(Event, frozen=True, gc=False):
    """A replica's log start offset changed, or records below it were deleted from its disk.

    ``first_segment`` is the offset from which on records are on disk; -1 (in recordings of older
    versions): the log start.
    """

    tp: str
    broker: int
    log_start: int
    first_segment: int = -1


class EpochCacheChanged(Event, frozen=True, gc=False):
    """A replica's epoch cache and checkpoint now hold ``entries`` of (epoch, start offset)."""

    tp: str
    broker: int
    entries: list[tuple[int, int]]


class HighWatermarksCheckpointed(Event, frozen=True, gc=False):
    """A broker wrote replication-offset-checkpoint.

    ``high_watermarks`` holds the entries that changed.
    """

    broker: int
    high_watermarks: dict[str, int]


class RecoveryPointsCheckpointed(Event, frozen=True, gc=False):
    """A broker wrote recovery-point-offset-checkpoint.

    ``recovery_points`` holds the entries that changed: everything below has been flushed.
    """

    broker: int
    recovery_points: dict[str, int]


class IsrChangeStarted(Event, frozen=True, gc=False):
    """A leader requested a new ISR, by a ZooKeeper write or AlterPartition.

    ``change`` is ``shrink`` or ``expand``, ``replica`` the (first) replica removed or added.
    """

    tp: str
    broker: int
    isr: list[int]
    change: str
    replica: int


class IsrChanged(Event, frozen=True, gc=False):
    """The ISR that the leader ``broker`` uses changed.

    ``zk_version`` is the znode version that it has cached.
    """

    tp: str
    broker: int
    isr: list[int]
    zk_version: int


class ReplicaFetchPaused(Event, frozen=True, gc=False):
    """A user paused or resumed a follower's fetching of a partition."""

    tp: str
    broker: int
    paused: bool
