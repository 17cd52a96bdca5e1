"""Pages of docs/ on tables, rendered from the tables' declarations and from the events."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Final, get_type_hints

from emulator.events import TYPES, Event, MessageSent
from sessions.dataset.layout import LAYOUT, MANIFEST, MARKER, SCHEMA_FILE, STAGING
from sessions.dataset.rows.events import OWN_COLUMNS, shape_of
from sessions.dataset.rows.partition_data import DETAIL
from sessions.dataset.schema import SESSION, Column, Table
from sessions.dataset.tables import PARTITION_DATA, RUNS, TABLES

DATASET_HEAD: Final = f"""\
# The dataset

To query recorded sessions, export them to a dataset with `tidegauge sessions export`.
`tidegauge campaign` adds its runs directly, and `tidegauge analyze` reads the dataset with Spark. A
dataset is a folder of Parquet files (zstd), local or on an object store (`s3a://BUCKET/DATASET`),
with any number of sessions:

    DATASET/TABLE/COMMIT-00000.parquet

Sessions are added in commits: one per export, and one for each task of a campaign. A commit has a
file for each table in which it has rows. `DATASET/{MANIFEST}/COMMIT.json` lists the files and adds
them to the dataset atomically: readers see either a whole session or none of it. Incomplete files
are in `DATASET/{STAGING}`, which readers ignore; the next writer completes or removes what a killed
process left there. `DATASET/{MARKER}` marks the folder as a dataset and names its layout. This page
describes layout {LAYOUT}.

- Each table has a file `{SCHEMA_FILE}` without rows, so that its columns are known while it is
  empty.
- `tidegauge dataset verify` compares all files with the manifest: size, SHA-256, rows, columns; it
  also finds sessions that are there twice, files that do not belong there, and unfinished commits.
- `tidegauge dataset info` counts sessions, rows, files and bytes; `compact` merges the small files
  of many exports; `remove` removes sessions; `convert` converts a dataset of layout 2 or
  3 to a new one of this layout; sessions cannot be added to older layouts.
- `tidegauge dataset export --format delta|iceberg` writes the tables for readers of
  [Delta Lake](#delta-lake-and-iceberg) or Apache Iceberg.
- A session that is already in the dataset is not exported again; use `--replace` to replace it, for
  example after a recording that was exported in part has been finished.
- A file contains many sessions, sorted by `{SESSION}`; in `events` the rows of a row group are
  sorted by `type` first. A filter on sessions or event types reads only a small part of a file.
- Times are virtual, in microseconds (`us`) since the cluster was created.
- The unit `event` is the number of an event (`seq`), which identifies the cause of any value.
- Offsets are Kafka's: LEO is the next offset to be written, HW the first one not committed.
- A column without an entry under "null" is never null.

Object stores have no renames and no locks. Files are uploaded when they are complete, and the
manifest's entry last. The writer then reads the manifest again, and withdraws its commit if another
one has the same session or replaces the same commits: of two concurrent commits at most one
remains, and the other writer reports an error. Campaigns are not locked there, so do not start the
same campaign twice.

## Reading it without tidegauge

Any Parquet reader can read a table as `DATASET/TABLE/*.parquet`. Unless a writer is active, these
are exactly the files in the manifest. How long did each release take to commit a record?

{{examples}}
### Delta Lake and Iceberg

`tidegauge dataset export DATASET --format delta --out TABLES` writes each table as one of Delta
Lake, and `--format iceberg` as one of Apache Iceberg, with the same rows, columns and types, and
the meanings as the columns' comments. They are written by `deltalake` and `pyiceberg`, which the
extras `delta` and `iceberg` install. Nothing is added to them later: `--replace` writes them anew.

```python
import polars as pl

produced = pl.read_delta("TABLES/produced")
```

For Iceberg there is no catalog. Readers find the metadata by `version-hint.text`:

```python
from pyiceberg.table import StaticTable

produced = StaticTable.from_metadata("TABLES/produced").scan().to_polars()
```

Iceberg's metadata has absolute paths, so that its tables cannot be moved. PyIceberg reads a
missing `partition_data` of `events` as an empty list; other readers do not.

An example query follows each table. The queries use the tables' names. To define them in DuckDB,
run

```sql
CREATE VIEW events AS SELECT * FROM 'DATASET/events/*.parquet'
```

and in Spark, `spark.read.parquet("DATASET/events").createOrReplaceTempView("events")`.

## Joins

All tables join on `{SESSION}`; within a session:

| from | to | on |
|--|--|--|
| any column in `event` units (`seq`, `cause`, `sent_seq`, ..) | `events` | `{SESSION}`, `seq` |
| `consumed.record` | `produced` | `{SESSION}`, `record` |
| `partition_states` | `replica_states` | `{SESSION}`, `tp`, and overlapping validity |
| `elections`, .. | `partition_states` | `{SESSION}`, `tp`, and `seq` in its validity |
| `faults.broker` | `partition_states.leader` | `{SESSION}`, and `from_seq` <= `seq` < `to_seq` |
| `runs` | `sessions` | `{SESSION}` |

A row that is valid until the session's end has no `to_seq`: compare with
`coalesce(to_seq, 9223372036854775807)`.

In KRaft mode the metadata log takes the place of the state znodes: `zk_version` is the partition
epoch, `controller_epoch` the epoch of the quorum.

This page is generated from the declarations that readers and writers use
(`python -m sessions.dataset > docs/dataset.md`).
"""

DUCKDB: Final = """\
SELECT s.version, p.acks, count(*) AS records,
       quantile_cont(p.committed_us - p.sent_us, 0.5) AS commit_p50_us
FROM 'DATASET/produced/*.parquet' p JOIN 'DATASET/sessions/*.parquet' s USING (session)
WHERE p.committed_us IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""
POLARS: Final = """\
import polars as pl

produced = pl.scan_parquet("DATASET/produced/*.parquet")
sessions = pl.scan_parquet("DATASET/sessions/*.parquet").select("session", "version")
found = (
    produced.filter(pl.col("committed_us").is_not_null())
    .join(sessions, on="session")
    .group_by("version", "acks")
    .agg(
        pl.len().alias("records"),
        (pl.col("committed_us") - pl.col("sent_us")).median().alias("commit_p50_us"),
    )
    .sort("version", "acks")
    .collect()
)
"""
PANDAS: Final = """\
import pandas as pd

names = ["session", "acks", "sent_us", "committed_us"]
produced = pd.read_parquet("DATASET/produced", columns=names)
sessions = pd.read_parquet("DATASET/sessions", columns=["session", "version"])
committed = produced.dropna(subset=["committed_us"]).merge(sessions, on="session")
committed["commit_us"] = committed["committed_us"] - committed["sent_us"]
groups = committed.groupby(["version", "acks"], as_index=False)
found = groups.agg(records=("commit_us", "size"), commit_p50_us=("commit_us", "median"))
"""
READERS: Final = (
    ("DuckDB", "sql", DUCKDB),
    ("Polars", "python", POLARS),
    ("pandas", "python", PANDAS),
)
"""Queries that the page shows, and that the tests run."""


def dataset_page() -> str:
    """docs/dataset.md as Markdown."""
    shown = "\n".join(
        f"With {name}:\n\n```{language}\n{code}```\n" for name, language, code in READERS
    )
    head = DATASET_HEAD.replace("{examples}", shown)
    return "\n".join([page(head, (*TABLES, RUNS)), *_events()])


def _events() -> Iterator[str]:
    yield "## The types of events"
    yield ""
    yield (
        "The meaning of a row of `events`, by its `type`. Fields in *italics* are in `payload`; "
        "all other fields have their own columns, under another name if one is given."
    )
    for name, kind in sorted(TYPES.items()):
        yield ""
        yield f"### {name}"
        yield ""
        yield cleandoc(kind.__doc__ or "").replace("``", "`").replace(":class:", "")
        fields = ", ".join(_field(kind, field) for field in kind.__struct_fields__[3:])
        if fields:
            yield ""
            yield f"Fields: {fields}"
    yield ""


def _field(kind: type[Event], name: str) -> str:
    hint = get_type_hints(kind)[name]
    type_name = (
        hint.__name__ if isinstance(hint, type) and not hasattr(hint, "__args__") else str(hint)
    )
    shape = shape_of(kind)
    if name == shape.place != "broker":
        return f"`{name}` ({type_name}, in `broker`)"
    if kind is MessageSent and name == DETAIL:
        return f"`{name}` ({type_name}, in `{PARTITION_DATA.name}`)"
    if (column := shape.column_of(name)) not in (name, "broker"):
        return f"`{name}` ({type_name}, in `{column}`)"
    if name in OWN_COLUMNS or name in shape.typed_fields:
        return f"`{name}` ({type_name})"
    return f"*{name}* ({type_name})"


def page(head: str, tables: tuple[Table, ...]) -> str:
    """A page as Markdown: its head, then a section a table."""
    sections = map(_section, tables)
    return "\n".join([head, *(line for section in sections for line in section)])


def _section(table: Table) -> Iterator[str]:
    yield f"## {table.name}"
    yield ""
    order = f" In a file, rows are {table.order}." if table.order else ""
    yield f"A row is {table.row}.{order}"
    yield ""
    yield "| column | type | unit | meaning | null |"
    yield "|--|--|--|--|--|"
    for column in table.columns:
        yield _line(column)
        yield from (_line(field, f"{column.name}.") for field in column.fields)
    yield ""
    if table.example is not None:
        yield table.example.question
        yield ""
        yield f"```sql\n{table.example.sql}```"
        yield ""


def _line(column: Column, within: str = "") -> str:
    cells = (
        f"`{within}{column.name}`",
        f"`{column.type}`",
        column.unit,
        column.meaning,
        column.null,
    )
    return f"| {' | '.join(cells)} |"
