"""What a job is: a question, and the declared tables that answer it, each with how it is made."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from sessions.analysis.source import Source
from sessions.dataset.schema import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Shown(Struct, frozen=True):
    """A column in the terminal: its header, and an SQL expression over the result."""

    header: str
    value: str


class Result(Struct, frozen=True):
    """A table that a job writes; ``run`` may read those that the job wrote before it.

    Rows are shown by ``worst``, the largest values first, then in order of ``ties``; a result with
    no ``shown`` columns is written only.
    """

    table: Table
    run: "Callable[[Source], DataFrame]"
    title: str
    shown: tuple[Shown, ...] = ()
    worst: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()


class Job(Struct, frozen=True):
    """A question with a name, and the tables that answer it, in the order they are made in."""

    name: str
    question: str
    results: tuple[Result, ...]


def shown(**columns: str) -> tuple[Shown, ...]:
    """Columns by header (``_`` is a space in it) and SQL expression."""
    return tuple(Shown(header.replace("_", " "), value) for header, value in columns.items())


def in_ms(name: str) -> str:
    """SQL for a time column in milliseconds."""
    return f"round({name} / 1000, 3)"
