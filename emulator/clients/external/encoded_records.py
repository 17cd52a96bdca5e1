"""The encoded batches returned to external consumers."""

from collections.abc import Iterable
from typing import Final

from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import COMMIT, TRANSACTIONAL
from emulator.storage.record_ledger import RecordLedger
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import Producer, end_transaction_marker

US_PER_MS: Final = 1_000
COUNT_AT: Final = slice(57, 61)
"""The position of the record count in a format 2 batch."""
NEWEST: Final = 2
FORMAT_1_SINCE: Final = 2
FORMAT_2_SINCE: Final = 4
"""The first Fetch version of each newer message format."""
BUILT_MAX: Final = 1_024
"""The number of scripted producers' batches cached as bytes."""


class EncodedRecords:
    """Encodes batches: the bytes in the ledger, or the bytes they would have.

    An external client's batch is returned as it was sent, with the log's offset and leader epoch. A
    scripted producer's batch is built. A partially truncated batch is re-encoded from the remaining
    records.
    """

    def __init__(self, ledger: RecordLedger, magic: int) -> None:
        """Look up batches in ``ledger``; ``magic`` is the message format of the brokers' logs."""
        self.ledger = ledger
        self.magic = magic
        self._built: dict[tuple[int, int], bytes] = {}

    def of(self, batches: Iterable[RecordBatch], version: int) -> bytes:
        """Concatenate the batches for a Fetch version, down-converted if it is old."""
        encoded = b"".join(map(self._placed, batches))
        magic = _format_of(version)
        return memory_records.convert(encoded, magic) if encoded and magic < self.magic else encoded

    def _placed(self, batch: RecordBatch) -> bytes:
        if batch.is_empty:
            return self._without_records(batch)
        data = self.ledger.encoded.get(batch.first_record)
        if data is None or not self._is_whole(data, batch):
            data = self._built_of(batch)
        placed = memory_records.place(data, batch.base_offset, batch.leader_epoch)
        if batch.append_time_ms < 0:
            return placed
        return memory_records.with_log_append_time(placed, batch.append_time_ms)

    def _without_records(self, batch: RecordBatch) -> bytes:
        """A batch of offsets without records; older formats can only leave these out."""
        if self.magic < NEWEST:
            return b""
        return record_batch.empty(batch.end_offset, batch.count, batch.leader_epoch)

    def _is_whole(self, data: bytes, batch: RecordBatch) -> bool:
        """Whether the batch is complete: its log may have been truncated within it."""
        if self.magic == NEWEST:
            return int.from_bytes(data[COUNT_AT]) == batch.count
        return self.ledger.entry_of(batch.first_record).count == batch.count

    def _built_of(self, batch: RecordBatch) -> bytes:
        key = (batch.first_record, batch.count)
        encoded = self._built.get(key)
        if encoded is None:
            encoded = self._marker(batch) if batch.is_control else self._new(batch)
            self._built[key] = encoded
            if len(self._built) > BUILT_MAX:
                del self._built[next(iter(self._built))]
        return encoded

    def _new(self, batch: RecordBatch) -> bytes:
        records = self._records(batch)
        if self.magic < NEWEST:
            return memory_records.build(records, self.magic)
        producer = Producer(batch.producer_id, batch.producer_epoch, batch.base_sequence)
        return record_batch.build(
            records, producer=producer, is_transactional=batch.kind == TRANSACTIONAL
        )

    def _marker(self, batch: RecordBatch) -> bytes:
        entry = self.ledger.entry_of(batch.first_record)
        return end_transaction_marker(
            Producer(batch.producer_id, batch.producer_epoch, -1),
            commit=batch.kind == COMMIT,
            timestamp=self.ledger.started_ms + entry.created_us // US_PER_MS,
            coordinator_epoch=int(entry.keys[0] or 0),
        )

    def _records(self, batch: RecordBatch) -> list[Record]:
        entry = self.ledger.entry_of(batch.first_record)
        begin = batch.first_record - entry.first_record
        end = begin + batch.count
        if entry.encoded:
            return self.ledger.decoded(entry.first_record)[begin:end]
        timestamp = self.ledger.started_ms + entry.created_us // US_PER_MS
        keys = entry.keys or [None] * len(entry.values)
        return [
            Record(None if key is None else key.encode(), value.encode(), timestamp)
            for key, value in zip(keys[begin:end], entry.values[begin:end], strict=True)
        ]


def _format_of(version: int) -> int:
    """The newest message format that a Fetch version supports."""
    if version >= FORMAT_2_SINCE:
        return NEWEST
    return 1 if version >= FORMAT_1_SINCE else 0
