"""The report as Markdown."""

import re
from collections.abc import Iterator
from typing import Final

from sessions.postmortem.report import Report, Row, Section
from sessions.text import clean

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>|#])")


def markdown(report: Report) -> str:
    """Return the whole text."""
    lines = [f"# {_text(report.title)}", "", f"**{_text(report.verdict)}**", ""]
    for section in report.sections:
        lines += _section(section)
    return "\n".join(lines)


def _section(section: Section) -> Iterator[str]:
    yield f"## {_text(section.title)}"
    yield ""
    for sentence in section.sentences:
        yield _text(sentence)
        yield ""
    if section.rows:
        yield _row(section.header)
        yield f"|{'--|' * len(section.header)}"
        yield from map(_row, section.rows)
        yield ""


def _row(row: Row) -> str:
    return f"| {' | '.join(map(_text, row))} |"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", clean(text))
