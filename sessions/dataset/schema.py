"""Declarations of the dataset's tables, column by column, with types, units and meanings.

The Parquet schema, the schema that Spark reads with, and the page in docs/ are all made from one
:class:`Table`, so they cannot disagree.
"""

import builtins
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Final, Literal, cast, get_args, get_origin

from msgspec import Struct

if TYPE_CHECKING:
    import pyarrow as pa

Type = Literal[
    "string",
    "int32",
    "int64",
    "double",
    "bool",
    "list<int32>",
    "list<string>",
    "list<list<int32>>",
    "list<list<int64>>",
    "map<string,int64>",
    "map<string,string>",
    "list<struct>",
]
"""The types of columns; a ``list<struct>`` has :attr:`Column.fields`."""

PLAIN_TYPES: Final[dict[object, str]] = {str: "string", bool: "bool", float: "double"}


def column_type(hint: object, bits: int) -> Type:
    """Return the type of a column with values of a Python type; an integer has so many bits."""
    types = [part for part in get_args(hint) if part is not NoneType]
    parts = [column_type(part, bits) for part in types]
    match get_origin(hint):
        case builtins.list | builtins.tuple:
            return cast("Type", f"list<{parts[0]}>")
        case builtins.dict:
            return cast("Type", f"map<{','.join(parts)}>")
        case None:
            return cast("Type", PLAIN_TYPES.get(hint, f"int{bits}"))
        case _:  # a union with None
            return parts[0]


SPARK_TYPES: Final[dict[Type, str]] = {
    "string": "STRING",
    "int32": "INT",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "list<int32>": "ARRAY<INT>",
    "list<string>": "ARRAY<STRING>",
    "list<list<int32>>": "ARRAY<ARRAY<INT>>",
    "list<list<int64>>": "ARRAY<ARRAY<BIGINT>>",
    "map<string,int64>": "MAP<STRING, BIGINT>",
    "map<string,string>": "MAP<STRING, STRING>",
}

SESSION: Final = "session"
"""The first column of every table."""
PARTITION: Final = (SESSION, "tp", "topic", "partition")
"""The columns that name the partition of a row."""


class Column(Struct, frozen=True):
    """One column; ``unit`` is that of a number (``us`` of virtual time, ``offset``, ..).

    ``null`` says what a missing value means; empty: the column always has a value. ``fields`` are
    those of the structs in a ``list<struct>``.
    """

    name: str
    type: Type
    unit: str
    meaning: str
    null: str = ""
    fields: "tuple[Column, ...]" = ()

    @property
    def comment(self) -> str:
        """The meaning with the unit and, if the value may be null, what that means."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{self.meaning}{unit}" + (f"; null: {self.null}" if self.null else "")


class Example(Struct, frozen=True):
    """A question, and the query that answers it: SQL that DuckDB and Spark both understand.

    It refers to tables by name. The pages in docs/ show it, and the tests run it with both.
    """

    question: str
    sql: str


class Table(Struct, frozen=True):
    """One table: the meaning and order of a session's rows (empty: no order), and the columns.

    ``clustered`` names the column by which the rows of a row group are sorted first, so that a
    filter on it reads few pages (empty: none).
    """

    name: str
    row: str
    order: str
    columns: tuple[Column, ...]
    clustered: str = ""
    example: Example | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)


def session_column() -> Column:
    """Return the column with the session of a row."""
    return Column(SESSION, "string", "", "the session's id")


def partition_columns(null: str = "") -> tuple[Column, ...]:
    """Return the three columns of a topic-partition; ``null`` says when they have no value."""
    return (
        Column("tp", "string", "", "topic-partition, such as `orders-0`", null),
        Column("topic", "string", "", "its topic", null),
        Column("partition", "int32", "", "its number in the topic", null),
    )


def columns(table: str) -> tuple[Column, ...]:
    """Read columns from a table: ``name | type unit | meaning | null``, without what is empty.

    A line that is indented continues the one before it.

    Raises:
        ValueError: a type that columns do not have.
    """
    read = []
    for line in table.replace("\n    ", " ").splitlines():
        name, type_and_unit, meaning, null = [*line.split(" | "), ""][:4]
        type_, _, unit = type_and_unit.partition(" ")
        if type_ not in get_args(Type):
            raise ValueError(f"{type_!r} is no type of a column")
        read.append(Column(name, cast("Type", type_), unit, meaning, null))
    return tuple(read)


def fact_columns() -> tuple[Column, ...]:
    """Return the columns with the number and time of a row's event."""
    return (
        Column("seq", "int64", "event", "number of the event"),
        Column("time_us", "int64", "us", "virtual time of the event"),
        Column("cause", "int64", "event", "number of the event that caused it; 0: none"),
    )


def validity_columns() -> tuple[Column, ...]:
    """Return the columns with the first and last event for which a row's values hold."""
    return (
        Column("from_seq", "int64", "event", "event from which these values are valid"),
        Column("from_us", "int64", "us", "virtual time of that event"),
        Column(
            "to_seq", "int64", "event", "event that changed them", "valid until the session's end"
        ),
        Column("to_us", "int64", "us", "virtual time of that event", "as `to_seq`"),
    )


@cache
def arrow_schema(table: Table, comment: str = "") -> "pa.Schema":
    """Return a table's Arrow schema; columns without a meaning for null are required.

    Each field has its meaning and its unit as metadata. Each file repeats them, so they are short.
    With ``comment``, each has its whole comment under that key instead.
    """
    import pyarrow as pa

    return pa.schema([_arrow_field(column, comment) for column in table.columns])


@cache
def empty_file(table: Table) -> bytes:
    """Return a Parquet file with a table's columns and no row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(arrow_schema(table).empty_table(), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _arrow_field(column: Column, comment: str) -> "pa.Field":
    import pyarrow as pa

    notes = {"meaning": column.meaning, "unit": column.unit}
    if comment:
        notes = {comment: column.comment}
    metadata = {name: text for name, text in notes.items() if text}
    type_ = _arrow_type(column, comment)
    return pa.field(column.name, type_, nullable=bool(column.null), metadata=metadata)


def _arrow_type(column: Column, comment: str) -> "pa.DataType":
    import pyarrow as pa

    if column.type == "list<struct>":
        return pa.list_(pa.struct([_arrow_field(field, comment) for field in column.fields]))
    types: dict[Type, pa.DataType] = {
        "string": pa.string(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "list<int32>": pa.list_(pa.int32()),
        "list<string>": pa.list_(pa.string()),
        "list<list<int32>>": pa.list_(pa.list_(pa.int32())),
        "list<list<int64>>": pa.list_(pa.list_(pa.int64())),
        "map<string,int64>": pa.map_(pa.string(), pa.int64()),
        "map<string,string>": pa.map_(pa.string(), pa.string()),
    }
    return types[column.type]


def spark_schema(table: Table) -> str:
    """Return a table's schema as Spark's DDL, with comments, so that Spark need not infer it."""
    return ", ".join(
        f"`{column.name}` {_spark_type(column)} COMMENT {_quoted(column.comment)}"
        for column in table.columns
    )


def _spark_type(column: Column) -> str:
    if column.type == "list<struct>":
        inner = ", ".join(
            f"`{field.name}`: {_spark_type(field)} COMMENT {_quoted(field.comment)}"
            for field in column.fields
        )
        return f"ARRAY<STRUCT<{inner}>>"
    return SPARK_TYPES[column.type]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
