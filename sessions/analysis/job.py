"""What a job is: a declared table, the function that makes it, how its worst rows are shown."""

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


class Job(Struct, frozen=True):
    """A job; rows are shown by ``worst``, the largest values first, then in order of ``ties``."""

    table: Table
    run: "Callable[[Source], DataFrame]"
    title: str
    shown: tuple[Shown, ...]
    worst: tuple[str, ...]
    ties: tuple[str, ...]
