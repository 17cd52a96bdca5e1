"""Virtual time that follows the wall clock."""

from math import inf
from time import monotonic
from typing import Final

US_PER_SECOND: Final = 1_000_000
SLIP_US: Final = 100_000
"""A cluster that lags further than this behind the wall clock gives up to make it good."""


class WallClock:
    """Says how far virtual time may have come, and when it may have come to a moment."""

    def __init__(self, start_us: int, speed: float = 1.0) -> None:
        """It is ``start_us`` now; ``speed`` virtual seconds pass in a second."""
        self.speed = speed
        self._start_us = start_us
        self._started = monotonic()
        self._until = inf

    def now_us(self) -> int:
        """The virtual time that belongs to this moment of the wall clock."""
        passed = min(monotonic(), self._until) - self._started
        return self._start_us + int(passed * self.speed * US_PER_SECOND)

    def seconds_until(self, time_us: int) -> float:
        """How many seconds of the wall clock are left until a virtual time; 0 if it is past."""
        due = self._started + (time_us - self._start_us) / (self.speed * US_PER_SECOND)
        return max(0.0, due - monotonic())

    def slip(self, time_us: int) -> None:
        """The cluster has come to ``time_us``: go on from there if it lags too far behind."""
        if self.now_us() - time_us > SLIP_US:
            self._start_us, self._started = time_us, monotonic()

    def go_on(self, time_us: int, speed: float, seconds: float = inf) -> None:
        """Pass at ``speed``, and stop in ``seconds`` unless this is called again.

        ``time_us`` is where the cluster is, from which time goes on if it had stopped.
        """
        now = monotonic()
        self._start_us = time_us if now >= self._until else self.now_us()
        self._started, self._until, self.speed = now, now + seconds, speed

    @property
    def is_stopped(self) -> bool:
        """Whether time stands still."""
        return monotonic() >= self._until

    def stop(self) -> None:
        """Stand still from now on."""
        self._until = min(self._until, monotonic())
