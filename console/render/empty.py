"""What a pane says when it has nothing to show: why, and which key helps."""

from console.render.lines import BLANK, Line, Span, fit, line, wrap


def nothing_lines(reason: str, next_key: str, width: int) -> list[Line]:
    """The reason and the next key, wrapped."""
    text = [line(Span(row, "muted")) for row in wrap(reason, max(10, width - 2))]
    hint = [line(Span(fit(row, width), "key")) for row in wrap(next_key, max(10, width - 2))]
    return [BLANK, *text, *hint]
