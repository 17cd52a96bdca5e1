"""Runs the cases of a rehearsal on Spark: each trial is a task.

A worker's process starts the cluster once, and runs its trials on copies of it. It needs what a
campaign's does: the code is shipped with the job.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import zstandard
from msgspec import Struct

from emulator.inputs.statements import CreateCluster
from sessions.analysis.session import spark_session
from sessions.campaign.shipping import packages_zip
from sessions.rehearsal.runs import Order, Progress, Rehearsal, RunTrials, Trial

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

RESULT: Final = "trial BIGINT, outcome BINARY"
"""The number of a trial, and its encoded and compressed outcome."""
GROUP: Final = "tidegauge rehearse"
LOOK_S: Final = 0.25
"""Interval between looks at how far Spark is."""


class Task(Struct, frozen=True):
    """The input of every worker; the image in ``spec`` is complete."""

    spec: CreateCluster
    trials: tuple[Trial, ...]


def on_spark(spec: CreateCluster, master: str | None, conf: Mapping[str, str]) -> RunTrials:
    """Run trials of the cluster of ``spec``, whose image is complete, with a Spark master.

    The function raises :class:`~sessions.analysis.errors.AnalysisError` if Spark is unavailable.
    """

    def run(trials: Sequence[Trial], progress: Progress) -> list[Order]:
        if not trials:
            return []
        task = zstandard.compress(msgspec.msgpack.encode(Task(spec, tuple(trials))))
        with (
            spark_session(master, conf=conf) as spark,
            tempfile.TemporaryDirectory(prefix="tidegauge-code-") as scratch,
        ):
            spark.addArtifacts(str(packages_zip(Path(scratch))), pyfile=True)
            numbers = spark.range(0, len(trials), 1, len(trials))
            orders = _collected(
                spark, numbers.mapInArrow(partial(run_batches, task), RESULT), progress
            )
        return [orders[number] for number in range(len(trials))]

    return run


def _collected(spark: "SparkSession", rows: "DataFrame", progress: Progress) -> dict[int, Order]:
    """Collect the outcomes by the number of their trial, and tell how many tasks are done."""
    context = spark.sparkContext

    def collect() -> dict[int, Order]:
        context.setJobGroup(GROUP, "the trials of a rehearsal", interruptOnCancel=True)
        return {row["trial"]: _decoded(bytes(row["outcome"])) for row in rows.collect()}

    with ThreadPoolExecutor(1, "rehearsal") as pool:
        job = pool.submit(collect)
        try:
            while True:
                with suppress(NotYet):
                    return job.result(LOOK_S)
                progress(_done(context))
        except KeyboardInterrupt:
            with suppress(Exception):
                context.cancelJobGroup(GROUP)
            raise


def _done(context: "SparkContext") -> int:
    """How many tasks have ended, as far as Spark tells."""
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(GROUP)]
    stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
    return sum(stage.numCompletedTasks for stage in stages if stage)


def run_batches(task: bytes, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Run the trials with these numbers: the function that Spark calls."""
    import pyarrow as pa

    rehearsal, trials = _started(task)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            order = rehearsal.run(trials[number])
            encoded = zstandard.compress(msgspec.msgpack.encode(order))
            columns = [pa.array([number], pa.int64()), pa.array([encoded], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["trial", "outcome"])


@lru_cache(maxsize=1)
def _started(task: bytes) -> tuple[Rehearsal, tuple[Trial, ...]]:
    """The cluster that a worker's process keeps for the trials of a rehearsal."""
    spark_task = msgspec.msgpack.decode(zstandard.decompress(task), type=Task)
    assert spark_task.spec.image is not None
    return Rehearsal(spark_task.spec, spark_task.spec.image), spark_task.trials


def _decoded(encoded: bytes) -> Order:
    return msgspec.msgpack.decode(zstandard.decompress(encoded), type=Order)
