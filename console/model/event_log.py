"""Which events a log shows, found without reading a whole recording.

:class:`AllEvents` is arithmetic: line n is event n. :class:`FoundEvents` searches from the time
cursor in both directions, a slice at a time. So a filter over a million events shows the nearest
matches at once, and continues while keys stay responsive.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from functools import cache
from time import perf_counter
from typing import Final, Protocol

from console.model.reader import EventReader
from emulator.events import CHANGE, TRAFFIC, TYPES, Event
from sessions.format.allowance import StillReadingError
from sessions.format.chunks import Kinds
from sessions.sources.source import Source

SLICE: Final = 256
"""Events to check before looking at the clock."""
BUDGET_MS: Final = 12.0
"""How long one frame may search."""
FOUND_MAX: Final = 200_000
"""Maximum length of a log of matches."""
CAUSES_MAX: Final = 16
"""Maximum links of a chain that a log shows with an event."""

Wanted = Callable[[Event], bool]


class EventLog(Protocol):
    """An ascending list of event numbers that may still grow at both ends."""

    def __len__(self) -> int: ...

    def seq_at(self, index: int) -> int:
        """The event on a line."""
        ...

    def index_of(self, seq: int) -> int:
        """The line of the last event at or before ``seq``; -1 if there is none."""
        ...

    def work(self, budget_ms: float = BUDGET_MS) -> bool:
        """Search further; return whether lines were added."""
        ...

    @property
    def complete(self) -> bool:
        """Return whether the search is complete."""
        ...


@cache
def kinds_from(level: int) -> Kinds:
    """The types of events that may have a level, or a higher one; None if all may."""
    if level <= TRAFFIC:
        return None
    is_fixed = {kind: kind.level is Event.level for kind in TYPES.values()}
    return frozenset(
        kind for kind, fixed in is_fixed.items() if not fixed or kind.usual_level >= level
    )


def search_further(log: EventLog, reader: EventReader) -> bool:
    """Search as far as a screen may while it is painted; return whether lines were added."""
    try:
        with reader.hurrying():
            return log.work()
    except StillReadingError:
        return True  # perhaps: what was found before is there


class AllEvents:
    """Every event of the source, one a line."""

    complete = True

    def __init__(self, source: Source) -> None:
        self.source = source
        self._first = source.first_seq
        self._seen = source.last_seq

    def __len__(self) -> int:
        return self._seen - self._first + 1

    def seq_at(self, index: int) -> int:
        """Start with the source's first event at this moment as line 0."""
        return index + self._first

    def index_of(self, seq: int) -> int:
        """The first event is line 0."""
        return max(-1, min(seq, self._seen) - self._first)

    def work(self, budget_ms: float = BUDGET_MS) -> bool:
        """Add new events at the end."""
        before, self._seen = self._seen, self.source.last_seq
        return self._seen != before


class FixedEvents:
    """A given list of events, such as a chain of causes; some are folded into their first one."""

    complete = True

    def __init__(self, seqs: Sequence[int], folds: Sequence[Sequence[int]] = ()) -> None:
        """Show ``seqs``, ascending; of each of the ``folds``, adjacent in it, only the first."""
        self._all = list(seqs)
        self._folds = {fold[0]: tuple(fold) for fold in folds}
        self.folded = set(self._folds)
        self._choose()

    def _choose(self) -> None:
        hidden = {seq for first in self.folded for seq in self._folds[first][1:]}
        self.seqs = [seq for seq in self._all if seq not in hidden]

    def fold_at(self, seq: int) -> tuple[int, ...]:
        """Return the events that the line of ``seq`` represents, if there are several."""
        return self._folds[seq] if seq in self.folded else ()

    def unfold(self, seq: int) -> bool:
        """Expand the line of ``seq``; return False if it represents one event."""
        if seq not in self.folded:
            return False
        self.folded.remove(seq)
        self._choose()
        return True

    def fold(self, seq: int) -> int | None:
        """Fold the event's group again; return the event whose line represents it."""
        first = next((first for first, fold in self._folds.items() if seq in fold), None)
        if first is None or first in self.folded:
            return None
        self.folded.add(first)
        self._choose()
        return first

    def __len__(self) -> int:
        return len(self.seqs)

    def seq_at(self, index: int) -> int:
        return self.seqs[index]

    def index_of(self, seq: int) -> int:
        """The line of the last event at or before ``seq``."""
        return bisect_right(self.seqs, seq) - 1

    def work(self, budget_ms: float = BUDGET_MS) -> bool:
        """Return False: there is nothing to search."""
        return False


class Scan(Protocol):
    """A way to search for events: each call returns its matches, and how far it has searched."""

    def older(self, below: int) -> tuple[list[int], int]:
        """Return matches before ``below``, and the number from which all has been searched."""
        ...

    def newer(self, above: int, last: int) -> tuple[list[int], int]:
        """Return matches after ``above``, and the number up to which all has been searched."""
        ...


class PageScan:
    """Reads event after event."""

    def __init__(self, reader: EventReader, matches: Wanted) -> None:
        self.reader = reader
        self._is_shown = matches

    def older(self, below: int) -> tuple[list[int], int]:
        """The matches in the slice before ``below``."""
        first = max(1, below - SLICE)
        return self._matches(first, below - 1), first

    def newer(self, above: int, last: int) -> tuple[list[int], int]:
        """The matches in the slice after ``above``."""
        end = min(last, above + SLICE)
        return self._matches(above + 1, end), end

    def _matches(self, first: int, last: int) -> list[int]:
        return [event.seq for event in self.reader.page(first, last) if self._is_shown(event)]


class TouchScan:
    """Jumps from one event that touches the objects to the next.

    The source does so without reading the events in between. Events of other types than ``kinds``,
    if these are given, are not even decoded.
    """

    def __init__(
        self,
        reader: EventReader,
        objects: Sequence[str],
        matches: Wanted | None = None,
        kinds: Kinds = None,
    ) -> None:
        self.reader = reader
        self.objects = objects
        self._is_shown = matches
        self.kinds = kinds

    def older(self, below: int) -> tuple[list[int], int]:
        """The nearest event before ``below``."""
        try:
            seq = self.reader.source.touching(self.objects, below, -1, self.kinds)
        except StillReadingError as error:
            if error.reached is None or error.reached >= below:
                raise
            return [], error.reached
        return ([], 1) if seq is None else (self._kept(seq), seq)

    def newer(self, above: int, last: int) -> tuple[list[int], int]:
        """The nearest event after ``above``."""
        try:
            seq = self.reader.source.touching(self.objects, above, 1, self.kinds)
        except StillReadingError as error:
            if error.reached is None or error.reached <= above:
                raise
            return [], error.reached
        return ([], last) if seq is None else (self._kept(seq), seq)

    def _kept(self, seq: int) -> list[int]:
        if self._is_shown is None:
            return [seq]
        event = self.reader.get(seq)
        return [seq] if event is not None and self._is_shown(event) else []


class FoundEvents:
    """The events that a scan finds, with (``with_causes``) the changes that led to them."""

    def __init__(self, reader: EventReader, scan: Scan, *, with_causes: bool = False) -> None:
        self.reader = reader
        self.scan = scan
        self.with_causes = with_causes
        self.seqs: list[int] = []
        self._low = reader.source.seq + 1
        self._high = reader.source.seq

    def __len__(self) -> int:
        return len(self.seqs)

    def seq_at(self, index: int) -> int:
        return self.seqs[index]

    def index_of(self, seq: int) -> int:
        """The line of the last match at or before ``seq``."""
        return bisect_right(self.seqs, seq) - 1

    @property
    def complete(self) -> bool:
        return self.reaches_back and self._high >= self.reader.source.last_seq

    @property
    def reaches_back(self) -> bool:
        """Return whether all that is older has been searched."""
        return self._low <= self.reader.source.first_seq

    def work(self, budget_ms: float = BUDGET_MS) -> bool:
        """Search further both ways until the time budget is used up."""
        before = len(self.seqs)
        deadline = perf_counter() + budget_ms * self.reader.patience / 1_000
        while not self.complete and len(self.seqs) < FOUND_MAX and perf_counter() < deadline:
            if not self.reaches_back:
                seqs, low = self.scan.older(self._low)
                self._add(seqs)  # it may have to be read first: then both are done again
                self._low = low
            last = self.reader.source.last_seq
            if self._high < last:
                seqs, high = self.scan.newer(self._high, last)
                self._add(seqs)
                self._high = high
        return len(self.seqs) != before

    def _add(self, seqs: list[int]) -> None:
        for seq in seqs:
            chain = self._chain(seq) if self.with_causes else (seq,)
            for one in chain:
                place = bisect_left(self.seqs, one)
                if place == len(self.seqs) or self.seqs[place] != one:
                    insort(self.seqs, one)

    def _chain(self, seq: int) -> list[int]:
        chain = self.reader.causes(seq, CAUSES_MAX)
        return [event.seq for event in chain if event.seq == seq or event.level >= CHANGE]
