"""Parse ``--chaos``: kinds of faults, and how many of each a run has."""

from typing import Final, get_args

from sessions.campaign.chaos import Chaos, Kind
from sessions.grammar.words import BadWord, nearest

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
BUDGET_MAX: Final = 100


def chaos_kinds(words: str) -> Chaos:
    """Parse ``crash,freeze:2``: kinds of faults, one of each by default.

    Raises:
        BadWord: there is no such kind, or the number is invalid.
    """
    budgets: dict[Kind, int] = {}
    for part in words.split(","):
        word, separator, number = part.partition(":")
        kind = next((known for known in KINDS if known == word), None)
        if kind is None:
            raise BadWord(
                f"'{word}' is not a kind of fault: {', '.join(KINDS)}{nearest(word, KINDS)}"
            )
        if kind in budgets:
            raise BadWord(f"'{kind}' is given twice")
        if separator and not (number.isascii() and number.isdigit() and int(number) <= BUDGET_MAX):
            raise BadWord(
                f"'{part}' is not a number of faults (written {kind}:2, at most {BUDGET_MAX})"
            )
        budgets[kind] = int(number) if separator else 1
    return Chaos(budgets)
