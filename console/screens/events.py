"""Screen 5, Events: what happened, and why; and one event with its causes and effects."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.fencing import led_to
from console.model.links import Link
from console.model.why import Fold, folded
from console.model.workspace import Stage
from console.render.event_text import describe
from console.render.lines import Span, cut, line, wrap
from console.render.rows import Row
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.links import MARK_WIDTH, LinkView
from emulator.events import Event, LogTruncated
from emulator.events.fields import meaning_of, names_in
from sessions.model.event_text import fields_of
from sessions.model.touches import is_name
from sessions.text import clean, clock, number, plural

FIELD_WIDTH = 18
TRUNCATED_SHOWN_MAX = 20


class EventsScreen(ConsoleScreen):
    """The whole source as a log."""

    context: ClassVar[str] = "events"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("events")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.log_view = EventView(stage, id="log")

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.log_view, "events")

    def show_panes(self, changed: Collection[str]) -> None:
        self.log_view.follow()
        self.panes[0].entitle("events", [self.log_view.status()])

    def action_drill(self) -> None:
        self.open_event_of(self.log_view)

    def action_why(self) -> None:
        """Open the selected event, whose page shows its causes."""
        self.action_drill()

    def action_cursor_here(self) -> None:
        """Move the time cursor to the selected event."""
        if (event := self.log_view.selected) is not None:
            self.open("moment", event.seq)


class EventScreen(ConsoleScreen):
    """One event: its fields, what led to it, and what it led to."""

    context: ClassVar[str] = "event"
    is_linked: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("event")]

    @classmethod
    def of_link(cls, stage: Stage, name: str) -> ConsoleScreen | str:
        return "" if stage.reader.get(int(name)) is None else cls(stage, int(name))

    def __init__(self, stage: Stage, seq: int) -> None:
        super().__init__(stage)
        self.seq = seq
        self.detail = LinkView(stage, id="detail")
        self.chain = EventView(stage, id="chain")

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.chain, "causes and effects", "log")
        yield self.pane(self.detail, "event")

    def begin(self) -> None:
        """Show the chain of events, with the cursor on this event."""
        reader = self.stage.reader
        causes = led_to(reader, self.seq)
        effects = reader.effects(self.seq)
        folds = [link.events for link in folded(causes) if isinstance(link, Fold)]
        self.chain.show_fixed(
            [event.seq for event in (*causes, *effects)],
            [[event.seq for event in fold] for fold in folds],
        )
        self.chain.seq = self.seq
        title = f"{plural(len(causes) - 1, 'cause')}, {plural(len(effects), 'effect')}"
        hint = "enter unfolds" if folds else ""
        self.panes[0].entitle("causes, this event, effects", [title, hint])

    def trail(self) -> str:
        return f"#{self.seq:,}"

    def show_panes(self, changed: Collection[str]) -> None:
        """The fields of the event under the chain's cursor."""
        self.chain.follow()
        event = self.chain.selected
        if event is not None:
            self.panes[1].entitle(
                type(event).__name__, [f"#{number(event.seq)}", clock(event.time_us)]
            )
            self.detail.show(event_rows(event, self.detail.columns, self.stage))

    def selection(self) -> Sequence[str]:
        """The objects that the event itself touches."""
        event = self.chain.selected
        tp, path = getattr(event, "tp", ""), getattr(event, "path", "")
        return tuple(name for name in (tp, path) if name)

    def action_drill(self) -> None:
        """Open another event of the chain; among the fields, what one of them names."""
        pane, event, row = self.current_pane, self.chain.selected, self.detail.selected
        if pane is not None and pane.view is self.detail:
            self.follow_link(None if row is None else row.link)
        elif self.chain.unfold():
            self.repaint()
        elif event is not None and event.seq != self.seq:
            self.open("event", event.seq)

    def action_why(self) -> None:
        event = self.chain.selected
        if event is not None and event.cause:
            self.open("event", event.cause)
        else:
            self.notify("it is a root event: nothing caused it")

    def action_cursor_here(self) -> None:
        """Move the time cursor to the selected event."""
        if (event := self.chain.selected) is not None:
            self.open("moment", event.seq)


LINKED = ("partition", "znode", "broker")
"""Kinds of objects with a screen of their own."""


def link_of(event: Event, field: str) -> Link | None:
    """A link to the object, event or record that a field of an event names."""
    kind, value = type(event), getattr(event, field)
    names, meaning = names_in(kind, field), meaning_of(kind, field)
    if names is not None and names.kind in LINKED:
        return Link(names.kind, str(value)) if value is not None and is_name(value) else None
    if meaning is not None and meaning.unit == "event":
        return Link("event", str(value)) if value else None
    return Link("record", str(value)) if field == "first_record" else None


def event_rows(event: Event, width: int, stage: Stage) -> list[Row]:
    """One event with all its fields; those that name an object link to it.

    A truncation lists the truncated records.
    """
    description = describe(event)
    head = [Span(f"{description.word} ", description.role), Span(description.text, "strong")]
    room = width - MARK_WIDTH
    rows = [Row(cut(line(*head), room), key="head")]
    if event.cause:
        cause = line(Span(f"caused by #{number(event.cause)}", "muted"))
        rows.append(Row(cause, Link("event", str(event.cause)), key="cause"))
    else:
        rows.append(Row(line(Span("a root event: nothing caused it", "muted")), key="cause"))
    for name, text in fields_of(event):
        first, *rest = wrap(text, max(10, room - FIELD_WIDTH))
        link = link_of(event, name)
        shown = line(Span(f"{name:<{FIELD_WIDTH}}", "muted"), Span(first, "accent" if link else ""))
        rows.append(Row(shown, link, getattr(event, name), key=name))
        rows += [Row(line(" " * FIELD_WIDTH, row)) for row in rest]
    return [*rows, *_truncated_rows(event, room, stage)]


def _truncated_rows(event: Event, room: int, stage: Stage) -> list[Row]:
    """The records that a truncation removed, with links."""
    truncation = None
    if isinstance(event, LogTruncated):
        truncation = stage.timeline.losses.truncation(event.tp, event.seq)
    rows: list[Row] = []
    for record in [] if truncation is None else truncation.records[:TRUNCATED_SHOWN_MAX]:
        label = f"{'' if rows else 'records':<{FIELD_WIDTH}}"
        text = f"{clean(stage.view.value(record))}  (record {number(record)})"
        shown = cut(line(Span(label, "muted"), Span(text, "accent")), room, stage.glyphs.more)
        rows.append(Row(shown, Link("record", str(record)), key=("record", record)))
    return rows
