"""Batches in the order in which they were named, and the one among them that carried a record."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from emulator.simulation.packed_list import PackedList
from sessions.model.states import Batch

KEPT: Final = 1024
"""How many batches a view need not ask for, if somebody remembers the older ones."""

_FIRST_RECORD: Final = attrgetter("first_record")


class PackedBatches(PackedList[Batch], kind=Batch, by=_FIRST_RECORD):
    """Very many batches, at about 15 bytes each."""


class OlderBatches:
    """The batches that a view has forgotten."""

    def __init__(self) -> None:
        self._packed = PackedBatches()

    def take_from(self, batches: list[Batch]) -> None:
        """Take all but the last :data:`KEPT` over from a view."""
        for batch in batches[:-KEPT]:
            self._packed.append(batch)
        del batches[:-KEPT]

    def forget_before(self, record_id: int) -> None:
        """Know only of batches from the one on that begins with a record."""
        forgotten = self._packed.bisect_right(record_id - 1)
        self._packed = PackedBatches(self._packed[forgotten:])

    def with_newer(self, batches: Iterable[Batch]) -> list[Batch]:
        """All of them, and those that the view has."""
        return [*self._packed, *batches]

    def batch(self, record_id: int) -> Batch | None:
        """The batch that carried a record, if it is known."""
        index = self._packed.bisect_right(record_id) - 1
        return None if index < 0 else _if_carried(self._packed[index], record_id)


def batch_in(batches: Sequence[Batch], record_id: int) -> Batch | None:
    """The batch of these that carried a record, if one did."""
    index = bisect_right(batches, record_id, key=_FIRST_RECORD) - 1
    return None if index < 0 else _if_carried(batches[index], record_id)


def _if_carried(batch: Batch, record_id: int) -> Batch | None:
    return batch if record_id < batch.first_record + len(batch.values) else None


def named_before(batches: Sequence[Batch], record_id: int) -> int:
    """How many of these batches were named before the one that begins with a record."""
    return bisect_left(batches, record_id, key=_FIRST_RECORD)


def next_record(batches: Sequence[Batch]) -> int:
    """The id of the record that comes after these batches."""
    return batches[-1].first_record + len(batches[-1].values) if batches else 0
