"""A scenario in the Lab's words: what it is, what to watch, what to predict."""

from collections.abc import Sequence

from console.model.library import Card
from console.render.lines import BLANK, Line, Span, line, wrap
from emulator.events import ExpectationChecked
from emulator.releases.profiles import neighbours
from sessions.text import clean, short_clock

MARGIN = 2


def briefing_lines(
    card: Card, version: str, width: int, checked: Sequence[ExpectationChecked] = ()
) -> list[Line]:
    """Title, release, what to watch, the questions, their answers so far, and what made it end.

    The answers are the scenario's own expectations that have been ``checked``.
    """
    rows = [line(Span(f" {card.title}", "strong")), _named(card, version), BLANK]
    rows += _section("WATCH", [card.watch], width)
    rows += _section("PREDICT, BEFORE YOU STEP ON", card.questions, width, numbered=True)
    if checked:
        rows += _answers(checked, width)
    if card.since:
        rows += _section("FIXED SINCE", [card.since], width)
    if not set(neighbours(version)) <= set(card.versions):
        said = f"It is written for {card.versions[0]} to {card.versions[-1]}: what it expects may "
        rows += _section("NOTE", [f"{said}fail on {version}."], width)
    return rows


def _answers(checked: Sequence[ExpectationChecked], width: int) -> list[Line]:
    """What has turned out, with the time; what did not hold says what was so instead."""
    rows: list[Line] = [line(Span(" ANSWERED SO FAR", "title"))]
    for event in checked:
        when = f" {short_clock(event.time_us)}  "
        text = event.text if event.passed else f"not {event.text}, but {event.actual}"
        first, *rest = wrap(clean(text), max(10, width - MARGIN - len(when)))
        role = "" if event.passed else "error"
        rows.append(line(Span(when, "muted"), Span(first, role)))
        rows += [line(" " * len(when), Span(row, role)) for row in rest]
    return [*rows, BLANK]


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
