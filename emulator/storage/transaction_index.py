"""What a log knows of transactions: those that are open, and those that were aborted.

Leaders and followers keep the same from the batches that they append. Source:
``ProducerStateManager`` (``ongoingTxns``, ``unreplicatedTxns``), ``TransactionIndex`` and
``UnifiedLog.fetchLastStableOffsetMetadata`` 0.11 to 4.1 (KIP-98).
"""

from msgspec import Struct, field

from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import ABORT, PLAIN


class CompletedTransaction(Struct, frozen=True, array_like=True, gc=False):
    """A producer's transaction in one log; ``last_offset`` is that of its marker."""

    producer_id: int
    first_offset: int
    last_offset: int


class TransactionIndex(Struct, array_like=True, gc=False):
    """The transactions of one log.

    ``ongoing`` has each open one's first offset, by producer id. ``unreplicated`` are those whose
    marker the HW had not passed when it was last looked at. ``end`` is the offset after the last
    batch that belongs to a transaction.
    """

    ongoing: dict[int, int] = field(default_factory=dict)
    unreplicated: list[CompletedTransaction] = field(default_factory=list)
    aborted: list[CompletedTransaction] = field(default_factory=list)
    end: int = 0

    def append(self, batch: RecordBatch) -> None:
        """Take note of a batch that was appended."""
        if batch.kind == PLAIN:
            return
        self.end = batch.end_offset
        if not batch.is_control:
            self.ongoing.setdefault(batch.producer_id, batch.base_offset)
            return
        first = self.ongoing.pop(batch.producer_id, None)
        if first is None:
            return
        completed = CompletedTransaction(batch.producer_id, first, batch.base_offset)
        self.unreplicated.append(completed)
        if batch.kind == ABORT:
            self.aborted.append(completed)

    def replicated(self, high_watermark: int) -> None:
        """The HW has moved: the markers below it need not be waited for any longer."""
        self.unreplicated = [e for e in self.unreplicated if e.last_offset >= high_watermark]

    def delete_before(self, offset: int) -> None:
        """Forget what was aborted before the log's new start."""
        self.aborted = [each for each in self.aborted if each.last_offset >= offset]

    def last_stable_offset(self, high_watermark: int) -> int:
        """The offset below which every transaction has ended, and is replicated to its end."""
        unstable = list(self.ongoing.values())
        unstable += [e.first_offset for e in self.unreplicated if e.last_offset >= high_watermark]
        return min(high_watermark, *unstable) if unstable else high_watermark

    def aborted_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """Producer id and first offset of the aborted ones with records from ``start`` to ``end``.

        Those whose marker lies after ``end`` are among them, and end is not included.
        """
        return [
            (each.producer_id, each.first_offset)
            for each in self.aborted
            if each.last_offset >= start and each.first_offset < end
        ]
