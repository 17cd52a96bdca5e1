"""Record batches."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

PLAIN: Final = 0
TRANSACTIONAL: Final = 1
ABORT: Final = 2
COMMIT: Final = 3
"""A batch's role in transactions: none, part of one, or its abort or commit marker."""


NO_RECORDS: Final = 0
"""``first_record`` of a batch whose offsets count but whose records are not there."""


class RecordBatch(Struct, frozen=True, array_like=True, gc=False):
    """Consecutive records sent in one request.

    Ids ``first_record ..`` identify keys and values. ``leader_epoch`` is -1 before message format
    2; ``producer_id`` -1 means not idempotent. ``size_bytes`` is the uncompressed size on the wire
    and in the log; the rest of a truncated batch keeps the size of the whole one. ``kind`` is
    ``PLAIN``, ``TRANSACTIONAL``, or that of a control batch. ``append_time_ms`` is the leader's
    time in place of the producer's (message.timestamp.type), -1 if the records keep theirs.

    A batch without records (``NO_RECORDS``) is what compaction leaves of one at the end of a log
    (``MemoryRecords.filterTo``). Here it stands for what a log has whose contents are not known.
    """

    base_offset: int
    count: int
    leader_epoch: int
    first_record: int
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    size_bytes: int = 0
    kind: int = PLAIN
    append_time_ms: int = -1

    @property
    def is_control(self) -> bool:
        """Whether it is a transaction marker, which is not returned to applications."""
        return self.kind >= ABORT

    @property
    def is_empty(self) -> bool:
        """Whether it only occupies its offsets, without records."""
        return self.first_record == NO_RECORDS

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.base_offset + self.count


def of_aborted(
    batches: Sequence[RecordBatch], aborted: Iterable[tuple[int, int]]
) -> list[RecordBatch]:
    """Return those of consecutive batches whose records belong to aborted transactions.

    ``aborted`` has the producer id and the first offset of each aborted transaction that may have
    records here; it ends with its marker. Source: ``CompletedFetch.consumeAbortedTransactionsUpTo``
    of the Java client, ``SharePartition.fetchAbortedTransactionRecordBatches``.
    """
    waiting = sorted(aborted, key=lambda transaction: transaction[1], reverse=True)
    ongoing: set[int] = set()
    hidden: list[RecordBatch] = []
    for batch in batches if waiting else ():
        while waiting and waiting[-1][1] < batch.end_offset:
            ongoing.add(waiting.pop()[0])
        if batch.kind == ABORT:
            ongoing.discard(batch.producer_id)
        elif batch.kind == TRANSACTIONAL and batch.producer_id in ongoing:
            hidden.append(batch)
    return hidden


def up_to(
    batches: Iterable[RecordBatch], limit_bytes: int, *, at_least_one: bool = True
) -> list[RecordBatch]:
    """Return the first batches with a total size of at most ``limit_bytes``.

    A larger first batch is returned all the same, so that the fetcher makes progress (KIP-74,
    0.10.1), unless ``at_least_one`` is false. At most one more of ``batches`` is consumed than is
    returned.
    """
    taken: list[RecordBatch] = []
    left_bytes = limit_bytes
    for batch in batches:
        left_bytes -= batch.size_bytes
        if left_bytes < 0 and (taken or not at_least_one):
            break
        taken.append(batch)
    return taken
