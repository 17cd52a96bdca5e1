"""Running the jobs over a dataset: each result as Parquet, and its worst rows for the terminal."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from msgspec import Struct

from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Job, Result
from sessions.analysis.jobs import chosen
from sessions.analysis.results.reading import DOWN, UP, Results
from sessions.analysis.results.truth import REPLAY
from sessions.analysis.scheduling import run_side_by_side
from sessions.analysis.session import spark_session
from sessions.analysis.sizing import suited
from sessions.analysis.tables import Source
from sessions.dataset.layout import DatasetError, DatasetFolder, DatasetUnreadable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAMAGED: Final = re.compile(r"FAILED_READ_FILE.*?file://(\S+?\.parquet)", re.DOTALL)
"""Where Spark names a file that it could not read."""
FULL: Final = re.compile("No space left on device|Disk quota exceeded|File too large")
"""What the system says when nothing more can be written."""
SHOWN_MAX: Final = 50
"""How many rows of a result are shown."""

Progress = Callable[[str], object]
"""Is told in a few words what begins now."""
Beside = Callable[[Path, "AnalysisReport"], object]
"""Writes something more into the folder of results, which only then gets its name."""


class ReportTable(Struct, frozen=True):
    """A result for the terminal: its worst rows as plain values (None: no value).

    ``path`` is the folder of Parquet files with all of them; no headers: rows are not shown.
    """

    job: str
    name: str
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    rows_in_all: int
    path: Path


class AnalysisReport(Struct, frozen=True):
    """What an analysis found and where it put it; ``sessions``, ``events``: what it read.

    ``unlike``: in how many sessions the events do not build the state that was recorded (0 also if
    that was not asked).
    """

    dataset: Path
    out: Path
    sessions: int
    events: int
    tables: tuple[ReportTable, ...]
    unlike: int = 0


def analyze(
    dataset: str | os.PathLike[str],
    out: str | os.PathLike[str],
    master: str | None = None,
    remote: str | None = None,
    progress: Progress | None = None,
    jobs: tuple[str, ...] = (),
    *,
    beside: Beside | None = None,
) -> AnalysisReport:
    """Run jobs (all, if none is named) over a dataset; write results to ``out/TABLE``.

    ``master`` is a Spark master's URL (None: this machine), ``remote`` a Spark Connect server's;
    both must see the two folders under the same paths. Raises
    :class:`~sessions.dataset.layout.DatasetError` for a dataset that cannot be read and
    :class:`~sessions.analysis.errors.AnalysisError` for everything else; ``out`` is then not there.
    """
    tell = progress or (lambda _: None)
    wanted = chosen(jobs)
    folder = _dataset(Path(dataset))
    with _new_folder(Path(out).absolute()) as scratch:
        tell("starting Spark")
        with spark_session(master, remote) as spark, suited(spark, folder):
            report = run_jobs(spark, wanted, folder, (scratch, Path(out).absolute()), tell)
        if beside is not None:
            beside(scratch, report)
        return report


def _dataset(path: Path) -> DatasetFolder:
    """The dataset, if there is one with a session in it; leftovers in it are settled."""
    folder = DatasetFolder(path)
    if not folder.exists:
        raise DatasetError(f"{path} does not exist or is empty; export a session to it first")
    folder.settle()
    if not folder.sessions():
        raise DatasetError(f"there is no session in {path}; export one to it first")
    return folder


@contextlib.contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """A hidden folder beside ``out`` that takes its name when the block ends well, else goes."""
    if out.exists():
        raise AnalysisError(f"{out} exists already; choose a new folder for the results")
    made = [path for path in out.parents if not path.exists()]
    scratch = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        scratch.chmod(0o755)
        yield scratch
        scratch.rename(out)
    except BaseException as error:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        with contextlib.suppress(OSError):
            for path in made:
                path.rmdir()
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise AnalysisError(f"{out} could not be written: {reason}") from error
        raise


def run_jobs(
    spark: "SparkSession",
    jobs: Sequence[Job],
    folder: DatasetFolder,
    places: tuple[Path, Path],
    tell: Progress,
) -> AnalysisReport:
    """Run jobs; ``places`` are the folder to write to, and what it will be called."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    scratch, out = places
    source = Source(spark, folder, scratch)
    try:
        made = run_side_by_side(
            spark,
            jobs,
            lambda job: tell(f"{job.name}: {job.question}"),
            lambda job: [_run(job, result, source, places) for result in job.results],
        )
        counts = source.sessions.agg(F.count("*"), F.coalesce(F.sum("events"), F.lit(0))).first()
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise _explained(error, folder.path, out) from error
    finally:
        source.release()
    tables = tuple(table for tables in made for table in tables)
    sessions, events = counts or (0, 0)
    return AnalysisReport(folder.path, out, sessions, events, tables, _unlike(Results(scratch)))


def _unlike(results: Results) -> int:
    """In how many sessions the events do not build what was recorded."""
    import pyarrow.compute as pc

    return results.count(REPLAY, ~pc.field("equal")) if results.has(REPLAY) else 0


def _run(job: Job, result: Result, source: Source, places: tuple[Path, Path]) -> ReportTable:
    """Make one result and write it; the rows to be shown are read from what was written."""
    name = result.table.name
    result.run(source).write.parquet(str(places[0] / name))
    written = Results(places[0])
    order = (
        *((column, DOWN) for column in result.worst),
        *((column, UP) for column in result.ties),
    )
    rows = written.top(result.table, order, SHOWN_MAX) if result.shown else []
    return ReportTable(
        job=job.name,
        name=name,
        title=result.title,
        headers=tuple(column.header for column in result.shown),
        rows=tuple(tuple(column.of(row) for column in result.shown) for row in rows),
        rows_in_all=written.count(result.table),
        path=places[1] / name,
    )


def _explained(error: Exception, dataset: Path, out: Path) -> DatasetError | AnalysisError:
    """Spark's complaint as one line; of a file that cannot be read it says the name."""
    if isinstance(error, ConnectionError):
        return AnalysisError(f"Spark ended before it was done: {error.strerror or error}")
    text = str(error)
    file = DAMAGED.search(text)
    if file is not None:
        place = unquote(file[1])
        return DatasetUnreadable(f"{place} is damaged; {dataset} cannot be analysed with it")
    full = FULL.search(text)
    if full is not None:
        return AnalysisError(f"{out} could not be written: {full[0]}")
    return AnalysisError(f"Spark could not finish: {text.strip().splitlines()[0]}")
