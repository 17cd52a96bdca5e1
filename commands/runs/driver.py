"""The wall clock of a run: how far time may advance before the next check.

Only between two slices of time does it check for ctrl-c, termination (``SIGTERM``) and the wall
clock's limit; so the cluster and a recording are consistent when a run is interrupted, unless one
event takes so long that the run is cut off.
"""

import signal
from collections.abc import Callable
from threading import current_thread, main_thread
from time import monotonic, sleep
from types import FrameType, TracebackType
from typing import Final

from msgspec import Struct

from commands.runs.cut_off import soon
from emulator.inputs.statements import Statement
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Advance, Runner, Ticket

EVENTS_BETWEEN_LOOKS: Final = 2_000
"""Kernel events between two checks of the wall clock: about 10 ms."""
NAP_SECONDS_MAX: Final = 0.05
"""Maximum sleep when a speed is set, so that ctrl-c and the recorder's flush are never delayed."""
US_PER_SECOND: Final = 1_000_000
ENDING: Final = (signal.SIGINT, signal.SIGTERM)
"""The signals that interrupt a run gracefully."""

Handler = signal.Handlers | int | Callable[..., object] | None


class TimeLimitError(Exception):
    """The wall clock's limit was reached."""


class Pace(Struct, frozen=True):
    """``speed``: virtual seconds per second (None: unlimited); ``limit_us`` of wall time."""

    speed: float | None = None
    limit_us: int | None = None


class Driver:
    """Drives one runner. ``look`` is called periodically, for progress and flushing.

    As a context manager it handles ctrl-c and termination: they interrupt between two events.
    """

    def __init__(self, runner: Runner, pace: Pace, look: Callable[[], None]) -> None:
        """Start the wall clock's limit now."""
        self.runner = runner
        self.look = look
        self._speed = pace.speed
        self._started = monotonic()
        self._started_us = runner.now_us
        limit = None if pace.limit_us is None else pace.limit_us / US_PER_SECOND
        self._deadline = None if limit is None else self._started + limit
        self._interrupted = False
        self._previous: dict[signal.Signals, Handler] = {}

    def __enter__(self) -> "Driver":
        if current_thread() is main_thread():  # Python lets no other thread take signals
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
        """Run a statement and let time pass until it has ended.

        Raises:
            KeyboardInterrupt: ctrl-c or a termination signal; no event is half processed.
            TimeLimitError: the limit was reached; no event is half processed.
        """
        ticket = self.begin(statement)
        reached = None
        while not ticket.done and reached is not Advance.IDLE:
            self._watch()
            reached = self._advance()
        self._watch()
        return ticket.outcome or Outcome()

    def begin(self, statement: Statement) -> Ticket:
        """Start a statement without letting time pass."""
        return self.runner.submit(statement)

    def go_to(self, time_us: int, steps: int | None = None) -> bool:
        """Let time pass to a moment, as fast as possible; return False if it is in the past.

        With ``steps``, stop exactly after that many kernel events were dispatched.

        Raises:
            KeyboardInterrupt: ctrl-c or a termination signal; no event is half processed.
            TimeLimitError: the limit was reached; no event is half processed.
        """
        runner = self.runner
        if runner.now_us > time_us or (steps is not None and runner.steps > steps):
            return False
        is_there = False
        while not is_there:
            self._watch()
            if steps is None:
                is_there = runner.advance(time_us, EVENTS_BETWEEN_LOOKS) is Advance.REACHED
            else:
                is_there = runner.return_to(time_us, steps, EVENTS_BETWEEN_LOOKS)
        self._watch()
        return runner.now_us == time_us and steps in (None, runner.steps)

    def _advance(self) -> Advance:
        """Advance time as far as the speed allows; sleep until more is due."""
        runner, speed = self.runner, self._speed
        if speed is None:
            return runner.advance(budget=EVENTS_BETWEEN_LOOKS)
        gone_us = int((monotonic() - self._started) * speed * US_PER_SECOND)
        reached = runner.advance(self._started_us + gone_us, EVENTS_BETWEEN_LOOKS)
        if reached is not Advance.REACHED:
            return reached
        next_us = runner.next_us
        if next_us is None:
            return Advance.IDLE
        due_at = self._started + (next_us - self._started_us) / US_PER_SECOND / speed
        sleep(max(0.0, min(due_at - monotonic(), NAP_SECONDS_MAX)))
        return reached

    def _watch(self) -> None:
        self.look()
        if self._interrupted:
            raise KeyboardInterrupt
        if self._deadline is not None and monotonic() > self._deadline:
            raise TimeLimitError

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self._interrupted = True
        soon()
