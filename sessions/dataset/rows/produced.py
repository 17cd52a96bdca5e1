"""Rows for ``produced``: the outcome of each record that a producer sent.

Logs are tracked as runs of consecutive records, and only above the HW; a batch is held until it is
both acknowledged and committed. So memory use depends on what is in flight, not on the length of
the session.
"""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from emulator.events import (
    Event,
    HighWatermarkChanged,
    LogDeleted,
    LogLoaded,
    LogTruncated,
    ProduceAcknowledged,
    ProduceFailed,
    ProduceRetried,
    ProduceSent,
    RecordsAppended,
    ReplicaRoleChanged,
)
from sessions.dataset.rows.acknowledged import outcome_of
from sessions.dataset.writer import Row

FORGOTTEN_MAX: Final = 4_096
"""Number of closed batches in the list at which it is rebuilt."""

Run = tuple[int, int, int]
"""Consecutive records in a log: base offset, the offset after the last one, id of the first."""
Ids = tuple[int, int]
"""Consecutive record ids: the first, and the one after the last."""


class Batch:
    """A batch in flight: what its rows need, and which of its records are above the HW."""

    __slots__ = (
        "answered",
        "appended",
        "commits",
        "end",
        "error",
        "first",
        "offset",
        "outcome",
        "retries",
        "sent",
        "uncommitted",
    )

    def __init__(self, sent: ProduceSent) -> None:
        self.sent = sent
        self.first = sent.first_record
        self.end = sent.first_record + len(sent.values)
        self.retries = 0
        self.outcome = "pending"
        self.error = "NONE"
        self.offset: int | None = None
        self.appended: Event | None = None
        self.answered: Event | None = None
        self.uncommitted: list[Ids] = [(self.first, self.end)]
        self.commits: list[tuple[Ids, Event | None]] = []

    def commit(self, first: int, end: int, event: Event) -> None:
        """Note that a leader's HW passed the records from ``first`` up to, excluding, ``end``."""
        if first <= self.first and end >= self.end and not self.commits:
            self.commits.append(((self.first, self.end), event))
            self.uncommitted = []
            return
        remaining: list[Ids] = []
        for low, high in self.uncommitted:
            start, stop = max(low, first), min(high, end)
            if start >= stop:
                remaining.append((low, high))
                continue
            self.commits.append(((start, stop), event))
            remaining.extend(ids for ids in ((low, start), (stop, high)) if ids[0] < ids[1])
        self.uncommitted = remaining

    def rows(self) -> Iterator[Row]:
        """Return a run for each range of records that were committed together."""
        sent, appended, answered = self.sent, self.appended, self.answered
        for (first, end), committed in self.commits:
            low, high = first - self.first, end - self.first
            yield (
                first,
                sent.producer,
                sent.tp,
                sent.keys[low:high],
                sent.values[low:high],
                sent.acks,
                sent.seq,
                sent.time_us,
                self.retries,
                appended and appended.seq,
                appended and appended.time_us,
                None if self.offset is None else self.offset + low,
                self.outcome,
                self.error,
                answered and answered.seq,
                answered and answered.time_us,
                committed and committed.seq,
                committed and committed.time_us,
                end - first,
            )


class Log:
    """A replica's records above its HW; ``passed`` is below it, but not yet below a leader's HW."""

    __slots__ = ("leads", "passed", "runs")

    def __init__(self) -> None:
        self.leads = False
        self.runs: deque[Run] = deque()
        self.passed: list[Run] = []

    def pass_to(self, high_watermark: int) -> list[Run]:
        """Remove and return the runs below the HW."""
        runs, committed = self.runs, []
        while runs and runs[0][0] < high_watermark:
            run = runs.popleft()
            base, end, first = run
            if end > high_watermark:
                runs.appendleft((high_watermark, end, first + high_watermark - base))
                run = (base, high_watermark, first)
            committed.append(run)
        return committed

    def cut(self, log_end_offset: int) -> None:
        """Truncate the log to ``log_end_offset``."""
        for runs in (self.runs, self.passed):
            while runs and runs[-1][1] > log_end_offset:
                base, _, first = runs.pop()
                if base < log_end_offset:
                    runs.append((base, log_end_offset, first))


class RecordFold:
    """Folds events into runs of ``produced`` rows; passes each to ``add`` once it is final."""

    def __init__(self, add: Callable[[Row], object]) -> None:
        self._add = add
        self._open: dict[int, Batch] = {}
        self._firsts: list[int] = []
        self._logs: defaultdict[tuple[str, int], Log] = defaultdict(Log)

    def handlers(self) -> dict[type[Event], Callable[[Any], None]]:
        return {
            ProduceSent: self._sent,
            ProduceRetried: self._retried,
            ProduceAcknowledged: self._acknowledged,
            ProduceFailed: self._failed,
            RecordsAppended: self._appended,
            HighWatermarkChanged: self._high_watermark_changed,
            ReplicaRoleChanged: self._role_changed,
            LogTruncated: self._cut,
            LogLoaded: self._cut,
            LogDeleted: self._deleted,
        }

    def finish(self) -> None:
        """End the session: emit the batches that are still in flight."""
        for batch in self._open.values():
            batch.commits.extend((ids, None) for ids in batch.uncommitted)
            for row in batch.rows():
                self._add(row)
        self._open.clear()

    # ---- batches

    def _between(self, first: int, end: int) -> list[Batch]:
        """Return the open batches with records from ``first`` up to, excluding, ``end``."""
        if not self._open:
            return []
        exact = self._open.get(first)
        if exact is not None and exact.end >= end:
            return [exact]
        firsts, batches = self._firsts, []
        at = max(0, bisect_right(firsts, first) - 1)
        while at < len(firsts) and firsts[at] < end:
            batch = self._open.get(firsts[at])
            if batch is not None and batch.end > first:
                batches.append(batch)
            at += 1
        return batches

    def _commit(self, run: Run, event: Event) -> None:
        base, stop, first = run
        for batch in self._between(first, first + stop - base):
            batch.commit(first, first + stop - base, event)
            self._close_if_done(batch)

    def _awaits(self, run: Run) -> bool:
        """Return whether an open batch with uncommitted records has one of these records."""
        base, stop, first = run
        return any(batch.uncommitted for batch in self._between(first, first + stop - base))

    def _close_if_done(self, batch: Batch) -> None:
        if batch.answered is None or batch.uncommitted:
            return
        for row in batch.rows():
            self._add(row)
        del self._open[batch.first]
        if len(self._firsts) > FORGOTTEN_MAX + 2 * len(self._open):
            self._firsts = sorted(self._open)

    # ---- producers

    def _sent(self, event: ProduceSent) -> None:
        if self._firsts and event.first_record < self._firsts[-1]:
            self._firsts.insert(bisect_right(self._firsts, event.first_record), event.first_record)
        else:
            self._firsts.append(event.first_record)
        self._open[event.first_record] = Batch(event)

    def _retried(self, event: ProduceRetried) -> None:
        batch = self._open.get(event.first_record)
        if batch is not None:
            batch.retries += 1

    def _acknowledged(self, event: ProduceAcknowledged) -> None:
        batch = self._open.get(event.first_record)
        if batch is not None:
            batch.outcome = outcome_of(batch.sent.acks)
            batch.answered = event
            if event.base_offset >= 0:
                batch.offset = event.base_offset
            self._close_if_done(batch)

    def _failed(self, event: ProduceFailed) -> None:
        batch = self._open.get(event.first_record)
        if batch is not None:
            batch.outcome, batch.error, batch.answered = "failed", event.error, event
            self._close_if_done(batch)

    # ---- logs

    def _appended(self, event: RecordsAppended) -> None:
        log = self._logs[event.tp, event.broker]
        end = event.base_offset + event.count
        log.runs.append((event.base_offset, end, event.first_record))
        if not log.leads:
            return
        for batch in self._between(event.first_record, event.first_record + event.count):
            if batch.appended is None:
                batch.appended = event
            if batch.offset is None:
                batch.offset = event.base_offset + batch.first - event.first_record

    def _high_watermark_changed(self, event: HighWatermarkChanged) -> None:
        log = self._logs[event.tp, event.broker]
        for run in log.pass_to(event.high_watermark):
            if log.leads:
                self._commit(run, event)
            elif self._awaits(run):
                log.passed.append(run)

    def _role_changed(self, event: ReplicaRoleChanged) -> None:
        log = self._logs[event.tp, event.broker]
        log.leads = event.role == "leader"
        if log.leads:
            for run in log.passed:
                self._commit(run, event)
            log.passed.clear()

    def _cut(self, event: LogTruncated | LogLoaded) -> None:
        self._logs[event.tp, event.broker].cut(event.log_end_offset)

    def _deleted(self, event: LogDeleted) -> None:
        self._logs.pop((event.tp, event.broker), None)
