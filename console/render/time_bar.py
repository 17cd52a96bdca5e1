"""The time bar: the verdict over all time from left to right, bookmarks, and the cursor.

A function of the source's samples and the cursor. It is worked out anew when what exists has grown
by a column, so a long live session costs no more than a short one.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from console.model.alerts import begin_of
from console.model.history import sparkline
from console.model.workspace import Stage
from console.render.lines import Line, Span, cells, line
from console.render.verdict import look_of
from console.styles.glyphs import Glyphs
from sessions.model.health import Counts
from sessions.model.verdict import HEALTHY, verdict
from sessions.text import clean, short_clock

Samples = Sequence[tuple[int, int, Counts]]


LABEL: Final = " worst "
"""The measure of the bars: how many partitions are in the worst state, or in any."""
MARGIN: Final = len(LABEL)
"""Columns before the bar."""


class Bar(Struct, frozen=True):
    """One column: the worst verdict of its time, and how many it concerned at most.

    ``glyph`` names the verdict's sign (empty: all was well), ``role`` its colour. ``words`` is its
    headline if people lost something.
    """

    height: int | None
    role: str
    glyph: str = ""
    words: str = ""


def worst_of(counts: list[Counts]) -> Bar:
    """The worst verdict in a column's time; unknown before the cluster existed."""
    if not counts:
        return Bar(None, "faint")
    worst = Counts(*map(max, zip(*map(astuple, counts), strict=True)))
    worst = replace(worst, brokers_up=min(count.brokers_up for count in counts))
    held = verdict(worst)
    if held.kind == HEALTHY:
        return Bar(0, "faint")
    role, glyph = look_of(held, worst)
    concerned = worst.lost if held.kind == "lost" else held.count
    return Bar(max(1, concerned), role, glyph, held.headline if held.is_loss else "")


class TimeBar:
    """The bars, cached."""

    def __init__(self) -> None:
        self._key: tuple[int, int] = (-1, -1)
        self._bars: list[Bar] = []
        self.begin_us = self.end_us = 0

    def lines(self, stage: Stage, width: int, rows: int = 2) -> list[Line]:
        """The bars, and below them the ends, bookmarks and the cursor; in one row, both in one."""
        columns = max(1, width - MARGIN - 1)
        self.begin_us = stage.source.first_time_us
        end_us = max(1, stage.source.last_time_us - self.begin_us)
        grown = end_us // max(1, self.end_us // columns)
        if (columns, grown) != self._key or end_us < self.end_us:
            self.end_us = end_us
            self._key = (columns, end_us // max(1, end_us // columns))
            samples = [
                (seq, us - self.begin_us, counts) for seq, us, counts in stage.source.samples()
            ]
            self._bars = bars_of(samples, columns, end_us)
        if rows == 1:
            return [self._bar_line(stage, self.column_of(stage.source.time_us, columns))]
        return [self._bar_line(stage), self._mark_line(stage, columns)]

    def column_of(self, time_us: int, columns: int) -> int:
        gone_us = max(0, time_us - self.begin_us)
        return min(columns - 1, gone_us * columns // max(1, self.end_us))

    def time_at(self, column: int, width: int) -> int:
        """The time of a column of the screen."""
        columns = max(1, width - MARGIN - 1)
        return self.begin_us + max(0, column - MARGIN) * self.end_us // columns

    def _bar_line(self, stage: Stage, cursor: int | None = None) -> Line:
        spans = bar_spans(self._bars, stage.glyphs.sparks, stage.glyphs)
        if cursor is not None:
            row = [Span(sign, span.role) for span in spans for sign in span.text]
            row[cursor] = Span(stage.glyphs.ascending, "here")
            spans = row
        return line(Span(LABEL, "muted"), *spans)

    def _mark_line(self, stage: Stage, columns: int) -> Line:
        """Draw bookmarks, verdicts in words where there is room, and the cursor over everything."""
        source, glyphs = stage.source, stage.glyphs
        row: list[Span] = [Span(" ")] * columns
        here = self.column_of(source.time_us, columns)
        marked = None if stage.mark_a is None else self.column_of(stage.mark_a.time_us, columns)
        begin, end = short_clock(source.first_time_us), short_clock(source.last_time_us)
        place(row, beside(0, 1, begin, (here, marked)), begin, "faint")
        place(row, beside(columns - len(end) - 1, -1, end, (here, marked)), end, "faint")
        for mark in source.bookmarks():
            name = f"{glyphs.mark}{clean(mark.name)}"
            column = self.column_of(mark.time_us, columns)
            place(row, apart(row, column, len(name)), name, "secondary")
        for words, run in groupby(enumerate(self._bars), key=lambda pair: pair[1].words):
            if words:
                place_first(row, list(run))
        if marked is not None:
            row[marked] = Span("A", "key")
        row[here] = Span(glyphs.ascending, "here")
        merged = groupby(row, key=lambda span: span.role)
        spans = [Span("".join(span.text for span in run), role) for role, run in merged]
        return line(" " * MARGIN, *spans)


def beside(column: int, step: int, text: str, taken: Sequence[int | None]) -> int:
    """The column nearest to ``column`` in a direction where a text covers nothing that is taken."""
    while any(place is not None and column <= place < column + len(text) for place in taken):
        column += step
    return column


def apart(row: Sequence[Span], column: int, length: int) -> int:
    """``column``, or the one beside it where a text has a blank between it and its neighbours."""
    if column and row[column - 1].text != " ":
        return column + 1
    end = column + length
    return column - 1 if end < len(row) and row[end].text != " " else column


def place(row: list[Span], column: int, text: str, role: str) -> bool:
    """Write a text where nothing is written yet; what does not fit is left out (False)."""
    end = column + len(text)
    free = column >= 0 and end <= len(row) and all(span.text == " " for span in row[column:end])
    if not free or cells(text) != len(text):
        return False
    row[column:end] = [Span(character, role) for character in text]
    return True


def place_first(row: list[Span], run: Sequence[tuple[int, Bar]]) -> None:
    """Write the words of a run of columns where it first leaves room for them."""
    for column, bar in run:
        is_apart = not column or row[column - 1].text == " "
        if is_apart and place(row, column, bar.words, bar.role):
            return


def bar_spans(bars: Sequence[Bar], sparks: str, glyphs: Glyphs | None = None) -> list[Span]:
    """Bars as signs, one column each, in their roles.

    With ``glyphs`` the sign of a state stands where it begins to be the worst: a colour alone says
    nothing to some.
    """
    text = list(sparkline([bar.height for bar in bars], sparks))
    roles = [bar.role for bar in bars]
    before = ""
    for column, bar in enumerate(bars):
        if glyphs is not None and bar.glyph and bar.glyph != before:
            text[column] = str(getattr(glyphs, bar.glyph))
            roles[column] = bar.role
        before = bar.glyph
    runs = groupby(zip(text, roles, strict=True), key=lambda pair: pair[1])
    return [Span("".join(sign for sign, _ in run), role) for role, run in runs]


def bars_of(samples: Samples, columns: int, end_us: int) -> list[Bar]:
    """The worst of each of ``columns`` equal parts of what exists.

    Brokers that start with their cluster are no fault.
    """
    times = [time_us for _, time_us, _ in samples]
    begin = begin_of(samples)
    bars = []
    for column in range(columns):
        first = bisect_right(times, column * end_us // columns) - 1
        last = bisect_right(times, (column + 1) * end_us // columns)
        if 0 < last <= begin:
            bars.append(Bar(0, "faint"))
        else:
            first = max(begin, first) if last else 0
            bars.append(worst_of([counts for _, _, counts in samples[max(0, first) : last]]))
    return bars
