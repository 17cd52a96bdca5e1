"""The fault palette as a table: each fault with a column for each consequence."""

from collections.abc import Sequence

from textual import events

from console.model.faults import Fault, together
from console.model.forecasts import Forecasts
from console.model.workspace import Stage
from console.render.effects import (
    CONSEQUENCES,
    columns_that_fit,
    effect_cells,
    effect_words,
    is_harmful,
    title_cells,
)
from console.render.lines import Line, Span, fit, line
from console.render.rows import Pick
from console.widgets.pick_list import PickView
from console.widgets.prompt import Prompt

TITLE_WIDTH = 31
TITLE_WIDTH_MIN = 20
MARK_WIDTH = 2
"""Columns of the cursor's mark, and of the mark on a selected fault."""
UNKNOWN = "predicting on a copy"
MANY_PARTITIONS = 5_000
"""In a cluster with more partitions, forecasts run in the background."""
VAST_PARTITIONS = 50_000
"""In a cluster with more partitions, only a chosen fault is predicted."""


class FaultView(PickView):
    """Faults with their predicted effects; the selected one is predicted first."""

    def __init__(self, stage: Stage, *, id: str) -> None:
        super().__init__(stage, id=id)
        self.offered: Sequence[Fault] = ()
        self.faults: dict[str, Fault] = {}
        self.forecasts = Forecasts(stage.source)
        self.asked: Fault | None = None
        self.warned = ""
        self._is_unshown = False
        """Whether a background forecast may have a result to show."""

    def show_faults(self, faults: Sequence[Fault], statement: str = "") -> None:
        """Show these faults and start predicting them; select the one of ``statement``."""
        self.offered = faults
        self.forecasts.give_up()
        self.forecasts = Forecasts(
            self.stage.source, in_background=self.is_large or self.stage.can_forecast
        )
        if faults:
            self.key = statement or faults[0].statement
        self.list_faults()

    def list_faults(self) -> None:
        """List the faults, then those marked elsewhere, then all marked ones together."""
        marked = self.stage.marked
        both = [together(list(marked.values()))] if len(marked) > 1 else []
        listed = [*self.offered, *marked.values(), *both]
        self.faults = {fault.statement: fault for fault in listed}
        self.refresh_effects()

    def mark(self) -> None:
        """Mark the fault under the cursor, or unmark it."""
        fault, marked = self.fault, self.stage.marked
        if fault is None:
            return
        if fault.statement in marked:
            del marked[fault.statement]
        elif fault.statement in (offer.statement for offer in self.offered):
            marked[fault.statement] = fault
        else:
            marked.clear()  # all of them together: that was the line of what is marked
        self.list_faults()

    def refresh_effects(self) -> None:
        self.offer([self._pick(fault) for fault in self.faults.values()])
        self.refresh_fixed()

    @property
    def _marks_width(self) -> int:
        """Columns before a title."""
        return MARK_WIDTH * 2 if self.stage.marked else MARK_WIDTH

    @property
    def title_width(self) -> int:
        """The width of titles: that of the widest, if the consequences leave room for it."""
        longest = max((len(fault.title) for fault in self.faults.values()), default=0)
        needed = self._marks_width + sum(column.width + 1 for column in CONSEQUENCES)
        room = max(min(TITLE_WIDTH, self.columns // 2), self.columns - needed)
        return max(TITLE_WIDTH_MIN, min(longest, room))

    @property
    def fixed_lines(self) -> int:
        return 1

    def draw_fixed(self) -> list[Line]:
        begin = Span(" " * self._marks_width + fit("FAULT", self.title_width), "title")
        return [line(begin, *title_cells(columns_that_fit(self._room)))]

    @property
    def _room(self) -> int:
        return self.columns - self._marks_width - self.title_width

    def _pick(self, fault: Fault) -> Pick:
        sign = self.stage.glyphs.pin if fault.statement in self.stage.marked else ""
        more = self.stage.glyphs.more
        title = Span(fit(fault.title, self.title_width, more=more), "strong" * bool(fault.confirm))
        effect = self.forecasts.effect(fault.statement)
        if effect is None or effect.refused:
            cells = line(" ", *self.effect(fault))
        else:
            cells = effect_cells(effect, columns_that_fit(self._room))
        mark = Span(sign.ljust(self._marks_width - MARK_WIDTH), "key")
        shown = line(mark, title, *cells)
        return Pick(fault.statement, shown, f"{fault.title} {fault.statement}")

    def effect(self, fault: Fault) -> Line:
        """The effect in words, or the progress of its forecast."""
        if not self.forecasts.possible:
            why = "a recording cannot be changed" if self.stage.read_only else "cannot be predicted"
            return line(Span(why, "muted"))
        effect = self.forecasts.effect(fault.statement)
        if effect is not None:
            return line(Span(effect_words(effect), "warning" if is_harmful(effect) else "muted"))
        if failure := self.forecasts.failure(fault.statement):
            return line(Span(f"no forecast: {failure}", "warning"))
        share = self.forecasts.share(fault.statement)
        if share is None and self.is_large:
            when = "chosen" if self.is_vast else "selected"
            return line(Span(f"predicted when {when}", "faint"))
        return line(Span("" if share is None else f"{UNKNOWN} {share:.0%}", "faint"))

    def warning(self, fault: Fault) -> str:
        """The hint while the name of the fault's object is being typed."""
        effect = self.forecasts.effect(fault.statement)
        return f"{fault.title}: {UNKNOWN + ' ..' if effect is None else effect_words(effect)}"

    @property
    def fault(self) -> Fault | None:
        return self.faults.get(self.selected)

    def is_busy(self) -> bool:
        return self.forecasts.possible and (self._is_unshown or self._next() is not None)

    def _next(self) -> str | None:
        """The statement to predict next: the selected one, then the others in order.

        The others wait until the list has the focus; in a large cluster until they are selected.
        """
        if self.is_vast or (self.is_large and self.asked is not None):
            order = [] if self.asked is None else [self.asked.statement]
        elif self.is_large:
            order = [self.selected] if self.has_focus else []
        else:
            order = [self.selected, *(self.faults if self.has_focus else ())]
        settled = self.forecasts.is_settled
        return next(
            (statement for statement in order if statement and not settled(statement)), None
        )

    @property
    def is_large(self) -> bool:
        """Whether a forecast would block the screen."""
        return len(self.stage.index.keys) > MANY_PARTITIONS

    @property
    def is_vast(self) -> bool:
        """Whether a copy takes so long that it is made only for a chosen fault."""
        return len(self.stage.index.keys) > VAST_PARTITIONS

    def on_resize(self, event: events.Resize) -> None:
        """Choose the columns that fit into the new width."""
        self.refresh_effects()

    def on_unmount(self) -> None:
        self.forecasts.give_up()

    def look_ahead(self) -> None:
        """Work on the next forecast for a moment."""
        statement = self._next() if self.forecasts.possible else None
        if statement is not None:
            self.forecasts.go_on(statement)
        if statement is not None or self._is_unshown:
            self.refresh_effects()
        self._is_unshown = statement is not None and self.forecasts.in_background

    def warn(self, prompt: Prompt) -> None:
        """Show the effect of the fault being confirmed above the prompt, once it is effect."""
        if self.asked is None or not prompt.is_open:
            self.asked, self.warned = None, ""
        elif self.warning(self.asked) != self.warned:
            self.warned = self.warning(self.asked)
            prompt.say(self.warned)
