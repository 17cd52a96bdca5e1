"""Every result of every job agrees with plain Python on random sessions of both modes.

``python -m benchmarks.agreement --sessions 60 --seed N`` compares more of them.
"""

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sessions.analysis.jobs import JOBS
from tests.sessions.analysis.both_modes import COMPARED, compare, told_of
from tests.sessions.analysis.test_agreement import cluster_told
from tests.sessions.analysis.without_zookeeper import check_known_answers, told_without_zookeeper
from tests.sessions.dataset.streams import Story, stories

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@settings(  # an example takes many seconds: a large one, and no search for smaller ones
    max_examples=2,  # the first one is the smallest
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(
    st.lists(st.integers(0, 100_000), min_size=6, max_size=6, unique=True),
    st.lists(stories(steps_max=40), min_size=4, max_size=4),
)
def test_every_job_agrees_on_random_sessions_of_both_modes(
    compiled_spark: "SparkSession",
    tmp_path_factory: pytest.TempPathFactory,
    seeds: list[int],
    invented: list[Story],
) -> None:
    if not any(story.batches for story in invented):
        return
    known = told_without_zookeeper()
    clusters = told_of(range(200, 204)) | {f"drawn-{seed}": cluster_told(seed) for seed in seeds}
    clusters["leaderless-after-a-loss"] = cluster_told(39_000)
    others = {str(i): (story.events, story.time_us) for i, story in enumerate(invented)}
    found = compare(clusters | known, tmp_path_factory.mktemp("agreement"), others)
    assert {row["mode"] for row in found["anomaly_counts"]} == {"zk", "kraft"}
    check_known_answers(known, found)


def test_every_result_is_compared() -> None:
    assert {result.table.name for job in JOBS.values() for result in job.results} == COMPARED
