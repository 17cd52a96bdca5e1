"""Every event as a line of the console: its words, how much it matters, and its colour."""

from typing import Final

from msgspec import Struct

from emulator.events import CHANGE, FAULT, TRAFFIC, Event
from sessions.model.event_text import in_words


class Description(Struct, frozen=True):
    """One event in words; ``role`` is the colour role of its kind."""

    word: str
    text: str
    level: int
    role: str


ROLES: Final = {TRAFFIC: "muted", CHANGE: "kind", FAULT: "error"}


def describe(event: Event) -> Description:
    """Describe one event."""
    word, text = in_words(event)
    return Description(word, text, event.level, ROLES[event.level])
