"""The one place that opens the database of a session, even if it comes from an untrusted source.

A session is data, and nothing in it or beside it may do anything. So:

- It is opened for reading only (``mode=ro``), also while it is recorded and after its recorder was
  killed; ``readonly_shm`` and ``immutable`` keep SQLite from creating files beside it. Only a
  bookmark that somebody sets is written, by :func:`open_for_bookmarks`.
- What lies beside it is looked at first (:mod:`sessions.format.beside`).
- Its schema must be exactly the one that this program creates: a view or a generated column would
  be evaluated when it is read, a trigger when a bookmark is written.
- Statements may do only what an authorizer allows: read a session's tables.
- SQLite's own switches are off: see :func:`_switch_off`.
"""

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from sessions.format.beside import (
    LOG,
    beside,
    require_nothing_beside,
    require_safe_to_read,
    require_safe_to_write,
)
from sessions.format.errors import (
    REASON_CHARACTERS_MAX,
    NotASessionError,
    SessionDamagedError,
    SessionError,
    SessionMissingError,
)
from sessions.format.header import Header, read_header
from sessions.format.limits import TEXT_BYTES_MAX, VALUE_BYTES_MAX
from sessions.format.schema import SCHEMA, tables_of

SCHEMA_ROWS_MAX: Final = 100
"""Maximum number of tables of a session."""
FOREIGN: Final = ("view", "trigger", "index")
"""Types of objects in foreign databases; any other word but ``table`` means damage."""
UNREADABLE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions from reading a damaged database; SQLite's message may itself be invalid text."""
READ_ONLY: Final = "mode=ro&readonly_shm=1"
"""Also read the log, if its index is there, and write nothing."""
IMMUTABLE: Final = "mode=ro&immutable=1"
"""Read only the file itself, without its log."""
SCHEMA_TABLES: Final = ("sqlite_schema", "sqlite_master")
READABLE: Final = (*SCHEMA_TABLES, *tables_of(SCHEMA))
FUNCTIONS: Final = ("count", "max")
"""The functions of SQL that reading a session needs."""
PRIVATE: Final = 0o600
"""Only the user who records may read a session: it may hold what people wrote."""

Allowed = Callable[[int, str | None, str | None, str | None, str | None], int]
"""An authorizer: an action's code, two arguments, the database, and the trigger or view."""


class Opened(Struct, frozen=True):
    """A database that can be read.

    ``copy`` is the copy that is read instead of the file, and must be cleaned up. ``missing`` says
    which part of the session cannot be read here; empty: none.
    """

    database: sqlite3.Connection
    copy: "tempfile.TemporaryDirectory[str] | None" = None
    missing: str = ""

    def close(self) -> None:
        self.database.close()
        if self.copy is not None:
            self.copy.cleanup()


# ---- for reading


def open_database(path: Path, header: Header, *, is_short: bool) -> Opened:
    """Open a session's file; ``is_short``: it has fewer bytes than its header states.

    The write-ahead log that a killed recorder left beside the file (``-wal``) is read with it. If
    its index is missing, which SQLite would have to create, a copy of both is read.

    Raises:
        SessionMissingError: the file cannot be read.
        SessionDamagedError: nothing in the file can be read.
        SessionUnsafeError: something beside the file is not safe to open.
        NotASessionError: the file contains objects that no session has.
    """
    require_safe_to_read(path)
    opened = _opened(path, header, is_short=is_short)
    try:
        _require_tables(path, opened.database, header.schema)
    except BaseException:
        opened.close()
        raise
    return opened


def _opened(path: Path, header: Header, *, is_short: bool) -> Opened:
    log = beside(path, LOG)
    if log.exists() or not header.has_log:
        with suppress(sqlite3.OperationalError):
            return Opened(_connect(path, READ_ONLY, is_short=is_short))
    missing = ""
    try:
        if _has_content(log):
            try:
                return _opened_copy(path, log, is_short=is_short)
            except OSError as error:
                missing = (
                    f"{path} is not all there: its newest events are in {log.name}, which "
                    f"cannot be read here ({error.strerror or error})."
                )
        return Opened(_connect(path, IMMUTABLE, is_short=is_short), missing=missing)
    except sqlite3.OperationalError as error:
        raise SessionMissingError(f"{path} cannot be read: {error}.") from error


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _opened_copy(path: Path, log: Path, *, is_short: bool) -> Opened:
    """Open a copy of the file and its log.

    Raises:
        OSError: the file cannot be copied.
        sqlite3.OperationalError: the copy cannot be opened.
    """
    folder = tempfile.TemporaryDirectory(prefix="tidegauge-")
    try:
        copy = Path(folder.name, "copy")
        shutil.copyfile(path, copy)
        shutil.copyfile(log, beside(copy, LOG))
        return Opened(_connect(copy, "mode=rw", is_short=is_short, named_path=path), folder)
    except BaseException:
        folder.cleanup()
        raise


def _connect(
    path: Path, options: str, *, is_short: bool = False, named_path: Path | None = None
) -> sqlite3.Connection:
    """Return a read-only connection; the path to name in messages is ``named_path``, if given.

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
        _switch_off(database, is_short=is_short)
        database.execute("PRAGMA query_only = ON")
        if is_short:  # otherwise SQLite refuses to open a truncated file
            database.execute("PRAGMA writable_schema = ON")
        database.set_authorizer(_may_read)
        database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        database.close()
        raise
    except UNREADABLE as error:
        database.close()
        raise SessionDamagedError(damage_sentence(named_path or path, error)) from error
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


# ---- for writing


def open_for_bookmarks(path: Path, wait_s: float) -> sqlite3.Connection:
    """Open a session to write its bookmarks, and nothing else; wait so long for its recorder.

    What is written goes through a log, so that no journal can be left behind.

    Raises:
        sqlite3.Error: it cannot be written.
        SessionError: it is not a session, or not safe to open.
    """
    header = read_header(path)
    require_safe_to_write(path)
    uri = f"{path.absolute().as_uri()}?mode=rw"
    database = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=wait_s)
    try:
        _switch_off(database)
        _require_tables(path, database, header.schema)
        ((mode,),) = database.execute("PRAGMA journal_mode").fetchall()
        if mode != "wal":
            database.executescript("PRAGMA journal_mode = MEMORY; PRAGMA journal_mode = WAL;")
        database.set_authorizer(_may_bookmark)
    except BaseException:
        database.close()
        raise
    return database


def close_bookmarks(database: sqlite3.Connection) -> None:
    """Close the connection, and merge the log unless somebody else has the session open."""
    try:
        with suppress(sqlite3.OperationalError):
            database.execute("PRAGMA journal_mode = MEMORY")
    finally:
        database.close()


class NewDatabase(Struct, frozen=True):
    """A database that was created, and a descriptor of its file, which must be closed before it."""

    connection: sqlite3.Connection
    descriptor: int


def create_database(path: Path) -> NewDatabase:
    """Create a file that must not exist yet, which only its owner may read, with an empty database.

    Raises:
        SessionError: the file exists, or is not safe to create.
        SessionMissingError: it cannot be created.
    """
    require_nothing_beside(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE)
    except FileExistsError:
        message = f"{path} already exists: a recording never overwrites a file."
        raise SessionError(message) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise SessionMissingError(f"{path} cannot be written: {reason}.") from error
    try:
        # The console opens a scenario in one thread and continues in another, one at a time.
        uri = f"{path.absolute().as_uri()}?mode=rw"
        database = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    except BaseException:
        os.close(descriptor)
        raise
    return NewDatabase(database, descriptor)


# ---- what a database may do


def _switch_off(database: sqlite3.Connection, *, is_short: bool = False) -> None:
    """Switch off what SQLite offers and a session does not need.

    A truncated file needs ``writable_schema``, which the defensive mode forbids. Python configures
    a connection since 3.12; before, the authorizer refuses the same things.
    """
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)
    database.text_factory = _text
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA mmap_size = 0")
    if sys.version_info >= (3, 12):
        database.setconfig(sqlite3.SQLITE_DBCONFIG_TRUSTED_SCHEMA, False)
        database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, False)
        database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        database.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)
        database.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, not is_short)


def _may_read(
    action: int, first: str | None, second: str | None, _database: str | None, inner: str | None
) -> int:
    """Allow what reads a session's tables: no other table, function, PRAGMA, ATTACH, .."""
    allowed = inner is None and (
        action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION)
        or (action == sqlite3.SQLITE_READ and first in READABLE)
        or (action == sqlite3.SQLITE_FUNCTION and second in FUNCTIONS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _may_bookmark(
    action: int, first: str | None, second: str | None, database: str | None, inner: str | None
) -> int:
    """Allow what changes bookmarks, and to leave the log at the end."""
    allowed = inner is None and (
        (action in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE) and first == "bookmarks")
        or (action == sqlite3.SQLITE_PRAGMA and first == "journal_mode")
    )
    return sqlite3.SQLITE_OK if allowed else _may_read(action, first, second, database, inner)


def _require_tables(path: Path, database: sqlite3.Connection, schema: int) -> None:
    expected = tables_of(schema)
    try:
        statement = "SELECT type, name, sql FROM sqlite_schema LIMIT ?"
        objects = database.execute(statement, (SCHEMA_ROWS_MAX,)).fetchall()
    except UNREADABLE as error:
        raise SessionDamagedError(damage_sentence(path, error)) from error
    for kind, name, sql in objects:
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
