"""The condition grammar: comparisons, joined by ``and``, ``or``, ``not`` and parentheses.

::

    condition   = conjunction ("or" conjunction)*
    conjunction = part ("and" part)*
    part        = "not" part | "!" part | "(" condition ")" | comparison
    comparison  = LEFT OP RIGHT

OP is one of ``== = != < <= > >= in contains ~ !~``: ``=`` is ``==``, ``~`` is ``contains`` and
``!~`` its opposite. The spaces around OP may be left out, but around ``in`` and ``contains``. RIGHT
is one word, or a list in brackets, ``[1, 2]``. Words of the grammar are understood in any case.

What LEFT and RIGHT are is known to whoever reads the condition: a script's values
(:mod:`sessions.grammar.clauses`), the fields of a table's rows, or the fields of an event.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, Literal, NamedTuple, TypeVar, cast

from sessions.grammar.words import BadWord

T = TypeVar("T")

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "contains"]

OPERATORS: Final = ("==", "!=", "<", "<=", ">", ">=", "in", "contains")
"""What conditions are written with; ``=`` and ``~`` are other names for two of them."""
SAME: Final = {"=": "==", "~": "contains", "!~": "contains"}
"""Operators with two names."""

_SYMBOL = re.compile(r"(==|!=|!~|<=|>=|=|<|>|~)(.*)", re.DOTALL)
_GLUED = re.compile(r"([^=!<>~]+)(==|!=|!~|<=|>=|=|<|>|~)(.*)", re.DOTALL)


class Joined(NamedTuple):
    """Parts that are joined: ``op`` is ``and``, ``or``, or (of one part) ``not``."""

    op: Literal["and", "or", "not"]
    parts: list[Any]
    """Each what a comparison was read as, or another :class:`Joined`."""


class Comparison(NamedTuple):
    """``left op right`` as it was written; ``op`` by its first name."""

    left: str
    op: Operator
    right: str

    @property
    def text(self) -> str:
        """As it is written."""
        return " ".join(self)


def parse(
    words: Sequence[str],
    compare: Callable[[Comparison], T],
    alone: Callable[[str], T] | None = None,
    *,
    adjacent: bool = False,
) -> T | Joined:
    """The condition that the words are; each comparison is read by ``compare``.

    With ``alone`` a word without an operator is read by it, as in a filter. With ``adjacent`` parts
    that stand side by side are joined by ``and``.

    Raises:
        BadWord: they are none. Its ``word`` is the one of ``words`` that is wrong, or None where
            something is missing after the last.
    """
    reader = _Reader(words, compare, alone, adjacent)
    found = reader.condition()
    reader.end()
    return found


class _Reader(Generic[T]):
    """Reads words from the left; ``left`` has those to come, the next one last.

    A word that is read in pieces stays on it with what is left of it, beside the whole word that
    errors name.
    """

    def __init__(
        self,
        words: Sequence[str],
        compare: Callable[[Comparison], T],
        alone: Callable[[str], T] | None,
        adjacent: bool,
    ) -> None:
        self.left = [(word, word) for word in reversed(words)]
        self.compare = compare
        self.alone = alone
        self.adjacent = adjacent
        self.depth = 0

    def condition(self) -> T | Joined:
        parts = [self.conjunction()]
        while self.takes("or"):
            parts.append(self.conjunction())
        return parts[0] if len(parts) == 1 else Joined("or", parts)

    def conjunction(self) -> T | Joined:
        parts = [self.part("")]
        while self.takes("and") or self.goes_on():
            parts.append(self.part("and"))
        return parts[0] if len(parts) == 1 else Joined("and", parts)

    def part(self, after: str) -> T | Joined:
        if not self.left:
            written = f" after '{after}'" if after else " (written such as orders-0.leader == 1)"
            raise BadWord(f"a condition is missing{written}")
        if self.takes("not"):
            return Joined("not", [self.part("not")])
        word, whole = self.left[-1]
        if word.startswith("!") and word != "!" and not _SYMBOL.fullmatch(word):
            self.left[-1] = (word[1:], whole)
            return Joined("not", [self.part("not")])
        if word.startswith("("):
            return self.parenthesis(whole)
        return self.comparison()

    def parenthesis(self, whole: str) -> T | Joined:
        self.shorten(1)
        self.depth += 1
        inner = self.condition()
        if not self.left or not self.left[-1][0].startswith(")"):
            raise BadWord("a parenthesis is not closed with )", whole)
        self.depth -= 1
        self.shorten(1)
        return inner

    def comparison(self) -> T | Joined:
        word, whole = self.left.pop()
        glued = _GLUED.fullmatch(word)
        if self.has_operator():
            name = word
        elif glued:
            name = glued[1]
            self.left.append((word[len(name) :], whole))
        else:
            return self.no_comparison(word, whole)
        op, negated = self.operator()
        right, right_whole = self.right(f"{name} {op}", whole)
        try:
            found = self.compare(Comparison(name, op, right))
        except BadWord as error:
            if error.word is None or error.word in (name, word):
                error.word = whole
            elif error.word in right:
                error.word = right_whole
            raise
        return Joined("not", [found]) if negated else found

    def no_comparison(self, word: str, whole: str) -> T:
        if self.alone is not None:
            return self.alone(self.without_closing(word, whole))
        if self.left:
            following, its_whole = self.left[-1]
            known = " ".join(("=", *OPERATORS))
            raise BadWord(f"'{following}' is not a comparison ({known})", its_whole)
        raise BadWord(f"'{word}' is not a condition (LEFT OP RIGHT)", whole)

    def has_operator(self) -> bool:
        if not self.left:
            return False
        word = self.left[-1][0]
        return bool(_SYMBOL.match(word)) or word.lower() in ("in", "contains")

    def operator(self) -> tuple[Operator, bool]:
        word, whole = self.left.pop()
        found = _SYMBOL.fullmatch(word)
        symbol, rest = (found[1], found[2]) if found else (word.lower(), "")
        if rest:
            self.left.append((rest, whole))
        return cast(Operator, SAME.get(symbol, symbol)), symbol == "!~"

    def right(self, before: str, whole: str) -> tuple[str, str]:
        """The right side and the word in which it begins."""
        if not self.left:
            raise BadWord(f"'{before}' is not a condition (LEFT OP RIGHT)", whole)
        word, whole = self.left.pop()
        text = self.without_closing(word, whole)
        while text.startswith("[") and not text.endswith("]"):
            if not self.left:
                raise BadWord(f"'{text}' is a list that is not closed with ]", whole)
            text += " " + self.without_closing(*self.left.pop())
        return text, whole

    def without_closing(self, word: str, whole: str) -> str:
        """The word without parentheses behind it that close others; these are to come next."""
        closing = 0
        text = word
        while closing < self.depth and text.endswith(")") and text.count(")") > text.count("("):
            text, closing = text[:-1], closing + 1
        if closing and text:
            self.left.append((")" * closing, whole))
            return text
        return word

    # ---- what comes next

    def takes(self, keyword: str) -> bool:
        """Take the next word if it is this one."""
        if self.left and self.left[-1][0].lower() == keyword:
            self.left.pop()
            return True
        return False

    def goes_on(self) -> bool:
        """Whether another part follows without a word between."""
        if not self.adjacent or not self.left:
            return False
        word = self.left[-1][0]
        return word.lower() != "or" and not word.startswith(")")

    def shorten(self, count: int) -> None:
        """Take so many characters of the next word."""
        word, whole = self.left.pop()
        if word[count:]:
            self.left.append((word[count:], whole))

    def end(self) -> None:
        """Refuse what is left."""
        if self.left:
            word, whole = self.left[-1]
            if word.startswith(")"):
                raise BadWord("a parenthesis is closed that was not opened", whole)
            raise BadWord(f"'{word}' stands where only 'and' or 'or' may", whole)
