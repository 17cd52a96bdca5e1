"""Screen 4 of a KRaft cluster, Metadata: what does the metadata log say, and who has read it?"""

from collections.abc import Collection
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.metadata import node_lines
from console.render.quorum import quorum_lines, quorum_title
from console.screens.tree import TreeScreen
from console.widgets.metadata_tree import MetadataTreeView
from console.widgets.text import TextView
from sessions.model.metadata_image import MetadataNode
from sessions.text import plural

UNREADABLE = (
    "Clients cannot read the metadata log; the quorum tells who has how much of it.",
    "'tidegauge postmortem' reads a copy of the folder __cluster_metadata-0",
)
"""What is said of a running cluster, and the way to see more."""
CHILDREN_MAX = 64
"""The most children of a node whose events are looked for together."""


class MetadataScreen(TreeScreen[MetadataNode]):
    """The image as a tree, the selected node, the quorum, and the node's history."""

    context: ClassVar[str] = "metadata"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("metadata")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage, MetadataTreeView(stage, id="tree"))
        self.quorum = TextView(stage, id="quorum")

    def compose_body(self) -> ComposeResult:
        """The tree with the node beside it, the quorum, and the node's history below."""
        with Horizontal(id="upper"):
            yield self.pane(self.tree_view, "metadata")
            yield self.pane(self.detail, "node", "side")
        yield self.pane(self.quorum, "quorum", "extra")
        yield self.pane(self.log_view, "history", "log")

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the tree first: the selection depends on it."""
        tree, detail, quorum, log = self.panes
        self.tree_view.follow()
        chosen = self.tree_view.filter
        metadata = self.stage.metadata
        tree.entitle(
            "metadata",
            [
                plural(0 if metadata is None else metadata.taken, "record"),
                f"filter {chosen.text}" if chosen else "",
            ],
        )
        quorum.entitle("quorum", quorum_title(self.stage.view.state))
        self.quorum.show(quorum_lines(self.stage, self.quorum.columns))
        node = self.tree_view.selected
        if node is None:
            detail.entitle("node")
            self.detail.show(nothing_lines(*self._why_empty(), self.detail.columns))
            return
        if self.stage.view.state.is_observed and not (metadata and metadata.taken):
            detail.entitle("node")
            why = nothing_lines(*UNREADABLE, self.detail.columns)
            self.detail.show(why)
            return
        detail.entitle(node.path)
        self.detail.show(node_lines(node, self.detail.columns, self.stage.glyphs))
        if log.display:
            self.log_view.show_touching(subjects_of(node))
            self.log_view.follow()
        log.entitle(f"history of {node.path}", [self.log_view.status()])

    def _why_empty(self) -> tuple[str, str]:
        if self.stage.is_kraft and self.stage.metadata is None:
            return "reading..", "The metadata log is very long."
        if not self.stage.is_kraft:
            return "There is no metadata log at this time.", ". steps to the next event"
        return "No path matches.", "esc clears the filter"

    def open_node(self, node: MetadataNode) -> None:
        """Open the broker or partition of the node; expand or collapse other branches."""
        match node.path.split("/")[1:]:
            case ["topics", topic, partition]:
                self.open("partition", f"{topic}-{partition}")
            case ["brokers" | "controllers", host]:
                self.open("broker", host)
            case _ if not self.tree_view.toggle():
                self.open_last_touch(*subjects_of(node))

    def explain(self, node: MetadataNode) -> None:
        """The last event about it, or about a child."""
        self.open_last_touch(*subjects_of(node))


def subjects_of(node: MetadataNode) -> list[str]:
    """The paths whose events are the node's history.

    No record is about a node such as ``/brokers`` itself: its history is that of its children.
    """
    if node.changed >= 0 or not 0 < len(node.children) <= CHILDREN_MAX:
        return [node.path]
    parent = node.path.rstrip("/")
    return [f"{parent}/{child}" for child in node.children]
