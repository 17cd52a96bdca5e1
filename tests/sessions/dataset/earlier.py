"""Datasets as earlier programs wrote them."""

import shutil
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from sessions.dataset.layout import MARKER, SCHEMA, SCHEMA_FILE, Dataset
from sessions.dataset.rows.events import as_event
from tests.sessions.dataset.reading import files, rows


def as_layout_2(dataset: Path, old: Path) -> None:
    """Write a dataset as layout 2 had it: it did not say which sessions are complete."""
    old.mkdir()
    (old / MARKER).write_bytes(msgspec.json.encode({"dataset": "tidegauge", "layout": 2}))
    for name in Dataset(dataset).sessions():
        for table in ("events", "sessions"):
            found = [_with_json(table, row) for row in rows(dataset, table, name)]
            for row in found:
                for column in ("complete", "damaged_at", "path"):
                    row.pop(column, None)
            folder = old / table / f"session={name}"
            folder.mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(found), folder / "part-00000.parquet")


def as_layout_3(dataset: Path, old: Path) -> None:
    """Write events and sessions as layout 3 had them."""
    shutil.copytree(dataset, old, ignore=shutil.ignore_patterns(SCHEMA_FILE, f"{SCHEMA}.json"))
    (old / MARKER).write_bytes(msgspec.json.encode({"dataset": "tidegauge", "layout": 3}))
    for table in ("events", "sessions", "runs"):
        for file in files(old, table):
            found = pq.read_table(file, partitioning=None).to_pylist()
            pq.write_table(pa.Table.from_pylist([_with_json(table, row) for row in found]), file)


def _with_json(table: str, row: dict[str, object]) -> dict[str, object]:
    if table == "events":
        return _with_whole_payload(row)
    maps = {name: row[name] for name in ("config", "variables", "varied") if name in row}
    return row | {
        name: msgspec.json.encode(dict(value)).decode()  # type: ignore[call-overload]
        for name, value in maps.items()
    }


def _with_whole_payload(row: dict[str, object]) -> dict[str, object]:
    event = as_event(row)
    own = {"seq", "time_us", "cause", "tp", "topic", "broker"}
    fields = {each: getattr(event, each) for each in event.__struct_fields__ if each not in own}
    names = ("session", "seq", "time_us", "cause", "type", "tp", "topic", "broker")
    kept = {name: row[name] for name in names if name in row}
    return kept | {"payload": msgspec.json.encode(fields).decode()}
