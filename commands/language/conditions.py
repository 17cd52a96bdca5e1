"""The condition grammar, ``LEFT OP RIGHT [and LEFT OP RIGHT]..``, as clauses that a cluster checks.

LEFT names a value (:class:`emulator.inputs.conditions.Subject`). RIGHT is an integer, a word,
``true``, ``false``, a list such as ``[1,2]``, or another LEFT. How RIGHT is read follows from LEFT:
beside a value that is text (a state, a znode's data, record values) digits stay text, and
``offline`` is a state there but a count elsewhere; beside a time a duration such as ``5s`` is
milliseconds.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, cast

from commands.language.values import BadWord, duration, nearest
from emulator.inputs.conditions import Clause, Subject, Value

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "contains"]

OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=", "in", "contains")
FIELDS: Final = {
    "partition": (
        *("leader", "epoch", "isr", "osr", "replicas", "hw", "leo"),
        *("state", "under_replicated", "version"),
    ),
    "replica": (
        *("leo", "hw", "log_start", "role", "epochs", "values"),
        *("remote_leo", "caught_up_ms"),
    ),
    "controller": ("broker", "epoch"),
    "broker": ("state", "session"),
    "zk": ("exists", "data", "version", "children", "owner"),
    "producer": ("acked", "failed", "retries", "pending"),
    "consumer": ("position", "values", "partitions"),
    "audit": (
        *("acked", "lost", "duplicated", "diverged", "consumed_lost"),
        *("unacked_visible", "invariants_violated"),
    ),
    "cluster": ("under_replicated", "offline", "under_min_isr", "time"),
}
"""What can be asked of each kind of subject."""
CALLED: Final = {"zk": "a znode", "controller": "the controller", "audit": "the audit"}
"""Kinds of subjects that are not called ``a KIND``."""
WRITTEN: Final = {
    "broker": "broker.0.state",
    "zk": "zk./controller.data",
    "producer": "producer.p1.acked",
    "consumer": "consumer.c1.values",
    "controller": "controller.broker",
    "audit": "audit.lost",
}
"""How a subject is written that starts with a fixed word."""
TEXT_FIELDS: Final = {"state", "role", "data", "children", "values", "partitions"}
"""Values that are words, or lists of words: digits beside them stay text."""
TIME_FIELDS: Final = {"time", "caught_up_ms"}
"""Values in milliseconds, beside which a duration may stand."""

_CLAUSE = 3  # words in a clause
_PARTITION = re.compile(r"([A-Za-z0-9._-]+-\d+)\.(\w*)", re.ASCII)
_REPLICA = re.compile(r"([A-Za-z0-9._-]+-\d+@\d+)\.(\w*)", re.ASCII)
_BROKER = re.compile(r"broker\.(\d+)\.(\w*)", re.ASCII)
_CLIENT = re.compile(r"(producer|consumer)\.(.+)\.(\w*)", re.ASCII)
_ZNODE = re.compile(r"zk\.(/.*)\.(\w*)", re.ASCII)
_WHOLE = re.compile(r"(controller|audit)\.(\w*)", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_INNER_LIST = re.compile(r"\[([^\[\]]*)\]")
_GLUED = re.compile(r"(.+?)(==|!=|<=|>=|<|>)(.*)")


def parse(words: Sequence[str]) -> list[Clause]:
    """The clauses of a condition, given as words.

    Raises:
        BadWord: it is no condition; the message says which part, and the nearest valid word.
    """
    words = _join_lists(words)
    if not words:
        raise BadWord("a condition is missing (written such as orders-0.leader == 1)")
    clauses = [_clause(words[at : at + _CLAUSE]) for at in range(0, len(words), _CLAUSE + 1)]
    for word in words[_CLAUSE :: _CLAUSE + 1]:
        if word != "and":
            raise BadWord(f"'{word}' stands where only 'and' may (LEFT OP RIGHT and LEFT OP RIGHT)")
    if len(words) % (_CLAUSE + 1) == 0:
        raise BadWord("a condition is missing after 'and'")
    return clauses


def subject(word: str) -> Subject:
    """What a LEFT names.

    Raises:
        BadWord: nothing is named so.
    """
    found = _subjects(word)
    for candidate in found:
        if candidate.field in FIELDS[candidate.kind]:
            return candidate
    if found:
        kind, fields = found[0].kind, FIELDS[found[0].kind]
        hint = nearest(found[0].field, fields) or f" ({', '.join(fields)})"
        raise BadWord(f"{CALLED.get(kind, f'a {kind}')} has no '{found[0].field}'{hint}")
    start = word.partition(".")[0]
    if start in WRITTEN:
        raise BadWord(f"'{word}' names no value (written such as {WRITTEN[start]})")
    hint = nearest(start, (*FIELDS["cluster"], *WRITTEN))
    raise BadWord(
        f"'{word}' names no value{hint or ' (such as orders-0.leader or orders-0@2.leo)'}"
    )


def _subjects(word: str) -> list[Subject]:
    """Every reading of a word as a subject, the likeliest first; fields may be unknown."""
    found = []
    if match := _ZNODE.fullmatch(word):
        return [Subject("zk", match[1], match[2])]
    if match := _BROKER.fullmatch(word):
        found.append(Subject("broker", match[1], match[2]))
    if match := _CLIENT.fullmatch(word):
        found.append(Subject(match[1], match[2], match[3]))
    if match := _WHOLE.fullmatch(word):
        found.append(Subject(match[1], "", match[2]))
    if word in FIELDS["cluster"]:
        found.append(Subject("cluster", "", word))
    if match := _REPLICA.fullmatch(word):
        found.append(Subject("replica", match[1], match[2]))
    if match := _PARTITION.fullmatch(word):
        found.append(Subject("partition", match[1], match[2]))
    return found


def _clause(words: Sequence[str]) -> Clause:
    if len(words) < _CLAUSE:
        glued = _GLUED.fullmatch(words[0])
        hint = f"; write '{' '.join(glued.groups())}'" if glued else ""
        raise BadWord(f"'{' '.join(words)}' is no condition (LEFT OP RIGHT){hint}")
    left = subject(words[0])
    operator = words[1]
    if operator not in OPERATORS:
        alias = {"=": "=="}.get(operator)
        hint = f"; did you mean '{alias}'?" if alias else f" ({' '.join(OPERATORS)})"
        raise BadWord(f"'{operator}' is no comparison{hint}")
    text = " ".join(words)
    other = _right_subject(words[2], left)
    if other:
        return Clause(left, cast(Operator, operator), None, other, text)
    return Clause(left, cast(Operator, operator), _value(words[2], left), None, text)


def _right_subject(word: str, left: Subject) -> Subject | None:
    """RIGHT as another LEFT, if it is one; a bare word beside text is text."""
    if "." not in word and left.field in TEXT_FIELDS:
        return None
    return next((found for found in _subjects(word) if found.field in FIELDS[found.kind]), None)


def _value(word: str, left: Subject) -> Value:
    if word.startswith("[") and word.endswith("]"):
        return _list(word, left)
    if word in ("true", "false") and left.field not in TEXT_FIELDS:
        return word == "true"
    if left.field in TIME_FIELDS and not _INTEGER.fullmatch(word):
        return duration(word) // 1_000
    return _scalar(word, left)


def _list(word: str, left: Subject) -> list[int | str | list[int]]:
    if word.startswith("[["):
        pairs = [_parts(inner) for inner in _INNER_LIST.findall(word[1:-1])]
        if all(_INTEGER.fullmatch(part) for pair in pairs for part in pair):
            return [[int(part) for part in pair] for pair in pairs]
    return [_scalar(part, left) for part in _parts(word[1:-1])]


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[,\s]+", text) if part]


def _scalar(word: str, left: Subject) -> int | str:
    is_number = left.field not in TEXT_FIELDS and _INTEGER.fullmatch(word)
    return int(word) if is_number else word


def _join_lists(words: Sequence[str]) -> list[str]:
    """``[1,`` and ``2]`` are one word."""
    joined: list[str] = []
    is_open = False
    for word in words:
        if is_open:
            joined[-1] += " " + word
        else:
            joined.append(word)
        is_open = joined[-1].startswith("[") and not joined[-1].endswith("]")
    if is_open:
        raise BadWord(f"'{joined[-1]}' is a list that is not closed with ]")
    return joined
