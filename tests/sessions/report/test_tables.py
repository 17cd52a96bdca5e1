"""Values as people read them, by what their column counts."""

from pathlib import Path

import pytest

from sessions.analysis.results.failover import FAILOVER
from sessions.dataset.location import Location
from sessions.dataset.schema import Column, Type
from sessions.report.origins import Origins
from sessions.report.tables import Shown, session_of, table, value_text


@pytest.mark.parametrize(
    ("name", "type_", "unit", "value", "text"),
    [
        ("total_us", "int64", "us", 1_500_000, "1.5 s"),
        ("records", "int64", "records", 12_345, "12,345"),
        ("share", "double", "percent", 87.5, "87.5 %"),
        ("unclean", "bool", "", True, "yes"),
        ("acks", "int32", "", -1, "all"),
        ("acks", "int32", "", 1, "1"),
        ("fault", "string", "", "crashed", "crashed"),
        ("leader", "int32", "broker id", None, "-"),
    ],
)
def test_a_value_is_written_as_its_column_says(
    name: str, type_: Type, unit: str, value: object, text: str
) -> None:
    assert value_text(Column(name, type_, unit, "meaning"), value) == text


def test_an_event_is_of_the_session_that_is_named_like_it() -> None:
    assert session_of("slowest_seq", FAILOVER.names) == "slowest_session"
    assert session_of("fault_seq", ("session", "fault_seq")) == "session"


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    made = table(Shown(FAILOVER, {"version": "version"}), [], Origins(Location(tmp_path)))
    assert made.text == "None."
