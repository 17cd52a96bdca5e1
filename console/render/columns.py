"""Columns of a table: their width, their cells, what they are sorted by, which give way first."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from console.render.lines import Line, Span, cells, fit

Row = TypeVar("Row")
Cell = tuple[str, str]
"""A cell's text (safe to print) and its role."""


class Column(Struct, Generic[Row], frozen=True):
    """One column.

    ``value`` is what rows are sorted by, ascending (None: the rows' own order). ``grows``: takes
    what room is left. ``drop``: the column with the highest number goes first when there is too
    little room; 0 stays. ``wide``: only in the wide view.
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


class Placed(Struct, Generic[Row], frozen=True):
    """A column and where it stands."""

    column: Column[Row]
    x: int
    width: int


GAP = 1
"""Blank columns between two columns."""


def total_width(columns: Sequence[Column[Row]]) -> int:
    """What the columns take when none grows."""
    return sum(column.width + GAP for column in columns)


def place(columns: Sequence[Column[Row]], width: int, *, wide: bool) -> list[Placed[Row]]:
    """The columns that fit into ``width``, left to right; with ``wide`` all of them."""
    chosen = [column for column in columns if wide or not column.wide]
    while not wide and total_width(chosen) > width and any(column.drop for column in chosen):
        worst = max(chosen, key=lambda column: column.drop)
        chosen = [column for column in chosen if column is not worst]
    spare = max(0, width - total_width(chosen))
    growing = sum(column.grows for column in chosen)
    placed, x = [], 0
    for column in chosen:
        extra = min(spare // growing, GROWTH_MAX) if column.grows else 0
        placed.append(Placed(column, x, column.width + extra))
        x += column.width + extra + GAP
    return placed


GROWTH_MAX = 26
"""A growing column takes no more than this beyond its width, so that the eye need not travel."""


def row_line(placed: Sequence[Placed[Row]], row: Row, more: str = "~") -> Line:
    """One row of the table."""
    spans: list[Span] = []
    for one in placed:
        text, role = one.column.cell(row)
        blank = Span(" " * max(0, one.width - cells(text)))
        shown = Span(fit(text, min(one.width, cells(text)), more=more), role)
        spans += [blank, shown] if one.column.right else [shown, blank]
        spans.append(Span(" " * GAP))
    return tuple(span for span in spans if span.text)


def title_line(placed: Sequence[Placed[Row]], sorted_by: str, arrow: str) -> Line:
    """The titles; the column that is sorted by is in another role and has an arrow."""
    spans: list[Span] = []
    for one in placed:
        chosen = one.column.id == sorted_by
        room = one.width + GAP if chosen else one.width
        title = one.column.title + (arrow if chosen else "")
        if chosen and one.column.right and cells(title) <= one.width:
            room = one.width
        shown = fit(title, room, right=one.column.right and room == one.width, more="")
        spans.append(Span(shown, "title-sorted" if chosen else "title"))
        spans.append(Span(" " * (one.width + GAP - cells(shown))))
    return tuple(spans)
