"""Commit latency and HW lag: known answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sessions.analysis.commit_latency import commit_latency, hw_lag
from sessions.analysis.results.latency import COMMIT_LATENCY, HW_LAG
from sessions.analysis.tables import DatasetTables
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.rows.sessions import SessionFacts
from tests.sessions.dataset.streams import Story, committed_story

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Row = dict[str, Any]


def dataset_of(told: list[Story], folder: Path) -> Dataset:
    """A dataset with sessions ``0``, ``1``, .., each ending when its story does."""
    for number, story in enumerate(told):
        export_session(story.events, SessionFacts(str(number), end_us=story.time_us), folder)
    return Dataset(folder)


def computed(spark: "SparkSession", dataset: Dataset) -> list[Row]:
    """The job's rows by session and partition, with those on the lag beside them."""
    source = DatasetTables(spark, dataset, dataset.location)
    frames = commit_latency(source), hw_lag(source)
    assert [tuple(frame.columns) for frame in frames] == [COMMIT_LATENCY.names, HW_LAG.names]
    latency, lag = ([row.asDict() for row in frame.orderBy("tp").collect()] for frame in frames)
    return [of_lag | (latency[at] if latency else {}) for at, of_lag in enumerate(lag)]


def test_one_batch_that_goes_the_normal_way(spark: "SparkSession", tmp_path: Path) -> None:
    (row,) = computed(spark, dataset_of([committed_story()], tmp_path))
    assert row["records"] == row["acked"] == row["committed"] == 3
    assert row["commit_p50_us"] == row["commit_max_us"] == 300
    assert row["ack_p50_us"] == row["ack_max_us"] == 400
    assert row["online_us"] == 1_900
    assert row["hw_lag_mean"] == pytest.approx(3 * 200 / 1_900)
    assert row["hw_lag_max"] == 3
    assert (row["rounds_mean"], row["rounds_max"]) == (1.0, 1.0)


def test_a_partition_that_nothing_was_produced_to_has_a_row(
    spark: "SparkSession", tmp_path: Path
) -> None:
    story = Story()
    story.wait(500)
    (row,) = computed(spark, dataset_of([story], tmp_path))
    assert "records" not in row
    assert (row["online_us"], row["hw_lag_mean"], row["hw_lag_max"]) == (500, 0.0, 0)
