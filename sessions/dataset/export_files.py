"""Exporting session files: each enters a dataset once, under its file's name.

Started again, an export goes on where it was killed: what is in the dataset is left out, and what
was half written is written anew.
"""

import contextlib
import os
import re
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from sessions.dataset.export import Export, ExportReport, Progress, require_arrow
from sessions.dataset.layout import DatasetError, DatasetFolder, DatasetUnreadable
from sessions.dataset.parallel_export import BESIDE, WORTH_EVENTS, add_chunks, exporting_beside
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import SESSIONS, TABLES
from sessions.format.errors import SessionDamagedError, SessionIncompleteError
from sessions.format.file import SessionFile
from sessions.format.schema import SUFFIX

IDENTITY: Final = ("version", "seed", "events", "last_seq", "state_hash")
"""The columns of ``sessions`` by which two sessions of one name are told apart."""
ID_CHARACTERS_MAX: Final = 128


class Added(Struct, frozen=True):
    """What became of a session file; ``report`` None: it was in the dataset already."""

    session: str
    events: int
    report: ExportReport | None


def session_id(path: Path) -> str:
    """What a session is called in a dataset: its file's name, ``-`` for what it may not have."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", path.name.removesuffix(SUFFIX)).lstrip("._-")
    return name[:ID_CHARACTERS_MAX] or "session"


def add_session(
    session: SessionFile, dataset: str | os.PathLike[str], progress: Progress | None = None
) -> Added:
    """Add a session to the dataset, which is made if need be, unless it is there already.

    Of a damaged session, the part that can be read is added.

    Raises:
        DatasetError: the dataset cannot be added to, or has another session of this name.
        SessionIncompleteError: the session's beginning is not in its file.
        SessionDamagedError: there is no event that can be read.
    """
    if session.first_seq > 1:
        raise SessionIncompleteError(
            f"{session.path} begins with event {session.first_seq:,}, and only a session "
            "with all of its events can be exported."
        )
    if session.damage and not session.last_seq:
        raise SessionDamagedError(f"{session.path}: there is no event to export.")
    require_arrow()
    facts = _facts(session)
    folder = DatasetFolder(Path(dataset))
    folder.settle()
    there = _row(folder, facts.id)
    if there is None:
        report = _export(session, facts, folder, progress)
        return Added(facts.id, report.events, report)
    _require_same(session, facts, folder, there)
    return Added(facts.id, session.last_seq, None)


def _export(
    session: SessionFile, facts: SessionFacts, folder: DatasetFolder, progress: Progress | None
) -> ExportReport:
    """Write a session's tables, some of them by a second process if that is worth its start."""
    last_seq = session.last_seq
    in_two = last_seq >= WORTH_EVENTS and (os.cpu_count() or 1) > 1
    names = [table.name for table in TABLES if not (in_two and table.name in BESIDE)]
    with contextlib.ExitStack() as stack:
        hidden = stack.enter_context(folder.adding(facts.id))
        beside = stack.enter_context(exporting_beside(session, hidden)) if in_two else None
        export = stack.enter_context(Export(hidden.path, names))
        for events in add_chunks(export, session, last_seq):
            if progress is not None:
                progress(events)
        own = export.finish(facts)
        if beside is None:
            return own
        other = beside.report()
        rows = own.rows | other.rows
        return msgspec.structs.replace(
            own,
            rows={table.name: rows[table.name] for table in TABLES},
            size_bytes=own.size_bytes + other.size_bytes,
        )


def _facts(session: SessionFile) -> SessionFacts:
    outcome = session.outcome if session.complete else None
    return SessionFacts(
        id=session_id(session.path),
        name=session.origin.name,
        variables=session.origin.variables,
        state_hash=None if outcome is None else outcome.state_hash,
        end_us=None if outcome is None else outcome.time_us,
        complete=session.complete,
        damaged_at=session.damaged_at,
        path=str(session.path.absolute()),
    )


def _row(folder: DatasetFolder, session: str) -> dict[str, Any] | None:
    """A session's row in ``sessions``; None if it is not in the dataset."""
    place = folder.path / SESSIONS.name / f"{SESSION}={session}"
    if not folder.exists or not place.exists():
        return None
    from pyarrow import ArrowException

    try:
        parts = sorted(place.glob("*.parquet"))
        (row,) = [row for part in parts for row in _rows(part)]
    except (ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise DatasetUnreadable(f"{place} is damaged: {reason}") from error
    return row


def _rows(part: Path) -> list[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(part) as file:
        found: list[dict[str, Any]] = file.read(columns=list(IDENTITY)).to_pylist()
    return found


def _require_same(
    session: SessionFile, facts: SessionFacts, folder: DatasetFolder, there: dict[str, Any]
) -> None:
    origin, last = session.origin, session.last_seq
    values = (origin.version, origin.seed, last, last, facts.state_hash)
    if tuple(there[name] for name in IDENTITY) != values:
        raise DatasetError(
            f"{folder.path} has another session called {facts.id}: it has {there['events']:,} "
            f"events and seed {there['seed']}, {session.path} has {last:,} and seed {origin.seed}; "
            "rename the file, or export into another dataset"
        )
