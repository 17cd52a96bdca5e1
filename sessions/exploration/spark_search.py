"""A search on Spark, level by level, for searches too large or too slow for one process.

A level is expanded where its states are stored, successors are reduced to one row per state, and
states seen before are removed by an anti join. Levels are Parquet files, and :class:`Checkpoint`
records which of them are complete: so a killed search resumes from its last level. The counts equal
those of :class:`emulator.explorer.search.Search`.
"""

import contextlib
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from emulator.explorer.portable import Portable, fingerprint
from emulator.explorer.question import Question
from emulator.explorer.search import INTERRUPTED, Observer, Progress, Result, violation
from sessions.analysis.session import spark_session
from sessions.campaign.runner import interruptible, sentence
from sessions.campaign.shipping import packages_zip
from sessions.dataset.location import Location
from sessions.exploration.folder import ExplorationError, StoredQuestion, WorkFolder
from sessions.exploration.worker import REACHED, STATE, expand_batches

CHECKPOINT: Final = "checkpoint.json"
STATES: Final = "states"
REACHED_FOLDER: Final = "reached"
STATES_A_TASK: Final = 2_000
"""Number of states per task, as long as there are free cores."""
TASKS_A_CORE: Final = 4
UNKNOWN: Final = -1
"""How many states a level has that has not been written yet."""
GROUP: Final = "tidegauge explore"
LOOK_S: Final = 0.25
"""Interval between checks whether the search must end."""
STOP_MAX_S: Final = 10.0
"""How long to wait for cancelled tasks."""


class Level(Struct):
    """The states first reached with a number of faults and a number of steps.

    ``generated`` and the row counts ``by_step`` and ``by_fault`` are None until the level has been
    expanded.
    """

    faults: int
    depth: int
    states: int
    generated: int | None = None
    by_step: int = 0
    by_fault: int = 0

    @property
    def name(self) -> str:
        """The folder of its states, and of what they reach."""
        return f"faults-{self.faults:02}-depth-{self.depth:04}"


class Broken(Struct, frozen=True):
    """A violated property, and the states on the path to the violation."""

    name: str
    faults: int
    states: list[bytes]


class Checkpoint(Struct):
    """Progress of a search: its levels in order of discovery, and its findings."""

    levels: list[Level] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    complete: bool = False


class _Stopped(Exception):
    """The observer ended the search."""


def search_on_spark(
    question: Question,
    location: str,
    observe: Observer,
    *,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    resume: bool = False,
    keep_going: bool = False,
) -> Result:
    """Search with ``master`` (``conf`` is Spark's configuration), storing everything in a folder.

    Workers must see the folder under the same path. ``observe`` receives the progress after each
    level, and ``keep_going`` is as in :meth:`emulator.explorer.search.Search.run`. Raises
    :class:`~sessions.exploration.folder.ExplorationError` for a folder that cannot be used,
    :class:`~sessions.analysis.errors.AnalysisError` if Spark is unavailable. Ctrl-C and SIGTERM end
    it with the results so far; the same call with ``resume`` continues from there.
    """
    folder = WorkFolder(location)
    with folder.opened(StoredQuestion(question, on_spark=True), resume=resume):
        search = SparkSearch(question, folder)
        if search.has_ended(keep_going=keep_going):
            return search.result()
        with (
            interruptible(),
            spark_session(master, conf=conf) as spark,
            tempfile.TemporaryDirectory(prefix="tidegauge-code-") as scratch,
            interruptible(),
        ):
            spark.addArtifacts(str(packages_zip(Path(scratch))), pyfile=True)
            return search.run(spark, observe, keep_going=keep_going)


class SparkSearch:
    """One search in its folder."""

    def __init__(self, question: Question, folder: WorkFolder) -> None:
        """Continue where the search in the folder has got to."""
        self.question = question
        self.folder = folder
        self.so_far = folder.read(CHECKPOINT, Checkpoint) or Checkpoint()
        self._portable = Portable(question.of.model(), question.properties)
        self._stopped = ""

    def has_ended(self, *, keep_going: bool) -> bool:
        """Whether there is no more to look at."""
        return self.so_far.complete or (not keep_going and self._is_all_broken())

    def _is_all_broken(self) -> bool:
        broken = {violated.name for violated in self.so_far.broken}
        return bool(broken) and broken == set(self.question.properties)

    def run(self, spark: SparkSession, observe: Observer, *, keep_going: bool) -> Result:
        """Search on, a level at a time, until there is an end or ``observe`` says so."""
        jobs = _Jobs(spark, lambda: observe(self._progress()))
        levels = self.so_far.levels
        try:
            while not self.has_ended(keep_going=keep_going):
                if levels and levels[-1].states and levels[-1].generated is None:
                    jobs.run(partial(self._expand, spark, levels[-1]))
                elif (following := following_level(levels)) is None:
                    self.so_far.complete = True
                else:
                    levels.append(following)
                    jobs.run(partial(self._admit, spark, following))
                self.folder.write(CHECKPOINT, self.so_far)
                self._tidy()
        except (_Stopped, KeyboardInterrupt) as stopped:
            if levels and levels[-1].states == UNKNOWN:
                levels.pop()
            self._stopped = str(stopped) or INTERRUPTED
        return self.result()

    def result(self) -> Result:
        levels = [level for level in self.so_far.levels if level.states > 0]
        model = self._portable.model
        violations = [
            violation(model, broken.name, broken.faults, [*map(self._portable.read, broken.states)])
            for broken in self.so_far.broken
        ]
        return Result(
            *self._counts(levels), self.so_far.complete, self._stopped, violations=violations
        )

    def _counts(self, levels: list[Level]) -> tuple[int, int, int, int]:
        return (
            sum(level.states for level in levels),
            max((level.depth + 1 for level in levels), default=0),
            1 + sum(level.generated or 0 for level in levels),
            max((level.faults for level in self.so_far.levels), default=0),
        )

    def _progress(self) -> Progress:
        levels = [level for level in self.so_far.levels if level.states > 0]
        states, depth, generated, faults = self._counts(levels)
        return Progress(states, levels[-1].states if levels else 0, depth, generated, faults)

    # ---- a level

    def _admit(self, spark: SparkSession, level: Level) -> None:
        """Write the states of a level: those reached, without those of earlier levels."""
        candidates = self._candidates(spark, level)
        if candidates is None:
            level.states = 0
            return
        new = candidates.groupBy("fingerprint").agg(
            F.first("state").alias("state"),
            F.min("parent").alias("parent"),
            F.first("broken").alias("broken"),
        )
        earlier = [self._states(old) for old in self.so_far.levels if old.states > 0]
        if earlier:
            visited = _read(spark, STATE, *earlier).select("fingerprint")
            new = new.join(visited, "fingerprint", "left_anti")
        _write(new, self._states(level))
        states = _read(spark, STATE, self._states(level))
        unbroken = set(self.question.properties) - {broken.name for broken in self.so_far.broken}
        where = {
            name: F.min(F.when(F.array_contains("broken", name), F.col("fingerprint")))
            for name in sorted(unbroken)
        }
        counts = states.agg(
            F.count(F.lit(1)).alias("states"), *(least.alias(n) for n, least in where.items())
        ).collect()[0]
        level.states = counts["states"]
        for name in where:
            if counts[name] is not None:
                chain = self._chain(spark, level, bytes(counts[name]))
                self.so_far.broken.append(Broken(name, level.faults, chain))

    def _candidates(self, spark: SparkSession, level: Level) -> DataFrame | None:
        """Return the successors at this depth; None if there are none."""
        if level.depth == 0:
            state, broken = self._portable.first
            row = (bytearray(fingerprint(state)), bytearray(state), None, broken)
            return spark.createDataFrame([row], STATE)
        candidates: DataFrame | None = None
        for previous in self.so_far.levels:
            if previous.depth == level.depth - 1 and self._reaches(previous, level):
                reached = _read(spark, REACHED, self._reached(previous))
                rows = reached.where(f"by_fault = {str(previous.faults < level.faults).lower()}")
                candidates = rows if candidates is None else candidates.unionByName(rows)
        return candidates

    @staticmethod
    def _reaches(earlier: Level, level: Level) -> bool:
        if earlier.faults == level.faults:
            return earlier.by_step > 0
        return earlier.faults == level.faults - 1 and earlier.by_fault > 0

    def _expand(self, spark: SparkSession, level: Level) -> None:
        """Write what the states of a level reach."""
        question = msgspec.json.encode(self.question)
        states = _read(spark, STATE, self._states(level))
        tasks = max(1, min(level.states // STATES_A_TASK, TASKS_A_CORE * _cores(spark)))
        spread = states.select("fingerprint", "state").repartition(tasks, "fingerprint")
        _write(spread.mapInArrow(partial(expand_batches, question), REACHED), self._reached(level))
        reached = _read(spark, REACHED, self._reached(level))
        counts = reached.agg(
            F.coalesce(F.sum("generated"), F.lit(0)).alias("generated"),
            F.count_if(~F.col("by_fault")).alias("by_step"),
            F.count_if("by_fault").alias("by_fault"),
        ).collect()[0]
        level.by_step, level.by_fault = counts["by_step"], counts["by_fault"]
        level.generated = counts["generated"]

    def _chain(self, spark: SparkSession, level: Level, last: bytes) -> list[bytes]:
        """The states on the way to one of a level, from the first one."""
        chain: list[bytes] = []
        current: bytes | None = last
        for depth in range(level.depth, -1, -1):
            folders = [
                self._states(earlier)
                for earlier in self.so_far.levels
                if earlier.depth == depth and earlier.faults <= level.faults and earlier.states != 0
            ]
            rows = _read(spark, STATE, *folders)
            row = rows.where(F.col("fingerprint") == F.lit(current)).first()
            assert row is not None
            chain.append(bytes(row["state"]))
            current = row["parent"]
        return chain[::-1]

    # ---- its files

    def _states(self, level: Level) -> Location:
        return self.folder.location / STATES / level.name

    def _reached(self, level: Level) -> Location:
        return self.folder.location / REACHED_FOLDER / level.name

    def _tidy(self) -> None:
        """Delete the successors of levels once they have been processed."""
        last = self.so_far.levels[-1]
        for level in self.so_far.levels:
            is_done = (level.faults, level.depth) < (last.faults, last.depth) and not level.by_fault
            if level.generated and (is_done or level.faults < last.faults - 1):
                self._reached(level).delete()


def following_level(levels: list[Level]) -> Level | None:
    """Return the next level in the order of a search by faults; None: there is none.

    Within a number of faults, levels follow one another. After a level without states comes the
    first level with one more fault, reached from levels with one fault fewer.
    """
    if not levels:
        return Level(0, 0, UNKNOWN)
    last = levels[-1]
    if last.states:
        return Level(last.faults, last.depth + 1, UNKNOWN)
    arrivals = [level.depth + 1 for level in levels if _leads_to(level, last.faults)]
    later = [depth for depth in arrivals if depth > last.depth]
    if later:
        return Level(last.faults, min(later), UNKNOWN)
    with_one_more = [level.depth + 1 for level in levels if _leads_to(level, last.faults + 1)]
    if with_one_more:
        return Level(last.faults + 1, min(with_one_more), UNKNOWN)
    return None


def _leads_to(level: Level, faults: int) -> bool:
    """Whether a fault leads from a level to one with so many."""
    return level.faults == faults - 1 and level.by_fault > 0


def _read(spark: SparkSession, schema: str, *locations: Location) -> DataFrame:
    return spark.read.schema(schema).parquet(*(place.for_spark_to_read for place in locations))


def _write(rows: DataFrame, location: Location) -> None:
    rows.write.mode("overwrite").option("compression", "zstd").parquet(location.for_spark)


class _Jobs:
    """Runs Spark jobs and checks meanwhile whether the search must end."""

    def __init__(self, spark: SparkSession, observe: Callable[[], str]) -> None:
        self._spark = spark
        self._observe = observe

    def run(self, work: Callable[[], None]) -> None:
        """Do some work; raises :class:`_Stopped` if it has to end."""
        with ThreadPoolExecutor(1, "exploration") as pool:
            job = pool.submit(self._grouped, work)
            try:
                self._wait(job)
            except (KeyboardInterrupt, _Stopped):
                with contextlib.suppress(Exception):
                    self._spark.sparkContext.cancelJobGroup(GROUP)
                with contextlib.suppress(Exception):
                    job.result(STOP_MAX_S)
                raise

    def _wait(self, job: "Future[None]") -> None:
        while True:
            try:
                job.result(LOOK_S)
            except NotYet:
                if reason := self._observe():
                    raise _Stopped(reason) from None
                continue
            except Exception as error:
                raise ExplorationError(sentence(error)) from error
            return

    def _grouped(self, work: Callable[[], None]) -> None:
        context = self._spark.sparkContext
        context.setJobGroup(GROUP, "a level of a search", interruptOnCancel=True)
        work()


def _cores(spark: SparkSession) -> int:
    return int(spark.sparkContext.defaultParallelism)
