"""Random access to events by number, and their causes and effects."""

from collections import OrderedDict
from typing import Final

from emulator.events import Event
from sessions.sources.source import Source

PAGE: Final = 64
"""Events read at once; neighbours are wanted next."""
KEPT_MAX: Final = 8_192
CHAIN_MAX: Final = 256
"""Longest chain of causes that is followed."""
EFFECTS_SCAN_MAX: Final = 4_096
"""How far after an event its effects are looked for."""


class EventReader:
    """The source's events by number; the last few thousand are cached.

    ``memo`` caches what callers compute from an event, which never changes. ``patience`` is how
    many times the usual time a search of the past may take: a screen waits for its next frame,
    but an answer that is printed must not depend on how busy the machine is.
    """

    def __init__(self, source: Source, patience: float = 1.0) -> None:
        self.source = source
        self.patience = patience
        self._kept: OrderedDict[int, Event] = OrderedDict()
        self.memo: dict[int, list[Event]] = {}

    def get(self, seq: int) -> Event | None:
        """One event; None if there is none of that number (yet)."""
        if not 1 <= seq <= self.source.last_seq:
            return None
        event = self._kept.get(seq)
        if event is None:
            self._read(max(1, seq - PAGE // 4), min(self.source.last_seq, seq + PAGE))
            event = self._kept.get(seq)
        return event

    def page(self, first: int, last: int) -> list[Event]:
        """The events from ``first`` to ``last``, both included, as far as they exist."""
        first, last = max(1, first), min(last, self.source.last_seq)
        return list(self.source.events(first, last)) if first <= last else []

    def causes(self, seq: int, limit: int = CHAIN_MAX) -> list[Event]:
        """The event and what led to it, the root first; a longer chain keeps its newest links."""
        chain: list[Event] = []
        event = self.get(seq)
        while event is not None and len(chain) < limit:
            chain.append(event)
            event = self.get(event.cause) if event.cause else None
        return chain[::-1]

    def effects(self, seq: int, limit: int = CHAIN_MAX) -> list[Event]:
        """The events that name this one as their cause, among the next few thousand."""
        following = self.page(seq + 1, seq + EFFECTS_SCAN_MAX)
        return [event for event in following if event.cause == seq][:limit]

    def _read(self, first: int, last: int) -> None:
        for event in self.source.events(first, last):
            self._kept[event.seq] = event
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
