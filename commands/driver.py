"""Letting virtual time pass until a statement has ended: as fast as possible, or at a speed.

Between kernel events, and nowhere else, it notices ctrl-c, termination (``SIGTERM``) and the wall
clock's limit; so the cluster and a recording are always whole when a run is broken off.
"""

import signal
from collections.abc import Callable
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import Final

from msgspec import Struct

from emulator.cluster import Cluster
from emulator.inputs.statements import Statement, Wait
from emulator.scenario.runner import Outcome, Ticket
from sessions import pump

EVENTS_BETWEEN_LOOKS: Final = 2_000
"""Kernel events between two looks at the wall clock: about 10 ms."""
NAP_SECONDS_MAX: Final = 0.05
"""The longest sleep at a speed, so that ctrl-c and the recorder's flush never wait."""
US_PER_SECOND: Final = 1_000_000
ENDING: Final = (signal.SIGINT, signal.SIGTERM)
"""The signals that break a run off in order."""

Handler = signal.Handlers | int | Callable[..., object] | None


class TimeLimitError(Exception):
    """The wall clock's limit ran out."""


class Pace(Struct, frozen=True):
    """``speed``: virtual seconds in a second (None: all that go); ``limit_us`` of wall time."""

    speed: float | None = None
    limit_us: int | None = None


class Driver:
    """Drives one cluster. ``look`` is called now and then, for progress and flushing.

    As a context it takes ctrl-c and termination over: within it they break off between two events.
    """

    def __init__(self, cluster: Cluster, pace: Pace, look: Callable[[], None]) -> None:
        """Start the wall clock's limit now."""
        self.cluster = cluster
        self.look = look
        self._speed = pace.speed
        self._started = monotonic()
        self._started_us = cluster.now_us
        limit = None if pace.limit_us is None else pace.limit_us / US_PER_SECOND
        self._deadline = None if limit is None else self._started + limit
        self._interrupted = False
        self._previous: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> "Driver":
        self._previous = {number: signal.signal(number, self._interrupt) for number in ENDING}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def execute(self, statement: Statement) -> Outcome:
        """Give a statement and let time pass until it has ended.

        Raises:
            KeyboardInterrupt: ctrl-c was pressed, or an end was asked for; no event is half done.
            TimeLimitError: the limit ran out; no event is half done.
        """
        ticket = self.begin(statement)
        while not ticket.done:
            self._watch()
            if not (self._paced(ticket) if self._speed else self._advance_many(ticket)):
                break
        self._watch()
        return ticket.outcome or Outcome()

    def begin(self, statement: Statement) -> Ticket:
        """Give a statement, and let no time pass."""
        return self.cluster.submit(statement)

    def go_to(self, time_us: int, steps: int | None = None) -> bool:
        """Let time pass to a moment, as fast as possible; False if it lies in the past.

        With ``steps`` to the very place between two kernel events at which so many were dispatched.

        Raises:
            KeyboardInterrupt: ctrl-c was pressed, or an end was asked for; no event is half done.
            TimeLimitError: the limit ran out; no event is half done.
        """
        cluster = self.cluster
        if cluster.now_us > time_us or (steps is not None and cluster.steps > steps):
            return False
        while steps is not None and cluster.steps < steps:
            self._watch()
            before = cluster.steps
            pump.run_to(cluster, min(steps, before + EVENTS_BETWEEN_LOOKS), cluster.now_us)
            if cluster.steps == before:
                break
        while steps is None and not pump.run_for(cluster, time_us, NAP_SECONDS_MAX):
            self._watch()
        pump.run_to(cluster, steps or 0, time_us)
        self._watch()
        return cluster.now_us == time_us and steps in (None, cluster.steps)

    def _advance_many(self, ticket: Ticket) -> bool:
        if isinstance(ticket.statement.input, Wait) and ticket.wake_us is not None:
            if self.cluster.run_until(ticket.wake_us, EVENTS_BETWEEN_LOOKS):
                self.cluster.poll()
            return True
        for _ in range(EVENTS_BETWEEN_LOOKS):
            if ticket.done:
                return True
            if not self._advance(ticket):
                return False
        return True

    def _paced(self, ticket: Ticket) -> bool:
        """One event, when its time has come on the wall clock."""
        due_us = self._next_us(ticket)
        assert self._speed
        if due_us is not None:
            ahead = (due_us - self._started_us) / US_PER_SECOND / self._speed
            nap = self._started + ahead - monotonic()
            if nap > 0:
                sleep(min(nap, NAP_SECONDS_MAX))
                if nap > NAP_SECONDS_MAX:
                    return True
        return self._advance(ticket)

    def _next_us(self, ticket: Ticket) -> int | None:
        times = [us for us in (self.cluster.next_time_us, ticket.wake_us) if us is not None]
        return min(times, default=None)

    def _advance(self, ticket: Ticket) -> bool:
        """Go on to what comes next: a kernel event, or the time at which the statement wakes."""
        cluster, wake_us = self.cluster, ticket.wake_us
        due_us = cluster.next_time_us
        if wake_us is not None and (due_us is None or due_us > wake_us):
            cluster.run_until(wake_us)
        elif due_us is None:
            return False
        else:
            cluster.step()
        cluster.poll()
        return True

    def _watch(self) -> None:
        self.look()
        if self._interrupted:
            raise KeyboardInterrupt
        if self._deadline is not None and monotonic() > self._deadline:
            raise TimeLimitError

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self._interrupted = True
