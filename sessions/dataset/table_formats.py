"""A dataset's tables as tables of Delta Lake or of Apache Iceberg, written by their own libraries.

Each table becomes one table of that format, with the same rows, columns and types, and each column
has its meaning as its comment. A folder holds nothing else, and is only ever written as a whole:
what others have put into its log, which may name files anywhere, is never read.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec
from msgspec import Struct

from emulator.common.extras import missing_extra
from sessions.dataset.export import require_arrow
from sessions.dataset.layout import Commit, Dataset, DatasetError
from sessions.dataset.maintenance import Progress, rows_of
from sessions.dataset.schema import Table, arrow_schema
from sessions.dataset.tables import RUNS, TABLES
from sessions.dataset.writer import TableWriter, WriterThread
from sessions.decoding import DecodingError, decode_json
from sessions.file_system import delete_tree, read_regular, write_file

if TYPE_CHECKING:
    import pyarrow as pa

LIBRARIES: Final = {"delta": "deltalake", "iceberg": "pyiceberg"}
"""The library that writes a format; the extra of this package that installs it has its name."""
COMMENTS: Final = {"delta": "comment", "iceberg": "doc"}
"""The key of a field's metadata that becomes the comment of the column."""
MARKER: Final = "_tidegauge_tables.json"
MARKER_BYTES_MAX: Final = 1_024
NAMESPACE: Final = "tidegauge"
"""The namespace of Iceberg's tables in the catalog, which lasts as long as the export."""


class TablesMarker(Struct, frozen=True):
    """The content of the file that marks a folder as such an export, written before the tables."""

    format: Literal["delta", "iceberg"]


class TableExport(Struct, frozen=True):
    """The number of tables and rows that were written."""

    tables: int
    rows: int


def export_tables(
    dataset: Dataset,
    format_: str,
    out: Path,
    progress: Progress = lambda _: None,
    *,
    replace: bool = False,
) -> TableExport:
    """Write all tables of a dataset to ``out/TABLE``; those without rows have their columns.

    The folder must be new or empty; with ``replace``, it may have such an export, which is deleted
    first. ``progress`` is told the number of rows written so far.

    Raises:
        DatasetError: the library is missing, or the folder has something else or cannot be written.
        DatasetUnreadable: the dataset is damaged.
    """
    require_arrow()
    if find_spec(LIBRARIES[format_]) is None:
        raise DatasetError(missing_extra(f"the format {format_}", LIBRARIES[format_], format_))
    dataset.require_whole()
    commits = dataset.commits()
    with _writing(out):
        _clear(out, replace=replace)
        out.mkdir(parents=True, exist_ok=True)
        write_file(out / MARKER, msgspec.json.encode({"format": format_}) + b"\n", out)
    row_count = 0
    write = _delta_table if format_ == "delta" else _iceberg_table
    for table in (*TABLES, RUNS):
        schema = arrow_schema(table, COMMENTS[format_])
        rows = _Rows(dataset, table, commits, schema, partial(_note_rows, progress, row_count))
        with _writing(out, rows):
            write((out / table.name).absolute(), schema, rows)
        row_count += rows.count
    return TableExport(len(TABLES) + 1, row_count)


def _note_rows(progress: Progress, before: int, rows: int) -> None:
    progress(before + rows)


def _clear(out: Path, *, replace: bool) -> None:
    """Make a folder empty if it is an export and is to be replaced."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not _is_export(out):
        raise DatasetError(f"{out} has other things than exported tables; name a new folder")
    if not replace:
        raise DatasetError(f"{out} has exported tables, or some of them; --replace writes all anew")
    for path in sorted(out.iterdir(), key=lambda path: path.name == MARKER):
        delete_tree(path, out)


def _is_export(out: Path) -> bool:
    try:
        decode_json(read_regular(out / MARKER, MARKER_BYTES_MAX), TablesMarker)
    except (OSError, DecodingError):
        return False
    return True


class _Rows:
    """The rows of a table, to be read once; ``error``: why that failed."""

    def __init__(
        self,
        dataset: Dataset,
        table: Table,
        commits: Sequence[Commit],
        schema: "pa.Schema",
        report_count: Callable[[int], object],
    ) -> None:
        self.table = table
        self.count = 0
        self.error: DatasetError | None = None
        self._source = rows_of(dataset, table, commits)
        self._schema = schema
        self._tell = report_count

    def reader(self) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return them for a library that reads Arrow's streams."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self._schema, self._batches())

    def _batches(self) -> "Iterator[pa.RecordBatch]":
        for rows in self.tables():
            yield from rows.cast(self._schema).to_batches()

    def tables(self) -> "Iterator[pa.Table]":
        """Yield them, some thousand at a time."""
        try:
            for rows in self._source:
                yield rows
                self.count += rows.num_rows
                self._tell(self.count)
        except DatasetError as error:
            self.error = error  # the library raises one of its own, without the place
            raise


def _delta_table(folder: Path, schema: "pa.Schema", rows: _Rows) -> None:
    from deltalake import WriterProperties, write_deltalake

    del schema  # the reader has it
    write_deltalake(
        str(folder),
        rows.reader(),
        mode="error",
        writer_properties=WriterProperties(compression="ZSTD"),
    )


def _iceberg_table(folder: Path, schema: "pa.Schema", rows: _Rows) -> None:
    """Write a table, and name its metadata as readers that have no catalog expect it.

    Its files are written here, because PyIceberg writes a missing list of structs as an empty one.
    """
    from pyiceberg.catalog.memory import InMemoryCatalog
    from pyiceberg.io.pyarrow import schema_to_pyarrow

    catalog = InMemoryCatalog(NAMESPACE, warehouse=str(folder.parent))
    try:
        catalog.create_namespace(NAMESPACE)
        table = catalog.create_table(f"{NAMESPACE}.{folder.name}", schema, location=str(folder))
        if files := _parquet_files(folder / "data", schema_to_pyarrow(table.schema()), rows):
            table.add_files(files)
        metadata = Path(table.metadata_location)
        write_file(metadata.with_name("v1.metadata.json"), metadata.read_bytes(), folder)
        write_file(metadata.with_name("version-hint.text"), b"1", folder)
    finally:
        catalog.close()


def _parquet_files(folder: Path, schema: "pa.Schema", rows: _Rows) -> list[str]:
    """Write rows to files with the field ids of a schema; none if there are no rows."""
    thread = WriterThread()
    writer = TableWriter(rows.table, folder, NAMESPACE, thread, schema)
    try:
        for part in rows.tables():
            writer.add(part.cast(schema))
        writer.close()
        thread.drain()
    finally:
        thread.stop()
        writer.abandon()
    return [str(file) for file in writer.files]


@contextlib.contextmanager
def _writing(out: Path, rows: _Rows | None = None) -> Iterator[None]:
    """Raise what kept rows from being read or written as an error of the dataset."""
    failures: tuple[type[Exception], ...] = (OSError, ValueError)
    if find_spec(LIBRARIES["delta"]) is not None:
        from deltalake.exceptions import DeltaError

        failures = (*failures, DeltaError)
    try:
        yield
    except DatasetError:
        raise
    except failures as error:
        if rows is not None and rows.error is not None:
            raise rows.error from error
        reason = (isinstance(error, OSError) and error.strerror) or " ".join(str(error).split())
        raise DatasetError(f"{out} could not be written to: {reason}") from error
