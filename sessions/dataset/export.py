"""Export: stream the events of sessions into the dataset.

:class:`RowsWriter` writes the rows of one session after another to the files of one commit.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emulator.common.extras import missing_extra
from emulator.events import Event
from sessions.dataset.arrow_rows import ArrowRows, table_of
from sessions.dataset.layout import Dataset, DatasetError, require_session_id
from sessions.dataset.location import Location
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.session_rows import SessionRows
from sessions.dataset.tables import BY_NAME
from sessions.dataset.writer import Row, TableWriter, WriterThread
from sessions.garbage_collection import collector_paused

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int], object]
"""Called with the number of events exported so far."""

ALLOCATOR: Final = ("ARROW_DEFAULT_MEMORY_POOL", "system")
"""Arrow reads this when it is imported. Its own allocator uses a fifth more memory here, and keeps
returning and requesting it."""

BLOCK_EVENTS: Final = 8_192
"""Number of events that are read at a time."""


class ExportReport(Struct, frozen=True):
    """The result of an export: the rows of each table, and the bytes of all files."""

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
        raise DatasetError(missing_extra("exporting", "PyArrow", "spark"))
    os.environ.setdefault(*ALLOCATOR)


class RowsWriter:
    """Writes the files of one commit, or of some of its tables: ``folder/TABLE/NAME-*.parquet``.

    Memory is bounded by a few row groups for each table.
    """

    def __init__(self, folder: Path, name: str, names: Collection[str] = BY_NAME) -> None:
        self._thread = WriterThread()
        self._writers = {
            table: TableWriter(table_of(table), folder / table, name, self._thread)
            for table in names
        }
        self._columns = ArrowRows(self._write, names)

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

    def take(self, rows: SessionRows) -> None:
        """Take the rows that have been made of a session so far."""
        self._columns.take(rows)

    def add(self, name: str, session: str, rows: list[Row]) -> None:
        """Add rows of a table that belong to one session."""
        self._columns.add(name, session, rows)

    def finish(self) -> None:
        """Write all remaining rows; the files are durable when this returns."""
        self._columns.finish()
        for writer in self._writers.values():
            writer.close()
        self._thread.drain()

    def _write(self, name: str, rows: "pa.Table") -> None:
        self._writers[name].add(rows)
