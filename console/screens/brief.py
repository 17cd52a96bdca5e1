"""A description of the open scenario: what to watch, and questions that stepping answers."""

from collections.abc import Collection

from console.model.library import Card
from console.model.questions import answers
from console.model.workspace import Stage
from console.render.scenario_card import briefing_lines
from console.screens.page import PageScreen

BRIEFED_EVENTS_MAX = 20_000
"""How many events before the time cursor are searched for answers."""


class BriefScreen(PageScreen):
    """A page that follows the time cursor."""

    def __init__(self, stage: Stage, card: Card) -> None:
        super().__init__(stage, card.name, ())
        self.card = card
        self._seq = -1
        self._width = 0

    def show_panes(self, changed: Collection[str]) -> None:
        """Show the questions, and the answers known at the time cursor."""
        stage, source, width = self.stage, self.stage.source, self.text.columns
        if (source.seq, width) != (self._seq, self._width):
            self._seq, self._width = source.seq, width
            passed = source.events(max(1, source.seq - BRIEFED_EVENTS_MAX), source.seq)
            version = stage.view.state.version or self.card.version
            known = answers(self.card, passed)
            self.text.show(briefing_lines(self.card, version, width, known, stage.view))
        super().show_panes(changed)
