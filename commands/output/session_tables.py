"""Tables of session files: a folder's list, and the details of one session."""

from pathlib import Path
from typing import Any

import msgspec

from commands.language.statements.show import Show
from commands.output.grids import Cell, Grid
from commands.output.show_tables import grids
from sessions.format.catalog import Listed, list_sessions, show_session
from sessions.format.chunks import Chunks
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin
from sessions.format.schema import SUFFIX
from sessions.playback.replay import Replay
from sessions.text import clock

COLUMNS = ("FILE", "BYTES", "VERSION", "SEED", "EVENTS", "TIME", "ENDED", "FAILED", "LOST")


def listing(folder: Path) -> Grid:
    """Return one row per session, by name; an unreadable one has the reason in its row.

    Raises:
        SessionError: there is no such folder.
    """
    rows = [_row(session) for session in list_sessions(folder)]
    return Grid(f"sessions in {folder}", COLUMNS, rows, empty=f"none (files named *{SUFFIX})")


def listed_plain(folder: Path) -> list[dict[str, Any]]:
    """The same as plain data with more details: keys of the table, then numbers and names.

    Raises:
        SessionError: there is no such folder.
    """
    sessions = list_sessions(folder)
    rows = Grid("", COLUMNS, [_row(session) for session in sessions]).plain()
    return [row | _more(session) for row, session in zip(rows, sessions, strict=True)]


def _more(listed: Listed) -> dict[str, Any]:
    outcome = listed.outcome
    return {
        "path": str(listed.path),
        "first_event": listed.extent.first_seq,
        "time_ms": listed.time_us // 1_000,
        "bookmarks": listed.bookmarks,
        "problem": listed.problem,
        "origin": None if listed.origin is None else _origin(listed.origin),
        "outcome": None if outcome is None else msgspec.to_builtins(outcome),
    }


def _origin(origin: Origin) -> dict[str, Any]:
    """Return a session's origin, without the full cluster configuration."""
    return {name: value for name, value in msgspec.to_builtins(origin).items() if name != "cluster"}


def _row(listed: Listed) -> tuple[Cell, ...]:
    origin, outcome = listed.origin, listed.outcome
    if origin is None:
        return (listed.path.name, listed.size_bytes, *[None] * 4, listed.problem, None, None)
    return (
        listed.path.name,
        listed.size_bytes,
        origin.version,
        origin.seed,
        listed.events,
        clock(listed.time_us),
        listed.ended,
        None if outcome is None else outcome.failed,
        None if outcome is None else outcome.lost,
    )


def described_plain(session: SessionFile) -> dict[str, Any]:
    """Return everything known about a session as plain data."""
    outcome = session.outcome
    return {
        "path": str(session.path),
        "damage": session.damage,
        "complete": session.complete,
        "damaged_at": session.damaged_at,
        "ended": show_session(session.path).ended,
        "origin": msgspec.to_builtins(session.origin),
        "size_bytes": session.path.stat().st_size,
        "events": session.last_seq - session.first_seq + 1,
        "first_event": session.first_seq,
        "last_event": session.last_seq,
        "keyframes": len(session.keyframes),
        "time_ms": session.last_us // 1_000,
        "outcome": None if outcome is None else msgspec.to_builtins(outcome),
        "inputs": [
            {
                "seq": statement.seq,
                "time_ms": statement.time_us // 1_000,
                "line": statement.line,
                "text": statement.text,
            }
            for statement in session.inputs(frames=False)
        ],
        "bookmarks": [
            {
                "seq": bookmark.seq,
                "time_ms": bookmark.time_us // 1_000,
                "name": bookmark.name,
                "note": bookmark.note,
            }
            for bookmark in session.bookmarks()
        ],
    }


def described(session: SessionFile) -> list[Grid]:
    """Return the same as tables, with the partitions and the audit of the final state."""
    replay = Replay(Chunks(session))
    replay.seek_seq(session.last_seq)
    tables = [Grid(str(session.path), ("WHAT", "VALUE"), _described_rows(session))]
    inputs: list[tuple[Cell, ...]] = [
        (statement.seq, clock(statement.time_us), statement.line or None, statement.text)
        for statement in session.inputs(frames=False)
    ]
    tables.append(Grid("statements", ("EVENT", "TIME", "LINE", "STATEMENT"), inputs))
    bookmarks: list[tuple[Cell, ...]] = [
        (bookmark.seq, clock(bookmark.time_us), bookmark.name, bookmark.note)
        for bookmark in session.bookmarks()
    ]
    if bookmarks:
        tables.append(Grid("bookmarks", ("EVENT", "TIME", "NAME", "NOTE"), bookmarks))
    return [*tables, *grids(Show("partitions"), replay.view), *grids(Show("audit"), replay.view)]


def _events(session: SessionFile) -> Cell:
    first, last = session.first_seq, session.last_seq
    if first == 1 and not session.extent.is_trimmed:
        return last
    total = f" of {session.extent.last_seq:,}" if session.extent.is_trimmed else ""
    return f"{last - first + 1:,}: {first:,} to {last:,}{total}"


def _described_rows(session: SessionFile) -> list[tuple[Cell, ...]]:
    origin, outcome = session.origin, session.outcome
    rows: list[tuple[Cell, ...]] = [
        ("name", origin.name),
        ("version", origin.version),
        ("seed", origin.seed),
        ("recorded", origin.began or None),
        ("script", origin.script or None),
        ("variables", [f"{name}={value}" for name, value in origin.variables.items()]),
        ("events", _events(session)),
        ("time", clock(session.last_us)),
        ("ended", show_session(session.path).ended),
    ]
    if outcome is not None:
        rows += [
            ("expectations", f"{outcome.passed} held, {outcome.failed} failed"),
            ("state hash", outcome.state_hash),
        ]
    return rows
