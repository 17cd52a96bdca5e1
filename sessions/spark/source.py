"""The data source ``tidegauge`` of Spark: a table of the dataset, read from session files.

Spark makes these objects in Python processes of its own: it asks for the schema and the tasks on
the driver, and for the rows in each task.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from sessions.dataset.schema import Table, arrow_schema, spark_schema
from sessions.dataset.tables import BY_NAME, EVENTS
from sessions.format.beside import is_in_use
from sessions.format.errors import SessionError
from sessions.format.file import SessionFile
from sessions.spark.folder import SourceError, divided, paths_of, session_files
from sessions.spark.pushdown import SESSION_COLUMN, conditions
from sessions.spark.reading import MODES, Mode, Reading

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql.datasource import Filter

PUSHES: Final = {"false": False, "true": True}
FORMAT: Final = "tidegauge"
OPTIONS: Final = frozenset({"path", "paths", "table", "columns", "mode", "pushfilters"})


class SessionSource(DataSource):
    """``spark.read.format("tidegauge")`` and ``spark.readStream.format("tidegauge")``.

    Options: ``table`` (``events``), ``columns`` (names with commas between them; all), ``mode``
    (``PERMISSIVE`` or ``FAILFAST``), ``pushFilters`` (``false`` or ``true``).
    """

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        """Return the schema of what is asked for, with the columns' meanings as comments.

        Raises:
            SourceError: an option has no valid value.
        """
        reading = _reading(self.options)
        return spark_schema(_selected(reading.table, reading.columns))

    def reader(self, schema: StructType) -> "SessionReader":
        pushes = _one_of("pushFilters", self.options.get("pushFilters", "false").lower(), PUSHES)
        return (FilteringReader if pushes else SessionReader)(self.options, schema)

    def streamReader(self, schema: StructType) -> "SessionStreamReader":
        return SessionStreamReader(self.options, schema)


class SessionReader(DataSourceReader):
    """Reads all sessions that are there when the query is planned."""

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._paths = paths_of(options)
        self._schema = schema
        self._reading = _for_schema(_reading(options), schema)

    def partitions(self) -> list[InputPartition]:
        conditions = self._reading.conditions
        files = session_files(self._paths).items()
        return _tasks(path for id_, path in files if conditions.may_hold(SESSION_COLUMN, id_))

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return self._reading.batches(partition.value, _arrow(self._schema))


class FilteringReader(SessionReader):
    """Leaves out what a query's filters make unnecessary, if Spark 4.1 or newer passes them.

    Only on request. Spark keeps the plan with the filters of one query for the data frame, and uses
    it for a later query that has no filter to push down, which then lacks rows.
    """

    def pushFilters(self, filters: "list[Filter]") -> "Iterable[Filter]":
        """Note what the filters make unnecessary; Spark evaluates all of them again."""
        self._reading = replace(self._reading, conditions=conditions(filters))
        return filters


class SessionStreamReader(DataSourceStreamReader):
    """Reads each session of a growing folder once, when its recording has ended.

    An offset names the sessions that have been read, with the sizes of their files.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._paths = paths_of(options)
        self._schema = schema
        self._reading = _for_schema(_reading(options), schema)
        self._offsets: dict[str, int] = {}

    def initialOffset(self) -> dict[str, int]:
        return {}

    def latestOffset(
        self,
        start: dict[str, int] | None = None,
        limit: object = None,
    ) -> dict[str, int]:
        """Return the sessions that have been read, and those that can be; Spark 4.1 gives none."""
        offsets = self._offsets | (start or {})
        files = session_files(self._paths).values()
        new = {
            str(path): path.stat().st_size
            for path in files
            if str(path) not in offsets and _has_ended(path)
        }
        self._offsets = dict(sorted((offsets | new).items()))
        return self._offsets

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        from pathlib import Path

        new = [Path(name) for name in end if name not in start]
        return _tasks(new) if new else []

    def read(self, partition: InputPartition) -> "Iterator[pa.RecordBatch]":
        return self._reading.batches(partition.value, _arrow(self._schema))


def _tasks(paths: "Iterable[Path]") -> list[InputPartition]:
    return [InputPartition(names) for names in divided(paths)]


def _has_ended(path: "Path") -> bool:
    """Return whether nobody writes a session any more: it is closed, or its recorder is gone.

    A damaged file has ended, too: reading it says what is wrong.
    """
    try:
        with SessionFile(path, check=False) as session:
            if session.outcome is not None:
                return True
    except SessionError:
        pass
    return not is_in_use(path)


def _reading(options: Mapping[str, str]) -> Reading:
    """Return what the options ask for.

    Raises:
        SourceError: a table, a column or a mode does not exist, or an option.
    """
    for option in options:
        if option.lower() not in OPTIONS:
            raise SourceError(_unknown("option", option, sorted(OPTIONS - {"path", "paths"})))
    table = _one_of("table", options.get("table", EVENTS.name), {name: name for name in BY_NAME})
    mode: Mode = _one_of("mode", options.get("mode", MODES[0]).upper(), {m: m for m in MODES})
    declared = BY_NAME[table]
    names = [name.strip() for name in options.get("columns", "").split(",") if name.strip()]
    for name in names:
        _one_of(f"column of {table}", name, dict.fromkeys(declared.names))
    return Reading(declared, tuple(dict.fromkeys(names)) or declared.names, mode)


def _one_of(noun: str, name: str, values: "Mapping[str, Any]") -> Any:  # noqa: ANN401 - as given
    if name not in values:
        raise SourceError(_unknown(noun, name, list(values)))
    return values[name]


def _unknown(noun: str, name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, 1, 0.0)
    return f"there is no {noun} {name!r}; the nearest is {close[0]!r}"


def _for_schema(reading: Reading, schema: StructType) -> Reading:
    """Return what is read for a schema, which the user may have given in place of the own one.

    Raises:
        SourceError: the table has no such column, or one of another type.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    table = reading.table
    for name in schema.names:
        _one_of(f"column of {table.name}", name, dict.fromkeys(table.names))
    columns = tuple(schema.names)
    declared = from_arrow_schema(arrow_schema(_selected(table, columns)))
    for field, own in zip(schema, declared, strict=True):
        if field.dataType.simpleString() != own.dataType.simpleString():
            raise SourceError(
                f"the column {own.name} of {table.name} is {own.dataType.simpleString()}, "
                f"not {field.dataType.simpleString()}"
            )
    return replace(reading, columns=columns)


def _selected(table: Table, columns: tuple[str, ...]) -> Table:
    by_name = {column.name: column for column in table.columns}
    return replace(table, columns=tuple(by_name[name] for name in columns))


def _arrow(schema: StructType) -> "pa.Schema":
    """Return the Arrow schema that Spark expects: it has another mark for what may be null."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")
