"""The replicated log of ``__cluster_metadata``: batches of records, with their leaders' epochs."""

from bisect import bisect_right

from msgspec import Struct, field

from emulator.protocol.raft import MetadataBatch


class MetadataLog(Struct, array_like=True):
    """One member's copy of the log; it is on disk."""

    batches: list[MetadataBatch] = field(default_factory=list)

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self.batches[-1].end_offset if self.batches else 0

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record; -1: there is none."""
        return self.batches[-1].epoch if self.batches else -1

    def append(self, batch: MetadataBatch) -> None:
        """Add a batch that begins where the log ends."""
        self.batches.append(batch)

    def from_offset(self, offset: int, up_to: int | None = None) -> list[MetadataBatch]:
        """The batches from ``offset`` on; with ``up_to`` those that end there or before."""
        found = self.batches[bisect_right(self.batches, offset, key=_end) :]
        if up_to is None or not found or found[-1].end_offset <= up_to:
            return found
        return found[: bisect_right(found, up_to, key=_end)]

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """The last epoch up to ``epoch`` in the log, and the offset where it ends; (-1, 0): none.

        Source: ``RaftLog.endOffsetForEpoch``.
        """
        at = bisect_right(self.batches, epoch, key=_epoch)
        if not at:
            return -1, 0
        return self.batches[at - 1].epoch, self.batches[at - 1].end_offset

    def epoch_at(self, offset: int) -> int:
        """The epoch of the record at ``offset``; -1: there is none."""
        at = bisect_right(self.batches, offset, key=_end)
        return self.batches[at].epoch if at < len(self.batches) else -1

    def diverging(self, offset: int, last_epoch: int) -> tuple[int, int] | None:
        """Where a log that ends at ``offset`` of ``last_epoch`` parts from this one; None: nowhere.

        Source: ``RaftLog.validateOffsetAndEpoch``.
        """
        if last_epoch < 0 and offset == 0:
            return None
        epoch, end = self.end_of_epoch(last_epoch)
        return (epoch, end) if epoch != last_epoch or offset > end else None

    def truncate(self, offset: int) -> None:
        """Remove the batches that do not end at ``offset`` or before."""
        del self.batches[bisect_right(self.batches, offset, key=_end) :]


def _end(batch: MetadataBatch) -> int:
    return batch.end_offset


def _epoch(batch: MetadataBatch) -> int:
    return batch.epoch
