"""What every record really was: its key and value, by the id that logs hold it under."""

from typing import Protocol

from msgspec import Struct

from emulator.simulation.packed_list import PackedList


class LedgerEntry(Struct, frozen=True, array_like=True, gc=False):
    """What one batch of records really was.

    Ids ``first_record ..``, its partition, keys and values.
    """

    first_record: int
    producer: str
    tp: str
    keys: list[str | None]
    values: list[str]
    acks: int


class LedgerEntries(PackedList[LedgerEntry], kind=LedgerEntry):
    """All batches that were ever made, in the order of their record ids."""


class RecordLedger(Protocol):
    """Where records are named: each has an id by which logs hold it."""

    def name_records(
        self, writer: str, tp: str, keys: list[str | None], values: list[str], /
    ) -> int:
        """Enter records; returns the id of the first."""

    def value_of(self, record: int, /) -> str:
        """A record's value."""
