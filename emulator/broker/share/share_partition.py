"""A partition as a share group sees it: what is acquired, by whom, and where the group is.

All before ``start`` is done (the share-partition start offset, SPSO); ``end`` is the last offset
that was acquired. Both move with what members acquire and acknowledge. Nothing here reads a log,
stores state or knows the time: a member's request and what was read come in, changes and the state
to store go out. Source: ``kafka.server.share.SharePartition`` 4.1.2, 4.2.0 and 4.3.0.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field

from emulator.broker.share.in_flight import (
    ACKNOWLEDGED,
    ACQUIRED,
    ARCHIVED,
    ARCHIVING,
    AVAILABLE,
    NOBODY,
    InFlight,
    InFlightBatch,
    Run,
)
from emulator.protocol.share_groups import Acknowledgement, StateBatch

EMPTY, INITIALIZING, ACTIVE = "EMPTY", "INITIALIZING", "ACTIVE"
"""The states of a share-partition: nothing is known of it, its state is being read, it is used."""
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
"""Types of acknowledgements; a gap is an offset without a record."""
STATE_OF: Final = {GAP: ARCHIVED, ACCEPT: ACKNOWLEDGED, RELEASE: AVAILABLE, REJECT: ARCHIVED}
THROTTLE_MIN: Final = 2
"""Throttling begins after so many deliveries at the earliest; if no more are allowed, not even the
last one is of one record alone."""

INVALID_STATE: Final = "INVALID_RECORD_STATE"
INVALID_REQUEST: Final = "INVALID_REQUEST"
UNDER_WAY: Final = (
    "The record state is invalid. The acknowledgement of delivery could not be completed."
)


class Limits(NamedTuple):
    """What a group is allowed, and how its release behaves.

    ``lock_us`` is how long records stay acquired; ``in_flight`` how many records may be between
    ``start`` and ``end``; ``deliveries`` how often a record is delivered at most.
    ``limits_fetches`` (4.2): a fetch acquires no more than the rest of ``in_flight``.
    ``throttles`` (4.2): records that were delivered often are delivered in ever smaller pieces, at
    last alone. ``takes_back`` (4.1): records that are released because a session ends were not
    delivered. ``is_early_access`` (4.0): what is missing between stored records, or deleted from
    the log while it was available, is not acquired again; and the start does not wait until what
    it passes is stored. ``has_dead_letters`` (4.4): what is rejected or delivered too often goes to
    a dead-letter queue first.
    """

    lock_us: int
    in_flight: int
    deliveries: int
    limits_fetches: bool = True
    throttles: bool = True
    takes_back: bool = False
    is_early_access: bool = False
    has_dead_letters: bool = False

    @property
    def exhausted(self) -> int:
        """The state of records that were delivered often enough."""
        return ARCHIVING if self.has_dead_letters else ARCHIVED

    @property
    def throttled_from(self) -> int:
        """The number of deliveries from which on records are delivered in smaller pieces."""
        return max(THROTTLE_MIN, -(-self.deliveries // 2))


class Batch(NamedTuple):
    """A batch of the log: its first and last offset."""

    first: int
    last: int


class Acquired(NamedTuple):
    """Offsets that were acquired together, both inclusive, and how often they were delivered."""

    first: int
    last: int
    deliveries: int


class Invalid(Exception):
    """An acknowledgement of records that the member has not acquired."""

    def __init__(self, error: str, message: str) -> None:
        """Be refused with ``error``."""
        super().__init__(message)
        self.error = error


class Gap(Struct, array_like=True):
    """Offsets without state between stored ones: nothing up to ``end`` from ``start`` on is known.

    It counts as long as the share-partition ends at ``end``.
    """

    end: int
    start: int


def name_of(group: str, tp: str) -> str:
    """By what a broker finds a share-partition."""
    return f"{group}\n{tp}"


class SharePartition(Struct, array_like=True):
    """A partition in a share group, at the partition's leader in ``leader_epoch``.

    ``batches`` are in the order of offsets. ``looks_back``: there may be records before the end
    that can be acquired. ``completed`` counts the records from ``start`` on that are done.
    """

    group: str
    tp: str
    topic_id: str
    leader_epoch: int
    status: str = EMPTY
    start: int = 0
    end: int = 0
    state_epoch: int = 0
    batches: list[InFlightBatch] = field(default_factory=list)
    looks_back: bool = False
    gap: Gap | None = None
    completed: int = 0
    looked_up: int = -1

    @property
    def name(self) -> str:
        return name_of(self.group, self.tp)

    # ---- looking things up

    def _floor(self, offset: int) -> int:
        """The index of the last batch that begins at or before an offset; -1 if none does."""
        return bisect_right(self.batches, offset, key=lambda batch: batch.first) - 1

    def _between(self, first: int, last: int) -> list[InFlightBatch]:
        """The batches that begin between two offsets, both inclusive."""
        batches = self.batches
        return batches[self._floor(first - 1) + 1 : self._floor(last) + 1]

    def runs(self) -> Iterator[Run]:
        """All states in the order of offsets."""
        for batch in self.batches:
            yield from batch.runs()

    @property
    def in_flight(self) -> int:
        """How many offsets lie between start and end."""
        return self.end - self.start + 1 if self.batches else 0

    @property
    def _has_gap(self) -> bool:
        return self.gap is not None and self.gap.end == self.end

    @property
    def next_expiry_us(self) -> int:
        """When the next acquisition lock ends; 0 if there is none.

        A change that is being stored decides on its locks itself.
        """
        states = (run.state for run in self.runs() if run.state.former is None)
        return min((state.expires_us for state in states if state.expires_us), default=0)

    # ---- the stored state

    def load(
        self, start: int, state_epoch: int, stored: Sequence[StateBatch], limits: Limits
    ) -> None:
        """Begin with what is stored."""
        self.start, self.state_epoch = start, state_epoch
        expected, gap_start = start, -1
        for batch in stored:
            if gap_start < 0 and batch.first > expected:
                gap_start = expected
            expected = batch.last + 1
            state = InFlight(batch.state, batch.deliveries)
            self.batches.append(InFlightBatch(batch.first, batch.last, state))
            if state.is_terminal:
                self.completed += batch.last - batch.first + 1
        if self.batches:
            self.looks_back = True
            self.end = self.batches[-1].last
            if gap_start >= 0 and not limits.is_early_access:
                self.gap = Gap(self.end, gap_start)
            self.advance(limits)
        else:
            self.end = start
        self.status = ACTIVE

    # ---- acquiring

    def next_fetch_offset(self) -> int:
        """Where to read next: the first record that can be acquired again, or after the end."""
        batches = self.batches
        done = not batches or self.start > batches[-1].last
        if not self.looks_back:
            return self.end if done else self.end + 1
        if done:
            self.looks_back = False
            return self.end
        gap_start = self.gap.start if self.gap is not None and self._has_gap else -1
        for batch in batches:
            if gap_start >= 0:
                if batch.first > gap_start:
                    return gap_start
                gap_start = max(batch.last + 1, gap_start)
            for run in batch.runs():
                if run.state.is_available:
                    return run.first
        self.looks_back = False
        return self.end + 1

    def can_acquire(self, limits: Limits) -> bool:
        if self.next_fetch_offset() != self.end + 1:
            return True
        return self.in_flight < limits.in_flight

    def acquire(  # noqa: C901, PLR0917 - one rule after another; what a fetch has
        self,
        member: str,
        fetched_from: int,
        log: Sequence[Batch],
        records: int,
        batch_size: int,
        limits: Limits,
        now_us: int,
        *,
        strict: bool = False,
    ) -> list[Acquired]:
        """Acquire up to ``records`` of the batches that were read from an offset.

        A fetch takes whole batches of the log; ``strict``: no more than ``records`` (4.2).
        ``batch_size`` is the number of records above which what is acquired is told in pieces.
        """
        if records <= 0 or not log or (limits.limits_fetches and log[-1].last < self.start):
            return []
        records, last = self._bounded(fetched_from, records, log[-1].last, limits)
        if records <= 0:
            return []
        first = log[0].first
        self._archive_stale(fetched_from, first, limits)
        base = self._base(first, limits)
        overlapping = self._between(min(first, base), last)
        acquisition = _Acquisition(
            member, batch_size, limits, now_us + limits.lock_us, log, strict=strict
        )
        if not overlapping:
            return self._acquire_new(acquisition, base, last, records)
        acquired: list[Acquired] = []
        count, gap_start = 0, base
        for batch in overlapping:
            if count >= records:
                break
            if self._has_gap:
                if gap_start < batch.first:
                    records_left = records - count if limits.limits_fetches else records
                    just_acquired = self._acquire_new(
                        acquisition, gap_start, batch.first - 1, records_left
                    )
                    acquired += just_acquired
                    count += _count(just_acquired)
                gap_start = batch.last + 1
                if count >= records:
                    break
            throttled = limits.throttles and self._is_throttled(batch, first, last, limits)
            if throttled and count:
                records = 0
                break
            records_left = records - count
            just_acquired = self._acquire_known(
                acquisition, batch, first, last, records_left, throttled=throttled
            )
            acquired += just_acquired
            count += _count(just_acquired)
            if throttled and just_acquired:
                records = 0
                break
        end = overlapping[-1].last
        if count < records and end < last:
            acquired += self._acquire_new(acquisition, end + 1, last, records - count)
        if acquired:
            self._close_gap(acquired[-1].last + 1)
        return acquired

    def _bounded(
        self, fetched_from: int, records: int, last: int, limits: Limits
    ) -> tuple[int, int]:
        """How many records may be acquired, and up to which offset."""
        if not limits.limits_fetches:
            return records, last
        records_left = min(records, limits.in_flight - self.in_flight)
        if records_left > 0:
            return records_left, last
        if fetched_from <= self.end:
            return min(records, self.end - fetched_from + 1), min(last, self.end)
        return records_left, last

    def _base(self, first: int, limits: Limits) -> int:
        floor = self._floor(first)
        if floor < 0:
            return max(first, self.start) if limits.limits_fetches else first
        batch = self.batches[floor]
        return batch.first if batch.last >= first else first

    def _acquire_known(
        self,
        acquisition: "_Acquisition",
        batch: InFlightBatch,
        first: int,
        last: int,
        records_left: int,
        *,
        throttled: bool,
    ) -> list[Acquired]:
        """Acquire again what is available of a batch: all of it, or offset by offset."""
        whole = batch.whole
        is_small = acquisition.strict and batch.last - batch.first + 1 > records_left
        if whole is not None and not whole.is_available:
            return []
        if whole is not None and batch.is_within(first, last) and not (is_small or throttled):
            whole.acquire(acquisition.member, acquisition.expires_us)
            return [Acquired(batch.first, batch.last, whole.deliveries)]
        offsets = batch.split()
        acquired: list[Acquired] = []
        limits, piece = acquisition.limits, -1
        is_last_alone = limits.throttles and limits.deliveries > THROTTLE_MIN
        for offset, state in offsets.items():
            if not first <= offset <= last or not state.is_available:
                continue
            if limits.throttles:
                deliveries = state.deliveries
                if is_last_alone and deliveries == limits.deliveries - 1 and acquired:
                    break
                if deliveries >= limits.throttled_from and piece < 0:
                    piece = max(1, len(offsets) >> (deliveries - limits.throttled_from + 1))
            state.acquire(acquisition.member, acquisition.expires_us)
            acquired.append(Acquired(offset, offset, state.deliveries))
            if is_last_alone and state.deliveries == limits.deliveries:
                break
            if (acquisition.strict and len(acquired) == records_left) or len(acquired) == piece:
                break
        return _joined(acquired) if limits.throttles else acquired

    @staticmethod
    def _is_throttled(batch: InFlightBatch, first: int, last: int, limits: Limits) -> bool:
        deliveries = [
            run.state.deliveries
            for run in batch.runs()
            if run.state.is_available and (batch.whole is not None or first <= run.first <= last)
        ]
        return max(deliveries, default=0) >= limits.throttled_from

    def _acquire_new(
        self, acquisition: "_Acquisition", first: int, last: int, records: int
    ) -> list[Acquired]:
        """Acquire offsets that nobody has acquired before, up to the end of a batch of the log."""
        if not self.batches and self.end > first:
            first = self.end
        if records < last - first + 1:
            bound = acquisition.end_of_batch(first + records - 1)
            last = (
                min(bound, last) if self._has_gap and acquisition.limits.limits_fetches else bound
            )
        pieces = acquisition.pieces(first, last)
        if acquisition.strict and last - first + 1 > records:
            taken = Acquired(first, first + records - 1, 1)
            batch = InFlightBatch(first, last, InFlight(AVAILABLE, 0))
            for offset, state in batch.split().items():
                if offset <= taken.last:
                    state.acquire(acquisition.member, acquisition.expires_us)
            self._insert(batch)
            self.looks_back = True
            pieces = [taken]
        else:
            for piece in pieces:
                state = InFlight(ACQUIRED, 1, acquisition.member, acquisition.expires_us)
                self._insert(InFlightBatch(piece.first, piece.last, state))
        if self.batches[0].first == first:
            self.start = first
        self.end = max(self.end, last)
        self._close_gap(pieces[0].last + 1 if acquisition.strict else last + 1)
        return pieces

    def _insert(self, batch: InFlightBatch) -> None:
        self.batches.insert(self._floor(batch.first) + 1, batch)

    def _close_gap(self, offset: int) -> None:
        """Move the gap's start to an offset; it ends where the share-partition does."""
        gap = self.gap
        if gap is not None and gap.end == self.end and offset <= gap.end:
            gap.start = offset
        else:
            self.gap = None

    def _archive_stale(self, fetched_from: int, first: int, limits: Limits) -> None:
        """Archive what is available but not in the log any more, as a read from there skips it."""
        if limits.is_early_access or not self.batches or fetched_from >= first:
            return
        if self._archive(fetched_from, first):
            self.looks_back = True

    def _archive(
        self, first: int, bound: int, state: int = AVAILABLE, *, counts: bool = True
    ) -> bool:
        """Archive offsets below ``bound`` that are in a state."""
        is_archived = False
        for batch in self.batches[max(0, self._floor(first)) : self._floor(bound - 1) + 1]:
            whole = batch.whole
            if batch.last < first or (whole is not None and whole.state != state):
                continue
            if whole is None or not batch.is_within(first, bound - 1):
                batch.split()
            for run in batch.runs(first, bound - 1):
                if run.state.state == state:
                    run.state.archive()
                    self.completed += self._counted(run) if counts else 0
                    is_archived = True
        return is_archived

    def available_between(self, first: int, bound: int) -> list[Run]:
        """What is available of the offsets from ``first`` on and below ``bound``."""
        return [
            Run(max(run.first, first), min(run.last, bound - 1), run.state)
            for run in self.runs()
            if run.state.state == AVAILABLE and run.first < bound and run.last >= first
        ]

    def is_archived(self, offset: int) -> bool:
        """Whether an offset that is in flight will never be delivered."""
        return self.batches[self._floor(offset)].state_at(offset).state == ARCHIVED

    def archive_aborted(self, first: int, last: int) -> None:
        """Archive what was just acquired of a batch whose transaction was aborted."""
        self._archive(first, last + 1, ACQUIRED)

    def log_start_moved(self, log_start: int) -> None:
        """Skip what was deleted from the log."""
        if log_start <= self.start:
            return
        if not self.batches:
            self.start = self.end = log_start
            self.completed = 0
            return
        deleted = sum(
            min(run.last, log_start - 1) - max(run.first, self.start) + 1
            for run in self.runs()
            if run.state.is_terminal and run.first < log_start and run.last >= self.start
        )
        if self._archive(self.start, log_start, counts=False):
            self.looks_back = True
        self.start = log_start
        self.completed -= deleted
        self.end = max(self.end, log_start)

    # ---- acknowledging

    def acknowledge(
        self,
        member: str,
        acknowledged: Sequence[Acknowledgement],
        limits: Limits,
        write: int,
        now_us: int,
    ) -> list[StateBatch]:
        """Acknowledge records; return the state to store, which ``write`` does.

        Raises:
            Invalid: not all of it has been acquired by the member; then nothing has changed.
        """
        stored: list[StateBatch] = []
        try:
            for acknowledgement in acknowledged:
                if acknowledgement.last >= self.start:
                    for batch in self._acknowledged_batches(acknowledgement):
                        self._acknowledge(
                            member, acknowledgement, batch, limits, write, now_us, stored
                        )
        except Invalid:
            self.complete(write, limits, now_us, stored=False)
            raise
        return stored

    def _acknowledged_batches(self, acknowledgement: Acknowledgement) -> list[InFlightBatch]:
        """The batches that an acknowledgement is about."""
        floor = self._floor(acknowledgement.first)
        if floor < 0:
            if not acknowledgement.first < self.start <= acknowledgement.last:
                raise Invalid(
                    INVALID_STATE,
                    "Batch record not found. The request batch offsets are not found in the cache.",
                )
            floor = self._floor(self.start)
        batches = self.batches[floor : self._floor(acknowledgement.last) + 1]
        if batches[-1].last < acknowledgement.first:
            end = "first"
        elif acknowledgement.last > batches[-1].last:
            end = "last"
        else:
            return batches
        raise Invalid(
            INVALID_REQUEST,
            f"Batch record not found. The {end} offset in request is past acquired records.",
        )

    def _acknowledge(  # noqa: PLR0917 - one check after another
        self,
        member: str,
        acknowledgement: Acknowledgement,
        batch: InFlightBatch,
        limits: Limits,
        write: int,
        now_us: int,
        stored: list[StateBatch],
    ) -> None:
        if batch.last < self.start:
            return
        whole = batch.whole
        if whole is not None:
            _check_owner(whole, member)
            if (
                not batch.is_within(acknowledgement.first, acknowledgement.last)
                or len(acknowledgement.types) > 1
                or batch.first < self.start
            ):
                if whole.state != ACQUIRED:
                    raise Invalid(
                        INVALID_STATE,
                        "The batch cannot be acknowledged. The subset batch is not in the acquired "
                        "state.",
                    )
                batch.split()
        for run in batch.runs(max(acknowledgement.first, self.start), acknowledgement.last):
            kind = acknowledgement.types[0]
            if len(acknowledgement.types) > 1:
                kind = acknowledgement.types[run.first - acknowledgement.first]
            if batch.whole is None:
                _check_acquired(run.state, member, "offset" if limits.throttles else "batch")
            if kind == RENEW:
                run.state.expires_us = now_us + limits.lock_us
                continue
            state = limits.exhausted if kind == REJECT else STATE_OF[kind]
            if not run.state.begin_move(
                state, limits.deliveries, write, exhausted=limits.exhausted
            ):
                raise Invalid(INVALID_STATE, "Unable to acknowledge records for the batch")
            self._add_to_store(run, stored)

    def _add_to_store(self, run: Run, stored: list[StateBatch]) -> None:
        """Note a change that is to be stored."""
        state = run.state
        stored.append(StateBatch(run.first, run.last, state.state, state.deliveries))
        if state.is_terminal:
            self.completed += self._counted(run)

    def _counted(self, run: Run) -> int:
        return max(0, run.last - max(self.start, run.first) + 1)

    def release(self, member: str, limits: Limits, write: int) -> list[StateBatch]:
        """Release what a member has acquired, whose session ends; return the state to store."""
        stored: list[StateBatch] = []
        for batch in self.batches:
            self._split_at_start(batch)
            for run in batch.runs():
                if run.state.member != member or run.state.state != ACQUIRED:
                    continue
                target = ARCHIVED if run.last < self.start else AVAILABLE
                counts = not limits.takes_back
                if run.state.begin_move(
                    target, limits.deliveries, write, counts=counts, exhausted=limits.exhausted
                ):
                    self._add_to_store(run, stored)
        return stored

    def expire(self, limits: Limits, now_us: int) -> list[StateBatch]:
        """Release what was acquired for too long; return the state to store."""
        stored: list[StateBatch] = []
        for batch in self.batches:
            if not any(0 < run.state.expires_us <= now_us for run in batch.runs()):
                continue
            self._split_at_start(batch)
            for run in batch.runs():
                if not 0 < run.state.expires_us <= now_us or run.state.former is not None:
                    continue
                target = ARCHIVED if run.last < self.start else AVAILABLE
                if run.state.move(target, limits.deliveries, exhausted=limits.exhausted):
                    run.state.expires_us = 0
                    self._add_to_store(run, stored)
                    self.looks_back = self.looks_back or run.state.state == AVAILABLE
        return stored

    def archive_dead(self, first: int, last: int) -> None:
        """Archive what is in a dead-letter queue now, or cannot be written to it."""
        self._archive(first, last + 1, ARCHIVING)

    def _split_at_start(self, batch: InFlightBatch) -> None:
        """Give offsets states of their own where only some of them lie before the start."""
        is_acquired = batch.whole is not None and batch.whole.state == ACQUIRED
        if is_acquired and batch.first < self.start <= batch.last:
            batch.split()

    def changed_by(self, write: int) -> list[Run]:
        """The states whose change ``write`` stores."""
        return [
            run
            for run in self.runs()
            if run.state.former is not None and run.state.former.write == write
        ]

    def complete(self, write: int, limits: Limits, now_us: int, *, stored: bool) -> None:
        """Complete or undo the changes of a write."""
        for run in self.runs():
            state = run.state
            if state.former is None or state.former.write != write:
                continue
            was_terminal = state.is_terminal
            state.end_move(limits.deliveries, now_us, stored=stored)
            if state.state == AVAILABLE:
                self.looks_back = True
            if was_terminal and not state.is_terminal:
                self.completed -= self._counted(run)
        if stored:
            self.advance(limits)

    # ---- the start

    def advance(self, limits: Limits) -> None:
        """Move the start past what is done."""
        batches = self.batches
        floor = self._floor(self.start)
        if floor < 0:
            return
        at_start = batches[floor]
        if self.start <= at_start.last:
            state = at_start.state_at(self.start)
        elif at_start.whole is not None:
            state = at_start.whole
        else:
            return
        if not _is_done(state, limits):
            return
        last, count = self._last_done(limits)
        if last < 0:
            return
        if last == batches[-1].last:
            self.start = self.end = last + 1
            batches.clear()
            self.completed = 0
            return
        floor = self._floor(last)
        if batches[floor].last == last:
            self.start = max(self.start, batches[floor + 1].first)
            if self.gap is not None and self._has_gap:
                self.start = min(self.gap.start, self.start)
            removed = floor + 1
        else:
            self.start = max(self.start, last + 1)
            removed = floor
        self.completed -= count
        del batches[:removed]

    def _last_done(self, limits: Limits) -> tuple[int, int]:
        """The last offset up to which all is done (-1: none), and how many count as completed."""
        last, count = -1, 0
        for batch in self.batches:
            if self.gap is not None and self._has_gap and batch.last >= self.gap.start:
                break
            for run in batch.runs():
                if not _is_done(run.state, limits):
                    return last, count
                last = run.last
                count += self._counted(run)
        return last, count


class _Acquisition(NamedTuple):
    """A member that acquires, and how."""

    member: str
    batch_size: int
    limits: Limits
    expires_us: int
    log: Sequence[Batch]
    strict: bool = False

    def end_of_batch(self, offset: int) -> int:
        """The end of the batch of the log that has an offset; the offset if none has."""
        batches = [batch for batch in self.log if batch.first <= offset]
        return batches[-1].last if batches and offset <= batches[-1].last else offset

    def pieces(self, first: int, last: int) -> list[Acquired]:
        """What is acquired together: whole batches, if these are more than the batch size."""
        pieces: list[Acquired] = []
        if not self.strict and last - first + 1 > self.batch_size:
            for batch in self.log:
                if batch.first > last:
                    break
                if batch.first - first >= self.batch_size:
                    pieces.append(Acquired(first, batch.first - 1, 1))
                    first = batch.first
        return [*pieces, Acquired(first, last, 1)]


def _count(acquired: Sequence[Acquired]) -> int:
    return sum(piece.last - piece.first + 1 for piece in acquired)


def _joined(acquired: Sequence[Acquired]) -> list[Acquired]:
    """Neighbours that were delivered equally often as one."""
    joined: list[Acquired] = []
    for piece in acquired:
        previous = joined[-1] if joined else None
        if previous is not None and previous[1:] == (piece.first - 1, piece.deliveries):
            joined[-1] = Acquired(previous.first, piece.last, piece.deliveries)
        else:
            joined.append(piece)
    return joined


def _is_done(state: InFlight, limits: Limits) -> bool:
    """Whether the start may pass records: they are done, and that is stored."""
    return state.is_terminal and (state.former is None or limits.is_early_access)


def _check_owner(whole: InFlight, member: str) -> None:
    """Check that a batch with one state is a member's."""
    if whole.member == NOBODY:
        text = "The batch cannot be acknowledged. The batch is not in the acquired state."
    elif whole.member != member:
        text = "Member is not the owner of batch record"
    elif whole.former is not None:
        text = UNDER_WAY
    else:
        return
    raise Invalid(INVALID_STATE, text)


def _check_acquired(state: InFlight, member: str, noun: str) -> None:
    """Check that an offset is acquired by a member."""
    if state.state != ACQUIRED:
        text = f"The {noun} cannot be acknowledged. The offset is not acquired."
    elif state.former is not None:
        text = UNDER_WAY
    elif state.member != member:
        text = "Member is not the owner of offset"
    else:
        return
    raise Invalid(INVALID_STATE, text)
