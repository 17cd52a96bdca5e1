"""Turn the rows of sessions into Arrow columns, whoever takes these: a file's writer, or Spark."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from sessions.dataset.rows.events import EventRows, Spans
from sessions.dataset.rows.record_runs import portions, runs_to_table
from sessions.dataset.schema import Table
from sessions.dataset.session_rows import SessionRows
from sessions.dataset.tables import BY_NAME, CONSUMED, EVENTS, PRODUCED, RUNS
from sessions.dataset.writer import Row, rows_to_table
from sessions.format.codec import Unpacked

if TYPE_CHECKING:
    import pyarrow as pa

OF_RECORDS: Final = frozenset({PRODUCED.name, CONSUMED.name})
"""Tables whose folds produce runs of records."""
ROWS_WAITING: Final = 4_096
"""Number of rows, or of runs of records, that become Arrow columns at once.

Fewer make the fixed cost of a conversion count, more have left the processor's cache by then."""
EVENTS_WAITING: Final = 32_768
"""Number of events that are collected before they are passed on, by type."""
MEMORY_WAITING: Final = 1 << 27
"""Bytes of blocks of events whose rows may wait, however few these are: records may be large."""


class ArrowRows:
    """Collects rows of some tables, of one session after another, until they become columns.

    ``give`` is called with a table's name and its columns. Memory is bounded by the rows that wait.
    """

    def __init__(
        self, give: "Callable[[str, pa.Table], object]", names: Collection[str] = BY_NAME
    ) -> None:
        self._give = give
        self._rows: dict[str, list[Row]] = {table: [] for table in names}
        self._spans: dict[str, Spans] = {table: [] for table in names}
        self._events = EventRows()
        self._memory = 0

    def take(self, session_rows: SessionRows) -> None:
        """Take the rows that have been made of a session so far."""
        self._take(session_rows)
        self._memory += session_rows.memory
        session_rows.memory = 0
        if self._memory > MEMORY_WAITING:
            self.finish()

    def _take(self, session_rows: SessionRows) -> None:
        for name, rows in session_rows.rows.items():
            self.add(name, session_rows.session, rows)
            rows.clear()
        if session_rows.waiting is None:
            return
        for events in session_rows.waiting:
            if isinstance(events, Unpacked):
                self._events.add_block(session_rows.session, events)
            else:
                self._events.add(session_rows.session, events)
            if self._events.count >= EVENTS_WAITING:
                self._give(EVENTS.name, self._events.take())
        session_rows.waiting.clear()

    def add(self, name: str, session: str, rows: list[Row]) -> None:
        """Add rows of a table that belong to one session."""
        if not rows:
            return
        waiting = self._rows[name]
        waiting.extend(rows)
        self._spans[name].append((session, len(rows)))
        if len(waiting) >= ROWS_WAITING:
            self._convert(name)

    def finish(self) -> None:
        self._memory = 0
        if self._events.count:
            self._give(EVENTS.name, self._events.take())
        for name in self._rows:
            self._convert(name)

    def _convert(self, name: str) -> None:
        """Turn the collected rows into columns and give them."""
        rows, spans, table = self._rows[name], self._spans[name], table_of(name)
        if not rows:
            return
        if name in OF_RECORDS:
            for runs, sessions in portions(rows, spans):
                self._give(name, runs_to_table(table, runs, sessions))
        else:
            self._give(name, rows_to_table(table, rows, spans))
        self._rows[name], self._spans[name] = [], []


def table_of(name: str) -> Table:
    """Return a table of the dataset, or that of campaigns' runs, by its name."""
    return RUNS if name == RUNS.name else BY_NAME[name]
