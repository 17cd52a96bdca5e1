"""Spark is set up for as much as there is to read, and left as it was."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.analysis import sizing
from sessions.analysis.commit_latency import hw_lag
from sessions.analysis.hw_lag import hw_lag_timeline
from sessions.analysis.isr_churn import isr_churn
from sessions.analysis.leader_balance import leader_balance
from sessions.analysis.sizing import (
    COMPILED_MIN,
    INTERPRETED,
    PARTITIONS,
    UNSHUFFLED,
    settings_for,
    suited,
)
from sessions.analysis.tables import DatasetTables
from sessions.dataset.layout import Dataset
from sessions.dataset.location import Location
from sessions.dataset.tables import EVENTS
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_few_events_are_not_worth_compiling_queries() -> None:
    assert settings_for(1_000, "200") == {**INTERPRETED, **UNSHUFFLED, PARTITIONS: "4"}
    assert settings_for(COMPILED_MIN, "200") == {**UNSHUFFLED, PARTITIONS: "4"}


def test_shuffles_grow_with_the_data_unless_somebody_has_chosen() -> None:
    assert settings_for(100 * 2**20, "200") == {PARTITIONS: "100"}
    assert settings_for(10_000 * 2**20, "200") == {PARTITIONS: "10000"}
    assert settings_for(10_000 * 2**20, "64") == {}


@pytest.mark.spark
def test_a_session_is_left_as_it_was(spark: "SparkSession", tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    key = "spark.sql.codegen.wholeStage"
    try:
        spark.conf.unset(key)
        with suited(spark, Dataset(tmp_path / "dataset").commits()):
            assert spark.conf.get(key) == "false"
        assert spark.conf.get(key) == "true"
        spark.conf.set(key, "true")  # somebody has chosen
        with suited(spark, Dataset(tmp_path / "dataset").commits()):
            assert spark.conf.get(key) == "true"
    finally:
        spark.conf.set(key, "false")


@pytest.mark.spark
def test_what_somebody_has_chosen_for_joins_is_kept_also_when_it_is_what_spark_would_choose(
    spark: "SparkSession", tmp_path: Path
) -> None:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    commits = Dataset(tmp_path / "dataset").commits()
    key, other = "spark.sql.autoBroadcastJoinThreshold", "spark.sql.sources.fileCompressionFactor"
    default = spark.conf.get(key)
    for _ in range(2):  # the first time leaves nothing that looks chosen
        with suited(spark, commits):
            assert (spark.conf.get(key), spark.conf.get(other)) == ("-1", "1e-9")
    spark.conf.set(key, str(default))
    try:
        with suited(spark, commits):
            assert (spark.conf.get(key), spark.conf.get(other)) == (default, "1e-9")
    finally:
        spark.conf.unset(key)


@pytest.mark.spark
def test_few_rows_are_in_one_partition_and_many_are_not(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session in ("s1", "s2", "s3"):
        exported(committed_story().events, tmp_path / "dataset", session)

    def partitions() -> int:
        tables = DatasetTables(spark, Dataset(tmp_path / "dataset"), Location(tmp_path))
        return tables.table(EVENTS).rdd.getNumPartitions()

    assert partitions() == 1
    monkeypatch.setattr(sizing, "SMALL_MAX", 0)
    assert partitions() > 1


@pytest.mark.spark
def test_few_rows_are_not_shuffled(spark: "SparkSession", tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    dataset = Dataset(tmp_path / "dataset")
    with suited(spark, dataset.commits()):
        tables = DatasetTables(spark, dataset, Location(tmp_path))
        for table in (isr_churn, leader_balance, hw_lag, hw_lag_timeline):
            plan = table(tables)._jdf.queryExecution().executedPlan().toString()
            assert "ShuffledHashJoin" in plan
            assert "Exchange" not in plan


@pytest.mark.spark
def test_a_stored_table_without_rows_is_known_to_be_empty(
    spark: "SparkSession", tmp_path: Path
) -> None:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    tables = DatasetTables(spark, Dataset(tmp_path / "dataset"), Location(tmp_path))
    events = tables.table(EVENTS)

    def plan_of(rows: "DataFrame") -> str:
        return str(rows._jdf.queryExecution().optimizedPlan().toString())

    none = tables.materialised("none", lambda _: events.where("seq < 0"))
    assert none.schema == events.schema
    assert plan_of(none).startswith("LocalRelation <empty>")
    some = tables.materialised("some", lambda _: events)
    assert some.count() == events.count() > 0
