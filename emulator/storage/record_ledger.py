"""The keys and values of all records, by the record ids that logs contain."""

from codecs import getincrementaldecoder
from operator import attrgetter

from msgspec import Struct

from emulator.common.limits import BATCH_TEXT_MAX
from emulator.protocol import RecordBatch
from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.simulation.kernel import STARTED_MS
from emulator.simulation.packed_list import PackedList, text_bytes
from emulator.wire.exceptions import WireError
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.record import Record

DELETED = "(deleted)"
"""The replacement for a value that no log contains any more."""
ESCAPE_BYTES = 4
"""A byte that is no text, as text: ``\\xff``."""
PIECE_BYTES = 1 << 16
"""How much of a text is kept or left out at once."""


class LedgerEntry(Struct, frozen=True, array_like=True, gc=False):
    """The contents of one batch of records.

    Ids ``first_record ..``, its partition, keys and values, and its creation time (CreateTime) in
    microseconds of virtual time. A batch received as bytes from an external client has neither keys
    nor values here: ``encoded`` is its number of records.
    """

    first_record: int
    producer: str
    tp: str
    keys: list[str | None]
    values: list[str]
    acks: int
    created_us: int = 0
    encoded: int = 0

    @property
    def count(self) -> int:
        """The number of records in the batch."""
        return self.encoded or len(self.values)


class LedgerEntries(
    PackedList[LedgerEntry],
    kind=LedgerEntry,
    by=attrgetter("first_record"),
    weight=text_bytes,
):
    """All batches ever created, in the order of their record ids."""


class RecordLedger:
    """Assigns each record its id in the logs, and stores its contents.

    It represents message payloads, which brokers do not copy around: for external clients it stores
    the original bytes, which are decoded only when their contents are needed.
    """

    def __init__(
        self,
        entries: LedgerEntries,
        encoded: BytesByNumber,
        started_ms: int = STARTED_MS,
    ) -> None:
        """Write to ``entries`` and ``encoded``, as their only writer.

        ``encoded`` maps first record ids to external clients' batches; ``started_ms`` is the
        wall-clock time of virtual time 0.
        """
        self.started_ms = started_ms
        self.entries = entries
        self.encoded = encoded
        self._next = 1
        if entries:
            last = entries[-1]
            self._next = last.first_record + last.count

    def enter(
        self,
        writer: str,
        tp: str,
        keys: list[str | None],
        values: list[str],
        *,
        acks: int,
        now_us: int,
    ) -> int:
        """Add a batch of records; return the id of the first (ids begin at 1)."""
        first = self._next
        self._next = first + len(values)
        self.entries.append(LedgerEntry(first, writer, tp, keys, values, acks, now_us))
        return first

    def enter_encoded(
        self, writer: str, tp: str, batch: bytes, count: int, *, acks: int, now_us: int
    ) -> int:
        """Add a batch of ``count`` records as bytes; return the id of the first."""
        first = self._next
        self._next = first + count
        self.entries.append(LedgerEntry(first, writer, tp, [], [], acks, now_us, count))
        self.encoded.add(first, batch)
        return first

    def forget(self, first_record: int) -> None:
        """Discard the bytes of a batch that no log contains any more."""
        self.encoded.discard(first_record)

    def entry_of(self, record: int) -> LedgerEntry:
        """The entry that contains a record id."""
        return self.entries[self.place_of(record)]

    def place_of(self, record: int) -> int:
        """The place among the entries of the one that contains a record id."""
        return self.entries.bisect_right(record) - 1

    @property
    def next_record(self) -> int:
        return self._next

    def decoded(self, first_record: int) -> list[Record]:
        """The records of a batch received as bytes, by the id of its first.

        Raises:
            WireError: their compression is not supported.
        """
        return memory_records.decode(self.encoded[first_record])

    def texts_of(self, first_record: int) -> tuple[list[str | None], list[str]]:
        """Keys and values of a batch received as bytes, as text; no keys if no record has one.

        Of what is beyond :data:`~emulator.common.limits.BATCH_TEXT_MAX` only the length is told.
        """
        if first_record not in self.encoded:
            return [], [DELETED] * self.entry_of(first_record).count
        try:
            records = self.decoded(first_record)
        except WireError as error:
            count = self.entry_of(first_record).count
            return [], [f"({error})"] * count
        text = _BoundedTexts().of if _may_be_long(records) else text_of
        keys = [None if record.key is None else text(record.key) for record in records]
        has_keys = any(key is not None for key in keys)
        return keys if has_keys else [], [text(record.value) for record in records]

    def keyless(self, batch: RecordBatch) -> list[int]:
        """The places in a batch of the records that have no key."""
        entry = self.entry_of(batch.first_record)
        begin = batch.first_record - entry.first_record
        if entry.encoded:
            try:
                records = self.decoded(entry.first_record)[begin : begin + batch.count]
            except WireError:
                return []  # a leader that cannot read records does not look at their keys here
            return [at for at, record in enumerate(records) if record.key is None]
        keys = entry.keys[begin : begin + batch.count] or [None] * batch.count
        return [at for at, key in enumerate(keys) if key is None]

    def timestamps_of(self, batch: RecordBatch) -> list[int]:
        """The times of a batch's records, in milliseconds since 1970.

        Records that cannot be decoded, which a leader has not looked at, have the batch's latest.
        """
        if batch.append_time_ms >= 0:
            return [batch.append_time_ms] * batch.count
        entry = self.entry_of(batch.first_record)
        if not entry.encoded:
            return [self.started_ms + entry.created_us // 1_000] * batch.count
        begin = batch.first_record - entry.first_record
        try:
            records = self.decoded(entry.first_record)[begin : begin + batch.count]
        except WireError:
            header = record_batch.read_header(self.encoded[entry.first_record])
            return [header.max_timestamp] * batch.count
        return [record.timestamp for record in records]

    def value_of(self, record: int, /) -> str:
        entry = self.entry_of(record)
        if entry.encoded:
            return self.texts_of(entry.first_record)[1][record - entry.first_record]
        return entry.values[record - entry.first_record]


def text_of(data: bytes | None) -> str:
    """Bytes as text; invalid UTF-8 is escaped, and null is empty."""
    return "" if data is None else data.decode("utf-8", "backslashreplace")


def _may_be_long(records: list[Record]) -> bool:
    size = sum(len(record.key or b"") + len(record.value or b"") for record in records)
    return size * ESCAPE_BYTES > BATCH_TEXT_MAX


class _BoundedTexts:
    """Turns bytes into texts while there is room for them."""

    def __init__(self) -> None:
        self.room = BATCH_TEXT_MAX

    def of(self, data: bytes | None) -> str:
        """Bytes as text; behind what there is no room for, their number."""
        decode = getincrementaldecoder("utf-8")("backslashreplace").decode
        content = data or b""
        pieces = []
        for at in range(0, len(content), PIECE_BYTES):
            piece = decode(content[at : at + PIECE_BYTES], at + PIECE_BYTES >= len(content))
            size = len(piece.encode())
            if size > self.room:
                pieces.append(f".. ({len(content):,} bytes)")
                break
            self.room -= size
            pieces.append(piece)
        return "".join(pieces)
