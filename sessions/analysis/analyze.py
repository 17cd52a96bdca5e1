"""Running the jobs over a dataset: each result as Parquet, and its worst rows for the terminal."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from msgspec import Struct

from sessions.analysis import commit_latency
from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Job
from sessions.analysis.source import Source, literal_path
from sessions.analysis.spark import spark_session
from sessions.dataset.folder import DatasetError, DatasetFolder
from sessions.report.page import Analysed, write_report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOBS: Final[tuple[Job, ...]] = (commit_latency.JOB,)
DAMAGED: Final = re.compile(r"FAILED_READ_FILE.*?file://(\S+?\.parquet)", re.DOTALL)
"""Where Spark names a file that it could not read."""
SHOWN_MAX: Final = 50
"""How many rows of a result are shown."""

Progress = Callable[[str], object]
"""Is told in a few words what begins now."""


class ReportTable(Struct, frozen=True):
    """A result for the terminal: its worst rows as plain values (None: no value).

    ``path`` is the folder of Parquet files with all of them.
    """

    name: str
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    rows_in_all: int
    path: Path


class AnalysisReport(Struct, frozen=True):
    """What an analysis found and where it put it; ``sessions``, ``events``: what it read."""

    dataset: Path
    out: Path
    sessions: int
    events: int
    tables: tuple[ReportTable, ...]


def analyze(
    dataset: str | os.PathLike[str],
    out: str | os.PathLike[str],
    master: str | None = None,
    remote: str | None = None,
    progress: Progress | None = None,
) -> AnalysisReport:
    """Run all jobs over a dataset; write their results to ``out/TABLE`` and ``out/report.html``.

    ``master`` is a Spark master's URL (None: this machine), ``remote`` a Spark Connect server's;
    both must see the two folders under the same paths. Raises
    :class:`~sessions.dataset.folder.DatasetError` for a dataset that cannot be read and
    :class:`~sessions.analysis.errors.AnalysisError` for everything else; ``out`` is then not there.
    """
    tell = progress or (lambda _: None)
    folder = _dataset(Path(dataset))
    with _new_folder(Path(out).absolute()) as scratch:
        tell("starting Spark")
        with spark_session(master, remote) as spark:
            report = run_jobs(spark, folder, scratch, Path(out).absolute(), tell)
        write_report(scratch, Analysed(folder.path, report.sessions, report.events))
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
    spark: "SparkSession", folder: DatasetFolder, scratch: Path, out: Path, tell: Progress
) -> AnalysisReport:
    """Run all jobs and write their results into ``scratch``, which will be called ``out``."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F

    try:
        source = Source(spark, folder)
        tables = []
        for job in JOBS:
            tell(job.title)
            tables.append(_run(spark, job, source, scratch / job.table.name, out))
        counts = source.sessions.agg(F.count("*"), F.coalesce(F.sum("events"), F.lit(0))).first()
    except (PySparkException, Py4JError) as error:
        raise AnalysisError(_sentence(error, folder.path)) from error
    sessions, events = counts or (0, 0)
    return AnalysisReport(folder.path, out, sessions, events, tuple(tables))


def _run(spark: "SparkSession", job: Job, source: Source, scratch: Path, out: Path) -> ReportTable:
    """Run one job, write its result, and read the rows to be shown from what was written."""
    from pyspark.sql import functions as F

    job.run(source).write.parquet(str(scratch))
    written = spark.read.parquet(literal_path(scratch))
    order = [
        *(F.col(name).desc_nulls_last() for name in job.worst),
        *(F.col(name) for name in job.ties),
    ]
    shown = [F.expr(column.value).alias(column.header) for column in job.shown]
    rows = written.orderBy(*order).select(*shown).limit(SHOWN_MAX).collect()
    return ReportTable(
        name=job.table.name,
        title=job.title,
        headers=tuple(column.header for column in job.shown),
        rows=tuple(tuple(row) for row in rows),
        rows_in_all=written.count(),
        path=out / job.table.name,
    )


def _sentence(error: Exception, path: Path) -> str:
    """Spark's complaint as one line; of a file that cannot be read it says the name."""
    text = str(error)
    file = DAMAGED.search(text)
    if file is not None:
        return f"{unquote(file[1])} is damaged; {path} cannot be analysed with it"
    return f"Spark could not finish: {text.strip().splitlines()[0]}"
