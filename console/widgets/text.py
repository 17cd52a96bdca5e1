"""Panes of given lines: inspectors, tapes, help and output."""

from collections.abc import Hashable, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from console.model.filters import Filter
from console.model.workspace import Stage
from console.render.lines import Line, cells, text_of, width_of
from console.render.time_bar import TimeBar
from console.widgets.virtual_view import VirtualView
from sessions.grammar.words import BadWord


class TextView(VirtualView):
    """Shows given lines, and repaints only those that change."""

    has_cursor: ClassVar[bool] = False
    filter_hint = "words, re:pattern or !not; n and N go from line to line"

    def __init__(self, stage: Stage, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(stage, id=id, classes=classes)
        self.lines: list[Line] = []

    def show(self, lines: Sequence[Line]) -> None:
        before, self.lines = self.lines, list(lines)
        if before == self.lines:
            return
        self.resize()  # narrower lines may no longer need a scrollbar
        if len(before) != len(self.lines):
            self.refresh()
            return
        changed = [
            index
            for index, (old, new) in enumerate(zip(before, self.lines, strict=True))
            if old != new
        ]
        self.refresh_lines_of(changed)

    def count(self) -> int:
        return len(self.lines)

    def version(self, index: int) -> Hashable:
        return self.lines[index]

    def draw(self, index: int) -> Line:
        return self.lines[index]

    def set_filter(self, text: str) -> str | None:
        """Go to the first matching line; no line is hidden."""
        try:
            Filter(text)
        except BadWord as error:
            return str(error)
        self.pattern, self.match = text, -1
        if text:
            self.action_find_next()
        return None

    def cell_text(self) -> str:
        return "\n".join(text_of(row).rstrip() for row in self.lines)

    def sideways(self) -> int:
        """As wide as the widest line, unless it was cut to fit."""
        widest = max(map(width_of, self.lines), default=0)
        return widest if widest > self.columns else 0


class LabelView(TextView, can_focus=False):
    """Lines that never have the focus: titles, bars, legends."""

    filter_hint = ""

    class Pressed(Message):
        """Posted when part of a line that stands for an action was clicked."""

        def __init__(self, action: str) -> None:
            self.action = action
            super().__init__()

    def on_click(self, event: events.Click) -> None:
        """Post the action under the mouse."""
        event.stop()
        event.prevent_default()
        end = 0
        for span in self.lines[event.y] if event.y < len(self.lines) else ():
            end += cells(span.text)
            if event.x < end:
                if span.action:
                    self.post_message(self.Pressed(span.action))
                return


class TimeBarView(LabelView, can_focus=False):
    """The time bar; a click on it selects a time."""

    class Pointed(Message):
        """Posted when a time on the bar was clicked."""

        def __init__(self, time_us: int) -> None:
            self.time_us = time_us
            super().__init__()

    def __init__(self, stage: Stage, *, id: str) -> None:
        super().__init__(stage, id=id)
        self.bar = TimeBar()

    def on_click(self, event: events.Click) -> None:
        """Post the time under the mouse."""
        event.stop()
        event.prevent_default()
        self.post_message(self.Pointed(self.bar.time_at(event.x, self.size.width)))
