"""The tree of KRaft's metadata image."""

from collections.abc import Mapping
from typing import ClassVar

from console.widgets.tree import TreeView
from sessions.model.metadata_image import MetadataNode


class MetadataTreeView(TreeView[MetadataNode]):
    """The nodes of the image; fenced brokers and partitions without a leader stand out."""

    open_at_first: ClassVar[tuple[str, ...]] = ("/brokers", "/controllers", "/topics")

    @property
    def nodes(self) -> Mapping[str, MetadataNode]:
        metadata = self.stage.metadata
        return {} if metadata is None else metadata.nodes

    def is_changed_since(self, seq: int) -> bool:
        """Whether anything was committed since the tree was unfolded."""
        return self.taken != self._unfolded_at

    @property
    def taken(self) -> int:
        """The number of committed records that the image contains."""
        metadata = self.stage.metadata
        return 0 if metadata is None else metadata.taken

    _unfolded_at = -1

    def unfold(self) -> None:
        self._unfolded_at = self.taken
        super().unfold()

    def role(self, node: MetadataNode) -> str:
        """Highlight a node with a problem."""
        value = node.value if isinstance(node.value, dict) else {}
        if value.get("leader", 0) < 0:
            return "error"
        return "warning" if value.get("fenced") else super().role(node)
