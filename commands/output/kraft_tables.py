"""The tables of ``show`` that only KRaft clusters have: the quorum and the metadata image."""

from commands.output.grids import Cell, Grid
from sessions.grammar.words import BadWord, nearest
from sessions.model.cluster_view import ClusterView
from sessions.model.metadata_image import Metadata, MetadataNode, MetadataReader
from sessions.model.metadata_log import end_of
from sessions.model.quorum import members
from sessions.model.states import QuorumState
from sessions.text import natural_key


def quorum_grids(view: ClusterView, _target: str) -> list[Grid]:
    """Return the quorum's state, and how far each controller and broker has the log.

    Raises:
        BadWord: the cluster uses ZooKeeper.
    """
    quorum, metadata = _known(view)
    status: list[tuple[Cell, ...]] = [
        ("leader", quorum.leader),
        ("epoch", quorum.epoch),
        ("committed", end_of(quorum)),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            member.id,
            member.role,
            member.state,
            *(n if n >= 0 else None for n in (member.end, member.behind)),
        )
        for member in members(view.state, metadata)
    ]
    return [
        Grid("quorum", ("WHAT", "VALUE"), status),
        Grid("metadata log", ("HOST", "ROLE", "PROCESS", "END", "BEHIND"), rows),
    ]


def metadata_grids(view: ClusterView, path: str) -> list[Grid]:
    """Return a node of the metadata image and those directly below it.

    Raises:
        BadWord: the cluster uses ZooKeeper, or there is no such node.
    """
    quorum, metadata = _known(view)
    node = metadata.node(path)
    if node is None:
        raise BadWord(f"there is no '{path}' in the metadata{nearest(path, metadata.paths())}")
    names = sorted(node.children, key=natural_key)
    below = (metadata.node(f"{path.rstrip('/')}/{name}") for name in names)
    rows = [_node_row(entry) for entry in (node, *below) if entry is not None]
    columns = ("NODE", "NODES BELOW", "RECORDS", "LAST OFFSET", "DATA")
    return [Grid(f"metadata {path}, committed {end_of(quorum)}", columns, rows)]


def _node_row(node: MetadataNode) -> tuple[Cell, ...]:
    last = node.changed if node.changed >= 0 else None
    return node.path, len(node.children), node.records, last, node.data


def _known(view: ClusterView) -> tuple[QuorumState, Metadata]:
    quorum, metadata = view.state.quorum, MetadataReader().at(view.state)
    if quorum is None or metadata is None:
        raise BadWord("there is no quorum: this cluster keeps its metadata in ZooKeeper")
    return quorum, metadata
