"""All cases of a conformance run, in several processes."""

import asyncio
import logging
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from commands.conformance.bench import Bench
from commands.conformance.case import Case, Result

_runner: asyncio.Runner | None = None
_bench = Bench()


def results(cases: Sequence[Case], jobs: int) -> Iterator[Result]:
    """Run the cases, ``jobs`` at a time, and yield each result when its case ends.

    Raises:
        AdapterError: an adapter does not start.
    """
    pool = ProcessPoolExecutor(min(jobs, len(cases)), get_context("spawn"), _begin)
    try:
        futures: list[Future[Result]] = [pool.submit(_work, case) for case in cases]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """Prepare a worker: the parent decides when it ends, and its adapters end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Connections that faults end are no news here.
    logging.getLogger("sessions.gateway").setLevel(logging.CRITICAL)


def _work(case: Case) -> Result:
    global _runner  # noqa: PLW0603 - the worker's own loop, to which its adapters belong
    if _runner is None:
        _runner = asyncio.Runner()
    return _runner.run(_bench.run(case))
