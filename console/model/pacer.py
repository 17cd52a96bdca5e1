"""The pacer moves the time cursor by the wall clock at a chosen speed, or pauses it.

It owns the only two facts about time that are not in the source: whether it runs, and how
fast. It never decides what happens, only how far to go in a frame, and it does so within a budget
so that keys stay quick.
"""

from typing import Final

from sessions.sources.source import Source
from sessions.text import US_PER_SECOND

SPEEDS: Final = tuple(2.0**power for power in range(-4, 9))
"""Virtual seconds per wall second: 1/16 to 256."""
FASTEST: Final = 2.0**14
"""As fast as the machine can: more than a frame's budget allows wherever anything happens."""
FRAMES_PER_SECOND: Final = 10
FRAME_BUDGET_MS: Final = 40.0
"""How long one frame may spend on moving the cursor."""
CATCH_UP_MAX_S: Final = 0.5
"""The most wall time that a frame makes up for, such as after the machine was suspended."""


MEASURED_S: Final = 1.0
"""The wall time over which the actual speed is measured."""
BEHIND_SHARE: Final = 0.8
"""Below this share of the chosen speed, the actual speed is shown."""


class Pacer:
    """Moves a source's cursor frame by frame."""

    def __init__(self, source: Source, *, paused: bool = False, speed: float = 1.0) -> None:
        self.source = source
        self.paused = paused
        if paused:
            source.stand_still()
        self.speed = speed
        self.managed = 0.0
        self.came_from = source.seq
        """The cursor's position before it was last moved by hand."""
        self._wanted_s = self._passed_s = 0.0

    def frame(self, wall_seconds: float) -> int:
        """Advance by a frame of ``wall_seconds``; return how many events were applied."""
        if self.paused:
            return 0
        if not self.source.goes_on and self.source.at_tail:
            self.paused = True
            return 0
        before_us = self.source.time_us
        applied = self.source.advance(
            min(wall_seconds, CATCH_UP_MAX_S), self.speed, FRAME_BUDGET_MS
        )
        self._measure(wall_seconds, (self.source.time_us - before_us) / US_PER_SECOND)
        return applied

    def _measure(self, wall_seconds: float, passed_s: float) -> None:
        """Measure the actual speed about once a second."""
        self._wanted_s += wall_seconds
        self._passed_s += max(0.0, passed_s)
        if self._wanted_s >= MEASURED_S:
            self.managed = self._passed_s / self._wanted_s
            self._wanted_s = self._passed_s = 0.0

    @property
    def is_behind(self) -> bool:
        """Whether time has recently passed clearly slower than the chosen speed."""
        return not self.paused and 0 < self.managed < self.speed * BEHIND_SHARE

    def faster(self) -> None:
        """Double the speed, up to 256; after that, as fast as possible."""
        self.speed = FASTEST if self.speed >= SPEEDS[-1] else self.speed * 2
        self.managed = 0.0

    def slower(self) -> None:
        """Halve the speed, down to 1/16."""
        self.speed = SPEEDS[-1] if self.speed == FASTEST else max(self.speed / 2, SPEEDS[0])

    def toggle(self) -> None:
        """Pause or continue; playing at the end of a recording restarts it from its beginning."""
        if self.paused and not self.source.goes_on and self.source.at_tail:
            self.source.seek_seq(0)
        self.paused = not self.paused
        if self.paused:
            self.source.stand_still()

    def step(self, events: int) -> None:
        """Pause, and move by single events."""
        self.hold()
        self.source.step(events)

    def seek_seq(self, seq: int) -> None:
        self.hold()
        self.source.seek_seq(max(0, min(seq, self.source.last_seq)))

    def seek_time(self, time_us: int) -> None:
        self.hold()
        self.source.seek_time(max(0, min(time_us, self.source.last_time_us)))

    def hold(self) -> None:
        """Pause, before the cursor is moved by hand."""
        self.paused = True
        self.came_from = self.source.seq

    def live(self) -> None:
        """Go to the end of what exists and follow it."""
        self.source.to_tail()
        self.paused = not self.source.goes_on

    @property
    def mode(self) -> str:
        """``LIVE`` follows the cluster, ``PAUSED`` holds its cursor, ``REPLAY`` shows the past."""
        if not self.source.goes_on:
            return "REPLAY"
        if self.paused:
            return "PAUSED"
        return "LIVE" if self.source.at_tail else "REPLAY"


def speed_text(speed: float) -> str:
    """``1x``, ``256x``, ``1/16x``, ``max``."""
    if speed == FASTEST:
        return "max"
    return f"{speed:.0f}x" if speed >= 1 else f"1/{1 / speed:.0f}x"
