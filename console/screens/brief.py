"""What the open scenario is about: what to watch, and its questions, answered as one steps on."""

from collections.abc import Collection

from console.model.library import Card
from console.model.questions import answers
from console.model.workspace import Stage
from console.render.scenario_card import briefing_lines
from console.screens.page import PageScreen

BRIEFED_EVENTS_MAX = 20_000
"""In so many events before the time cursor answers to the questions are looked for."""


class BriefScreen(PageScreen):
    """A page that goes with the time cursor."""

    def __init__(self, stage: Stage, card: Card) -> None:
        super().__init__(stage, card.name, ())
        self.card = card
        self._seq = -1
        self._width = 0

    def show_panes(self, changed: Collection[str]) -> None:
        """The questions with the answers that are known at the time cursor."""
        stage, source, width = self.stage, self.stage.source, self.text.columns
        if (source.seq, width) != (self._seq, self._width):
            self._seq, self._width = source.seq, width
            passed = source.events(max(1, source.seq - BRIEFED_EVENTS_MAX), source.seq)
            version = stage.view.state.version or self.card.version
            known = answers(self.card, passed)
            self.text.show(briefing_lines(self.card, version, width, known, stage.view))
        super().show_panes(changed)
