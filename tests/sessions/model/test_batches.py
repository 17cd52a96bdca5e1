"""Batches that a view has forgotten: found again, and small."""

from sessions.model.batches import KEPT, OlderBatches, batch_in, next_record
from sessions.model.states import Batch

SIZE = 3


def batch(number: int) -> Batch:
    first = 1 + number * SIZE
    return Batch(first, "p", "t-0", [], [f"v-{first + i}" for i in range(SIZE)], -1, number)


def batches(count: int) -> list[Batch]:
    return [batch(number) for number in range(count)]


def test_a_view_keeps_only_its_newest_batches() -> None:
    older, mine = OlderBatches(), batches(KEPT + 10)
    older.take_from(mine)
    assert mine == batches(KEPT + 10)[10:]
    older.take_from(mine)
    assert mine == batches(KEPT + 10)[10:]
    assert older.with_newer(mine) == batches(KEPT + 10)


def test_every_record_of_a_forgotten_batch_is_found() -> None:
    older, mine = OlderBatches(), batches(KEPT + 600)
    older.take_from(mine)
    for number in range(600):
        records = range(1 + number * SIZE, 1 + (number + 1) * SIZE)
        assert [older.batch(record) for record in records] == [batch(number)] * SIZE
    assert older.batch(0) is None
    assert older.batch(mine[0].first_record) is None


def test_what_the_file_forgets_is_forgotten() -> None:
    older, mine = OlderBatches(), batches(KEPT + 600)
    older.take_from(mine)
    older.forget_before(batch(400).first_record)
    assert older.batch(batch(399).first_record) is None
    assert older.batch(batch(400).first_record) == batch(400)
    assert older.with_newer(mine) == batches(KEPT + 600)[400:]


def test_a_record_is_looked_up_among_batches_in_order() -> None:
    assert [batch_in(batches(2), record) for record in (0, 1, 6, 7)] == [
        None,
        batch(0),
        batch(1),
        None,
    ]
    assert (next_record([]), next_record(batches(2))) == (0, 7)
