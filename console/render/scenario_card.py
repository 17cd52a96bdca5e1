"""A scenario in the Lab's words: what it is, what to watch, what to predict."""

from collections.abc import Sequence

from console.model.library import Card
from console.render.lines import BLANK, Line, Span, line, wrap
from emulator.releases.profiles import neighbours

MARGIN = 2


def briefing_lines(card: Card, version: str, width: int) -> list[Line]:
    """Title, release, what to watch, the questions, and what made it end."""
    rows = [line(Span(f" {card.title}", "strong")), _named(card, version), BLANK]
    rows += _section("WATCH", [card.watch], width)
    rows += _section("PREDICT, BEFORE YOU STEP ON", card.questions, width, numbered=True)
    if card.since:
        rows += _section("FIXED SINCE", [card.since], width)
    if not set(neighbours(version)) <= set(card.versions):
        said = f"It is written for {card.versions[0]} to {card.versions[-1]}: what it expects may "
        rows += _section("NOTE", [f"{said}fail on {version}."], width)
    return rows


def _named(card: Card, version: str) -> Line:
    return line(
        Span(f" {card.name}", "muted"),
        Span(f"  release {version}", "key"),
        Span(f"  {card.group}", "kind"),
    )


def _section(title: str, texts: Sequence[str], width: int, *, numbered: bool = False) -> list[Line]:
    rows: list[Line] = [line(Span(f" {title}", "title"))]
    for number, text in enumerate(texts, start=1):
        sign = f"{number}. " if numbered else ""
        first, *rest = wrap(text, max(10, width - MARGIN - len(sign)))
        rows.append(line(" ", Span(sign, "key"), first))
        rows += [line(" " * (1 + len(sign)), row) for row in rest]
    return [*rows, BLANK]
