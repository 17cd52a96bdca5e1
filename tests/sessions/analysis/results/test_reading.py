"""Reading results: the first rows by an order, sums, however the files are cut."""

from pathlib import Path

import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.analysis.results.cluster import ISR_CHURN
from sessions.analysis.results.reading import DOWN, UP, Results, event_of
from sessions.analysis.results.truth import ANOMALIES
from sessions.dataset.schema import Column, Table
from tests.sessions.report.made_results import place, write


@given(
    st.lists(st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(0, 3))), max_size=20),
    st.integers(1, 3),
    st.integers(1, 6),
)
def test_the_first_rows_are_those_of_all_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    values: list[tuple[int, int | None]],
    files: int,
    rows_max: int,
) -> None:
    folder = tmp_path_factory.mktemp("results")
    rows = [
        place(f"s{number}", "t-0") | {"changes": changes, "size_min": size}
        for number, (changes, size) in enumerate(values)
    ]
    write(folder, ISR_CHURN, rows, files)
    order = (("size_min", DOWN), ("changes", UP), ("session", UP))
    found = Results(folder).top(ISR_CHURN, order, rows_max)
    expected = sorted(
        rows,
        key=lambda row: (
            row["size_min"] is None, -(row["size_min"] or 0), row["changes"], row["session"],
        ),
    )  # fmt: skip
    assert [row["session"] for row in found] == [row["session"] for row in expected[:rows_max]]


def test_sums_are_by_keys_over_all_files(tmp_path: Path) -> None:
    rows = [place(f"s{n % 2}", "t-0") | {"changes": n} for n in range(10)]
    write(tmp_path, ISR_CHURN, rows, files=3)
    assert Results(tmp_path).sums(ISR_CHURN, ["session", "tp"], "changes") == [
        {"session": "s0", "tp": "t-0", "changes": 20},
        {"session": "s1", "tp": "t-0", "changes": 25},
    ]


def test_a_sum_has_an_example_the_first_of_its_rows(tmp_path: Path) -> None:
    rows = [
        place(session, "t-0") | {"changes": 1, "shrinks": shrinks}
        for session, shrinks in (("s2", 1), ("s1", 8), ("s1", 7), ("s3", 0))
    ]
    write(tmp_path, ISR_CHURN, rows, files=2)
    assert Results(tmp_path).sums(ISR_CHURN, ["tp"], "changes", ["session", "shrinks"]) == [
        {"tp": "t-0", "changes": 4, "session": "s1", "shrinks": 7}
    ]


def test_a_result_may_be_empty_or_not_there(tmp_path: Path) -> None:
    write(tmp_path, ANOMALIES, [])
    results = Results(tmp_path)
    assert results.has(ANOMALIES)
    assert not results.has(ISR_CHURN)
    assert results.count(ANOMALIES) == 0
    assert results.top(ANOMALIES, (("name", UP),), 5) == []
    assert results.sums(ANOMALIES, ["name"], "record") == []
    assert list(results.rows(ANOMALIES, pc.field("name") == "x", ["seq"])) == []


def test_the_event_of_a_row_is_the_first_that_is_shown() -> None:
    columns = (
        Column("session", "string", "", "s"),
        Column("lag", "int64", "us", "l"),
        Column("slowest_session", "string", "", "s"),
        Column("slowest_seq", "int64", "event", "s"),
        Column("at_seq", "int64", "event", "a"),
    )
    table = Table("t", "a row", "in order", columns)
    row = {"session": "s1", "lag": 5, "slowest_session": "s2", "slowest_seq": 7, "at_seq": 9}
    assert event_of(table, ["lag", "at_seq", "slowest_seq"], row) == ("s1", 9)
    assert event_of(table, ["slowest_seq"], row) == ("s2", 7)
    assert event_of(table, ["slowest_seq"], {**row, "slowest_seq": None}) is None
    assert event_of(table, ["lag"], row) is None
