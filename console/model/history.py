"""The recent past of the counts, second by second, for sparklines: a function of source and cursor.

The source says where the counts changed; between two such places they stood still.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Final

from sessions.model.health import Counts
from sessions.sources.source import Source
from sessions.text import US_PER_SECOND

KEPT_MAX: Final = 8_192
"""How many seconds' counts are kept: where everything changes, one has thousands."""

Worst = Callable[[list[int]], int]


class History:
    """The counts at any time, as far as the source knows them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._times: list[int] = []
        self._counts: list[Counts] = []
        self._seen = -1
        self._worsts: dict[tuple[str, int, int, Worst], int] = {}

    def _refresh(self) -> None:
        if self.source.last_seq != self._seen:
            self._seen = self.source.last_seq
            samples = self.source.samples()
            self._times = [time_us for _, time_us, _ in samples]
            self._counts = [counts for _, _, counts in samples]
            self._worsts = {}

    def values(self, name: str, time_us: int, seconds: int, worst: Worst = max) -> list[int | None]:
        """The worst of one count in each of the last ``seconds``; None before anything was."""
        self._refresh()
        end = time_us // US_PER_SECOND
        return [
            self._worst_in(name, second, time_us, worst)
            for second in range(end - seconds + 1, end + 1)
        ]

    def _worst_in(self, name: str, second: int, now_us: int, worst: Worst) -> int | None:
        """The worst value in a second, including the value with which it began."""
        begin_us = second * US_PER_SECOND
        end_us = min(begin_us + US_PER_SECOND - 1, now_us)
        first = max(0, bisect_right(self._times, begin_us) - 1)
        last = bisect_right(self._times, end_us)
        if last == 0 or end_us < 0:
            return None
        key = (name, first, last, worst)
        value = self._worsts.get(key)
        if value is None:
            if len(self._worsts) >= KEPT_MAX:
                self._worsts.clear()
            value = worst(list(map(attrgetter(name), self._counts[first:last])))
            self._worsts[key] = value
        return value

    def since(self, time_us: int, holds: Callable[[Counts], bool]) -> int | None:
        """Since when a condition on the counts has held; None if it does not hold."""
        self._refresh()
        place = bisect_right(self._times, time_us) - 1
        since = None
        while place >= 0 and holds(self._counts[place]):
            since = self._times[place]
            place -= 1
        return since


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
