"""Random access to a session's events by number, with a cache of decoded chunks."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Final

from emulator.events import Event, MessageSent, MetadataRecordCommitted, ProduceSent
from emulator.simulation.packed_list import text_bytes
from sessions.format.allowance import Allowance, StillReadingError
from sessions.format.codec import BlockError
from sessions.format.errors import (
    SessionDamagedError,
    SessionDroppedError,
    SessionEndedError,
    consistent,
)
from sessions.format.file import Chunk, SessionFile
from sessions.garbage_collection import collector_paused
from sessions.model.batches import batch_in
from sessions.model.handlers.clients import NAMING, batch_of
from sessions.model.states import Batch, CommittedRecord
from sessions.model.touches import touches

CACHED_WEIGHT_MAX: Final = 1 << 16
"""Size of the cache of decoded events, counted in events of about 180 bytes each."""
OBJECTS_COST: Final = 256
"""To read which objects a chunk's events touch takes as long as to read so many events."""
KINDS_COST: Final = 1_024
"""The same of decoding a chunk's events of some types."""
PARTIAL_MAX: Final = 16
"""How many chunks are kept of which only some types were decoded."""
EVENT_BYTES: Final = 512
"""What an event is estimated at before it is decoded, with room for its texts."""

COMMITTED: Final = frozenset({MetadataRecordCommitted})

_FIRST_SEQ: Final = attrgetter("first_seq")
_FIRST_US: Final = attrgetter("first_us")
_TIME: Final = attrgetter("time_us")

Tail = Callable[[], list[Event]]
Kinds = frozenset[type[Event]] | None
"""Types of events; None: all of them."""


class Chunks:
    """The events of a session file and, while it is being recorded, those not yet in the file.

    ``tail`` returns the recorder's open chunk (a growing list, perhaps empty): it takes precedence
    from its first event on.
    """

    def __init__(self, session: SessionFile, tail: Tail | None = None) -> None:
        """Read from ``session``, which the caller closes."""
        self.session = session
        self._tail = tail
        self._cache: OrderedDict[int, list[Event]] = OrderedDict()
        self._weights: dict[int, int] = {}
        self._partial: dict[tuple[int, int, Kinds], list[Event]] = {}
        self._early: tuple[int, Sequence[Batch]] = (1, [])
        self._batches_of_record: list[Batch] = []
        self._allowance: Allowance | None = None

    @contextmanager
    def reading_at_most(self, allowance: Allowance) -> Iterator[None]:
        """Within this block, raise :class:`StillReadingError` instead of reading more than that.

        Chunks that are in memory cost nothing.
        """
        before, self._allowance = self._allowance, allowance
        try:
            yield
        finally:
            self._allowance = before

    def _spend(self, events: int) -> None:
        if self._allowance is not None:
            self._allowance.spend(events)

    # ---- by number

    @property
    def first_seq(self) -> int:
        """The number of the first event in the file."""
        return self.session.first_seq

    @property
    def last_seq(self) -> int:
        """The number of the last event."""
        tail = self._open_chunk()
        return tail[-1].seq if tail else self._refreshed().last_seq

    @property
    def last_us(self) -> int:
        """The virtual time of the last event."""
        tail = self._open_chunk()
        return tail[-1].time_us if tail else self._refreshed().last_us

    def time_of(self, seq: int) -> int:
        """Return the virtual time of an event, which may be the one before the first."""
        if seq < self.first_seq:
            return self.session.extent.before_us
        chunk = self.containing(seq)
        return chunk[seq - chunk[0].seq].time_us

    def events(self, first: int, last: int) -> list[Event]:
        """Return the existing events numbered ``first`` to ``last``."""
        events: list[Event] = []
        first, last = max(first, self.first_seq), min(last, self.last_seq)
        while first <= last:
            try:
                chunk = self.containing(first)
            except (SessionDroppedError, SessionEndedError):
                first, last = max(first, self.first_seq), min(last, self.last_seq)
                continue
            begin = first - chunk[0].seq
            part = chunk[begin : begin + last - first + 1]
            events += part
            first += len(part)
        return events

    def containing(self, seq: int) -> list[Event]:
        """Return the chunk that contains an existing event; callers must not modify the list."""
        tail = self._open_chunk()
        if tail and tail[0].seq <= seq <= tail[-1].seq:
            return tail
        return self._decoded(self._chunk_of(seq))

    def remember(self, events: list[Event]) -> None:
        """Cache a chunk that has just been written, to save decoding it."""
        if events[0].seq not in self._cache:
            self._keep(events)

    def _open_chunk(self) -> list[Event]:
        return [] if self._tail is None else self._tail()

    def _refreshed(self) -> SessionFile:
        """Return the file, refreshed if an ongoing recording has written its open chunk."""
        if self._tail is not None:
            self.session.refresh()
        return self.session

    def _chunk_of(self, seq: int) -> Chunk:
        chunks = self.session.chunks
        if self._tail is not None and (not chunks or seq > chunks[-1].last_seq):
            self.session.refresh()
        index = bisect_right(chunks, seq, key=_FIRST_SEQ) - 1
        if seq < self.first_seq:
            raise SessionDroppedError(
                f"{self.session.path} begins with event {self.first_seq:,} by now."
            )
        if index < 0 or seq > chunks[index].last_seq:
            raise SessionDamagedError(f"{self.session.path} has no event {seq:,}.")
        return chunks[index]

    def _decoded(self, chunk: Chunk) -> list[Event]:
        first = chunk.first_seq
        events = self._cache.get(first)
        if events is None or events[-1].seq < chunk.last_seq:
            self._spend(chunk.last_seq - first + 1)
            with collector_paused():
                unpacked = self.session.unpacked(chunk)
                events = unpacked.events()
            self._keep(events, unpacked.memory)
        else:
            self._cache.move_to_end(first)
        return events

    def _keep(self, events: list[Event], memory: int = 0) -> None:
        first = events[0].seq
        self._cache[first] = events
        self._cache.move_to_end(first)
        self._weights[first] = max(sum(map(weight_of, events)), memory // EVENT_BYTES)
        while sum(self._weights.values()) > CACHED_WEIGHT_MAX and len(self._cache) > 1:
            oldest, _ = self._cache.popitem(last=False)
            del self._weights[oldest]

    # ---- by time

    def seq_at(self, time_us: int) -> int:
        """Return the last event at or before a virtual time, or the number before the first."""
        tail = self._open_chunk()
        if tail and tail[0].time_us <= time_us:
            return tail[0].seq - 1 + bisect_right(tail, time_us, key=_TIME)
        chunks = self.session.chunks
        index = bisect_right(chunks, time_us, key=_FIRST_US) - 1
        if index < 0:
            return self.first_seq - 1
        try:
            events = self._decoded(chunks[index])
        except (SessionDroppedError, SessionEndedError):  # the chunks have been replaced
            return self.seq_at(time_us)
        return events[0].seq - 1 + bisect_right(events, time_us, key=_TIME)

    # ---- by record

    def batch(self, record_id: int) -> Batch | None:
        """Return the batch of a record, from the event that produced it."""
        batch = batch_in(self._batches_of_record, record_id)
        if batch is not None:
            return batch
        for chunk in tuple(self.session.chunks):
            if chunk.first_record <= record_id <= chunk.last_record:
                with suppress(SessionDroppedError, SessionEndedError):
                    self._batches_of_record = _batches(self._decoded(chunk))
                    batch = batch_in(self._batches_of_record, record_id)
                    if batch is not None:
                        return batch
        open_ones = _batches(self._open_chunk())
        return batch_in(open_ones, record_id) or batch_in(self._beginning(), record_id)

    def batches_before(self, seq: int) -> Iterator[Batch]:
        """Yield the batches before an event, the last one first."""
        earlier = [chunk for chunk in self.session.chunks if chunk.first_seq < seq]
        for chunk in reversed(earlier):
            if chunk.last_record >= 0:
                end = min(seq, chunk.last_seq + 1)  # what is remembered may be several chunks
                events = self._decoded(chunk)
                yield from reversed(_batches(event for event in events if event.seq < end))
        yield from reversed(self._beginning())

    def _beginning(self) -> Sequence[Batch]:
        """Return the batches kept at the file's beginning."""
        first = self.first_seq
        if self._early[0] != first:
            frame = self.session.beginning()
            self._early = (first, [] if frame is None else frame.state.batches)
        return self._early[1]

    def records(self, first: int, last: int, count: int) -> list[CommittedRecord]:
        """Return the metadata records that the events ``first`` to ``last`` commit.

        Raises:
            SessionError: they cannot be read, or are not ``count`` records.
            StillReadingError: no more may be read now.
        """
        self._spend(count)
        records: list[CommittedRecord] = []
        chunks = self._refreshed().chunks
        for chunk in chunks[bisect_left(chunks, first, key=_LAST_SEQ) :]:
            if chunk.first_seq > last:
                break
            unpacked = self.session.unpacked(chunk, COMMITTED)
            for column in unpacked.columns:
                begin, end = (
                    bisect_left(column.places, seq - chunk.first_seq) for seq in (first, last + 1)
                )
                fields = (field[begin:end] for field in column.fields)
                records += map(CommittedRecord, *fields)
        if len(records) != count:
            raise SessionDamagedError(f"{self.session.path} is damaged: it lacks metadata records.")
        return records

    # ---- by object

    def touching(
        self, names: set[str], seq: int, direction: int, kinds: Kinds = None
    ) -> int | None:
        """Return the next (1) or previous (-1) event from ``seq`` on that affects an object.

        Only events of ``kinds``, if these are given: the others are not decoded.

        Raises:
            StillReadingError: there was no time to search any further than it says.
        """
        with consistent(self.session.path):
            return self._touching(names, seq, direction, kinds)

    def _touching(self, names: set[str], seq: int, direction: int, kinds: Kinds) -> int | None:
        for chunk in self._chunks_from(seq, direction, names, kinds):
            for event in chunk if direction > 0 else reversed(chunk):
                after = event.seq > seq if direction > 0 else event.seq < seq
                if after and (kinds is None or type(event) in kinds) and touches(event, names):
                    return event.seq
        return None

    def _chunks_from(
        self, seq: int, direction: int, names: set[str], kinds: Kinds
    ) -> Iterator[list[Event]]:
        """Return the chunks that may contain such an event, nearest first."""
        tail = self._open_chunk()
        if tail and direction < 0:
            yield tail
        if self._tail is not None:
            self.session.refresh()
        chunks = self.session.chunks
        if direction > 0:
            candidates = chunks[bisect_right(chunks, seq, key=_LAST_SEQ) :]
        else:
            candidates = chunks[: bisect_left(chunks, seq, key=_FIRST_SEQ)][::-1]
        for chunk in candidates:
            if tail and chunk.first_seq >= tail[0].seq:
                continue
            try:
                self._spend(0)
                if not self._may_touch(chunk, names):
                    self._spend(OBJECTS_COST)
                    continue
                events = self._of_kinds(chunk, kinds)
            except StillReadingError:
                before, after = min(seq, chunk.last_seq + 1), max(seq, chunk.first_seq - 1)
                raise StillReadingError(before if direction < 0 else after) from None
            except (SessionDroppedError, SessionEndedError):
                continue
            yield events
        if tail and direction > 0:
            yield tail

    def _of_kinds(self, chunk: Chunk, kinds: Kinds) -> list[Event]:
        """Return a chunk's events, perhaps only those of some types."""
        if kinds is None or chunk.first_seq in self._cache:
            return self._decoded(chunk)
        key = (chunk.first_seq, chunk.last_seq, kinds)
        events = self._partial.get(key)
        if events is None:
            self._spend(KINDS_COST)
            with collector_paused():
                events = self.session.unpacked(chunk, kinds).events()
            if len(self._partial) >= PARTIAL_MAX:
                del self._partial[next(iter(self._partial))]
            self._partial[key] = events
        return events

    def _may_touch(self, chunk: Chunk, names: set[str]) -> bool:
        try:
            objects = self.session.objects(chunk)
        except (BlockError, SessionDamagedError):
            return True
        return any(b"\n%b\n" % name.encode() in objects for name in names)


def weight_of(event: Event) -> int:
    """Return the memory that an event uses, in units of a usual one: some contain long lists."""
    if type(event) is ProduceSent:
        return 1 + text_bytes(event) // EVENT_BYTES
    return 1 + len(event.detail) if type(event) is MessageSent else 1


def _batches(events: Iterable[Event]) -> list[Batch]:
    """Return the batches that these events introduce."""
    return [batch_of(event) for event in events if isinstance(event, NAMING)]


_LAST_SEQ: Final = attrgetter("last_seq")
