"""The fault palette: faults of the selected object, with their predicted effects."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.faults import Fault
from console.model.workspace import Stage
from console.render.effects import change_rows
from console.render.lines import Span, line, text_of, wrap
from console.render.rows import Row
from console.screens.base import ConsoleScreen
from console.screens.fault_variants import FaultVariantsScreen
from console.screens.messages import FaultChosen
from console.widgets.fault_list import MANY_PARTITIONS, FaultView
from console.widgets.links import MARK_WIDTH, LinkView
from sessions.text import clock, plural


class FaultsScreen(ConsoleScreen):
    """The faults, and the partitions that the selected one would change.

    A harmful fault is inflicted only after the name of its object has been typed.
    """

    context: ClassVar[str] = "faults"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("faults")]

    def __init__(
        self, stage: Stage, subject: str, faults: Sequence[Fault], statement: str = ""
    ) -> None:
        """Offer the faults of ``subject``; the cursor starts on the one of ``statement``."""
        super().__init__(stage)
        self.subject = subject
        self.list = FaultView(stage, id="faults")
        self.effect = LinkView(stage, id="effect")
        self.offered = faults
        self.statement = statement

    def compose_body(self) -> ComposeResult:
        """The list, and below it the partitions that the selected one would change."""
        yield self.pane(self.list, "faults")
        yield self.pane(self.effect, "effect", "log")

    def trail(self) -> str:
        return f"faults of {self.subject}"

    def show_panes(self, changed: Collection[str]) -> None:
        if not self.list.faults:
            self.list.show_faults(self.offered, self.statement)
        self.list.look_ahead()
        self.list.warn(self.prompt)
        at = f"predicted on a copy of the cluster at {clock(self.list.forecasts.time_us)}"
        self.panes[0].entitle(f"faults of {self.subject}", [at])
        self._show_effect()

    def _show_effect(self) -> None:
        """Show the statement, its effect, and what it asks for first."""
        fault, width = self.list.fault, max(20, self.effect.columns - MARK_WIDTH)
        if fault is None:
            why = line(Span("no fault matches; esc clears the filter", "muted"))
            self.effect.show([Row(why)])
            return
        effect = text_of(self.list.effect(fault)) or "not predicted yet"
        rows = [Row(line(Span(f": {fault.statement}", "key")))]
        rows += [Row(line(row)) for row in wrap(effect, width)]
        if self.stage.read_only:
            rows.append(
                Row(line(Span("this is a forecast: nothing is sent to the cluster", "muted")))
            )
        elif fault.confirm:
            rows.append(Row(line(Span(f"asks for a name first: {fault.confirm}", "muted"))))
        rows += [Row(line(Span(row, "muted"))) for row in wrap(self._marking(), width)]
        forecast = self.list.forecasts.effect(fault.statement)
        changes = [] if forecast is None else change_rows(forecast)
        rows += changes
        count = plural(len(changes) - 1, "partition") if changes else ""
        self.panes[1].entitle(fault.title, [f"{count} changed" if count else ""])
        self.effect.show(rows)

    def _marking(self) -> str:
        """What marks are for, where it helps."""
        marked = len(self.stage.marked)
        if not marked:
            return "m marks it: marked faults are predicted and inflicted together, c compares it"
        if marked == 1:
            return "one fault is marked: mark another one, here or on another object"
        return f"{marked} faults are marked: the last line predicts and inflicts them together"

    def action_inflict_mark(self) -> None:
        """Mark the fault under the cursor, to be done together with the others marked."""
        self.list.mark()
        self.repaint()

    def action_inflict_compare(self) -> None:
        """Show what the fault would do under other conditions."""
        fault = self.list.fault
        if fault is None or not self.list.forecasts.possible:
            return
        if self.stage.can_forecast:
            self.app.notify("only a fault of an emulated cluster is compared, which has a past")
            return
        if self.list.is_large:
            self.app.notify(f"more than {MANY_PARTITIONS:,} partitions take too long to compare")
            return
        self.app.push_screen(FaultVariantsScreen(self.stage, fault))

    def action_drill(self) -> None:
        """List the partitions that the fault would change; among them, open the selected one."""
        pane = self.panes[1]
        if self.current_pane is pane:
            self.follow_link(self.effect.selected.link if self.effect.selected else None)
            return
        self.enter_pane(pane)
        first = next((n for n, row in enumerate(self.effect.rows) if row.link is not None), 0)
        self.effect.move_to(first)

    def action_inflict(self) -> None:
        """Inflict the fault under the cursor, then return to the screen below."""
        self.request(FaultChosen(self.list, self.leave))

    def leave(self) -> None:
        """Return to the screen below, which shows the effect."""
        self.call_after_refresh(self._leave)

    def _leave(self) -> None:
        """Dismiss the screen; awaiting the dismissal here would deadlock."""
        if self.is_current:
            self.dismiss()
