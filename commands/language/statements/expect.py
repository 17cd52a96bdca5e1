"""Assertions and bookmarks: expect, mark."""

from typing import Annotated

import click

from commands.language import values
from commands.language.declaration import RAW, argument, statement
from commands.language.statements.show import since_mark
from emulator.inputs.statements import Expect, ExpectError, ExpectEvents, Mark
from sessions.grammar.clauses import clauses
from sessions.grammar.event_patterns import pattern
from sessions.grammar.words import BadWord, read

app = click.Group()

FORMS = (
    "CONDITION | error ERROR [on last] | [no] event EVENT [CONDITION] [times N] [since MARK] | "
    "order EVENT [CONDITION] then EVENT [CONDITION].. [since MARK]"
)


@statement(app, "expect", RAW)
def expect(
    words: Annotated[list[str], argument(FORMS, text="what to assert")],
) -> Expect | ExpectError | ExpectEvents:
    """Assert a condition, an error, an event, or the order of several events.

    'expect error NAME' asserts that the last statement failed with that error (NONE: succeeded).
    'expect event LogTruncated broker=2' asserts that such an event has happened, 'times 3' that it
    has happened exactly 3 times, and 'expect no event ..' that it has not. 'expect order
    ControllerElected broker=1 then LeaderElected leader=2' asserts that each has happened after the
    one before; other events may come between. 'since MARK' considers only events after that mark.
    Conditions compare the fields of an event, as 'show events' prints them.
    """
    match [word.lower() for word in words[:2]]:
        case ["error", *_]:
            return _expect_error(words[1:])
        case ["event", *_]:
            return _expect_event(words[1:])
        case ["no", "event"]:
            return _expect_event(words[2:], times=0)
        case ["order", *_]:
            return _expect_order(words[1:])
    return Expect(clauses=clauses(words))


def _expect_error(words: list[str]) -> ExpectError:
    if not words:
        raise BadWord("needs an error's name (written 'expect error ERROR [on last]')")
    if words[1:] not in ([], ["on", "last"]):
        message = f"is written 'expect error ERROR [on last]', not '{' '.join(words)}'"
        raise BadWord(message, words[1])
    return ExpectError(error=read(values.error_name, words[0]))


def _expect_event(written: list[str], times: int | None = None) -> ExpectEvents:
    words, mark = since_mark(written)
    if len(words) > 1 and words[-2].lower() == "times":
        if times is not None:
            raise BadWord("takes 'no event' or 'times', not both", words[-2])
        times = read(values.natural, words[-1])
        words = words[:-2]
    pattern(words)
    return ExpectEvents(patterns=[words], times=times, since=mark)


def _expect_order(written: list[str]) -> ExpectEvents:
    words, mark = since_mark(written)
    patterns: list[list[str]] = [[]]
    for word in words:
        if word.lower() == "then":
            patterns.append([])
        else:
            patterns[-1].append(word)
    if len(patterns) == 1:
        raise BadWord("needs two events or more (written 'expect order EVENT then EVENT')")
    for event_words in patterns:
        pattern(event_words)
    return ExpectEvents(patterns=patterns, since=mark)


@statement(app, "mark")
def mark(
    name: Annotated[str, argument("NAME", text="the bookmark's name")],
    note: Annotated[list[str] | None, argument("NOTE", text="a note about it")] = None,
) -> Mark:
    """Set a bookmark in the recording; with --json also a snapshot.

    If two marks have the same name, the recording keeps both, and the later snapshot is used.
    """
    if not name.strip():
        raise BadWord("needs a name with visible characters")
    return Mark(name=name, note=" ".join(note or []))
