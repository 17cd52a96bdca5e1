"""A log's index of transactions, ongoing and aborted.

Leaders and followers maintain the same index from the batches that they append. Source:
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

    ``ongoing`` maps producer ids to first offsets. ``unreplicated`` are those whose marker the HW
    had not passed at the last check. ``end`` is the offset after the last transactional batch.
    """

    ongoing: dict[int, int] = field(default_factory=dict)
    unreplicated: list[CompletedTransaction] = field(default_factory=list)
    aborted: list[CompletedTransaction] = field(default_factory=list)
    end: int = 0

    def append(self, batch: RecordBatch) -> None:
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
        """Handle a new HW: transactions whose marker is below it are replicated."""
        self.unreplicated = [e for e in self.unreplicated if e.last_offset >= high_watermark]

    def delete_before(self, offset: int) -> None:
        """Remove transactions aborted before the log's new start."""
        if self.aborted:
            self.aborted = [
                transaction for transaction in self.aborted if transaction.last_offset >= offset
            ]

    def last_stable_offset(self, high_watermark: int) -> int:
        """The offset below which every transaction is complete and fully replicated."""
        unstable = list(self.ongoing.values())
        unstable += [e.first_offset for e in self.unreplicated if e.last_offset >= high_watermark]
        return min(high_watermark, *unstable) if unstable else high_watermark

    def aborted_in(self, start: int, end: int) -> list[tuple[int, int]]:
        """Producer id and first offset of aborted transactions in [``start``, ``end``).

        Those whose marker is after ``end`` are included.
        """
        return [
            (transaction.producer_id, transaction.first_offset)
            for transaction in self.aborted
            if transaction.last_offset >= start and transaction.first_offset < end
        ]
