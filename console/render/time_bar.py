"""The time bar: all that exists from left to right, how bad it was when, bookmarks, and the cursor.

A function of the source's samples and the cursor. It is worked out anew when what exists has grown
by a column, so a long live session costs no more than a short one.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from console.model.history import sparkline
from console.render.lines import Line, Span, cells, line
from sessions.text import clean, short_clock

if TYPE_CHECKING:
    from console.model.workspace import Stage
    from sessions.model.health import Counts

    Samples = Sequence[tuple[int, int, Counts]]

ROLES: Final = (
    ("offline", "error"),
    ("under_min_isr", "error"),
    ("unclean", "unclean"),
    ("diverged", "diverged"),
    ("at_min_isr", "warning"),
    ("under_replicated", "caution"),
)
"""Counts, worst first, with the role of a bar in which they are not zero."""
LABEL: Final = " urp "
"""What the bars count: under-replicated partitions."""
MARGIN: Final = len(LABEL)
"""Columns before the bar."""


class Bar(Struct, frozen=True):
    """One column: how many partitions were under-replicated at worst, and the role of the worst."""

    height: int | None
    role: str


def worst_of(counts: "list[Counts]") -> Bar:
    """The worst of what held in a column's time; unknown before anything was."""
    if not counts:
        return Bar(None, "faint")
    height = max(max(count.under_replicated, count.offline, count.diverged) for count in counts)
    for name, role in ROLES:
        if any(getattr(count, name) for count in counts):
            return Bar(max(1, height), role)
    return Bar(0, "faint")


class TimeBar:
    """Keeps the bars of what exists."""

    def __init__(self) -> None:
        self._key: tuple[int, int] = (-1, -1)
        self._bars: list[Bar] = []
        self.end_us = 0

    def lines(self, stage: "Stage", width: int) -> list[Line]:
        """The bars, and below them the ends, bookmarks and the cursor."""
        columns = max(1, width - MARGIN - 1)
        end_us = max(1, stage.source.last_time_us)
        grown = end_us // max(1, self.end_us // columns)
        if (columns, grown) != self._key or end_us < self.end_us:
            self.end_us = end_us
            self._key = (columns, end_us // max(1, end_us // columns))
            self._bars = bars_of(stage.source.samples(), columns, end_us)
        return [self._bar_line(stage), self._mark_line(stage, columns)]

    def column_of(self, time_us: int, columns: int) -> int:
        """Where a time is."""
        return min(columns - 1, time_us * columns // max(1, self.end_us))

    def time_at(self, column: int, width: int) -> int:
        """The time of a column of the screen."""
        columns = max(1, width - MARGIN - 1)
        return max(0, column - MARGIN) * self.end_us // columns

    def _bar_line(self, stage: "Stage") -> Line:
        return line(Span(LABEL, "faint"), *bar_spans(self._bars, stage.glyphs.sparks))

    def _mark_line(self, stage: "Stage", columns: int) -> Line:
        """Later names give way to earlier ones; the cursor gives way to nothing."""
        source, glyphs = stage.source, stage.glyphs
        row: list[Span] = [Span(" ")] * columns
        place(row, 0, short_clock(0), "faint")
        end = short_clock(source.last_time_us)
        place(row, columns - len(end) - 1, end, "faint")
        for mark in source.bookmarks():
            name = f"{glyphs.mark}{clean(mark.name)}"
            place(row, self.column_of(mark.time_us, columns), name, "secondary")
        if stage.mark_a is not None:
            row[self.column_of(stage.mark_a.time_us, columns)] = Span("A", "key")
        row[self.column_of(source.time_us, columns)] = Span(glyphs.under_replicated, "here")
        merged = groupby(row, key=lambda span: span.role)
        spans = [Span("".join(span.text for span in run), role) for role, run in merged]
        return line(" " * MARGIN, *spans)


def place(row: list[Span], column: int, text: str, role: str) -> None:
    """Write a text where nothing is written yet; what does not fit is left out."""
    end = column + len(text)
    free = column >= 0 and end <= len(row) and all(span.text == " " for span in row[column:end])
    if free and cells(text) == len(text):
        row[column:end] = [Span(character, role) for character in text]


def bar_spans(bars: "Sequence[Bar]", sparks: str) -> list[Span]:
    """Bars as signs, one column each, in their roles."""
    text = sparkline([bar.height for bar in bars], sparks)
    runs = groupby(zip(text, bars, strict=True), key=lambda pair: pair[1].role)
    return [Span("".join(sign for sign, _ in run), role) for role, run in runs]


def bars_of(samples: "Samples", columns: int, end_us: int) -> list[Bar]:
    """The worst of each of ``columns`` equal parts of what exists."""
    times = [time_us for _, time_us, _ in samples]
    bars = []
    for column in range(columns):
        first = bisect_right(times, column * end_us // columns) - 1
        last = bisect_right(times, (column + 1) * end_us // columns)
        bars.append(worst_of([counts for _, _, counts in samples[max(0, first) : last]]))
    return bars
