"""Tables: their rows, and their columns: widths, cells, sort keys, and which are dropped first."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from console.model.filters import Field
from console.render.lines import Line, Span, cells, fit
from sessions.text import number

Row = TypeVar("Row")
Cell = tuple[str, str]
"""A cell's text (safe to print) and its role."""


class Column(Struct, Generic[Row], frozen=True):
    """One column.

    ``value`` is what rows are sorted by, ascending (None: the rows' own order). ``grows``: takes
    what room is left. ``drop``: the column with the highest number goes first when there is too
    little room; 0 stays. ``wide``: only in the wide view. ``sticky``: it stays when others are
    scrolled away. ``shorten`` makes a text that is too long fit a width; without one its end is cut
    off. A number is never cut: where it does not fit it is rounded (``12.3M``).
    """

    id: str
    title: str
    width: int
    cell: Callable[[Row], Cell]
    value: Callable[[Row], Any] | None = None
    right: bool = False
    grows: bool = False
    drop: int = 0
    wide: bool = False
    sticky: bool = False
    shorten: Callable[[str, int, str], str] | None = None


LESS: Final = -2
"""What rows without a figure are sorted by: it is below every offset, epoch and broker."""


def figure(
    id: str,
    title: str,
    width: int,
    read: Callable[[Row], int | None],
    *,
    role: str = "",
    drop: int = 0,
    wide: bool = False,
) -> Column[Row]:
    """A number; a dash where there is none."""
    return Column(
        id,
        title,
        width,
        lambda row: (number(read(row)), role),
        lambda row: LESS if (value := read(row)) is None else value,
        right=True,
        drop=drop,
        wide=wide,
    )


def amount(
    id: str, title: str, width: int, read: Callable[[Row], int], *, role: str = "", drop: int = 0
) -> Column[Row]:
    """A number of things; the highest first."""
    column = figure(id, title, width, read, role=role, drop=drop)
    return replace(column, value=lambda row: -read(row))


def count(
    id: str,
    title: str,
    width: int,
    read: Callable[[Row], int],
    quiet: str,
    *,
    role: str = "error",
    wide: bool = False,
) -> Column[Row]:
    """A count of something remarkable, ``quiet`` if there is none; the highest first."""

    def cell(row: Row) -> Cell:
        value = read(row)
        return (number(value), role) if value else (quiet, "faint")

    return Column(id, title, width, cell, lambda row: -read(row), right=True, wide=wide)


class Rows(ABC, Generic[Row]):
    """The source of a table's rows; keys are names of objects that events can touch.

    The plural methods return for all rows at once, in the order of :meth:`keys`, what the others
    return for one. Where there may be 100,000 rows, a call for each of them would be too slow.
    """

    filter_hint: ClassVar[str] = ""
    """How its rows can be filtered, for the prompt."""
    is_aging: ClassVar[bool] = False
    """Whether cells change with time alone, such as ages and lags."""
    fields: Mapping[str, Field[Row]]

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column[Row]]:
        """Return the table's columns; they differ only if rows are added or removed as well."""

    @abstractmethod
    def keys(self) -> Sequence[str]:
        """Return all rows, in the order used for rows of equal value."""

    def generation(self) -> Hashable:
        """Return a version that changes when rows are added or removed."""
        return self.keys()

    @abstractmethod
    def row(self, key: str) -> Row:
        """The row at the time cursor."""

    def rows(self) -> Sequence[Row]:
        return [self.row(key) for key in self.keys()]

    @abstractmethod
    def version(self, key: str) -> Hashable:
        """Return a version that changes when the row's cells may have changed."""

    @abstractmethod
    def text(self, key: str) -> str:
        """Return the text that a filter searches, in lower case."""

    def texts(self) -> Sequence[str]:
        return [self.text(key) for key in self.keys()]

    @abstractmethod
    def is_fault(self, key: str) -> bool:
        """Return whether ``f`` matches the row."""

    def value_of(self, column: Column[Row]) -> Callable[[str], Any]:
        """Return the sort key of a row."""
        value = column.value
        return lambda key: 0 if value is None else value(self.row(key))

    def values(self, column: Column[Row]) -> list[Any]:
        """Return the sort keys of all rows."""
        return list(map(self.value_of(column), self.keys()))


class Placed(Struct, Generic[Row], frozen=True):
    """A column and its position."""

    column: Column[Row]
    x: int
    width: int


GAP = 1
"""Blank columns between two columns."""


def total_width(columns: Sequence[Column[Row]]) -> int:
    """The width of the columns when none grows."""
    return sum(column.width + GAP for column in columns)


def place(
    columns: Sequence[Column[Row]], width: int, *, wide: bool, first: int = 0
) -> list[Placed[Row]]:
    """The columns that fit into ``width``, whole, left to right.

    With ``wide`` none gives way by its ``drop``: ``first`` of those that are not sticky are passed
    over, and what follows is shown as far as it fits.
    """
    chosen = _beginning_at(columns, width, first) if wide else _without_least(columns, width)
    spare = max(0, width - total_width(chosen))
    growing = sum(column.grows for column in chosen)
    placed, x = [], 0
    for column in chosen:
        extra = min(spare // growing, GROWTH_MAX) if column.grows else 0
        placed.append(Placed(column, x, column.width + extra))
        x += column.width + extra + GAP
    return placed


def _without_least(columns: Sequence[Column[Row]], width: int) -> list[Column[Row]]:
    chosen = [column for column in columns if not column.wide]
    while total_width(chosen) - GAP > width and any(column.drop for column in chosen):
        worst = max(chosen, key=lambda column: column.drop)
        chosen = [column for column in chosen if column is not worst]
    return chosen


def _beginning_at(columns: Sequence[Column[Row]], width: int, first: int) -> list[Column[Row]]:
    sticky = [column for column in columns if column.sticky]
    others = [column for column in columns if not column.sticky][first:]
    chosen = list(sticky)
    for column in others:
        if total_width([*chosen, column]) - GAP > width and len(chosen) > len(sticky):
            break
        chosen.append(column)
    return chosen


GROWTH_MAX = 26
"""A growing column takes no more than this beyond its width, so that the eye need not travel."""


SCALES: Final = (("", 1), ("K", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))
FIGURE: Final = re.compile(r"-?\d[\d,]*")


def rounded(text: str, width: int) -> str:
    """A whole number in at most ``width`` columns: as it is, without separators, or as ``12.3M``.

    It is rounded down, so that it never says more than there is.
    """
    if len(text) <= width:
        return text
    value = int(text.replace(",", ""))
    if len(str(value)) <= width:
        return str(value)
    for sign, unit in SCALES[1:]:
        whole, rest = divmod(abs(value), unit)
        minus = "-" if value < 0 else ""
        for shown in (f"{minus}{whole}.{rest * 10 // unit}{sign}", f"{minus}{whole}{sign}"):
            if len(shown) <= width and whole < 1_000 * 10:
                return shown
    return text


def fitted(column: Column[Row], text: str, width: int, more: str) -> str:
    """A cell's text in at most ``width`` columns."""
    if cells(text) <= width:
        return text
    if FIGURE.fullmatch(text):
        text = rounded(text, width)
    elif column.shorten is not None:
        text = column.shorten(text, width, more)
    return fit(text, min(width, cells(text)), more=more)


def row_line(placed: Sequence[Placed[Row]], row: Row, more: str = "~") -> Line:
    """Render one row of the table."""
    spans: list[Span] = []
    for one in placed:
        text, role = one.column.cell(row)
        if cells(text) > one.width:
            text = fitted(one.column, text, one.width, more)
        blank = Span(" " * (one.width - cells(text)))
        shown = Span(text, role)
        spans += [blank, shown] if one.column.right else [shown, blank]
        if one is not placed[-1]:
            spans.append(Span(" " * GAP))
    return tuple(span for span in spans if span.text)


def title_line(placed: Sequence[Placed[Row]], sorted_by: str, arrow: str) -> Line:
    """The titles; the column that is sorted by is in another role and has an arrow."""
    spans: list[Span] = []
    for one in placed:
        chosen = one.column.id == sorted_by
        last = one is placed[-1]
        room = one.width + GAP if chosen and not last else one.width
        title = one.column.title + (arrow if chosen else "")
        if chosen and one.column.right and cells(title) <= one.width:
            room = one.width
        shown = fit(title, room, right=one.column.right and room == one.width, more="")
        spans.append(Span(shown, "title-sorted" if chosen else "title"))
        spans.append(Span(" " * (one.width + (0 if last else GAP) - cells(shown))))
    return tuple(spans)
