"""When a process that should answer, or should end, is overdue: the rules, without a clock."""

from enum import Enum, auto
from typing import Final

HUNG_AFTER_S: Final = 5.0
"""How long nothing may answer before that counts as a hang."""
BUSY_S: Final = 4.5
"""Processor time without an answer from which on a process counts as stuck in a loop.

Beside many other programs the same work takes some times the processor time.
"""
IDLE_S: Final = 0.05
"""Processor time below which it counts as having had none."""
IDLE_FOR_S: Final = 2.5
"""How long a process must have had no processor time to count as stuck in a system call. Otherwise
it may be one that gets little time because of many others, and is waited for."""
STARVED_MAX_S: Final = 60.0
"""How long a process that gets little time is waited for."""
WORK_MAX_S: Final = 120.0
"""How long it may take while it does what a user asked for, such as a statement or a jump."""
END_WITHIN_S: Final = 1.2
"""How long a request to end may take before the process is ended from outside."""
INTERRUPTED_WITHIN_S: Final = 0.5
"""How long the main thread has to end the process itself."""
STOPPED_S: Final = 2.0
"""A look that comes so late means that the whole process had been stopped or starved."""


class Verdict(Enum):
    """What is to be done with the process."""

    WAIT = auto()
    INTERRUPT = auto()
    """Make the main thread save everything and end the process."""
    KILL = auto()
    """End the process without the main thread, which does not react."""


class Vigil:
    """Decides whether a process is overdue. All times are in seconds of one steady clock."""

    def __init__(self, now: float) -> None:
        self._answered = self._looked = now
        self._cpu_s = self._cpu_at_answer_s = self._cpu_at_move_s = 0.0
        self._moved = now
        self._working = 0
        self._blocked = 0
        self._asked: float | None = None
        self._interrupted: float | None = None
        self.status = 0
        self.is_hung = False

    def answered(self, now: float) -> None:
        """Note that the event loop did what it was asked for."""
        self._answered = now
        self._cpu_at_answer_s = self._cpu_s

    def ask(self, status: int, now: float) -> None:
        """Note that the process is to end with this status; the first request counts."""
        if self._asked is None:
            self.status, self._asked = status, now

    def begin_work(self) -> None:
        """Note that a user's request is being carried out, which may take long."""
        self._working += 1

    def end_work(self, now: float) -> None:
        """Note that it is done."""
        self._working -= 1
        self.answered(now)

    def begin_write(self) -> None:
        """Note that the terminal takes no more text for now; it may be a slow one."""
        self._blocked += 1

    def end_write(self, now: float) -> None:
        """Note that the terminal took the text."""
        self._blocked -= 1
        if not self._blocked:
            self._answered = max(self._answered, now - HUNG_AFTER_S / 2)

    def look(self, now: float, cpu_s: float = 0.0) -> Verdict:
        """Return what is to be done now; call it several times a second.

        ``cpu_s`` is the processor time that the main thread has had.
        """
        self._cpu_s = cpu_s
        if cpu_s - self._cpu_at_move_s > IDLE_S:
            self._cpu_at_move_s, self._moved = cpu_s, now
        late, self._looked = now - self._looked > STOPPED_S, now
        if late:
            self.answered(now)
        if self._interrupted is not None:
            is_deaf = now - self._interrupted > INTERRUPTED_WITHIN_S
            return Verdict.KILL if is_deaf else Verdict.WAIT
        if self._asked is not None:
            is_due = now - self._asked > END_WITHIN_S
        else:
            patience = WORK_MAX_S if self._working else self._patience(now)
            is_due = self.is_hung = not self._blocked and now - self._answered > patience
        if not is_due:
            return Verdict.WAIT
        self._interrupted = now
        return Verdict.INTERRUPT

    def _patience(self, now: float) -> float:
        is_busy = self._cpu_s - self._cpu_at_answer_s >= BUSY_S
        is_idle = now - self._moved > IDLE_FOR_S
        return HUNG_AFTER_S if is_busy or is_idle else STARVED_MAX_S
