"""Virtual time that follows the wall clock."""

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

    def now_us(self) -> int:
        """The virtual time that belongs to this moment of the wall clock."""
        return self._start_us + int((monotonic() - self._started) * self.speed * US_PER_SECOND)

    def seconds_until(self, time_us: int) -> float:
        """How many seconds of the wall clock are left until a virtual time; 0 if it is past."""
        due = self._started + (time_us - self._start_us) / (self.speed * US_PER_SECOND)
        return max(0.0, due - monotonic())

    def slip(self, time_us: int) -> None:
        """The cluster has come to ``time_us``: go on from there if it lags too far behind."""
        if self.now_us() - time_us > SLIP_US:
            self._start_us, self._started = time_us, monotonic()
