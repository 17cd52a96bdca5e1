"""All jobs, by name."""

from difflib import get_close_matches
from importlib import import_module
from typing import Final

from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Job
from sessions.analysis.names import MODULES

JOBS: Final[dict[str, Job]] = {name: import_module(module).JOB for name, module in MODULES.items()}
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
