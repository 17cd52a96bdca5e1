"""The checkpoint files on a broker's disk, with their contents."""

from typing import Final

from console.render.lines import BLANK, Line, Span, line
from sessions.model.checkpoint_files import CheckpointFile, checkpoint_files
from sessions.model.states import ViewState
from sessions.text import plural

LINES_SHOWN_MAX: Final = 12
"""Lines of one file; ``show files`` prints all."""
PARTITIONS_MAX: Final = 500
"""With more partitions in the cluster, putting the files together takes too long for a frame."""


def file_lines(state: ViewState, broker: int) -> list[Line]:
    """Return a section with each file's path and lines; nothing for what is no broker."""
    if broker not in state.brokers:
        return []
    rows = [BLANK, line(Span("FILES", "title"), Span(" as they are on its disk", "muted"))]
    if len(state.partitions) > PARTITIONS_MAX:
        return [*rows, line(Span(f"  :show files {broker} prints them", "muted"))]
    for file in checkpoint_files(state, broker):
        rows += _of(file)
    return rows


def _of(file: CheckpointFile) -> list[Line]:
    rows = [line(f"  {file.path}")]
    if not file.lines:
        return [*rows, line(Span("    empty", "muted"))]
    rows += [line(Span(f"    {text}", "muted")) for text in file.lines[:LINES_SHOWN_MAX]]
    left = len(file.lines) - LINES_SHOWN_MAX
    if left > 0:
        rows.append(line(Span(f"    and {plural(left, 'more line')}", "muted")))
    return rows
