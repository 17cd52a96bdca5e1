"""What ``/`` understands: words, ``re:pattern``, ``!not``, and queries; all of them must hold.

A row's text may have several lines, so that ``re:^orders-3$`` finds a name beside a state word.
``isr<min and lag>10`` compares two fields, and a field with a number. A list (``isr``, ``osr``,
``replicas``) counts its members in ``< > =`` and is searched by ``~``: ``osr~2`` are the rows whose
OSR holds broker 2.
"""

import operator
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeVar

Row = TypeVar("Row")
Field = Callable[[Row], Any]
"""Reads one field of a row: a number, a word, or a list of numbers."""
Test = Callable[[str, Row], bool]
"""Tells whether a row, with its text, matches."""

OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
QUERY: Final = re.compile(r"([a-z_]+)(<=|>=|!=|==|!~|~|<|>|=)(.+)")
AROUND_OPERATOR: Final = re.compile(r"\s+(<=|>=|!=|==|!~|~|<|>|=)\s+")


class FilterError(ValueError):
    """The filter cannot be understood; the message says why, in a sentence."""


class Filter(Generic[Row]):
    """A parsed filter; ``text`` is as it was typed, empty for one that everything matches."""

    def __init__(self, text: str = "", fields: Mapping[str, Field[Row]] | None = None) -> None:
        self.text = text.strip()
        self.fields = fields or {}
        joined = AROUND_OPERATOR.sub(r"\1", self.text) if self.fields else self.text
        words = [word for word in joined.split() if word.lower() != "and"]
        self.tests: list[Test[Row]] = [self._test(word) for word in words]

    def __bool__(self) -> bool:
        return bool(self.tests)

    def matches(self, text: str, row: Row) -> bool:
        """Whether all terms hold of a row whose searchable text (in small letters) is ``text``."""
        return all(test(text, row) for test in self.tests)

    def _test(self, word: str) -> Test[Row]:
        if word.startswith("!") and len(word) > 1:
            inner = self._test(word[1:])
            return lambda text, row: not inner(text, row)
        if word.startswith("re:"):
            return _pattern(word[3:])
        if self.fields and (query := QUERY.fullmatch(word)):
            return self._query(query[1], query[2], query[3])
        needle = word.lower()
        return lambda text, row: needle in text

    def _query(self, name: str, op: str, value: str) -> Test[Row]:
        left = self._field(name)
        if op in ("~", "!~"):
            needle = value.lower()
            wanted = op == "~"
            return lambda text, row: (needle in _searchable(left(row))) is wanted
        compare = OPERATORS[op]
        if value in self.fields:
            right = self.fields[value]
            return lambda text, row: _holds(compare, left(row), right(row))
        constant = _constant(value)
        return lambda text, row: _holds(compare, left(row), constant)

    def _field(self, name: str) -> Field[Row]:
        if name in self.fields:
            return self.fields[name]
        near = get_close_matches(name, self.fields, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"fields are {', '.join(self.fields)}"
        raise FilterError(f"there is no field {name!r}; {hint}")


def _pattern(source: str) -> Test[Any]:
    try:
        pattern = re.compile(source, re.IGNORECASE | re.MULTILINE)
    except re.error as error:
        raise FilterError(f"re:{source} is no regular expression: {error}") from None
    return lambda text, row: pattern.search(text) is not None


def _constant(value: str) -> int | str:
    bare = value.replace(",", "")
    return int(bare) if re.fullmatch(r"-?\d+", bare) else value.lower()


def _searchable(value: object) -> str | set[str]:
    """A list is searched by whole members, anything else as text."""
    return {str(item) for item in value} if isinstance(value, list) else str(value).lower()


def _holds(compare: Callable[[Any, Any], bool], left: object, right: object) -> bool:
    """Compare as numbers (lists by length) or as words; what has no value matches nothing."""
    left, right = (len(side) if isinstance(side, list) else side for side in (left, right))
    if left is None or right is None:
        return False
    if isinstance(left, str) or isinstance(right, str):
        return compare(str(left).lower(), str(right).lower())
    return compare(left, right)
