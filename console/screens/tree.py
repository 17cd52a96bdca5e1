"""A tree with the selected node beside it and the node's history below: screen 4 in both modes."""

from collections.abc import Sequence
from typing import Generic, TypeVar

from console.model.workspace import Stage
from console.render.tree import TreeNode
from console.screens.base import ConsoleScreen
from console.widgets.event_log import EventView
from console.widgets.text import TextView
from console.widgets.tree import TreeView
from emulator.events import CHANGE

Node = TypeVar("Node", bound=TreeNode)


class TreeScreen(ConsoleScreen, Generic[Node]):
    """Base of the screens of ZooKeeper's tree and of the metadata image."""

    def __init__(self, stage: Stage, tree_view: TreeView[Node]) -> None:
        super().__init__(stage)
        self.tree_view = tree_view
        self.detail = TextView(stage, id="inspector")
        self.log_view = EventView(stage, id="log")
        self.log_view.least = CHANGE

    def open_node(self, node: Node) -> None:
        """Open the object that a node represents."""
        raise NotImplementedError

    def explain(self, node: Node) -> None:
        """Open the event that a node comes from."""
        raise NotImplementedError

    def selection(self) -> Sequence[str]:
        node = self.tree_view.selected
        return () if node is None else (node.path,)

    def action_drill(self) -> None:
        """Open the node; in its history, move the time cursor to the event."""
        if not self._is_in_history():
            if (node := self.tree_view.selected) is not None:
                self.open_node(node)
        elif (event := self.log_view.selected) is not None:
            self.open("moment", event.seq)

    def action_why(self) -> None:
        """Open the event that the node comes from; in its history, the selected one."""
        if self._is_in_history():
            self.open_event_of(self.log_view)
        elif (node := self.tree_view.selected) is not None:
            self.explain(node)

    def _is_in_history(self) -> bool:
        pane = self.current_pane
        return pane is not None and pane.view is self.log_view
