"""Ground truth: which records were acknowledged, and whether the logs still have them.

The audit knows every record that was ever produced and looks into every log, which no real
component can. It watches and cannot steer. Work follows suspicion: a partition is looked at whole
only when a log was cut, a leader changed, a batch was sent twice, or two logs were seen to differ.
What settles itself in most cases (a record that is acknowledged when it is handed over, and that
the leader writes a little later) is looked at after a while, or at the end of a statement.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct, field

from emulator import events
from emulator.protocol import RecordBatch
from emulator.simulation.kernel import Kernel
from emulator.simulation.packed_list import PackedList
from emulator.storage.log import Log

DEFERRED_US = 100_000
"""After how long what may have settled itself is looked at."""

Found = list[tuple[int, int]]
"""Pairs of (offset, record id)."""

Findings = tuple[Found, Found, Found, Found]
"""Lost, duplicated, diverged, consumed and lost."""


class Acked(Struct, frozen=True, array_like=True, gc=False):
    """A batch that its producer was told is written (offset -1: never told where)."""

    first_record: int
    count: int
    base_offset: int


class AckedList(PackedList[Acked], kind=Acked):
    """All that was acknowledged in a partition, or that a consumer was given."""


NONE_ACKED: Final = AckedList()
"""What is shared, and never filled, by partitions to which nobody has written."""


def _none_acked() -> AckedList:
    return NONE_ACKED


class PartitionAudit(Struct, array_like=True, gc=False):
    """What is known of one partition; ``newest_missing`` is the largest record id that is lost."""

    leader: int = -1
    acked: AckedList = field(default_factory=_none_acked)
    consumed: AckedList = field(default_factory=_none_acked)
    retried: dict[int, None] = field(default_factory=dict)
    lost: Found = field(default_factory=list)
    duplicated: Found = field(default_factory=list)
    diverged: Found = field(default_factory=list)
    consumed_lost: Found = field(default_factory=list)
    newest_missing: int = -1

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.duplicated or self.diverged or self.consumed_lost)


class AuditState(Struct, array_like=True, gc=False):
    """The audit's memory: plain data. ``acked`` counts records.

    ``dirty`` partitions are to be looked at (because of which event), ``deferred`` ones at
    ``due_us``.
    """

    acked: int = 0
    partitions: dict[str, PartitionAudit] = field(default_factory=dict)
    dirty: dict[str, int] = field(default_factory=dict)
    deferred: dict[str, int] = field(default_factory=dict)
    due_us: int = 0


LogsOf = Callable[[str], dict[int, Log]]
"""Each broker's log of a partition that has one."""


class Audit:
    """Folds events into ground truth and states what changes in it."""

    def __init__(self, state: AuditState, kernel: Kernel, logs_of: LogsOf) -> None:
        """Watch through ``kernel``; look into logs by ``logs_of``."""
        self.state = state
        self.kernel = kernel
        self.logs_of = logs_of
        kernel.subscribe(self._acknowledged, [events.ProduceAcknowledged])
        kernel.subscribe(self._appended, [events.RecordsAppended])
        kernel.subscribe(self._consumed, [events.RecordsConsumed])
        kernel.subscribe(self._retried, [events.ProduceRetried])
        kernel.subscribe(self._led, [events.PartitionStateChanged])
        kernel.subscribe(self._suspect, [events.LogTruncated, events.LogDeleted])
        kernel.subscribe(self._gone, [events.PartitionStateRemoved])

    def _of(self, tp: str) -> PartitionAudit:
        found = self.state.partitions.get(tp)
        if found is None:
            found = self.state.partitions[tp] = PartitionAudit()
        return found

    def _suspect(self, event: events.LogTruncated | events.LogDeleted) -> None:
        self.state.dirty[event.tp] = event.seq

    # ---- folding

    def _acknowledged(self, event: events.ProduceAcknowledged) -> None:
        self.state.acked += event.count
        found = self._of(event.tp)
        found.acked = found.acked or AckedList()
        found.acked.append(Acked(event.first_record, event.count, event.base_offset))
        if event.base_offset < 0:
            self._defer(event.tp, event.seq)
        elif not self._is_held(event.tp, found.leader, event.base_offset, event.first_record):
            self.state.dirty[event.tp] = event.seq

    def _defer(self, tp: str, seq: int) -> None:
        if not self.state.deferred:
            self.state.due_us = self.kernel.now + DEFERRED_US
        self.state.deferred.setdefault(tp, seq)

    def _consumed(self, event: events.RecordsConsumed) -> None:
        found = self._of(event.tp)
        offset = event.offset
        found.consumed = found.consumed or AckedList()
        for first, count in event.runs:
            found.consumed.append(Acked(first, count, offset))
            if not self._is_held(event.tp, found.leader, offset, first):
                self.state.dirty[event.tp] = event.seq
            offset += count

    def _is_held(self, tp: str, leader: int, offset: int, record: int) -> bool:
        """Whether the leader's log has that very record there: who was told so may be late."""
        log = self.logs_of(tp).get(leader)
        if log is None or not log.start <= offset < log.end:
            return False
        batch = log.batches[-1]
        if not batch.base_offset <= offset:
            batch = log.batches[log.position(offset)]
        return batch.first_record + offset - batch.base_offset == record

    def _retried(self, event: events.ProduceRetried) -> None:
        self._of(event.tp).retried[event.first_record] = None

    def _led(self, event: events.PartitionStateChanged) -> None:
        found = self.state.partitions.get(event.tp)
        if found is None:
            self.state.partitions[event.tp] = PartitionAudit(event.leader)
        elif found.leader != event.leader:
            found.leader = event.leader
            if found.acked or found.consumed or not found.clean:
                self.state.dirty[event.tp] = event.seq

    def _gone(self, event: events.PartitionStateRemoved) -> None:
        self.state.partitions.pop(event.tp, None)
        self.state.dirty.pop(event.tp, None)
        self.state.deferred.pop(event.tp, None)

    def _appended(self, event: events.RecordsAppended) -> None:
        found = self._of(event.tp)
        by_leader = event.broker == found.leader
        if (by_leader and event.first_record in found.retried) or self._differs(event):
            self.state.dirty[event.tp] = event.seq
        elif by_leader and event.first_record <= found.newest_missing:
            self._defer(event.tp, event.seq)

    def _differs(self, event: events.RecordsAppended) -> bool:
        """Whether another log that reaches as far holds something else at this offset."""
        for broker, log in self.logs_of(event.tp).items():
            if broker != event.broker and log.end > event.base_offset >= log.start:
                last = log.batches[-1]
                if last.base_offset != event.base_offset:
                    last = log.batches[log.position(event.base_offset)]
                if last.first_record != event.first_record:
                    return True
                if last.base_offset != event.base_offset:
                    return True
        return False

    # ---- looking

    def flush(self) -> None:
        """Look at the partitions under suspicion whose time has come, and state what is new."""
        if self.state.deferred and self.kernel.now >= self.state.due_us:
            self._take_deferred()
        dirty, self.state.dirty = self.state.dirty, {}
        for tp, seq in dirty.items():
            found = self.state.partitions.get(tp)
            if found is not None:
                self.state.deferred.pop(tp, None)
                self.kernel.cause = seq
                self._look(tp, found)
        self.kernel.cause = 0

    def settle(self) -> None:
        """Look at everything under suspicion at once: a statement ends."""
        if self.state.dirty or self.state.deferred:
            self._take_deferred()
            self.flush()

    def _take_deferred(self) -> None:
        deferred, self.state.deferred = self.state.deferred, {}
        self.state.dirty = {**deferred, **self.state.dirty}

    def _look(self, tp: str, found: PartitionAudit) -> None:
        now = self._findings(tp, found)
        if now != (found.lost, found.duplicated, found.diverged, found.consumed_lost):
            found.lost, found.duplicated, found.diverged, found.consumed_lost = now
            missing = (record for _, record in (*found.lost, *found.consumed_lost))
            found.newest_missing = max(missing, default=-1)
            self.kernel.emit(events.AuditChanged, tp, *now)

    def _findings(self, tp: str, found: PartitionAudit) -> Findings:
        """What is wrong with a partition now."""
        logs = self.logs_of(tp)
        leader = logs.get(found.leader)
        if leader is None:
            return [], [], _diverged(logs.values()), []
        ids = _ids(leader)
        return (
            _missing(found.acked, ids),
            _duplicated(leader),
            _diverged(logs.values()),
            _missing(found.consumed, ids),
        )

    # ---- asked

    def count(self, what: str) -> int:
        """Count the records that are ``acked``, ``lost``, ``duplicated`` and so on now."""
        if what == "acked":
            return self.state.acked
        which = ("lost", "duplicated", "diverged", "consumed_lost").index(what)
        suspected = (*self.state.dirty, *self.state.deferred)
        count = 0
        for tp, found in self.state.partitions.items():
            if tp in suspected:
                count += len(self._findings(tp, found)[which])
            else:
                count += len(getattr(found, what))
        return count


def _ids(log: Log) -> dict[int, int]:
    """The batches of a log: first record id to count (the larger, where one is there twice)."""
    found: dict[int, int] = {}
    for batch in log.batches:
        found[batch.first_record] = max(batch.count, found.get(batch.first_record, 0))
    return found


def _missing(batches: Iterable[Acked], ids: dict[int, int]) -> Found:
    """What of ``batches`` is not among ``ids``."""
    missing: Found = []
    whole: dict[int, None] | None = None
    for batch in batches:
        if ids.get(batch.first_record, 0) >= batch.count:
            continue
        if whole is None:
            whole = {f + i: None for f, count in ids.items() for i in range(count)}
        for i in range(batch.count):
            if batch.first_record + i not in whole:
                offset = -1 if batch.base_offset < 0 else batch.base_offset + i
                missing.append((offset, batch.first_record + i))
    return missing


def _duplicated(log: Log) -> Found:
    """Extra copies of a record in a log."""
    seen: dict[int, int] = {}
    extra: Found = []
    for batch in log.batches:
        known = seen.get(batch.first_record, 0)
        for i in range(min(known, batch.count)):
            extra.append((batch.base_offset + i, batch.first_record + i))
        seen[batch.first_record] = max(known, batch.count)
    return extra


def _diverged(logs: Iterable[Log]) -> Found:
    """Offsets below both ends at which two logs differ, with the first log's record."""
    found: dict[int, int] = {}
    kept = list(logs)
    for i, one in enumerate(kept):
        for other in kept[i + 1 :]:
            _compare(one, other, found)
    return sorted(found.items())


def _compare(one: Log, other: Log, found: dict[int, int]) -> None:
    start, end = max(one.start, other.start), min(one.end, other.end)
    if start >= end or _same(one.batches, other.batches, end):
        return
    left, right = _by_offset(one, start, end), _by_offset(other, start, end)
    for offset in range(start, end):
        if left.get(offset) != right.get(offset):
            found[offset] = left.get(offset, -1)


def _same(one: Iterable[RecordBatch], other: Iterable[RecordBatch], end: int) -> bool:
    """Whether two logs that begin together are equal, batch by batch, below ``end``."""
    for a, b in zip(one, other, strict=False):
        if a is b:
            continue
        if a.base_offset >= end and b.base_offset >= end:
            return True
        if a.first_record != b.first_record or a.base_offset != b.base_offset or a.count != b.count:
            return False
    return True


def _by_offset(log: Log, start: int, end: int) -> dict[int, int]:
    return {
        batch.base_offset + i: batch.first_record + i
        for batch in log.batches
        for i in range(batch.count)
        if start <= batch.base_offset + i < end
    }
