"""Jobs side by side: in order, and all of them ended when one goes wrong."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, cast

import pytest

from sessions.analysis import scheduling
from sessions.analysis.errors import AnalysisError
from sessions.analysis.job import Job
from sessions.analysis.scheduling import AT_ONCE, run_side_by_side

JOBS = [Job(f"job-{number}", "?", ()) for number in range(3 * AT_ONCE)]
LIMIT_S = 60


class Spark:
    """As much of a session as is needed: whoever waits for it is told that it was interrupted."""

    def __init__(self) -> None:
        self.interrupted = Event()

    def interruptAll(self) -> None:
        self.interrupted.set()


def test_they_begin_in_order_and_are_answered_in_order() -> None:
    begun: list[str] = []
    at_work, most, lock = set[str](), [0], Lock()
    all_there = Event()

    def run(job: Job) -> str:
        with lock:
            at_work.add(job.name)
            most[0] = max(most[0], len(at_work))
            if len(at_work) == AT_ONCE:
                all_there.set()
        assert all_there.wait(LIMIT_S)
        with lock:
            at_work.discard(job.name)
        return job.name.upper()

    found = run_side_by_side(cast("Any", Spark()), JOBS, lambda job: begun.append(job.name), run)
    assert begun == [job.name for job in JOBS]
    assert found == [job.name.upper() for job in JOBS]
    assert most == [AT_ONCE]


class Backwards(ThreadPoolExecutor):
    """Does last what it was given first, once it has been given something for each job."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        given = self.__dict__.setdefault("given", [])
        future = Future[Any]()
        given.append(future)
        if len(given) == len(JOBS):
            for last in reversed(given):
                last.set_result(fn(*args, **options))
        return future


def test_results_are_in_order_whichever_thread_begins_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduling, "ThreadPoolExecutor", Backwards)
    found = run_side_by_side(cast("Any", Spark()), JOBS, lambda _: None, lambda job: job.name)
    assert found == [job.name for job in JOBS]


def test_what_goes_wrong_first_is_raised_when_the_others_have_been_interrupted() -> None:
    spark, begun = Spark(), list[str]()

    def run(job: Job) -> None:
        if job.name == "job-1":
            raise AnalysisError("the disk is full")
        assert spark.interrupted.wait(LIMIT_S)
        raise AnalysisError("it was interrupted")

    with pytest.raises(AnalysisError, match="the disk is full"):
        run_side_by_side(cast("Any", spark), JOBS, lambda job: begun.append(job.name), run)
    assert spark.interrupted.is_set()
    assert len(begun) < len(JOBS)
