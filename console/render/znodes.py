"""The znodes as a tree that unfolds line by line, and one znode as lines: data and Stat."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from console.render.lines import BLANK, Line, Span, cut, data, line, wrap
from console.styles.glyphs import Glyphs
from emulator.zookeeper.zkcli import date_text
from sessions.model.states import ZnodeState
from sessions.text import clean, clock, hexadecimal

ROOT = "/"
DIGITS = re.compile(r"(\d+)")
DATA_SHOWN_MAX = 60
"""Characters of a znode's data that stand beside its name."""


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


def natural(name: str) -> list[tuple[int, int, str]]:
    """A sort key by which ``10`` comes after ``9``."""
    parts = DIGITS.split(name)
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part]


def unfolded(znodes: Mapping[str, ZnodeState], is_open: Callable[[str], bool]) -> Iterator[Branch]:
    """The lines of the tree: the root's children and those of open branches, in natural order."""
    if ROOT in znodes:
        yield from _below(znodes, ROOT, 0, is_open)


def _below(
    znodes: Mapping[str, ZnodeState], parent: str, depth: int, is_open: Callable[[str], bool]
) -> Iterator[Branch]:
    for name in sorted(znodes[parent].children, key=natural):
        path = child_path(parent, name)
        node = znodes.get(path)
        if node is None:
            continue
        yield Branch(path, name, depth, len(node.children))
        if node.children and is_open(path):
            yield from _below(znodes, path, depth + 1, is_open)


def matching(znodes: Mapping[str, ZnodeState], wanted: Callable[[str], bool]) -> list[Branch]:
    """The znodes whose path is wanted, as a flat list."""
    found = sorted((path for path in znodes if path != ROOT and wanted(path)), key=natural)
    return [Branch(path, path, 0, len(znodes[path].children)) for path in found]


def branch_line(branch: Branch, node: ZnodeState, glyphs: Glyphs, *, is_open: bool) -> Line:
    """One line: the branch's sign, its name, how many children, and the beginning of its data."""
    sign = glyphs.leaf if not branch.children else glyphs.expanded if is_open else glyphs.collapsed
    text = "" if node.data is None else " ".join(node.data.split())
    if len(text) > DATA_SHOWN_MAX:
        text = text[: DATA_SHOWN_MAX - 1] + glyphs.more
    return line(
        "  " * branch.depth,
        Span(f"{sign} ", "faint"),
        data(
            branch.name, "accent" if node.ephemeral_owner else "strong" if branch.children else ""
        ),
        Span(f" ({branch.children:,})" if branch.children else "", "muted"),
        Span("  "),
        data(text, "muted"),
    )


def znode_lines(node: ZnodeState, width: int, glyphs: Glyphs) -> list[Line]:
    """The znode's data, pretty if it is JSON, and its Stat by zkCli's names."""
    rows = [
        line(Span("DATA", "title"), Span(f"  {_length(node)} bytes", "muted")),
        *data_lines(node, width),
    ]
    rows += [BLANK, line(Span("STAT", "title"))]
    rows += [line(Span(f" {name:<15}", "muted"), value) for name, value in stat_of(node)]
    if node.children:
        rows += [BLANK, line(Span("CHILDREN", "title"), Span(f"  {len(node.children):,}", "muted"))]
        text = clean("  ".join(sorted(node.children, key=natural)[:200]))
        rows += [line(f" {row}") for row in wrap(text, max(8, width - 2))]
    return [cut(row, width, glyphs.more) for row in rows]


def data_lines(node: ZnodeState, width: int) -> list[Line]:
    """The data in lines; ``null`` where there is none."""
    if node.data is None:
        return [line(Span(" null", "muted"))]
    try:
        value = json.loads(node.data)
    except ValueError:
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


def _length(node: ZnodeState) -> int:
    return 0 if node.data is None else len(node.data.encode())


def _date(time_us: int) -> str:
    return f"{date_text(time_us)}  {clock(time_us)}"


def stat_of(node: ZnodeState) -> list[tuple[str, str]]:
    """The Stat as zkCli prints it, its dates also in virtual time."""
    return [
        ("cZxid", hexadecimal(node.czxid)),
        ("ctime", _date(node.ctime_us)),
        ("mZxid", hexadecimal(node.mzxid)),
        ("mtime", _date(node.mtime_us)),
        ("pZxid", hexadecimal(node.pzxid)),
        ("cversion", str(node.cversion)),
        ("dataVersion", str(node.version)),
        ("aclVersion", str(node.aversion)),
        ("ephemeralOwner", hexadecimal(node.ephemeral_owner)),
        ("dataLength", str(_length(node))),
        ("numChildren", str(len(node.children))),
    ]
