"""A tree of paths; only open branches have lines, so even 100,000 nodes open at once."""

from collections.abc import Hashable, Mapping
from typing import ClassVar, Generic, TypeVar

from console.model.filters import Filter
from console.model.workspace import Stage
from console.render.lines import Line, Span, line
from console.render.tree import Branch, TreeNode, branch_line, matching, parent_path, unfolded
from console.widgets.filtered import Filtered
from console.widgets.virtual_view import VirtualView
from sessions.model.cluster_view import ClusterView
from sessions.text import json_text

Node = TypeVar("Node", bound=TreeNode)


class TreeView(Filtered, VirtualView, Generic[Node]):
    """The open branches, with a cursor that stays on its path."""

    open_at_first: ClassVar[tuple[str, ...]] = ()
    filter_hint = "words, re:pattern or !not, in the path"
    filters_live: ClassVar[bool] = True

    def __init__(self, stage: Stage, *, id: str | None = None) -> None:
        super().__init__(stage, id=id)
        self.open = set(self.open_at_first)
        self.filter: Filter[str] = Filter()
        self.path: str | None = None
        self.branches: list[Branch] = []
        self._lines_of: dict[str, int] = {}
        self._seq = -1
        self._view: ClusterView | None = None

    @property
    def nodes(self) -> Mapping[str, Node]:
        """The tree at the time cursor, by path."""
        raise NotImplementedError

    def is_changed_since(self, seq: int) -> bool:
        """Whether a node was created, deleted or changed after event ``seq``."""
        raise NotImplementedError

    def role(self, node: Node) -> str:
        """The colour role of a node's name."""
        return "strong" if node.children else ""

    def follow(self) -> None:
        view, seq = self.stage.view, self.stage.source.seq
        forward = view is self._view and seq >= self._seq
        moved = seq != self._seq or not forward
        if moved and (not forward or self.is_changed_since(self._seq)):
            self.unfold()
        self._view, self._seq = view, seq

    def choose(self) -> None:
        """Select the lines that match the filter."""
        self.unfold()

    def unfold(self) -> None:
        if self.filter:
            chosen = self.filter
            branches = matching(self.nodes, lambda path: chosen.matches(path.lower(), path))
        else:
            branches = list(unfolded(self.nodes, self.open.__contains__))
        if branches != self.branches:
            self.branches = branches
            self._lines_of = {branch.path: index for index, branch in enumerate(branches)}
            self.resize()
        self.refresh()

    def count(self) -> int:
        return len(self.branches)

    def version(self, index: int) -> Hashable:
        """Return the branch, its node's last change, and whether it is open."""
        branch = self.branches[index]
        node = self.nodes.get(branch.path)
        return branch, None if node is None else node.changed, branch.path in self.open

    def draw(self, index: int) -> Line:
        """One node; the cursor's has a mark."""
        branch = self.branches[index]
        node = self.nodes.get(branch.path)
        mark = self.stage.glyphs.cursor if index == self.cursor_index() else ""
        if node is None:
            return ()
        is_open = branch.path in self.open
        drawn = branch_line(branch, node, self.role(node), self.stage.glyphs, is_open=is_open)
        return line(Span(mark.ljust(2), "key"), *drawn)

    def cursor_index(self) -> int | None:
        """Return the line of the selected path; a collapsed branch represents its descendants."""
        if not self.branches:
            return None
        path = self.path or self.branches[0].path
        while path not in self._lines_of and path != "/":
            path = parent_path(path)
        return self._lines_of.get(path, 0)

    def set_cursor(self, index: int) -> None:
        self.path = self.branches[index].path

    @property
    def selected(self) -> Node | None:
        index = self.cursor_index()
        return None if index is None else self.nodes.get(self.branches[index].path)

    def toggle(self) -> bool:
        """Open or close the selected branch; False on a leaf."""
        node = self.selected
        if node is None or not node.children or self.filter:
            return False
        self.open ^= {node.path}
        self.unfold()
        return True

    def action_move_left(self) -> None:
        """Close the branch, or go to its parent."""
        node = self.selected
        if node is None:
            return
        if node.path in self.open and node.children:
            self.open.discard(node.path)
            self.unfold()
        elif (parent := self._lines_of.get(parent_path(node.path))) is not None:
            self.move_to(parent)

    def action_move_right(self) -> None:
        """Open the branch, or go to its first child."""
        node = self.selected
        if node is None or not node.children:
            return
        if node.path in self.open:
            self.action_move_down()
        else:
            self.open.add(node.path)
            self.unfold()

    def cell_text(self) -> str:
        node = self.selected
        return "" if node is None else node.path

    def row_text(self) -> str:
        """The selected node as JSON."""
        node = self.selected
        return "" if node is None else json_text(node)
