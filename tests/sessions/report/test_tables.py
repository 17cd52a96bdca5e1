"""Values as people read them, by what their column counts."""

import pytest

from sessions.analysis.results.failover import FAILOVER, FAILOVERS
from sessions.analysis.results.reading import session_of
from sessions.dataset.schema import Column, Type
from sessions.report.markup import Element
from sessions.report.tables import At, TableColumns, table, value_text


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


def shown_row(shown: TableColumns, **values: object) -> Element:
    """The one row of a table."""
    names = (*shown.table.names, "session")
    made = table(shown, [dict.fromkeys(names) | values])
    return next(made.iter("tbody"))[0]


def test_a_table_without_rows_says_so() -> None:
    made = table(TableColumns(FAILOVER, "Failovers", {"version": "version"}), [])
    assert [each.text for each in made] == ["Failovers", "None."]


def test_a_value_has_the_event_that_led_to_it_beside_it() -> None:
    shown = TableColumns(FAILOVERS, "", {"fault": At("fault", "fault_seq"), "total": "total_us"})
    row = shown_row(shown, session="s", fault="crashed", fault_seq=1_289)
    assert row.get("data-session") == "s"
    assert ["".join(cell.itertext()) for cell in row] == ["crashed#1,289", "-"]
    assert row[0].get("data-value") == "crashed"
    assert [each.get("data-seq") for each in row.iter("button")] == ["1289"]


def test_an_event_of_another_session_says_which() -> None:
    shown = TableColumns(FAILOVER, "", {"slowest": At("total_max_us", "slowest_seq")})
    row = shown_row(shown, total_max_us=7, slowest_seq=3, slowest_session="other")
    assert [each.get("data-session") for each in row.iter("button")] == ["other"]


def test_a_row_says_when_it_was() -> None:
    shown = TableColumns(FAILOVERS, "", {"at": "fault_us"}, "fault_us", "serving_us")
    ended = shown_row(shown, fault_us=79_000_000, serving_us=80_000_000)
    assert (ended.get("data-from"), ended.get("data-to")) == ("79000000", "80000000")
    assert ended[0].text == "01:19"
    assert shown_row(shown, fault_us=79_000_000).get("data-to") is None


def test_what_a_column_means_is_there_for_all_to_read() -> None:
    shown = TableColumns(FAILOVERS, "", {"fault": At("fault", "fault_seq")})
    made = table(shown, [dict.fromkeys((*FAILOVERS.names, "session"))])
    told = "".join(next(made.iter("dl")).itertext())
    assert told.startswith("faultfault: its fault")
    assert told.endswith("fault_seq: event of the fault")
