"""The batch that carried a record, among few and among very many."""

import pytest

from emulator.simulation.packed_list import WEIGHT_MAX
from sessions.model.batches import batch_in, named_up_to, next_record
from sessions.model.states import Batch, Batches

SIZE = 3


def batch(number: int) -> Batch:
    first = 1 + number * SIZE
    return Batch(first, "p", "t-0", [], [f"v-{first + i}" for i in range(SIZE)], -1, number)


@pytest.mark.parametrize("kind", [list, Batches])
@pytest.mark.parametrize("count", [2, 1_500])
def test_a_record_is_looked_up_among_batches_in_order(
    kind: type[list[Batch]] | type[Batches], count: int
) -> None:
    batches = kind(map(batch, range(count)))
    for number in range(0, count, 7):
        records = range(1 + number * SIZE, 1 + (number + 1) * SIZE)
        assert [batch_in(batches, record) for record in records] == [batch(number)] * SIZE
        assert named_up_to(batches, records[0]) == named_up_to(batches, records[-1]) == number + 1
    assert batch_in(batches, 0) is batch_in(batches, 1 + count * SIZE) is None
    assert (next_record(kind()), next_record(batches)) == (0, 1 + count * SIZE)


@pytest.mark.parametrize(("keys", "values"), [([], ["v" * 1_000]), (["k" * 1_000], ["v"])])
def test_large_records_do_not_stay_as_they_are(keys: list[str | None], values: list[str]) -> None:
    count = 2 * WEIGHT_MAX // 1_000
    batches = Batches(
        Batch(number, "p", "t-0", keys * 40, values * 40, -1, 0)
        for number in range(1, count // 40 * 40, 40)
    )
    assert batches.objects * 40_000 < WEIGHT_MAX + 40_000


def test_nor_do_very_many_small_ones() -> None:
    """A string takes 49 bytes besides its characters."""
    per_batch = 10_000
    batches = Batches(
        Batch(1 + number * per_batch, "p", "t-0", [], ["v"] * per_batch, -1, 0)
        for number in range(100)
    )
    assert batches.objects * per_batch * 49 < WEIGHT_MAX + per_batch * 50
