"""Rows and picks: lines with links, and lines that are chosen by their keys."""

from collections.abc import Hashable
from typing import Any, NamedTuple

from console.model.links import Link
from console.render.lines import Line


class Row(NamedTuple):
    """A line with its link, and the object that ``Y`` copies.

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
