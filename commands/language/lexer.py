"""A script's text as the words of statements, without their meaning.

Here are comments, continued lines, ``;``, ``${NAME}`` and quoting.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from commands.language.values import VARIABLE_NAME, BadWord, is_text, nearest
from sessions.text import clean

_PIECE = re.compile(
    r"""
      (?P<goes_on>\\[ \t]*\r?\n[ \t]*)
    | (?P<end>\r?\n)
    | (?P<comment>(?<![^\s;])\#[^\n]*)
    | (?P<semicolon>;)
    | (?P<text>\$\{[^}\n]*\} | '[^'\n]*' | "(?:\\.|[^"\\\n])*" | \\. | [^\\\n;'"$#]+ | .)
    """,
    re.VERBOSE,
)
_VARIABLE = re.compile(r"\$\{(?P<inside>[^}\n]*)(?P<closed>\}?)")
STATEMENT_CHARACTERS_MAX: Final = 65_536
"""The longest statement: splitting it into words takes time that grows with its square."""


class Line(NamedTuple):
    """One statement's text without comments, in one line; ``number`` is where it starts."""

    number: int
    text: str


def split_lines(text: str, semicolons: bool = False) -> Iterator[Line]:
    """The statements of a script in order; blank ones are left out.

    With ``semicolons`` (the shell's ``-c``) a ``;`` outside quotes ends a statement too, and
    ``number`` counts statements.
    """
    number = start = 1
    pieces: list[str] = []
    for match in _PIECE.finditer(text + "\n"):
        kind = match.lastgroup
        if kind == "text" or (kind == "semicolon" and not semicolons):
            pieces.append(match[0])
        elif kind == "goes_on":
            pieces[-1:] = [piece.rstrip() for piece in pieces[-1:]] + [" "]
            number += not semicolons
        elif kind != "comment":
            statement = "".join(pieces).strip()
            if statement:
                yield Line(start, statement)
            pieces.clear()
            number += bool(statement) if semicolons else 1
            start = number


def substitute(text: str, variables: Mapping[str, str]) -> str:
    """The text with every ``${NAME}`` and ``${NAME:-DEFAULT}`` replaced.

    Raises:
        BadWord: a name that is neither in ``variables`` nor has a default, or is none.
    """

    def value(match: re.Match[str]) -> str:
        name, has_default, default = match["inside"].partition(":-")
        if not match["closed"]:
            raise BadWord(f"'{match[0]}' is not closed with }} (written ${{NAME}})")
        if not VARIABLE_NAME.fullmatch(name):
            raise BadWord(f"'{match[0]}' is no variable (written ${{NAME}} or ${{NAME:-DEFAULT}})")
        if name in variables:
            return variables[name]
        if has_default:
            return default
        hint = nearest(name, variables)
        raise BadWord(f"${{{name}}} has no value (give it with --set {name}=VALUE){hint}")

    return _VARIABLE.sub(value, text)


def variables_in(text: str) -> set[str]:
    """The names that a text asks for."""
    return {match["inside"].partition(":-")[0] for match in _VARIABLE.finditer(text)}


def split_words(text: str) -> list[str]:
    """The words of a statement, as a POSIX shell splits them.

    Raises:
        BadWord: a quote that is not closed, a backslash with nothing after it, a text that is too
            long or that no UTF-8 can hold (bytes of a shell's that were no text).
    """
    if len(text) > STATEMENT_CHARACTERS_MAX:
        longest = f"{STATEMENT_CHARACTERS_MAX:,} is the most"
        raise BadWord(f"a statement of {len(text):,} characters is too long ({longest})")
    if not is_text(text):
        raise BadWord(f"'{clean(text)}' is no UTF-8 text")
    try:
        return shlex.split(text)
    except ValueError as error:
        what = "a quote is not closed" if "quotation" in str(error) else "a \\ stands at the end"
        raise BadWord(what) from None
