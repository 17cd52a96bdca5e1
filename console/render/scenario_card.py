"""The description of a scenario: what to watch, what to predict, and the answers."""

from collections.abc import Mapping, Sequence

from console.model.library import Card
from console.model.questions import Answer
from console.render.lines import BLANK, Line, Span, line, wrap
from emulator.events import ExpectationChecked
from emulator.releases.profiles import neighbours
from sessions.model.cluster_view import ClusterView
from sessions.text import clean, short_clock

MARGIN = 2


def briefing_lines(
    card: Card,
    version: str,
    width: int,
    answers: Mapping[int, Sequence[Answer]] | None = None,
    view: ClusterView | None = None,
) -> list[Line]:
    """Title, release, what to watch, the questions with their answers, and what made it end.

    ``answers`` are those that are known where ``view`` is; None while nothing has been run.
    """
    rows = [line(Span(f" {card.title}", "strong")), _named(card, version), BLANK]
    rows += _section("WATCH", [card.watch], width)
    rows.append(line(Span(" PREDICT, BEFORE YOU STEP ON", "title")))
    for number, question in enumerate(card.questions, start=1):
        rows += _numbered(number, question, width)
        is_answered = any(number in numbers for numbers in card.answers.values())
        if is_answered and answers is not None and view is not None:
            rows += _answered(answers.get(number, ()), view, width)
    rows.append(BLANK)
    if card.since:
        rows += _section("FIXED SINCE", [card.since], width)
    if not set(neighbours(version)) <= set(card.versions):
        warning = (
            f"It is written for {card.versions[0]} to {card.versions[-1]}: what it expects may "
        )
        rows += _section("NOTE", [f"{warning}fail on {version}."], width)
    return rows


def _answered(answers: Sequence[Answer], view: ClusterView, width: int) -> list[Line]:
    """What has turned out, with the time; until then, how to get there."""
    if not answers:
        return [line(Span("    not answered yet: J steps to the next statement", "muted"))]
    rows: list[Line] = []
    for event in answers:
        when = f"    {short_clock(event.time_us)}  "
        first, *rest = wrap(clean(answer_text(event, view)), max(10, width - MARGIN - len(when)))
        role = "ok" if held(event) else "error"
        rows.append(line(Span(when, "muted"), Span(first, role)))
        rows += [line(" " * len(when), Span(row, role)) for row in rest]
    return rows


def held(event: Answer) -> bool:
    """Whether the result is what the script expects."""
    return not isinstance(event, ExpectationChecked) or event.passed


def answer_text(event: Answer, view: ClusterView) -> str:
    """What a statement has come to: its condition if it asserts one, else what the audit says."""
    if isinstance(event, ExpectationChecked):
        return event.text if event.passed else f"not {event.text}, but {event.actual}"
    if event.text.startswith("wait until "):
        condition = event.text.removeprefix("wait until ")
        return condition if event.error == "NONE" else f"not {condition}"
    partitions = view.state.partitions.values()
    lost, doubled, diverged = (
        sum(len(getattr(partition, name)) for partition in partitions)
        for name in ("lost", "duplicated", "diverged")
    )
    return f"in the end {lost} lost, {doubled} duplicated, {diverged} diverged"


def _named(card: Card, version: str) -> Line:
    return line(
        Span(f" {card.name}", "muted"),
        Span(f"  release {version}", "key"),
        Span(f"  {card.group}", "kind"),
    )


def _numbered(number: int, text: str, width: int) -> list[Line]:
    sign = f"{number}. "
    first, *rest = wrap(text, max(10, width - MARGIN - len(sign)))
    shown = [line(" ", Span(sign, "key"), first)]
    return [*shown, *(line(" " * (1 + len(sign)), row) for row in rest)]


def _section(title: str, texts: Sequence[str], width: int) -> list[Line]:
    rows: list[Line] = [line(Span(f" {title}", "title"))]
    for text in texts:
        rows += [line(" ", row) for row in wrap(text, max(10, width - MARGIN))]
    return [*rows, BLANK]
