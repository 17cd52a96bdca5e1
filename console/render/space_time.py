"""A space-time diagram as text: a column for each host, time downwards, messages as arrows.

It is one line an event, so that a log can show it.
"""

from collections.abc import Mapping
from typing import Final

from console.model.space_time import place_of
from console.render.event_text import describe
from console.render.lines import Line, Span, cells, cut, line
from console.styles.glyphs import Glyphs
from emulator.events import ZOOKEEPER, Event, MessageSent
from sessions.model.event_text import host
from sessions.text import clean, number, short_clock

HEAD_WIDTH: Final = 19
"""Columns for the time and the number of an event."""
COLUMN_MIN: Final = 6
NAMED_MIN: Final = 10
"""Columns of this width have room for the word broker."""


class Diagram:
    """Where each host's line runs in a pane of some width."""

    def __init__(
        self,
        hosts: Mapping[int, str],
        width: int,
        glyphs: Glyphs,
        keeper: int | None = ZOOKEEPER,
    ) -> None:
        """Draw ``hosts`` under their names; ``keeper`` is where metadata is written."""
        self.hosts = dict(hosts)
        self.keeper = keeper
        self.glyphs = glyphs
        self.width = width
        self.room = max(COLUMN_MIN, (width - HEAD_WIDTH) // max(1, len(self.hosts)))
        self.columns = {
            host_id: place * self.room + self.room // 2 for place, host_id in enumerate(self.hosts)
        }

    def title(self) -> Line:
        """The hosts, each above its line."""
        row = [" "] * (self.room * len(self.hosts))
        for host_id, full_name in self.hosts.items():
            name = full_name if self.room >= NAMED_MIN else host(host_id)
            begin = max(0, self.columns[host_id] - len(name) // 2)
            row[begin : begin + len(name)] = name
        return cut(
            line(Span(" " * HEAD_WIDTH + "".join(row), "title")), self.width, self.glyphs.more
        )

    def row(self, event: Event, *, role: str, here: bool = False, lost: bool = False) -> Line:
        """One event: an arrow if it is a message, else a point with what happened."""
        sign = self.glyphs.here if here else " "
        head = f"{short_clock(event.time_us)}{number(event.seq):>{HEAD_WIDTH - 11}} "
        if (
            isinstance(event, MessageSent)
            and {event.source, event.destination} <= self.columns.keys()
        ):
            drawn = self._arrow(event, role, lost=lost)
        else:
            drawn = self._point(event, role)
        shown = line(Span(sign, "here"), Span(head, role or "muted"), *drawn)
        return cut(shown, self.width, self.glyphs.more)

    def _lines(self) -> list[Span]:
        row = [Span(" ")] * (self.room * len(self.hosts))
        for column in self.columns.values():
            row[column] = Span(self.glyphs.vertical, "faint")
        return row

    def _arrow(self, event: MessageSent, role: str, *, lost: bool) -> list[Span]:
        glyphs, row = self.glyphs, self._lines()
        begin, end = self.columns[event.source], self.columns[event.destination]
        step = 1 if end > begin else -1
        for column in range(begin, end, step):
            row[column] = Span(glyphs.horizontal, role)
        row[begin] = Span(glyphs.record, role or "strong")
        head = glyphs.offline if lost else glyphs.play if step > 0 else glyphs.left
        row[end - step] = Span(head, "error" if lost else role or "strong")
        left, right = min(begin, end) + 2, max(begin, end) - 2
        label = clean(event.name)[: max(0, right - left)]
        start = left + (right - left - len(label)) // 2
        row[start : start + len(label)] = [Span(sign, role) for sign in label]
        return row

    def _point(self, event: Event, role: str) -> list[Span]:
        """A point on its host's line, with the text on the side that has more room."""
        description = describe(event)
        text = f"{description.word} {description.text}"
        place = place_of(event)
        place = self.keeper if place == ZOOKEEPER else place
        own = role or (description.role if description.role == "error" else "")
        row = self._lines()
        if place is None or place not in self.columns:
            return [Span(f" {text}", own)]
        column = self.columns[place]
        row[column] = Span(self.glyphs.record, own or "strong")
        after, before = self.width - HEAD_WIDTH - column - 3, column - 2
        if after >= min(before, cells(text)):
            return [*row[: column + 1], Span(f" {text}", own)]
        kept = text if cells(text) <= before else text[: before - 1] + self.glyphs.more
        row[column - 1 - len(kept) : column - 1] = [Span(kept, own)]
        return row
