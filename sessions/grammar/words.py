"""Single words: errors, suggestions of similar known words, and times."""

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

T = TypeVar("T")

UNITS_US: Final = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
"""Microseconds in each unit of time."""
HOURS_MAX: Final = 876_000
"""Maximum time, a hundred years: sums of such times still fit into 64 bits."""

_DURATION = re.compile(r"(\d{1,12})(ms|s|m|h)", re.ASCII)
_EXACT = re.compile(r"(\d{1,10})\.(\d{1,6})s", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):([0-5]?\d)(?:\.(\d{1,6}))?", re.ASCII)


class BadWord(ValueError):
    """A word is invalid in its position; the message is one sentence without a final full stop.

    ``word`` is that word as it was given, or None if the error is not about a single word.
    """

    def __init__(self, message: str, word: str | None = None) -> None:
        super().__init__(message)
        self.word = word


def read(parse: Callable[[str], T], word: str) -> T:
    """Parse a word; a :class:`BadWord` raised by ``parse`` names the word."""
    try:
        return parse(word)
    except BadWord as error:
        error.word = error.word or word
        raise


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'produce'?`` for the most similar known word, or an empty string."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    similar = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean '{by_lower[similar[0]]}'?" if similar else ""


def duration(word: str) -> int:
    """A time such as ``250ms``, ``2s``, ``3m`` or ``1h``, in microseconds."""
    match = _DURATION.fullmatch(word)
    if not match:
        raise BadWord(f"'{word}' is not a time (times are written 250ms, 2s, 3m, 1h)", word)
    return _bounded(int(match[1]) * UNITS_US[match[2]], word)


def moment(word: str) -> int:
    """A time since the beginning, in microseconds: ``4s``, ``4.081322s``, ``12:04.250``."""
    if match := _EXACT.fullmatch(word):
        return int(match[1]) * UNITS_US["s"] + int(match[2].ljust(6, "0"))
    if match := _CLOCK.fullmatch(word):
        minutes = int(match[1] or 0) * 60 + int(match[2])
        fraction_us = int((match[4] or "0").ljust(6, "0"))
        seconds = minutes * 60 + int(match[3])
        return _bounded(seconds * UNITS_US["s"] + fraction_us, word)
    try:
        return duration(word)
    except BadWord:
        message = f"'{word}' is not a time (times are written 12s, 4.25s, 12:04, 1:12:04.250)"
        raise BadWord(message, word) from None


def moment_text(time_us: int) -> str:
    """A time since the beginning to the microsecond, as it is written."""
    seconds, rest = divmod(time_us, UNITS_US["s"])
    return f"{seconds}.{rest:06}s"


def _bounded(time_us: int, word: str) -> int:
    if time_us > HOURS_MAX * UNITS_US["h"]:
        raise BadWord(f"'{word}' is too long a time (at most {HOURS_MAX}h, a hundred years)", word)
    return time_us
