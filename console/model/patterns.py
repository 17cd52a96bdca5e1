"""Regular expressions that users type: whether one may be searched for without blocking the screen.

:mod:`re` has no time limit, so a pattern that may backtrack without end is refused beforehand.
"""

import re
from collections.abc import Iterable, Sequence


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
    for match in tokens.finditer(pattern):
        token = match[0]
        if token in ("*", "+") or token.startswith("{"):
            yield "repeat"
        elif token.startswith("("):
            yield "("
        elif token.startswith("["):
            yield "class"
        else:
            yield token
