"""The fault palette as a list: each fault with the effect that it would have."""

from collections.abc import Sequence

from console.model.faults import Fault, together
from console.model.forecasts import Foresight
from console.model.workspace import Stage
from console.render.effects import effect_words, is_harmful
from console.render.lines import Line, Span, fit, line
from console.render.rows import Pick
from console.widgets.pick_list import PickView
from console.widgets.prompt import Prompt

TITLE_WIDTH = 34
UNKNOWN = "predicting on a copy"
MANY_PARTITIONS = 5_000
"""A cluster with more partitions than this is copied in the background."""
VAST_PARTITIONS = 50_000
"""Of a cluster with more than this only what is chosen is looked into."""


class FaultView(PickView):
    """Faults; the effect of the one under the cursor is worked out first."""

    def __init__(self, stage: Stage, *, id: str) -> None:
        super().__init__(stage, id=id)
        self.offered: Sequence[Fault] = ()
        self.faults: dict[str, Fault] = {}
        self.foresight = Foresight(stage.source)
        self.asked: Fault | None = None
        self.warned = ""
        self._is_unshown = False
        """What comes to be known in the background is shown at the next look."""

    def show_faults(self, faults: Sequence[Fault]) -> None:
        """Show these, and begin to predict what each would do."""
        self.offered = faults
        self.foresight.give_up()
        self.foresight = Foresight(self.stage.source, in_background=self.is_large)
        if faults:
            self.key = faults[0].statement
        self.list_faults()

    def list_faults(self) -> None:
        """What is marked, wherever it was, stands above: first all of it together."""
        marked = self.stage.marked
        both = [together(list(marked.values()))] if len(marked) > 1 else []
        listed = [*both, *marked.values(), *self.offered]
        self.faults = {fault.statement: fault for fault in listed}
        self.refresh_effects()

    def mark(self) -> None:
        """Take the fault under the cursor together with others, or alone again."""
        fault, marked = self.fault, self.stage.marked
        if fault is None:
            return
        if fault.statement in marked:
            del marked[fault.statement]
        elif fault.statement in (each.statement for each in self.offered):
            marked[fault.statement] = fault
        else:
            marked.clear()  # all of them together: that was the line of what is marked
        self.list_faults()

    def refresh_effects(self) -> None:
        """Say of each fault what is known by now."""
        longest = max((len(each.title) for each in self.faults.values()), default=0)
        width = max(TITLE_WIDTH, min(longest, max(TITLE_WIDTH, self.columns // 2)))
        self.offer([self._pick(fault, width) for fault in self.faults.values()])

    def _pick(self, fault: Fault, width: int) -> Pick:
        marked = self.stage.marked
        sign = self.stage.glyphs.pin if fault.statement in marked else ""
        title = Span(fit(fault.title, width), "strong" if fault.confirm else "")
        shown = line(Span(sign.ljust(2) if marked else "", "key"), title, "  ")
        effect = self.effect(fault)
        return Pick(fault.statement, (*shown, *effect), f"{fault.title} {fault.statement}")

    def effect(self, fault: Fault) -> Line:
        """The effect in words, or how far looking for it has come."""
        if not self.foresight.possible:
            why = "a recording cannot be changed" if self.stage.read_only else "cannot be predicted"
            return line(Span(why, "muted"))
        known = self.foresight.known(fault.statement)
        if known is not None:
            return line(Span(effect_words(known), "warning" if is_harmful(known) else "muted"))
        if failure := self.foresight.failure(fault.statement):
            return line(Span(f"no forecast: {failure}", "warning"))
        share = self.foresight.share(fault.statement)
        if share is None and self.is_large:
            when = "chosen" if self.is_vast else "selected"
            return line(Span(f"worked out when it is {when}", "faint"))
        return line(Span("" if share is None else f"{UNKNOWN} {share:.0%}", "faint"))

    def warning(self, fault: Fault) -> str:
        """What is said while the fault's object has to be named."""
        known = self.foresight.known(fault.statement)
        return f"{fault.title}: {UNKNOWN + ' ..' if known is None else effect_words(known)}"

    @property
    def fault(self) -> Fault | None:
        """The fault under the cursor."""
        return self.faults.get(self.selected)

    def is_busy(self) -> bool:
        """Whether there is more to predict."""
        return self.foresight.possible and (self._is_unshown or self._next() is not None)

    def _next(self) -> str | None:
        """The statement to be looked into next: the cursor's, then the others in order.

        The others wait until somebody is here, and of a large cluster until they are selected.
        """
        if self.is_vast or (self.is_large and self.asked is not None):
            order = [] if self.asked is None else [self.asked.statement]
        elif self.is_large:
            order = [self.selected] if self.has_focus else []
        else:
            order = [self.selected, *(self.faults if self.has_focus else ())]
        settled = self.foresight.is_settled
        return next((each for each in order if each and not settled(each)), None)

    @property
    def is_large(self) -> bool:
        """Whether looking ahead would hold the screen up."""
        return len(self.stage.index.keys) > MANY_PARTITIONS

    @property
    def is_vast(self) -> bool:
        """Whether a copy takes so long that nobody gets one without asking."""
        return len(self.stage.index.keys) > VAST_PARTITIONS

    def on_unmount(self) -> None:
        """Nobody is here any more who wants to know."""
        self.foresight.give_up()

    def look_ahead(self) -> None:
        """Work on the next forecast for a moment."""
        statement = self._next() if self.foresight.possible else None
        if statement is not None:
            self.foresight.go_on(statement)
        if statement is not None or self._is_unshown:
            self.refresh_effects()
        self._is_unshown = statement is not None and self.foresight.in_background

    def warn(self, prompt: Prompt) -> None:
        """Say above the line what the fault that is being confirmed would do, once it is known."""
        if self.asked is None or not prompt.is_open:
            self.asked, self.warned = None, ""
        elif self.warning(self.asked) != self.warned:
            self.warned = self.warning(self.asked)
            prompt.say(self.warned)
