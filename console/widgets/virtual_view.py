"""A pane that draws only visible lines: the base of tables, logs, trees and texts.

Textual's own table keeps a widget's worth of state for every row; this keeps none. A subclass says
how many lines there are and draws one; what is drawn is cached under a key that names everything it
depends on, so a repaint touches what changed. Roles become styles through component classes, so the
style sheet alone knows colours.
"""

from collections.abc import Hashable
from time import perf_counter
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip

from console.model.filters import Filter
from console.model.workspace import Stage
from console.render.lines import Line, cut, data, line, text_of, width_of
from console.styles.roles import component, over
from console.widgets.export import Exportable
from sessions.format.errors import SessionError

STRIPS_KEPT: Final = 1_024
SIDEWAYS: Final = 8
"""Columns by which the left and right keys scroll."""
FIND_SECONDS: Final = 0.2
"""How long one key press may search for a match."""
FIND_LINES: Final = 64
"""Lines searched between two looks at the clock."""


class PlainBars(ScrollBarRender):
    """Scrollbars of whole cells, which need no glyphs."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


class VirtualView(Exportable, ScrollView, can_focus=True, inherit_bindings=False):
    """Lines drawn on demand below ``fixed_lines`` of titles, with a cursor if ``has_cursor``.

    ``pattern`` is the last filter that was typed. ``n`` looks for it even after the filter has been
    removed.
    """

    has_cursor: ClassVar[bool] = True
    filter_hint: str = ""
    """What can be typed after ``/``; empty where nothing can be filtered."""
    filters_live: ClassVar[bool] = False
    """Whether the filter works while it is typed."""

    empty: reactive[list[Line]] = reactive(list)
    """What is shown while there are no lines: why, and which key helps."""
    match: reactive[int] = reactive(-1)
    """The line to which ``n`` moved in a pane without a cursor; -1 if none."""

    class Selected(Message):
        """Posted when the cursor moved to another line."""

        def __init__(self, view: "VirtualView") -> None:
            self.view = view
            super().__init__()

        @property
        def control(self) -> "VirtualView":
            return self.view

    class Chosen(Selected):
        """Posted when a line was double-clicked."""

    class Unreadable(Selected):
        """Posted when the line that was clicked cannot be read."""

        def __init__(self, view: "VirtualView", reason: str) -> None:
            self.reason = reason
            super().__init__(view)

    class Resized(Selected):
        """Posted when the size of the pane changed."""

    def __init__(self, stage: Stage, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.stage = stage
        self._strips: LRUCache[Hashable, Strip] = LRUCache(STRIPS_KEPT)
        self._styles: dict[tuple[str, str], Style] = {}
        self._fixed_shown: list[Line] = []
        self.pattern = ""

    def on_mount(self) -> None:
        for bar in (self.vertical_scrollbar, self.horizontal_scrollbar):
            bar.renderer = PlainBars  # type: ignore[misc]

    # ---- what a subclass says

    @property
    def fixed_lines(self) -> int:
        """The number of lines at the top that do not scroll."""
        return 0

    def count(self) -> int:
        return 0

    def version(self, index: int) -> Hashable:
        """Everything that a line's text depends on; lines of equal version look the same."""
        return index

    def draw(self, index: int) -> Line:
        return ()

    def draw_fixed(self) -> list[Line]:
        """The titles, ``fixed_lines`` of them."""
        return []

    def cursor_index(self) -> int | None:
        """The cursor's line; None if there is none."""
        return None

    def set_cursor(self, index: int) -> None:
        """Put the cursor on a line."""

    def sideways(self) -> int:
        """The width of the lines; if it exceeds the pane's, the pane scrolls sideways."""
        return 0

    def is_busy(self) -> bool:
        """Whether there is more to show once there is time."""
        return False

    def filter_text(self) -> str:
        """The filter as it was typed; empty if everything is shown."""
        return ""

    def set_filter(self, text: str) -> str | None:
        """Show only lines that match; a sentence says why the filter cannot be understood."""
        return None

    def is_match(self, index: int, pattern: Filter[Any]) -> bool:
        """Whether ``n`` stops at a line."""
        return pattern.matches(text_of(self.draw(index)).lower(), None)

    def cell_text(self) -> str:
        """What ``y`` copies."""
        return ""

    def row_text(self) -> str:
        """What ``Y`` copies: the selected object as JSON."""
        return ""

    # ---- drawing

    @property
    def page(self) -> int:
        """Lines that fit, without the titles."""
        return max(1, self.scrollable_content_region.height - self.fixed_lines)

    @property
    def columns(self) -> int:
        """Columns that fit."""
        return max(1, self.scrollable_content_region.width)

    @property
    def top(self) -> int:
        return self.scroll_offset.y

    def in_sight(self) -> range:
        return range(self.top, min(self.count(), self.top + self.page))

    def render_line(self, y: int) -> Strip:
        width = self.columns
        if y < self.fixed_lines:
            fixed = self._fixed_shown or self.draw_fixed()
            return self.paint(fixed[y] if y < len(fixed) else (), "", width)
        index = self.top + y - self.fixed_lines
        if index >= self.count():
            return self.paint(self._empty_line(y), "", width)
        shade = self.shade(index)
        try:
            key = (self.version(index), shade, width, self.scroll_offset.x)
        except SessionError as error:
            return self.paint(line(data(f" {error}", "error")), shade, width)
        strip = self._strips.get(key)
        if strip is None:
            try:
                strip = self._strips[key] = self.paint(self.draw(index), shade, width)
            except SessionError as error:
                return self.paint(line(data(f" {error}", "error")), shade, width)
        return strip

    def _empty_line(self, y: int) -> Line:
        place = y - self.fixed_lines
        return self.empty[place] if not self.count() and place < len(self.empty) else ()

    def shade(self, index: int) -> str:
        """How the line is highlighted: ``cursor`` in the focused pane, ``selected`` elsewhere."""
        here = self.cursor_index() if self.has_cursor else self.match
        if index != here:
            return ""
        return "cursor" if self.has_focus else "selected"

    def paint(self, spans: Line, shade: str, width: int) -> Strip:
        """Render spans as a strip of exactly ``width`` columns, scrolled sideways."""
        x = self.scroll_offset.x
        if not x:
            spans = cut(spans, width, self.stage.glyphs.more)
        segments = [Segment(span.text, self.style_of(span.role, shade)) for span in spans]
        strip, end = Strip(segments, width_of(spans)), x + width
        return strip.extend_cell_length(end, self.style_of("", shade)).crop(x, end)

    def style_of(self, role: str, shade: str) -> Style:
        """The style of a role on a highlighted line."""
        style = self._styles.get((role, shade))
        if style is None:
            if name := role or shade:
                below = self.style_of("", shade if role else "")
                role_style = self.app.get_component_styles(component(name))
                style = over(below, role_style, name, self.app.console.color_system)
            else:
                style = self.rich_style
            self._styles[role, shade] = style
        return style

    def notify_style_update(self) -> None:
        """Discard what was painted in other colours."""
        super().notify_style_update()
        self.forget()

    def forget(self) -> None:
        self._styles.clear()
        self._strips.clear()
        self.refresh()

    def refresh_lines_of(self, indexes: list[int] | range) -> None:
        """Repaint those of the lines that are visible."""
        width, sight = self.size.width, self.in_sight()
        above = sight.start - self.fixed_lines - self.gutter.top
        for index in indexes:
            if index in sight:
                self.refresh(Region(0, index - above, width, 1))

    def refresh_fixed(self) -> None:
        fixed = self.draw_fixed()
        if fixed != self._fixed_shown:
            self._fixed_shown = fixed
            self.refresh(Region(0, self.gutter.top, self.size.width, self.fixed_lines))

    def resize(self) -> None:
        """Update the virtual size, which the scrollbars show."""
        size = Size(self.sideways(), self.count() + self.fixed_lines)
        if size != self.virtual_size:
            self.virtual_size = size

    # ---- moving

    def move_to(self, index: int) -> None:
        """Move the cursor to a line and show it; without a cursor, scroll the line to the top."""
        if not self.count():
            return
        self.resize()
        index = max(0, min(index, self.count() - 1))
        if not self.has_cursor:
            self.scroll_to(y=index, animate=False)
            return
        before = self.cursor_index()
        self.set_cursor(index)
        self.show_line(index)
        if before is not None:
            self.refresh_lines_of([before])
        self.refresh_lines_of([index])
        self.post_message(self.Selected(self))

    def show_line(self, index: int) -> None:
        """Scroll as little as possible to make the line visible; there may be no scrollbar yet."""
        if index < self.top:
            self.scroll_to(y=index, animate=False, force=True)
        elif index >= self.top + self.page:
            self.scroll_to(y=index - self.page + 1, animate=False, force=True)

    def _place(self) -> int:
        """The line from which moves start."""
        if not self.has_cursor:
            return self.top
        return self.cursor_index() or 0

    def action_move_up(self) -> None:
        self.move_to(self._place() - 1)

    def action_move_down(self) -> None:
        self.move_to(self._place() + 1)

    def action_move_page_up(self) -> None:
        self.move_to(self._place() - self.page)

    def action_move_page_down(self) -> None:
        self.move_to(self._place() + self.page)

    def action_move_first(self) -> None:
        self.move_to(0)

    def action_move_last(self) -> None:
        self.move_to(self.count() - 1)

    def action_move_left(self) -> None:
        self.scroll_to(x=max(0, self.scroll_offset.x - SIDEWAYS), animate=False)

    def action_move_right(self) -> None:
        self.scroll_to(x=self.scroll_offset.x + SIDEWAYS, animate=False)

    # ---- finding

    def action_find_next(self) -> None:
        """Go to the next line that matches the last filter."""
        self._find(1)

    def action_find_previous(self) -> None:
        """Go to the previous line that matches the last filter."""
        self._find(-1)

    def _find(self, step: int) -> None:
        if not self.pattern:
            self.notify("nothing to look for yet: / and some words, then n and N")
            return
        pattern = self.parse_filter(self.pattern)
        count, deadline = self.count(), perf_counter() + FIND_SECONDS
        begin = self._place() if self.has_cursor or self.match < 0 else self.match
        if not self.has_cursor and self.match < 0:
            begin -= step
        for distance in range(1, count + 1):
            index = (begin + step * distance) % count
            if self.is_match(index, pattern):
                self.show_match(index)
                return
            if distance % FIND_LINES == 0 and perf_counter() > deadline:
                self.show_match(index)
                self.notify(f"no match in {distance:,} lines; press again to search further")
                return
        self.notify(f"no line matches {self.pattern}")

    def parse_filter(self, pattern: str) -> Filter[Any]:
        """Parse a pattern as this pane understands it."""
        return Filter(pattern)

    def show_match(self, index: int) -> None:
        """Make a line visible; in a view without a cursor, highlight it."""
        self.move_to(index)
        if not self.has_cursor:
            self.match = index

    # ---- events of the terminal

    def watch_has_focus(self, value: bool) -> None:
        """Repaint the cursor, which looks different in the focused pane."""
        super().watch_has_focus(value)
        if (index := self.cursor_index()) is not None:
            self.refresh_lines_of([index])

    def on_resize(self, event: events.Resize) -> None:
        """Fit the lines to the new size."""
        self.resize()
        self.refresh()
        if self.has_cursor and (index := self.cursor_index()) is not None:
            self.call_after_refresh(self.show_line, index)
        self.post_message(self.Resized(self))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is; a double click opens."""
        y = event.y - self.gutter.top
        if y < self.fixed_lines:
            self.click_fixed(y, event.x - self.gutter.left + self.scroll_offset.x)
            return
        index = self.top + y - self.fixed_lines
        if self.has_cursor and index < self.count():
            try:
                self.move_to(index)
            except SessionError as error:
                self.post_message(self.Unreadable(self, str(error)))
                return
            if event.chain > 1:
                self.post_message(self.Chosen(self))

    def click_fixed(self, y: int, x: int) -> None:
        """Handle a click on the titles."""
