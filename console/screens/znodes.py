"""Screen 4, Znodes: what does ZooKeeper say?"""

from collections.abc import Collection
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.actions.bindings import bindings_for
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.znodes import znode_lines
from console.screens.tree import TreeScreen
from console.widgets.znode_tree import ZnodeTreeView
from sessions.model.states import ZnodeState
from sessions.text import plural


class ZnodesScreen(TreeScreen[ZnodeState]):
    """The tree, the selected znode's data and Stat, and what happened to it."""

    context: ClassVar[str] = "znodes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("znodes")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage, ZnodeTreeView(stage, id="tree"))

    def compose_body(self) -> ComposeResult:
        """The tree with the znode beside it, and its history below."""
        with Horizontal(id="upper"):
            yield self.pane(self.tree_view, "znodes")
            yield self.pane(self.detail, "znode", "side")
        yield self.pane(self.log_view, "history", "log")

    def show_panes(self, changed: Collection[str]) -> None:
        """Update the tree first: the selection depends on it."""
        tree, detail, log = self.panes
        self.tree_view.follow()
        chosen = self.tree_view.filter
        parts = [
            plural(len(self.tree_view.nodes), "znode"),
            f"filter {chosen.text}" if chosen else "",
        ]
        tree.entitle("znodes", parts)
        node = self.tree_view.selected
        if node is None:
            why, hint = "No path matches.", "esc clears the filter"
            if self.stage.view.state.is_observed:
                why, hint = "Clients are not told what is in ZooKeeper.", "O lists consumer groups"
            if self.stage.view.state.quorum is not None:
                why, hint = "This cluster has no ZooKeeper.", "4 shows its metadata"
            detail.entitle("znode")
            self.detail.show(nothing_lines(why, hint, self.detail.columns))
            return
        detail.entitle(node.path, [f"v{node.version}", "ephemeral" if node.ephemeral_owner else ""])
        self.detail.show(znode_lines(node, self.detail.columns, self.stage.glyphs))
        if log.display:
            self.log_view.show_touching([node.path])
            self.log_view.follow()
        log.entitle(f"history of {node.path}", [self.log_view.status()])

    def open_node(self, node: ZnodeState) -> None:
        self.open("znode", node.path)

    def explain(self, node: ZnodeState) -> None:
        if node.changed:
            self.open("event", node.changed)
