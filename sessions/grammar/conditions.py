"""The condition grammar: comparisons, joined by ``and``, ``or``, ``not`` and parentheses.

::

    condition   = conjunction ("or" conjunction)*
    conjunction = part ("and" part)*
    part        = "not" part | "!" part | "(" condition ")" | comparison
    comparison  = LEFT OP RIGHT

OP is one of ``== = != < <= > >= in contains ~ !~``: ``=`` is ``==``, ``~`` is ``contains`` and
``!~`` its opposite. The spaces around OP may be left out, but around ``in`` and ``contains``. RIGHT
is one word, or a list in brackets, ``[1, 2]``. Words of the grammar are understood in any case.

A script's lexer has made words of its text already; the console's ``/`` and ``t`` hand over the
text (:func:`parse_text`). There parts may be adjacent, which joins them by ``and``, and a
filter has parts that are no comparisons: a word, or ``"a quoted text"``.

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
"""The comparison operators; ``=`` and ``~`` are aliases of two of them."""
SAME: Final = {"=": "==", "~": "contains", "!~": "contains"}
"""Operators with an alias."""
FOREIGN: Final = {"&&": "and", "||": "or", "&": "and", "|": "or"}
"""Operators of other languages, and their equivalents here."""

_SYMBOL = re.compile(r"(==|!=|!~|<=|>=|=|<|>|~)(.*)", re.DOTALL)
_GLUED = re.compile(r"([^=!<>~]+)(==|!=|!~|<=|>=|=|<|>|~)(.*)", re.DOTALL)
_FIELD = re.compile(r"[A-Za-z_][\w.-]*")
"""What may precede an operator where single words are allowed: ``re:a=b`` is a word."""
_WORD = re.compile(r'(?:(?<![^\s!(=<>~])"[^"]*"|\S)+')
"""A word of a text; a quote that begins a word or a value reaches to the next quote."""
_QUOTED = re.compile(r'"[^"]*"')
_KEYWORD = re.compile(r"(and|or|not)(?=[(!])", re.IGNORECASE)
"""A keyword directly followed by the next part, ``not(isr<min)``."""


class Joined(NamedTuple):
    """Joined parts: ``op`` is ``and``, ``or``, or (with one part) ``not``."""

    op: Literal["and", "or", "not"]
    parts: list[Any]
    """Each is the result of reading a comparison, or another :class:`Joined`."""


class Comparison(NamedTuple):
    """``left op right`` as it was written; ``op`` by its first name."""

    left: str
    op: Operator
    right: str

    @property
    def text(self) -> str:
        return " ".join(self)


class _Word(NamedTuple):
    """The rest of a word: ``column`` counts from 1 in a text, ``whole`` is the full word."""

    text: str
    whole: str
    column: int


def parse(
    words: Sequence[str], compare: Callable[[Comparison], T], *, adjacent: bool = False
) -> T | Joined:
    """The condition that the words are; each comparison is read by ``compare``.

    With ``adjacent``, parts without a word between them are joined by ``and``.

    Raises:
        BadWord: they are none. Its ``word`` is the one of ``words`` that is wrong, or None where
            something is missing after the last.
    """
    left = [_Word(word, word, 1) for word in words]
    return _Reader(left, compare, None, adjacent=adjacent).whole()


def parse_text(
    text: str,
    compare: Callable[[Comparison], T] | None,
    alone: Callable[[str], T] | None = None,
) -> T | Joined:
    """The condition in a text; parts without a word between them are joined by ``and``.

    With ``alone`` a word without an operator is read by it, as in a filter; a quoted text reaches
    it with its quotes. Without ``compare`` there are no operators: ``a=b`` is a word.

    Raises:
        BadWord: it is none; the message begins with the column, counted from 1.
    """
    left = [_Word(match[0], match[0], match.start() + 1) for match in _WORD.finditer(text)]
    reader = _Reader(left, compare, alone, adjacent=True, quotes=True)
    try:
        return reader.whole()
    except BadWord as error:
        column = reader.column or len(text) + 1
        raise BadWord(f"column {column}: {error}", error.word) from None


NESTING_MAX: Final = 50
"""How deep a condition may be: each level takes some of the stack, and nobody reads more."""


class _Reader(Generic[T]):
    """Reads words from left to right; ``left`` is a stack of those to come.

    A word that is read in pieces stays on the stack with its rest and the whole word for errors.
    ``column`` is the position of the last error; 0 if it is after the last word.
    """

    def __init__(
        self,
        words: Sequence[_Word],
        compare: Callable[[Comparison], T] | None,
        alone: Callable[[str], T] | None,
        *,
        adjacent: bool = False,
        quotes: bool = False,
    ) -> None:
        self.left = list(reversed(words))
        self.compare = compare
        self.alone = alone
        self.adjacent = adjacent
        self.quotes = quotes
        self.depth = 0
        self.nesting = 0
        self.column = 0

    def whole(self) -> T | Joined:
        condition = self.condition()
        if not self.left:
            return condition
        word = self.left[-1]
        self.refuse_foreign(word)
        if word.text.startswith(")"):
            raise self.bad("a parenthesis is closed that was not opened", word)
        raise self.bad(f"'{word.text}' is not allowed here, only 'and' or 'or'", word)

    def bad(self, message: str, word: _Word | None = None) -> BadWord:
        """Build an error about a word; without one, something is missing at the end."""
        self.column = word.column if word else 0
        return BadWord(message, word and word.whole)

    def condition(self) -> T | Joined:
        parts = [self.conjunction()]
        while self.takes("or"):
            parts.append(self.conjunction("or"))
        return parts[0] if len(parts) == 1 else Joined("or", parts)

    def conjunction(self, after: str = "") -> T | Joined:
        parts = [self.part(after)]
        while self.takes("and") or self.goes_on():
            parts.append(self.part("and"))
        return parts[0] if len(parts) == 1 else Joined("and", parts)

    def part(self, after: str) -> T | Joined:
        if self.nesting == NESTING_MAX:
            message = f"at most {NESTING_MAX} 'not' and parentheses can be within each other"
            raise self.bad(message, self.left[-1] if self.left else None)
        self.nesting += 1
        part = self.innermost_part(after)
        self.nesting -= 1
        return part

    def innermost_part(self, after: str) -> T | Joined:
        if not self.left:
            written = f" after '{after}'" if after else " (written such as orders-0.leader == 1)"
            raise self.bad(f"a condition is missing{written}")
        if self.takes("not"):
            return Joined("not", [self.part("not")])
        word = self.left[-1]
        if word.text.startswith("!") and word.text != "!" and not _SYMBOL.fullmatch(word.text):
            self.shorten(1)
            return Joined("not", [self.part("not")])
        if word.text.startswith("("):
            return self.parenthesis(word)
        self.refuse_keyword(word)
        return self.comparison()

    def refuse_keyword(self, word: _Word) -> None:
        """Reject a joining keyword where a part has to start."""
        self.refuse_foreign(word)
        joining = ")" if word.text.startswith(")") else word.text.lower()
        if joining in ("and", "or", ")"):
            hint = f'; "{joining}" in quotes is a word' if self.alone else ""
            raise self.bad(f"a condition is missing before '{joining}'{hint}", word)

    def refuse_foreign(self, word: _Word) -> None:
        """Reject the joining operators of other languages."""
        if word.text in FOREIGN:
            raise self.bad(f"'{word.text}' is written '{FOREIGN[word.text]}' here", word)

    def parenthesis(self, word: _Word) -> T | Joined:
        self.shorten(1)
        self.depth += 1
        inner = self.condition()
        if not self.left or not self.left[-1].text.startswith(")"):
            raise self.bad("a parenthesis is not closed with )", word)
        self.depth -= 1
        self.shorten(1)
        return inner

    def comparison(self) -> T | Joined:
        word = self.left.pop()
        if self.compare is None or (self.quotes and word.text.startswith('"')):
            return self.no_comparison(word)
        glued = _GLUED.fullmatch(word.text)
        apart = self.has_operator()
        name = glued[1] if glued and not apart else word.text
        if not (glued or apart) or (self.alone and not _FIELD.fullmatch(name)):
            return self.no_comparison(word)
        self.cut(word, name)
        op, symbol = self.operator()
        right, its_word = self.right(f"{name} {symbol}", word)
        try:
            compared = self.compare(Comparison(name, op, right))
        except BadWord as error:
            self.column = word.column
            if error.word is None or error.word in (name, word.text):
                error.word = word.whole
            elif error.word in right:
                error.word = its_word.whole
                self.column = its_word.column
            raise
        return Joined("not", [compared]) if symbol == "!~" else compared

    def no_comparison(self, word: _Word) -> T:
        if self.alone is not None:
            quoted = _QUOTED.match(word.text) if self.quotes else None
            self.column = word.column
            return self.alone(self.cut(word, quoted[0]) if quoted else self.without_closing(word))
        if self.left:
            following = self.left[-1]
            self.refuse_foreign(following)
            known = " ".join(("=", *OPERATORS))
            raise self.bad(f"'{following.text}' is not a comparison ({known})", following)
        raise self.bad(f"'{word.text}' is not a condition (such as {word.text} == 1)", word)

    def has_operator(self) -> bool:
        """Whether the next word is an operator, or begins with one.

        Where single words are allowed, an operator is its own word or follows its field closely: in
        ``orders <min`` the second part is a word.
        """
        if not self.left:
            return False
        word = self.left[-1].text
        symbol = _SYMBOL.match(word)
        if symbol and self.alone and symbol[2]:
            return False
        return bool(symbol) or word.lower() in ("in", "contains")

    def operator(self) -> tuple[Operator, str]:
        """The operator by its first name, and as it is written."""
        word = self.left.pop()
        match = _SYMBOL.fullmatch(word.text)
        symbol = match[1] if match else word.text.lower()
        self.cut(word, word.text[: len(symbol)])
        return cast(Operator, SAME.get(symbol, symbol)), symbol

    def right(self, before: str, word: _Word) -> tuple[str, _Word]:
        """The right side and the word in which it begins."""
        if not self.left or self.left[-1].text.startswith(")"):
            missing = self.bad(f"a value is missing after '{before}'", word)
            self.column = self.left[-1].column if self.left else 0
            raise missing
        word = self.left.pop()
        if self.quotes and (quoted := _QUOTED.match(word.text)):
            return self.cut(word, quoted[0]).strip('"'), word
        text = self.value(word)
        while text.startswith("[") and not text.endswith("]"):
            if not self.left:
                raise self.bad(f"'{text}' is a list that is not closed with ]", word)
            text += " " + self.value(self.left.pop())
        return text, word

    def value(self, word: _Word) -> str:
        """A word of the right side; in a text one with a parenthesis is written in quotes."""
        if not self.quotes:
            return self.without_closing(word)
        return self.cut(word, word.text.partition(")")[0] or word.text)

    def without_closing(self, word: _Word) -> str:
        """The word without parentheses behind it that close others; these are to come next."""
        closing = 0
        text = word.text
        while closing < self.depth and text.endswith(")") and text.count(")") > text.count("("):
            text, closing = text[:-1], closing + 1
        return self.cut(word, text or word.text)

    def cut(self, word: _Word, text: str) -> str:
        """Split a word: return its start, and leave the rest to come next."""
        if rest := word.text[len(text) :]:
            self.left.append(_Word(rest, word.whole, word.column + len(text)))
        return text

    # ---- what comes next

    def takes(self, keyword: str) -> bool:
        """Consume the next word if it is this keyword, or starts with it and a parenthesis."""
        if not self.left:
            return False
        word = self.left[-1]
        glued = _KEYWORD.match(word.text)
        if (glued[0] if glued else word.text).lower() != keyword:
            return False
        self.shorten(len(keyword))
        return True

    def goes_on(self) -> bool:
        """Return whether another part follows without a joining keyword."""
        if not self.adjacent or not self.left:
            return False
        word = self.left[-1].text
        return word.lower() != "or" and not word.startswith(")")

    def shorten(self, count: int) -> None:
        """Consume a number of characters of the next word."""
        word = self.left.pop()
        self.cut(word, word.text[:count])
