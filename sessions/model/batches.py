"""Batches in the order of their record ids, and the one among them that carried a record."""

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from emulator.simulation.packed_list import PackedList
from sessions.model.states import Batch

_FIRST_RECORD: Final = attrgetter("first_record")


def batch_in(batches: Sequence[Batch], record_id: int) -> Batch | None:
    """The batch of these that carried a record, if one did."""
    index = named_up_to(batches, record_id) - 1
    if index < 0:
        return None
    batch = batches[index]
    return batch if record_id < batch.first_record + len(batch.values) else None


def named_up_to(batches: Sequence[Batch], record_id: int) -> int:
    """How many of these batches begin with this record or an earlier one."""
    if isinstance(batches, PackedList):
        return batches.bisect_right(record_id)
    return bisect_right(batches, record_id, key=_FIRST_RECORD)


def next_record(batches: Sequence[Batch]) -> int:
    """The id of the record that comes after these batches."""
    return batches[-1].first_record + len(batches[-1].values) if batches else 0
