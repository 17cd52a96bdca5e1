"""Running jobs side by side: while the tasks of one are at work, the next one's are planned."""

import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Final, TypeVar

from pyspark.sql import SparkSession

from sessions.analysis.job import Job

AT_ONCE: Final = 4
"""So many jobs at once; they share the cores, and some of them wait for what another makes."""

Made = TypeVar("Made")


def run_side_by_side(
    spark: SparkSession,
    jobs: Iterable[Job],
    begin: Callable[[Job], object],
    run: Callable[[Job], Made],
) -> list[Made]:
    """What ``run`` makes of each job, in the jobs' order; ``begin`` is told of each in that order.

    What goes wrong first is raised, when everything else has been stopped.
    """
    waiting, lock = iter(list(jobs)), Lock()

    def next_one() -> Made:
        with lock:
            job = next(waiting)
            begin(job)
        return run(job)

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="job") as pool:
        futures = [pool.submit(next_one) for _ in list(jobs)]
        try:
            _raise_first(wait(futures, return_when=FIRST_EXCEPTION).done)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            with contextlib.suppress(Exception):  # it may be Spark itself that is gone
                spark.interruptAll()
            raise
    return [future.result() for future in futures]


def _raise_first(done: Iterable[Future[Made]]) -> None:
    for future in done:
        future.result()
