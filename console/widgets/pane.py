"""A titled pane: a rule with its name and state, and one view below it."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from console.model.workspace import Stage
from console.render.bars import rule_line
from console.widgets.text import LabelView
from console.widgets.virtual_view import VirtualView


class Pane(Vertical):
    """One part of a screen.

    ``kind`` is ``main``, ``side``, ``extra`` or ``log``; the style sheet decides which of
    them are hidden first.
    """

    def __init__(self, stage: Stage, view: VirtualView, title: str, kind: str) -> None:
        super().__init__(id=f"pane-{view.id}", classes=f"pane -{kind}")
        self.stage = stage
        self.view = view
        self.kind = kind
        self.name_ = title
        self.heading = LabelView(stage, classes="heading")
        self._parts: tuple[str, ...] = ()

    def compose(self) -> ComposeResult:
        yield self.heading
        yield self.view

    def entitle(self, title: str, parts: Sequence[str] = ()) -> None:
        """Set the title: what the pane shows, and how it is filtered and sorted."""
        self.name_ = title
        self._parts = tuple(parts)
        self.show_heading()

    def show_heading(self) -> None:
        """Draw the heading; the focused pane's is highlighted."""
        focused = self.view.has_focus
        width = self.heading.columns
        self.heading.show([rule_line(self.stage, self.name_, self._parts, width, focused=focused)])
