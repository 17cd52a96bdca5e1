"""Random access to events by number, and their causes and effects."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from emulator.events import Event
from sessions.format.allowance import Allowance, StillReadingError
from sessions.format.chunks import weight_of
from sessions.sources.source import Source

KEPT_MAX: Final = 8_192
"""Events that are cached."""
KEPT_WEIGHT_MAX: Final = 1 << 19
"""What they may weigh: a message about many partitions weighs as much as thousands of others."""
AT_ONCE_MAX: Final = 1 << 16
"""Recordings with fewer events are read as soon as a screen needs it, however long that takes."""
CHAIN_MAX: Final = 256
"""Longest chain of causes that is followed."""
READ_AT_ONCE: Final = 4_096
"""How many events of a long recording are read in one go between keys: one chunk."""
SEARCHES_MAX: Final = 64
"""How many searches are remembered that have not come to their end."""
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
        self._weight = 0
        self.memo: dict[int, list[Event]] = {}
        self.is_behind = False
        self._allowance: Allowance | None = None
        self._reached: dict[tuple[tuple[str, ...], int, int], int] = {}

    @contextmanager
    def painting(self, events: int) -> Iterator[None]:
        """While a screen is painted, let :meth:`hurrying` code read this many events in all.

        A recording that fits in the cache is read as it is needed. Afterwards ``is_behind`` says
        whether ``events`` was too little: then paint again soon.
        """
        is_small = self.source.last_seq - self.source.first_seq < AT_ONCE_MAX
        self._allowance = None if is_small else Allowance(events)
        self.is_behind = False
        try:
            yield
        finally:
            self._allowance = None

    @contextmanager
    def hurrying(self) -> Iterator[None]:
        """Within this block, which somebody waits for, do not read for long.

        Raises:
            StillReadingError: more has to be read for it than a screen may read while it is
                painted.
        """
        if self._allowance is None:
            yield
            return
        try:
            self._allowance.spend(0)  # even what is in memory takes time to search
            with self.source.reading_at_most(self._allowance):
                yield
        except StillReadingError:
            self.is_behind = True
            raise

    def wait_for_more(self) -> None:
        """Say that an answer is not complete yet.

        Raises:
            StillReadingError: a screen is painted that will ask again.
        """
        if self._allowance is not None:
            raise StillReadingError

    def get(self, seq: int) -> Event | None:
        """One event; None if there is none of that number (yet)."""
        if not 1 <= seq <= self.source.last_seq:
            return None
        event = self._kept.get(seq)
        if event is None:
            for event in self.page(seq, seq):
                self._keep(event)
        return event

    def touching(self, objects: Sequence[str], seq: int, direction: int) -> int | None:
        """The next (1) or previous (-1) event after or before ``seq`` that touches an object.

        Raises:
            StillReadingError: there is no time to find it now; the next call goes on from there.
        """
        search = (tuple(objects), seq, direction)
        begin = self._reached.pop(search, seq)
        try:
            return self.source.touching(objects, begin, direction)
        except StillReadingError as error:
            while len(self._reached) >= SEARCHES_MAX:
                del self._reached[next(iter(self._reached))]
            self._reached[search] = begin if error.reached is None else error.reached
            raise

    def reached(self, objects: Sequence[str], seq: int, direction: int) -> int:
        """How far such a search has come; ``seq`` if there is none."""
        return self._reached.get((tuple(objects), seq, direction), seq)

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

    def _keep(self, event: Event) -> None:
        self._kept[event.seq] = event
        self._weight += weight_of(event)
        while len(self._kept) > KEPT_MAX or self._weight > KEPT_WEIGHT_MAX:
            _, gone = self._kept.popitem(last=False)
            self._weight -= weight_of(gone)
