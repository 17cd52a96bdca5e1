"""Export session files: each is added to a dataset once, under its file's name.

An export that was killed resumes when it is started again: sessions that are in the dataset are
skipped, and partly written ones are written again.
"""

import contextlib
import os
import re
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from sessions.dataset.export import ExportReport, Progress, RowsWriter, require_arrow
from sessions.dataset.layout import Commit, Dataset, DatasetError, Staging
from sessions.dataset.location import Location
from sessions.dataset.maintenance import commits_with, keep_others
from sessions.dataset.parallel_export import BESIDE, WORTH_EVENTS, add_chunks, exporting_beside
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION
from sessions.dataset.session_rows import SessionRows
from sessions.dataset.tables import SESSIONS, TABLES
from sessions.format.errors import SessionDamagedError, SessionIncompleteError
from sessions.format.file import SessionFile
from sessions.format.schema import SUFFIX
from sessions.text import clean

IDENTITY: Final = ("version", "seed", "events", "last_seq", "state_hash")
"""The columns of ``sessions`` that distinguish two sessions of the same name."""
ID_CHARACTERS_MAX: Final = 128


class Added(Struct, frozen=True):
    """The result of adding a session file; ``report`` None: it was in the dataset already."""

    session: str
    events: int
    report: ExportReport | None


def session_id(path: Path) -> str:
    """Return a session's id: its file's name, with ``-`` for characters that an id cannot have."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", path.name.removesuffix(SUFFIX)).lstrip("._-")
    return name[:ID_CHARACTERS_MAX] or "session"


def add_session(
    session: SessionFile,
    dataset: "str | Path | Location",
    progress: Progress | None = None,
    *,
    replace: bool = False,
) -> Added:
    """Add a session to the dataset unless it is there already; create the dataset if necessary.

    The readable part of a damaged session is added. With ``replace``, the session replaces another
    one of its name, or an earlier part of itself.

    Raises:
        DatasetError: the dataset cannot be written, or has another session of this name.
        SessionIncompleteError: the file does not contain the session's beginning.
        SessionDamagedError: no event can be read.
    """
    require_rows(session)
    require_arrow()
    facts = facts_of(session)
    into = Dataset(dataset)
    into.recover()
    there = _row(into, facts.id)
    if there is not None and _same(session, facts, there):
        return Added(facts.id, session.last_seq, None)
    if there is not None and not replace:
        raise _other(session, facts, into, there)
    given_up = [] if there is None else commits_with(into, [facts.id])
    report = _export(session, facts, into, given_up, progress)
    return Added(facts.id, report.events, report)


def require_rows(session: SessionFile) -> None:
    """Check that rows can be made of a session.

    Raises:
        SessionIncompleteError: the file does not contain the session's beginning.
        SessionDamagedError: no event can be read.
    """
    if session.first_seq > 1:
        raise SessionIncompleteError(
            f"{session.path} begins with event {session.first_seq:,}, and only a session "
            "with all of its events can be exported."
        )
    if session.damage and not session.last_seq:
        raise SessionDamagedError(f"{session.path}: there is no event to export.")


def _export(
    session: SessionFile,
    facts: SessionFacts,
    into: Dataset,
    given_up: list[Commit],
    progress: Progress | None,
) -> ExportReport:
    """Write a session's tables, some of them in a second process if the session is long enough.

    The other sessions of the commits ``given_up`` are rewritten with it.
    """
    last_seq = session.last_seq
    in_two = last_seq >= WORTH_EVENTS and (os.cpu_count() or 1) > 1
    names = [table.name for table in TABLES if not (in_two and table.name in BESIDE)]
    with contextlib.ExitStack() as stack:
        staging = stack.enter_context(into.staging())
        beside = (
            stack.enter_context(exporting_beside(session, facts.id, staging)) if in_two else None
        )
        writer = stack.enter_context(RowsWriter(staging.path, staging.id, names))
        rows = SessionRows(facts.id, names)
        for events in add_chunks(rows, writer, session, last_seq):
            if progress is not None:
                progress(events)
        rows.finish(facts)
        writer.take(rows)
        writer.finish()
        counted = writer.rows | ({} if beside is None else beside.rows())
        size = _size(staging)
        others, other_events = (
            keep_others(into, staging, given_up, [facts.id]) if given_up else ([], 0)
        )
        staging.commit([*others, facts.id], rows.events + other_events, given_up)
        in_order = {table.name: counted[table.name] for table in TABLES}
        return ExportReport(facts.id, rows.events, in_order, size)


def _size(staging: Staging) -> int:
    return sum(path.stat().st_size for path in staging.path.rglob("*.parquet"))


def facts_of(session: SessionFile) -> SessionFacts:
    """Return what a session's file says about it besides its events."""
    outcome = session.outcome if session.complete else None
    return SessionFacts(
        id=session_id(session.path),
        name=session.origin.name,
        variables=session.origin.variables,
        state_hash=None if outcome is None else outcome.state_hash,
        end_us=None if outcome is None else outcome.time_us,
        complete=session.complete,
        damaged_at=session.damaged_at,
        path=clean(str(session.path.absolute())),
    )


def _row(dataset: Dataset, session: str) -> dict[str, Any] | None:
    """Return a session's row in ``sessions``; None if it is not in the dataset."""
    import pyarrow.compute as pc

    if session not in dataset:
        return None
    rows = dataset.scan(SESSIONS, IDENTITY, pc.field(SESSION) == session).to_pylist()
    return rows[0] if rows else None


def _same(session: SessionFile, facts: SessionFacts, there: dict[str, Any]) -> bool:
    origin, last = session.origin, session.last_seq
    values = (origin.version, origin.seed, last, last, facts.state_hash)
    return tuple(there[name] for name in IDENTITY) == values


def _other(
    session: SessionFile, facts: SessionFacts, dataset: Dataset, there: dict[str, Any]
) -> DatasetError:
    return DatasetError(
        f"{dataset} has another session called {facts.id}: it has {there['events']:,} "
        f"events and seed {there['seed']}, {session.path} has {session.last_seq:,} and seed "
        f"{session.origin.seed}; rename the file, export into another dataset, or give --replace"
    )
