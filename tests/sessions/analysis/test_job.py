"""Every job is declared whole: its table, how it is shown, and by what its worst rows are known."""

import pytest

from sessions.analysis.commit_latency import JOB as COMMIT_LATENCY
from sessions.analysis.job import Job


@pytest.mark.parametrize("job", [COMMIT_LATENCY], ids=lambda job: job.table.name)
def test_a_job_says_what_it_shows_and_in_which_order(job: Job) -> None:
    columns = {column.name for column in job.table.columns}
    assert job.title
    assert job.shown
    assert set(job.worst) <= columns
    assert set(job.ties) <= columns
