"""Running the Spark jobs for the terminal: their tables as text, their errors as sentences."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from commands import output
from commands.exits import CommandError, ExitCode
from commands.grids import Cell, Grid

if TYPE_CHECKING:
    from sessions.analysis.analyze import AnalysisReport


def analysis(
    dataset: str,
    out: str,
    master: str | None,
    remote: str | None,
    tell: Callable[[str], None] = output.narrate,
) -> list[Grid]:
    """The results of all jobs over a dataset; ``tell`` is told what is being done.

    Raises:
        CommandError: no Java, no Spark, no dataset, or Spark failed.
    """
    from sessions.analysis.errors import AnalysisError
    from sessions.dataset.folder import DatasetError, DatasetUnreadable

    try:
        from sessions.analysis.analyze import analyze

        report = analyze(dataset, out, master, remote, tell)
    except ImportError as error:
        message = f"analysis needs the 'spark' extra (pip install 'tidegauge[spark]'): {error}"
        raise CommandError(ExitCode.UNREACHABLE, message) from None
    except DatasetUnreadable as error:
        raise CommandError(ExitCode.BAD_SESSION, str(error)) from None
    except (AnalysisError, DatasetError) as error:
        raise CommandError(ExitCode.UNREACHABLE, str(error)) from None
    return tables(report)


def tables(report: "AnalysisReport") -> list[Grid]:
    """Every result's worst rows, with what was read and where all rows are."""
    summary: list[tuple[Cell, ...]] = [(report.sessions, report.events, str(report.out))]
    found = [Grid(f"analysis of {report.dataset}", ("SESSIONS", "EVENTS", "RESULTS"), summary)]
    for table in report.tables:
        rows = [tuple(_cell(value) for value in row) for row in table.rows]
        shown = f"{len(rows)} of {table.rows_in_all:,} rows"
        found.append(Grid(f"{table.title} ({shown})", table.headers, rows))
    return found


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, int | str):
        return value
    return f"{value:.3f}" if isinstance(value, float) else str(value)
