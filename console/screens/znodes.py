"""Screen 4, Znodes: what does ZooKeeper say?"""

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from console.actions.bindings import bindings_for
from console.model.event_levels import CHANGE
from console.model.workspace import Stage
from console.render.empty import nothing_lines
from console.render.znodes import znode_lines
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.text import TextView
from console.widgets.znode_tree import ZnodeTreeView
from sessions.text import plural


class ZnodesScreen(ConsoleScreen):
    """The tree, the selected znode's data and Stat, and what happened to it."""

    context: ClassVar[str] = "znodes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("znodes")]

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.tree_view = ZnodeTreeView(stage, id="tree")
        self.detail = TextView(stage, id="inspector")
        self.log_view = EventView(stage, id="log")
        self.log_view.least = CHANGE

    def compose_body(self) -> ComposeResult:
        """The tree with the znode beside it, and its history below."""
        with Horizontal(id="upper"):
            yield self.pane(self.tree_view, "znodes")
            yield self.pane(self.detail, "znode", "side")
        yield self.pane(self.log_view, "history", "log")

    def show_panes(self, changed: Collection[str]) -> None:
        """Tree first: what is selected depends on it."""
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

    def selection(self) -> Sequence[str]:
        """The selected path."""
        node = self.tree_view.selected
        return () if node is None else (node.path,)

    def on_virtual_view_selected(self) -> None:
        """The detail follows the cursor at once."""
        self.repaint()

    def on_virtual_view_chosen(self) -> None:
        """A double click opens."""
        self.do_drill()

    def do_drill(self) -> None:
        """Open the znode; in its history, bring the time cursor to the event."""
        pane, node = self.current_pane, self.tree_view.selected
        if pane is not None and pane.view is self.log_view:
            if (event := self.log_view.selected) is not None:
                self.open("moment", event.seq)
        elif node is not None:
            self.open("znode", node.path)

    def do_why(self) -> None:
        """Open the last event that changed the znode; in its history, the selected one."""
        pane, node = self.current_pane, self.tree_view.selected
        if pane is not None and pane.view is self.log_view:
            self.open_event_of(self.log_view)
        elif node is not None and node.changed:
            self.open("event", node.changed)
