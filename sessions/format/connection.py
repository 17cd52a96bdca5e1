"""Open a session's database for reading, even if it comes from an untrusted source.

Nothing in an untrusted file may be executed. So its schema must be exactly the one that this
program creates: a view or a generated column would be evaluated when it is read, a trigger when a
bookmark is written.
"""

import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from sessions.format.errors import (
    REASON_CHARACTERS_MAX,
    NotASessionError,
    SessionDamagedError,
    SessionMissingError,
)
from sessions.format.limits import TEXT_BYTES_MAX, VALUE_BYTES_MAX
from sessions.format.schema import BESIDE, tables_of

SCHEMA_ROWS_MAX: Final = 100
"""Maximum number of tables of a session."""
FOREIGN: Final = ("view", "trigger", "index")
"""Types of objects in foreign databases; any other word but ``table`` means damage."""
UNREADABLE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions from reading a damaged database; SQLite's message may itself be invalid text."""


class Opened(Struct, frozen=True):
    """A database that can be read.

    ``copy`` is the copy that is read instead of the file, and must be cleaned up. ``missing`` says
    which part of the session cannot be read here; empty: none.
    """

    database: sqlite3.Connection
    copy: "tempfile.TemporaryDirectory[str] | None" = None
    missing: str = ""

    def close(self) -> None:
        """Close the connection."""
        self.database.close()
        if self.copy is not None:
            self.copy.cleanup()


def open_database(path: Path, schema: int, *, is_short: bool) -> Opened:
    """Open a session's file; ``is_short``: it has fewer bytes than its header states.

    The write-ahead log that a killed recorder left beside the file (``-wal``) is read with it. If
    the folder is not writable, SQLite cannot open the log, so a copy of both is read.

    Raises:
        SessionMissingError: the file cannot be read.
        SessionDamagedError: nothing in the file can be read.
        NotASessionError: the file contains objects that no session has.
    """
    opened = _opened(path, is_short=is_short)
    try:
        _require_tables(path, opened.database, schema)
    except BaseException:
        opened.close()
        raise
    return opened


def _opened(path: Path, *, is_short: bool) -> Opened:
    for options in ("mode=ro",) if is_short else ("mode=rw", "mode=ro"):
        with suppress(sqlite3.OperationalError):
            return Opened(_connect(path, options, is_short=is_short))
    missing = ""
    try:
        logs = [beside for beside in map(path.with_name, _logs(path)) if _has_content(beside)]
        if logs:
            try:
                return _opened_copy(path, logs, is_short=is_short)
            except OSError as error:
                missing = (
                    f"{path} is not all there: its newest events are in {logs[0].name}, which "
                    f"cannot be read here ({error.strerror or error})."
                )
        return Opened(_connect(path, IMMUTABLE, is_short=is_short), missing=missing)
    except sqlite3.OperationalError as error:
        raise SessionMissingError(f"{path} cannot be read: {error}.") from error


IMMUTABLE: Final = "mode=ro&immutable=1"
"""Read only the file itself, without its log."""


def _logs(path: Path) -> list[str]:
    """Return the names of files that may hold more of a session than its main file."""
    return [f"{path.name}{beside}" for beside in BESIDE if beside != "-shm"]


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _opened_copy(path: Path, logs: list[Path], *, is_short: bool) -> Opened:
    """Open a copy of the file and its logs.

    Raises:
        OSError: the file cannot be copied.
        sqlite3.OperationalError: the copy cannot be opened.
    """
    folder = tempfile.TemporaryDirectory(prefix="tidegauge-")
    try:
        for each in (path, *logs):
            shutil.copyfile(each, Path(folder.name, each.name))
        copy = Path(folder.name, path.name)
        return Opened(_connect(copy, "mode=rw", is_short=is_short), folder)
    except BaseException:
        folder.cleanup()
        raise


def _connect(path: Path, options: str, *, is_short: bool = False) -> sqlite3.Connection:
    """Return a read-only connection.

    Raises:
        sqlite3.OperationalError: the file cannot be opened in this way.
        SessionDamagedError: the database is malformed.
    """
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
        database.text_factory = _text
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        if is_short:  # otherwise SQLite refuses to open a truncated file
            database.execute("PRAGMA writable_schema = ON")
        database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        database.close()
        raise
    except UNREADABLE as error:
        database.close()
        raise SessionDamagedError(damage_sentence(path, error)) from error
    return database


def _text(content: bytes) -> str:
    """Return a text of a table; only Base64 may be very long.

    Raises:
        sqlite3.DataError: it would take several times its bytes.
        UnicodeDecodeError: it is not UTF-8.
    """
    if len(content) > TEXT_BYTES_MAX and not content.isascii():
        raise sqlite3.DataError(f"a text of {len(content):,} bytes is too long")
    return content.decode()


def _require_tables(path: Path, database: sqlite3.Connection, schema: int) -> None:
    expected = tables_of(schema)
    try:
        statement = "SELECT type, name, sql FROM sqlite_schema LIMIT ?"
        found = database.execute(statement, (SCHEMA_ROWS_MAX,)).fetchall()
    except UNREADABLE as error:
        raise SessionDamagedError(damage_sentence(path, error)) from error
    for kind, name, sql in found:
        if kind in FOREIGN:
            raise NotASessionError(
                f"{path} is not a session: it holds the {kind} {brief(name)!r}, "
                "and a session holds tables only."
            )
        if kind != "table" or " ".join(str(sql).split()) != expected.get(name, ""):
            raise SessionDamagedError(
                f"{path} is damaged: its table {brief(name)!r} is none that a session has."
            )


def damage_sentence(path: Path, error: object) -> str:
    """Describe a file that an error shows to be damaged."""
    return f"{path} is damaged: {brief(error)}."


def brief(error: object) -> str:
    """Return an error's text in one line; SQLite may quote whole statements."""
    text = " ".join(str(error).split())
    return text if len(text) <= REASON_CHARACTERS_MAX else f"{text[:REASON_CHARACTERS_MAX]}.."
