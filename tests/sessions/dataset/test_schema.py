"""The declared tables: complete, consistent, and what the pages in docs/ say."""

from pathlib import Path

import pytest

from sessions.dataset.document import dataset_page
from sessions.dataset.rows.record_runs import portions
from sessions.dataset.rows.sessions import SessionFacts, Totals
from sessions.dataset.rows.states import Replica
from sessions.dataset.schema import SESSION, Table, arrow_schema, spark_schema
from sessions.dataset.tables import BY_NAME, SESSIONS, TABLES
from sessions.dataset.writer import given_columns
from tests.sessions.dataset.streams import Story

PAGE = Path(__file__).parents[3] / "docs" / "dataset.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == dataset_page()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_names_each_column_once_and_begins_with_the_session(table: Table) -> None:
    assert len(set(table.names)) == len(table.names)
    assert table.names[0] == SESSION
    assert all(column.meaning for column in table.columns)


def test_a_column_without_a_meaning_for_null_is_required() -> None:
    schema = arrow_schema(BY_NAME["produced"])
    assert not schema.field("value").nullable
    assert schema.field("key").nullable


def test_spark_reads_the_session_as_a_string() -> None:
    assert spark_schema(SESSIONS).startswith(
        r"`session` STRING COMMENT 'the session\'s id', `name`"
    )


def test_the_row_that_stands_for_a_session_comes_last() -> None:
    assert TABLES[-1] is SESSIONS


def test_rows_have_as_many_values_as_their_tables_have_columns() -> None:
    replica = Replica(1, Story().events[0])
    row = replica.row("orders-0", None, None)
    assert len(row) == len(given_columns(BY_NAME["replica_states"]))
    assert len(Totals().row(SessionFacts("s1"), 0, 0, 0)) == len(given_columns(SESSIONS))


def test_long_runs_are_divided_among_tables() -> None:
    runs = [(1, 60), (61, 60), (121, 5)]
    spans = [("a", 1), ("b", 2)]
    assert list(portions(runs, spans, 100)) == [
        (runs[:2], [("a", 1), ("b", 1)]),
        (runs[2:], [("b", 1)]),
    ]
