"""What Spark's workers do: execute runs of a campaign, and commit them to the dataset in batches.

Everything that a worker needs is in :class:`Task`; it must be able to reach the dataset. A task
writes one file for each table for all its runs. A task that takes longer than :data:`COMMIT_S`
also commits in between, at growing intervals, so that little is lost with a worker and files stay
few.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from time import monotonic
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct, structs

from sessions.campaign.limits import TooLong, time_limit
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.plan import Plan, Run
from sessions.campaign.run import Emulation
from sessions.campaign.runs import Failure, run_row
from sessions.dataset.arrow_rows import MEMORY_WAITING
from sessions.dataset.export import RowsWriter
from sessions.dataset.layout import Dataset, DatasetError, SessionExists, Staging, one_of
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION
from sessions.dataset.session_rows import SessionRows
from sessions.dataset.tables import BY_NAME, RUNS, SESSIONS
from sessions.dataset.writer import Row
from sessions.garbage_collection import YOUNG_OBJECTS, collector_resting, spare_imports

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS_MAX: Final = 2
"""Number of processes that a run may crash before it is abandoned."""
COMMIT_S: Final = 60.0
"""Seconds until a task's first commit; the interval to the next one doubles each time."""
LARGE_EVENTS: Final = 200_000
"""A run with more events has its own commit, so that its rows are not kept in memory."""
DIED: Final = "the worker's process died of it (out of memory?)"
WRITTEN: Final = (*BY_NAME, RUNS.name)


class Task(Struct, frozen=True):
    """A campaign as sent to a worker.

    ``campaign`` identifies this start of it; ``limit_s`` is the wall-clock time of a run.
    """

    plan: Plan
    dataset: str
    limit_s: float
    campaign: str


def encoded(task: Task) -> bytes:
    """Return the task as sent to workers."""
    return msgspec.msgpack.encode(task)


def _decoded(task: bytes) -> Task:
    return msgspec.msgpack.decode(task, type=Task)


def named_runs(task: bytes, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Return the runs with these numbers, and the names of their sessions."""
    import pyarrow as pa

    plan = _decoded(task).plan
    for batch in batches:
        numbers = batch.column(0).to_pylist()
        names = [plan.run(number).session for number in numbers]
        yield pa.RecordBatch.from_pydict({"run": pa.array(numbers, pa.int64()), SESSION: names})


def run_batches(task: bytes, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Execute the runs with these numbers and yield their count; Spark calls this."""
    import pyarrow as pa

    spare_imports()
    with Worker(_decoded(task)) as worker, collector_resting(YOUNG_OBJECTS):
        count = worker.make(
            number for batch in batches for number in batch.column("run").to_pylist()
        )
    yield pa.RecordBatch.from_pydict({"runs": pa.array([count], pa.int64())})


class Batch:
    """Runs that are committed together."""

    def __init__(self, dataset: Dataset) -> None:
        self.sessions: list[str] = []
        self.events = 0
        self._stack = ExitStack()
        self.staging: Staging = self._stack.enter_context(dataset.staging())
        self.writer = self._stack.enter_context(
            RowsWriter(self.staging.path, self.staging.id, WRITTEN)
        )

    def take(self, run: Run, rows: SessionRows | None, row: Row) -> None:
        """Add a run; ``rows`` None: it has no session."""
        if rows is not None:
            self.writer.take(rows)
            self.sessions.append(run.session)
            self.events += rows.events
        self.writer.add(RUNS.name, run.session, [row])

    def commit(self) -> None:
        try:
            self.writer.finish()
            self.staging.commit(self.sessions, self.events)
        finally:
            self.drop()

    def drop(self) -> None:
        self._stack.close()


class Worker:
    """Executes runs of one campaign, one after another."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.dataset = Dataset(task.dataset)
        self.folder = CampaignFolder(self.dataset.location)
        self._batch: Batch | None = None
        self._began = monotonic()
        self._commit_at = self._began + COMMIT_S
        self._limit = task.limit_s

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        if self._batch is not None:
            self._batch.drop()

    def make(self, numbers: Iterable[int]) -> int:
        """Execute the runs that are not in the dataset yet; return the number of all runs given.

        Errors of a run itself are stored in its row.

        Raises:
            DatasetError: the dataset cannot be written.
        """
        runs = [self.task.plan.run(number) for number in numbers]
        there = self._ended(runs)
        pending: list[Run] = []
        for run in runs:
            if run.session in there:
                continue
            pending.append(run)
            self._make(run)
            if monotonic() >= self._commit_at:
                self._commit(pending)
        self._commit(pending)
        return len(runs)

    def _ended(self, runs: list[Run]) -> set[str]:
        """Return runs finished by another process, except those that hung under a shorter limit."""
        import pyarrow.compute as pc

        if not self.dataset.has(RUNS):
            return set()
        is_own = one_of([run.session for run in runs])
        again = (pc.field("outcome") == "hung") & (pc.field("limit_s") < self._limit)
        rows = self.dataset.scan(RUNS, [SESSION], is_own & ~again)
        return set(rows[SESSION].to_pylist())

    def _commit(self, pending: list[Run]) -> None:
        """Commit the collected runs, except those that another process has committed."""
        now = monotonic()
        self._commit_at = now + max(COMMIT_S, now - self._began)
        batch, self._batch = self._batch, None
        if batch is not None:
            try:
                batch.commit()
            except SessionExists:
                self._commit_again(pending)
        pending.clear()

    def _commit_again(self, pending: list[Run]) -> None:
        there = self._ended(pending)
        for run in pending:
            if run.session not in there:
                self._make(run)
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.commit()

    def _waiting(self) -> Batch:
        if self._batch is None:
            self._batch = Batch(self.dataset)
        return self._batch

    def _make(self, run: Run) -> None:
        """Execute a run and queue it for the commit, however it ends."""
        if self.folder.attempt(run.session, self.task.campaign) >= ATTEMPTS_MAX:
            self._fail(run, Failure("raised", DIED))
        else:
            self._try(run)
        self.folder.attempted(run.session)

    def _fail(self, run: Run, failure: Failure) -> None:
        self._waiting().take(run, None, run_row(self.task.plan, run, self._limit, failure))

    def _try(self, run: Run) -> None:
        own: list[Batch] = []
        try:
            with time_limit(self._limit):
                rows = self._emulated(run, own)
        except TooLong:
            self._fail(run, Failure("hung", f"it took longer than {self._limit:g} s"))
        except DatasetError:
            raise
        except Exception as error:
            self._fail(run, Failure("raised", f"{type(error).__name__}: {error}"))
        else:
            row = run_row(self.task.plan, run, self._limit, rows.rows[SESSIONS.name][-1])
            (own[0] if own else self._waiting()).take(run, rows, row)
            if own:
                own.pop().commit()
        finally:
            for batch in own:
                batch.drop()

    def _emulated(self, run: Run, own: list[Batch]) -> SessionRows:
        """Run it; ``own`` makes a separate commit if there are many events, or large records."""
        variant = self.task.plan.of_run(run)
        emulation = Emulation(variant, run.seed)
        rows = SessionRows(run.session)
        for events in emulation.blocks():
            rows.add(events)
            if rows.events >= LARGE_EVENTS or rows.memory > MEMORY_WAITING:
                if not own:
                    own.append(Batch(self.dataset))
                own[0].writer.take(rows)
        facts = SessionFacts(id=run.session, name=self.task.plan.name, variables=variant.variables)
        runner = emulation.runner
        rows.finish(structs.replace(facts, state_hash=runner.state_hash, end_us=runner.now_us))
        return rows
