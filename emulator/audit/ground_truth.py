"""Ground truth: which records were acknowledged, and whether the logs still contain them.

The audit knows every record ever produced and can read every log, which no real component can. It
only observes. It checks a partition only if there is a reason: a log was truncated, the leader
changed, a batch was sent twice, or two logs were found to differ. Situations that usually resolve
themselves (a record acknowledged when sent, which the leader appends a little later) are checked
after a delay, or at the end of a statement.

While a partition has no leader, what was found about the last one's log stands.

A check leaves a mark: its findings below the end of the leader's log. The next check starts at the
latest valid mark, so that its cost depends on what has happened since, not on the whole history.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations, zip_longest
from typing import Final, Protocol

from msgspec import Struct, field

from emulator import events
from emulator.protocol import RecordBatch
from emulator.protocol.record_batch import NO_RECORDS
from emulator.simulation.kernel import Kernel
from emulator.simulation.packed_list import PackedList
from emulator.storage.log import Log

DEFERRED_US = 100_000
"""The delay of checks for situations that may resolve themselves."""

OffsetRecords = list[tuple[int, int]]
"""Pairs of (offset, record id)."""
Ranges = list[tuple[int, int]]
"""Offsets from the first number up to, not including, the second."""

MARKS: Final = 32
"""The maximum number of marks for a partition; beyond it, every other mark is dropped."""


class Acked(Struct, frozen=True, array_like=True, gc=False):
    """A batch reported as written to its producer (offset -1: without an offset)."""

    first_record: int
    count: int
    base_offset: int


class AckedList(PackedList[Acked], kind=Acked):
    """All batches acknowledged in a partition, or returned to a consumer."""


NONE_ACKED: Final = AckedList()
"""The shared, always empty list of partitions that nothing was written to."""


def _none_acked() -> AckedList:
    return NONE_ACKED


class Mark(Struct, frozen=True, array_like=True, gc=False):
    """The findings of a check below ``offset``, the end of the leader's log.

    Nothing else of the first ``acked`` and ``consumed`` batches is missing in that part of the log,
    whose largest record id is ``newest``. ``leader`` is the broker whose log was checked, or -1 if
    all logs have the same batches as far as they reach. ``lost_offsets`` are those of the whole
    log.
    """

    offset: int = 0
    leader: int = -1
    newest: int = -1
    acked: int = 0
    consumed: int = 0
    lost: OffsetRecords = field(default_factory=list)
    duplicated: OffsetRecords = field(default_factory=list)
    diverged: OffsetRecords = field(default_factory=list)
    consumed_lost: OffsetRecords = field(default_factory=list)
    lost_offsets: Ranges = field(default_factory=list)


NOTHING: Final = Mark()
"""The state before the first check."""


class PartitionAudit(Struct, array_like=True, gc=False):
    """The audit of one partition; ``newest_missing`` is the largest record id that is lost.

    ``marks`` are ordered by offset. Records with ids below ``deleted`` were deleted intentionally,
    by retention or on request, and do not count as missing. ``committed`` are offsets of records
    that are not known, because they are older than a cluster that started from an image.
    """

    leader: int = -1
    acked: AckedList = field(default_factory=_none_acked)
    consumed: AckedList = field(default_factory=_none_acked)
    retried: dict[int, None] = field(default_factory=dict)
    lost: OffsetRecords = field(default_factory=list)
    duplicated: OffsetRecords = field(default_factory=list)
    diverged: OffsetRecords = field(default_factory=list)
    consumed_lost: OffsetRecords = field(default_factory=list)
    newest_missing: int = -1
    marks: list[Mark] = field(default_factory=list)
    deleted: int = 0
    committed: tuple[int, int] = (0, 0)
    lost_offsets: Ranges = field(default_factory=list)

    @property
    def clean(self) -> bool:
        findings = (
            self.lost,
            self.duplicated,
            self.diverged,
            self.consumed_lost,
            self.lost_offsets,
        )
        return not any(findings)


class AuditState(Struct, array_like=True, gc=False):
    """The audit's state, as plain data. ``acked`` counts records.

    ``dirty`` maps partitions to be checked to the event responsible; ``deferred`` ones are checked
    at ``due_us``.
    """

    acked: int = 0
    partitions: dict[str, PartitionAudit] = field(default_factory=dict)
    dirty: dict[str, int] = field(default_factory=dict)
    deferred: dict[str, int] = field(default_factory=dict)
    due_us: int = 0


EMPTY: Final = Log()
"""The remains of a deleted log."""


class Replica(Protocol):
    """A replica on a broker's disk, as far as the audit reads it."""

    @property
    def log(self) -> Log:
        """Its records."""


class Audit:
    """Derives ground truth from events and emits its changes."""

    def __init__(
        self,
        state: AuditState,
        kernel: Kernel,
        disks: Mapping[int, Mapping[str, Replica]],
        assignments: Mapping[str, Collection[int]],
    ) -> None:
        """Observe ``kernel``; read the replicas that partitions have on the brokers' ``disks``."""
        self.state = state
        self.kernel = kernel
        self.disks = disks
        self.assignments = assignments
        kernel.subscribe(self._acknowledged, [events.ProduceAcknowledged])
        kernel.subscribe(self._appended, [events.RecordsAppended])
        kernel.subscribe(self._consumed, [events.RecordsConsumed])
        kernel.subscribe(self._retried, [events.ProduceRetried])
        kernel.subscribe(self._led, [events.PartitionStateChanged])
        kernel.subscribe(self._suspect, [events.LogTruncated, events.LogDeleted])
        kernel.subscribe(self._deleted, [events.LogStartOffsetChanged])
        kernel.subscribe(self._forget, [events.PartitionStateRemoved])
        kernel.subscribe(self._assigned, [events.ReplicasAssigned])
        kernel.subscribe(self._topic_gone, [events.TopicDeleted])

    def logs_of(self, tp: str) -> dict[int, Log]:
        """Each assigned broker's log of a partition."""
        logs: dict[int, Log] = {}
        for broker in self.assignments.get(tp, ()):
            disk = self.disks.get(broker)
            replica = None if disk is None else disk.get(tp)
            if replica is not None:
                logs[broker] = replica.log
        return logs

    def _log_of(self, tp: str, broker: int) -> Log | None:
        """An assigned broker's log of a partition; None if it has none."""
        if broker not in self.assignments.get(tp, ()) or broker not in self.disks:
            return None
        replica = self.disks[broker].get(tp)
        return None if replica is None else replica.log

    def _audit_of(self, tp: str) -> PartitionAudit:
        partition = self.state.partitions.get(tp)
        if partition is None:
            partition = self.state.partitions[tp] = PartitionAudit()
        return partition

    def _suspect(self, event: events.LogTruncated | events.LogDeleted) -> None:
        self.state.dirty[event.tp] = event.seq
        partition = self.state.partitions.get(event.tp)
        if partition is None or not partition.marks:
            return
        logs = self.logs_of(event.tp)
        if isinstance(event, events.LogDeleted):
            logs.pop(event.broker, None)
        cut = logs.get(event.broker, EMPTY)
        # While another log catches up with a mark of equal logs, rewritten batches are compared
        # with the mark's log.
        reached = max((log.end for log in logs.values()), default=0)
        partition.marks = [
            mark
            for mark in partition.marks
            if not cut.start and mark.offset <= (reached if mark.leader < 0 else cut.end)
        ]

    # ---- handling events

    def _acknowledged(self, event: events.ProduceAcknowledged) -> None:
        self.state.acked += event.count
        partition = self._audit_of(event.tp)
        if event.base_offset < 0:
            self._defer(event.tp, event.seq)
        elif not self._is_held(event.tp, partition.leader, event.base_offset, event.first_record):
            self.state.dirty[event.tp] = event.seq
        if partition.acked is NONE_ACKED:
            partition.acked = AckedList()
        partition.acked.append(Acked(event.first_record, event.count, event.base_offset))

    def _defer(self, tp: str, seq: int) -> None:
        if not self.state.deferred:
            self.state.due_us = self.kernel.now + DEFERRED_US
        self.state.deferred.setdefault(tp, seq)

    def _consumed(self, event: events.RecordsConsumed) -> None:
        partition = self._audit_of(event.tp)
        offset = event.offset
        if partition.consumed is NONE_ACKED:
            partition.consumed = AckedList()
        for first, count in event.runs:
            partition.consumed.append(Acked(first, count, offset))
            if not self._is_held(event.tp, partition.leader, offset, first):
                self.state.dirty[event.tp] = event.seq
            offset += count

    def _is_held(self, tp: str, leader: int, offset: int, record: int) -> bool:
        """Whether the leader's log has that record there: the report may be late."""
        log = self._log_of(tp, leader)
        batch = None if log is None else _batch_at(log, offset)
        return batch is not None and batch.first_record + offset - batch.base_offset == record

    def _retried(self, event: events.ProduceRetried) -> None:
        self._audit_of(event.tp).retried[event.first_record] = None

    def _led(self, event: events.PartitionStateChanged) -> None:
        partition = self.state.partitions.get(event.tp)
        if partition is None:
            self.state.partitions[event.tp] = PartitionAudit(event.leader)
        elif partition.leader != event.leader:
            partition.leader = event.leader
            if (
                partition.acked
                or partition.consumed
                or not partition.clean
                or self._has_gaps(event.tp, partition)
            ):
                self.state.dirty[event.tp] = event.seq

    def _has_gaps(self, tp: str, partition: PartitionAudit) -> bool:
        """Whether the leader's log lacks offsets whose records are not known."""
        log = None if not any(partition.committed) else self._log_of(tp, partition.leader)
        return log is not None and bool(_gaps(log, partition.committed))

    def _deleted(self, event: events.LogStartOffsetChanged) -> None:
        """Records deleted from the start of the leader's log do not count as lost."""
        partition = self._audit_of(event.tp)
        log = self._log_of(event.tp, event.broker)
        if event.broker != partition.leader or log is None:
            return
        for batch in log.batches:
            if batch.end_offset > event.log_start:
                break
            partition.deleted = max(partition.deleted, batch.first_record + batch.count)

    def _forget(self, event: events.PartitionStateRemoved) -> None:
        self.state.partitions.pop(event.tp, None)
        self.state.dirty.pop(event.tp, None)
        self.state.deferred.pop(event.tp, None)

    def _assigned(self, event: events.ReplicasAssigned) -> None:
        """Drop what was known, since a different set of logs is checked from now on."""
        partition = self.state.partitions.get(event.tp)
        if partition is not None:
            partition.marks = []

    def _topic_gone(self, event: events.TopicDeleted) -> None:
        """Reset a deleted topic, which may be re-created with other replicas."""
        for tp, partition in self.state.partitions.items():
            if tp.rpartition("-")[0] == event.topic:
                partition.marks = []

    def _appended(self, event: events.RecordsAppended) -> None:
        if event.first_record == NO_RECORDS:
            return
        partition = self._audit_of(event.tp)
        by_leader = event.broker == partition.leader
        differs = self._differs(event, partition)
        if (by_leader and event.first_record in partition.retried) or differs:
            self.state.dirty[event.tp] = event.seq
        elif by_leader and event.first_record <= partition.newest_missing:
            self._defer(event.tp, event.seq)

    def _differs(self, event: events.RecordsAppended, partition: PartitionAudit) -> bool:
        """Whether another log that reaches this offset differs there.

        Marks above the offset become invalid in that case, and also if only the batches differ.
        """
        differs = False
        base, count = event.base_offset, event.count
        for broker, log in self.logs_of(event.tp).items():
            if base >= log.end or broker == event.broker or base <= log.start - count:
                continue
            batch = _batch_at(log, base)
            if batch is None:
                differs = differs or base >= log.start  # what is there cannot be this record
            elif batch.first_record != event.first_record or batch.base_offset != base:
                differs = True
            elif batch.count == count:
                continue
            partition.marks = [mark for mark in partition.marks if mark.offset <= base]
        return differs

    # ---- checking

    def flush(self) -> None:
        """Check the suspicious partitions that are due and emit new findings."""
        if self.state.deferred and self.kernel.now >= self.state.due_us:
            self._take_deferred()
        dirty, self.state.dirty = self.state.dirty, {}
        for tp, seq in dirty.items():
            partition = self.state.partitions.get(tp)
            if partition is not None:
                self.state.deferred.pop(tp, None)
                self.kernel.cause = seq
                self._look(tp, partition)
        self.kernel.cause = 0

    def settle(self) -> None:
        """Check all suspicious partitions at once, at the end of a statement."""
        if self.state.dirty or self.state.deferred:
            self._take_deferred()
            self.flush()

    def _take_deferred(self) -> None:
        deferred, self.state.deferred = self.state.deferred, {}
        self.state.dirty = {**deferred, **self.state.dirty}

    def _look(self, tp: str, partition: PartitionAudit) -> None:
        mark = self.findings(tp, partition)
        now = (mark.lost, mark.duplicated, mark.diverged, mark.consumed_lost, mark.lost_offsets)
        before = (partition.lost, partition.duplicated, partition.diverged, partition.consumed_lost)
        if now != (*before, partition.lost_offsets):
            partition.lost, partition.duplicated, partition.diverged, partition.consumed_lost = now[
                :4
            ]
            partition.lost_offsets = mark.lost_offsets
            missing = (record for _, record in (*partition.lost, *partition.consumed_lost))
            partition.newest_missing = max(missing, default=-1)
            self.kernel.emit(events.AuditChanged, tp, *now)
        if mark.newest >= 0:
            partition.marks = [
                earlier for earlier in partition.marks if earlier.offset < mark.offset
            ]
            partition.marks.append(mark)
            if len(partition.marks) > MARKS:
                del partition.marks[1::2]

    def findings(self, tp: str, partition: PartitionAudit) -> Mark:
        """A partition's current findings: those of its latest mark and those since.

        Has no side effects and may be called at any time.
        """
        logs = self.logs_of(tp)
        leader = logs.get(partition.leader)
        marks = [
            mark
            for mark in (NOTHING, *partition.marks)
            if leader is None
            or (mark.offset <= leader.end and mark.leader in (-1, partition.leader))
        ]
        base = marks[-1]
        alike, diverged = _compared(list(logs.values()), base.offset)
        diverged = [pair for pair in base.diverged if pair[0] < base.offset] + diverged
        if leader is None:
            # Nobody has the records back: what was lost is lost until a leader's log has it.
            return Mark(
                lost=partition.lost,
                duplicated=partition.duplicated,
                diverged=diverged,
                consumed_lost=partition.consumed_lost,
                lost_offsets=partition.lost_offsets,
            )
        batches = _since(leader, base.offset)
        newest = max((batch.first_record + batch.count - 1 for batch in batches), default=-1)
        acked = _suspects(partition.acked[base.acked :], leader, partition.deleted)
        consumed = _suspects(partition.consumed[base.consumed :], leader, partition.deleted)
        in_question: list[RecordBatch | Acked] = [*batches, *acked, *consumed]
        oldest = min((batch.first_record for batch in in_question), default=base.newest + 1)
        if oldest <= base.newest:
            # Other copies may be below the mark, but only where there are record ids this large.
            without = max(mark.offset for mark in marks if mark.newest < oldest)
            batches = _since(leader, without)
        ids = _ids(batches)
        return Mark(
            leader.end,
            -1 if alike and base.leader < 0 else partition.leader,
            max(base.newest, newest),
            len(partition.acked),
            len(partition.consumed),
            _missing([*_one_by_one(base.lost), *acked], ids),
            base.duplicated + [pair for pair in _duplicated(batches) if pair[0] >= base.offset],
            diverged,
            _missing([*_one_by_one(base.consumed_lost), *consumed], ids),
            _gaps(leader, partition.committed),
        )

    # ---- queries

    def count(self, what: str) -> int:
        """Count the records that are currently ``acked``, ``lost``, ``duplicated`` and so on.

        ``lost`` counts offsets too whose records are not known.
        """
        if what == "acked":
            return self.state.acked
        suspected = (*self.state.dirty, *self.state.deferred)
        count = 0
        for tp, partition in self.state.partitions.items():
            source = self.findings(tp, partition) if tp in suspected else partition
            count += len(getattr(source, what))
            if what == "lost":
                count += sum(end - begin for begin, end in source.lost_offsets)
        return count


def _gaps(log: Log, committed: tuple[int, int]) -> Ranges:
    """The committed offsets that a log does not have, unless retention has deleted them there.

    A record that is known stands in the place of another that is not.
    """
    begin, end = max(committed[0], log.start), committed[1]
    gaps: Ranges = []
    for batch in log.read(begin, min(end, log.end)):
        if batch.is_empty:
            if batch.base_offset > begin:
                gaps.append((begin, batch.base_offset))
            begin = max(begin, batch.end_offset)
    if begin < end:
        gaps.append((begin, end))
    return gaps


def _since(log: Log, offset: int) -> list[RecordBatch]:
    """The batches with records of a log that extend beyond an offset."""
    batches = log.read(max(offset, log.start), log.end)
    if log.batches and log.batches[0].is_empty:
        return [batch for batch in batches if not batch.is_empty]
    return batches


def _batch_at(log: Log, offset: int) -> RecordBatch | None:
    """The batch that contains the record at an offset, usually the last; None without record."""
    if not log.start <= offset < log.end:
        return None
    batch = log.batches[-1]
    if batch.base_offset > offset:
        batch = log.batches[log.position(offset)]
    return None if batch.first_record == NO_RECORDS else batch


def _is_in_place(acked: Acked, log: Log) -> bool:
    """Whether a log has the records at the offset reported to their producer or consumer."""
    batch = _batch_at(log, acked.base_offset)
    return (
        batch is not None
        and batch.first_record - batch.base_offset == acked.first_record - acked.base_offset
        and batch.end_offset >= acked.base_offset + acked.count
    )


def _suspects(acked: Iterable[Acked], log: Log, deleted: int) -> list[Acked]:
    """Batches that a log does not have where it should, unless deleted intentionally."""
    return [
        batch
        for batch in acked
        if batch.first_record + batch.count > deleted and not _is_in_place(batch, log)
    ]


def _one_by_one(records: OffsetRecords) -> Iterable[Acked]:
    return (Acked(record, 1, offset) for offset, record in records)


def _ids(batches: Iterable[RecordBatch]) -> dict[int, int]:
    """Map first record ids to the number of records (the larger if there are two batches)."""
    counts: dict[int, int] = {}
    for batch in batches:
        counts[batch.first_record] = max(batch.count, counts.get(batch.first_record, 0))
    return counts


def _missing(batches: Iterable[Acked], ids: dict[int, int]) -> OffsetRecords:
    """The records of ``batches`` that are not among ``ids``."""
    missing: OffsetRecords = []
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


def _duplicated(batches: Iterable[RecordBatch]) -> OffsetRecords:
    """Extra copies of a record."""
    counts: dict[int, int] = {}
    extra: OffsetRecords = []
    for batch in batches:
        count_before = counts.get(batch.first_record, 0)
        for i in range(min(count_before, batch.count)):
            extra.append((batch.base_offset + i, batch.first_record + i))
        counts[batch.first_record] = max(count_before, batch.count)
    return extra


def _compared(logs: list[Log], begin: int) -> tuple[bool, OffsetRecords]:
    """Whether all logs are equal from an offset on, batch by batch, as far as they reach.

    Also returns the offsets at which two logs differ, with the first log's record.
    """
    alike, differing = True, dict[int, int]()
    since = [(log, _since(log, begin)) for log in logs]
    for (first, batches), (second, others) in combinations(since, 2):
        start, end = max(begin, first.start, second.start), min(first.end, second.end)
        if first.start == second.start and (start >= end or _same(batches, others, end)):
            continue
        alike = False
        records = _by_offset(batches, start, end)
        other_records = _by_offset(others, start, end)
        for offset in sorted(records.keys() | other_records.keys()):
            if records.get(offset) != other_records.get(offset):
                differing[offset] = records.get(offset, -1)
    return alike, sorted(differing.items())


def _same(first: Iterable[RecordBatch], second: Iterable[RecordBatch], end: int) -> bool:
    """Whether two logs with the same start are equal, batch by batch, below ``end``."""
    for a, b in zip_longest(first, second):
        if a is b:
            continue
        if (a is None or a.base_offset >= end) and (b is None or b.base_offset >= end):
            return True
        if a is None or b is None:
            return False
        if a.first_record != b.first_record or a.base_offset != b.base_offset or a.count != b.count:
            return False
    return True


def _by_offset(batches: Iterable[RecordBatch], start: int, end: int) -> dict[int, int]:
    return {
        batch.base_offset + i: batch.first_record + i
        for batch in batches
        for i in range(batch.count)
        if start <= batch.base_offset + i < end
    }
