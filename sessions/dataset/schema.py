"""Declarations of the dataset's tables, column by column, with types, units and meanings.

The Parquet schema, the schema that Spark reads with, and the page in docs/ are all made from one
:class:`Table`, so they cannot disagree.
"""

from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

if TYPE_CHECKING:
    import pyarrow as pa

Type = Literal["string", "int32", "int64", "double", "bool", "list<int32>", "list<string>"]

SPARK_TYPES: Final[dict[Type, str]] = {
    "string": "STRING",
    "int32": "INT",
    "int64": "BIGINT",
    "double": "DOUBLE",
    "bool": "BOOLEAN",
    "list<int32>": "ARRAY<INT>",
    "list<string>": "ARRAY<STRING>",
}

SESSION: Final = "session"
"""The first column of every table."""
PARTITION: Final = (SESSION, "tp", "topic", "partition")
"""The columns that name the partition of a row."""


class Column(Struct, frozen=True):
    """One column; ``unit`` is that of a number (``us`` of virtual time, ``offset``, ..).

    ``null`` says what a missing value means; empty: the column always has a value.
    """

    name: str
    type: Type
    unit: str
    meaning: str
    null: str = ""


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


def arrow_schema(table: Table) -> "pa.Schema":
    """Return a table's Arrow schema; columns without a meaning for null are required."""
    import pyarrow as pa

    types: dict[Type, pa.DataType] = {
        "string": pa.string(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "double": pa.float64(),
        "bool": pa.bool_(),
        "list<int32>": pa.list_(pa.int32()),
        "list<string>": pa.list_(pa.string()),
    }
    return pa.schema(
        [
            pa.field(column.name, types[column.type], nullable=bool(column.null))
            for column in table.columns
        ]
    )


def spark_schema(table: Table) -> str:
    """Return a table's schema as Spark's DDL, so that Spark need not infer it."""
    return ", ".join(f"`{column.name}` {SPARK_TYPES[column.type]}" for column in table.columns)
