"""Read the results of an analysis for the report: never more rows than it shows."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sessions.dataset.location import Location
from sessions.dataset.schema import SESSION, Table, arrow_schema

if TYPE_CHECKING:
    import pyarrow.compute as pc

Row = dict[str, Any]
Order = tuple[tuple[str, str], ...]
"""Columns with ``ascending`` or ``descending``."""

EVENT: Final = "event"
"""The unit of columns with numbers of events."""
DOWN: Final = "descending"
UP: Final = "ascending"


class Results:
    """The folder of an analysis, ``DIR/TABLE/*.parquet``."""

    def __init__(self, folder: "Location | Path") -> None:
        self.folder = Location(folder)

    def has(self, table: Table) -> bool:
        """Return whether the analysis wrote the table."""
        return (self.folder / table.name).is_folder()

    def count(self, table: Table, where: "pc.Expression | None" = None) -> int:
        """Return the number of rows."""
        rows: int = self._scan(table, where).count_rows()
        return rows

    def top(
        self, table: Table, order: Order, rows_max: int, where: "pc.Expression | None" = None
    ) -> list[Row]:
        """Return the first rows in an order; memory is bounded by the number requested."""
        import pyarrow as pa

        first: pa.Table | None = None
        for batch in self._scan(table, where).to_batches():
            rows = pa.Table.from_batches([batch])
            merged = (
                rows
                if first is None
                else pa.concat_tables([first, rows], promote_options="default")
            )
            first = merged.sort_by(list(order)).slice(0, rows_max).combine_chunks()
        return [] if first is None else first.to_pylist()

    def rows(
        self, table: Table, where: "pc.Expression", names: Sequence[str]
    ) -> Iterator[tuple[Any, ...]]:
        """Return some columns of all matching rows, in any order.

        Large tables are read in parts.
        """
        for batch in self._scan(table, where, names).to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def sums(
        self, table: Table, keys: Sequence[str], value: str, examples: Sequence[str] = ()
    ) -> list[Row]:
        """Return sums of a column by keys, in order of the keys; memory is bounded by their number.

        ``examples`` are columns whose values come from one of the rows: the first in their order.
        """
        import pyarrow as pa

        total: pa.Table | None = None
        for batch in self._scan(table, None, [*keys, value, *examples]).to_batches():
            rows = pa.Table.from_batches([batch])
            merged = (
                rows
                if total is None
                else pa.concat_tables([total, rows], promote_options="default")
            )
            if examples:
                merged = merged.sort_by([(name, UP) for name in examples])
            grouped = merged.group_by(list(keys), use_threads=not examples).aggregate(
                [(value, "sum"), *((name, "first") for name in examples)]
            )
            total = grouped.rename_columns([*keys, value, *examples]).combine_chunks()
        if total is None:
            return []
        return list(total.sort_by([(key, UP) for key in keys]).to_pylist())

    def _scan(
        self, table: Table, where: "pc.Expression | None", names: Sequence[str] | None = None
    ) -> Any:  # noqa: ANN401 - pyarrow has no types
        import pyarrow.dataset as pad

        location = self.folder / table.name
        files = pad.dataset(
            location.arrow_path,
            schema=arrow_schema(table),
            format="parquet",
            filesystem=location.filesystem,
        )
        return files.scanner(columns=list(names or table.names), filter=where)


def session_of(event: str, names: Sequence[str]) -> str:
    """Return the column that says which session an event belongs to.

    It is ``slowest_session`` for ``slowest_seq``, if there is such a column.
    """
    own = f"{event.removesuffix('_seq')}_session"
    return own if own in names else SESSION


def event_of(table: Table, columns: Sequence[str], row: Row) -> tuple[str, int] | None:
    """Return the session and the number of the first event in these columns of a row, if any."""
    units = {column.name: column.unit for column in table.columns}
    for name in columns:
        session = row.get(session_of(name, table.names))
        if units[name] == EVENT and row[name] is not None and session is not None:
            return session, row[name]
    return None
