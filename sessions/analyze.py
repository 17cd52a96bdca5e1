"""The full ``analyze``: the results of the jobs, and the page that shows them.

The page reads results, and jobs do not depend on it; this module combines the two.
"""

from collections.abc import Mapping
from pathlib import Path

from sessions.analysis import run
from sessions.analysis.run import AnalysisReport, Progress
from sessions.dataset.location import Location
from sessions.report.page import Analysed, write_report


def analyze(
    dataset: str | Path | Location,
    out: str | Path | Location,
    master: str | None = None,
    remote: str | None = None,
    progress: Progress | None = None,
    jobs: tuple[str, ...] = (),
    *,
    conf: Mapping[str, str] | None = None,
) -> AnalysisReport:
    """Run jobs over a dataset, as :func:`sessions.analysis.run.analyze` does, and write the page.

    ``out/report.html`` shows the results and is self-contained.
    """
    return run.analyze(dataset, out, master, remote, progress, jobs, conf, beside=_write_page)


def _write_page(results: Location, report: AnalysisReport) -> None:
    write_report(results, Analysed(report.dataset, report.sessions, report.events, report.remark))
