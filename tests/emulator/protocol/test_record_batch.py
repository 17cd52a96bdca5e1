"""How much of a row of batches a limit in bytes lets through."""

from collections.abc import Iterator

import pytest

from emulator.protocol import RecordBatch, up_to
from emulator.storage.log import Log


def batches(*sizes: int) -> list[RecordBatch]:
    return [RecordBatch(at, 1, 0, at + 1, size_bytes=size) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "limit", "given"),
    [
        ((10, 10, 10), 30, 3),
        ((10, 10, 10), 29, 2),
        ((50, 10), 30, 1),
        ((50, 10), 0, 1),
        ((10, 50, 10), 30, 1),
        ((), 30, 0),
    ],
)
def test_batches_are_given_up_to_a_limit_and_the_first_in_any_case(
    sizes: tuple[int, ...], limit: int, given: int
) -> None:
    row = batches(*sizes)
    assert up_to(row, limit) == row[:given]


def test_before_kip_74_a_first_batch_that_is_too_large_is_not_given() -> None:
    assert up_to(batches(50, 10), 30, at_least_one=False) == []
    assert len(up_to(batches(20, 10), 30, at_least_one=False)) == 2


def test_what_does_not_fit_is_not_looked_at() -> None:
    looked = []

    def row() -> Iterator[RecordBatch]:
        for batch in batches(*[10] * 100):
            looked.append(batch)
            yield batch

    assert len(up_to(row(), 30)) == 3
    assert len(looked) == 4


def test_a_log_is_read_in_pieces_as_it_is_read_at_once() -> None:
    log = Log()
    for batch in batches(*[10] * 700):
        log.append(batch)
    read: list[RecordBatch] = []
    while piece := log.read_within(len(read), 650, 95):
        assert len(piece) <= 9
        read += piece
    assert read == log.read(0, 650)
    assert log.read_within(5, 5, 95) == []
    assert log.read_within(0, 0, 95) == []
    assert Log().read_within(0, 1, 95) == []
