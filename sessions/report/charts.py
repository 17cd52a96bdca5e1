"""Charts of the page: plain data that its script draws with uPlot, and the same in words.

A chart is in the page three times: as a picture that pointer and keyboard move through, as a
sentence below its title, and, when a reader opens it, as a table.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from sessions.report.markup import Element, element
from sessions.report.steps import Value

Axis = Literal["time", "latency"]
"""What is along the bottom. Charts with the same axis are zoomed together."""


class Series(Struct, frozen=True):
    """One series of values: ``kind`` is its CSS class, ``meaning`` its label."""

    kind: str
    name: str
    values: list[Value]
    meaning: str = ""


class Chart(Struct, frozen=True, rename="camel"):
    """Steps: values hold from one of ``begins`` to the next, the last to ``end``, all in us.

    ``sessions`` and ``events`` say which event opens the moment of a step: one session for all, or
    one for each.
    """

    axis: Axis
    begins: list[int]
    end: int
    y_title: str
    series: list[Series]
    sessions: list[str | None]
    events: list[int | None]


def chart(drawn: Chart, title: str, summary: str, session: str = "", tp: str = "") -> Element:
    """A figure with its chart; ``session`` and ``tp`` are what it is about, for filters."""
    legend = [
        element("li", element("i", class_=f"key {series.kind}"), series.name, data_kind=series.kind)
        for series in drawn.series
    ]
    for entry, series in zip(legend, drawn.series, strict=True):
        if series.meaning:
            entry.append(element("small", series.meaning))
    data = element("script", json_text(drawn), type="application/json")
    return element(
        "figure",
        element("figcaption", element("strong", title), element("span", summary)),
        element("ul", *legend, class_="legend"),
        element("div", class_="plot"),
        data,
        class_="chart",
        data_session=session or None,
        data_tp=tp or None,
    )


def json_text(value: object) -> str:
    """JSON that is safe inside a script element: nothing in it closes the element."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")
