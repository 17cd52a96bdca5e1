"""Recordings of bounded size: their beginning is dropped as they grow.

Periodically a recording gets a possible starting point: a full keyframe. If the file is too large,
it starts at the next one, and keeps the batches that introduced earlier records.
"""

from collections import deque
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from sessions.format.metadata import Extent
from sessions.format.writer import LOG_PAGES_MAX, PAGE_BYTES
from sessions.model.batches import named_before
from sessions.model.states import Batch

PLACES: Final = 8
"""How many places to begin at there are in a file of full size."""
EARLY_RECORDS_MAX: Final = 100_000
"""Of how many records before its first event a file knows the keys and values."""


class Place(Struct, frozen=True):
    """Where a recording could begin, and the first record id that had not been named by then."""

    extent: Extent
    next_record: int


def newest(
    batches: Sequence[Batch], records: int = EARLY_RECORDS_MAX, characters: int | None = None
) -> list[Batch]:
    """The last of these batches, of so many records and ``characters`` or a few more."""
    found: list[Batch] = []
    left = records
    room = sum(map(_characters, batches)) + 1 if characters is None else characters
    for batch in reversed(batches):
        if left <= 0 or room <= 0:
            break
        found.append(batch)
        left -= len(batch.values)
        room -= _characters(batch)
    return found[::-1]


def _characters(batch: Batch) -> int:
    return sum(map(len, batch.values)) + sum(len(key) for key in batch.keys if key is not None)


class Bound:
    """Decides where a recording could begin, and when it has to."""

    def __init__(self, limit_bytes: int) -> None:
        """Keep a file at about ``limit_bytes``, as far as a state and a part of its past fit."""
        self.limit_bytes = limit_bytes
        self.log_pages_max = min(LOG_PAGES_MAX, limit_bytes // PLACES // PAGE_BYTES)
        self._places: deque[Place] = deque()
        self._since = 0
        self._frame_bytes = 0

    def note_chunk(self, size: int) -> None:
        """A chunk of so many bytes was written."""
        self._since += size

    @property
    def is_place_due(self) -> bool:
        """Whether there should be a place to begin at after the last chunk."""
        return self._since >= max(self.limit_bytes // PLACES, self._frame_bytes)

    def note_place(self, seq: int, time_us: int, next_record: int, size: int) -> None:
        """The file could begin after event ``seq``; its keyframe there has ``size`` bytes."""
        self._places.append(Place(Extent(first_seq=seq + 1, before_us=time_us), next_record))
        self._since = 0
        self._frame_bytes = size

    def next_beginning(self, used_bytes: int) -> Place | None:
        """Where a file of this size has to begin; None: where it does."""
        if used_bytes <= self.limit_bytes or not self._places:
            return None
        return self._places.popleft()

    def early(self, place: Place, batches: Sequence[Batch]) -> list[Batch]:
        """Return those of ``batches`` that a file starting at a place keeps."""
        end = named_before(batches, place.next_record)
        return newest(batches[:end], characters=self.limit_bytes // PLACES)
