"""A job: a question, and the result tables that answer it, each with the function that makes it."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from pyspark.sql import DataFrame

from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import Table


class TerminalColumn(Struct, frozen=True):
    """A column in the terminal: its header, the result columns that it needs, and its formatter.

    ``text`` receives their values, none of them null; if one is null, the cell is empty.
    """

    header: str
    columns: tuple[str, ...]
    text: Callable[..., Any] = lambda value: value

    def of(self, row: dict[str, Any]) -> Any:  # noqa: ANN401 - as the columns are
        """Return the cell for a row of the result."""
        values = [row[name] for name in self.columns]
        return None if None in values else self.text(*values)


class Result(Struct, frozen=True):
    """A table that a job writes; ``run`` may read tables that the job wrote before it.

    Rows are sorted by ``worst``, largest values first, then by ``ties``; a result without ``shown``
    columns is only written.
    """

    table: Table
    run: Callable[[DatasetTables], DataFrame]
    title: str
    shown: tuple[TerminalColumn, ...] = ()
    worst: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()


class Job(Struct, frozen=True):
    """A named question and the tables that answer it, in the order in which they are made."""

    name: str
    question: str
    results: tuple[Result, ...]


def shown(**columns: "str | TerminalColumn") -> tuple[TerminalColumn, ...]:
    """Return columns by header (``_`` is a space in it): the result's own, or computed ones."""
    cells = {
        header.replace("_", " "): TerminalColumn("", (value,)) if isinstance(value, str) else value
        for header, value in columns.items()
    }
    return tuple(
        TerminalColumn(header, column.columns, column.text) for header, column in cells.items()
    )


def in_ms(name: str) -> TerminalColumn:
    """Return a time column in milliseconds."""
    return rounded(name, 3, 1_000)


def rounded(name: str, digits: int, unit: int = 1) -> TerminalColumn:
    """Return a column in a larger unit, with a number of decimals."""
    return TerminalColumn("", (name,), lambda value: round(value / unit, digits))


def answered(name: str, yes: str = "yes", no: str = "no") -> TerminalColumn:
    """Return a boolean column as words."""
    return TerminalColumn("", (name,), lambda value: yes if value else no)


ACKS: Final = TerminalColumn("", ("acks",), lambda acks: "all" if acks == -1 else str(acks))
"""The column ``acks`` in the notation of producers."""
