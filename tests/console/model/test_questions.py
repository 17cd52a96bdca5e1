"""The library's questions are answered by what happens, and what to watch for is found."""

import pytest

from commands.library.index import Scenario, find, library
from commands.runs.console_library import ConsoleLibrary, card_of
from console.model.questions import answers, is_watched
from emulator import events
from emulator.events import Event

UNANSWERED = ("E5-tree-of-the-documents",)
"""Its questions are about other releases, and about what no statement can ask."""


def run(name: str) -> list[Event]:
    """Everything that happens in a scenario."""
    opened = ConsoleLibrary().open_scenario(name, find(name, library()).version)
    try:
        return list(opened.source.events(1, opened.source.last_seq))
    finally:
        opened.close()


@pytest.mark.parametrize("scenario", library(), ids=lambda scenario: scenario.name)
def test_each_question_has_a_statement_that_answers_it(scenario: Scenario) -> None:
    card = card_of(scenario)
    asked = set(range(1, len(card.questions) + 1))
    answered = {number for numbers in card.answers.values() for number in numbers}
    assert answered == (set() if card.name in UNANSWERED else asked)


@pytest.mark.parametrize("name", ["A4-long-poll", "V7-stale-hw-restart", "K1-fencing"])
def test_all_questions_are_answered_at_the_end_of_a_run(name: str) -> None:
    happened = run(name)
    card = card_of(find(name, library()))
    found = answers(card, happened)
    assert sorted(found) == list(range(1, len(card.questions) + 1))
    half = answers(card, happened[: len(happened) // 3])
    assert sum(map(len, half.values())) < sum(map(len, found.values()))


def test_what_is_watched_for_are_the_changes_that_the_answers_are_about() -> None:
    card = card_of(find("A4-long-poll", library()))
    watched = [event for event in run(card.name) if is_watched(card, event)]
    kinds = {type(event) for event in watched}
    assert kinds == {events.HighWatermarkChanged, events.RecordsAppended}
    assert {event.broker for event in watched if isinstance(event, events.RecordsAppended)} == {1}


def test_patterns_of_events_are_watched_for_as_they_are_written() -> None:
    card = card_of(find("C1-write-path", library()))
    watched = {type(event).__name__ for event in run(card.name) if is_watched(card, event)}
    assert {"ProduceSent", "RecordsAppended", "ProduceAcknowledged"} <= watched
    assert "ControllerElected" not in watched


def test_without_a_scenario_nothing_is_watched_for() -> None:
    assert not is_watched(None, events.AuditChanged(1, 0, 0, "t-0", [], [], [], []))
