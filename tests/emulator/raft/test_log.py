"""The replicated log: what is read from where, and where two logs part."""

import pytest

from emulator.metadata_log.records import NoOpRecord
from emulator.protocol.raft import MetadataBatch
from emulator.raft.log import MetadataLog

FIRST = MetadataBatch(0, 1, (NoOpRecord(),) * 2)
SECOND = MetadataBatch(2, 1, (NoOpRecord(),) * 3)
THIRD = MetadataBatch(5, 4, (NoOpRecord(),))


def log() -> MetadataLog:
    """Epoch 1 at the offsets 0 to 4 in two batches, epoch 4 at 5."""
    made = MetadataLog()
    for batch in (FIRST, SECOND, THIRD):
        made.append(batch)
    return made


def test_an_empty_log_ends_at_0_and_has_no_epoch() -> None:
    empty = MetadataLog()
    assert (empty.end_offset, empty.last_epoch) == (0, -1)
    assert empty.from_offset(0, 5) == []
    assert empty.epoch_at(0) == -1
    assert empty.end_of_epoch(1) == (-1, 0)


def test_a_log_ends_after_its_last_record() -> None:
    assert (log().end_offset, log().last_epoch) == (6, 4)


@pytest.mark.parametrize(
    ("offset", "up_to", "found"),
    [
        (0, None, [FIRST, SECOND, THIRD]),
        (1, None, [FIRST, SECOND, THIRD]),  # a batch that the offset lies in is given whole
        (2, None, [SECOND, THIRD]),
        (5, None, [THIRD]),
        (6, None, []),
        (0, 6, [FIRST, SECOND, THIRD]),
        (0, 9, [FIRST, SECOND, THIRD]),
        (0, 5, [FIRST, SECOND]),
        (0, 4, [FIRST]),  # all of a batch or none
        (0, 2, [FIRST]),
        (0, 1, []),
        (2, 5, [SECOND]),
        (2, 4, []),
    ],
)
def test_batches_are_read_from_an_offset_up_to_another(
    offset: int, up_to: int | None, found: list[MetadataBatch]
) -> None:
    assert log().from_offset(offset, up_to) == found


@pytest.mark.parametrize(
    ("epoch", "found"),
    [(0, (-1, 0)), (1, (1, 5)), (2, (1, 5)), (3, (1, 5)), (4, (4, 6)), (9, (4, 6))],
)
def test_an_epoch_ends_where_the_next_one_in_the_log_begins(
    epoch: int, found: tuple[int, int]
) -> None:
    assert log().end_of_epoch(epoch) == found


@pytest.mark.parametrize(("offset", "epoch"), [(0, 1), (4, 1), (5, 4), (6, -1), (7, -1)])
def test_a_record_has_the_epoch_of_its_batch(offset: int, epoch: int) -> None:
    assert log().epoch_at(offset) == epoch


@pytest.mark.parametrize(
    ("offset", "last_epoch", "parts"),
    [
        (0, -1, None),  # nothing at all contradicts nothing
        (3, -1, (-1, 0)),  # records without an epoch are nobody's
        (0, 0, (-1, 0)),
        (2, 1, None),
        (5, 1, None),
        (6, 1, (1, 5)),  # it has more of the epoch than was kept
        (5, 2, (1, 5)),  # an epoch that is unknown here
        (5, 3, (1, 5)),
        (6, 4, None),
        (7, 4, (4, 6)),
        (6, 5, (4, 6)),
    ],
)
def test_another_log_parts_from_it_at_the_end_of_the_last_common_epoch(
    offset: int, last_epoch: int, parts: tuple[int, int] | None
) -> None:
    assert log().diverging(offset, last_epoch) == parts


@pytest.mark.parametrize(
    ("offset", "left"),
    [(6, [FIRST, SECOND, THIRD]), (5, [FIRST, SECOND]), (4, [FIRST]), (1, []), (0, [])],
)
def test_truncation_keeps_whole_batches(offset: int, left: list[MetadataBatch]) -> None:
    made = log()
    made.truncate(offset)
    assert made.batches == left
