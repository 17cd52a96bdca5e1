from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.report.units import clock_text, marks, number_text, time_text


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (None, "-"), (0, "0"), (7, "7 µs"), (999, "999 µs"), (1_000, "1 ms"), (5_946, "5.95 ms"),
        (18_199_300, "18.2 s"), (90_000_000, "1.5 min"), (3_600_000_000, "1 h"), (0.5, "0.5 µs"),
        (144 * 3_600_000_000, "144 h"), (5_000_000 * 3_600_000_000, "5,000,000 h"),
    ],
)  # fmt: skip
def test_a_time_has_the_unit_that_suits_it(time_us: float | None, text: str) -> None:
    assert time_text(time_us) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0"), (0.0, "0"), (1_234_567, "1,234,567"), (0.25, "0.25"), (87.5, "87.5")],
)
def test_a_number_has_its_thousands_apart(value: float | None, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (None, "-"), (0, "00:00"), (79_000_000, "01:19"), (79_250_000, "01:19.250"),
        (7_200_000_391, "02:00:00.000391"), (59_999_999, "00:59.999999"),
        (360_000_000_000, "100:00:00"),
    ],
)  # fmt: skip
def test_a_point_in_time_is_written_as_on_a_clock(time_us: int | None, text: str) -> None:
    assert clock_text(time_us) == text


@given(st.floats(min_value=1e-3, max_value=1e15))
def test_an_axis_has_few_round_marks_and_room_for_the_largest_value(largest: float) -> None:
    found = marks(largest)
    assert found[0] == 0
    assert largest <= found[-1] * (1 + 1e-6)
    assert 2 <= len(found) <= 8
    steps = [after - before for before, after in pairwise(found)]
    assert max(steps) - min(steps) <= max(steps) * 1e-6


def test_there_is_an_axis_where_there_is_nothing() -> None:
    assert marks(0) == [0.0, 1.0]
