"""A line of text as spans with roles: what pure functions draw and widgets paint.

A role is a name such as ``error`` or ``muted``; the style sheet alone knows what it looks like. So
everything that is shown can be tested as text, without a terminal.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from rich.cells import cell_len

from sessions.text import clean


class Span(NamedTuple):
    """Text with one role (empty: as the surroundings).

    ``action`` is the id of the action that a click on it does, if it does any.
    """

    text: str
    role: str = ""
    action: str = ""


Line = tuple[Span, ...]
"""One line of the screen."""

BLANK: Line = ()
"""An empty line."""


def line(*parts: str | Span) -> Line:
    """A line of spans and plain text; empty parts vanish."""
    spans = (Span(part) if isinstance(part, str) else part for part in parts)
    return tuple(span for span in spans if span.text)


def data(text: str, role: str = "") -> Span:
    """A span of other people's text, made safe to print."""
    return Span(clean(text), role)


def text_of(spans: Iterable[Span]) -> str:
    """Return the plain text of a line."""
    return "".join(span.text for span in spans)


def cells(text: str) -> int:
    """The columns that a text takes (wide characters take two)."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(spans: Iterable[Span]) -> int:
    """The columns that a line takes."""
    return sum(cells(span.text) for span in spans)


def fit(text: str, width: int, *, right: bool = False, more: str = "~") -> str:
    """The text in exactly ``width`` columns; what is cut off leaves ``more`` behind."""
    missing = width - cells(text)
    if missing >= 0:
        return " " * missing + text if right else text + " " * missing
    if width <= 0:
        return ""
    kept = text if text.isascii() else _wide_head(text, width - 1)
    return kept[: width - 1] + more + " " * (width - 1 - cells(kept[: width - 1]))


def fit_middle(text: str, width: int, more: str = "~", *, tail: int = 0) -> str:
    """The text in at most ``width`` columns, shortened in its middle.

    At least ``tail`` characters of its end stay, if there is any room for them at all.
    """
    if cells(text) <= width:
        return text
    end = max(tail, (width - 1) // 3)
    end = min(end, max(0, width - 1))
    head = fit(text, width - end, more=more) if width > end else ""
    return head + (text[-end:] if end else "")


def shorten_partition(text: str, width: int, more: str = "~") -> str:
    """A topic-partition in ``width`` columns: its topic is shortened, never its number."""
    number = text.rpartition("-")[2]
    return fit_middle(text, width, more, tail=len(number) + 1)


def _wide_head(text: str, width: int) -> str:
    taken = 0
    for position, character in enumerate(text):
        taken += cells(character)
        if taken > width:
            return text[:position]
    return text


def cut(spans: Iterable[Span], width: int, more: str = "~") -> Line:
    """The line in at most ``width`` columns."""
    kept: list[Span] = []
    room = width
    for span in spans:
        size = cells(span.text)
        if size > room:
            if room > 0:
                kept.append(Span(fit(span.text, room, more=more), span.role))
            elif kept:
                last = kept[-1]
                kept[-1] = Span(fit(last.text + " ", cells(last.text), more=more), last.role)
            break
        kept.append(span)
        room -= size
    return tuple(kept)


def join_ends(left: Line, right: Line, width: int, more: str = "~") -> Line:
    """``left`` at the left end, ``right`` at the right end; the left one is truncated first."""
    room = width - width_of(right)
    if room < 1:
        return cut(right, width, more)
    head = cut(left, room - 1, more)
    return (*head, Span(" " * (room - width_of(head))), *right)


WIDEST: Final = 2
"""The columns of the widest character."""


def _broken(word: str, width: int) -> list[str]:
    """A word in pieces of at most ``width`` columns."""
    pieces = []
    while cells(word) > width:
        head = _wide_head(word, width)
        pieces.append(head)
        word = word[len(head) :]
    return [*pieces, word]


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most ``width`` columns, broken at spaces where there are any.

    No line is narrower than the widest character, however little room a pane has.
    """
    width = max(WIDEST, width)
    rows: list[str] = []
    row = ""
    for word in text.split(" "):
        candidate = f"{row} {word}" if row else word
        if cells(candidate) <= width:
            row = candidate
            continue
        if row:
            rows.append(row)
        *heads, row = _broken(word, width)
        rows += heads
    return [*rows, row] if row or not rows else rows
