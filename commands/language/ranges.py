"""Words of a campaign: seeds such as ``0..9999``, and varied parameters such as ``acks=1,all``."""

from itertools import pairwise
from typing import Final, NamedTuple

from commands.language import values as words
from sessions.grammar.words import BadWord
from sessions.text import clean

CONFIG: Final = "config."
"""Prefix of a varied broker setting's name."""
SEEDS_MAX: Final = 100_000_000


class Variation(NamedTuple):
    """A varied parameter's name and its values."""

    name: str
    values: list[str]


class Seeds(list[tuple[int, int]]):
    """Ranges of seeds: first and last of each."""


def variation(word: str) -> Variation:
    """Parse ``NAME=V,V,..``.

    NAME is a variable of the script, ``version``, ``mode``, ``seed`` or ``config.K``.
    """
    name, equals, values = word.partition("=")
    is_known = words.VARIABLE_NAME.fullmatch(name) or name.removeprefix(CONFIG) not in ("", name)
    parts = values.split(",")
    if not (equals and is_known and all(parts) and words.is_text(word)):
        raise BadWord(f"'{clean(word)}' has no values (written acks=1,all)")
    if len(set(parts)) < len(parts):
        raise BadWord(f"'{word}' has a value twice")
    return Variation(name, parts)


def seeds(word: str) -> Seeds:
    """Parse seeds such as ``0..999`` (inclusive), ``7`` or ``1,5,10..20``."""
    ranges = Seeds(_range(part) for part in word.split(","))
    if sum(last - first + 1 for first, last in ranges) > SEEDS_MAX:
        raise BadWord(f"'{word}' is too many seeds (at most {SEEDS_MAX:,})")
    in_order = sorted(ranges)
    if any(first <= last for (_, last), (first, _) in pairwise(in_order)):
        raise BadWord(f"'{word}' has a seed twice")
    return ranges


def _range(word: str) -> tuple[int, int]:
    first, dots, last = word.partition("..")
    ends = words.seed(first), words.seed(last if dots else first)
    if ends[0] > ends[1]:
        raise BadWord(f"'{word}' ends before it starts (written 0..999)")
    return ends
