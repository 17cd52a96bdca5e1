"""A script's text as the words of statements, without their meaning.

Here are comments, continued lines, ``;``, ``${NAME}`` and quoting.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from commands.words import BadWord, nearest

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
_VARIABLE = re.compile(r"\$\{(?P<name>[^}:\n]*)(?P<default>:-[^}\n]*)?\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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
        BadWord: a name that is neither in ``variables`` nor has a default.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match["name"], match["default"]
        if not _NAME.fullmatch(name):
            raise BadWord(f"'{match[0]}' is no variable (written ${{NAME}} or ${{NAME:-DEFAULT}})")
        if name in variables:
            return variables[name]
        if default is not None:
            return default[2:]
        hint = f"{nearest(name, variables)}; give it with --set {name}=VALUE"
        raise BadWord(f"${{{name}}} has no value{hint}")

    return _VARIABLE.sub(value, text)


def variables_in(text: str) -> set[str]:
    """The names that a text asks for."""
    return {match["name"] for match in _VARIABLE.finditer(text)}


def split_words(text: str) -> list[str]:
    """The words of a statement, as a POSIX shell splits them.

    Raises:
        BadWord: a quote that is not closed, or a backslash with nothing after it.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        what = "a quote is not closed" if "quotation" in str(error) else "a \\ stands at the end"
        raise BadWord(what) from None
