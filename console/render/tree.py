"""A tree of paths as lines, and a node's data as lines."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from msgspec import Struct

from console.render.lines import Line, Span, data, line, wrap
from console.styles.glyphs import Glyphs
from sessions.text import clean, natural_key

ROOT = "/"
DATA_SHOWN_MAX = 200
"""Characters of a node's data that are shown beside its name where there is room."""


class TreeNode(Protocol):
    """A node: a znode, or one of KRaft's metadata image.

    ``changed`` differs when its line may.
    """

    path: str
    children: dict[str, None]
    changed: int

    @property
    def data(self) -> str | None: ...


class Branch(Struct, frozen=True):
    """One line of the tree."""

    path: str
    name: str
    depth: int
    children: int


def child_path(parent: str, name: str) -> str:
    """``/brokers`` and ``ids`` are ``/brokers/ids``."""
    return f"{parent.rstrip('/')}/{name}"


def parent_path(path: str) -> str:
    """``/brokers/ids`` is in ``/brokers``."""
    return path.rpartition("/")[0] or ROOT


def unfolded(nodes: Mapping[str, TreeNode], is_open: Callable[[str], bool]) -> Iterator[Branch]:
    """The lines of the tree: the root's children and those of open branches, in natural order."""
    if ROOT in nodes:
        yield from _below(nodes, ROOT, 0, is_open)


def _below(
    nodes: Mapping[str, TreeNode], parent: str, depth: int, is_open: Callable[[str], bool]
) -> Iterator[Branch]:
    for name in sorted(nodes[parent].children, key=natural_key):
        path = child_path(parent, name)
        node = nodes.get(path)
        if node is None:
            continue
        yield Branch(path, name, depth, len(node.children))
        if node.children and is_open(path):
            yield from _below(nodes, path, depth + 1, is_open)


def matching(nodes: Mapping[str, TreeNode], matches: Callable[[str], bool]) -> list[Branch]:
    """The nodes whose path is wanted, as a flat list."""
    paths = sorted((path for path in nodes if path != ROOT and matches(path)), key=natural_key)
    return [Branch(path, path, 0, len(nodes[path].children)) for path in paths]


def branch_line(
    branch: Branch, node: TreeNode, role: str, glyphs: Glyphs, *, is_open: bool
) -> Line:
    """One line: the branch's sign, its name, how many children, and the beginning of its data."""
    sign = glyphs.leaf if not branch.children else glyphs.expanded if is_open else glyphs.collapsed
    text = " ".join((node.data or "").split())
    if len(text) > DATA_SHOWN_MAX:
        text = text[: DATA_SHOWN_MAX - 1] + glyphs.more
    return line(
        "  " * branch.depth,
        Span(f"{sign} ", "faint"),
        data(branch.name, role),
        Span(f" ({branch.children:,})" if branch.children else "", "muted"),
        Span("  "),
        data(text, "muted"),
    )


def data_lines(node: TreeNode, width: int) -> list[Line]:
    """The data in lines; ``null`` where there is none."""
    if node.data is None:
        return [line(Span(" null", "muted"))]
    try:
        value = json.loads(node.data)
    except (ValueError, RecursionError):
        return [line(f" {row}") for row in wrap(clean(node.data), max(8, width - 1))]
    if not isinstance(value, dict):
        return [line(data(f" {node.data}"))]
    keys = max((len(clean(key)) for key in value), default=0)
    return [
        line(Span(f" {clean(key):<{keys}}  ", "muted"), data(_compact(item)))
        for key, item in value.items()
    ]


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
