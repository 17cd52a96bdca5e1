"""The whole of ``analyze``: the results of the jobs, and the page that shows them.

The page reads results, and no job knows of it; so the two meet here, above both.
"""

import os
from pathlib import Path

from sessions.analysis import run
from sessions.analysis.run import AnalysisReport, Progress
from sessions.report.page import Analysed, write_report


def analyze(
    dataset: str | os.PathLike[str],
    out: str | os.PathLike[str],
    master: str | None = None,
    remote: str | None = None,
    progress: Progress | None = None,
    jobs: tuple[str, ...] = (),
) -> AnalysisReport:
    """Run jobs over a dataset, as :func:`sessions.analysis.run.analyze` does, and write the page.

    ``out/report.html`` shows the results and needs nothing else.
    """
    return run.analyze(dataset, out, master, remote, progress, jobs, beside=_write_page)


def _write_page(results: Path, report: AnalysisReport) -> None:
    write_report(results, Analysed(report.dataset, report.sessions, report.events))
