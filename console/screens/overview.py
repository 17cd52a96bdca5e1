"""Screen 1, Overview: is it healthy, and since when?"""

from collections.abc import Collection
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.bindings import bindings_for
from console.describe import FAULT
from console.event_view import EventView
from console.formats import clock, plural
from console.overview_lines import control_lines, health_lines, healthy_sentence
from console.pane import Pane
from console.screens.base import ConsoleScreen
from console.text_view import TextView
from console.topics import Topics

if TYPE_CHECKING:
    from console.stage import Stage


TOPICS_SHOWN_MAX = 9


class OverviewScreen(ConsoleScreen):
    """Counts with their last minute, who controls, the audit, and the last faults."""

    context: ClassVar[str] = "overview"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("overview")]

    def __init__(self, stage: "Stage") -> None:
        super().__init__(stage)
        self.health = TextView(stage, id="health")
        self.control = TextView(stage, id="control")
        self.topics = Topics()
        self.topic_view = TextView(stage, id="topics")
        self.faults = EventView(stage, id="faults")
        self.faults.least = FAULT

    def compose_body(self) -> ComposeResult:
        """Health and control side by side, topics where there is room, faults below."""
        with Horizontal(id="upper"):
            yield self.pane(self.health, "health")
            yield self.pane(self.control, "control", "side")
        yield self.pane(self.topic_view, "topics", "extra")
        yield self.pane(self.faults, "last faults", "log")

    def begin(self) -> Pane:
        """Faults have the keys: they can be opened."""
        self.faults.look_again()
        return self.panes[3]

    def show_panes(self, changed: Collection[str]) -> None:
        """All three at the time cursor."""
        health, control, topics, faults = self.panes
        health.entitle(
            "health", [healthy_sentence(self.stage)] if not self.stage.index.faults else []
        )
        control.entitle("control and audit", [clock(self.stage.source.time_us)])
        self.health.show(health_lines(self.stage, self.health.columns))
        self.control.show(control_lines(self.stage, self.control.columns))
        self.topics.follow(self.stage, changed)
        topics.entitle("topics", [plural(len(self.topics.severities), "topic")])
        view = self.topic_view
        if self.has_class("-tall"):
            topics.styles.height = 1 + min(TOPICS_SHOWN_MAX, max(1, len(self.topics.severities)))
        view.show(self.topics.lines(view.columns, view.page, self.stage.glyphs))
        self.faults.follow()
        parts = [self.faults.status()] if len(self.faults.log_) else ["nothing has gone wrong"]
        faults.entitle("faults and interventions", parts)

    def on_virtual_view_chosen(self) -> None:
        """A double click opens."""
        self.do_drill()

    def do_drill(self) -> None:
        """Open the selected fault."""
        if (event := self.faults.selected) is not None:
            self.desk.open_event(event.seq)
