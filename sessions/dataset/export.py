"""Export: stream the events of sessions into the dataset.

:class:`SessionRows` makes the rows of one session; :class:`RowsWriter` writes the rows of
one session after another to the files of one commit.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from emulator.events import Event
from sessions.dataset.layout import Dataset, DatasetError, require_session_id
from sessions.dataset.location import Location
from sessions.dataset.rows.client_requests import ClientRequestFold
from sessions.dataset.rows.events import EventRows, Spans
from sessions.dataset.rows.produced import RecordFold
from sessions.dataset.rows.record_runs import portions, runs_to_table
from sessions.dataset.rows.sessions import SessionFacts, Totals
from sessions.dataset.rows.single_events import FACTS, ConsumedFold, RequestFold
from sessions.dataset.rows.state_fold import StateFold
from sessions.dataset.schema import Table
from sessions.dataset.tables import BY_NAME, CONSUMED, EVENTS, PRODUCED, RUNS, SESSIONS
from sessions.dataset.writer import Row, TableWriter, WriterThread, rows_to_table
from sessions.format.codec import Unpacked
from sessions.garbage_collection import collector_paused

Handler = Callable[[Any], None]
Progress = Callable[[int], object]
"""Called with the number of events exported so far."""

INSTALL: Final = "install it with: pip install 'tidegauge[spark]'"

ALLOCATOR: Final = ("ARROW_DEFAULT_MEMORY_POOL", "system")
"""Arrow reads this when it is imported. Its own allocator uses a fifth more memory here, and keeps
returning and requesting it."""

BLOCK_EVENTS: Final = 8_192
"""Number of events that are read at a time."""
OF_RECORDS: Final = frozenset({PRODUCED.name, CONSUMED.name})
"""Tables whose folds produce runs of records."""
ROWS_WAITING: Final = 4_096
"""Number of rows, or of runs of records, that become Arrow columns at once.

Fewer make the fixed cost of a conversion count, more have left the processor's cache by then."""
EVENTS_WAITING: Final = 32_768
"""Number of events that are collected before they are passed on, by type."""


class Fold(Protocol):
    """Makes rows from events, which it receives in order."""

    def handlers(self) -> dict[type[Event], Handler]: ...

    def finish(self) -> None: ...


FOLDS: Final[tuple[tuple[tuple[str, ...], Callable[..., Fold]], ...]] = (
    (("partition_states", "replica_states"), StateFold),
    ((PRODUCED.name,), RecordFold),
    ((CONSUMED.name,), ConsumedFold),
    (("requests",), RequestFold),
    (("client_requests",), ClientRequestFold),
)
"""The tables whose rows need more than one event, and what makes these rows."""


class ExportReport(Struct, frozen=True):
    """What an export wrote: the rows of each table, and the bytes of all files."""

    session: str
    events: int
    rows: dict[str, int]
    size_bytes: int


def export_session(
    events: Iterable[Event],
    facts: SessionFacts,
    dataset: "str | Path | Location",
    progress: Progress | None = None,
    ended: Callable[[], SessionFacts] | None = None,
) -> ExportReport:
    """Add a session to the dataset, in bounded memory; create the dataset if necessary.

    ``events`` is read once, in order. ``ended`` is called after that and returns the facts again
    (with the same id), for a session whose final state is known only then. Readers see the session
    once all of it is written; if the export fails or is interrupted, they see nothing of it.

    Raises:
        DatasetError: the dataset cannot be written.
    """
    require_arrow()
    require_session_id(facts.id)
    into = Dataset(dataset)
    into.require_new((facts.id,))
    with into.staging() as staging, RowsWriter(staging.path, staging.id) as writer:
        rows = SessionRows(facts.id)
        source = iter(events)
        while block := _block(source):
            rows.add(block)
            writer.take(rows)
            if progress is not None:
                progress(rows.events)
        rows.finish(facts if ended is None else ended())
        writer.take(rows)
        writer.finish()
        commit = staging.commit([facts.id], rows.events)
        assert commit is not None
        return ExportReport(facts.id, rows.events, writer.rows, commit.size_bytes)


def _block(source: Iterator[Event]) -> list[Event]:
    with collector_paused():
        return list(islice(source, BLOCK_EVENTS))


def require_arrow() -> None:
    """Import PyArrow with the memory allocator that suits an export.

    Raises:
        DatasetError: PyArrow is not installed; the message says how to install it.
    """
    if find_spec("pyarrow") is None:
        raise DatasetError(f"exporting needs PyArrow; {INSTALL}")
    os.environ.setdefault(*ALLOCATOR)


class SessionRows:
    """Makes the rows of one session from its events, which it receives in order.

    ``columns`` are the types of events that a block must contain (None: all).
    """

    def __init__(self, session: str, names: Collection[str] = BY_NAME) -> None:
        """Make the rows of the tables with these names."""
        self.session = session
        self.events = 0
        self.rows: dict[str, list[Row]] = {name: [] for name in names if name != EVENTS.name}
        self.waiting: list[list[Event] | Unpacked] | None = [] if EVENTS.name in names else None
        self._last = (0, 0)
        self._totals = Totals() if SESSIONS.name in names else None
        self._folds = [
            make(*(self.rows[name].append for name in tables))
            for tables, make in FOLDS
            if self.rows.keys() >= set(tables)
        ]
        self._handlers = self._gather_handlers()
        self.columns = None if EVENTS.name in names else self._handlers.keys()

    def _gather_handlers(self) -> dict[type[Event], tuple[Handler, ...]]:
        """Return the handlers of each type of event."""
        handlers: dict[type[Event], tuple[Handler, ...]] = {}
        folds = [fold.handlers() for fold in self._folds]
        if self._totals is not None:
            folds += [self._totals.handlers(), self._totals.leaderless.handlers()]
        for of in folds:
            for type_, handler in of.items():
                handlers[type_] = (*handlers.get(type_, ()), handler)
        for type_, (table, make) in FACTS.items():
            if table in self.rows:
                adder = _row_adder(self.rows[table], make)
                handlers[type_] = (*handlers.get(type_, ()), adder)
        return handlers

    def add(self, events: list[Event]) -> None:
        """Add consecutive events (one or more)."""
        self._fold(events, len(events), events[-1].seq, events[-1].time_us)
        if self.waiting is not None:
            self.waiting.append(events)

    def add_block(self, block: Unpacked) -> None:
        """Add the events of a block, which has at least the types in ``columns``."""
        events = block.events(self._handlers.keys())
        self._fold(events, len(block.times), block.last_seq, block.times[-1])
        if self.waiting is not None:
            self.waiting.append(block)

    def _fold(self, events: list[Event], count: int, last_seq: int, last_us: int) -> None:
        self.events += count
        self._last = (last_seq, last_us)
        handlers, nobody = self._handlers, ()
        with collector_paused():
            for event in events:
                for handle in handlers.get(type(event), nobody):
                    handle(event)

    def finish(self, facts: SessionFacts) -> None:
        """Make the remaining rows and, if ``sessions`` is one of the tables, the session's row."""
        for fold in self._folds:
            fold.finish()
        if self._totals is not None:
            row = self._totals.row(facts, self.events, *self._last)
            self.rows[SESSIONS.name].append(row)


class RowsWriter:
    """Writes the files of one commit, or of some of its tables: ``folder/TABLE/NAME-*.parquet``.

    Memory is bounded by a few row groups for each table.
    """

    def __init__(self, folder: Path, name: str, names: Collection[str] = BY_NAME) -> None:
        self._thread = WriterThread()
        self._writers = {
            table: TableWriter(_table(table), folder / table, name, self._thread) for table in names
        }
        self._rows: dict[str, list[Row]] = {table: [] for table in names}
        self._spans: dict[str, Spans] = {table: [] for table in names}
        self._events = EventRows()

    def __enter__(self) -> "RowsWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.stop()
        for writer in self._writers.values():
            with contextlib.suppress(OSError):
                writer.abandon()

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table, once all are written."""
        return {name: writer.rows for name, writer in self._writers.items()}

    def take(self, made: SessionRows) -> None:
        """Take the rows that have been made of a session so far."""
        for name, rows in made.rows.items():
            self.add(name, made.session, rows)
            rows.clear()
        if made.waiting is None:
            return
        for events in made.waiting:
            if isinstance(events, Unpacked):
                self._events.add_block(made.session, events)
            else:
                self._events.add(made.session, events)
            if self._events.count >= EVENTS_WAITING:
                self._writers[EVENTS.name].add(self._events.take())
        made.waiting.clear()

    def add(self, name: str, session: str, rows: list[Row]) -> None:
        """Add rows of a table that belong to one session."""
        if not rows:
            return
        waiting = self._rows[name]
        waiting.extend(rows)
        self._spans[name].append((session, len(rows)))
        if len(waiting) >= ROWS_WAITING:
            self._hand_on(name)

    def finish(self) -> None:
        """Write all remaining rows; the files are durable when this returns."""
        if self._events.count:
            self._writers[EVENTS.name].add(self._events.take())
        for name, writer in self._writers.items():
            self._hand_on(name)
            writer.close()
        self._thread.drain()

    def _hand_on(self, name: str) -> None:
        """Turn the collected rows into columns and pass them to the table's writer."""
        rows, spans, writer = self._rows[name], self._spans[name], self._writers[name]
        if not rows:
            return
        if name in OF_RECORDS:
            for runs, whose in portions(rows, spans):
                writer.add(runs_to_table(writer.table, runs, whose))
        else:
            writer.add(rows_to_table(writer.table, rows, spans))
        self._rows[name], self._spans[name] = [], []


def _table(name: str) -> Table:
    return RUNS if name == RUNS.name else BY_NAME[name]


def _row_adder(rows: list[Row], make: Callable[[Any], Row]) -> Handler:
    def add(event: Event) -> None:
        rows.append(make(event))

    return add
