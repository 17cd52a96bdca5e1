"""Percentiles are exact, by nearest rank."""

from typing import TYPE_CHECKING

import pytest

from sessions.analysis.percentiles import percentiles
from tests.sessions.analysis.followed import percentiles as expected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_they_are_the_values_at_their_ranks(spark: "SparkSession") -> None:
    groups: dict[str, list[int | None]] = {
        "hundred": [*range(100, 0, -1)],
        "two hundred": [*range(1, 201)],
        "nineteen": [*range(19)],
        "two": [7, 3],
        "one": [5],
        "same": [4, 4, 4, 9],
        "with nulls": [None, 2, None, 1],
        "only nulls": [None],
    }
    rows = [(name, value) for name, values in groups.items() for value in values]
    frame = spark.createDataFrame(rows, "name string, us bigint")
    found = {
        row["name"]: row.asDict()
        for row in percentiles(frame, ["name"], "us", "time", "us").collect()
    }
    assert found.keys() == groups.keys() - {"only nulls"}
    for name, row in found.items():
        known = [value for value in groups[name] if value is not None]
        assert row == {"name": name, **expected("time", known)}
