"""The batches of a running cluster as its ledger has them: no view need keep their texts."""

from collections.abc import Sequence
from typing import overload

from emulator.storage.record_ledger import RecordLedger
from sessions.model.states import Batch


class LedgerBatches:
    """Knows all batches, of which a recorder's view has only the latest."""

    def __init__(self, ledger: RecordLedger) -> None:
        """Look in ``ledger``; what no log has any more is known without its values."""
        self._ledger = ledger

    def all(self) -> Sequence[Batch]:
        """All batches, each of which is looked up when it is asked for."""
        return _Batches(self._ledger, range(len(self._ledger.entries)))

    def batch(self, record_id: int) -> Batch | None:
        """The batch that carried a record, if there is one."""
        is_known = 0 < record_id < self._ledger.next_record
        return batch_at(self._ledger, self._ledger.place_of(record_id)) if is_known else None


class _Batches(Sequence[Batch]):
    def __init__(self, ledger: RecordLedger, indexes: range) -> None:
        self._ledger = ledger
        self._indexes = indexes

    def __len__(self) -> int:
        return len(self._indexes)

    @overload
    def __getitem__(self, index: int) -> Batch: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Batch]: ...

    def __getitem__(self, index: int | slice) -> Batch | Sequence[Batch]:
        if isinstance(index, slice):
            return _Batches(self._ledger, self._indexes[index])
        return batch_at(self._ledger, self._indexes[index])


def batch_at(ledger: RecordLedger, index: int) -> Batch:
    """Return the batch at a place of a ledger's entries."""
    entry = ledger.entries[index]
    keys, values = entry.keys, entry.values
    if entry.encoded:
        keys, values = ledger.texts_of(entry.first_record)
    return Batch(
        entry.first_record, entry.producer, entry.tp, keys, values, entry.acks, entry.created_us
    )
