"""Screen 1, Overview: is it healthy, and since when?"""

from collections.abc import Collection
from itertools import zip_longest
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.actions.bindings import bindings_for
from console.model.links import Link
from console.model.timeline import READ_BUDGET_MS
from console.model.verdict_rows import OF_KIND
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.lines import Line, text_of
from console.render.over_time import Strips
from console.render.overview import BLOCKED, HEALTH, control_lines, health_lines, healthy_words
from console.render.rows import Row
from console.render.topics import Topics
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.links import MARK_WIDTH, LinkView
from console.widgets.pane import Pane
from emulator.events import CHANGE, FAULT
from sessions.text import clock, plural

TOPICS_SHOWN_MAX = 9
UPPER_HEIGHT = 14
HEADING_MARGIN = len("── health ──  ")
"""The columns of a heading around what it says of health."""
FAULTS_HEIGHT_MIN = 7
GRAPHS_HEIGHT = 9
"""The lines that graphs take where there is room, beyond the strip in whose place one is."""
NO_TOPICS = ("There are no topics.", ": topic create T --partitions 3 --replication-factor 3")
AUDITED = (
    ("lost", Link("lost", "")),
    ("duplicated", Link("partitions", "duplicated>0")),
    ("diverged", Link("partitions", "diverged>0")),
    ("read, then lost", Link("lost", "")),
    ("clients", Link("clients", "")),
    ("groups", Link("groups", "")),
)
"""What the audit's figures link to."""
HEALTH_LINKS: tuple[Link | None, ...] = (
    None,
    Link("mode", "brokers"),
    *(OF_KIND[name] if name == BLOCKED else Link("partitions", f"state={name}") for name in HEALTH),
    Link("mode", "partitions"),
)
"""What the lines of the health pane link to."""


class OverviewScreen(ConsoleScreen):
    """Counts with their recent history, the controller, the audit, and the last faults."""

    context: ClassVar[str] = "overview"
    first_pane: ClassVar[int] = 3
    """The faults, which can be opened."""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("overview")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.health = LinkView(stage, id="health")
        self.health.index = 1  # the line below the titles
        self.control = LinkView(stage, id="control")
        self.topics = Topics()
        self.topic_view = LinkView(stage, id="topics")
        self.topic_view.index = 1
        self.faults = EventView(stage, id="faults")
        self.faults.least = FAULT
        self.faults.levels = (FAULT, CHANGE)

    def compose_body(self) -> ComposeResult:
        """Health beside control, topics if there is room, and faults below."""
        with Horizontal(id="upper"):
            yield self.pane(self.health, "health")
            yield self.pane(self.control, "control", "side")
        yield self.pane(self.topic_view, "topics", "extra")
        yield self.pane(self.faults, "last faults", "log")

    def begin(self) -> None:
        self.faults.look_again()

    def show_panes(self, changed: Collection[str]) -> None:
        """Update all panes to the time cursor."""
        health, control, topics, faults = self.panes
        room = health.heading.columns - HEADING_MARGIN
        calm = not self.stage.index.faults
        health.entitle("health", [healthy_words(self.stage, room)] if calm else [])
        control.entitle("control and audit", [clock(self.stage.source.time_us)])
        lines = health_lines(self.stage, self.health.columns - MARK_WIDTH)
        self.health.show([Row(*pair) for pair in zip(lines, HEALTH_LINKS, strict=True)])
        controls = control_lines(self.stage, self.control.columns - MARK_WIDTH)
        self.control.show([Row(row, self._control_link(row)) for row in controls])
        self.topics.follow(self.stage, changed)
        if self.stage.timeline.is_kept:
            self._show_strips(topics)
        else:
            self._show_topics(topics)
        self.topic_view.empty = nothing_lines(*NO_TOPICS, self.topic_view.columns)
        self.faults.follow()
        parts = [self.faults.status()] if len(self.faults.log_) else ["nothing has gone wrong"]
        faults.entitle("faults and interventions", parts)

    def _show_strips(self, pane: Pane) -> None:
        """Show everything over time; the faults below keep a few lines."""
        view, timeline, topics = self.topic_view, self.stage.timeline, self.topics.severities
        timeline.read_on(READ_BUDGET_MS)
        strips = Strips(self.stage, topics, view.columns - MARK_WIDTH)
        if self.has_class("-tall"):
            room = self.query_one("#body").size.height - UPPER_HEIGHT - FAULTS_HEIGHT_MIN
            is_full = strips.height < room
            height = strips.height + GRAPHS_HEIGHT if is_full else strips.least_height
            pane.styles.height = 1 + max(1, min(height, room - 1))
        behind = f"read {timeline.share_read:.0%}" if timeline.is_behind else ""
        pane.entitle("over time", [plural(len(topics), "topic"), "one column per second", behind])
        rows = strips.rows(self.topics.shown(view.page), max(1, view.page))
        view.show(rows if topics or self.stage.view.state.brokers else [])

    def _show_topics(self, pane: Pane) -> None:
        """Show the worst topics, a sign for each partition, where there are too many for strips."""
        view, topics = self.topic_view, self.topics
        if self.has_class("-tall"):
            pane.styles.height = 1 + min(TOPICS_SHOWN_MAX, len(topics.severities) or 3)
        pane.entitle("topics", [plural(len(topics.severities), "topic")])
        rows = topics.lines(view.columns - MARK_WIDTH, view.page, self.stage.glyphs)
        links = [Link("partitions", f"topic={topic}") for topic in topics.shown(view.page)]
        view.show([Row(row, link) for row, link in zip_longest(rows, links)])

    def is_busy(self) -> bool:
        """Whether the past is still being read."""
        return self.stage.timeline.is_behind or super().is_busy()

    def _control_link(self, row: Line) -> Link | None:
        """What a line of control and audit links to, by its label."""
        state = self.stage.view.state
        label = text_of(row).strip()
        if label.startswith("controller") and state.controller.broker is not None:
            return Link("broker", str(state.controller.broker))
        if label.startswith("#"):
            return Link("event", str(state.invariants[-1][0]))
        return next((link for name, link in AUDITED if label.startswith(name)), None)

    def action_drill(self) -> None:
        """Open what the line is about; in the log, the event."""
        view = None if self.current_pane is None else self.current_pane.view
        if isinstance(view, LinkView):
            self.follow_link(None if view.selected is None else view.selected.link)
        else:
            self.open_event_of(self.faults)

    def action_why(self) -> None:
        """Open the selected event, with its causes."""
        self.open_event_of(self.faults)
