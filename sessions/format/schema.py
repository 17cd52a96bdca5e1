"""The tables of a session file. Their version changes whenever their content does."""

from typing import Final

SCHEMA: Final = 16
"""The version of tables, events and keyframes; a file's ``user_version`` in SQLite."""
OLDEST: Final = 4
"""The oldest version whose events and keyframes this program reads."""
APPLICATION_ID: Final = 0x74696465
"""``tide``: the application id in SQLite's header."""
SUFFIX: Final = ".tide.db"
LIMIT_BYTES_MIN: Final = 1 << 20
"""A smaller recording could not hold the state of a cluster and some of its history."""

MAGIC: Final = b"SQLite format 3\x00"
HEADER_BYTES: Final = 100
PAGE_SIZE_AT: Final = 16
READ_VERSION_AT: Final = 19
WITH_LOG: Final = 2
"""The version, for reading, of a file that has a write-ahead log."""
PAGES_AT: Final = 28
USER_VERSION_AT: Final = 60
APPLICATION_ID_AT: Final = 68

BESIDE: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite may create beside a session's file."""

_META_6: Final = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
_META: Final = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID;
"""
_INPUTS_6: Final = """
CREATE TABLE inputs (
    seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, steps INTEGER NOT NULL,
    line INTEGER NOT NULL, text TEXT NOT NULL, statement TEXT
);
"""
_INPUTS_15: Final = """
CREATE TABLE inputs (
    seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, steps INTEGER NOT NULL,
    line INTEGER NOT NULL, text TEXT NOT NULL, statement TEXT, checksum INTEGER NOT NULL
);
"""
_INPUTS: Final = """
CREATE TABLE inputs (
    seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, steps INTEGER NOT NULL,
    line INTEGER NOT NULL, text TEXT NOT NULL, statement TEXT, checksum INTEGER NOT NULL,
    frame BLOB
);
"""
_COUNTS_6: Final = """
    seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, brokers_up INTEGER NOT NULL,
    brokers INTEGER NOT NULL, partitions INTEGER NOT NULL, offline INTEGER NOT NULL,
    under_min_isr INTEGER NOT NULL, at_min_isr INTEGER NOT NULL, under_replicated INTEGER NOT NULL,
    unclean INTEGER NOT NULL, diverged INTEGER NOT NULL, non_preferred INTEGER NOT NULL"""
_SUMMARY_6: Final = f"""
CREATE TABLE summary ({_COUNTS_6}
);
"""
_COUNTS_13: Final = f"""{_COUNTS_6},
    leaderless INTEGER NOT NULL, lost INTEGER NOT NULL"""
_SUMMARY_13: Final = f"""
CREATE TABLE summary ({_COUNTS_13}
);
"""
_SUMMARY: Final = f"""
CREATE TABLE summary ({_COUNTS_13},
    blocked INTEGER NOT NULL, refused INTEGER NOT NULL, lost_records INTEGER NOT NULL,
    trouble INTEGER NOT NULL
);
"""
_OTHERS: Final = """
CREATE TABLE chunks (
    first_seq INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL,
    first_us INTEGER NOT NULL, last_us INTEGER NOT NULL,
    first_record INTEGER NOT NULL, last_record INTEGER NOT NULL,
    checksum INTEGER NOT NULL, events BLOB NOT NULL
);
CREATE TABLE touches (first_seq INTEGER PRIMARY KEY, objects BLOB NOT NULL);
CREATE TABLE keyframes (
    seq INTEGER PRIMARY KEY, base_seq INTEGER NOT NULL,
    checksum INTEGER NOT NULL, state BLOB NOT NULL
);
CREATE TABLE bookmarks (
    seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, name TEXT NOT NULL, note TEXT NOT NULL
);
"""
TABLES: Final = _META + _INPUTS + _SUMMARY + _OTHERS
"""Numbers are events' ``seq`` and microseconds of virtual time.

``inputs`` are the statements as JSON, each with the number of kernel events before it, which is
enough to run the session again; the bytes of a client's request are compressed, in ``frame``,
with a checksum of their own. ``chunks`` contain consecutive events
(:mod:`sessions.format.codec`); the last one is replaced by a longer one until it is full.
``touches`` names the objects of each chunk.
``keyframes``: :mod:`sessions.format.keyframes`. ``summary`` has the counts after each change.
``meta`` holds structs of :mod:`sessions.format.metadata` as JSON: ``origin``, ``outcome`` once the
recording is closed, and ``extent`` if the file contains only part of the events. A file whose
beginning was dropped has a full keyframe right before its first event. Checksums are
:func:`sessions.format.codec.checksum`.
"""
CHECKSUMS_SINCE: Final = 7
"""From this schema on, ``meta`` and ``inputs`` have checksums, and checksums cover bytes."""
WRITES_SINCE: Final = 14
"""From this schema on, ``summary`` says what becomes of writes, and the cluster's own trouble."""
FRAMES_SINCE: Final = 16
"""From this schema on, the bytes of clients' requests are beside the statements."""


def tables_of(schema: int) -> dict[str, str]:
    """Return the SQL that creates each table of a schema, with single spaces."""
    tables = TABLES
    if schema < CHECKSUMS_SINCE:
        tables = _META_6 + _INPUTS_6 + _SUMMARY_6 + _OTHERS
    elif schema < WRITES_SINCE:
        tables = _META + _INPUTS_15 + _SUMMARY_13 + _OTHERS
    elif schema < FRAMES_SINCE:
        tables = _META + _INPUTS_15 + _SUMMARY + _OTHERS
    statements = [
        " ".join(statement.split()) for statement in tables.split(";") if statement.strip()
    ]
    return {statement.split()[2]: statement for statement in statements}
