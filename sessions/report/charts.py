"""Plots as SVG: drawn from plain numbers, coloured by the page's style sheet.

Every shape that stands for a value has it as a title, which browsers show under the pointer.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sessions.report.markup import Element, element
from sessions.report.units import marks

WIDTH: Final = 920
LEFT: Final = 64
RIGHT: Final = 16
TOP: Final = 8
BOTTOM: Final = 28
BAR: Final = 16
"""The height of a horizontal bar."""
GAP: Final = 8
LABEL: Final = 300
"""The room for what stands before a horizontal bar."""

Text = Callable[[float], str]


class Step(NamedTuple):
    """A value that holds from one moment to another."""

    begin: float
    end: float
    value: float


class Series(NamedTuple):
    """Steps of one kind; ``kind`` is the style sheet's word for them."""

    kind: str
    name: str
    steps: Sequence[Step]


class Axis(NamedTuple):
    """From 0 to the last mark; ``text`` writes a value."""

    marks: Sequence[float]
    text: Text

    @property
    def end(self) -> float:
        """The largest value that it has room for."""
        return self.marks[-1]


class Bar(NamedTuple):
    """A part of a horizontal bar."""

    kind: str
    length: float
    title: str


class Row(NamedTuple):
    """A horizontal bar with what stands before and behind it."""

    label: str
    parts: Sequence[Bar]
    note: str = ""


def timeline(series: Sequence[Series], across: Axis, up: Axis, label: str) -> Element:
    """Steps over time, drawn as areas, the first series at the back."""
    height = 160
    frame = _Frame(across, up, height)
    svg = _svg(WIDTH, height, label)
    _grid(svg, frame)
    for each in series:
        for step in each.steps:
            if step.value > 0:
                svg.append(frame.area(step, f"area {each.kind}", each.name))
    return svg


def columns(values: Sequence[tuple[str, float, str]], up: Axis, kind: str, label: str) -> Element:
    """Vertical bars; each has a text below (which may be empty), a value, and a title."""
    height = 180
    frame = _Frame(Axis([0, max(1, len(values))], str), up, height)
    svg = _svg(WIDTH, height, label)
    _grid(svg, frame, vertical=False)
    for at, (below, value, title) in enumerate(values):
        if value > 0:
            svg.append(frame.area(Step(at + 0.08, at + 0.92, value), f"area {kind}", title))
        if below:
            svg.append(_label(below, frame.x(at + 0.5), height - 10, "middle"))
    return svg


def bars(rows: Sequence[Row], text: Text, label: str) -> Element:
    """Horizontal bars of several parts, one below the other, on one scale."""
    height = TOP + len(rows) * (BAR + GAP) + BOTTOM
    longest = max((sum(part.length for part in row.parts) for row in rows), default=0)
    axis = Axis(marks(longest), text)
    room = WIDTH - LABEL - RIGHT - 70
    svg = _svg(WIDTH, height, label)
    for mark in axis.marks:
        x = LABEL + room * mark / axis.end
        svg.append(_line(x, TOP, x, height - BOTTOM))
        svg.append(_label(text(mark), x, height - 10, "middle"))
    for at, row in enumerate(rows):
        y = TOP + at * (BAR + GAP)
        svg.append(_label(_cut(row.label), LABEL - 8, y + BAR - 4, "end", row.label))
        x = float(LABEL)
        for part in row.parts:
            width = room * part.length / axis.end
            svg.append(_rect(x, y, width, BAR, f"area {part.kind}", part.title))
            x += width
        if row.note:
            svg.append(_label(row.note, x + 6, y + BAR - 4, "start"))
    return svg


class _Frame:
    """Where values lie in a plot of a certain height."""

    def __init__(self, across: Axis, up: Axis, height: float) -> None:
        self.across, self.up, self.height = across, up, height

    def x(self, value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.across.end

    def y(self, value: float) -> float:
        return self.height - BOTTOM - (self.height - BOTTOM - TOP) * value / self.up.end

    def area(self, step: Step, kind: str, title: str) -> Element:
        x, y = self.x(step.begin), self.y(step.value)
        said = f"{title}: {self.up.text(step.value)}" if title else ""
        return _rect(x, y, self.x(step.end) - x, self.y(0) - y, kind, said)


def _grid(svg: Element, frame: _Frame, vertical: bool = True) -> None:
    bottom = frame.y(0)
    for mark in frame.up.marks:
        y = frame.y(mark)
        svg.append(_line(LEFT, y, WIDTH - RIGHT, y))
        svg.append(_label(frame.up.text(mark), LEFT - 8, y + 4, "end"))
    for mark in frame.across.marks if vertical else ():
        x = frame.x(mark)
        svg.append(_line(x, TOP, x, bottom))
        svg.append(_label(frame.across.text(mark), x, frame.height - 10, "middle"))


def _svg(width: float, height: float, label: str) -> Element:
    return element("svg", viewBox=f"0 0 {width} {height}", role="img", aria_label=label)


def _line(x1: float, y1: float, x2: float, y2: float) -> Element:
    return element("line", class_="grid", x1=x1, y1=y1, x2=x2, y2=y2)


def _rect(x: float, y: float, width: float, height: float, kind: str, title: str) -> Element:
    said = element("title", title) if title else None
    width = max(width, 0.6)
    return element("rect", said, class_=kind, x=x, y=y, width=width, height=max(0.0, height))


def _label(text: str, x: float, y: float, anchor: str, title: str = "") -> Element:
    said = element("title", title) if title and title != text else None
    return element("text", said, text, x=x, y=y, text_anchor=anchor)


def _cut(text: str, characters_max: int = 42) -> str:
    return text if len(text) <= characters_max else f"…{text[1 - characters_max :]}"
