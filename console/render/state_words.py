"""How the states of a partition look: glyph, word, role and label, never a colour alone.

Which states there are, how severe they are and when each holds is said in one place,
:mod:`sessions.model.health`; this adds what they look like.
"""

from typing import Final

from msgspec import Struct

from console.styles.glyphs import Glyphs
from sessions.model.health import STATES


class StateWord(Struct, frozen=True):
    """How one state is shown; ``status`` is the read model's name for it.

    ``word`` is for a column, ``label`` for a list, ``short`` for the header; ``glyph`` is one of
    :class:`console.styles.glyphs.Glyphs`.
    """

    status: str
    word: str
    glyph: str
    role: str
    label: str
    short: str
    meaning: str


_LOOKS: Final = {
    "offline": ("OFFL", "offline", "offline"),
    "leaderless": ("DEAD", "leaderless", "offline"),
    "under_min_isr": ("<MIN", "under_min", "error"),
    "waiting": ("WAIT", "waiting", "warning"),
    "unclean": ("UNCL", "unclean", "unclean"),
    "diverged": ("DIVG", "diverged", "diverged"),
    "lost": ("LOST", "lost", "error"),
    "at_min_isr": ("=MIN", "at_min", "warning"),
    "under_replicated": ("URP", "under_replicated", "caution"),
    "hw_stalled": ("STAL", "stalled", "warning"),
    "non_preferred": ("PREF", "not_preferred", "secondary"),
    "reassigning": ("MOVE", "moving", "primary"),
}
"""Word, glyph and role of each state."""
STATE_WORDS: Final = (
    *(
        StateWord(state.name, word, glyph, role, state.label, word.lower(), state.meaning)
        for state in STATES
        for word, glyph, role in (_LOOKS[state.name],)
    ),
    StateWord("healthy", "", "", "muted", "healthy", "", "every replica is in the ISR"),
)
"""All states, the most severe first."""
WORD_OF: Final = {word.status: word for word in STATE_WORDS}
"""How a state looks, by its name in the read model."""


def glyph_of(word: StateWord, glyphs: Glyphs) -> str:
    """The state's glyph in one set; a blank when nothing is wrong."""
    return str(getattr(glyphs, word.glyph)) if word.glyph else " "
