"""What every record really was: its key and value, by the id that logs hold it under."""

from msgspec import Struct

from emulator.simulation.packed_list import PackedList


class LedgerEntry(Struct, frozen=True, array_like=True, gc=False):
    """What one batch of records really was.

    Ids ``first_record ..``, its partition, keys and values, and when it was made (CreateTime), in
    microseconds of virtual time.
    """

    first_record: int
    producer: str
    tp: str
    keys: list[str | None]
    values: list[str]
    acks: int
    created_us: int = 0


class LedgerEntries(PackedList[LedgerEntry], kind=LedgerEntry):
    """All batches that were ever made, in the order of their record ids."""


class RecordLedger:
    """Gives each record the id by which logs hold it, and knows what it was.

    It stands for the bytes of a message, which the emulator does not carry around.
    """

    def __init__(self, entries: LedgerEntries) -> None:
        """Write into ``entries``, which nobody else does."""
        self.entries = entries
        self._next = 1
        if entries:
            last = entries[-1]
            self._next = last.first_record + len(last.values)

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

    def entry_of(self, record: int) -> LedgerEntry:
        """The entry that holds a record id."""
        return self.entries[self.entries.bisect_right(record, _first_record) - 1]

    def value_of(self, record: int, /) -> str:
        """A record's value."""
        entry = self.entry_of(record)
        return entry.values[record - entry.first_record]


def _first_record(entry: LedgerEntry) -> int:
    return entry.first_record
