"""A whole campaign: begun or gone on with on Spark, watched, stopped in order, and summed up."""

import contextlib
import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from types import FrameType
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from msgspec import Struct

from sessions.analysis.session import spark_session
from sessions.campaign.manifest import Ledger
from sessions.campaign.outcome import CampaignReport
from sessions.campaign.plan import Plan
from sessions.campaign.runs import runs_schema
from sessions.campaign.shipping import NEEDED, packages_zip
from sessions.campaign.summary import summed_up
from sessions.campaign.worker import Task, encoded, run_batches
from sessions.dataset.layout import HIDDEN, DatasetFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_MIN: Final = 64
"""Into how many tasks a campaign is divided if it has the runs: workers shall end together."""
RUNS_A_TASK: Final = 50
LOOK_S: Final = 0.25
"""Between two looks at how far a campaign has come."""
STOP_MAX_S: Final = 10.0
"""How long workers that were told to stop are waited for."""
RAISED: Final = re.compile(r"^(?:[\w.]+\.)?(DatasetError|DatasetUnreadable): (.*)$", re.MULTILINE)
MISSING: Final = re.compile(r"^ModuleNotFoundError: (.*)$", re.MULTILINE)
ENDING: Final = (signal.SIGINT, signal.SIGTERM)


class CampaignError(Exception):
    """A campaign cannot go on. ``str()`` is one sentence with the cause."""


class Progress(Struct, frozen=True):
    """How far it has come: runs that have ended, and of these, those that raised or hung."""

    runs: int
    done: int
    raised: int


Tell = Callable[[Progress], object]
"""Is told now and then, first when the work begins."""


def run_campaign(
    plan: Plan,
    dataset: Path,
    limit_s: float,
    master: str | None = None,
    remote: str | None = None,
    tell: Tell = lambda _: None,
) -> CampaignReport:
    """Make all runs of a campaign that are not in the dataset yet, and sum all of them up.

    ``limit_s`` is wall time for each run; ``master`` and ``remote`` are as in
    :func:`sessions.analysis.run.analyze`. Raises
    :class:`~sessions.dataset.layout.DatasetError` for a folder that cannot be used,
    :class:`~sessions.analysis.errors.AnalysisError` if there is no Spark, :class:`CampaignError`
    if workers fail, and KeyboardInterrupt when it is told to end (also by SIGTERM). What was made
    until then stays, and the same call goes on from there.
    """
    dataset = dataset.absolute()
    ledger = Ledger(dataset)
    ledger.check(plan)
    try:
        with interruptible(), spark_session(master, remote) as spark, interruptible():
            ledger.begin(plan)
            with ledger.locked():
                DatasetFolder(dataset).settle()
                if not ledger.complete:
                    task = Task(plan, str(dataset), limit_s, uuid4().hex)
                    _make_runs(spark, task, ledger, tell)
                return summed_up(spark, plan, ledger)
    finally:
        _tidy(dataset)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-c and SIGTERM raise KeyboardInterrupt, whatever Spark has made of them."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_runs(spark: "SparkSession", task: Task, ledger: Ledger, tell: Tell) -> None:
    """Have the workers make what is missing, and write the table of all runs."""
    with (
        tempfile.TemporaryDirectory(prefix="tidegauge-code-") as scratch,
        ThreadPoolExecutor(1, "campaign") as pool,
    ):
        spark.addArtifacts(str(packages_zip(Path(scratch))), pyfile=True)
        job = pool.submit(_job, spark, task, ledger.runs)
        try:
            _watch(job, task.plan, ledger, tell)
        except KeyboardInterrupt:
            with contextlib.suppress(Exception):
                spark.interruptAll()
            with contextlib.suppress(Exception):
                job.result(STOP_MAX_S)
            raise


def _job(spark: "SparkSession", task: Task, out: Path) -> None:
    """One Spark job: a task takes some runs, and gives their rows."""
    runs = task.plan.runs
    tasks = min(runs, max(TASKS_MIN, -(-runs // RUNS_A_TASK)))
    numbers = spark.range(0, runs, 1, tasks)
    rows = numbers.mapInArrow(partial(run_batches, encoded(task)), runs_schema())
    in_order = rows.repartition(1).sortWithinPartitions("run")
    in_order.write.mode("overwrite").parquet(str(out))


def _watch(job: "Future[None]", plan: Plan, ledger: Ledger, tell: Tell) -> None:
    """Tell how far it has come until it has ended."""
    while True:
        tell(_progress(plan, ledger))
        try:
            return job.result(LOOK_S)
        except NotYet:
            continue
        except Exception as error:
            raise CampaignError(_sentence(error)) from error


def _progress(plan: Plan, ledger: Ledger) -> Progress:
    """Counted in the dataset itself: each run that has ended is seen there at once."""
    raised = ledger.failures()
    return Progress(plan.runs, min(plan.runs, ledger.made() + raised), raised)


def _sentence(error: Exception) -> str:
    """What went wrong on a worker or in Spark, as one line."""
    text = str(error)
    if found := RAISED.search(text):
        return found[2]
    if found := MISSING.search(text):
        return f"a worker lacks a module ({found[1]}); workers need {NEEDED}"
    return f"Spark could not finish: {text.strip().splitlines()[0]}"


def _tidy(dataset: Path) -> None:
    """Drop what runs that were broken off have left; their processes may take a moment to end."""
    deadline = monotonic() + STOP_MAX_S
    with contextlib.suppress(Exception):
        folder = DatasetFolder(dataset)
        folder.settle()
        while any(dataset.glob(f"{HIDDEN}*")) and monotonic() < deadline:
            sleep(LOOK_S)
            folder.settle()
