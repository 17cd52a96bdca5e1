"""A log of events: any number of lines, read from the source as they become visible.

The line of the event under the time cursor has a mark; later events are shown too, but dimmed.
While the log follows, its own cursor moves with the time cursor.
"""

from collections.abc import Hashable, Sequence

from msgspec import structs
from textual import events
from textual.message import Message

from console.model.event_log import (
    AllEvents,
    EventLog,
    FixedEvents,
    FoundEvents,
    PageScan,
    TouchScan,
    kinds_from,
    search_further,
)
from console.model.filters import Filter
from console.model.questions import is_watched
from console.model.workspace import Stage
from console.render.cause_chain import fold_text
from console.render.empty import nothing_lines
from console.render.event_text import describe
from console.render.lines import Line, Span, cut, fit, join_ends, line
from console.widgets.filtered import Filtered
from console.widgets.virtual_view import VirtualView
from emulator.events import CHANGE, FAULT, TRAFFIC, Event
from sessions.format.errors import SessionError
from sessions.text import json_text, number, plural, short_clock

CAUSE_MIN_WIDTH = 70
"""A narrower log omits the cause column."""
NUMBER_WIDTH = 9


class EventView(Filtered, VirtualView):
    """Events as lines: time, number, kind, what happened, cause."""

    filter_hint = "words, re:pattern or !not, in kind and text of the event"

    class EventsChanged(Message):
        """Posted when the log shows other events than before, for surrounding titles."""

    def __init__(self, stage: Stage, *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.log_: EventLog = AllEvents(stage.source)
        self.objects: Sequence[str] = ()
        self.filter: Filter[Event] = Filter()
        self.least = TRAFFIC
        self.levels = (CHANGE, TRAFFIC)
        self.with_causes = True
        self.following = True
        self.seq = 0
        self._marked = -1

    def is_busy(self) -> bool:
        """Return whether the search is still running."""
        return not self.log_.complete

    # ---- which events

    def show_all(self) -> None:
        self.objects = ()
        self.look_again()

    def show_touching(self, objects: Sequence[str]) -> None:
        """Show the events that touch the objects, with the changes that led to them."""
        if list(objects) != list(self.objects):
            self.objects = tuple(objects)
            self.look_again()

    def show_fixed(self, seqs: Sequence[int], folds: Sequence[Sequence[int]] = ()) -> None:
        """Show these events and no others; some of them folded into one line."""
        self.log_ = FixedEvents(seqs, folds)
        self.following = False
        self._shown_anew()

    def choose(self) -> None:
        """Select the lines that match the filter."""
        self.look_again()

    def look_again(self) -> None:
        reader = self.stage.reader
        if self.objects:
            scan = TouchScan(reader, self.objects, self._is_shown, kinds_from(self.least))
            self.log_ = FoundEvents(reader, scan, with_causes=self.with_causes)
        elif self.filter or self.least > TRAFFIC:
            self.log_ = FoundEvents(reader, PageScan(reader, self._is_shown))
        else:
            self.log_ = AllEvents(self.stage.source)
        try:
            search_further(self.log_, reader)
        except SessionError as error:
            self.post_message(self.Unreadable(self, str(error)))
        self._shown_anew()

    def _is_shown(self, event: Event) -> bool:
        if self.least > TRAFFIC and event.level < self.least:
            return False
        if not self.filter:
            return True
        return self.filter.matches(searched(event), event)

    def _shown_anew(self) -> None:
        self.resize()
        if self.following:
            self.show_line(max(0, self.log_.index_of(self.stage.source.seq)))
        self.refresh()
        self.post_message(self.EventsChanged())

    def follow(self) -> None:
        """Search further for matches, and follow the time cursor."""
        anchor = self.log_.seq_at(self.top) if self.top < len(self.log_) else None
        if search_further(self.log_, self.stage.reader):
            self.resize()
            if anchor is not None and not self.following:
                self.scroll_to(y=self.log_.index_of(anchor), animate=False)
            self.refresh()
            self.post_message(self.EventsChanged())
        if not len(self.log_):
            self.empty = nothing_lines(*self.why_empty(), self.columns)
        here = self.log_.index_of(self.stage.source.seq)
        self.resize()
        if self.following:
            self.show_line(max(0, here))
        if here != self._marked:
            self._marked = here
            self.refresh()

    def why_empty(self) -> tuple[str, str]:
        """Explain why there is no line, and which key helps."""
        if not self.log_.complete:
            return "Searching..", "esc goes back"
        if self.filter:
            return f"No event matches {self.filter.text!r}.", "esc clears the filter"
        if self.least == FAULT:
            return "Nothing has gone wrong, and no fault was injected.", "f shows every change"
        if self.least == CHANGE:
            return "Nothing has changed.", "f shows traffic as well"
        return "There are no events.", "L goes to the end of what exists"

    # ---- lines

    def count(self) -> int:
        """The number of events found so far."""
        return len(self.log_)

    def event_at(self, index: int) -> Event | None:
        return self.stage.reader.get(self.log_.seq_at(index)) if index < len(self.log_) else None

    def version(self, index: int) -> Hashable:
        """Return what a line depends on besides its event: the time cursor and folding."""
        seq = self.log_.seq_at(index)
        return seq, index == self._marked, seq > self.stage.source.seq, self.fold_at(seq)

    def draw(self, index: int) -> Line:
        event = self.event_at(index)
        if event is None:
            return ()
        if fold := self.fold_at(event.seq):
            hidden = [self.stage.reader.get(seq) for seq in fold]
            return fold_line([one for one in hidden if one is not None], self.stage, self.columns)
        return event_line(event, self.stage, self.columns, here=index == self._marked)

    # ---- folds

    def fold_at(self, seq: int) -> tuple[int, ...]:
        """Return the events that the line of ``seq`` represents, if there are several."""
        return self.log_.fold_at(seq) if isinstance(self.log_, FixedEvents) else ()

    def unfold(self) -> bool:
        """Expand the selected line; return False if it represents one event."""
        if not isinstance(self.log_, FixedEvents) or not self.log_.unfold(self.seq):
            return False
        self._shown_anew()
        return True

    def action_move_right(self) -> None:
        """Unfold the selected line, or scroll right if it is not folded."""
        if not self.unfold():
            super().action_move_right()

    def action_move_left(self) -> None:
        """Fold the group of the selected event, or scroll left if it is in none."""
        first = self.log_.fold(self.seq) if isinstance(self.log_, FixedEvents) else None
        if first is None:
            super().action_move_left()
            return
        self.seq = first
        self._shown_anew()

    # ---- the cursor is an event

    def cursor_index(self) -> int | None:
        """The selected event's line; the time cursor's while the log follows."""
        if not len(self.log_):
            return None
        seq = self.stage.source.seq if self.following else self.seq
        return max(0, self.log_.index_of(seq))

    def set_cursor(self, index: int) -> None:
        """Move to the event on this line; on the last one, follow."""
        self.seq = self.log_.seq_at(index)
        self.following = False

    @property
    def selected(self) -> Event | None:
        index = self.cursor_index()
        return None if index is None else self.event_at(index)

    def action_move_last(self) -> None:
        """Go to the time cursor, and follow it; if already there, go to the last line."""
        if self.following or isinstance(self.log_, FixedEvents):
            super().action_move_last()
            return
        self.following = True
        self._shown_anew()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Stop following: the user wants to read."""
        self._hold()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._hold()

    def _hold(self) -> None:
        if self.following and len(self.log_):
            self.seq = self.log_.seq_at(max(0, self.log_.index_of(self.stage.source.seq)))
            self.following = False
            self.post_message(self.EventsChanged())

    # ---- actions

    def action_faults(self) -> None:
        fewer, more = self.levels
        self.least = more if self.least == fewer else fewer
        self.look_again()

    def is_match(self, index: int, pattern: Filter[Event]) -> bool:
        event = self.event_at(index)
        return event is not None and pattern.matches(searched(event), event)

    def cell_text(self) -> str:
        """The selected event as a line of text."""
        event = self.selected
        if event is None:
            return ""
        description = describe(event)
        return f"{short_clock(event.time_us)} #{event.seq} {description.word} {description.text}"

    def row_text(self) -> str:
        """The selected event as JSON."""
        event = self.selected
        if event is None:
            return ""
        return json_text({"event": type(event).__name__, **structs.asdict(event)})

    def status(self) -> str:
        """Return how many events are shown, and whether the search is still running."""
        shown = number(len(self.log_))
        if isinstance(self.log_, AllEvents):
            text = plural(len(self.log_), "event")
        else:
            text = f"{shown} of {number(self.stage.source.last_seq)}"
        text += "" if self.log_.complete else " so far"
        text += ", changes only" if self.least == CHANGE else ""
        text += f", filter {self.filter.text}" if self.filter else ""
        return text + (", following" if self.following else "")


def _text_role(level: int, *, watched: bool) -> str:
    """Highlight what a scenario asks to watch for; keep traffic in the background."""
    if watched:
        return "accent"
    return "muted" if level < CHANGE else ""


def searched(event: Event) -> str:
    """Return the text that a filter searches, in lower case."""
    description = describe(event)
    return f"{description.word}\n{description.text}".lower()


def fold_line(hidden: Sequence[Event], stage: Stage, width: int) -> Line:
    """Render several folded events as one line."""
    glyphs = stage.glyphs
    text = f" {glyphs.collapsed} {fold_text(hidden)}"
    return cut(line(Span(text, "muted")), width, glyphs.more)


def event_line(event: Event, stage: Stage, width: int, *, here: bool = False) -> Line:
    """Render one event as a line of at most ``width`` columns."""
    description = describe(event)
    glyphs = stage.glyphs
    future = event.seq > stage.source.seq
    faint = "faint" if future else ""
    watched = not future and is_watched(stage.card, event)
    left = line(
        Span(f"{glyphs.here if here else glyphs.watched if watched else ' '}", "here"),
        Span(short_clock(event.time_us), faint or ("accent" if watched else "muted")),
        Span(f"{number(event.seq):>{NUMBER_WIDTH}} ", faint or "muted"),
        Span(fit(description.word, 7), faint or description.role),
        Span(description.text, faint or _text_role(description.level, watched=watched)),
    )
    if width < CAUSE_MIN_WIDTH:
        return cut(left, width, glyphs.more)
    cause = f"{glyphs.because} {number(event.cause)}" if event.cause else "root"
    return join_ends(left, line(Span(f"{cause:>{NUMBER_WIDTH + 2}} ", "faint")), width, glyphs.more)
