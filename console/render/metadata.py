"""One node of KRaft's metadata image as lines."""

from console.render.lines import BLANK, Line, Span, cut, line, wrap
from console.render.tree import data_lines
from console.styles.glyphs import Glyphs
from sessions.model.metadata_image import MetadataNode
from sessions.text import clean, natural_key, number

CHILDREN_SHOWN_MAX = 200


def node_lines(node: MetadataNode, width: int, glyphs: Glyphs) -> list[Line]:
    """What the image holds there, which records said it, and what is below."""
    rows: list[Line] = []
    if node.value is not None or not node.children:
        rows += [line(Span("DATA", "title")), *data_lines(node, width)]
    if node.changed >= 0:
        rows += [
            *([BLANK] if rows else []),
            line(Span("RECORDS", "title"), Span("  in __cluster_metadata", "muted")),
            line(Span(" about it  ", "muted"), number(node.records)),
            line(Span(" last at   ", "muted"), f"offset {number(node.changed)}"),
        ]
    if node.children:
        rows += [
            *([BLANK] if rows else []),
            line(Span("CHILDREN", "title"), Span(f"  {number(len(node.children))}", "muted")),
        ]
        text = clean("  ".join(sorted(node.children, key=natural_key)[:CHILDREN_SHOWN_MAX]))
        rows += [line(f" {row}") for row in wrap(text, max(8, width - 2))]
    return [cut(row, width, glyphs.more) for row in rows]
