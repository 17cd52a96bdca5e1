"""One znode as lines: data, Stat and watches."""

from console.render.lines import BLANK, Line, Span, cut, line, wrap
from console.render.tree import data_lines
from console.styles.glyphs import Glyphs
from emulator.zookeeper.watches import Watches
from emulator.zookeeper.zkcli import date_text
from sessions.model.event_text import writer_name
from sessions.model.states import ZnodeState
from sessions.text import clean, clock, hexadecimal, natural_key


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
        text = clean("  ".join(sorted(node.children, key=natural_key)[:200]))
        rows += [line(f" {row}") for row in wrap(text, max(8, width - 2))]
    return [cut(row, width, glyphs.more) for row in rows]


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


def watch_lines(watches: Watches | str, path: str, width: int) -> list[Line]:
    """The watches on a znode, or a sentence that says why they are unknown."""
    rows = [line(Span("WATCHES", "title"), Span("  each fires once", "muted"))]
    if isinstance(watches, str):
        return [
            *rows,
            *(line(Span(f" {row}", "muted")) for row in wrap(watches, max(8, width - 2))),
        ]
    of_data, of_children = watches.of_path(path)
    for host in sorted({*of_data, *of_children}):
        kinds = ["data"] * (host in of_data) + ["children"] * (host in of_children)
        rows.append(line(f" {writer_name(host)}", Span(f"  {' and '.join(kinds)}", "muted")))
    return rows if len(rows) > 1 else [*rows, line(Span(" no watches", "muted"))]
