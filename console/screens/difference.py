"""What differs between A and the time cursor, object by object."""

from collections.abc import Collection
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.difference import Change, differences
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.lines import Line, Span, fit, line
from console.render.rows import Row
from console.screens.base import ConsoleScreen
from console.widgets.links import LinkView
from sessions.text import clean, clock, number, plural

OBJECT_WIDTH_MAX = 44
WHAT_WIDTH = 17
VALUE_WIDTH = 26
VALUE_WIDTH_NARROW = 14
ROOMY = 108
"""The least columns at which values are shown."""


class DifferenceScreen(ConsoleScreen):
    """The changes as lines; ``enter`` opens the object."""

    context: ClassVar[str] = "difference"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("difference")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.changes = LinkView(stage, id="changes")
        self.hides_figures = False
        self._shown: tuple[object, ...] = ()

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.changes, "difference")

    def trail(self) -> str:
        return "difference"

    def show_panes(self, changed: Collection[str]) -> None:
        """Show the changes from A to the time cursor; compare again only if one moved."""
        stage = self.stage
        begin, source = stage.mark_a, stage.source
        if begin is None:
            return
        key = (begin.seq, source.seq, self.hides_figures, self.changes.columns)
        if key != self._shown:
            self._shown = key
            changes = [
                change
                for change in differences(begin.view, stage.view)
                if not (self.hides_figures and change.moves)
            ]
            self.changes.show([change_row(change, self.changes.columns) for change in changes])
        ends = f"A #{number(begin.seq)} {clock(begin.time_us)}"
        here = f"here #{number(source.seq)} {clock(source.time_us)}"
        hidden = "without figures" if self.hides_figures else ""
        count = plural(len(self.changes.rows), "difference")
        self.panes[0].entitle("difference", [count, ends, here, hidden])
        reason = "Nothing differs." if source.seq == begin.seq else "Nothing shown here differs."
        self.changes.empty = nothing_lines(reason, ", . < > [ ] { } move in time", 70)

    def action_faults(self) -> None:
        """Hide values that change all the time, such as LEOs, or show them."""
        self.hides_figures = not self.hides_figures

    def action_drill(self) -> None:
        if (row := self.changes.selected) is not None:
            self.follow_link(row.link)


def change_row(change: Change, width: int) -> Row:
    """One change in columns: the object, what of it, at A, and here."""
    value = VALUE_WIDTH if width >= ROOMY else VALUE_WIDTH_NARROW
    room = width - WHAT_WIDTH - 2 * value - 7
    shown: Line = line(
        Span(fit(clean(change.object), max(14, min(OBJECT_WIDTH_MAX, room))), "strong"),
        " ",
        Span(fit(change.what, WHAT_WIDTH), "muted"),
        " ",
        fit(clean(change.before), value),
        " ",
        Span(clean(change.after), "muted" if change.moves else "warning"),
    )
    return Row(shown, change.link, change, (change.object, change.what))
