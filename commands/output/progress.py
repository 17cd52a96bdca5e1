"""A progress bar on standard error, if it is a terminal."""

import shutil
from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Final

from commands.output import streams

Tell = Callable[[str], object]
"""Receives a temporary line; an empty one removes it."""

SECONDS: Final = 0.2
"""Interval between redraws of the bar."""
BAR_CELLS: Final = 24


class Progress:
    """Call it with how much of ``total`` is done; as a context manager it removes its line on exit.

    Tasks that take only a moment show no bar.
    """

    def __init__(
        self,
        title: str,
        unit: str,
        total: int,
        clock: Callable[[], float] = monotonic,
        tell: Tell | None = None,
    ) -> None:
        """Start measuring now; ``tell`` receives the line instead of standard error."""
        self._tell = tell
        self.what = title
        self.unit = unit
        self.total = max(1, total)
        self._clock = clock
        self._began = self._shown_at = clock()

    def __call__(self, done: int) -> None:
        now = self._clock()
        if now - self._shown_at >= SECONDS:
            self._shown_at = now
            self._show(self.line(done, now - self._began)[: _columns() - 1])

    def line(self, done: int, seconds: float) -> str:
        """Format ``exporting a  [#####-----]  45%  1,200 of 2,400 events  312 /s  4 s left``."""
        done = min(done, self.total)
        full = BAR_CELLS * done // self.total
        bar = "#" * full + "-" * (BAR_CELLS - full)
        rate = done / seconds if seconds > 0 else 0.0
        remaining = f"  {(self.total - done) / rate:,.0f} s left" if rate else ""
        return (
            f"{self.what}  [{bar}] {100 * done // self.total:3}%  "
            f"{done:,} of {self.total:,} {self.unit}  {rate:,.0f} /s{remaining}"
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._show("")

    def _show(self, text: str) -> None:
        (self._tell or streams.progress)(text)


def _columns() -> int:
    return shutil.get_terminal_size().columns
