"""Tables as plain data, and as text: the same rows serve the terminal and the JSON object."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from console.formats import clean

if TYPE_CHECKING:
    from rich.table import Table

Cell = str | int | list[int] | list[str] | None

WIDTH_MAX: Final = 10_000
"""How wide a table may be where there is no terminal: wide enough that nothing is ever cut."""


class Grid(Struct, frozen=True):
    """A titled table; ``empty`` is what stands in place of rows that there are none of."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    empty: str = "none"

    def plain(self) -> list[dict[str, Cell]]:
        """The rows as objects, keyed by column in small letters."""
        keys = [column.lower().replace(" ", "_") for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]


def shown(cell: Cell) -> str:
    """A cell as text: lists with commas, nothing as ``-``, control characters escaped."""
    if cell is None or cell == []:
        return "-"
    if isinstance(cell, list):
        return ",".join(shown(item) for item in cell)
    return clean(str(cell))


def as_text(grids: Sequence[Grid], width: int = WIDTH_MAX, is_terminal: bool = False) -> str:
    """The tables one below the other, each under its title, ending in a newline."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=is_terminal,
        no_color=True,
        color_system="standard" if is_terminal else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    for grid in grids:
        nothing = f": {grid.empty}" if grid.empty and not grid.rows else ""
        console.print(f"{grid.title}{nothing}", style="bold")
        if grid.rows:
            console.print(_table(grid))
        console.print()
    text = out.getvalue()
    lines = text.splitlines() if is_terminal else [line.rstrip() for line in text.splitlines()]
    return "\n".join(lines[:-1]) + "\n"


def _table(grid: Grid) -> "Table":
    """A rich table whose number columns stand right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for index, column in enumerate(grid.columns):
        is_number = all(isinstance(row[index], int | None) for row in grid.rows)
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    return table
