"""Virtual time for the consoles of tests: with nothing left to do, the next timer is due at once.

An event loop waits for its next timer in its selector. Here the clock moves on instead. Only what
happens outside the loop takes its real time: threads, processes and sockets.
"""

import asyncio
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest
from textual import _time

import console.app

POLL_SECONDS = 0.002
"""How often the loop looks whether a thread has ended."""
POOL = "asyncio_"
"""How the threads of a loop's own pool are called, which stay when their work is done."""


class Clock:
    """The time of one event loop: it passes only while the loop has nothing to do."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.seconds = monotonic()
        self.selector: Any = vars(loop)["_selector"]
        self._select = self.selector.select
        self._run = loop.run_in_executor
        self._threads = set(threading.enumerate())
        self._running: set[Future[Any]] = set()

    def now(self) -> float:
        return self.seconds

    def select(self, timeout: float | None = None) -> list[object]:
        """Return what is ready; if nothing is, let the time pass in which nothing happens."""
        if timeout is None or timeout <= 0:
            return list(self._select(timeout))
        if self._is_alone():
            ready = list(self._select(0))
            self.seconds += 0 if ready else timeout
        else:
            began = monotonic()
            ready = list(self._select(min(timeout, POLL_SECONDS)))
            self.seconds += monotonic() - began
        return ready

    def run_in_executor(self, *call: Any) -> Future[Any]:
        running: Future[Any] = self._run(*call)
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return running

    def _is_alone(self) -> bool:
        """Whether nothing happens outside the loop, which is woken through one file."""
        if self._running or len(self.selector.get_map()) > 1:
            return False
        others = set(threading.enumerate()) - self._threads
        return all(thread.name.startswith(POOL) for thread in others)


@contextmanager
def virtual_time() -> Iterator[None]:
    """Let no time pass in the running loop while it waits."""
    loop = asyncio.get_running_loop()
    clock = Clock(loop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "time", clock.now)
        patch.setattr(loop, "run_in_executor", clock.run_in_executor)
        patch.setattr(clock.selector, "select", clock.select)
        patch.setattr(_time, "get_time", clock.now)
        patch.setattr(console.app, "perf_counter", clock.now)
        yield
