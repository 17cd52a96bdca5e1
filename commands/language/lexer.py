"""Split a script's text into the words of statements, without interpreting them.

Handles comments, continued lines, ``;``, ``${NAME}`` and quoting.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Final, NamedTuple

from commands.language.values import VARIABLE_NAME, is_text
from sessions.grammar.words import BadWord, nearest
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
"""Maximum length of a statement: splitting it into words takes quadratic time."""


class Origin(NamedTuple):
    """The source position of a piece of a statement's text.

    The piece begins at ``at`` in the text and at ``column`` of ``line`` in the script, where it is
    ``length`` characters long; line and column start at 1. A variable's value has length 0: all of
    it maps to the position of the variable.
    """

    at: int
    line: int
    column: int
    length: int


class Line(NamedTuple):
    """One statement's text without comments, on one line; ``number`` is the line it starts on."""

    number: int
    text: str
    origins: tuple[Origin, ...] = ()

    def position_of(self, at: int) -> tuple[int, int]:
        """Return the script's line and column for a character of the text."""
        origins = [origin for origin in self.origins if origin.at <= at]
        if not origins:
            return self.number, 1
        last = origins[-1]
        return last.line, last.column + min(at - last.at, last.length)

    def with_values(self, variables: Mapping[str, str]) -> "Line":
        """Return the statement with every ``${NAME}`` and ``${NAME:-DEFAULT}`` replaced.

        Raises:
            BadWord: a name has neither a value nor a default, or is not a name.
        """
        if "${" not in self.text:
            return self
        texts: list[str] = []
        origins: list[Origin] = []
        length = copied = 0
        for match in _VARIABLE.finditer(self.text):
            value = _value(match, variables)
            origins += self._between(copied, match.start(), length - copied)
            origins.append(
                Origin(length + match.start() - copied, *self.position_of(match.start()), 0)
            )
            texts += [self.text[copied : match.start()], value]
            length += match.start() - copied + len(value)
            copied = match.end()
        origins += self._between(copied, len(self.text), length - copied)
        return Line(self.number, "".join((*texts, self.text[copied:])), tuple(origins))

    def _between(self, start: int, end: int, shift: int) -> Iterator[Origin]:
        """Return the origins of a part of the text, moved right by ``shift`` characters."""
        starts = [start, *(origin.at for origin in self.origins if start < origin.at < end)]
        for first, following in zip(starts, [*starts[1:], end], strict=True):
            if following > first:
                yield Origin(first + shift, *self.position_of(first), following - first)


class Word(str):
    """A word with its position in its statement's text (``at``, from 0)."""

    at: int = 0


def split_lines(text: str, semicolons: bool = False) -> Iterator[Line]:
    """Return the statements of a script in order, without blank ones.

    With ``semicolons`` (the shell's ``-c``), a ``;`` outside quotes also ends a statement, and
    ``number`` counts statements.
    """
    number = start = 1
    begins = 0  # where the current line of the script begins
    pieces: list[tuple[str, int, int]] = []
    for match in _PIECE.finditer(text + "\n"):
        kind = match.lastgroup
        if kind == "text" or (kind == "semicolon" and not semicolons):
            pieces.append((match[0], number, match.start() - begins + 1))
        elif kind == "goes_on":
            if pieces:
                piece, line, column = pieces[-1]
                pieces[-1] = (piece.rstrip(), line, column)
            pieces.append((" ", number, match.start() - begins + 1))
            number += not semicolons
            begins = match.start() + match[0].index("\n") + 1
        elif kind != "comment":
            line_found = _joined(pieces, start)
            if line_found.text:
                yield line_found if not semicolons else _counted(line_found)
            pieces.clear()
            number += bool(line_found.text) if semicolons else 1
            start = number
            begins = match.end()


def _joined(pieces: list[tuple[str, int, int]], number: int) -> Line:
    """Join the pieces into a statement and strip surrounding whitespace."""
    whole = "".join(piece for piece, _, _ in pieces)
    before = len(whole) - len(whole.lstrip())
    origins: list[Origin] = []
    at = -before
    for piece, line, column in pieces:
        hidden = max(0, -at)
        last = origins[-1] if origins else None
        if last and (line, column) == (last.line, last.column + last.length):
            origins[-1] = last._replace(length=last.length + len(piece))
        elif hidden < len(piece):
            origins.append(Origin(max(0, at), line, column + hidden, len(piece) - hidden))
        at += len(piece)
    return Line(number, whole.strip(), tuple(origins))


def _counted(line: Line) -> Line:
    """Return a statement of ``-c`` with columns relative to its own text."""
    return line._replace(origins=(Origin(0, line.number, 1, len(line.text)),))


def _value(match: re.Match[str], variables: Mapping[str, str]) -> str:
    name, has_default, default = match["inside"].partition(":-")
    if not match["closed"]:
        raise BadWord(f"'{match[0]}' is not closed with }} (written ${{NAME}})", match[0])
    if not VARIABLE_NAME.fullmatch(name):
        message = f"'{match[0]}' is not a variable (written ${{NAME}} or ${{NAME:-DEFAULT}})"
        raise BadWord(message, match[0])
    if name in variables:
        return variables[name]
    if has_default:
        return default
    hint = nearest(name, variables)
    raise BadWord(f"${{{name}}} has no value (give it with --set {name}=VALUE){hint}", match[0])


def variables_in(text: str) -> set[str]:
    """Return the names of the variables that a text uses."""
    return {match["inside"].partition(":-")[0] for match in _VARIABLE.finditer(text)}


def split_words(text: str) -> list[Word]:
    """Split a statement into words, as a POSIX shell does.

    Raises:
        BadWord: an unclosed quote, a backslash with nothing after it, a text that is too long, or
            one that cannot be encoded in UTF-8 (bytes from the shell that were not text).
    """
    if len(text) > STATEMENT_CHARACTERS_MAX:
        longest = f"{STATEMENT_CHARACTERS_MAX:,} is the most"
        raise BadWord(f"a statement of {len(text):,} characters is too long ({longest})")
    if not is_text(text):
        raise BadWord(f"'{clean(text)}' is not UTF-8 text")
    stream = StringIO(text)
    lexer = shlex.shlex(stream, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[Word] = []
    at = 0
    try:
        while True:
            while text[at : at + 1] in tuple(lexer.whitespace):
                at += 1
            token = lexer.get_token()
            if token is None:
                return words
            word = Word(token)
            word.at = at
            words.append(word)
            at = stream.tell()
    except ValueError as error:
        what = (
            "a quote is not closed"
            if "quotation" in str(error)
            else "a \\ at the end escapes nothing"
        )
        raise BadWord(what, text[at:]) from None
