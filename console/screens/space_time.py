"""A space-time diagram: what led to an event and what it led to, a column for each host."""

from collections.abc import Collection, Hashable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.fencing import led_to
from console.model.space_time import fates_of, following, hosts_of, keeper_of
from console.model.why import Fold, folded
from console.model.workspace import Stage
from console.render.lines import Line
from console.render.space_time import Diagram
from console.screens.base import ConsoleScreen
from console.screens.events import event_rows
from console.widgets.event_log import EventView
from console.widgets.links import LinkView
from emulator.events import Event
from sessions.text import clock, number, plural


class SpaceTimeView(EventView):
    """Events as a diagram; those that led to the selected one are highlighted."""

    def __init__(self, stage: Stage, *, id: str) -> None:
        super().__init__(stage, id=id)
        self.root_seq = 0
        self.is_whole = False
        self.fates: dict[int, str] = {}
        self._led: frozenset[int] = frozenset()
        self._led_to: int | None = None

    def show_around(self, seq: int) -> None:
        """Show an event's causes and effects, or everything, with the cursor on the event."""
        self.root_seq = seq
        if self.is_whole:
            self.show_all()
        else:
            reader = self.stage.reader
            shown: Sequence[Event] = (*led_to(reader, seq), *following(reader, seq))
            folds = [link.events for link in folded(shown) if isinstance(link, Fold)]
            self.fates = fates_of(shown)
            self.show_fixed(
                [event.seq for event in shown], [[event.seq for event in fold] for fold in folds]
            )
        self.following = False
        self.seq = seq

    def action_faults(self) -> None:
        """Show everything that happened, or only what belongs to the selected event."""
        event = self.selected
        self.is_whole = not self.is_whole
        self.show_around(self.root_seq if event is None else event.seq)

    @property
    def fixed_lines(self) -> int:
        """One line: the names of the hosts."""
        return 1

    @property
    def diagram(self) -> Diagram:
        """Return the positions of the lines in the current pane."""
        state = self.stage.view.state
        return Diagram(hosts_of(state), self.columns, self.stage.glyphs, keeper_of(state))

    def draw_fixed(self) -> list[Line]:
        return [self.diagram.title()]

    def led_to_selected(self) -> frozenset[int]:
        """The numbers of the selected event and of all that led to it."""
        event = self.selected
        seq = None if event is None else event.seq
        if seq != self._led_to:
            self._led_to = seq
            self._led = frozenset(one.seq for one in led_to(self.stage.reader, seq or 0))
            self.refresh()
        return self._led

    def version(self, index: int) -> Hashable:
        """Return the line, and whether it led to the selected event."""
        seq = self.log_.seq_at(index)
        return super().version(index), seq in self.led_to_selected(), len(self.diagram.hosts)

    def draw(self, index: int) -> Line:
        event = self.event_at(index)
        if event is None or self.fold_at(event.seq):
            return super().draw(index)
        role = "" if event.seq in self.led_to_selected() else "muted"
        lost = event.seq in self.fates
        return self.diagram.row(event, role=role, here=index == self._marked, lost=lost)

    def set_cursor(self, index: int) -> None:
        """Select the event, and highlight what led to it."""
        super().set_cursor(index)
        self.led_to_selected()

    # ---- along causes

    def action_move_left(self) -> None:
        """Go to the cause of the selected event."""
        event = self.selected
        if event is None:
            return
        led = [one.seq for one in led_to(self.stage.reader, self.root_seq)]
        place = led.index(event.seq) if event.seq in led else 0
        if before := led[place - 1] if place else event.cause:
            self._go(before)

    def action_move_right(self) -> None:
        """Unfold the line, or go to the first effect of the selected event."""
        if self.unfold():
            return
        event = self.selected
        effects = [] if event is None else self.stage.reader.effects(event.seq, 1)
        if effects:
            self._go(effects[0].seq)

    def _go(self, seq: int) -> None:
        index = self.log_.index_of(seq)
        if index >= 0:
            self.move_to(index)


class SpaceTimeScreen(ConsoleScreen):
    """One diagram, and the fields of the event under the cursor."""

    context: ClassVar[str] = "diagram"
    is_linked: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("diagram")]

    @classmethod
    def of_link(cls, stage: Stage, name: str) -> ConsoleScreen | str:
        if stage.reader.get(int(name)) is None:
            return "nothing has happened yet"
        return cls(stage, int(name))

    def __init__(self, stage: Stage, seq: int) -> None:
        super().__init__(stage)
        self.seq = seq
        self.view = SpaceTimeView(stage, id="space-time")
        self.detail = LinkView(stage, id="detail")

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.view, "space and time")
        yield self.pane(self.detail, "event", "log")

    def begin(self) -> None:
        self.view.show_around(self.seq)

    def trail(self) -> str:
        return f"space and time #{self.view.root_seq or self.seq:,}"

    def show_panes(self, changed: Collection[str]) -> None:
        """The diagram, and the fields of what is selected."""
        self.view.follow()
        shown = plural(self.view.count(), "event")
        around = "everything" if self.view.is_whole else "what led to it, and what it led to"
        self.panes[0].entitle(f"#{number(self.view.root_seq)} in space and time", [around, shown])
        event = self.view.selected
        if event is not None:
            self.panes[1].entitle(
                type(event).__name__, [f"#{number(event.seq)}", clock(event.time_us)]
            )
            self.detail.show(event_rows(event, self.detail.columns, self.stage))

    def action_drill(self) -> None:
        """Unfold the line or open the event; among the fields, open what the selected one names."""
        pane, event, row = self.current_pane, self.view.selected, self.detail.selected
        if pane is not None and pane.view is self.detail:
            self.follow_link(None if row is None else row.link)
        elif not self.view.unfold() and event is not None:
            self.open("event", event.seq)

    def action_cursor_here(self) -> None:
        """Move the time cursor to the selected event."""
        if (event := self.view.selected) is not None:
            self.open("moment", event.seq)
