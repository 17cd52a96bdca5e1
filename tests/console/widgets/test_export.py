"""Views as files."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from console.widgets.export import Exportable, as_csv, as_json, free_name, plain


class Two(Exportable):
    """A view of two lines."""

    def count(self) -> int:
        return 2

    def titles(self) -> list[str]:
        return ["topic", "leo"]

    def cells(self, index: int) -> list[str]:
        return ['a "quoted", one', "8,131"] if index else ["orders", "-"]

    def record(self, index: int) -> Any:  # noqa: ANN401 - plain data
        return {"topic": "größe", "leo": index}


class Empty(Two):
    """A view of nothing."""

    def count(self) -> int:
        return 0


def test_csv_has_a_heading_and_plain_numbers() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(Two()))))
    assert rows == [["topic", "leo"], ["orders", "-"], ['a "quoted", one', "8131"]]


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-x", "\t=1"])
def test_a_spreadsheet_runs_nothing_that_stands_in_a_cell(cell: str) -> None:
    assert plain(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-", "-5", "+0.25", "a=b", "2@orders-0"])
def test_numbers_and_other_texts_are_left_as_they_are(cell: str) -> None:
    assert plain(cell) == cell


def test_json_has_all_that_is_known_of_each_line() -> None:
    assert json.loads(as_json(Two())) == [
        {"topic": "größe", "leo": 0},
        {"topic": "größe", "leo": 1},
    ]


def test_nothing_is_an_empty_list_and_a_lone_heading() -> None:
    assert json.loads(as_json(Empty())) == []
    assert as_csv(Empty()) == "topic,leo\n"


def test_no_file_is_written_over(tmp_path: Path) -> None:
    first = free_name(tmp_path, "partitions", 18, "csv")
    assert first == "tidegauge-partitions-18.csv"
    (tmp_path / first).touch()
    assert free_name(tmp_path, "partitions", 18, "csv") == "tidegauge-partitions-18-2.csv"
