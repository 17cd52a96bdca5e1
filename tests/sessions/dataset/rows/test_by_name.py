"""Rows made by the names of their columns."""

import pytest

from emulator.events import Attribute, LogDeleted, LogTruncated, Row
from sessions.dataset.rows.by_name import event_row, row_maker
from sessions.dataset.tables import BY_NAME, TRUNCATIONS

EVENT = LogTruncated(3, 20, 1, "t-0", 2, 5, 8, "epoch")


def test_columns_that_are_not_given_are_null() -> None:
    assert row_maker(BY_NAME["elections"])(seq=1, elected=False)[:2] == (1, None)


def test_a_column_that_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError):
        row_maker(TRUNCATIONS)(leos=1)


def test_a_row_has_fields_of_the_columns_names_constants_and_other_fields() -> None:
    row = Row("truncations", leo=Attribute("log_end_offset"), previous_leo=7)
    assert event_row(LogTruncated, row, TRUNCATIONS)(EVENT) == (3, 20, 1, "t-0", 2, 5, 7, "epoch")


def test_what_a_row_lacks_or_the_table_does_not_have_is_said() -> None:
    with pytest.raises(TypeError, match="truncations has no column lea, which LogTruncated fills"):
        event_row(LogTruncated, Row("truncations", lea=1), TRUNCATIONS)
    with pytest.raises(TypeError, match="LogDeleted says nothing of leo in truncations"):
        event_row(LogDeleted, Row("truncations"), TRUNCATIONS)
