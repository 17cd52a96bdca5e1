"""A process's timers: at most one per task is pending, and they end with the process."""

from msgspec import Struct, field

from emulator.protocol import Timer
from emulator.simulation.kernel import Kernel

NEVER_US = 1 << 62
"""Later than any deadline."""


class TimerState(Struct, array_like=True):
    """The due time of each pending task, in microseconds of virtual time.

    ``deadlines`` are additional ones of a task, by their key (a parked request, a fetcher).
    """

    armed: dict[str, int] = field(default_factory=dict)
    deadlines: dict[str, dict[str | int, int]] = field(default_factory=dict)


class Timers:
    """Sets one host's timers.

    A task is a name in the host's dispatch table. Setting a deadline costs a kernel event only if
    it is earlier than the pending one, so most requests, which complete in time, cost none.
    """

    def __init__(self, kernel: Kernel, host: int, state: TimerState) -> None:
        """Set the timers of ``host``, kept in ``state``."""
        self._kernel = kernel
        self._host = host
        self._state = state

    def arm(self, task: str, at_us: int) -> None:
        """Run ``task`` at ``at_us`` at the latest."""
        armed = self._state.armed
        current = armed.get(task)
        if current is None or at_us < current:
            armed[task] = at_us
            kernel = self._kernel
            kernel.schedule(at_us, self._host, Timer(task, "", at_us), kernel.cause, self._host)

    def later(self, task: str, delay_us: int) -> None:
        """Run ``task`` after ``delay_us`` at the latest."""
        self.arm(task, self._kernel.state.now_us + delay_us)

    def cancel(self, task: str) -> bool:
        """Do not run ``task``; return whether it was to be run."""
        return self._state.armed.pop(task, None) is not None

    def is_due(self, message: Timer) -> bool:
        """Whether a timer that fired is the pending one, not one replaced by an earlier timer."""
        armed = self._state.armed
        if armed.get(message.task) != message.number:
            return False
        del armed[message.task]
        return True

    # ---- deadlines: several for one task

    def set_deadline(self, task: str, subject: str | int, at_us: int) -> None:
        """Run ``task`` for ``subject`` at ``at_us``, replacing any earlier deadline for it."""
        state = self._state
        try:
            state.deadlines[task][subject] = at_us
        except KeyError:
            state.deadlines[task] = {subject: at_us}
        current = state.armed.get(task)
        if current is None or at_us < current:
            self.arm(task, at_us)

    def clear_deadline(self, task: str, subject: str | int) -> None:
        pending = self._state.deadlines.get(task)
        if pending is not None:
            pending.pop(subject, None)

    def deadline_of(self, task: str, subject: str | int) -> int | None:
        """The deadline of ``task`` for ``subject``, in microseconds; None if there is none."""
        return self._state.deadlines.get(task, {}).get(subject)

    def overdue(self, task: str) -> list[str | int]:
        """Return and remove the expired deadlines of a task, in the order in which they were set.

        The task runs again for the earliest remaining deadline.
        """
        pending = self._state.deadlines.get(task)
        if not pending:
            return []
        now_us, next_us = self._kernel.state.now_us, NEVER_US
        overdue: list[str | int] = []
        for subject, at_us in pending.items():
            if at_us <= now_us:
                overdue.append(subject)
            elif at_us < next_us:
                next_us = at_us
        for subject in overdue:
            del pending[subject]
        if pending:
            self.arm(task, next_us)
        return overdue
