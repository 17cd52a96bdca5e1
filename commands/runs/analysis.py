"""Run the Spark jobs for the terminal: their tables as text, their errors as sentences."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commands.exits import CommandError, ExitCode
from commands.output import streams
from commands.output.grids import Cell, Grid, lines
from console.model.library import Finding
from emulator.common.extras import missing_extra

if TYPE_CHECKING:
    from sessions.analysis.run import AnalysisReport
    from sessions.dataset.location import Location


def analysis(
    dataset: str,
    out: str,
    master: str | None,
    remote: str | None,
    jobs: tuple[str, ...] = (),
    conf: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = streams.narrate,
) -> "AnalysisReport":
    """Run jobs (all if none is named) over a dataset; report progress to ``tell``.

    Raises:
        CommandError: no such job, no Java, no Spark, no dataset, or Spark failed.
    """
    from sessions.analysis.errors import AnalysisError
    from sessions.analysis.names import NAMES
    from sessions.dataset.layout import DatasetError, DatasetUnreadable

    for job in jobs:
        if job not in NAMES:
            near = get_close_matches(job, NAMES, n=1, cutoff=0)
            message = f"there is no job {job!r}; the nearest is {near[0]!r} of {', '.join(NAMES)}"
            raise CommandError(ExitCode.USAGE, message)
    try:
        from sessions.analyze import analyze
        from sessions.report.page import NAME

        report = analyze(dataset, out, master, remote, tell, jobs, conf=conf)
        tell(f"all of it as a page: {report.out / NAME}")
    except ImportError as error:
        message = missing_extra("analysis", f"PySpark ({error})", "spark")
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    except DatasetUnreadable as error:
        raise CommandError(ExitCode.BAD_SESSION, str(error)) from None
    except (AnalysisError, DatasetError) as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    return report


def tables(report: "AnalysisReport") -> list[Grid]:
    """Return the worst rows of every result, with what was read and where all rows are."""
    summary: list[tuple[Cell, ...]] = [(report.sessions, report.events, str(report.out))]
    grids = [Grid(f"analysis of {report.dataset}", ("SESSIONS", "EVENTS", "RESULTS"), summary)]
    for table in report.tables:
        if table.headers:
            rows = [tuple(_cell(value) for value in row) for row in table.rows]
            count_text = f"{len(rows)} of {table.rows_in_all:,} rows"
            grids.append(Grid(f"{table.title} ({count_text})", table.headers, rows, empty=""))
    return grids


def findings(report: "AnalysisReport") -> list[Finding]:
    """Return the same line by line, each row with the recording and the event that it is about."""
    paths = _recordings(report.dataset)
    listed: list[Finding] = []
    happened = [(), *(table.happened for table in report.tables if table.headers)]
    for grid, events in zip(tables(report), happened, strict=True):
        if listed:
            listed.append(Finding(""))
        title, *rest = lines(grid)
        listed.append(Finding(title))
        if rest:
            listed.append(Finding(rest[0]))
            for text, event in zip_longest(rest[1:], events):
                path = None if event is None else paths.get(event[0])
                listed.append(Finding(text, path, 0 if event is None else event[1]))
    return listed


def _recordings(dataset: "Location") -> dict[str, Path]:
    """Return the existing files from which the sessions of a dataset were exported."""
    from sessions.dataset.layout import Dataset
    from sessions.dataset.schema import SESSION
    from sessions.dataset.tables import SESSIONS

    rows = Dataset(dataset).scan(SESSIONS, [SESSION, "path"]).to_pylist()
    paths = {row[SESSION]: Path(row["path"]) for row in rows if row["path"]}
    return {session: path for session, path in paths.items() if path.is_file()}


def plain(report: "AnalysisReport") -> dict[str, Any]:
    """Return the same as one object: what was read, and each result's folder and worst rows."""
    return {
        "dataset": str(report.dataset),
        "out": str(report.out),
        "sessions": report.sessions,
        "events": report.events,
        "left_out": report.remark,
        "results": {
            table.name: {
                "job": table.job,
                "title": table.title,
                "path": str(table.path),
                "rows": table.rows_in_all,
                "worst": [
                    dict(zip(map(_key, table.headers), row, strict=True)) for row in table.rows
                ],
            }
            for table in report.tables
        },
    }


def _key(header: str) -> str:
    return header.lower().replace(" ", "_")


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, int | str):
        return value
    return f"{value:.3f}" if isinstance(value, float) else str(value)
