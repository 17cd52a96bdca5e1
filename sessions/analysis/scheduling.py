"""Run jobs side by side: while the tasks of one execute, the next one is planned."""

import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Final, TypeVar

from pyspark.sql import SparkSession

from sessions.analysis.job import Job

AT_ONCE: Final = 4
"""Number of concurrent jobs; they share the cores, and some wait for another's results."""

Made = TypeVar("Made")


def run_side_by_side(
    spark: SparkSession,
    jobs: Iterable[Job],
    begin: Callable[[Job], object],
    run: Callable[[Job], Made],
) -> list[Made]:
    """Return the results of ``run`` for each job, in job order; ``begin`` is called in that order.

    The first error is raised after everything else has been stopped.
    """
    numbered = list(enumerate(jobs))
    waiting, lock = iter(numbered), Lock()

    def next_one() -> tuple[int, Made]:
        with lock:  # threads may come here in another order than they were given work
            number, job = next(waiting)
            begin(job)
        return number, run(job)

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="job") as pool:
        futures = [pool.submit(next_one) for _ in numbered]
        try:
            _raise_first(wait(futures, return_when=FIRST_EXCEPTION).done)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            with contextlib.suppress(Exception):  # it may be Spark itself that is gone
                spark.interruptAll()
            raise
    made = dict(future.result() for future in futures)
    return [made[number] for number, _ in numbered]


def _raise_first(done: Iterable[Future[Made]]) -> None:
    for future in done:
        future.result()
