"""One replica's log: batches in offset order, its start and its log end offset."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.protocol import RecordBatch, up_to
from emulator.protocol.record_batch import NO_RECORDS
from emulator.simulation.packed_list import PackedList


class RecordBatches(PackedList[RecordBatch], kind=RecordBatch, by=attrgetter("base_offset")):
    """A log's batches."""


NO_BATCHES: Final = RecordBatches()
"""The shared, immutable list of every empty log: most logs of a large cluster are empty."""


class Log(Struct, array_like=True, gc=False):
    """Records as batches; ``end`` is the LEO. Records below ``flushed`` survive a power loss.

    Records below ``start`` cannot be read; they stay on disk until retention deletes their segment.
    Batches are immutable and shared between replicas. The cost of reading near the end, as
    followers do, does not depend on the length of the log.
    """

    start: int = 0
    end: int = 0
    flushed: int = 0
    batches: RecordBatches = field(default_factory=lambda: NO_BATCHES)

    @property
    def first_offset(self) -> int:
        """The first offset on disk; the LEO if the log is empty."""
        return self.batches[0].base_offset if self.batches else self.end

    @property
    def size_bytes(self) -> int:
        """The size of all batches on disk; computed anew each time."""
        return sum(batch.size_bytes for batch in self.batches)

    def append(self, batch: RecordBatch) -> None:
        """Write a batch; its base offset must be the LEO."""
        if batch.base_offset != self.end:
            raise ValueError(f"batch at {batch.base_offset} does not follow LEO {self.end}")
        if self.batches is NO_BATCHES:
            self.batches = RecordBatches()
        self.batches.append(batch)
        self.end += batch.count

    def read(self, offset: int, bound: int) -> list[RecordBatch]:
        """The batches that hold offsets from ``offset`` up to, not including, ``bound``."""
        if offset >= bound:
            return []
        batches = self.batches
        if batches and batches[-1].base_offset <= offset:
            return [batches[-1]]
        first = self.position(offset)
        if bound >= self.end:
            return batches[first:]
        return [b for b in batches[first:] if b.base_offset < bound]

    def read_within(
        self, offset: int, bound: int, limit_bytes: int, *, at_least_one: bool = True
    ) -> list[RecordBatch]:
        """Like :meth:`read`, but at most ``limit_bytes`` (see :func:`up_to`).

        It stops at the limit, so that reading a long log in pieces costs no more than reading it at
        once.
        """
        if offset >= bound:
            return []
        batches = self.batches
        if batches and (last := batches[-1]).base_offset <= offset:
            return [last] if at_least_one or last.size_bytes <= limit_bytes else []
        return up_to(self._between(offset, bound), limit_bytes, at_least_one=at_least_one)

    def _between(self, offset: int, bound: int) -> Iterator[RecordBatch]:
        batches = self.batches
        for index in range(self.position(offset), len(batches)):
            batch = batches[index]
            if batch.base_offset >= bound:
                return
            yield batch

    def position(self, offset: int) -> int:
        """Return the index of the batch with ``offset``; past the end, that of the last one."""
        return max(0, self.batches.bisect_right(offset) - 1)

    def truncate(self, offset: int) -> bool:
        """Truncate the log to ``offset``; False if there is nothing to remove."""
        if offset >= self.end:
            return False
        batches = self.batches
        while batches and batches[-1].base_offset >= offset:
            batches.pop()
        if batches and batches[-1].end_offset > offset:
            last = batches.pop()
            batches.append(replace(last, count=offset - last.base_offset))
        self.end = offset
        self.start = min(self.start, offset)
        self.flushed = min(self.flushed, offset)
        return True

    def delete_before(self, offset: int) -> None:
        """Delete the batches below ``offset``; the batch that contains it stays whole."""
        if offset >= self.end:
            self.batches = NO_BATCHES
        elif first := self.position(offset):
            del self.batches[:first]

    def restart_at(self, offset: int) -> None:
        """Discard everything and start again at ``offset``."""
        self.batches = NO_BATCHES
        self.start = self.end = self.flushed = offset


def tail_of(batch: RecordBatch, offset: int) -> RecordBatch:
    """The part of a batch from ``offset`` on (for a log truncated inside it)."""
    skipped = offset - batch.base_offset
    return replace(
        batch,
        base_offset=offset,
        count=batch.count - skipped,
        first_record=NO_RECORDS if batch.is_empty else batch.first_record + skipped,
    )
