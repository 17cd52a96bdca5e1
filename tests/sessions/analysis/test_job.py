"""Every job is declared whole: its tables, how they are shown, by what worst rows are known."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Result, answered, in_ms, rounded, shown
from sessions.analysis.jobs import JOBS, chosen
from sessions.analysis.names import NAMES
from sessions.analysis.tables import DatasetTables
from sessions.child_process import environment, python_command
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.location import Location
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import Table
from tests.sessions.analysis.test_agreement import cluster_told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RESULTS = [result for job in JOBS.values() for result in job.results]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.table.name)
def test_a_result_says_what_it_shows_and_in_which_order(result: Result) -> None:
    columns = set(result.table.names)
    assert result.title
    assert set(result.worst) <= columns
    assert set(result.ties) <= columns
    for each in result.shown:
        assert set(each.columns) <= columns


def test_headers_and_times_are_written_shortly() -> None:
    time, ratio, truth, plain = shown(
        p50_ms=in_ms("total_p50_us"), of=rounded("ratio", 1), good=answered("fine"), name="name"
    )
    assert [each.header for each in (time, ratio, truth, plain)] == ["p50 ms", "of", "good", "name"]
    row = {"total_p50_us": 1_234_567, "ratio": 0.25, "fine": False, "name": "x"}
    assert [each.of(row) for each in (time, ratio, truth, plain)] == [1234.567, 0.2, "no", "x"]
    assert time.of({"total_p50_us": None}) is None


def test_all_jobs_run_unless_some_are_named() -> None:
    assert [job.name for job in chosen(())] == list(JOBS)
    assert [job.name for job in chosen(("replay", "isr", "replay"))] == ["isr", "replay"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("failovers", "did you mean 'failover'"), ("xyz", "there are availability,")],
)
def test_a_job_that_does_not_exist_is_refused(name: str, meant: str) -> None:
    with pytest.raises(AnalysisError, match=f"there is no job '{name}'; {meant}"):
        chosen((name,))


def test_the_names_are_known_without_spark() -> None:
    assert list(NAMES) == list(JOBS)
    code = (
        "import sys, commands.cli.analyze, commands.cli.campaign, commands.runs.analysis,"
        "sessions.analysis.names, sessions.analysis.session, sessions.report.page\n"
        "assert not [name for name in sys.modules if name.startswith('pyspark')]"
    )
    subprocess.run(python_command("-c", code), env=environment(), check=True)


class _Without(DatasetTables):
    """Tables of a dataset, of which one is empty, and so are all results."""

    def __init__(self, spark: "SparkSession", folder: Path, result: Result) -> None:
        super().__init__(spark, Dataset(folder / "dataset"), Location(folder / result.table.name))
        self._without = result.of

    def table(self, table: Table) -> "DataFrame":
        """Return a table."""
        return self._empty(table) if table == self._without else super().table(table)

    def result(self, table: Table) -> "DataFrame":
        """Return no rows."""
        return self._empty(table)


@pytest.mark.spark
def test_a_result_has_no_rows_without_those_that_it_is_of(
    spark: "SparkSession", tmp_path: Path
) -> None:
    for seed in (3, 4):
        events, end_us = cluster_told(seed)
        export_session(events, SessionFacts(f"s{seed}", end_us=end_us), tmp_path / "dataset")
    made = [result for result in RESULTS if result.of is not None]
    assert made
    for result in made:
        assert result.run(_Without(spark, tmp_path, result)).count() == 0, result.table.name
