"""One history of the copies that several nodes have of a metadata log.

Two copies that have a record of the same epoch at an offset are equal up to there (Raft's log
matching; KIP-595). So the epochs of two copies say where they part. What was committed is in the
copy with the last epoch, or of these the longest; what another has beyond the common part was never
committed, and its node would have truncated it.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from emulator.wire.metadata.batches import MetadataBatch
from sessions.own_cluster.reading import SourceError
from sessions.postmortem.log_files import LogCopy
from sessions.text import clean, plural

END = (1 << 63) - 1


class Tail(Struct, frozen=True):
    """Records from ``start`` to ``end`` (exclusive) that only one copy has, and are not committed.

    ``epoch`` is the leader epoch of the last one.
    """

    name: str
    node: int | None
    start: int
    end: int
    epoch: int

    def __str__(self) -> str:
        return (
            f"{self.name} ends with {plural(self.end - self.start, 'record')} from offset "
            f"{self.start:,} on (epoch {self.epoch}) that were never committed: another leader "
            "wrote others there"
        )


class MergedLog:
    """The copies as one log; ``tails`` are what some of them have beside it."""

    def __init__(self, copies: Sequence[LogCopy]) -> None:
        """Merge copies of one log.

        Raises:
            SourceError: they are of different clusters, or there is a gap between them.
        """
        self.tails: list[Tail] = []
        if len(copies) == 1:
            self._ends = {copies[0]: END}
            return
        newest = max(copies, key=lambda copy: (copy.span.last_epoch, copy.span.end))
        ends = {newest: newest.span.end}
        for copy in copies:
            if copy is not newest:
                ends[copy] = self._compare(newest, copy)
        oldest_first = sorted(ends, key=lambda copy: (copy.start, -ends[copy]))
        self._ends = {copy: ends[copy] for copy in oldest_first}
        self._require_no_gap()

    def _compare(self, newest: LogCopy, copy: LogCopy) -> int:
        """Return up to which offset a copy agrees with the newest one; add what it has beyond."""
        _require_one_cluster(newest, copy)
        end = _common_end(newest, copy)
        span = copy.span
        if span.end > end:
            self.tails.append(Tail(copy.name, copy.node, end, span.end, span.last_epoch))
        return end

    def _require_no_gap(self) -> None:
        reached = self.first.start
        for copy, end in self._ends.items():
            if copy.start > reached:
                raise SourceError(
                    f"between the copies of the log, offsets {reached:,} to {copy.start - 1:,} are "
                    "missing; wanted is another node's folder, or a snapshot that has them"
                )
            reached = max(reached, end)

    @property
    def copies(self) -> list[LogCopy]:
        """The copies, the one with which the history begins first."""
        return list(self._ends)

    @property
    def first(self) -> LogCopy:
        """The copy with which the history begins."""
        return next(iter(self._ends))

    @property
    def size_bytes(self) -> int:
        """The size of the files of all copies."""
        return sum(copy.size_bytes for copy in self._ends)

    @property
    def notes(self) -> list[str]:
        """Sentences about what is left out; complete once everything has been read."""
        return [*(note for copy in self._ends for note in copy.notes), *map(str, self.tails)]

    def snapshot_batches(self) -> Iterator[MetadataBatch]:
        """Yield the batches of the snapshot with which the history begins, if it does."""
        return self.first.snapshot_batches()

    def batches(self, *, joins_idle: bool = False) -> Iterator[MetadataBatch]:
        """Yield the batches in order; where a copy is damaged, another one continues.

        ``joins_idle``: runs of an idle controller's batches are yielded as one batch each.
        """
        offset = self.first.start
        unread = self.copies
        while copy := next(
            (copy for copy in unread if copy.start <= offset < self._ends[copy]),
            None,
        ):
            unread.remove(copy)
            end = self._ends[copy]
            is_whole = end == END or end >= copy.span.end
            for batch in copy.batches(offset, end, joins_idle=joins_idle and is_whole):
                offset = batch.base_offset + len(batch.records)
                yield batch


def _require_one_cluster(copy: LogCopy, other: LogCopy) -> None:
    starts = {start.epoch: start for start in copy.span.epochs}
    for start in other.span.epochs:
        same = starts.get(start.epoch)
        if same is not None and same.offset == start.offset and same.crc != start.crc:
            raise SourceError(
                f"{clean(copy.name)} and {clean(other.name)} are logs of different clusters: in "
                f"epoch {start.epoch} they have different records at offset {start.offset:,}"
            )


def _common_end(copy: LogCopy, other: LogCopy) -> int:
    """The offset up to which two copies have the same records."""
    epochs = {start.epoch for start in copy.span.epochs}
    common = [start.epoch for start in other.span.epochs if start.epoch in epochs]
    if not common:
        return min(other.span.end, max(copy.start, other.start))
    last = max(common)
    return min(copy.span.end_of(last), other.span.end_of(last))
