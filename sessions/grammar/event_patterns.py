"""Event patterns: ``LogTruncated broker=2 and tp=orders-0``, and where they are found.

A pattern is an event's type, a condition on its fields (:mod:`sessions.grammar.conditions`), or
both; types are joined as comparisons are (``LogTruncated or LeaderElected leader=2``). The fields
are those of the event's own struct; every event also has ``type``, ``seq``, ``cause`` and ``time``
(in milliseconds). An event that has no such field does not match.

``=`` compares a whole value, ``~`` looks inside: for a member of a list, or for text in anything
else.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import Struct

from emulator import events
from emulator.events import Event
from emulator.inputs.statements import ExpectEvents, Statement
from emulator.scenario.conditions import NOTHING, holds
from sessions.grammar.conditions import Comparison, Joined, parse
from sessions.grammar.words import BadWord, moment, nearest
from sessions.text import clock

SHARED: Final = ("type", "seq", "cause", "time")
"""Fields of every event."""
US_PER_MS: Final = 1_000
_ROLE: Final = re.compile(r":\w+:`[~.]?([^`]+)`")
_PARTS_BEGIN: Final = re.compile(r"(?:(?:and|or|not)?[(!])+", re.IGNORECASE)
_VALUE_FOLLOWS: Final = re.compile(r"in|contains|.*[=<>~,\[]", re.IGNORECASE)
_OPERATOR: Final = re.compile(r"[=<>~]|![=~]|(?:in|contains)$", re.IGNORECASE)

COUNTED_SHOWN: Final = 5
"""How many of the events that are counted are named."""

Happened = Callable[[], Iterable[Event]]
"""All events so far, in order."""


class EventPattern(Struct, frozen=True):
    """A pattern as it was written; ``type`` is empty where any will do."""

    text: str
    type: str
    condition: Any = None

    def matches(self, event: Event) -> bool:
        if self.type and type(event).__name__ != self.type:
            return False
        return self.condition is None or _holds(event, self.condition)


def described() -> list[tuple[str, tuple[str, ...], str]]:
    """Each type of event by name: its own fields, and its meaning."""
    rows = []
    for name, kind in sorted(events.TYPES.items()):
        summary = (inspect.getdoc(kind) or "").partition("\n\n")[0]
        meaning = _ROLE.sub(r"\1", summary).replace("``", "").replace("\n", " ")
        rows.append((name, kind.__struct_fields__[len(SHARED) - 1 :], meaning))
    return rows


@cache
def _types_by_lower() -> dict[str, str]:
    return {name.lower(): name for name in events.TYPES}


def pattern(words: Sequence[str]) -> EventPattern:
    """The pattern that the words are.

    Raises:
        BadWord: there is no such event or field, or they are no condition.
    """
    if not words:
        raise BadWord("an event is missing (written such as LogTruncated broker=2)")
    name = _type(words)
    rest = list(words[1:] if name else words)
    compared = _types_compared(rest)
    if compared != rest:
        rest, name = [*([f"type=={name}"] if name else ()), *compared], ""
    if rest and name and rest[0].lower() == "and":
        rest = rest[1:]
    condition = (
        parse(rest, lambda comparison: _checked(comparison, name), adjacent=True) if rest else None
    )
    return EventPattern(" ".join(words), name, condition)


def _type(words: Sequence[str]) -> str:
    """The type that the first word names; empty if a condition begins there."""
    word = words[0]
    if known := _types_by_lower().get(word.lower()):
        return known
    following = words[1].lower() if len(words) > 1 else ""
    is_compared = following in ("in", "contains") or (not following[:1].isalnum() and following)
    if word.isalnum() and word.lower() != "not" and not is_compared:
        raise BadWord(f"there is no event '{word}'{nearest(word, events.TYPES)}", word)
    return ""


def _types_compared(words: Sequence[str]) -> list[str]:
    """The words of a condition, in which a type that stands alone is a comparison of the type."""
    rewritten: list[str] = []
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        bare = _PARTS_BEGIN.sub("", word).rstrip(")")
        is_alone = not _VALUE_FOLLOWS.fullmatch(before) and not _OPERATOR.match(after)
        name = _types_by_lower().get(bare.lower())
        if is_alone and name:
            rewritten.append(word.replace(bare, f"type=={name}", 1))
            continue
        hint = nearest(bare, events.TYPES) if bare.isalnum() and is_alone else ""
        if hint and before.lower() in ("and", "or", "not"):
            raise BadWord(f"there is no event '{bare}'{hint}", word)
        rewritten.append(word)
    return rewritten


@cache
def _all_fields() -> frozenset[str]:
    names = {field for kind in events.TYPES.values() for field in kind.__struct_fields__}
    return frozenset((names - {"time_us"}) | set(SHARED))


def _checked(comparison: Comparison, name: str) -> tuple[str, str, Any]:
    """A comparison as field, operator and value."""
    field = comparison.left.lower()
    known: Iterable[str] = _all_fields()
    if name:
        known = [*SHARED, *events.TYPES[name].__struct_fields__[3:]]
    if field not in known:
        owner = f"a {name}" if name else "an event"
        hint = nearest(field, known) or (f" ({', '.join(known)})" if name else "")
        raise BadWord(f"{owner} has no '{comparison.left}'{hint}", comparison.left)
    if field == "time" and not comparison.right.lstrip("-").isdecimal():
        return field, comparison.op, moment(comparison.right) // US_PER_MS
    value = _value(comparison.right)
    if field == "type" and comparison.op in ("==", "!=", "in"):
        for kind in value if isinstance(value, list) else [value]:
            if kind not in events.TYPES:
                raise BadWord(f"there is no event '{kind}'{nearest(str(kind), events.TYPES)}")
    return field, comparison.op, value


def _value(word: str) -> Any:  # noqa: ANN401 - whatever JSON says, or else a word
    if word in ("none", "None"):
        return None
    try:
        return msgspec.json.decode(word)
    except (msgspec.DecodeError, RecursionError):
        pass
    if word.startswith("[") and word.endswith("]"):
        return [_value(part.strip()) for part in word[1:-1].split(",") if part.strip()]
    if "," in word:
        return [_value(part) for part in word.split(",")]
    return word


def _holds(event: Event, condition: Any) -> bool:  # noqa: ANN401 - a comparison, or parts joined
    if isinstance(condition, Joined):
        if condition.op == "not":
            return not _holds(event, condition.parts[0])
        joined = any if condition.op == "or" else all
        return joined(_holds(event, part) for part in condition.parts)
    field, op, right = condition
    left = field_of(event, field)
    if op == "contains":
        return _contains(left, right)
    if left is None and right is None:
        return bool(op == "==")
    if isinstance(left, str) and not isinstance(right, str | list):
        right = (
            "" if right is None else str(right).lower() if isinstance(right, bool) else str(right)
        )
    if op in ("==", "!=") and isinstance(right, list) and not isinstance(left, list):
        return (left in right) is (op == "==")
    return holds(left, op, right)


def _contains(left: Any, right: Any) -> bool:  # noqa: ANN401 - any field, any value
    if isinstance(left, list):
        return right in left
    return left is not NOTHING and str(right).lower() in str(left).lower()


def field_of(event: Event, name: str) -> Any:  # noqa: ANN401 - whatever the field holds
    """An event's field as plain data; None if it has no such field."""
    if name == "type":
        return type(event).__name__
    if name == "time":
        return event.time_us // US_PER_MS
    return msgspec.to_builtins(getattr(event, name, None))


def find(patterns: Sequence[EventPattern], happened: Iterable[Event]) -> list[Event]:
    """The first event of each pattern, each after the one before; shorter if one is missing."""
    matching: list[Event] = []
    for event in happened:
        if len(matching) == len(patterns):
            break
        if patterns[len(matching)].matches(event):
            matching.append(event)
    return matching


def since(name: str, happened: Iterable[Event]) -> Iterable[Event]:
    """Return the events after the last bookmark of this name; all of them without a name.

    Raises:
        BadWord: there is no such bookmark.
    """
    if not name:
        return happened
    past: list[Event] | None = None
    for event in happened:
        if isinstance(event, events.BookmarkSet) and event.name == name:
            past = []
        elif past is not None:
            past.append(event)
    if past is None:
        raise BadWord(f"there is no mark '{name}' yet", name)
    return past


def looked_up(statement: Statement, happened: Happened) -> Statement:
    """Add the verdict to a statement about events; return others unchanged."""
    expectation = statement.input
    if not isinstance(expectation, ExpectEvents):
        return statement
    passed, actual = _verdict(expectation, happened)
    return msgspec.structs.replace(
        statement, input=msgspec.structs.replace(expectation, passed=passed, actual=actual)
    )


def _verdict(expectation: ExpectEvents, happened: Happened) -> tuple[bool, str]:
    patterns = [pattern(words) for words in expectation.patterns]
    try:
        seen = since(expectation.since, happened())
    except BadWord as error:
        return False, str(error)
    if expectation.times is not None:
        every = filter(patterns[0].matches, seen)
        first = list(islice(every, COUNTED_SHOWN))
        count = len(first) + sum(1 for _ in every)
        return count == expectation.times, _counted(count, first)
    matching = find(patterns, seen)
    if len(matching) == len(patterns):
        return True, ", ".join(map(_named, matching))
    missing = patterns[len(matching)].text
    if not matching:
        return False, f"there is no {missing}"
    return False, f"there is no {missing} after {_named(matching[-1])}"


def _counted(count: int, first: Sequence[Event]) -> str:
    times = f"{count:,} times" if count else "never"
    return f"it happened {times}{': ' if count else ''}{', '.join(map(_named, first))}"


def _named(event: Event) -> str:
    return f"#{event.seq:,} {type(event).__name__} at {clock(event.time_us)}"
