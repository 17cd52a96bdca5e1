"""One record: its content, what its producer was told, where its copies are and were."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.event_log import FoundEvents, TouchScan, search_further
from console.model.records import places_of
from console.model.workspace import Stage
from console.render.record import concerns, story_rows
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.links import LinkView
from emulator.events import Event
from sessions.text import number

STORY_EVENTS_MAX = 512
"""The most events of the record that its history is built from."""


class RecordLog(EventView):
    """The events about one record, with the changes that led to them."""

    def __init__(self, stage: Stage, tp: str, record_id: int, *, id: str) -> None:
        super().__init__(stage, id=id)
        self.record_id = record_id
        self.objects = (tp,)
        partition = stage.view.state.partitions.get(tp)
        self.places = set() if partition is None else places_of(partition, record_id)

    def _is_shown(self, event: Event) -> bool:
        return concerns(event, self.record_id, self.places) and super()._is_shown(event)


class Story:
    """The record's own events, whatever the log below them is filtered by."""

    def __init__(self, stage: Stage, tp: str, record_id: int) -> None:
        partition = stage.view.state.partitions.get(tp)
        places = set() if partition is None else places_of(partition, record_id)
        scan = TouchScan(stage.reader, [tp], lambda event: concerns(event, record_id, places))
        self.stage = stage
        self.log = FoundEvents(stage.reader, scan)

    def events(self) -> list[Event]:
        """Those that have been found, up to the time cursor."""
        search_further(self.log, self.stage.reader)
        last = self.log.index_of(self.stage.source.seq) + 1
        places = range(max(0, last - STORY_EVENTS_MAX), last)
        events = (self.stage.reader.get(self.log.seq_at(place)) for place in places)
        return [event for event in events if event is not None]


class RecordScreen(ConsoleScreen):
    """The drill-down into one record."""

    context: ClassVar[str] = "record"
    is_linked: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("record")]

    @classmethod
    def of_link(cls, stage: Stage, name: str) -> ConsoleScreen | str:
        batch = stage.view.batch(int(name))
        if batch is None:
            return f"record {int(name):,} has not been produced yet"
        return cls(stage, batch.tp, int(name))

    def __init__(self, stage: Stage, tp: str, record_id: int) -> None:
        super().__init__(stage)
        self.tp = tp
        self.record_id = record_id
        self.story = LinkView(stage, id="story")
        self.log_view = RecordLog(stage, tp, record_id, id="log")
        self.history = Story(stage, tp, record_id)

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.story, "record")
        yield self.pane(self.log_view, "events", "log")

    def begin(self) -> None:
        self.log_view.look_again()

    def trail(self) -> str:
        return f"{self.tp} record {number(self.record_id)}"

    def show_panes(self, changed: Collection[str]) -> None:
        """Show its history up to the time cursor."""
        story, log = self.panes
        self.log_view.follow()
        partition = self.stage.view.state.partitions.get(self.tp)
        events, is_all = self.history.events(), self.history.log.complete
        rows = story_rows(self.stage, partition, self.record_id, events, is_all=is_all)
        self.story.show(rows)
        story.entitle(f"record {number(self.record_id)}", [self.tp])
        log.entitle("events of this record", [self.log_view.status()])

    def is_busy(self) -> bool:
        """Whether its events are still being looked for."""
        return not self.history.log.complete or super().is_busy()

    def selection(self) -> Sequence[str]:
        return (self.tp,)

    def next_touch(self, direction: int) -> int | None:
        """The next (1) or previous (-1) event about the record itself, if it has been found."""
        log = self.log_view.log_
        index = log.index_of(self.stage.source.seq)
        here = index >= 0 and log.seq_at(index) == self.stage.source.seq
        place = index + 1 if direction > 0 else index - 1 if here else index
        return log.seq_at(place) if 0 <= place < len(log) else None

    def action_drill(self) -> None:
        """Open what the selected line is about."""
        pane = self.current_pane
        if pane is not None and pane.view is self.log_view:
            self.open_event_of(self.log_view)
        elif (row := self.story.selected) is not None:
            self.follow_link(row.link)

    def action_why(self) -> None:
        """Open the first event about it, with the cause of its production."""
        log = self.log_view.log_
        if len(log):
            self.open("event", log.seq_at(max(0, log.index_of(self.stage.source.seq))))
