"""Steps for charts: few enough to draw, and whatever happened is in them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sessions.report.steps import Steps, steps

NAMES = ("offline", "leaderless")
Row = tuple[int, ...]
"""From, to, the number of the event, offline, leaderless."""
OFFLINE, LEADERLESS = 3, 4


def row(begin: int, end: int, offline: int, leaderless: int, seq: int | None = None) -> Row:
    return begin, end, begin if seq is None else seq, offline, leaderless


def made(rows: list[Row], columns_max: int) -> Steps:
    return steps(lambda: rows, len(rows), NAMES, columns_max)


@st.composite
def timelines(draw: st.DrawFn) -> list[Row]:
    """Rows one after the other, some without any length, with times between them at places."""
    edges = sorted(draw(st.lists(st.integers(0, 10_000), min_size=2, max_size=60)))
    value = st.integers(0, 3)
    rows = [
        row(begin, end, draw(value), draw(value), at)
        for at, (begin, end) in enumerate(pairwise(edges))
        if draw(st.integers(0, 9))
    ]  # fmt: skip
    return draw(st.permutations(rows)) if rows else [row(0, 10, 1, 0)]


def value_at(found: Steps, name: str, time_us: int) -> float | None:
    at = max((n for n, begin in enumerate(found.begins) if begin <= time_us), default=None)
    return None if at is None else found.values[name][at]


@given(timelines())
def test_few_changes_are_steps_as_they_are(rows: list[Row]) -> None:
    found = made(rows, len(rows))
    assert found.merged == 0
    assert found.end == max(end for _, end, *_ in rows)
    assert found.begins == sorted(found.begins)
    for each in rows:
        begin, end, _, *values = each
        if begin < end:
            for name, value in zip(NAMES, values, strict=True):
                assert value_at(found, name, begin) == value
                assert value_at(found, name, end - 1) == value


@given(timelines(), st.integers(1, 8))
def test_of_many_changes_nothing_that_was_wrong_is_lost(rows: list[Row], columns: int) -> None:
    if len(rows) <= columns:
        return
    found = made(rows, columns)
    assert found.merged == len(rows)
    assert len(found.begins) <= columns
    for name, at in zip(NAMES, (OFFLINE, LEADERLESS), strict=True):
        assert found.highest(name) == max(each[at] for each in rows)
    for begin, end, _, *values in rows:
        middle = min((begin + end) // 2, found.end - 1)
        for name, value in zip(NAMES, values, strict=True):
            assert (value_at(found, name, middle) or 0) >= value
    events = {seq for _, _, seq, *_ in rows} | {None}
    assert set(found.events) <= events


def test_a_column_leads_to_the_gravest_of_what_is_in_it() -> None:
    rows = [row(0, 10, 0, 0), row(10, 11, 0, 5, 77), row(11, 12, 1, 0, 88), row(12, 100, 0, 0)]
    found = made(rows, 2)
    assert found.values == {"offline": [1, 0], "leaderless": [5, 0]}
    assert found.events == [88, 12]
    assert (found.begins, found.end) == ([0, 50], 100)


def test_nothing_is_known_of_a_time_without_a_row() -> None:
    found = made([row(10, 20, 1, 0), row(30, 40, 1, 0)], 10)
    assert found.begins == [0, 10, 20, 30]
    assert found.values["offline"] == [None, 1, None, 1]
    assert found.first("offline") == 1
    assert found.first("leaderless") is None


def test_two_hundred_thousand_changes_make_no_more_steps_than_a_chart_has_columns() -> None:
    rows = [row(n * 5, n * 5 + 5, int(n == 123_456), n % 2) for n in range(200_000)]
    found = steps(lambda: rows, len(rows), NAMES)
    assert len(found.begins) <= 1_200
    at = found.values["offline"].index(1)
    assert found.events[at] == 123_456 * 5
    assert found.begins[at] <= 123_456 * 5 < found.begins[at + 1]
