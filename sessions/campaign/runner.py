"""A whole campaign: start or resume it on Spark, monitor it, stop it gracefully, summarize it."""

import contextlib
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from types import FrameType
from typing import Final
from uuid import uuid4

import msgspec
from msgspec import Struct
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from sessions.analysis.session import spark_session
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.outcome import CampaignReport, ShrunkRun
from sessions.campaign.plan import Plan
from sessions.campaign.shipping import NEEDED, packages_zip
from sessions.campaign.shrink import ShrinkTask, Shrunk, shrink_batches
from sessions.campaign.summary import all_runs, summed_up
from sessions.campaign.worker import Task, encoded, named_runs, run_batches
from sessions.dataset.layout import STAGING, Dataset
from sessions.dataset.location import Location
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import RUNS

TASKS_MAX: Final = 64
"""Maximum number of tasks of a campaign, unless more can run at once.

Each writes a file for each table, so there are few; they finish at about the same time.
"""
TASKS_A_CORE: Final = 4
RUNS_A_TASK: Final = 50
NAMED_A_TASK: Final = 50_000
"""Number of runs that a task names, which takes very little time."""
GROUP: Final = "tidegauge campaign"
LOOK_S: Final = 0.25
"""Interval between progress updates."""
STOP_MAX_S: Final = 10.0
"""How long to wait for cancelled workers."""
RAISED: Final = re.compile(r"^(?:[\w.]+\.)?(DatasetError|DatasetUnreadable): (.*)$", re.MULTILINE)
MISSING: Final = re.compile(r"^ModuleNotFoundError: (.*)$", re.MULTILINE)
ENDING: Final = (signal.SIGINT, signal.SIGTERM)


class CampaignError(Exception):
    """A campaign cannot continue. ``str()`` is one sentence with the cause."""


class Progress(Struct, frozen=True):
    """Progress: all runs, and the number that has ended according to Spark's tasks."""

    runs: int
    done: int


Tell = Callable[[Progress], object]
"""Called periodically, first when the work starts."""


def run_campaign(  # noqa: PLR0917 - the last ones are given by name
    plan: Plan,
    dataset: "Location | Path | str",
    limit_s: float,
    master: str | None = None,
    remote: str | None = None,
    tell: Tell = lambda _: None,
    conf: Mapping[str, str] | None = None,
    *,
    shrink: bool = False,
) -> CampaignReport:
    """Execute all runs of a campaign that are not in the dataset yet, and summarize all of them.

    An existing campaign grows by the seeds and combinations of ``plan`` that it lacks. With
    ``shrink``, the first of the runs worth looking at are reduced to the statements that matter.
    ``limit_s`` is the wall-clock time of each run; ``master``, ``remote`` and ``conf`` are those of
    :func:`sessions.analysis.run.analyze`. After an error or an interrupt, what was committed stays,
    and the same call resumes the campaign.

    Raises:
        DatasetError: the folder cannot be used.
        AnalysisError: Spark is not available.
        CampaignError: workers fail.
        KeyboardInterrupt: ctrl-c or SIGTERM.
    """
    into = Dataset(dataset)
    if into.location.path is not None:
        into = Dataset(into.location.path.absolute())
    folder = CampaignFolder(into.location)
    folder.check(plan)
    try:
        with interruptible(), spark_session(master, remote, conf) as spark, interruptible():
            whole = folder.begin(plan)
            into = Dataset(into.location)
            with folder.locked():
                into.recover()
                task = Task(whole, str(into), limit_s, uuid4().hex)
                _make_runs(spark, task, into, tell)
                report = summed_up(spark, whole, into)
                if shrink and report.failing:
                    report = _shrunk(spark, whole, report, folder, limit_s)
                return report
    finally:
        _tidy(into)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Make ctrl-c and SIGTERM raise KeyboardInterrupt, whatever handlers Spark has installed."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_runs(spark: SparkSession, task: Task, dataset: Dataset, tell: Tell) -> None:
    """Execute the missing runs on the workers."""
    with (
        tempfile.TemporaryDirectory(prefix="tidegauge-code-") as scratch,
        ThreadPoolExecutor(1, "campaign") as pool,
    ):
        spark.addArtifacts(str(packages_zip(Path(scratch))), pyfile=True)
        missing = _missing(spark, task, dataset)
        count = missing.count()
        if not count:
            return
        tasks = _tasks(spark, count)
        watch = _Watch(spark, task.plan.runs, count, tasks)
        job = pool.submit(watch.run, _executed(missing, tasks, task))
        try:
            watch.until_done(job, tell)
        except KeyboardInterrupt:
            with contextlib.suppress(Exception):
                spark.interruptAll()
            with contextlib.suppress(Exception):
                job.result(STOP_MAX_S)
            raise


def _missing(spark: SparkSession, task: Task, dataset: Dataset) -> DataFrame:
    """Return number and session of runs that have not ended, or that hung under a shorter limit."""
    runs = task.plan.runs
    numbers = spark.range(0, runs, 1, -(-runs // NAMED_A_TASK))
    with_ids = numbers.mapInArrow(
        partial(named_runs, encoded(task)), f"run BIGINT, {SESSION} STRING"
    )
    if not dataset.has(RUNS):
        return with_ids
    again = f"outcome = 'hung' and limit_s < {task.limit_s!r}"
    ended = all_runs(spark, dataset).where(f"not ({again})").select(SESSION)
    return with_ids.join(ended, SESSION, "left_anti").select("run", SESSION)


def _tasks(spark: SparkSession, runs: int) -> int:
    few = TASKS_A_CORE * _cores(spark)
    return max(1, min(runs, max(few, min(TASKS_MAX, -(-runs // RUNS_A_TASK)))))


def _cores(spark: SparkSession) -> int:
    """Return the number of concurrent tasks; 1 if Spark Connect does not report it."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:
        return 1


def _executed(missing: DataFrame, tasks: int, task: Task) -> DataFrame:
    """Return the executed runs; a task takes those of some sessions, in the order of their ids."""
    in_order = missing.repartitionByRange(tasks, SESSION).sortWithinPartitions(SESSION)
    return in_order.mapInArrow(partial(run_batches, encoded(task)), "runs BIGINT")


def _shrunk(
    spark: SparkSession,
    plan: Plan,
    report: CampaignReport,
    folder: CampaignFolder,
    limit_s: float,
) -> CampaignReport:
    """Reduce the runs that the report names, each in its own task, and store their scripts."""
    numbers = [plan.number_of(run.session) for run in report.failing]
    task = msgspec.msgpack.encode(ShrinkTask(plan, limit_s))
    with tempfile.TemporaryDirectory(prefix="tidegauge-code-") as scratch:
        spark.addArtifacts(str(packages_zip(Path(scratch))), pyfile=True)
        runs = spark.createDataFrame([(number,) for number in numbers], "run BIGINT")
        spread = runs.repartition(len(numbers), "run")
        rows = spread.mapInArrow(partial(shrink_batches, task), "shrunk STRING").collect()
    shrunk_runs = [msgspec.json.decode(row["shrunk"], type=Shrunk) for row in rows]
    stored = [
        ShrunkRun(
            shrunk.session,
            shrunk.finding,
            shrunk.statements,
            shrunk.left,
            folder.keep_script(folder.shrunk, shrunk.session, shrunk.script),
        )
        for shrunk in sorted(shrunk_runs, key=lambda shrunk: (shrunk.left, shrunk.session))
    ]
    return msgspec.structs.replace(report, shrunk=tuple(stored))


class _Watch:
    """Reports the progress of a campaign from the state of Spark's tasks."""

    def __init__(self, spark: SparkSession, runs: int, missing: int, tasks: int) -> None:
        self._spark = spark
        self._runs = runs
        self._missing = missing
        self._tasks = tasks
        self._group = f"{GROUP} {uuid4().hex}"

    def run(self, executed: DataFrame) -> None:
        context = self._context()
        if context is not None:
            context.setJobGroup(self._group, "runs of a campaign", interruptOnCancel=True)
        executed.agg({"runs": "sum"}).collect()

    def until_done(self, job: "Future[None]", tell: Tell) -> None:
        """Report progress until the job has ended."""
        while True:
            tell(Progress(self._runs, self._runs - self._missing + self._done()))
            try:
                job.result(LOOK_S)
            except NotYet:
                continue
            except Exception as error:
                raise CampaignError(sentence(error)) from error
            tell(Progress(self._runs, self._runs))
            return

    def _context(self) -> SparkContext | None:
        """Return the Spark context; Spark Connect has none."""
        try:
            return self._spark.sparkContext
        except Exception:
            return None

    def _done(self) -> int:
        """Estimate the number of finished runs from the number of finished tasks."""
        context = self._context()
        if context is None:
            return 0
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(self._group)]
        stages = {stage for job in jobs if job for stage in job.stageIds}
        for stage in sorted(stages, reverse=True):
            info = tracker.getStageInfo(stage)
            if info is not None and info.numTasks == self._tasks:
                return self._missing * info.numCompletedTasks // self._tasks
        return 0


def sentence(error: Exception) -> str:
    """Return a worker's or Spark's error as one line."""
    text = str(error)
    if match := RAISED.search(text):
        return match[2]
    if match := MISSING.search(text):
        return f"a worker lacks a module ({match[1]}); workers need {NEEDED}"
    return f"Spark could not finish: {text.strip().splitlines()[0]}"


def _tidy(dataset: Dataset) -> None:
    """Remove the files of interrupted runs; their processes may take a moment to exit."""
    deadline = monotonic() + STOP_MAX_S
    with contextlib.suppress(Exception):
        dataset.recover()
        while (dataset.location / STAGING).listed() and monotonic() < deadline:
            sleep(LOOK_S)
            dataset.recover()
