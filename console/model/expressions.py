"""The grammar that filters and conditions share: terms joined by ``and``, ``or``, ``not``, ``( )``.

``isr<min and (topic=orders or lag>10) not leader=1,2``. Terms that stand side by side must all
hold; ``and`` binds closer than ``or``; ``!`` is ``not``; keywords and fields are of any case. A
term is a comparison, a word, a ``"quoted text"`` or ``re:pattern``; what it means is up to the
caller. What is wrong is said with its column.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
"""The comparisons of numbers and words; ``~`` and ``!~`` search instead."""
_OPERATOR: Final = "<=|>=|!=|==|!~|~|<|>|="
COMPARISON: Final = re.compile(
    rf"(?P<name>[A-Za-z_][\w.-]*?)(?:(?P<close>{_OPERATOR})\s*|\s+(?P<apart>{_OPERATOR})\s+)"
)
"""``isr<min``, ``isr< min`` and ``isr < min``; in ``orders <min`` the second part is a word."""
VALUE: Final = re.compile(r'"[^"]*"|[^\s()"]+')
PLAIN: Final = re.compile(r'"([^"]*)"|\S+')
FOREIGN: Final = {"&&": "and", "||": "or", "&": "and", "|": "or"}
"""What people of other languages type, and what it is called here."""


class FilterError(ValueError):
    """It cannot be understood; the message says why in a sentence, and at which column."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(f"column {column}: {message}" if column else message)
        self.column = column


class Comparison(Struct, frozen=True):
    """``name op value``: ``value`` as it was typed (without quotes), ``column`` where it begins."""

    name: str
    op: str
    value: str
    column: int


class Node(Protocol):
    """A part of an expression, over places of rows with a searchable text each."""

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401 - rows of any kind
        """Whether it holds of one row."""
        ...

    def select(self, places: Sequence[int], texts: "Lazy", rows: "Lazy") -> list[int]:
        """Those of the places at which it holds."""
        ...


class Lazy:
    """All texts, or all rows: made when the first term asks for them."""

    def __init__(self, make: Callable[[], Sequence[Any]]) -> None:
        self._make = make
        self._made: Sequence[Any] | None = None

    def __call__(self) -> Sequence[Any]:
        if self._made is None:
            self._made = self._make()
        return self._made


class Term(Struct, frozen=True):
    """One condition: ``check`` looks at a row's text or, with ``by_row``, at the row."""

    check: Callable[[Any], bool]
    by_row: bool = False

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return self.check(row if self.by_row else text)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        check, things = self.check, (rows if self.by_row else texts)()
        return [place for place in places if check(things[place])]


class All(Struct, frozen=True):
    """Every part holds. Texts are searched before rows are read, because that is quicker."""

    parts: tuple[Node, ...]

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return all(part.matches(text, row) for part in self.parts)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        found = list(places)
        for part in sorted(self.parts, key=lambda part: getattr(part, "by_row", True)):
            found = part.select(found, texts, rows)
        return found


class Either(Struct, frozen=True):
    """At least one part holds."""

    parts: tuple[Node, ...]

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return any(part.matches(text, row) for part in self.parts)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        found: set[int] = set()
        for part in self.parts:
            left = [place for place in places if place not in found]
            found.update(part.select(left, texts, rows))
        return [place for place in places if place in found]


class Not(Struct, frozen=True):
    """The part does not hold."""

    part: Node

    def matches(self, text: str, row: Any) -> bool:  # noqa: ANN401
        return not self.part.matches(text, row)

    def select(self, places: Sequence[int], texts: Lazy, rows: Lazy) -> list[int]:
        found = set(self.part.select(places, texts, rows))
        return [place for place in places if place not in found]


def parse(
    text: str,
    word: Callable[[str, int], Node],
    comparison: Callable[[Comparison], Node] | None = None,
) -> Node:
    """The expression that ``text`` is; an empty one always holds.

    ``word`` and ``comparison`` say what a term means, and raise :class:`FilterError` if it means
    nothing; without ``comparison`` a term such as ``a=b`` is a word.

    Raises:
        FilterError: the text is no expression.
    """
    return _Parser(text, word, comparison).whole()


class _Parser:
    def __init__(
        self,
        text: str,
        word: Callable[[str, int], Node],
        comparison: Callable[[Comparison], Node] | None,
    ) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.word = word
        self.comparison = comparison

    def whole(self) -> Node:
        self._skip()
        if self.at >= len(self.text):
            return All(())
        found = self._either()
        if self.at < len(self.text):
            raise FilterError("')' closes no '('", self.at + 1)
        return found

    def _either(self) -> Node:
        parts = [self._all()]
        while self._keyword("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _all(self) -> Node:
        parts = [self._one()]
        while self._keyword("and") or self._goes_on():
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _goes_on(self) -> bool:
        """Whether another term follows without ``and``."""
        return self.at < len(self.text) and not self._closes() and not self._keyword("or", ahead=1)

    def _closes(self) -> bool:
        return self.text.startswith(")", self.at)

    def _one(self) -> Node:
        self._skip()
        if self.at >= len(self.text):
            raise FilterError("a term is missing at the end, such as a word", self.at + 1)
        if self._keyword("or", ahead=True) or self._keyword("and", ahead=True) or self._closes():
            wrong = self._upcoming()
            raise FilterError(
                f'a term is missing before {wrong!r}; "{wrong}" in quotes is a word',
                self.at + 1,
            )
        if self._keyword("not"):
            return Not(self._one())
        if self.text.startswith("!", self.at) and self.text[self.at + 1 : self.at + 2].strip():
            self.at += 1
            return Not(self._one())
        if self.text.startswith("(", self.at):
            return self._group()
        return self._term()

    def _group(self) -> Node:
        opened = self.at
        self.at += 1
        self.depth += 1
        self._skip()
        found = self._either()
        if not self._closes():
            raise FilterError("this '(' is not closed by a ')'", opened + 1)
        self.at += 1
        self.depth -= 1
        self._skip()
        return found

    def _term(self) -> Node:
        begin = self.at
        if self.comparison is not None and (found := COMPARISON.match(self.text, self.at)):
            return self._comparison(found)
        matched = PLAIN.match(self.text, self.at)
        assert matched is not None
        text = matched[0]
        if matched[1] is not None:
            self.at = matched.end()
            self._skip()
            return self.word(f'"{matched[1]}"', begin + 1)
        while self.depth and text.endswith(")") and text.count(")") > text.count("("):
            text = text[:-1]
        if text in FOREIGN:
            raise FilterError(f"{text!r} is written {FOREIGN[text]!r} here", begin + 1)
        self.at = begin + len(text)
        self._skip()
        return self.word(text, begin + 1)

    def _comparison(self, found: "re.Match[str]") -> Node:
        assert self.comparison is not None
        begin, self.at = self.at, found.end()
        name, op = found["name"], found["close"] or found["apart"]
        value = VALUE.match(self.text, self.at)
        if value is None:
            typed = f"{name}{op}"
            raise FilterError(f"a value is missing after {typed!r}, such as {typed}1", self.at + 1)
        self.at = value.end()
        self._skip()
        return self.comparison(Comparison(name, op, value[0].strip('"'), begin + 1))

    # ---- words

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _upcoming(self) -> str:
        found = re.compile(r"\w+|\S").match(self.text, self.at)
        return "" if found is None else found[0]

    def _keyword(self, word: str, *, ahead: bool | int = False) -> bool:
        """Take a keyword if it is the next word; only look with ``ahead``."""
        end = self.at + len(word)
        after = self.text[end : end + 1]
        if self.text[self.at : end].lower() != word or (after and after not in " \t()!"):
            return False
        if not ahead:
            self.at = end
            self._skip()
        return True


def steps_without_end(pattern: str) -> bool:
    """Whether a regular expression may take time without end on a line that nearly matches.

    That is so of a repetition within a repetition, ``(a+)+``, and of a repeated choice whose parts
    may begin alike, ``(a|ab)*``: :mod:`re` tries every way to share the text out among them.
    """
    opened: list[list[str]] = [[]]
    for token in _pattern_tokens(pattern):
        if token == "(":
            opened.append([])
        elif token == ")" and len(opened) > 1:
            inner = opened.pop()
            opened[-1].append("group:" + ("risky" if _is_risky(inner) else "plain"))
        elif token == "repeat":
            if opened[-1] and opened[-1][-1] == "group:risky":
                return True
            opened[-1].append("repeat")
        else:
            opened[-1].append(token)
    return False


def _is_risky(inner: Sequence[str]) -> bool:
    if "repeat" in inner or "group:risky" in inner:
        return True
    if "|" not in inner:
        return False
    heads = [inner[0], *(inner[n + 1] for n, token in enumerate(inner[:-1]) if token == "|")]
    plain = all(len(head) == 1 and (head.isalnum() or head in "-_ /") for head in heads)
    return not plain or len(set(heads)) < len(heads)


def _pattern_tokens(pattern: str) -> Iterable[str]:
    """The pattern's characters; ``repeat`` for what repeats without end, ``class`` for ``[..]``."""
    tokens = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,\}|\(\?[:=!<P]*|[\s\S]")
    for found in tokens.finditer(pattern):
        token = found[0]
        if token in ("*", "+") or token.startswith("{"):
            yield "repeat"
        elif token.startswith("("):
            yield "("
        elif token.startswith("["):
            yield "class"
        else:
            yield token
