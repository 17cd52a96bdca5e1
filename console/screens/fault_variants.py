"""A fault compared under other settings, other clients and another release."""

from collections.abc import Collection

from console.model.fault_variants import FaultVariants
from console.model.faults import Fault
from console.model.forecasts import SLICE_S
from console.model.workspace import Stage
from console.render.fault_variants import variant_lines
from console.screens.page import PageScreen
from sessions.text import plural


class FaultVariantsScreen(PageScreen):
    """A page that fills as the variants are worked out."""

    def __init__(self, stage: Stage, fault: Fault) -> None:
        super().__init__(stage, fault.title, ())
        self.compared = FaultVariants(stage.source, fault.statement)

    def is_busy(self) -> bool:
        """Whether there is more to work out."""
        return self.compared.next is not None

    def show_panes(self, changed: Collection[str]) -> None:
        """Continue for a moment, and show what is known."""
        self.compared.go_on(SLICE_S)
        rows = variant_lines(self.compared, self.text.columns, self.stage.glyphs.more)
        self.text.show(rows)
        super().show_panes(changed)
        left = len(self.compared.variants) - len(self.compared.effects)
        left -= len(self.compared.failures)
        said = f"{plural(left, 'variant')} to predict" if left else "what differs is marked"
        self.panes[0].entitle(f"{self.title_}: if ..", [said, "esc goes back"])
