"""The recent past of the counts, second by second, for sparklines.

Samples are facts about the source, keyed by virtual time, so going back in time shows the same line
again; seconds that the cursor has jumped over are unknown, and blank.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from console.formats import US_PER_SECOND

if TYPE_CHECKING:
    from sessions.folding.health import Counts

KEPT_MAX: Final = 3_600
"""Seconds that are kept; one hour."""
GAP_MAX: Final = 120
"""A step over more seconds than this is a jump, and nothing is known of what lies between."""


class History:
    """The counts in each second of virtual time that the cursor has passed."""

    def __init__(self) -> None:
        self._seconds: dict[int, Counts] = {}
        self._last: tuple[int, Counts] | None = None

    def note(self, time_us: int, counts: "Counts") -> None:
        """Remember the counts at the cursor.

        While it goes forward, the seconds it has passed had the counts from before.
        """
        second = time_us // US_PER_SECOND
        if self._last is not None:
            before, sample = self._last
            if before < second <= before + GAP_MAX:
                for passed in range(before + 1, second):
                    self._seconds.setdefault(passed, sample)
        self._seconds[second] = counts
        self._last = (second, counts)
        while len(self._seconds) > KEPT_MAX:
            del self._seconds[next(iter(self._seconds))]

    def values(self, name: str, time_us: int, seconds: int) -> list[int | None]:
        """One count in each of the last ``seconds``; None where it is not known."""
        end = time_us // US_PER_SECOND
        samples = (self._seconds.get(second) for second in range(end - seconds + 1, end + 1))
        return [None if sample is None else getattr(sample, name) for sample in samples]


def sparkline(values: Sequence[int | None], sparks: str, top: int | None = None) -> str:
    """The values as a row of bars, scaled to ``top`` (their highest if left out).

    A blank where nothing is known, the lowest bar for 0.
    """
    highest = max((value for value in values if value is not None), default=0)
    scale = max(1, highest if top is None else top)
    steps = len(sparks) - 1

    def bar(value: int | None) -> str:
        if value is None:
            return " "
        return sparks[min(steps, -(-value * steps // scale))] if value > 0 else sparks[0]

    return "".join(map(bar, values))
