"""Pages of docs/ on tables, rendered from the tables' declarations."""

from collections.abc import Iterator
from typing import Final

from sessions.dataset.layout import LAYOUT, MARKER
from sessions.dataset.schema import SESSION, Column, Table
from sessions.dataset.tables import TABLES

DATASET_HEAD: Final = f"""\
# The dataset

`tidegauge sessions export` writes recorded sessions into one dataset, and `tidegauge analyze` reads
it with Spark. It is a folder of Parquet files (zstd), partitioned by session in Hive's way:

    DATASET/TABLE/{SESSION}=ID/part-00000.parquet

`DATASET/{MARKER}` says that the folder is a dataset, and which layout it has: this page is of
layout {LAYOUT}. A session is in the dataset as a whole or not at all: it is written in a hidden
folder beside and moved in when it is complete, the row in `sessions` last. Exported again, a
session that is there is left out; one whose export was killed is begun anew.

- Times are virtual, in microseconds (`us`) since the cluster was made.
- `event` is the number of an event (`seq`), by which any value leads back to what caused it.
- Offsets are Kafka's: LEO is the next offset to be written, HW the first one not committed.
- Every table also has `{SESSION}`, the session's id (a string, from the folder's name).
- A column without a meaning for null always has a value.

This page is rendered from the declarations that the files are written and read by
(`python -m sessions.dataset > docs/dataset.md`).
"""


def dataset_page() -> str:
    """docs/dataset.md as Markdown."""
    return page(DATASET_HEAD, TABLES)


def page(head: str, tables: tuple[Table, ...]) -> str:
    """A page as Markdown: its head, then a section a table."""
    return "\n".join([head, *(line for table in tables for line in _section(table))])


def _section(table: Table) -> Iterator[str]:
    yield f"## {table.name}"
    yield ""
    order = f" In a file, rows are in order of {table.order}." if table.order else ""
    yield f"A row is {table.row}.{order}"
    yield ""
    yield "| column | type | unit | meaning | null |"
    yield "|--|--|--|--|--|"
    yield from (_line(column) for column in table.columns)
    yield ""


def _line(column: Column) -> str:
    cells = (f"`{column.name}`", f"`{column.type}`", column.unit, column.meaning, column.null)
    return f"| {' | '.join(cells)} |"
