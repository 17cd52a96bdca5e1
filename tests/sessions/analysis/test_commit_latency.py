"""Commit latency and HW lag: known answers, and agreement with plain Python on random sessions."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sessions.analysis.commit_latency import COMMIT_LATENCY, commit_latency
from sessions.analysis.source import Source
from sessions.dataset.export import export_session
from sessions.dataset.folder import DatasetFolder
from sessions.dataset.totals import SessionFacts
from tests.sessions.analysis.reference import expected_commit_latency
from tests.sessions.dataset.streams import Story, committed_story, stories

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Row = dict[str, Any]


def dataset_of(told: list[Story], folder: Path) -> DatasetFolder:
    """A dataset with sessions ``0``, ``1``, .., each ending when its story does."""
    for number, story in enumerate(told):
        export_session(story.events, SessionFacts(str(number), end_us=story.time_us), folder)
    return DatasetFolder(folder)


def computed(spark: "SparkSession", dataset: DatasetFolder) -> list[Row]:
    """The job's rows by session and partition."""
    frame = commit_latency(Source(spark, dataset)).orderBy("session", "tp")
    assert tuple(frame.columns) == COMMIT_LATENCY.names
    return [row.asDict() for row in frame.collect()]


@settings(  # an example takes seconds: a few large ones, and no search for a smaller one that fails
    max_examples=2,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(st.lists(stories(steps_max=60), min_size=8, max_size=8))
def test_it_agrees_with_plain_python_on_random_sessions(
    spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory, told: list[Story]
) -> None:
    dataset = dataset_of(told, tmp_path_factory.mktemp("dataset"))
    expected = [
        row
        for number, story in enumerate(told)
        for row in expected_commit_latency(str(number), story.events, story.time_us)
    ]
    found = computed(spark, dataset)
    assert len(found) == len(expected)
    for row, wanted in zip(found, expected, strict=True):
        assert row == pytest.approx(wanted)


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
    assert (row["records"], row["committed"], row["commit_p50_us"]) == (0, 0, None)
    assert (row["online_us"], row["hw_lag_mean"], row["hw_lag_max"]) == (500, 0.0, 0)
