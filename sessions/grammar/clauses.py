"""The conditions of scripts and of ``t when``: what LEFT and RIGHT are, as clauses to be checked.

LEFT names a value (:class:`emulator.inputs.conditions.Subject`). RIGHT is an integer, a word,
``true``, ``false``, a list such as ``[1,2]``, or another LEFT. How RIGHT is read follows from LEFT:
beside a value that is text (a state, a znode's data, record values) digits stay text, and
``offline`` is a state there but a count elsewhere; beside a time, one such as ``5s`` or ``12:04``
is in milliseconds.

``1,2`` without brackets is a list as well: beside one value, ``orders-0.leader = 1,2`` is "one of
them". A znode's data and record values may have commas of their own and are compared as they are.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from emulator.inputs.conditions import JOINED, Clause, Subject, Value
from sessions.grammar.conditions import Comparison, Joined, Operator, parse
from sessions.grammar.words import BadWord, moment, nearest

FIELDS: Final = {
    "partition": (
        *("leader", "epoch", "isr", "osr", "replicas", "hw", "leo", "lso"),
        *("state", "under_replicated", "version"),
        *("elr", "last_known_elr", "partition_epoch", "recovery", "adding", "removing"),
    ),
    "replica": (
        *("leo", "hw", "lso", "log_start", "role", "epochs", "values"),
        *("remote_leo", "caught_up_ms", "checkpointed_hw", "recovery_point"),
    ),
    "controller": ("broker", "epoch"),
    "broker": ("state", "session", "fenced", "in_controlled_shutdown", "registrations"),
    "quorum": ("leader", "epoch", "log_start", "snapshot"),
    "member": ("member", "log_start", "snapshot"),
    "zk": (
        *("exists", "data", "version", "children", "listed", "owner", "watchers"),
        *("czxid", "mzxid", "pzxid", "ctime", "mtime"),
        *("cversion", "acl_version", "data_length", "num_children"),
    ),
    "producer": ("acked", "failed", "retries", "pending"),
    "consumer": ("position", "values", "partitions"),
    "fault": ("injected", "left"),
    "audit": (
        *("acked", "lost", "duplicated", "diverged", "consumed_lost"),
        *("unacked_visible", "invariants_violated"),
    ),
    "cluster": ("under_replicated", "offline", "under_min_isr", "time"),
}
"""Fields of each kind of subject."""
CALLED: Final = {
    "zk": "a znode",
    "controller": "the controller",
    "quorum": "the quorum",
    "member": "a host of the quorum",
    "audit": "the audit",
}
"""Kinds of subjects that are not called ``a KIND``."""
WRITTEN: Final = {
    "broker": "broker.0.state",
    "zk": "zk./controller.data",
    "producer": "producer.p1.acked",
    "consumer": "consumer.c1.values",
    "fault": "fault.1.injected",
    "controller": "controller.broker",
    "quorum": "quorum.leader",
    "audit": "audit.lost",
}
"""How a subject is written that starts with a fixed word."""
TEXT_FIELDS: Final = {
    *("state", "member", "role", "data", "children", "listed", "values", "partitions"),
}
"""Values that are words, or lists of words: digits beside them stay text."""
TIME_FIELDS: Final = {"time", "caught_up_ms"}
"""Values in milliseconds, which may also be compared with a duration."""

LISTS: Final = {
    *("isr", "osr", "replicas", "epochs", "values"),
    *("elr", "last_known_elr", "adding", "removing"),
    *("children", "listed", "partitions", "watchers"),
}
"""Values that are lists themselves."""
WITH_COMMAS: Final = {"data", "values", "children", "listed"}
"""Values that may have commas in them, so that a list beside them is written in brackets."""

_PARTITION = re.compile(r"([A-Za-z0-9._-]+-\d+)\.(\w*)", re.ASCII)
_REPLICA = re.compile(r"([A-Za-z0-9._-]+-\d+@\d+)\.(\w*)", re.ASCII)
_BROKER = re.compile(r"broker\.(\d+)\.(\w*)", re.ASCII)
_CLIENT = re.compile(r"(producer|consumer|fault)\.(.+)\.(\w*)", re.ASCII)
_ZNODE = re.compile(r"zk\.(/.*)\.(\w*)", re.ASCII)
_MEMBER = re.compile(r"quorum\.(\d+)(?:\.(\w*))?", re.ASCII)
_WHOLE = re.compile(r"(controller|quorum|audit)\.(\w*)", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,16}", re.ASCII)
_INNER_LIST = re.compile(r"\[([^\[\]]*)\]")


def clauses(words: Sequence[str]) -> list[Clause]:
    """Parse a condition's words into clauses; all of them must hold.

    Raises:
        BadWord: it is not a condition; the message says which part, and the nearest valid word.
    """
    condition = parse(words, clause)
    joined = isinstance(condition, Joined) and condition.op == "and"
    return [_built(part) for part in (condition.parts if joined else [condition])]


def leaves(parts: Sequence[Clause]) -> Iterator[Clause]:
    """Yield the comparisons inside clauses."""
    for part in parts:
        if part.joins:
            yield from leaves(part.parts)
        else:
            yield part


def _built(condition: Clause | Joined) -> Clause:
    if isinstance(condition, Clause):
        return condition
    parts = [_built(part) for part in condition.parts]
    written = [f"({part.text})" if part.joins else part.text for part in parts]
    text = f"not {written[0]}" if condition.op == "not" else f" {condition.op} ".join(written)
    return Clause(JOINED, condition.op, text=text, parts=parts)


def clause(comparison: Comparison) -> Clause:
    """Parse one comparison of a script's values.

    Raises:
        BadWord: one of its sides is invalid.
    """
    left = subject(comparison.left)
    if other := _right_subject(comparison.right, left):
        return Clause(left, comparison.op, None, other, comparison.text)
    value = _value(comparison.right, left)
    op: Operator = comparison.op
    if isinstance(value, list) and not comparison.right.startswith("[") and left.field not in LISTS:
        if op not in ("==", "!=", "in"):
            raise BadWord(
                f"'{comparison.right}' is a list, which '{op}' does not compare", comparison.right
            )
        if op == "!=":
            text = f"{comparison.left} in {comparison.right}"
            inner = Clause(left, "in", value, None, text)
            return Clause(JOINED, "not", text=comparison.text, parts=[inner])
        op = "in"
    return Clause(left, op, value, None, comparison.text)


def subject(word: str) -> Subject:
    """Parse a LEFT.

    Raises:
        BadWord: it is not a subject.
    """
    base, dot, field = word.rpartition(".")
    readings = _subjects(f"{base}{dot}{field.lower()}")
    for candidate in readings:
        if candidate.field in FIELDS[candidate.kind]:
            return candidate
    if readings:
        kind, fields = readings[0].kind, FIELDS[readings[0].kind]
        hint = nearest(readings[0].field, fields) or f" ({', '.join(fields)})"
        raise BadWord(f"{CALLED.get(kind, f'a {kind}')} has no '{readings[0].field}'{hint}")
    start = word.partition(".")[0]
    if start in WRITTEN:
        raise BadWord(f"'{word}' does not name a value (written such as {WRITTEN[start]})")
    hint = nearest(start, (*FIELDS["cluster"], *WRITTEN))
    raise BadWord(
        f"'{word}' does not name a value{hint or ' (such as orders-0.leader or orders-0@2.leo)'}"
    )


def _subjects(word: str) -> list[Subject]:
    """Every reading of a word as a subject, the likeliest first; fields may be unknown."""
    readings = []
    if match := _ZNODE.fullmatch(word):
        return [Subject("zk", match[1], match[2])]
    if match := _BROKER.fullmatch(word):
        readings.append(Subject("broker", match[1], match[2]))
    if match := _CLIENT.fullmatch(word):
        readings.append(Subject(match[1], match[2], match[3]))
    if match := _MEMBER.fullmatch(word):
        return [Subject("member", match[1], "member" if match[2] is None else match[2])]
    if match := _WHOLE.fullmatch(word):
        readings.append(Subject(match[1], "", match[2]))
    if word in FIELDS["cluster"]:
        readings.append(Subject("cluster", "", word))
    if match := _REPLICA.fullmatch(word):
        readings.append(Subject("replica", match[1], match[2]))
    if match := _PARTITION.fullmatch(word):
        readings.append(Subject("partition", match[1], match[2]))
    return readings


def _right_subject(word: str, left: Subject) -> Subject | None:
    """Parse RIGHT as another LEFT, if it is one; a bare word compared with text is text."""
    if "." not in word and left.field in TEXT_FIELDS:
        return None
    return next(
        (reading for reading in _subjects(word) if reading.field in FIELDS[reading.kind]), None
    )


def _value(word: str, left: Subject) -> Value:
    if word.startswith("[") and word.endswith("]"):
        return _list(word, left)
    if word in ("true", "false") and left.field not in TEXT_FIELDS:
        return word == "true"
    if left.field in TIME_FIELDS and not _INTEGER.fullmatch(word):
        return moment(word) // 1_000
    if "," in word and left.field not in WITH_COMMAS:
        return _list(f"[{word}]", left)
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
    if left.field in TEXT_FIELDS:
        return word
    if _HEXADECIMAL.fullmatch(word):
        return int(word, 16)
    return int(word) if _INTEGER.fullmatch(word) else word
