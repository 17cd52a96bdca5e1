"""Changes to replicas and their logs."""

from collections.abc import Iterable

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, TRAFFIC, Attribute, Event, Row
from emulator.events.fields import Touched


class LogCreated(Event, frozen=True, label="LOG"):
    """A broker created a partition's (empty) log folder, which exists until :class:`LogDeleted`."""

    tp: fields.Tp
    broker: fields.BrokerId


class LogDeleted(Event, frozen=True, label="LOG"):
    """A broker deleted its log of a partition."""

    tp: fields.Tp
    broker: fields.BrokerId


class LogLoaded(Event, frozen=True, label="LOG"):
    """A starting broker read a log from disk.

    The log's start offset, LEO, initial HW and leader epoch cache (None before 0.11).
    """

    tp: fields.Tp
    broker: fields.BrokerId
    log_start: fields.LogStart
    log_end_offset: fields.LogEndOffset
    high_watermark: fields.HighWatermark
    epochs: fields.Epochs


class ReplicaRoleChanged(Event, frozen=True, label="ROLE"):
    """A broker took a role for a partition.

    ``role`` is ``leader``, ``follower`` or ``offline`` (by StopReplica, or its process
    ended).
    """

    tp: fields.Tp
    broker: Touched[fields.BrokerId]
    role: fields.Role
    leader: fields.Leader
    leader_epoch: fields.LeaderEpoch


class RecordsAppended(Event, frozen=True, label="APPEND", level=TRAFFIC):
    """A replica wrote ``count`` records at ``base_offset``; its LEO is now the sum of both.

    The records have the consecutive ids ``first_record ..`` (see :class:`ProduceSent` for their
    values) and carry ``leader_epoch`` (-1 before message format 2). On a leader the records are
    new; on a follower they came from a FetchResponse.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    base_offset: fields.BaseOffset
    count: fields.Count
    leader_epoch: fields.LeaderEpoch
    first_record: fields.FirstRecord


class RecordsRead(Event, frozen=True, label="READ", level=TRAFFIC):
    """A leader read ``count`` records from ``offset`` on, for a follower that fetches them.

    A fetch that finds no record has no such event.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    follower: fields.Follower
    offset: fields.Offset
    count: fields.Count


class HighWatermarkChanged(Event, frozen=True, label="HW", level=TRAFFIC):
    """A replica's HW moved from ``previous`` to ``high_watermark``.

    ``occasion`` names the rule (``append``, ``fetch``, ``make-leader``, ``isr``, ``dead-replica``,
    ``response``, ``truncate``). With ``isr`` the leader has changed the ISR, with ``dead-replica``
    the controller, because a member's broker died.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    high_watermark: fields.HighWatermark
    previous: fields.Previous
    occasion: fields.Occasion


class RemoteLogEndOffsetChanged(Event, frozen=True, label="REMOTE", level=TRAFFIC):
    """The leader ``broker`` recorded the ``log_end_offset`` of ``follower`` (-1: unknown)."""

    tp: fields.Tp
    broker: fields.BrokerId
    follower: fields.Follower
    log_end_offset: fields.LogEndOffset


class LogTruncated(
    Event,
    frozen=True,
    label="TRUNC",
    level=FAULT,
    row=Row("truncations", leo=Attribute("log_end_offset"), previous_leo=Attribute("previous")),
):
    """A replica truncated its log from LEO ``previous`` to ``log_end_offset``.

    ``reason`` names the rule.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    log_end_offset: fields.LogEndOffset
    previous: fields.Previous
    reason: fields.Reason


class LogStartOffsetChanged(Event, frozen=True, label="START"):
    """A replica's log start offset changed, or records below it were deleted from its disk.

    ``first_segment`` is the offset from which on records are on disk; -1 (in recordings of older
    versions): the log start.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    log_start: fields.LogStart
    first_segment: int = -1


class EpochCacheChanged(Event, frozen=True, label="EPOCHS"):
    """A replica's epoch cache and checkpoint now hold ``entries`` of (epoch, start offset)."""

    tp: fields.Tp
    broker: fields.BrokerId
    entries: fields.Entries


class HighWatermarksCheckpointed(Event, frozen=True, label="CHECK", level=TRAFFIC):
    """A broker wrote replication-offset-checkpoint.

    ``high_watermarks`` holds the entries that changed.
    """

    broker: fields.BrokerId
    high_watermarks: fields.HighWatermarks

    def names(self) -> Iterable[str]:
        return self.high_watermarks


class RecoveryPointsCheckpointed(Event, frozen=True, label="CHECK", level=TRAFFIC):
    """A broker wrote recovery-point-offset-checkpoint.

    ``recovery_points`` holds the entries that changed: everything below has been flushed.
    """

    broker: fields.BrokerId
    recovery_points: dict[str, int]

    def names(self) -> Iterable[str]:
        return self.recovery_points


class IsrChangeStarted(Event, frozen=True, label="ISR?", row=Row("isr_changes", step="asked")):
    """A leader requested a new ISR, by a ZooKeeper write or AlterPartition.

    ``change`` is ``shrink`` or ``expand``, ``replica`` the (first) replica removed or added.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    isr: fields.Isr
    change: fields.Change
    replica: fields.Replica


class IsrChanged(Event, frozen=True, label="ISR", row=Row("isr_changes", step="acting")):
    """The ISR that the leader ``broker`` uses changed.

    ``zk_version`` is the znode version that it has cached.
    """

    tp: fields.Tp
    broker: fields.BrokerId
    isr: fields.Isr
    zk_version: fields.ZkVersion


class ReplicaFetchPaused(
    Event,
    frozen=True,
    label="FETCH",
    row=Row("faults", kind="replica", state=Attribute("condition")),
):
    """A user paused or resumed a follower's fetching of a partition."""

    tp: fields.Tp
    broker: fields.BrokerId
    paused: fields.Paused

    @property
    def condition(self) -> str:
        """The fetcher's state in a word: ``paused`` or ``resumed``."""
        return "paused" if self.paused else "resumed"

    @property
    def level(self) -> int:
        """A fault while the follower is paused."""
        return FAULT if self.paused else CHANGE
