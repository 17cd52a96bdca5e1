"""The replicated log of ``__cluster_metadata``: batches of records with their leader epochs.

It may start after the first record: a snapshot replaces the earlier ones (KIP-630). Source:
``KafkaMetadataLog`` and ``UnifiedLog`` 3.9 to 4.1.
"""

from bisect import bisect_right
from operator import attrgetter
from typing import Final

from msgspec import Struct, field

from emulator.protocol.raft import MetadataBatch, MetadataSnapshot, SnapshotId


class SegmentLimits(Struct, frozen=True):
    """The limits at which the log is rolled (metadata.log.segment.bytes and .ms)."""

    size_bytes: int = 1 << 30
    time_us: int = 1 << 62


_PLAIN: Final = SegmentLimits()


class Segment(Struct, array_like=True):
    """A segment of the log: its base offset, the time of its first batch, and its size."""

    base_offset: int
    first_us: int = -1
    size_bytes: int = 0


_BASE_OFFSET = attrgetter("base_offset")
_EPOCH = attrgetter("epoch")


class MetadataLog(Struct, array_like=True):
    """One member's copy of the log; it is on disk.

    Records before ``start_offset`` are no longer read. They count in ``size_bytes`` as long as
    their segment has later ones. ``snapshots`` are those written or fetched by the member, oldest
    first; if the start of the log was deleted, the first snapshot ends where the log starts.
    """

    batches: list[MetadataBatch] = field(default_factory=list)
    start_offset: int = 0
    snapshots: list[MetadataSnapshot] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=lambda: [Segment(0)])

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        if not self.batches:
            return self.start_offset
        last = self.batches[-1]
        return last.base_offset + len(last.records)

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; -1 if there is none."""
        if self.batches:
            return self.batches[-1].epoch
        return self.snapshots[-1].epoch if self.snapshots else -1

    @property
    def size_bytes(self) -> int:
        """The size of its segments, without snapshots."""
        return sum(segment.size_bytes for segment in self.segments)

    def append(self, batch: MetadataBatch, limits: SegmentLimits = _PLAIN) -> None:
        """Append a batch at the log end offset."""
        last = self.segments[-1]
        if last.size_bytes and (
            last.size_bytes + batch.size_bytes > limits.size_bytes
            or batch.appended_us - last.first_us > limits.time_us
        ):
            last = Segment(batch.base_offset)
            self.segments.append(last)
        if last.first_us < 0:
            last.first_us = batch.appended_us
        last.size_bytes += batch.size_bytes
        self.batches.append(batch)

    def from_offset(self, offset: int, up_to: int | None = None) -> list[MetadataBatch]:
        """The batches from ``offset`` on; with ``up_to`` only those that end there or before."""
        end = None if up_to is None else self._index(up_to)
        return self.batches[self._index(offset) : end]

    def _index(self, offset: int) -> int:
        """The index of the first batch that ends after ``offset``."""
        if offset >= self.end_offset:
            return len(self.batches)
        return max(0, bisect_right(self.batches, offset, key=_BASE_OFFSET) - 1)

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """The last epoch up to ``epoch`` in the log, and its end offset; (-1, 0) if there is none.

        Source: ``RaftLog.endOffsetForEpoch``.
        """
        at = bisect_right(self.batches, epoch, key=_EPOCH)
        if at:
            end = self.end_offset if at == len(self.batches) else self.batches[at].base_offset
            return self.batches[at - 1].epoch, end
        if self.start_offset:
            return self.snapshots[0].epoch, self.start_offset
        return -1, 0

    def epoch_at(self, offset: int) -> int:
        """The epoch of the record at ``offset``; -1 if there is none outside snapshots."""
        at = self._index(offset)
        if at < len(self.batches) and offset >= self.start_offset:
            return self.batches[at].epoch
        return next(
            (snapshot.epoch for snapshot in self.snapshots if snapshot.end_offset == offset + 1), -1
        )

    def snapshot_instead(self, offset: int, last_epoch: int) -> SnapshotId | None:
        """The snapshot that a log ending at ``offset`` of ``last_epoch`` has to fetch, or None.

        Source: ``RaftLog.validateOffsetAndEpoch``.
        """
        if not self.snapshots or (self.start_offset == offset == 0):
            return None
        earliest = self.snapshots[0].epoch
        is_foreign = offset == self.start_offset and last_epoch != earliest
        if offset < self.start_offset or is_foreign or last_epoch < earliest:
            return self.snapshots[-1].id
        return None

    def diverging(self, offset: int, last_epoch: int) -> tuple[int, int] | None:
        """Where a log ending at ``offset`` of ``last_epoch`` diverges from this one, or None.

        Source: ``RaftLog.validateOffsetAndEpoch``.
        """
        if last_epoch < 0 and offset == 0:
            return None
        epoch, end = self.end_of_epoch(last_epoch)
        return (epoch, end) if epoch != last_epoch or offset > end else None

    def truncate(self, offset: int) -> None:
        """Truncate the log to ``offset``, at a batch boundary."""
        at = self._index(offset)
        for batch in reversed(self.batches[at:]):
            while len(self.segments) > 1 and self.segments[-1].base_offset > batch.base_offset:
                del self.segments[-1]
            self.segments[-1].size_bytes -= batch.size_bytes
        del self.batches[at:]

    # ---- snapshots

    def snapshot_for(self, offset: int) -> MetadataSnapshot | None:
        """The snapshot to load before reading the log from ``offset``, or None.

        A new reader loads the latest snapshot (``KafkaRaftClient.updateListenersProgress``).
        """
        is_needed = offset == 0 or offset < self.start_offset
        return self.snapshots[-1] if self.snapshots and is_needed else None

    def snapshot(self, id: SnapshotId) -> MetadataSnapshot | None:
        """A snapshot by its id; None if it does not exist or was deleted."""
        return next((snapshot for snapshot in self.snapshots if snapshot.id == id), None)

    def start_at(self, snapshot: MetadataSnapshot) -> None:
        """Restart the log after a fetched snapshot (``truncateFullyAndStartAt``)."""
        self.batches = []
        self.start_offset = snapshot.end_offset
        self.snapshots = [snapshot]
        self.segments = [Segment(snapshot.end_offset)]

    def clean(self, now_us: int, retention_bytes: int, retention_us: int) -> bool:
        """Delete old snapshots, and the log before the oldest one kept; return whether any were.

        While log and snapshots exceed ``retention_bytes`` (-1: unlimited), or the oldest snapshot
        is older than ``retention_us``, that snapshot is deleted; the latest one is always kept.
        Source: ``KafkaMetadataLog.maybeClean``, ``deleteBeforeSnapshot``.
        """
        before = self.start_offset
        while retention_bytes >= 0 and len(self.snapshots) > 1:
            total = self.size_bytes + sum(snapshot.size_bytes for snapshot in self.snapshots)
            if total <= retention_bytes:
                break
            self._start_at_second()
        while retention_us >= 0 and len(self.snapshots) > 1:
            if now_us - self.snapshots[0].appended_us <= retention_us:
                break
            self._start_at_second()
        return self.start_offset != before

    def _start_at_second(self) -> None:
        del self.snapshots[0]
        self.start_offset = start = self.snapshots[0].end_offset
        del self.batches[: self._index(start)]
        while len(self.segments) > 1 and self.segments[1].base_offset <= start:
            del self.segments[0]
