"""Regular expressions in the syntax of RE2, which subscriptions use.

RE2 has no look-around, no back references and no possessive quantifiers; what it has beyond
Python's own syntax is translated. Source: ``com.google.re2j`` and https://github.com/google/re2.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

REPEATS_MAX: Final = 1_000
"""How often RE2 lets something be repeated."""
_FOREIGN: Final = re.compile(
    r"\(\?(?:[=!>#(]|<[=!]|P=|P>)"  # look-around, atomic groups, comments, conditions, references
    r"|\\[1-9]"
    r"|(?:[*+?]|\{\d+(?:,\d*)?\})\+"  # possessive quantifiers
)
_TOKEN: Final = re.compile(r"\\Q(?P<quoted>.*?)(?:\\E|$)|\\.|\[\^?\]?|\]|.", re.DOTALL)
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
_REPEAT: Final = re.compile(r"(?<!\\)\{(\d+)(?:,(\d*))?\}")


def is_valid(regex: str) -> bool:
    """Whether RE2 compiles a regular expression."""
    return _compiled(regex) is not None


def matching(regex: str, names: Iterable[str]) -> list[str]:
    """The names that match as a whole, sorted."""
    pattern = _compiled(regex)
    return [] if pattern is None else sorted(name for name in names if pattern.fullmatch(name))


@lru_cache(maxsize=256)
def _compiled(regex: str) -> re.Pattern[str] | None:
    outside = "".join(
        token.group() for token in _TOKEN.finditer(regex) if token.group("quoted") is None
    )
    repeats = [int(n) for found in _REPEAT.findall(outside) for n in found if n]
    if _FOREIGN.search(outside) or any(count > REPEATS_MAX for count in repeats):
        return None
    try:
        return re.compile(_translated(regex), re.ASCII)
    except (re.error, OverflowError, RecursionError):
        return None


def _translated(regex: str) -> str:
    """The expression in Python's syntax."""
    parts: list[str] = []
    for token in _TOKEN.finditer(regex):
        quoted, text = token.group("quoted"), token.group()
        if quoted is not None:
            parts.append(re.escape(quoted))
        elif text == r"\z":
            parts.append(r"\Z")
        else:
            parts.append(text)
    joined = "".join(parts).replace("(?<", "(?P<")
    for name, members in _POSIX.items():
        joined = joined.replace(f"[:{name}:]", members)
    return joined
