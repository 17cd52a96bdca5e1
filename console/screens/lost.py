"""The records that were ever lost, and where they went: a list that outlives their truncation."""

from collections.abc import Collection
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from console.actions.bindings import bindings_for
from console.model.timeline import READ_BUDGET_MS
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.losses import loss_rows
from console.screens.base import ConsoleScreen
from console.widgets.links import MARK_WIDTH, LinkView
from sessions.text import plural

TOO_MANY = ("Losses are not tracked with this many partitions.", "2 and / lost>0 finds them")
NOTHING = ("No acknowledged record has been lost up to here.", "esc goes back")


class LostScreen(ConsoleScreen):
    """One list."""

    context: ClassVar[str] = "lost"
    is_linked: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("lost")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.list = LinkView(stage, id="losses")
        self.list.index = 1  # the line below the titles

    def compose_body(self) -> ComposeResult:
        yield self.pane(self.list, "lost records")

    def trail(self) -> str:
        return "lost records"

    def show_panes(self, changed: Collection[str]) -> None:
        """The losses up to the time cursor."""
        timeline = self.stage.timeline
        timeline.read_on(READ_BUDGET_MS)
        losses = timeline.losses.up_to(self.stage.source.seq)
        self.list.show(loss_rows(self.stage, losses, self.list.columns - MARK_WIDTH))
        empty = NOTHING if timeline.is_kept else TOO_MANY
        self.list.empty = nothing_lines(*empty, self.list.columns)
        behind = f"read {timeline.share_read:.0%}" if timeline.is_behind else ""
        self.panes[0].entitle("lost records", [plural(len(losses), "record"), behind])

    def is_busy(self) -> bool:
        """Whether the past is still being read."""
        return self.stage.timeline.is_behind or super().is_busy()

    def action_drill(self) -> None:
        """Open the record: its copies, and all that happened to it."""
        self.follow_link(None if self.list.selected is None else self.list.selected.link)
