"""Virtual time that follows the wall clock."""

from math import inf
from time import monotonic
from typing import Final

US_PER_SECOND: Final = 1_000_000
SLIP_US: Final = 100_000
"""A cluster that falls further behind the wall clock than this does not catch up."""


class WallClock:
    """Computes how far virtual time may advance, and how long to wait until a virtual time."""

    def __init__(self, start_us: int, speed: float = 1.0) -> None:
        """Start at ``start_us``; ``speed`` virtual seconds pass per second."""
        self.speed = speed
        self._start_us = start_us
        self._started = monotonic()
        self._until = inf

    def now_us(self) -> int:
        """Return the current virtual time according to the wall clock."""
        passed = min(monotonic(), self._until) - self._started
        return self._start_us + int(passed * self.speed * US_PER_SECOND)

    def seconds_until(self, time_us: int) -> float:
        """How many seconds of the wall clock are left until a virtual time; 0 if it is past."""
        due = self._started + (time_us - self._start_us) / (self.speed * US_PER_SECOND)
        return max(0.0, due - monotonic())

    def slip(self, time_us: int) -> None:
        """Report that the cluster is at ``time_us``: restart from there if it is too far behind."""
        if self.now_us() - time_us > SLIP_US:
            self._start_us, self._started = time_us, monotonic()

    def go_on(self, time_us: int, speed: float, seconds: float = inf) -> None:
        """Run at ``speed``, and stop in ``seconds`` unless this is called again.

        ``time_us`` is the cluster's time, from which a stopped clock continues.
        """
        now = monotonic()
        self._start_us = time_us if now >= self._until else self.now_us()
        self._started, self._until, self.speed = now, now + seconds, speed

    @property
    def is_stopped(self) -> bool:
        return monotonic() >= self._until

    def stop(self) -> None:
        self._until = min(self._until, monotonic())
