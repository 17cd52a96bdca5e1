"""Find the lines that say something, fast, and turn them into facts.

Nearly every line of a log says nothing that matters. With Kafka's own layout, which ends in
``(LOGGER)``, a look at the end of a line tells whether any row of the table is about its logger.
With others the logger is usually one of the first words. If it is not printed at all, the lines
are searched for the texts of all rows, which is slower. Regular expressions are tried after that
only.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import accumulate
from types import NoneType
from typing import Final, get_args, get_origin

import msgspec

from sessions.postmortem.text_logs.facts import Fact, OutOfSync
from sessions.postmortem.text_logs.patterns import PATTERNS, Pattern

MATCHED_BYTES: Final = 1 << 16
"""How much of a line is matched: no list of a fact is longer."""
_FIELDS: Final = {
    "old_tp": "tp",
    "own_node": "node",
    "old_node": "node",
    "newer_offset": "new_offset",
    "old_offset": "offset",
    "indexed_tp": "tp",
    "isr_states": "isr",
}
"""Groups that stand for a field in another wording of the same line."""
_OUT_OF_SYNC: Final = re.compile(
    rb"brokerId: (\d+), endOffset: (-?\d+)(?:, lastCaughtUpTimeMs: (-?\d+))?"
)
_BROKER_STATE: Final = re.compile(rb"brokerId=(\d+)")
_NUMBER: Final = re.compile(rb"\d+")

Row = tuple[Callable[..., "re.Match[bytes] | None"], Pattern]
Rows = tuple[tuple[bytes, tuple[Row, ...]], ...]
"""The searches and rows for each text, for the loop that runs most."""
Candidates = Iterator[tuple[int, bytes, Rows]]
Layout = Callable[[list[bytes], int], Candidates]
"""Yields the lines that may say something, with their numbers and the rows to try."""
_WORDS_MAX: Final = 8
_AROUND_LOGGER: Final = b"[](){}:,-"
_LINES_MIN: Final = 0.6
"""The share of a log's first lines which must have their logger where others have it."""
_TRAILING: Final = re.compile(rb"\([\w.$]{1,200}\)\s*\Z")
_LOGGER: Final = re.compile(
    rb"(?:(?:[a-z][\w]{0,40}\.){1,12}[\w.$]{1,100}|[A-Z][a-z]{1,30}(?:[A-Z][a-z]{0,30}){1,9})\Z"
)


def layout_of(lines: list[bytes]) -> Layout:
    """How the loggers of a log's lines are found, from some lines that begin with a time."""
    if sum(_TRAILING.search(line[-200:]) is not None for line in lines) >= len(lines) / 2:
        return _by_last_word
    loggers: dict[int, list[bytes]] = {}
    for line in lines:
        for number, word in enumerate(line.split(None, _WORDS_MAX)[:_WORDS_MAX]):
            if _is_logger(word):
                loggers.setdefault(number, []).append(_logger_in(word))
    number, names = max(loggers.items(), key=lambda item: len(item[1]), default=(0, []))
    is_known = any(name in _ROWS_BY_LOGGER for name in names)
    if is_known and len(names) >= _LINES_MIN * len(lines):
        return partial(_by_word, number)
    return _by_text


def _is_logger(word: bytes) -> bool:
    """Whether a word may be a logger's name; ``[QuorumController`` begins a message of Kafka's."""
    name = _logger_in(word)
    is_prefix = word.startswith(b"[") and not word.endswith(b"]")
    return not is_prefix and (name in _ROWS_BY_LOGGER or _LOGGER.match(name) is not None)


def _logger_in(word: bytes) -> bytes:
    """The logger in ``[kafka.cluster.Partition]``, ``Partition:`` or ``Partition:66``."""
    return word.strip(_AROUND_LOGGER).partition(b":")[0]


def _by_last_word(lines: list[bytes], number: int) -> Candidates:
    rows_of = _ROWS_BY_LOGGER.get
    for line in lines:
        number += 1
        rows = rows_of(line[line.rfind(b"(") + 1 : -1])
        if rows is not None:
            yield number, line, rows


def _by_word(word: int, lines: list[bytes], number: int) -> Candidates:
    rows_of = _ROWS_BY_LOGGER.get
    for line in lines:
        number += 1
        words = line.split(None, word + 1)
        rows = rows_of(_logger_in(words[word])) if len(words) > word else None
        if rows is not None:
            yield number, line, rows


def _by_text(lines: list[bytes], number: int) -> Candidates:
    """All lines are searched for one text after the other, which is how bytes are searched fast."""
    block = b"\n".join(lines)
    ends = list(accumulate(len(line) + 1 for line in lines))
    rows_at: dict[int, Rows] = {}
    for rows in _ALL_ROWS:
        position = block.find(rows[0])
        while position >= 0:
            line_index = bisect_right(ends, position)
            rows_at[line_index] = (*rows_at.get(line_index, ()), rows)
            position = block.find(rows[0], ends[line_index])
    for line_index in sorted(rows_at):
        yield number + line_index + 1, lines[line_index], rows_at[line_index]


def fact_of(line: bytes, rows: Rows) -> Fact | None:
    """What a line says, by the first row that fits it."""
    for text, searches in rows:
        if text in line:
            for search, row in searches:
                match = search(line, 0, MATCHED_BYTES)
                if match is not None:
                    return _fact(row, match)
    return None


def _fact(row: Pattern, match: "re.Match[bytes]") -> Fact | None:
    fields: dict[str, object] = dict(row.constants)
    _convert(fields, row, match)
    if row.prefix is not None and (prefix := row.prefix.search(match.string, 0, match.start())):
        _convert(fields, row, prefix)
    try:
        return row.fact(**fields)
    except TypeError:  # the line is not whole: a field that it must say is missing
        return None


def _convert(fields: dict[str, object], row: Pattern, match: "re.Match[bytes]") -> None:
    """Put what a match says into fields."""
    for number, name, convert in _groups(row.fact, match.re):
        text = match[number]
        if text is not None:
            fields[name] = convert(text)


@cache
def _groups(
    fact: type[Fact], expression: "re.Pattern[bytes]"
) -> tuple[tuple[int, str, Callable[[bytes], object]], ...]:
    """Each group of an expression, the field that it is, and what makes its text a value."""
    types = {field.name: field.type for field in msgspec.structs.fields(fact)}
    groups = []
    for group, number in expression.groupindex.items():
        name = _FIELDS.get(group, group)
        convert = _CONVERTERS.get(group) or _CONVERTERS.get(name) or _converter(types[name])
        groups.append((number, name, convert))
    return tuple(groups)


def _tp(value: bytes) -> str:
    text = value.decode("utf-8", "replace")
    separator = max(text.rfind("-"), text.rfind(","))
    return f"{text[:separator]}-{text[separator + 1 :].strip()}"


def _brokers(value: bytes) -> tuple[int, ...]:
    return tuple(map(int, _NUMBER.findall(value)))


def _out_of_sync(value: bytes) -> tuple[OutOfSync, ...]:
    return tuple(
        OutOfSync(int(broker), int(end_offset), int(caught_up) if caught_up else None)
        for broker, end_offset, caught_up in _OUT_OF_SYNC.findall(value)
    )


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace").strip()


_CONVERTERS: Final[Mapping[str, Callable[[bytes], object]]] = {
    "tp": _tp,
    "indexed_tp": lambda value: _text(value.replace(b"', partitionIndex=", b"-")),
    "isr_states": lambda value: tuple(map(int, _BROKER_STATE.findall(value))),
}
"""What the text of a group means, if the type of its field does not tell."""


def _converter(declared: object) -> Callable[[bytes], object]:
    """What makes a group's text a value of a field's type, or of the type that it may have."""
    kinds = [kind for kind in get_args(declared) if kind is not NoneType]
    if get_origin(declared) is tuple or any(get_origin(kind) is tuple for kind in kinds):
        return _out_of_sync if OutOfSync in kinds else _brokers
    simple: Mapping[object, Callable[[bytes], object]] = {
        int: int,
        float: float,
        str: _text,
        bool: bool,
    }
    return simple[kinds[0] if kinds else declared]


def _rows_by_logger() -> dict[bytes, Rows]:
    """With a logger's whole name, and with as many of its last parts as a layout may print."""
    rows: dict[bytes, list[Pattern]] = {}
    for row in PATTERNS:
        for logger in row.loggers:
            parts = logger.split(".")
            for part in range(len(parts)):
                rows.setdefault(".".join(parts[part:]).encode(), []).append(row)
    return {logger: _by_texts(table) for logger, table in rows.items()}


def _by_texts(table: Iterable[Pattern]) -> Rows:
    """Rows by their texts: a line is searched once for each."""
    rows: dict[bytes, tuple[Row, ...]] = {}
    for row in table:
        rows[row.text] = (*rows.get(row.text, ()), (row.expression.search, row))
    return tuple(rows.items())


_ALL_ROWS: Final = _by_texts(PATTERNS)
_ROWS_BY_LOGGER: Final = _rows_by_logger()
