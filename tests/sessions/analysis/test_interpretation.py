"""Queries that read little are interpreted, and return the same rows as compiled ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import sessions.analysis.interpretation
from sessions.analysis import sizing
from sessions.analysis.interpretation import Interpretation
from sessions.analysis.run import analyze
from sessions.analysis.sizing import INTERPRETED
from tests.conftest import SMALL
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def as_started(spark: "SparkSession") -> "Iterator[SparkSession]":
    """The session without a setting for compilation, as users start it."""
    for key in INTERPRETED:
        spark.conf.unset(key)
    yield spark
    for key in INTERPRETED:
        spark.conf.set(key, SMALL[key])


def is_compiled(rows: "DataFrame") -> bool:
    """Whether Spark compiles a query: stages with a number are compiled as a whole."""
    rows.collect()
    return "*(1)" in rows._jdf.queryExecution().executedPlan().toString()


@pytest.fixture
def rests(spark: "SparkSession", tmp_path: Path) -> "DataFrame":
    """A query of a file."""
    spark.range(2_000).write.parquet(str(tmp_path / "numbers"))
    numbers = spark.read.parquet(str(tmp_path / "numbers"))
    return numbers.groupBy((numbers.id % 7).alias("rest")).count()


def test_a_query_that_reads_little_is_interpreted(
    as_started: "SparkSession", rests: "DataFrame", monkeypatch: pytest.MonkeyPatch
) -> None:
    interpretation = Interpretation(as_started)
    interpreted = interpretation.suited(rests)
    assert not is_compiled(interpreted)
    monkeypatch.setattr(sessions.analysis.interpretation, "LITTLE_MAX", 1_000)
    compiled = interpretation.suited(rests)
    assert is_compiled(compiled)
    assert sorted(interpreted.collect()) == sorted(compiled.collect())
    assert interpreted.count() == 7


def test_rows_of_the_query_itself_are_little_and_what_has_no_size_is_not(
    as_started: "SparkSession",
) -> None:
    interpretation = Interpretation(as_started)
    row = as_started.createDataFrame(pa.table({"n": [1]}))
    assert interpretation.suited(row) is not row
    numbers = as_started.range(11)
    assert interpretation.suited(numbers) is numbers


def test_who_chose_to_compile_queries_gets_all_compiled(
    compiled_spark: "SparkSession", rests: "DataFrame"
) -> None:
    assert is_compiled(Interpretation(compiled_spark).suited(rests))


def test_an_analysis_has_the_same_results_if_its_queries_are_interpreted_one_by_one(
    as_started: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    jobs = ("availability", "latency")
    whole = analyze(tmp_path / "dataset", tmp_path / "whole", jobs=jobs)
    monkeypatch.setattr(sizing, "COMPILED_MIN", 0)
    monkeypatch.setattr(sessions.analysis.interpretation, "LITTLE_MAX", 2**20)
    executed: list[bool] = []

    def suited(interpretation: Interpretation, rows: "DataFrame") -> "DataFrame":
        rows_interpreted = original(interpretation, rows)
        executed.append(rows_interpreted is not rows)
        return rows_interpreted

    original = Interpretation.suited
    monkeypatch.setattr(Interpretation, "suited", suited)
    one_by_one = analyze(tmp_path / "dataset", tmp_path / "one", jobs=jobs)
    assert set(executed) == {True}
    assert [table.rows for table in one_by_one.tables] == [table.rows for table in whole.tables]
