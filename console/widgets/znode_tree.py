"""ZooKeeper's tree."""

from collections.abc import Mapping
from typing import ClassVar

from console.widgets.tree import TreeView
from sessions.model.states import ZnodeState


class ZnodeTreeView(TreeView[ZnodeState]):
    """The znodes; ephemeral ones stand out."""

    open_at_first: ClassVar[tuple[str, ...]] = ("/brokers", "/brokers/ids", "/brokers/topics")

    @property
    def nodes(self) -> Mapping[str, ZnodeState]:
        """The znodes at the time cursor; a KRaft cluster has none."""
        state = self.stage.view.state
        return {} if state.quorum is not None else state.znodes

    def is_changed_since(self, seq: int) -> bool:
        """Return what the read model recorded."""
        return bool(self.stage.view.changed_znodes_since(seq))

    def role(self, node: ZnodeState) -> str:
        """Ephemeral znodes have a role of their own."""
        return "accent" if node.ephemeral_owner else super().role(node)
