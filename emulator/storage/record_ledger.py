"""What every record really was: its key and value, by the id that logs hold it under."""

from msgspec import Struct

from emulator.protocol import RecordBatch
from emulator.simulation.kernel import STARTED_MS
from emulator.simulation.packed_list import PackedList
from emulator.wire.exceptions import WireError
from emulator.wire.records import memory_records
from emulator.wire.records.record import Record

DELETED = "(deleted)"
"""What is left of a value when no log has it any more."""


class LedgerEntry(Struct, frozen=True, array_like=True, gc=False):
    """What one batch of records really was.

    Ids ``first_record ..``, its partition, keys and values, and when it was made (CreateTime), in
    microseconds of virtual time. Of a batch that came as bytes from a client outside there are
    neither keys nor values here: ``encoded`` is how many records it has.
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
        """How many records the batch has."""
        return self.encoded or len(self.values)


class LedgerEntries(PackedList[LedgerEntry], kind=LedgerEntry):
    """All batches that were ever made, in the order of their record ids."""


class RecordLedger:
    """Gives each record the id by which logs hold it, and knows what it was.

    It stands for the bytes of a message, which brokers do not carry around: of clients outside it
    has the bytes themselves, and they are decoded only for those who ask what they say.
    """

    def __init__(self, entries: LedgerEntries, encoded: dict[int, bytes]) -> None:
        """Write into ``entries`` and ``encoded``, which nobody else does.

        ``encoded`` has the batches of clients outside by their first record's id.
        """
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
        """Enter a batch of records; returns the id of the first (ids begin at 1)."""
        first = self._next
        self._next = first + len(values)
        self.entries.append(LedgerEntry(first, writer, tp, keys, values, acks, now_us))
        return first

    def enter_encoded(
        self, writer: str, tp: str, batch: bytes, count: int, *, acks: int, now_us: int
    ) -> int:
        """Enter a batch of ``count`` records as bytes; returns the id of the first."""
        first = self._next
        self._next = first + count
        self.entries.append(LedgerEntry(first, writer, tp, [], [], acks, now_us, count))
        self.encoded[first] = batch
        return first

    def forget(self, first_record: int) -> None:
        """No log has a batch any more: its bytes, if it came as such, are not needed."""
        self.encoded.pop(first_record, None)

    def entry_of(self, record: int) -> LedgerEntry:
        """The entry that holds a record id."""
        return self.entries[self.entries.bisect_right(record, _first_record) - 1]

    def decoded(self, first_record: int) -> list[Record]:
        """The records of a batch that came as bytes, by the id of its first.

        Raises:
            WireError: they are compressed with something that cannot be read here.
        """
        return memory_records.decode(self.encoded[first_record])

    def texts_of(self, first_record: int) -> tuple[list[str | None], list[str]]:
        """Keys and values of a batch that came as bytes, as text; no keys if none has one."""
        if first_record not in self.encoded:
            return [], [DELETED] * self.entry_of(first_record).count
        try:
            records = self.decoded(first_record)
        except WireError as error:
            count = self.entry_of(first_record).count
            return [], [f"({error})"] * count
        keys = [None if each.key is None else text_of(each.key) for each in records]
        has_keys = any(key is not None for key in keys)
        return keys if has_keys else [], [text_of(each.value) for each in records]

    def timestamps_of(self, batch: RecordBatch) -> list[int]:
        """When the records of a batch in a log were made, in milliseconds since 1970."""
        entry = self.entry_of(batch.first_record)
        if not entry.encoded:
            return [STARTED_MS + entry.created_us // 1_000] * batch.count
        begin = batch.first_record - entry.first_record
        records = self.decoded(entry.first_record)[begin : begin + batch.count]
        return [record.timestamp for record in records]

    def value_of(self, record: int, /) -> str:
        """A record's value."""
        entry = self.entry_of(record)
        if entry.encoded:
            return self.texts_of(entry.first_record)[1][record - entry.first_record]
        return entry.values[record - entry.first_record]


def _first_record(entry: LedgerEntry) -> int:
    return entry.first_record


def text_of(data: bytes | None) -> str:
    """Bytes as text; what is no UTF-8 is escaped, and null is empty."""
    return "" if data is None else data.decode("utf-8", "backslashreplace")
