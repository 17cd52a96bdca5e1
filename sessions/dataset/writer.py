"""Write the files of a table: blocks of rows become columns, row groups become files."""

import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessions.dataset.rows.events import Spans, session_array, split_partitions
from sessions.dataset.schema import SESSION, Table, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROW_GROUP_ROWS: Final = 131_072
"""Number of rows that are collected before they are written as one row group."""
ROW_GROUP_BYTES: Final = 1 << 27
"""Bytes of fewer rows that are written at once, as records may be large: usual ones take 81 MiB."""
PART_ROWS: Final = 32 * ROW_GROUP_ROWS
"""Maximum rows of a file."""

PENDING_MAX: Final = 2
"""Maximum row groups queued for the writer thread."""

RISING: Final = frozenset({"event", "us", "record id"})
"""Units of increasing numbers, which are delta-encoded."""
TEXTS: Final = frozenset({"JSON", "text"})
"""Units of texts that rarely repeat, which are written without a dictionary."""

SPLIT: Final = frozenset({"topic", "partition"})
"""The columns that ``tp`` becomes."""

Row = tuple[Any, ...]


def rows_to_table(table: Table, rows: Sequence[Row], spans: Spans) -> "pa.Table":
    """Return rows as Arrow columns.

    A row has a value for each column, in order, except for the session, which ``spans`` gives, and
    has only ``tp`` for the three columns of a partition.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    names = given_columns(table)
    values = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    columns = {name: pa.array(values.get(name, ()), schema.field(name).type) for name in names}
    if rows:
        columns[SESSION] = session_array(spans)
    else:
        columns[SESSION] = pa.array((), pa.string())
    if "tp" in columns:
        columns |= split_partitions(columns["tp"])
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def given_columns(table: Table) -> list[str]:
    """Return the columns for which a row has a value, in order."""
    derived = SPLIT if "tp" in table.names else frozenset[str]()
    return [name for name in table.names if name != SESSION and name not in derived]


def clustered(tables: "Iterable[pa.Table]", column: str) -> "list[pa.Table]":
    """Return the rows of all tables sorted by a column of strings; the sort is stable.

    The rows of each table should be sorted already: then they are only sliced, which copies
    nothing. The memory that a copy needs costs more than everything else about it.
    """
    import pyarrow.compute as pc

    parts: defaultdict[str, list[pa.Table]] = defaultdict(list)
    for table in tables:
        rows, runs = table, pc.run_end_encode(table[column].combine_chunks())
        if len(runs.values) > len(runs.values.unique()):
            rows = table.take(pc.sort_indices(table, sort_keys=[(column, "ascending")]))
            runs = pc.run_end_encode(rows[column].combine_chunks())
        ends = runs.run_ends.to_pylist()
        for value, start, end in zip(runs.values.to_pylist(), [0, *ends], ends, strict=False):
            parts[value].append(rows.slice(start, end - start))
    return [part for value in sorted(parts) for part in parts[value]]


class WriterThread:
    """A thread that does queued work in order, with a bounded queue, while more rows are made."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="export")
        self._pending: deque[Future[None]] = deque()

    def do(self, work: Callable[..., None], *arguments: object) -> None:
        """Queue work for the thread; block while the queue is full; raise the thread's errors."""
        self._pending.append(self._pool.submit(work, *arguments))
        while len(self._pending) > PENDING_MAX:
            self._pending.popleft().result()

    def drain(self) -> None:
        """Wait until the queue is empty; raise the thread's errors."""
        while self._pending:
            self._pending.popleft().result()

    def stop(self) -> None:
        """Stop the thread; queued work is discarded."""
        self._pool.shutdown(cancel_futures=True)


class TableWriter:
    """Writes the files of one table into ``folder``, each named after ``name``.

    Memory is bounded by :data:`ROW_GROUP_BYTES`. No file is written if there are no rows. The rows
    have the table's schema, or the given one.
    """

    def __init__(
        self,
        table: Table,
        folder: Path,
        name: str,
        thread: WriterThread,
        schema: "pa.Schema | None" = None,
    ) -> None:
        self.table = table
        self.rows = 0
        self.files: list[Path] = []
        self._folder = folder
        self._name = name
        self._thread = thread
        self._schema = schema or arrow_schema(table)
        self._waiting: list[pa.Table] = []
        self._waiting_rows = self._waiting_bytes = 0
        self._part_rows = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, rows: "pa.Table") -> None:
        """Add rows; write a row group once there are enough."""
        self.rows += rows.num_rows
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        self._waiting_bytes += rows.nbytes
        if self._waiting_bytes >= ROW_GROUP_BYTES:
            self._hand_over()
            self._thread.drain()
        elif self._waiting_rows >= ROW_GROUP_ROWS:
            self._hand_over()

    def close(self) -> None:
        """Write the remaining rows, and fsync the files."""
        if self._waiting_rows:
            self._hand_over()
        self._thread.do(self._close_file)

    def abandon(self) -> None:
        """Release the open file without completing it; the thread has stopped."""
        if self._writer is not None:
            self._writer.close()

    def _hand_over(self) -> None:
        self._thread.do(self._write, self._waiting)
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0

    # ---- in the thread

    def _write(self, tables: "list[pa.Table]") -> None:
        import pyarrow as pa

        if self.table.clustered:
            tables = clustered(tables, self.table.clustered)
        rows = pa.concat_tables(tables)
        writer = self._writer or self._open_file()
        writer.write_table(rows, row_group_size=2 * ROW_GROUP_ROWS)
        self._part_rows += rows.num_rows
        if self._part_rows >= PART_ROWS:
            self._close_file()

    def _open_file(self) -> "pq.ParquetWriter":
        import pyarrow.parquet as pq

        columns = self.table.columns
        rising = [
            column.name for column in columns if column.unit in RISING and column.type == "int64"
        ]
        unique = {*rising, *(column.name for column in columns if column.unit in TEXTS)}
        path = self._folder / f"{self._name}-{len(self.files):05d}.parquet"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(
            path,
            self._schema,
            compression="zstd",
            use_dictionary=[name for name in self.table.names if name not in unique],
            column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
            write_page_index=True,
        )
        self.files.append(path)
        return self._writer

    def _close_file(self) -> None:
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        with self.files[-1].open("rb") as part:
            os.fsync(part.fileno())
        self._part_rows = 0
