"""A grid of brokers by partitions: a sign for each broker's role for each partition.

Only the visible part is drawn, so 100,000 partitions cost no more than a hundred.
"""

from collections.abc import Hashable
from itertools import groupby

from textual import events

from console.model.workspace import Stage
from console.render.lines import Line, Span, fit, fit_middle, line
from console.styles.glyphs import Glyphs
from console.widgets.virtual_view import VirtualView
from sessions.model.states import PartitionState
from sessions.text import clean

LABEL_WIDTH = 9
"""Columns before the grid, for the brokers' ids."""
CELL_MAX = 6
"""Columns that a partition takes at most."""
PAGE = 16
"""Partitions per page."""


def sign(
    partition: PartitionState, broker: int, glyphs: Glyphs, *, is_frozen: bool = False
) -> tuple[str, str]:
    """A broker's role for a partition: leader, in the ISR, out of it, down, frozen, or none."""
    replica = partition.replica_states.get(broker)
    if broker not in partition.replicas and replica is None:
        return glyphs.no_record, "faint"
    if replica is None or replica.role == "offline":
        return glyphs.offline, "error"
    if is_frozen:
        return glyphs.stalled, "error"
    if partition.leader == broker:
        return glyphs.up, "ok"
    if broker in partition.isr:
        return glyphs.in_sync, "muted"
    return glyphs.under_replicated, "warning"


class HeatView(VirtualView):
    """A line for each broker; the cursor is on a broker and a partition."""

    def __init__(self, stage: Stage, *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.row = 0
        self.tp: str | None = None
        self.first = 0

    @property
    def keys(self) -> list[str]:
        return self.stage.index.keys

    def brokers(self) -> list[int]:
        return sorted(self.stage.view.state.brokers)

    @property
    def cell(self) -> int:
        """Columns of a partition: more than one if there is room for all."""
        columns = self.columns - LABEL_WIDTH
        return max(1, min(CELL_MAX, columns // max(1, len(self.keys))))

    @property
    def room(self) -> int:
        """How many partitions fit."""
        return max(1, (self.columns - LABEL_WIDTH) // self.cell)

    @property
    def column(self) -> int:
        """The place of the partition under the cursor."""
        keys = self.keys
        if self.tp is None or not keys:
            return 0
        if self.tp in self.stage.index.severity:
            return keys.index(self.tp)
        return 0

    def follow(self) -> None:
        self._fit()
        self.resize()
        self.refresh_fixed()
        self.refresh_lines_of(self.in_sight())

    def _fit(self) -> None:
        """Scroll sideways so that the cursor is in sight."""
        column = self.column
        if column < self.first:
            self.first = column
        elif column >= self.first + self.room:
            self.first = column - self.room + 1
        self.first = max(0, min(self.first, len(self.keys) - self.room))

    def shown(self) -> list[str]:
        return self.keys[self.first : self.first + self.room]

    # ---- lines

    @property
    def fixed_lines(self) -> int:
        return 1

    def draw_fixed(self) -> list[Line]:
        """Each topic's name where its partitions begin."""
        text, more = "", self.stage.glyphs.more
        topics = [clean(tp.rpartition("-")[0]) for tp in self.shown()]
        for topic, run in groupby(topics):
            width = len(list(run)) * self.cell
            text += fit(fit_middle(topic, max(0, width - 1), more), width)
        return [line(Span(" " * LABEL_WIDTH), Span(text, "title"))]

    def count(self) -> int:
        return len(self.stage.view.state.brokers)

    def version(self, index: int) -> Hashable:
        """Return the line itself, which is cheap to draw."""
        return self.draw(index)

    def draw(self, index: int) -> Line:
        """One broker: its sign for each partition in sight."""
        broker, glyphs = self.brokers()[index], self.stage.glyphs
        partitions = self.stage.view.state.partitions
        is_frozen = self.stage.view.state.brokers[broker].state == "frozen"
        here = self.tp if index == self.cursor_index() else None
        spans = []
        for tp in self.shown():
            glyph, role = sign(partitions[tp], broker, glyphs, is_frozen=is_frozen)
            spans.append(Span(glyph, "cursor2" if tp == here else role))
            spans.append(Span(" " * (self.cell - 1)))
        mark = glyphs.cursor if index == self.cursor_index() else " "
        return line(Span(fit(f"{mark} {broker:>5}  ", LABEL_WIDTH), "key"), *spans)

    # ---- the cursor

    def cursor_index(self) -> int | None:
        return min(self.row, self.count() - 1) if self.count() else None

    def set_cursor(self, index: int) -> None:
        self.row = index

    def shade(self, index: int) -> str:
        """The cursor is a cell and not a line."""
        return ""

    @property
    def place(self) -> tuple[int, str] | None:
        """The broker and the partition under the cursor."""
        index, keys = self.cursor_index(), self.keys
        if index is None or not keys:
            return None
        return self.brokers()[index], self.keys[self.column]

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the cell under the mouse; a double click opens its partition."""
        event.prevent_default()
        row = self.top + event.y - self.gutter.top - self.fixed_lines
        place = (event.x - self.gutter.left - LABEL_WIDTH) // self.cell
        shown = self.shown()
        if not (0 <= row < self.count() and 0 <= place < len(shown)):
            return
        self.row, self.tp = row, shown[place]
        self.follow()
        self.post_message(self.Selected(self))
        if event.chain > 1:
            self.post_message(self.Chosen(self))

    def _sideways(self, step: int) -> None:
        if self.keys:
            self.tp = self.keys[max(0, min(self.column + step, len(self.keys) - 1))]
            self.follow()

    def action_move_left(self) -> None:
        self._sideways(-1)

    def action_move_right(self) -> None:
        self._sideways(1)

    def action_move_page_up(self) -> None:
        self._sideways(-PAGE)

    def action_move_page_down(self) -> None:
        self._sideways(PAGE)

    def action_move_first(self) -> None:
        self._sideways(-len(self.keys))

    def action_move_last(self) -> None:
        self._sideways(len(self.keys))

    def cell_text(self) -> str:
        return "" if self.place is None else f"{self.place[1]}@{self.place[0]}"

    def row_text(self) -> str:
        return self.cell_text()

    def legend(self) -> str:
        glyphs = self.stage.glyphs
        return (
            f"{glyphs.up} leader  {glyphs.in_sync} ISR  {glyphs.under_replicated} OSR  "
            f"{glyphs.offline} down  {glyphs.stalled} frozen"
        )
