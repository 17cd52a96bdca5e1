"""Export: the events of one session, streamed into the dataset."""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from emulator.events import Event
from sessions.dataset.layout import DatasetError, DatasetFolder
from sessions.dataset.rows.events import event_rows
from sessions.dataset.rows.produced import RecordFold
from sessions.dataset.rows.record_runs import portions, runs_to_table
from sessions.dataset.rows.sessions import SessionFacts, Totals
from sessions.dataset.rows.single_events import FACTS, ConsumedFold, RequestFold
from sessions.dataset.rows.state_fold import StateFold
from sessions.dataset.schema import Table
from sessions.dataset.tables import BY_NAME, CONSUMED, EVENTS, PRODUCED, SESSIONS
from sessions.dataset.writer import BLOCK_ROWS, Row, TableWriter, WriterThread, rows_to_table
from sessions.format.codec import Unpacked, unpacked
from sessions.garbage_collection import collector_paused

Handler = Callable[[Any], None]
Progress = Callable[[int], object]
"""Is told how many events have been exported so far."""

INSTALL: Final = "install it with: pip install 'tidegauge[spark]'"

ALLOCATOR: Final = ("ARROW_DEFAULT_MEMORY_POOL", "system")
"""Arrow looks at this when it is imported: its own allocator keeps a fifth more memory here, and
gives it back and takes it again all the time."""

RUNS: Final = frozenset({PRODUCED.name, CONSUMED.name})
"""Tables whose folds give runs of records."""
RUNS_WAITING: Final = 1_024
"""How many runs wait before their rows are made."""


class Fold(Protocol):
    """Something that makes rows of events, seeing them in order."""

    def handlers(self) -> dict[type[Event], Handler]: ...

    def finish(self) -> None: ...


FOLDS: Final[tuple[tuple[tuple[str, ...], Callable[..., Fold]], ...]] = (
    (("partition_states", "replica_states"), StateFold),
    ((PRODUCED.name,), RecordFold),
    ((CONSUMED.name,), ConsumedFold),
    (("requests",), RequestFold),
)
"""What is made of more than one event at a time: the tables, and what makes their rows."""


class ExportReport(Struct, frozen=True):
    """What an export wrote: rows by table, bytes of all files."""

    session: str
    events: int
    rows: dict[str, int]
    size_bytes: int


def export_session(
    events: Iterable[Event],
    facts: SessionFacts,
    dataset: str | os.PathLike[str],
    progress: Progress | None = None,
    ended: Callable[[], SessionFacts] | None = None,
) -> ExportReport:
    """Add a session to the dataset, which is made if need be, in bounded memory.

    ``events`` is read once, in order; ``ended`` gives the facts anew when they have been read (the
    id stays), for a session that only then has a final state. Nothing is seen of the session in the
    dataset before all of it is there, and nothing at all if this fails or is interrupted. Raises
    :class:`~sessions.dataset.layout.DatasetError`.
    """
    require_arrow()
    with DatasetFolder(Path(dataset)).adding(facts.id) as hidden, Export(hidden.path) as export:
        source = iter(events)
        while block := _block(source):
            export.add(unpacked(block), block)
            if progress is not None:
                progress(export.events)
        return export.finish(facts if ended is None else ended())


def _block(source: Iterator[Event]) -> list[Event]:
    with collector_paused():
        return list(islice(source, BLOCK_ROWS))


def require_arrow() -> None:
    """Make sure that there is PyArrow, and have it allocate as suits an export.

    Raises:
        DatasetError: there is not; the message says how to install it.
    """
    if find_spec("pyarrow") is None:
        raise DatasetError(f"exporting needs PyArrow; {INSTALL}")
    os.environ.setdefault(*ALLOCATOR)


class Export:
    """Some tables of one session, or all, while they are being written; events are given in order.

    ``kinds`` are the types of events that must be given as such, ``columns`` those of which a block
    must have the columns (None: all).
    """

    def __init__(self, folder: Path, names: Collection[str] = BY_NAME) -> None:
        """Write into ``folder`` the tables of these names."""
        self.events = 0
        self._folder = folder
        self._last = (0, 0)
        self._rows: dict[str, list[Row]] = {name: [] for name in names}
        self._thread = WriterThread()
        self._writers = {
            name: TableWriter(BY_NAME[name], folder / name, self._thread) for name in names
        }
        self._totals = Totals() if SESSIONS.name in names else None
        self._folds = [
            make(*(self._rows[name].append for name in tables))
            for tables, make in FOLDS
            if self._rows.keys() >= set(tables)
        ]
        self._handlers = self._gather_handlers()
        self.kinds = self._handlers.keys()
        self.columns = None if EVENTS.name in names else self.kinds

    def __enter__(self) -> "Export":
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.stop()
        for writer in self._writers.values():
            with contextlib.suppress(OSError):
                writer.abandon()

    def _gather_handlers(self) -> dict[type[Event], tuple[Handler, ...]]:
        """For each type of event everything that it is given to."""
        handlers: dict[type[Event], tuple[Handler, ...]] = {}
        folds = [fold.handlers() for fold in self._folds]
        if self._totals is not None:
            folds.append(self._totals.handlers())
        for of in folds:
            for type_, handler in of.items():
                handlers[type_] = (*handlers.get(type_, ()), handler)
        for type_, (table, make) in FACTS.items():
            if table in self._rows:
                adder = _row_adder(self._rows[table], make)
                handlers[type_] = (*handlers.get(type_, ()), adder)
        return handlers

    def add(self, block: Unpacked, events: Iterable[Event]) -> None:
        """Take a block, with all of its events whose type is one of ``kinds`` at least."""
        with collector_paused():
            self._add(block, events)

    def _add(self, block: Unpacked, events: Iterable[Event]) -> None:
        self.events += len(block.times)
        self._last = (block.last_seq, block.times[-1])
        handlers, nobody = self._handlers, ()
        for event in events:
            for handle in handlers.get(type(event), nobody):
                handle(event)
        if EVENTS.name in self._writers:
            self._writers[EVENTS.name].add(event_rows(block))
        for name, rows in self._rows.items():
            if len(rows) >= (RUNS_WAITING if name in RUNS else BLOCK_ROWS):
                self._hand_on(BY_NAME[name])

    def finish(self, facts: SessionFacts) -> ExportReport:
        """Write what was held back and, if that is one of the tables, the session's own row."""
        for fold in self._folds:
            fold.finish()
        if self._totals is not None:
            row = self._totals.row(facts, self.events, *self._last)
            self._rows[SESSIONS.name].append(row)
        for name, writer in self._writers.items():
            self._hand_on(BY_NAME[name])
            writer.close()
        self._thread.drain()
        return ExportReport(
            session=facts.id,
            events=self.events,
            rows={name: writer.rows for name, writer in self._writers.items()},
            size_bytes=sum(
                path.stat().st_size
                for name in self._writers
                for path in (self._folder / name).iterdir()
            ),
        )

    def _hand_on(self, table: Table) -> None:
        """Turn the rows that wait into columns and give them to the table's writer."""
        rows, writer = self._rows[table.name], self._writers[table.name]
        if table.name in RUNS:
            for runs in portions(rows):
                writer.add(runs_to_table(table, runs))
        elif rows:
            writer.add(rows_to_table(table, rows))
        rows.clear()


def _row_adder(rows: list[Row], make: Callable[[Any], Row]) -> Handler:
    def add(event: Event) -> None:
        rows.append(make(event))

    return add
