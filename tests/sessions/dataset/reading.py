"""Reading back, with Arrow alone, what was exported."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from emulator.events import Event
from sessions.dataset.export import ExportReport, export_session
from sessions.dataset.layout import SCHEMA_FILE, Dataset
from sessions.dataset.rows.record_runs import runs_to_table
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION, Table
from sessions.dataset.tables import BY_NAME, RUNS
from sessions.dataset.writer import rows_to_table

Row = dict[str, Any]


def exported(events: Iterable[Event], dataset: Path, session: str = "s1") -> ExportReport:
    """Export events as a session."""
    return export_session(events, SessionFacts(session), dataset)


def rows(dataset: Path, table: str, session: str = "s1") -> list[Row]:
    """A session's rows of a table without the session's id; those of events by number."""
    declared = RUNS if table == RUNS.name else BY_NAME[table]
    found = Dataset(dataset).scan(declared, declared.names, pc.field(SESSION) == session)
    made: list[Row] = found.drop_columns([SESSION]).to_pylist()
    return sorted(made, key=lambda row: row["seq"]) if table == "events" else made


def files(dataset: Path, table: str) -> list[Path]:
    """The files of a table that have rows, or of all tables (``*``)."""
    found = dataset.glob(f"{table}/*.parquet")
    return sorted(path for path in found if path.name != SCHEMA_FILE)


def made(table: Table, found: Sequence[tuple[Any, ...]]) -> list[Row]:
    """What rows become in the files, without the session's id."""
    return _without_session(rows_to_table(table, found, [("s1", len(found))]))


def made_of_runs(table: Table, found: Sequence[tuple[Any, ...]]) -> list[Row]:
    """What runs of records become in the files, without the session's id."""
    return _without_session(runs_to_table(table, found, [("s1", len(found))]))


def _without_session(rows: pa.Table) -> list[Row]:
    found: list[Row] = rows.drop_columns([SESSION]).to_pylist()
    return found
