"""Every result of every job agrees with plain Python on random sessions of both modes.

``python -m benchmarks.agreement --sessions 60 --seed N`` compares more of them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.analysis.jobs import JOBS
from tests.sessions.analysis.both_modes import COMPARED, compare, told_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_every_job_agrees_on_random_sessions_of_both_modes(
    compiled_spark: "SparkSession", tmp_path: Path
) -> None:
    found = compare(told_of(range(200, 204)), tmp_path)
    assert {row["mode"] for row in found["anomaly_counts"]} == {"zk", "kraft"}


def test_every_result_is_compared() -> None:
    assert {result.table.name for job in JOBS.values() for result in job.results} == COMPARED
