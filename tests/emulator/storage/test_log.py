"""One replica's log against worked examples and a naive list of records."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.protocol import RecordBatch
from emulator.storage.log import Log, tail_of


def batch(base_offset: int, count: int = 1, first_record: int | None = None) -> RecordBatch:
    first = 100 + base_offset if first_record is None else first_record
    return RecordBatch(base_offset, count, 0, first)


def log_of(*counts: int) -> Log:
    """A log of batches with so many records each; record ids are 100 and the offset."""
    log = Log()
    for count in counts:
        log.append(batch(log.end, count))
    return log


def records(batches: Iterable[RecordBatch]) -> list[tuple[int, int]]:
    """Offset and record id of each record."""
    return [(b.base_offset + i, b.first_record + i) for b in batches for i in range(b.count)]


def test_a_new_log_is_empty() -> None:
    assert (Log().start, Log().end, Log().flushed, list(Log().batches)) == (0, 0, 0, [])
    assert Log().position(0) == 0


def test_the_end_is_the_next_offset_to_be_written() -> None:
    assert log_of(15).end == 15
    assert log_of(1, 2, 3).end == 6


@pytest.mark.parametrize("offset", [2, 4])
def test_a_batch_that_does_not_continue_the_log_is_refused(offset: int) -> None:
    log = log_of(3)
    with pytest.raises(ValueError, match=f"batch at {offset} does not follow LEO 3"):
        log.append(batch(offset))


def test_reading_gives_the_batches_that_hold_the_offsets() -> None:
    log = log_of(2, 2, 2)
    assert [b.base_offset for b in log.read(0, 6)] == [0, 2, 4]
    assert [b.base_offset for b in log.read(3, 6)] == [2, 4]
    assert [b.base_offset for b in log.read(5, 6)] == [4]


def test_reading_stops_below_its_bound() -> None:
    log = log_of(2, 2, 2)
    assert [b.base_offset for b in log.read(0, 2)] == [0]
    assert [b.base_offset for b in log.read(0, 3)] == [0, 2]
    assert log.read(2, 2) == []


def test_reading_at_the_end_gives_nothing() -> None:
    assert log_of(3).read(3, 3) == []
    assert log_of(3).read(2, 1) == []
    assert Log().read(0, 0) == []
    assert Log().read(0, 1) == []


def test_a_position_is_found_in_the_middle_of_a_batch() -> None:
    log = log_of(2, 3, 4)
    assert [log.position(offset) for offset in (0, 1, 2, 4, 5, 8, 99)] == [0, 0, 1, 1, 2, 2, 2]


def test_truncating_between_batches_drops_whole_ones() -> None:
    log = log_of(2, 2, 2)
    assert log.truncate(4)
    assert log.end == 4
    assert records(log.batches) == [(offset, 100 + offset) for offset in range(4)]


def test_truncating_inside_a_batch_keeps_its_first_records() -> None:
    log = log_of(2, 4)
    assert log.truncate(3)
    assert log.end == 3
    assert records(log.batches) == [(0, 100), (1, 101), (2, 102)]


def test_a_batch_that_another_log_shares_is_not_changed_by_a_truncation() -> None:
    shared = batch(0, 4)
    mine, others = Log(), Log()
    mine.append(shared)
    others.append(shared)
    mine.truncate(1)
    assert others.batches[0].count == 4


@pytest.mark.parametrize("offset", [6, 7])
def test_there_is_nothing_to_truncate_at_or_past_the_end(offset: int) -> None:
    log = log_of(6)
    assert not log.truncate(offset)
    assert log.end == 6


def test_a_truncation_below_the_start_moves_it() -> None:
    log = log_of(1, 1, 1, 1, 1, 1)
    log.start = 4
    assert log.truncate(2)
    assert (log.start, log.end, log.first_offset, len(log.batches)) == (2, 2, 0, 2)


def test_the_first_offset_on_disk_is_that_of_the_first_batch_or_the_end() -> None:
    log = log_of(1, 1, 1, 1, 1, 1)
    log.start = 4
    assert log.first_offset == 0
    log.delete_before(4)
    assert (log.start, log.first_offset) == (4, 4)
    log.restart_at(9)
    assert log.first_offset == 9


def test_what_was_truncated_is_not_flushed_any_longer() -> None:
    log = log_of(5)
    log.flushed = 5
    log.truncate(3)
    log.append(batch(3))
    assert log.flushed == 3


def test_a_log_begins_anew_where_it_is_told() -> None:
    log = log_of(5)
    log.restart_at(8)
    assert (log.start, log.end, log.flushed, list(log.batches)) == (8, 8, 8, [])
    log.append(batch(8))
    assert log.end == 9


def test_the_tail_of_a_batch_begins_with_the_record_at_that_offset() -> None:
    tail = tail_of(batch(7, 5), 9)
    assert records([tail]) == [(9, 109), (10, 110), (11, 111)]
    assert tail_of(batch(7, 5), 7) == batch(7, 5)


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "truncate"]), st.integers(0, 20)), max_size=30
)


@given(steps=STEPS, offset=st.integers(0, 60), bound=st.integers(0, 60))
def test_a_log_is_a_list_of_records(steps: list[Step], offset: int, bound: int) -> None:
    log, next_record = Log(), 1
    naive: list[int] = []
    for step, number in steps:
        if step == "append":
            count = 1 + number % 4
            log.append(RecordBatch(log.end, count, 0, next_record))
            naive += range(next_record, next_record + count)
            next_record += count
        else:
            assert log.truncate(number) == (number < len(naive))
            del naive[number:]
        assert log.end == len(naive)
        assert records(log.batches) == list(enumerate(naive))
    bound = min(bound, log.end)
    read = [each for each in records(log.read(offset, bound)) if offset <= each[0] < bound]
    assert read == list(enumerate(naive))[offset:bound]


def test_what_empty_logs_share_stays_empty() -> None:
    log, other = log_of(2, 3), Log()
    log.truncate(0)
    log.append(batch(0))
    log.restart_at(7)
    log.append(batch(7))
    assert not other.batches
    assert not Log().batches
    assert records(log.batches[:]) == [(7, 107)]
