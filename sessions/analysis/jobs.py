"""All jobs, by name."""

from difflib import get_close_matches
from typing import Final

from sessions.analysis import (
    anomalies,
    availability,
    controller_work,
    durability,
    failover,
    isr_churn,
    latency,
    leader_balance,
    quorum,
    replay,
)
from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Job

JOBS: Final[dict[str, Job]] = {
    job.name: job
    for job in (
        availability.JOB,
        failover.JOB,
        latency.JOB,
        isr_churn.JOB,
        durability.JOB,
        leader_balance.JOB,
        controller_work.JOB,
        quorum.JOB,
        anomalies.JOB,
        replay.JOB,
    )
}
"""Every job, in the order in which they run and are documented."""


def chosen(names: tuple[str, ...]) -> tuple[Job, ...]:
    """Return the jobs of these names, or all if none is given, without duplicates, in job order.

    Raises :class:`AnalysisError` for an unknown name.
    """
    for name in names:
        if name not in JOBS:
            near = get_close_matches(name, JOBS, n=1)
            meant = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(JOBS)}"
            raise AnalysisError(f"there is no job {name!r}{meant}")
    return tuple(job for name, job in JOBS.items() if not names or name in names)
