"""One pass over a history: its events, its timeline, and what no rule explains."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from msgspec import Struct, field

from emulator.events import Event
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.metadata_version import LEVELS, METADATA_VERSION, name_of
from emulator.wire.metadata.batches import MetadataBatch
from emulator.wire.metadata.messages import NoOpRecord, RegisterBrokerRecord
from emulator.wire.types import Message
from sessions.own_cluster.places import Place
from sessions.own_cluster.reading import FormatError, SourceError
from sessions.postmortem.events import (
    US_PER_MS,
    Applied,
    HistoryEvents,
    WallClockEvents,
    plain_record,
)
from sessions.postmortem.impact import Impact
from sessions.postmortem.log_files import EXPECTED, copies_of, is_text_log
from sessions.postmortem.merging import MergedLog
from sessions.postmortem.processes import Processes
from sessions.postmortem.text_logs.log_line import LogLine
from sessions.postmortem.text_logs.merging import TextLogs, find_text_logs
from sessions.postmortem.timeline import Timeline, TimelineEntry
from sessions.postmortem.transactions import Transactions
from sessions.postmortem.witnesses import FOREVER_US, Lines, Witnesses
from sessions.text import clean, natural_list, plural

LOOKED_AT: Final = 20_000
"""How many batches are searched for the release of the brokers."""
OLDEST: Final = "3.3"
"""The release of a cluster whose brokers do not tell: the first one with KRaft in production."""
UNEXPLAINED_MAX: Final = 10_000
"""How many unexplained records are told."""
PROGRESS_EVERY: Final = 1_024
SET_BACK_US: Final = 100_000
"""Clocks that differ by less are not told."""

Progress = Callable[[int], object]


class Explanation(Protocol):
    """Records that follow each other, and why a rule permits them, or why none does."""

    @property
    def offset(self) -> int:
        """The offset of the first record."""

    @property
    def messages(self) -> Sequence[Message]:
        """The records as they stand in the log."""

    @property
    def because(self) -> str:
        """The cause, or why there is no rule, as a phrase."""

    @property
    def is_explained(self) -> bool:
        """Whether a rule permits them."""


class Rules(Protocol):
    """The rules of a release, asked about the batches of a log in their order."""

    def feed(self, batch: MetadataBatch) -> Iterable[Explanation]:
        """Explain what can be explained with this batch."""

    def end(self) -> Iterable[Explanation]:
        """Explain the rest: there are no further batches."""


class Unexplained(Struct, frozen=True):
    """A record that no rule of the release permits, and why not."""

    offset: int
    kind: str
    record: dict[str, Any]
    why: str


class Incident(Struct):
    """A history that was read, as it is at its end or at the place that was asked for.

    ``records`` and ``batches`` count those of the log. ``begin_us`` and ``end_us`` are wall-clock
    times. ``nodes`` are all brokers and controllers that ever took part, ``controllers`` those in
    KRaft mode. ``is_checked``: rules were asked about each record. ``is_of_lines``: there are only
    text logs, whose lines are counted as records and batches.
    """

    release: str
    image: MetadataImage
    timeline: Timeline
    impact: Impact
    nodes: list[int]
    begin_us: int
    end_us: int
    records: int = 0
    batches: int = 0
    mode: str = "kraft"
    is_checked: bool = False
    unexplained: list[Unexplained] = field(default_factory=list)
    unexplained_count: int = 0
    notes: list[str] = field(default_factory=list)
    controllers: tuple[int, ...] = ()
    is_of_lines: bool = False
    processes: Processes = field(default_factory=Processes)


def read_paths(paths: Sequence[str]) -> MergedLog:
    """Return the log of which the paths have copies.

    Raises:
        SourceError: there is none, or none that is not damaged from its beginning on.
    """
    return read_sources(paths)[0]


def read_sources(paths: Sequence[str], zone: tzinfo = UTC) -> tuple[MergedLog, TextLogs]:
    """Return the log of which the paths have copies, and the text logs that are in them.

    ``zone`` is that of times in text logs that do not say theirs.

    Raises:
        SourceError: there is no metadata log, or none that is not damaged from its beginning on,
            or a file is neither of both.
    """
    copies = copies_of(paths)
    texts = [Path(path) for path in paths if Path(path).is_dir() or is_text_log(Path(path), path)]
    if not copies:
        names = natural_list(map(clean, paths))
        raise SourceError(f"{names}: no metadata log is in it; {EXPECTED}")
    return MergedLog(copies), find_text_logs(texts, zone)


def examine(
    log: MergedLog,
    observers: Sequence[Callable[[Event], None]] = (),
    *,
    lines: TextLogs | None = None,
    rules: Rules | None = None,
    until: Place | None = None,
    progress: Progress | None = None,
    only_events: bool = False,
) -> Incident:
    """Read a history once; ``observers`` receive its events.

    ``lines`` are the text logs of its nodes. ``rules`` are asked about each batch. ``progress`` is
    called with the number of records. With ``only_events`` nothing else is made of it: timeline and
    impact remain empty.

    Raises:
        SourceError: there is no record in it.
    """
    examination = _Examination(log, observers, lines, rules, until, progress)
    examination.only_events = only_events
    return examination.run()


def release_of(log: MergedLog, lines: TextLogs | None = None) -> str:
    """Return the release of the brokers, from the highest metadata version that they support.

    The beginnings of text logs tell its patch number.
    """
    return Processes.at_the_beginning(lines).release(_release_of(log), is_exact=True)


def _release_of(log: MergedLog) -> str:
    levels = (
        feature.max_supported_version
        for batches in (log.snapshot_batches(), log.batches())
        for batch in islice(batches, LOOKED_AT)
        for record in batch.records
        if isinstance(record, RegisterBrokerRecord)
        for feature in record.features
        if feature.name == METADATA_VERSION
    )
    highest = max(levels, default=0)
    return name_of(min(highest, len(LEVELS))).split("-")[0] if highest > 0 else OLDEST


def begin_of(log: MergedLog, lines: TextLogs | None = None) -> int:
    """Return the time of the first batch or line, in microseconds since 1970 UTC.

    Raises:
        SourceError: there is none.
    """
    first_batch = next((batch for batch in _all_batches(log) if batch.records), None)
    if first_batch is None:
        reasons = "; ".join(log.notes) or f"it has no record; {EXPECTED}"
        raise SourceError(f"{clean(log.first.name)}: {reasons}")
    begins = [file.first_us for file in lines.files] if lines is not None else []
    return min([first_batch.timestamp * US_PER_MS, *begins])


def _all_batches(log: MergedLog) -> Iterator[MetadataBatch]:
    yield from log.snapshot_batches()
    yield from log.batches()


class Examination:
    """Reads a history once.

    ``history`` emits its events, ``lines`` are the text logs of its nodes, ``until`` is the place
    where it ends, and ``progress`` is called with the number of records read so far. A subclass
    says in ``unit`` what is read at once.
    """

    unit: ClassVar[str]

    def __init__(
        self,
        incident: Incident,
        history: WallClockEvents,
        lines: TextLogs | None,
        until: Place | None,
        progress: Progress | None,
    ) -> None:
        """Fill ``incident``, which knows only the beginning yet."""
        self.incident = incident
        self.history = history
        self.text_logs = lines
        self.until = until or Place()
        self.lines = Lines(() if lines is None else lines.entries())
        self.witnesses = Witnesses()
        self.only_events = False
        self._progress = progress
        self._reported = 0

    def count(self, records: int, batches: int = 1) -> None:
        incident = self.incident
        incident.records += records
        incident.batches += batches
        if self._progress is not None and incident.records >= self._reported + PROGRESS_EVERY:
            self._reported = incident.records
            self._progress(incident.records)

    def take(self, applied: Applied, because: Mapping[int, str]) -> None:
        """Add what a batch did to the timeline and to the impact."""
        self.incident.timeline.take(applied, because)
        self.incident.impact.take(applied, self.incident.image, because)

    def note_until(self, time_us: int) -> None:
        """Take the lines of text logs up to a time."""
        incident = self.incident
        for line in self.lines.until(time_us):
            seq = self.history.note(line, self.witnesses.cause_of(line))
            self.witnesses.add(seq, line)
            if self.only_events:
                continue
            self.take_line(line, seq)
            incident.timeline.note(line)
            incident.impact.note(line)
            incident.processes.note(line)

    def note_rest(self) -> None:
        """Take the lines after the last batch, unless the history ends at an offset."""
        if self.until.offset is None:
            self.note_until(FOREVER_US if self.until.time_us is None else self.until.time_us)

    def take_line(self, line: LogLine, seq: int) -> None:
        """Do more with a line, whose event has the number ``seq``; here nothing."""

    def end(self, notes: Iterable[str]) -> None:
        """Complete the incident, with these notes first."""
        incident = self.incident
        incident.timeline.end()
        incident.end_us = self.history.now_us
        incident.notes += [*notes, *incident.processes.remarks()]
        if self.history.set_back_us > SET_BACK_US:
            incident.notes.append(
                f"the clock goes back by up to {self.history.set_back_us / 1e6:.3f} s from one "
                f"{self.unit} to the next: the later one is shown at the time of the earlier one"
            )
        if self.text_logs is not None:
            incident.notes += self.text_logs.remarks()
        if incident.timeline.left_out:
            count = len(incident.timeline.entries)
            incident.notes.append(f"the timeline ends after {count:,} entries")


class _Examination(Examination):
    unit = "batch"
    history: HistoryEvents

    def __init__(
        self,
        log: MergedLog,
        observers: Sequence[Callable[[Event], None]],
        lines: TextLogs | None,
        rules: Rules | None,
        until: Place | None,
        progress: Progress | None,
    ) -> None:
        self.log = log
        self.rules = rules
        self.transactions = Transactions()
        self.because: dict[int, str] = {}
        self._unexplained_later: deque[Unexplained] = deque()
        self._release, begin_us = _release_of(log), begin_of(log, lines)
        release = Processes.at_the_beginning(lines).release(self._release, is_exact=True)
        history = HistoryEvents(observers, begin_us, release)
        incident = Incident(release, history.image, Timeline(), Impact(), [], begin_us, begin_us)
        incident.is_checked = rules is not None
        super().__init__(incident, history, lines, until, progress)

    def run(self) -> Incident:
        incident, history = self.incident, self.history
        self._read_batches()
        incident.nodes = sorted({*history.brokers, *history.controllers})
        incident.controllers = tuple(sorted(history.controllers))
        incident.release = incident.processes.release(self._release, is_exact=True)
        self.end([*self.log.notes, *self._notes()])
        if not incident.nodes:
            reasons = "; ".join(incident.notes) or "it names no node"
            raise SourceError(f"{clean(self.log.first.name)}: {reasons}")
        return incident

    def _stream(self) -> Iterator[tuple[MetadataBatch, bool]]:
        """The batches that take effect, and whether they are of the snapshot at the beginning."""
        for batch in self.log.snapshot_batches():
            if self.rules is not None:
                self._keep_causes(self.rules.feed(batch))
            if not batch.is_control:
                yield batch, True
        resolved = self.transactions.resolve(self._counted())
        yield from ((batch, False) for batch in resolved)

    def _counted(self) -> Iterator[MetadataBatch]:
        is_limited = self.until != Place()
        for batch in self.log.batches(joins_idle=not is_limited):
            if is_limited and self.until.is_before(batch.base_offset, batch.timestamp * US_PER_MS):
                return
            self.count(len(batch.records), batch.batches)
            if self.rules is not None:
                self._keep_causes(self.rules.feed(batch))
            yield batch
        if self.rules is not None:
            self._keep_causes(self.rules.end())

    def _read_batches(self) -> None:
        history = self.history
        try:
            for batch, is_snapshot in self._stream():
                time_us = batch.timestamp * US_PER_MS
                if self.lines.next_us <= time_us:
                    self.note_until(time_us)
                if batch.is_idle:
                    history.skip(batch)
                    continue
                applied = history.take(batch, self.witnesses, is_snapshot=is_snapshot)
                if not self.only_events:
                    self.take(applied, self.because)
                    self._add_unexplained(applied)
        except FormatError as error:
            self.incident.notes.append(f"the log {error}; what is before that was read")
        self.note_rest()

    # ---- the rules

    def _keep_causes(self, explanations: Iterable[Explanation]) -> None:
        """Keep the causes until their records are applied, and what no rule explains."""
        for explanation in explanations:
            if explanation.is_explained:
                if isinstance(explanation.messages[0], NoOpRecord):
                    continue  # nobody asks why nothing was written
                for place in range(len(explanation.messages)):
                    self.because[explanation.offset + place] = explanation.because
                continue
            self.incident.unexplained_count += 1
            if len(self.incident.unexplained) < UNEXPLAINED_MAX:
                kind = type(explanation.messages[0]).__name__.removesuffix("Record")
                record = plain_record(explanation.messages[0])
                unexplained = Unexplained(explanation.offset, kind, record, explanation.because)
                self.incident.unexplained.append(unexplained)
                self._unexplained_later.append(unexplained)

    def _add_unexplained(self, applied: Applied) -> None:
        """Forget causes that were told, and tell what nothing explains."""
        end = applied.batch.base_offset + len(applied.records)
        for offset in [offset for offset in self.because if offset < end]:
            del self.because[offset]
        while self._unexplained_later and self._unexplained_later[0].offset < end:
            unexplained = self._unexplained_later.popleft()
            why, offset = unexplained.why, unexplained.offset
            source = f"__cluster_metadata offset {offset}"
            sentence = f"a {unexplained.kind} record that no rule of the release explains"
            fields = (applied.time_us, "unexplained", sentence, why, source, offset)
            self.incident.timeline.add(TimelineEntry(*fields))

    def _notes(self) -> Iterator[str]:
        transactions = self.transactions
        if transactions.open:
            count = plural(transactions.open, "record")
            yield f"a metadata transaction of {count} has no end yet and is left out"
        if transactions.aborted:
            count = plural(transactions.aborted, "record")
            yield f"{count} of aborted metadata transactions are left out"
        unknown = self.history.facts.unknown
        if unknown:
            (offset, cause), count = unknown[0], plural(len(unknown), "record")
            yield (
                f"{count} left out, because no record before them created what they refer to: the "
                f"first one, at offset {offset:,}, is about {cause}"
            )
