"""The report as one HTML page that needs no network and prints well."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sessions.postmortem.report import Report, Row, Section
from sessions.report.markup import Element, document, element
from sessions.report.single_file import head
from sessions.text import clean

STYLE: Final = Path(__file__).parent / "postmortem.css"
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def page(report: Report, footer: str) -> str:
    """Return the whole page; ``footer`` is its last line."""
    body = element(
        "body",
        element("h1", clean(report.title)),
        element("p", clean(report.verdict), class_=f"verdict {'bad' if report.is_bad else 'good'}"),
        *(part for section in report.sections for part in _section(section)),
        element("p", footer, class_="note"),
    )
    return document(element("html", head(clean(report.title), [STYLE]), body, lang="en"))


def _section(section: Section) -> Iterator[Element]:
    yield element("h2", section.title)
    for sentence in section.sentences:
        yield element("p", clean(sentence))
    if section.rows:
        yield element(
            "table",
            element("thead", _row("th", section.header)),
            element("tbody", *(_row("td", row) for row in section.rows)),
            class_="wide",
        )


def _row(tag: str, row: Row) -> Element:
    return element("tr", *(_cell(tag, clean(value)) for value in row))


def _cell(tag: str, value: str) -> Element:
    if _TIME.fullmatch(value):
        return element(tag, value, class_="time")
    folder, *names = value.split("/")  # a long path breaks before a name, not within it
    breaks = (part for name in names for part in ("/", element("wbr"), name))
    return element(tag, folder, *breaks)
