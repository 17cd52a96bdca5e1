"""What Spark's workers do: make the runs of a campaign that are not there yet, a row for each.

Everything that a worker needs is in :class:`Task`; the dataset is a folder that it can see.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from sessions.campaign.limits import TooLong, time_limit
from sessions.campaign.manifest import Failure, Ledger
from sessions.campaign.plan import Plan, Run
from sessions.campaign.run import run_into
from sessions.campaign.runs import RUNS, Values, run_values
from sessions.dataset.layout import DatasetError, DatasetFolder, SessionBusy

if TYPE_CHECKING:
    import pyarrow as pa

ATTEMPTS_MAX: Final = 2
"""How many processes a run may take with it before it is given up."""
NAP_S: Final = 0.1
DIED: Final = "the worker's process died of it (out of memory?)"


class Task(Struct, frozen=True):
    """A campaign as a worker gets it.

    ``campaign`` names this beginning of it among others; ``limit_s`` is wall time for a run.
    """

    plan: Plan
    dataset: str
    limit_s: float
    campaign: str


def encoded(task: Task) -> bytes:
    """The task as it is sent."""
    return msgspec.msgpack.encode(task)


def run_batches(task: bytes, batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Make the runs whose numbers are given, and give their rows: the function that Spark calls."""
    import pyarrow as pa

    from sessions.dataset.schema import arrow_schema

    schema = arrow_schema(RUNS)
    worker = Worker(msgspec.msgpack.decode(task, type=Task))
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield pa.RecordBatch.from_pylist([worker.row(number)], schema)


class Worker:
    """Makes runs of one campaign, one after another."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.dataset = Path(task.dataset)
        self.folder = DatasetFolder(self.dataset)
        self.ledger = Ledger(self.dataset)

    def row(self, number: int) -> Values:
        """A run's row; the run is made unless it is there already.

        Raises :class:`~sessions.dataset.layout.DatasetError` if the dataset cannot be written to;
        whatever the run itself raises is in its row.
        """
        plan = self.task.plan
        run = plan.run(number)
        return run_values(plan, run, self.dataset, self._done(run))

    def _done(self, run: Run) -> Failure | None:
        """Have the run made; how it ended if there is no session of it."""
        if run.session in self.folder:
            return None
        failure = self.ledger.failure(run.session)
        if failure is None or (failure.outcome == "hung" and failure.limit_s < self.task.limit_s):
            failure = self._made(run)
            self.ledger.keep(run.session, failure)
        return failure

    def _made(self, run: Run) -> Failure | None:
        limit_s = self.task.limit_s
        if self.ledger.attempt(run.session, self.task.campaign) >= ATTEMPTS_MAX:
            failure: Failure | None = Failure("raised", DIED, limit_s)
        else:
            failure = self._tried(run)
        self.ledger.attempted(run.session)
        return failure

    def _tried(self, run: Run) -> Failure | None:
        limit_s = self.task.limit_s
        try:
            with time_limit(limit_s):
                self._run(run)
        except TooLong:
            self.folder.settle()  # it may have been complete just before
            if run.session not in self.folder:
                return Failure("hung", f"it took longer than {limit_s:g} s", limit_s)
        except DatasetError:
            raise
        except Exception as error:
            return Failure("raised", f"{type(error).__name__}: {error}", limit_s)
        return None

    def _run(self, run: Run) -> None:
        """Make it; where another process is at it, that one's is waited for."""
        plan = self.task.plan
        while run.session not in self.folder:
            try:
                run_into(self.dataset, plan.variants[run.variant], run, plan.name)
            except SessionBusy:
                sleep(NAP_S)
            except DatasetError:
                if run.session not in self.folder:  # else another process was faster
                    raise
