"""The building blocks of the report's sections."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from sessions.analysis.results.reading import Results, Row
from sessions.dataset.schema import Table
from sessions.report.markup import Content, Element, element
from sessions.report.origins import Origins

ROWS_MAX = 100
"""How many rows of a result the report shows."""
BARS_MAX = 20
"""How many bars a chart has below each other."""
DRAWN_MAX = 4
"""Of how many sessions or partitions there is a chart of their own."""


class Material(Struct, frozen=True):
    """The input of a report."""

    results: Results
    origins: Origins


def section(name: str, title: str, lead: str, *content: Content) -> Element:
    """A section with its heading and one introductory sentence."""
    heading = element("h2", title, id=f"{name}-title")
    return element(
        "section", heading, element("p", lead), *content, id=name, aria_labelledby=f"{name}-title"
    )


def figure(caption: str, content: Element, legend: Sequence[tuple[str, str]]) -> Element:
    """A plot with its caption; the legend is (kind of shape, what it means)."""
    keys = [
        element("li", element("i", class_=f"key {kind}"), meaning, data_kind=kind)
        for kind, meaning in legend
    ]
    figcaption = element("figcaption", element("strong", caption))
    return element("figure", figcaption, element("ul", *keys, class_="legend"), content)


def distinct(rows: Sequence[Row], *names: str) -> Iterator[tuple[str, ...]]:
    """The different values of some columns, in order, as many as are drawn."""
    values = dict.fromkeys(tuple(row[name] for name in names) for row in rows)
    yield from list(values)[:DRAWN_MAX]


class Section(Struct, frozen=True):
    """A part of the page: what makes it, and the results without which it is left out.

    Sections with a lower ``place`` come first.
    """

    make: Callable[[Material], Element]
    needs: tuple[Table, ...]
    place: int
