"""Rows and picks: a line with what it leads to, and a line to choose by its key."""

from collections.abc import Hashable
from typing import Any, NamedTuple

from console.model.links import Link
from console.render.lines import Line


class Row(NamedTuple):
    """One line, what it leads to, and what ``Y`` copies of it.

    ``key`` keeps the cursor on the row when others come and go (None: its place does).
    """

    line: Line
    link: Link | None = None
    data: Any = None
    key: Hashable = None


class Pick(NamedTuple):
    """One line: its key, what it says, and what filters and copying take for its text."""

    key: str
    shown: Line
    text: str
