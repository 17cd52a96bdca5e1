"""Run the jobs over a dataset: each result as Parquet, and its worst rows for the terminal."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from msgspec import Struct
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sessions.analysis.added import AddedSessions, added_since, note_sessions, sessions_of
from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Job, Result
from sessions.analysis.jobs import chosen
from sessions.analysis.results.reading import DOWN, UP, Results, event_of
from sessions.analysis.results.truth import REPLAY
from sessions.analysis.scheduling import run_side_by_side
from sessions.analysis.session import hadoop_version, spark_session
from sessions.analysis.sizing import suited
from sessions.analysis.tables import DatasetTables
from sessions.dataset.layout import Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.location import Location, LocationError
from sessions.dataset.schema import SESSION
from sessions.decoding import DecodingError, decode_json
from sessions.file_system import delete_tree, move
from sessions.model.states import NO_SEED
from sessions.text import natural_list

DAMAGED: Final = re.compile(r"FAILED_READ_FILE.*?file://(\S+?\.parquet)", re.DOTALL)
"""Matches the file name in Spark's error for an unreadable file."""
FULL: Final = re.compile("No space left on device|Disk quota exceeded|File too large")
"""The system's error messages for a full disk."""
SHOWN_MAX: Final = 50
"""Number of rows of a result that are shown."""
NO_CONNECTOR: Final = re.compile(r"Class \S*S3AFileSystem not found|No FileSystem for scheme")
"""Hadoop's error for a URI whose scheme it does not support."""
NOTE: Final = "_analysis.json"
"""File in the results folder: the dataset that they describe."""
ANALYSED: Final = "_sessions"
"""Table in the results folder: the analysed sessions."""
NAMED_MAX: Final = 5
"""How many sessions a remark names."""
Progress = Callable[[str], object]
"""Called with a short description of each step as it starts."""
Beside = Callable[[Location, "AnalysisReport"], object]
"""Writes additional files into the results folder before it gets its final name."""


class ReportTable(Struct, frozen=True):
    """A result for the terminal: its worst rows as plain values (None: no value).

    ``path`` is the folder of Parquet files with all of them; without headers, no rows are shown.
    ``happened`` has the session of each row and the event at which it began, if it names one.
    """

    job: str
    name: str
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    rows_in_all: int
    path: Location
    happened: tuple[tuple[str, int] | None, ...] = ()


class AnalysisReport(Struct, frozen=True):
    """The findings of an analysis and where they are; ``sessions``, ``events``: what it read.

    ``unlike``: the number of sessions whose events do not rebuild the recorded state (also 0 if
    that was not checked). ``added``: how many sessions were added to an earlier analysis; None:
    there was none. ``observed`` names the sessions of real clusters, of which much is not known.
    """

    dataset: Location
    out: Location
    sessions: int
    events: int
    tables: tuple[ReportTable, ...]
    unlike: int = 0
    added: int | None = None
    observed: tuple[str, ...] = ()

    @property
    def remark(self) -> str:
        """A sentence about data that sessions of real clusters lack; empty if there are none."""
        if not self.observed:
            return ""
        count = len(self.observed)
        names = natural_list(self.observed)
        if count > NAMED_MAX:
            names = f"{count:,} sessions ({', '.join(self.observed[:NAMED_MAX])}, ..)"
        verb = "is a session" if count == 1 else "are sessions"
        return (
            f"{names} {verb} of a real cluster: what its clients did, ends of logs and high "
            "watermarks are not in it, so that latency, durability, anomalies and when a leader "
            "served are left out"
        )


class Note(Struct, frozen=True):
    """Metadata of a results folder."""

    dataset: str
    jobs: tuple[str, ...]


def analyze(  # noqa: PLR0917 - the last ones are given by name
    dataset: "str | Path | Location",
    out: "str | Path | Location",
    master: str | None = None,
    remote: str | None = None,
    progress: Progress | None = None,
    jobs: tuple[str, ...] = (),
    conf: Mapping[str, str] | None = None,
    *,
    beside: Beside | None = None,
) -> AnalysisReport:
    """Run jobs (all, if none is named) over a dataset; write results to ``out/TABLE``.

    If ``out`` contains an earlier analysis of the dataset, only the sessions added since are
    analysed; if one was removed or replaced since, all are analysed again. ``beside`` writes
    additional files beside the results.

    ``master`` is a Spark master's URL (None: this machine), ``remote`` a Spark Connect server's;
    both must see the two folders under the same paths. ``conf`` is Spark's configuration. Raises
    :class:`~sessions.dataset.layout.DatasetError` for a dataset that cannot be read and
    :class:`~sessions.analysis.errors.AnalysisError` for everything else; ``out`` is then unchanged.
    """
    tell = progress or (lambda _: None)
    source = _dataset(dataset)
    results_folder = _location(out)
    earlier = _earlier(results_folder, source, jobs)
    to_run = chosen(jobs or (() if earlier is None else earlier.jobs))
    with _new_results(results_folder, earlier) as results:
        sessions = sessions_of(source)
        added = None
        if earlier is not None and _has_results(results_folder, to_run):
            added = _added(source, sessions, results_folder / ANALYSED)
        commits = source.commits() if added is None else added.commits
        tell("starting Spark")
        with spark_session(master, remote, conf) as spark, suited(spark, commits):
            work = _Work(spark, source, results, results_folder, added)
            report = work.run(to_run, tell, sessions)
        note = Note(str(source), tuple(job.name for job in to_run))
        (results / NOTE).write(msgspec.json.encode(note) + b"\n")
        if beside is not None:
            beside(results, report)
    return report


def _dataset(location: "str | Path | Location") -> Dataset:
    """Open the dataset, which must have a session; recover what dead processes left behind."""
    dataset = Dataset(location)
    if not dataset.exists:
        raise DatasetError(f"{location} does not exist or is empty; export a session to it first")
    dataset.recover()
    dataset.require_whole()
    if not any(commit.sessions for commit in dataset.commits()):
        raise DatasetError(f"there is no session in {location}; export one to it first")
    return dataset


def _added(dataset: Dataset, sessions: Any, analysed: Location) -> AddedSessions | None:  # noqa: ANN401 - pyarrow has no types
    """Return the sessions added since the earlier analysis; None if one has changed or gone."""
    try:
        return added_since(dataset, sessions, analysed)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise AnalysisError(f"{analysed} could not be read: {reason}") from error


def _location(out: "str | Path | Location") -> Location:
    try:
        location = Location(out)
        return location if location.path is None else Location(location.path.absolute())
    except LocationError as error:
        raise AnalysisError(str(error)) from error


def _earlier(out: Location, dataset: Dataset, jobs: tuple[str, ...]) -> Note | None:
    """Return the metadata of an earlier analysis at ``out``; None if there is none.

    Raises :class:`AnalysisError` if ``out`` has something else that cannot be added to.
    """
    try:
        if not out.exists():
            return None
        if not (out / NOTE).exists():
            raise AnalysisError(f"{out} already exists; choose a new folder for the results")
        note = decode_json((out / NOTE).read(), Note)
    except LocationError as error:
        raise AnalysisError(str(error)) from error
    except (OSError, DecodingError) as error:
        raise AnalysisError(f"{out / NOTE} could not be read: {error}") from error
    if note.dataset != str(dataset):
        raise AnalysisError(f"{out} has the results of {note.dataset}; choose a new folder")
    if jobs and {job.name for job in chosen(jobs)} != set(note.jobs):
        raise AnalysisError(
            f"{out} has the results of other jobs ({', '.join(note.jobs)}); choose a new folder"
        )
    if out.path is None:
        raise AnalysisError(
            f"{out} already exists, and results can only be added to on this machine"
        )
    return note


def _has_results(out: Location, jobs: tuple[Job, ...]) -> bool:
    """Return whether an analysis has all results of its jobs; older programs had fewer."""
    return all((out / result.table.name).exists() for job in jobs for result in job.results)


@contextlib.contextmanager
def _new_results(out: Location, earlier: Note | None) -> Iterator[Location]:
    """Yield where to write results; they are at ``out`` if the block succeeds, or not at all.

    Locally that is a hidden folder beside ``out``, which is renamed. An object store has no
    rename: results are written in place, and deleted if something fails.
    """
    if out.path is None:
        try:
            yield out
        except BaseException:
            with contextlib.suppress(OSError):
                out.delete()
            raise
        return
    created = [path for path in out.path.parents if not path.exists()]
    scratch = None
    try:
        out.path.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{out.path.name}.", dir=out.path.parent))
        scratch.chmod(0o755)
        yield Location(scratch)
        if earlier is not None:
            _swap(out.path, scratch)
        else:
            move(scratch, out.path, inside=out.path.parent)
    except BaseException as error:
        if scratch is not None:
            with contextlib.suppress(OSError):
                delete_tree(scratch, inside=scratch.parent)
        with contextlib.suppress(OSError):
            for path in created:
                path.rmdir()
        if isinstance(error, OSError):
            reason = error.strerror or error
            raise AnalysisError(f"{out} could not be written: {reason}") from error
        raise


def _swap(out: Path, scratch: Path) -> None:
    """Replace earlier results with new ones and delete the old."""
    old = scratch.with_name(f"{scratch.name}.old")
    move(out, old, inside=out.parent)
    move(scratch, out, inside=out.parent)
    with contextlib.suppress(OSError):
        delete_tree(old, inside=out.parent)


class _Work:
    """One analysis: runs its jobs and collects their results.

    ``results`` is where they write, and ``out`` its final name; with ``added``, only these
    sessions are new to the analysis at ``out``.
    """

    def __init__(
        self,
        spark: SparkSession,
        dataset: Dataset,
        results: Location,
        out: Location,
        added: AddedSessions | None,
    ) -> None:
        self._spark = spark
        self._dataset = dataset
        self._results = results
        self._out = out
        self._added = added

    def run(self, jobs: tuple[Job, ...], tell: Progress, sessions: Any) -> AnalysisReport:  # noqa: ANN401 - pyarrow has no types
        """Run the jobs; ``sessions`` are those of the dataset."""
        from py4j.protocol import Py4JError

        only = self._added
        source = DatasetTables(self._spark, self._dataset, self._results, only)
        try:
            note_sessions(sessions, self._results / ANALYSED)
            tables_by_job = run_side_by_side(
                self._spark,
                jobs,
                lambda job: tell(f"{job.name}: {job.question}"),
                lambda job: [self._run(job, result, source) for result in job.results],
            )
        except (PySparkException, Py4JError, ConnectionError) as error:
            raise _explained(error, self._dataset, self._out) from error
        finally:
            with contextlib.suppress(OSError):
                source.release()
        tables = tuple(table for tables in tables_by_job for table in tables)
        events = sum(sessions["events"].to_pylist())
        added = None if only is None else len(only.sessions)
        unlike = _unlike(Results(self._results))
        where = self._dataset.location
        seeds = zip(sessions[SESSION].to_pylist(), sessions["seed"].to_pylist(), strict=True)
        observed = tuple(sorted(name for name, seed in seeds if seed == NO_SEED))
        return AnalysisReport(
            where, self._out, len(sessions), events, tables, unlike, added, observed
        )

    def _keep_earlier(self, name: str) -> None:
        """Copy the rows of an earlier result to the new one."""
        assert self._out.path is not None
        assert self._results.path is not None
        shutil.copytree(
            self._out.path / name,
            self._results.path / name,
            ignore=shutil.ignore_patterns("*_SUCCESS*"),
            copy_function=os.link,
            dirs_exist_ok=True,
        )

    def _run(self, job: Job, result: Result, source: DatasetTables) -> ReportTable:
        """Make and write one result; the rows to show are read from what was written."""
        name = result.table.name
        across = SESSION not in result.table.names
        tables = source.everything if across else source
        tables.write(result.table, result.run(tables))
        if self._added is not None and not across:
            self._keep_earlier(name)
        stored = Results(self._results)
        order = (
            *((column, DOWN) for column in result.worst),
            *((column, UP) for column in result.ties),
        )
        column_names = [name for column in result.shown for name in column.columns]
        worst = stored.top(result.table, order, SHOWN_MAX) if result.shown else []
        return ReportTable(
            job=job.name,
            name=name,
            title=result.title,
            headers=tuple(column.header for column in result.shown),
            rows=tuple(tuple(column.of(row) for column in result.shown) for row in worst),
            rows_in_all=stored.count(result.table),
            path=self._out / name,
            happened=tuple(event_of(result.table, column_names, row) for row in worst),
        )


def _unlike(results: Results) -> int:
    """Return the number of sessions whose events do not rebuild the recorded state."""
    import pyarrow.compute as pc

    return results.count(REPLAY, ~pc.field("equal")) if results.has(REPLAY) else 0


def _explained(error: Exception, dataset: Dataset, out: Location) -> DatasetError | AnalysisError:
    """Convert Spark's error to one line; name the file if one cannot be read."""
    if isinstance(error, ConnectionError):
        return AnalysisError(f"Spark ended before it was done: {error.strerror or error}")
    text = str(error)
    file = DAMAGED.search(text)
    if file is not None:
        file_name = unquote(file[1])
        return DatasetUnreadable(f"{file_name} is damaged; {dataset} cannot be analysed with it")
    full = FULL.search(text)
    if full is not None:
        return AnalysisError(f"{out} could not be written: {full[0]}")
    if NO_CONNECTOR.search(text):
        return AnalysisError(
            f"Spark lacks the code for {dataset.location} or {out}: for s3a, give --conf "
            f"spark.jars.packages=org.apache.hadoop:hadoop-aws:{hadoop_version()}"
        )
    return AnalysisError(f"Spark could not finish: {text.strip().splitlines()[0]}")
