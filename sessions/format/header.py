"""Identify a session file by its first 100 bytes, before any database code reads it."""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from sessions.file_system import open_regular
from sessions.format.errors import (
    NotASessionError,
    SessionDamagedError,
    SessionMissingError,
    SessionNewerError,
    SessionOlderError,
)
from sessions.format.nearest import nearest_file
from sessions.format.schema import (
    APPLICATION_ID,
    APPLICATION_ID_AT,
    HEADER_BYTES,
    MAGIC,
    OLDEST,
    PAGE_SIZE_AT,
    PAGES_AT,
    READ_VERSION_AT,
    SCHEMA,
    USER_VERSION_AT,
    WITH_LOG,
)


class Header(Struct, frozen=True):
    """A session file's header: its schema, and the number of bytes that it should have.

    ``has_log``: newer pages than its own may be in a log beside it.
    """

    schema: int
    bytes_expected: int
    has_log: bool


def read_header(path: Path) -> Header:
    """Read the header of a session with a supported schema.

    Raises:
        SessionMissingError: the file does not exist, or cannot be read.
        NotASessionError: the file is not a session.
        SessionDamagedError: the file ends within the header.
        SessionNewerError: a newer program wrote it.
        SessionOlderError: an older program wrote it, with a schema that is no longer supported.
    """
    try:
        with open_regular(path) as file:
            head = file.read(HEADER_BYTES)
    except OSError as error:
        reason = f"{error.strerror or error}."
        if isinstance(error, FileNotFoundError) and (hint := nearest_file(path)):
            reason = f"{error.strerror}{hint}"
        raise SessionMissingError(f"{path} cannot be read: {reason}") from error
    if not head:
        raise NotASessionError(f"{path} is not a session: it is empty.")
    if not head.startswith(MAGIC[: len(head)]):
        raise NotASessionError(f"{path} is not a session: it is not a database.")
    if len(head) < HEADER_BYTES:
        raise SessionDamagedError(f"{path} is damaged: it ends after {len(head)} bytes.")
    if _number(head, APPLICATION_ID_AT) != APPLICATION_ID:
        raise NotASessionError(f"{path} is not a session: it is another program's database.")
    schema = _number(head, USER_VERSION_AT)
    if schema > SCHEMA:
        raise SessionNewerError(
            f"{path} has schema {schema} and this program knows schemas up to {SCHEMA}: "
            "open it with a newer tidegauge."
        )
    if schema < OLDEST:
        raise SessionOlderError(
            f"{path} has schema {schema} and this program reads schemas from {OLDEST} on: "
            "open it with the tidegauge that recorded it, or record it again."
        )
    page_size = int.from_bytes(head[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
    size = _number(head, PAGES_AT) * (65_536 if page_size == 1 else page_size)
    return Header(schema, size, has_log=head[READ_VERSION_AT] == WITH_LOG)


def require_session(path: Path) -> None:
    """Check that a file is a session, which may be damaged or of another version.

    Raises:
        SessionMissingError: the file does not exist, or cannot be read.
        NotASessionError: the file is not a session.
    """
    with suppress(SessionDamagedError, SessionNewerError, SessionOlderError):
        read_header(path)


def _number(head: bytes, at: int) -> int:
    return int.from_bytes(head[at : at + 4], "big")
