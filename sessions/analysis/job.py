"""What a job is: a question, and the declared tables that answer it, each with how it is made."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from pyspark.sql import DataFrame

from sessions.analysis.tables import DatasetTables
from sessions.dataset.schema import Table


class Shown(Struct, frozen=True):
    """A column in the terminal: its header, the result's columns that it needs, what it makes.

    ``text`` is given their values, none of them null; where one is, there is no value.
    """

    header: str
    columns: tuple[str, ...]
    text: Callable[..., Any] = lambda value: value

    def of(self, row: dict[str, Any]) -> Any:  # noqa: ANN401 - as the columns are
        """What is shown there for a row of the result."""
        values = [row[name] for name in self.columns]
        return None if None in values else self.text(*values)


class Result(Struct, frozen=True):
    """A table that a job writes; ``run`` may read those that the job wrote before it.

    Rows are shown by ``worst``, the largest values first, then in order of ``ties``; a result with
    no ``shown`` columns is written only.
    """

    table: Table
    run: Callable[[DatasetTables], DataFrame]
    title: str
    shown: tuple[Shown, ...] = ()
    worst: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()


class Job(Struct, frozen=True):
    """A question with a name, and the tables that answer it, in the order they are made in."""

    name: str
    question: str
    results: tuple[Result, ...]


def shown(**columns: "str | Shown") -> tuple[Shown, ...]:
    """Columns by header (``_`` is a space in it): the result's own, or what is made of them."""
    made = {
        header.replace("_", " "): Shown("", (value,)) if isinstance(value, str) else value
        for header, value in columns.items()
    }
    return tuple(Shown(header, each.columns, each.text) for header, each in made.items())


def in_ms(name: str) -> Shown:
    """A time column in milliseconds."""
    return rounded(name, 3, 1_000)


def rounded(name: str, digits: int, unit: int = 1) -> Shown:
    """A column in a larger unit, with so many decimals."""
    return Shown("", (name,), lambda value: round(value / unit, digits))


def answered(name: str, yes: str = "yes", no: str = "no") -> Shown:
    """A column of truth in words."""
    return Shown("", (name,), lambda value: yes if value else no)


ACKS: Final = Shown("", ("acks",), lambda acks: "all" if acks == -1 else str(acks))
"""The column ``acks`` as producers write it."""
