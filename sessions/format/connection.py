"""Open a session's database for reading, even if it comes from an untrusted source.

An untrusted file is data: nothing in it may ever be executed. So its schema must be exactly the one
that this program creates, and nothing else may be in it: a view or a generated column would be
evaluated on reading, a trigger on writing a bookmark.
"""

import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from sessions.format.codec import RAW_BYTES_MAX
from sessions.format.errors import NotASessionError, SessionDamagedError, SessionMissingError
from sessions.format.schema import BESIDE, tables_of

REASON_CHARACTERS_MAX: Final = 120
SCHEMA_ROWS_MAX: Final = 100
"""Maximum number of tables of a session."""
FOREIGN: Final = ("view", "trigger", "index")
"""What may be in a database that is none of ours; any other word beside ``table`` is damage."""
UNREADABLE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions from reading a damaged database; SQLite's message may itself be invalid text."""


class Opened(Struct, frozen=True):
    """A database that can be read.

    ``copy`` holds the copy that is read instead of the file, and must be cleaned up. ``missing``
    says which part of the session cannot be read here, or is empty.
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
    """Open a session's file; ``is_short``: it has fewer bytes than its header says.

    What a killed recorder left in the log beside the file (``-wal``) is read with it. Where the
    folder cannot be written, SQLite cannot take the log in, so a copy of both is read.

    Raises:
        SessionMissingError: the file cannot be read.
        SessionDamagedError: nothing in it can be.
        NotASessionError: it holds what no session does.
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
"""Read the file alone, as it is."""


def _logs(path: Path) -> list[str]:
    """Return the names of files that may hold more of a session than its main file."""
    return [f"{path.name}{beside}" for beside in BESIDE if beside != "-shm"]


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _opened_copy(path: Path, logs: list[Path], *, is_short: bool) -> Opened:
    """A copy of the file with its logs, which SQLite can take in.

    Raises:
        OSError: it cannot be copied.
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
    """A connection that only reads.

    Raises:
        sqlite3.OperationalError: the file cannot be opened in this way.
        SessionDamagedError: it is no sound database.
    """
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, RAW_BYTES_MAX)
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        if is_short:  # otherwise SQLite refuses a file that is cut short as a whole
            database.execute("PRAGMA writable_schema = ON")
        database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        database.close()
        raise
    except UNREADABLE as error:
        database.close()
        raise SessionDamagedError(damage_sentence(path, error)) from error
    return database


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
    """An error's text in one line; SQLite may quote whole statements."""
    text = " ".join(str(error).split())
    return text if len(text) <= REASON_CHARACTERS_MAX else f"{text[:REASON_CHARACTERS_MAX]}.."
