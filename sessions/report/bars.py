"""Horizontal bars of several parts on one scale, with text that is readable at any width."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sessions.report.markup import Element, element
from sessions.report.units import marks

WIDTH: Final = 1_000
"""What the longest bar may measure; it is stretched to the page's width."""
HEIGHT: Final = 10
SEEN_MIN: Final = 1.5
"""A part that is there is at least so wide, however short it is."""

Text = Callable[[float], str]


class Part(NamedTuple):
    """A part of a bar: ``kind`` is its CSS class, ``text`` its label."""

    kind: str
    length: float
    text: str


class Bar(NamedTuple):
    """A bar with its subject, its total in words, and the event that it links to."""

    session: str
    tp: str
    parts: Sequence[Part]
    note: str
    seq: int | None
    begin_us: int | None = None


def bars(rows: Sequence[Bar], axis_title: str, text: Text) -> Element:
    """A list with an item for each bar, and the scale above it."""
    longest = max(sum(part.length for part in row.parts) for row in rows)
    scale = marks(longest)
    ticks = [element("span", text(mark)) for mark in scale]
    return element(
        "div",
        element("p", axis_title, class_="axis-title"),
        element("div", *ticks, class_="scale", aria_hidden="true"),
        element("ol", *(_bar(row, scale[-1]) for row in rows)),
        class_="bars",
    )


def _bar(row: Bar, scale: float) -> Element:
    svg = element(
        "svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    x = 0.0
    for part in row.parts:
        width = max(SEEN_MIN, WIDTH * part.length / scale)
        title = element("title", part.text)
        svg.append(
            element("rect", title, class_=f"area {part.kind}", x=x, width=width, height=HEIGHT)
        )
        x += width
    words = "; ".join(part.text for part in row.parts)
    return element(
        "li",
        element("span", f"{row.session} ", element("b", row.tp), class_="label"),
        svg,
        element("span", row.note, class_="value"),
        element("span", words, class_="hidden"),
        None if row.seq is None else event_button(row.seq),
        data_session=row.session,
        data_tp=row.tp,
        data_from=row.begin_us,
    )


def event_button(seq: int, session: str | None = None) -> Element:
    """A button with an event's number, which shows the command that opens the event.

    ``session`` is the event's, if it is not that of the element around.
    """
    return element(
        "button", f"#{seq:,}", type="button", class_="event", data_seq=seq, data_session=session
    )
