"""Export: the events of one session, streamed into the dataset."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from emulator.events import Event
from sessions.blocks import unpacked
from sessions.collector import collector_paused
from sessions.dataset.event_rows import event_rows
from sessions.dataset.facts import FACTS, ConsumedFold, RequestFold
from sessions.dataset.folder import DatasetError, DatasetFolder
from sessions.dataset.records import RecordFold
from sessions.dataset.runs import portions, runs_to_table
from sessions.dataset.schema import Table
from sessions.dataset.state_fold import StateFold
from sessions.dataset.tables import BY_NAME, CONSUMED, EVENTS, PRODUCED, SESSIONS, TABLES
from sessions.dataset.totals import SessionFacts, Totals
from sessions.dataset.writer import BLOCK_ROWS, Row, TableWriter, WriterThread, rows_to_table

Handler = Callable[[Any], None]
Progress = Callable[[int], object]
"""Is told how many events have been exported so far."""

INSTALL: Final = "install it with: pip install 'tidegauge[spark]'"

RUNS: Final = frozenset({PRODUCED.name, CONSUMED.name})
"""Tables whose folds give runs of records."""
RUNS_WAITING: Final = 1_024
"""How many runs wait before their rows are made."""


class Fold(Protocol):
    """Something that makes rows of events, seeing them in order."""

    def handlers(self) -> dict[type[Event], Handler]: ...

    def finish(self) -> None: ...


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
    :class:`~sessions.dataset.folder.DatasetError`.
    """
    require_arrow()
    with DatasetFolder(Path(dataset)).adding(facts.id) as folder, _Export(folder) as export:
        source = iter(events)
        while export.add_block(source):
            if progress is not None:
                progress(export.events)
        return export.finish(facts if ended is None else ended())


def require_arrow() -> None:
    """Make sure that there is PyArrow.

    Raises:
        DatasetError: there is not; the message says how to install it.
    """
    if find_spec("pyarrow") is None:
        raise DatasetError(f"exporting needs PyArrow; {INSTALL}")


class _Export:
    """The tables of one session while they are being written."""

    def __init__(self, folder: Path) -> None:
        self.events = 0
        self._folder = folder
        self._last: Event | None = None
        self._rows: dict[str, list[Row]] = {table.name: [] for table in TABLES}
        self._thread = WriterThread()
        self._writers = {
            table.name: TableWriter(table, folder / table.name, self._thread) for table in TABLES
        }
        self._totals = Totals()
        self._folds: tuple[Fold, ...] = (
            StateFold(self._rows["partition_states"].append, self._rows["replica_states"].append),
            RecordFold(self._rows["produced"].append),
            ConsumedFold(self._rows["consumed"].append),
            RequestFold(self._rows["requests"].append),
        )
        self._handlers = self._gather_handlers()

    def __enter__(self) -> "_Export":
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.stop()
        for writer in self._writers.values():
            with contextlib.suppress(OSError):
                writer.abandon()

    def _gather_handlers(self) -> dict[type[Event], tuple[Handler, ...]]:
        """For each type of event everything that it is given to."""
        handlers: dict[type[Event], tuple[Handler, ...]] = {}
        for of in (*(fold.handlers() for fold in self._folds), self._totals.handlers()):
            for type_, handler in of.items():
                handlers[type_] = (*handlers.get(type_, ()), handler)
        for type_, (table, make) in FACTS.items():
            handlers[type_] = (*handlers.get(type_, ()), _row_adder(self._rows[table], make))
        return handlers

    def add_block(self, source: Iterator[Event]) -> bool:
        """Take a block of events; False when there is none left."""
        with collector_paused():
            block = list(islice(source, BLOCK_ROWS))
            if block:
                self._add(block)
        return bool(block)

    def _add(self, block: list[Event]) -> None:
        self.events += len(block)
        self._last = block[-1]
        handlers, nobody = self._handlers, ()
        for event in block:
            for handle in handlers.get(type(event), nobody):
                handle(event)
        self._writers[EVENTS.name].add(event_rows(unpacked(block)))
        for name, rows in self._rows.items():
            if len(rows) >= (RUNS_WAITING if name in RUNS else BLOCK_ROWS):
                self._hand_on(BY_NAME[name])

    def finish(self, facts: SessionFacts) -> ExportReport:
        """Write what was held back, and the session's own row."""
        for fold in self._folds:
            fold.finish()
        self._rows[SESSIONS.name].append(self._totals.row(facts, self.events, self._last))
        for table in TABLES:
            self._hand_on(table)
            self._writers[table.name].close()
        self._thread.drain()
        return ExportReport(
            session=facts.id,
            events=self.events,
            rows={name: writer.rows for name, writer in self._writers.items()},
            size_bytes=sum(path.stat().st_size for path in self._folder.rglob("*.parquet")),
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
