"""Reading back, with Arrow alone, what was exported."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from emulator.events import Event
from sessions.dataset.export import ExportReport, export_session
from sessions.dataset.rows.sessions import SessionFacts

Row = dict[str, Any]


def exported(events: Iterable[Event], dataset: Path, session: str = "s1") -> ExportReport:
    """Export events as a session."""
    return export_session(events, SessionFacts(session), dataset)


def rows(dataset: Path, table: str, session: str = "s1") -> list[Row]:
    """A session's rows of a table."""
    found: list[Row] = []
    for part in sorted((dataset / table / f"session={session}").glob("*.parquet")):
        found.extend(pq.ParquetFile(part).read().to_pylist())
    return found
