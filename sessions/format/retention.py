"""Recordings of bounded size: their beginning is dropped as they grow.

A full keyframe is written from time to time as a possible starting point. When the file gets too
large, it is trimmed to start at the next one, and keeps some batches of earlier records.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from sessions.format.metadata import Extent
from sessions.format.writer import LOG_PAGES_MAX, PAGE_BYTES
from sessions.model.batches import named_up_to
from sessions.model.states import Batch

PLACES: Final = 8
"""Number of possible starting points in a file of full size."""
EARLY_RECORDS_MAX: Final = 100_000
"""Number of records before its first event whose keys and values a file keeps."""
EARLY_CHARACTERS_MAX: Final = 8 << 20
"""The same of their characters, since one state has all of them: at most four bytes each."""


class Place(Struct, frozen=True):
    """A possible starting point, and the first record id that no earlier event mentions."""

    extent: Extent
    next_record: int


def newest(
    newest_first: Iterable[Batch],
    records: int = EARLY_RECORDS_MAX,
    characters: int = EARLY_CHARACTERS_MAX,
) -> list[Batch]:
    """Return the last batches that together have so many records or ``characters``, in order."""
    kept: list[Batch] = []
    for batch in newest_first:
        if records <= 0 or characters <= 0:
            break
        kept.append(batch)
        records -= len(batch.values)
        characters -= _characters(batch)
    return kept[::-1]


def _characters(batch: Batch) -> int:
    return sum(map(len, batch.values)) + sum(len(key) for key in batch.keys if key is not None)


class Bound:
    """Decides where a recording may start, and when it is trimmed."""

    def __init__(self, limit_bytes: int) -> None:
        """Keep a file at about ``limit_bytes``, if a state and part of its history fit."""
        self.limit_bytes = limit_bytes
        self.log_pages_max = min(LOG_PAGES_MAX, limit_bytes // PLACES // PAGE_BYTES)
        self._beginnings: deque[Place] = deque()
        self._since = 0
        self._frame_bytes = 0

    def note_chunk(self, size: int) -> None:
        """Note that a chunk of so many bytes was written."""
        self._since += size

    @property
    def is_place_due(self) -> bool:
        """Return whether a starting point should follow the last chunk."""
        return self._since >= max(self.limit_bytes // PLACES, self._frame_bytes)

    def note_place(self, seq: int, time_us: int, next_record: int, size: int) -> None:
        """Note a starting point after event ``seq``, with a keyframe of ``size`` bytes."""
        self._beginnings.append(Place(Extent(first_seq=seq + 1, before_us=time_us), next_record))
        self._since = 0
        self._frame_bytes = size

    def next_beginning(self, used_bytes: int) -> Place | None:
        """Return where a file of this size has to start; None: it stays as it is."""
        if used_bytes <= self.limit_bytes or not self._beginnings:
            return None
        return self._beginnings.popleft()

    def early(self, place: Place, batches: Sequence[Batch]) -> list[Batch]:
        """Return those of ``batches`` that a file starting at a place keeps."""
        end = named_up_to(batches, place.next_record - 1)
        characters = min(EARLY_CHARACTERS_MAX, self.limit_bytes // PLACES)
        return newest(reversed(batches[:end]), characters=characters)
