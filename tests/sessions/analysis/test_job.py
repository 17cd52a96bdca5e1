"""Every job is declared whole: its tables, how they are shown, by what worst rows are known."""

import subprocess

import pytest

from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Result, answered, in_ms, rounded, shown
from sessions.analysis.jobs import JOBS, chosen
from sessions.analysis.names import NAMES
from sessions.child_process import environment, python_command

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
