"""A list of lines with links: ``enter`` opens what the selected line names."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from console.model.filters import Filter
from console.model.workspace import Stage
from console.render.lines import Line, Span, line, text_of, width_of
from console.render.rows import Row
from console.widgets.filtered import Filtered
from console.widgets.virtual_view import VirtualView
from sessions.text import json_text

MARK_WIDTH = 2
"""Columns before each line, for the cursor's mark."""


class LinkView(Filtered, VirtualView):
    """Shows given rows, with a cursor that stays with its row."""

    filter_hint = "words, re:pattern or !not, in the line"
    filters_live: ClassVar[bool] = True

    def __init__(self, stage: Stage, *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.all_rows: list[Row] = []
        self.rows: list[Row] = []
        self.filter: Filter[Row] = Filter()
        self.index = 0
        self.key: Hashable = None

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows, as far as the filter lets them through."""
        if list(rows) != self.all_rows:
            self.all_rows = list(rows)
            self.choose()

    def choose(self) -> None:
        before = self.rows
        self.rows = [row for row in self.all_rows if not self.filter or self._wants(row)]
        places = {row.key: place for place, row in enumerate(self.rows) if row.key is not None}
        self.index = places.get(self.key, min(self.index, max(0, len(self.rows) - 1)))
        self.resize()
        if len(before) != len(self.rows):
            self.refresh()
            return
        changed = [
            n for n, (old, new) in enumerate(zip(before, self.rows, strict=True)) if old != new
        ]
        self.refresh_lines_of(changed)

    def _wants(self, row: Row) -> bool:
        return self.filter.matches(text_of(row.line).lower(), row)

    # ---- lines

    def count(self) -> int:
        return len(self.rows)

    def version(self, index: int) -> Hashable:
        return self.rows[index].line, index == self.index

    def draw(self, index: int) -> Line:
        """One row; the cursor's has a mark."""
        mark = self.stage.glyphs.cursor if index == self.index else ""
        return line(Span(mark.ljust(MARK_WIDTH), "key"), *self.rows[index].line)

    def sideways(self) -> int:
        """As wide as the widest row, unless all fit."""
        widest = max((MARK_WIDTH + width_of(row.line) for row in self.rows), default=0)
        return widest if widest > self.columns else 0

    # ---- the cursor

    def cursor_index(self) -> int | None:
        return self.index if self.rows else None

    def set_cursor(self, index: int) -> None:
        self.index, self.key = index, self.rows[index].key

    @property
    def selected(self) -> Row | None:
        return self.rows[self.index] if self.rows else None

    # ---- what keys do

    def cell_text(self) -> str:
        row = self.selected
        return "" if row is None else text_of(row.line).strip()

    def row_text(self) -> str:
        """Return the row's object as JSON; its text if it has none."""
        row = self.selected
        if row is None:
            return ""
        return json_text(row.data) if row.data is not None else self.cell_text()
