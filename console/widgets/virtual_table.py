"""The table for 100,000 rows: sorted, filtered, repainted row by row.

Its rows are keys in a :class:`console.model.row_order.RowOrder`; a row is looked up and drawn only
when it is visible. The cursor is a key, so it stays on its row while others move; until the user
moves it, it stays on the first row, which by default is the most severe.
"""

from collections.abc import Callable, Collection, Hashable
from typing import ClassVar, Final, Generic

from textual.message import Message
from textual.reactive import var
from textual.strip import Strip

from console.model.filters import Filter
from console.model.row_order import RowOrder, everything
from console.model.workspace import Stage
from console.render.columns import Column, Placed, Row, Rows, place, row_line, title_line
from console.render.lines import Line, Span, line
from console.widgets.filtered import Filtered
from console.widgets.virtual_view import VirtualView
from sessions.text import json_text

BEHIND: Final = -1
"""Not a valid turn of the stage: everything must be refreshed."""
MARK_WIDTH = 2
"""Columns before each row, for the cursor's mark."""


class VirtualTable(Filtered, VirtualView, Generic[Row]):
    """A sortable, filterable table over :class:`console.render.columns.Rows`."""

    filters_live: ClassVar[bool] = True
    faults_only: var[bool] = var(False, init=False)
    """Whether only rows with a fault are shown."""
    wide: var[bool] = var(False, init=False)
    """Whether all columns are shown, which can be scrolled sideways, or as many as fit."""

    class Arranged(Message):
        """Posted when the sort order, filter or number of rows changed, for surrounding titles."""

    def __init__(self, stage: Stage, rows: Rows[Row], *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.rows = rows
        self.filter_hint = rows.filter_hint
        self.order: RowOrder[str] = RowOrder()
        self.sorted_by = rows.columns[0]
        self.filter: Filter[Row] = Filter()
        self.key: str | None = None
        self.pins: list[str] = []
        self.placed: list[Placed[Row]] = []
        self.first_column = 0
        self._layout: tuple[tuple[str, int], ...] = ()
        self._generation: Hashable = None
        self._turn = BEHIND

    # ---- lines

    @property
    def is_behind(self) -> bool:
        """Return whether rows may have been added or removed since the last update."""
        return not self.stage.is_followed or self.rows.generation() != self._generation

    def render_line(self, y: int) -> Strip:
        """Draw a line; while the table is out of date, it is blank.

        A terminal may redraw a pane between the move of the time cursor and the next frame, and
        before a resumed screen has been updated.
        """
        if self.is_behind:
            self._turn = BEHIND
            return self.paint((), "", self.columns)
        return super().render_line(y)

    def count(self) -> int:
        return len(self.order)

    def version(self, index: int) -> Hashable:
        """Return the row, its content's version, and the visible columns with their positions."""
        key = self.order[index]
        return key, self.rows.version(key), self._layout, key in self.pins

    def draw(self, index: int) -> Line:
        """Draw one row; the cursor's has a mark, for users who cannot rely on colour alone."""
        key, glyphs = self.order[index], self.stage.glyphs
        mark = glyphs.cursor if index == self.cursor_index() else ""
        pin = glyphs.pin if key in self.pins else ""
        return self._row_line(key, f"{mark:1}{pin}")

    def _row_line(self, key: str, mark: str) -> Line:
        cells = row_line(self.placed, self.rows.row(key), self.stage.glyphs.more)
        return line(Span(mark.ljust(MARK_WIDTH), "key"), *cells)

    @property
    def fixed_lines(self) -> int:
        return 1 + len(self.pinned()) if self.pins else 1

    def pinned(self) -> list[str]:
        """The pinned rows that exist, as many as leave room for others."""
        room = max(0, self.scrollable_content_region.height // 2 - 1)
        return [key for key in self.pins if key in self.order][:room]

    def draw_fixed(self) -> list[Line]:
        """Draw the column titles and the pinned rows, which ignore filter and sort order."""
        glyphs = self.stage.glyphs
        arrow = glyphs.descending if self.order.reverse else glyphs.ascending
        titles = (Span(" " * MARK_WIDTH), *title_line(self.placed, self.sorted_by.id, arrow))
        return [titles, *(self._row_line(key, f" {glyphs.pin}") for key in self.pinned())]

    def resize(self) -> None:
        columns, room = self.rows.columns, self.columns - MARK_WIDTH
        self.first_column = max(0, min(self.first_column, self._last_first()))
        self.placed = place(columns, room, wide=self.wide, first=self.first_column)
        self._layout = tuple((one.column.id, one.width) for one in self.placed)
        self._fixed_shown = []
        super().resize()

    def _last_first(self) -> int:
        """Return how far the wide view can scroll until the last column is visible."""
        columns, room = self.rows.columns, self.columns - MARK_WIDTH
        count = sum(not column.sticky for column in columns)
        for first in range(count):
            if place(columns, room, wide=True, first=first)[-1].column is columns[-1]:
                return first
        return max(0, count - 1)

    def columns_shown(self) -> str:
        """Return which of all columns are visible in the wide view; empty if all are."""
        if not self.wide or len(self.placed) == len(self.rows.columns):
            return ""
        sticky = sum(column.sticky for column in self.rows.columns)
        first = self.first_column + sticky + 1
        last = self.first_column + len(self.placed)
        return f"columns {first}-{last} of {len(self.rows.columns)}"

    def _scroll_columns(self, step: int) -> None:
        if self.wide:
            self.first_column += step
            self.resize()
            self.refresh_fixed()
            self.refresh()
            self.post_message(self.Arranged())

    def action_move_left(self) -> None:
        """Scroll the wide view left; the row's name stays."""
        self._scroll_columns(-1)

    def action_move_right(self) -> None:
        """Scroll the wide view right; the row's name stays."""
        self._scroll_columns(1)

    # ---- the cursor is a key

    @property
    def selected(self) -> str | None:
        """The row under the cursor; the first one while it has not been moved.

        None in an empty table.
        """
        if self.key is not None and self.order.position(self.key) is not None:
            return self.key
        return self.order[0] if len(self.order) else None

    def cursor_index(self) -> int | None:
        """Return the current line of the cursor's row."""
        if self.key is not None and (position := self.order.position(self.key)) is not None:
            return position
        return 0 if len(self.order) else None

    def set_cursor(self, index: int) -> None:
        """Move the cursor to the row on this line."""
        self.key = self.order[index]

    def action_move_first(self) -> None:
        """Move to the first row, and stay there as rows change."""
        super().action_move_first()
        self.key = None

    # ---- content

    def missed_rows(self, turn: int) -> Collection[str] | None:
        """Return the rows that have changed since a turn of the stage; None: perhaps all."""
        return None

    def follow(self, changed: Collection[str]) -> None:
        """Apply changed rows, and repaint the visible ones."""
        self._apply(changed)
        if self.rows.is_aging:
            self.refresh_lines_of(self.in_sight())

    def _apply(self, changed: Collection[str]) -> None:
        is_next = self.stage.turn == self._turn + 1
        rows = changed if is_next else self.missed_rows(self._turn)
        self._turn = self.stage.turn
        if rows is None or self.rows.generation() != self._generation:
            self.arrange_rows()
            return
        if self.pins:
            self.refresh_fixed()
        if not rows:
            return
        if self.order.update(rows):
            self._shown_anew()
            self.post_message(self.Arranged())
        else:
            sight = self.in_sight()
            self.refresh_lines_of([index for index in sight if self.order[index] in rows])

    def arrange_rows(self) -> None:
        """Sort and filter all rows again."""
        rows = self.rows
        if rows.generation() != self._generation:
            self._generation = rows.generation()
            self.order.load(rows.keys())
        self.order.revalue(rows.value_of(self.sorted_by), rows.values(self.sorted_by))
        self.choose()

    def choose(self) -> None:
        """Filter all rows again; their sort keys have not changed."""
        self.order.choose(self._row_filter(), self._chosen_ranks())
        self.resize()
        self._shown_anew()
        self.refresh_fixed()
        self.post_message(self.Arranged())

    def _chosen_ranks(self) -> list[int] | None:
        rows, keys = self.rows, self.order.keys
        if self.filter:
            ranks = self.filter.select(rows.texts, rows.rows, len(keys))
        elif self.faults_only:
            ranks = list(range(len(keys)))
        else:
            return None
        return [rank for rank in ranks if rows.is_fault(keys[rank])] if self.faults_only else ranks

    def _shown_anew(self) -> None:
        super().resize()
        if self.key is not None and (index := self.cursor_index()) is not None:
            self.show_line(index)
        self.refresh()

    def _row_filter(self) -> Callable[[str], bool]:
        if not self.filter and not self.faults_only:
            return everything
        rows, chosen, faults_only = self.rows, self.filter, self.faults_only

        def is_shown(key: str) -> bool:
            if faults_only and not rows.is_fault(key):
                return False
            return not chosen or chosen.matches(rows.text(key), rows.row(key))

        return is_shown

    # ---- actions

    def action_faults(self) -> None:
        self.faults_only = not self.faults_only

    def watch_faults_only(self) -> None:
        self.choose()

    def action_wide(self) -> None:
        """Show all columns, or as many as fit."""
        self.wide = not self.wide

    def watch_wide(self) -> None:
        """Choose the columns again, from the first."""
        self.first_column = 0
        self.resize()
        self.refresh_fixed()
        self.refresh()

    def action_pin(self) -> None:
        """Pin the selected row above the others, or unpin it."""
        key = self.selected
        if key is None:
            return
        if key in self.pins:
            self.pins.remove(key)
        else:
            self.pins.append(key)
        self._fixed_shown = []
        self._shown_anew()

    def parse_filter(self, pattern: str) -> Filter[Row]:
        """Check a pattern, which may be a query on the row's fields."""
        return Filter(pattern, self.rows.fields)

    def is_match(self, index: int, pattern: Filter[Row]) -> bool:
        """Return whether the row's text and fields match."""
        key = self.order[index]
        return pattern.matches(self.rows.text(key), self.rows.row(key))

    def action_sort_next(self) -> None:
        """Sort by the column to the right."""
        self._sort_beside(1)

    def action_sort_previous(self) -> None:
        """Sort by the column to the left."""
        self._sort_beside(-1)

    def action_sort_reverse(self) -> None:
        self.order.reverse = not self.order.reverse
        self._shown_anew()
        self.refresh_fixed()
        self.post_message(self.Arranged())

    def _sort_beside(self, step: int) -> None:
        columns = [one.column for one in self.placed]
        ids = [column.id for column in columns]
        place_now = ids.index(self.sorted_by.id) if self.sorted_by.id in ids else 0
        self.sort_by(columns[(place_now + step) % len(columns)])

    def sort_by(self, column: Column[Row]) -> None:
        """Sort by a column; if it is already the sort column, reverse the order."""
        if column.id == self.sorted_by.id:
            self.action_sort_reverse()
            return
        self.sorted_by = column
        self.order.reverse = False
        self.arrange_rows()

    def click_fixed(self, y: int, x: int) -> None:
        """Sort by a clicked title; move the cursor to a clicked pinned row."""
        if y > 0:
            position = self.order.position(self.pinned()[y - 1])
            if position is not None:
                self.move_to(position)
            return
        for one in self.placed:
            if one.x <= x - MARK_WIDTH <= one.x + one.width:
                self.sort_by(one.column)
                return

    def cell_text(self) -> str:
        """The selected row's cell in the sorted column."""
        key = self.selected
        return "" if key is None else self.sorted_by.cell(self.rows.row(key))[0].strip()

    def row_text(self) -> str:
        """The selected row as JSON."""
        key = self.selected
        return "" if key is None else json_text(self.rows.row(key))

    def titles(self) -> list[str]:
        return [column.id for column in self.rows.columns]

    def cells(self, index: int) -> list[str]:
        row = self.rows.row(self.order[index])
        return [column.cell(row)[0].strip() for column in self.rows.columns]

    def record(self, index: int) -> Row:
        return self.rows.row(self.order[index])
