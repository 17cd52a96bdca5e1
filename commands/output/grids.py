"""Tables as plain data, and as text: the same rows are used for terminals, pipes and JSON."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sessions.text import clean

if TYPE_CHECKING:
    from rich.table import Table

Cell = str | int | list[int] | list[str] | None

GAP = "  "
NAMES_PART = 3
"""Part of a terminal's width that names in the first column may take without being folded."""


class Grid(Struct, frozen=True):
    """A titled table; ``empty`` is shown if there are no rows.

    The columns ``unprinted`` are for programs: only :meth:`plain` has them.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    empty: str = "none"
    unprinted: tuple[str, ...] = ()

    def plain(self) -> list[dict[str, Cell]]:
        """Return the rows as objects, keyed by column name in lower case."""
        keys = [column.lower().replace(" ", "_") for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]

    @property
    def printed(self) -> "Grid":
        """Return the table as people read it."""
        if not self.unprinted:
            return self
        at = [at for at, column in enumerate(self.columns) if column not in self.unprinted]
        rows = [tuple(row[index] for index in at) for row in self.rows]
        return Grid(self.title, tuple(self.columns[index] for index in at), rows, self.empty)

    @property
    def heading(self) -> str:
        """Return the title, and the ``empty`` text if there are no rows."""
        return self.title if self.rows or not self.empty else f"{self.title}: {self.empty}"

    @property
    def numeric(self) -> list[bool]:
        """Return which columns contain only numbers, and are therefore right-aligned."""
        return [all(isinstance(cell, int | None) for cell in cells) for cells in self._columns()]

    def _columns(self) -> list[tuple[Cell, ...]]:
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)


def shown(cell: Cell) -> str:
    """Format a cell: lists with commas, nothing as ``-``, control characters escaped."""
    if cell is None or cell == []:
        return "-"
    if isinstance(cell, list):
        return ",".join(shown(item) for item in cell)
    return clean(str(cell))


def as_text(grids: Sequence[Grid]) -> str:
    """Format the tables one below another, each with its title; nothing is truncated."""
    return "\n\n".join("\n".join(lines(grid.printed)) for grid in grids) + "\n"


def lines(grid: Grid) -> Iterator[str]:
    """Yield the title and, if there are rows, the headings and a line for each row."""
    from rich.cells import cell_len

    yield clean(grid.heading)
    if not grid.rows:
        return
    table = [
        [clean(column) for column in grid.columns],
        *([shown(cell) for cell in row] for row in grid.rows),
    ]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    numeric = grid.numeric
    for row in table:
        cells = (
            _padded(cell, width - cell_len(cell), is_number)
            for cell, width, is_number in zip(row, widths, numeric, strict=True)
        )
        yield GAP.join(cells).rstrip()


def _padded(cell: str, room: int, is_number: bool) -> str:
    """Pad the cell to its width in terminal columns: some characters take two."""
    return " " * room + cell if is_number else cell + " " * room


def for_terminal(grids: Sequence[Grid], width: int) -> str:
    """Format the tables for a terminal of ``width`` columns: fold long cells, style headings."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=True,
        no_color=True,
        color_system="standard",
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    for at, grid in enumerate(grids):
        console.print("\n" * bool(at) + clean(grid.heading), style="bold")
        if grid.rows:
            console.print(_table(grid.printed, width))
    return out.getvalue()


def _table(grid: Grid, width: int) -> "Table":
    """Lay out a table; its rows' names stay whole where these leave room for the rest."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column, is_number in zip(grid.columns, grid.numeric, strict=True):
        table.add_column(clean(column), justify="right" if is_number else "left", overflow="fold")
    names = [cell_len(shown(row[0])) for row in grid.rows]
    table.columns[0].no_wrap = max(names) <= width // NAMES_PART
    for row in grid.rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    return table
