"""The state words of a partition, most severe first: glyph, word, role, never a colour alone.

The read model says which state holds (``ClusterView.status``); this table says how it looks. Its
order is the default sort order.
"""

from typing import Final

from msgspec import Struct

from console.styles.glyphs import Glyphs


class StateWord(Struct, frozen=True):
    """How one state is shown; ``status`` is the read model's name for it.

    ``glyph`` is a field of :class:`console.styles.glyphs.Glyphs`.
    """

    status: str
    word: str
    glyph: str
    role: str
    meaning: str


STATE_WORDS: Final = (
    StateWord("offline", "OFFL", "offline", "offline", "no leader"),
    StateWord(
        "under_min_isr", "<MIN", "under_min", "error", "fewer in sync than min.insync.replicas"
    ),
    StateWord("unclean", "UNCL", "unclean", "unclean", "the leader was elected outside the ISR"),
    StateWord(
        "diverged",
        "DIVG",
        "diverged",
        "diverged",
        "two replicas hold different records at one offset",
    ),
    StateWord("at_min_isr", "=MIN", "at_min", "warning", "one more loss refuses acks=all"),
    StateWord("under_replicated", "URP", "under_replicated", "caution", "a replica is out of sync"),
    StateWord("hw_stalled", "STAL", "stalled", "warning", "records wait and the HW does not move"),
    StateWord(
        "non_preferred",
        "PREF",
        "not_preferred",
        "secondary",
        "led by another than the first replica",
    ),
    StateWord("reassigning", "MOVE", "moving", "primary", "replicas are being added or removed"),
    StateWord("healthy", "", "", "muted", "every replica is in the ISR"),
)
RANKS: Final = {word.status: rank for rank, word in enumerate(STATE_WORDS)}
"""Severity by status, 0 the worst."""
HEALTHY: Final = len(STATE_WORDS) - 1
"""The rank from which on nothing is wrong."""


def glyph_of(word: StateWord, glyphs: Glyphs) -> str:
    """The state's glyph in one set; a blank when nothing is wrong."""
    return str(getattr(glyphs, word.glyph)) if word.glyph else " "
