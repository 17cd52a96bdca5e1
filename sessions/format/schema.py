"""The tables of a session file. The number below changes when what is in them does."""

from typing import Final

SCHEMA: Final = 9
"""The version of tables, events and keyframes together; SQLite's ``user_version`` of a file."""
OLDEST: Final = 4
"""The oldest version whose events and keyframes this program reads."""
APPLICATION_ID: Final = 0x74696465
"""``tide``: what SQLite's header says that the file is."""
SUFFIX: Final = ".tide.db"
LIMIT_BYTES_MIN: Final = 1 << 20
"""A recording of less could not hold the state of a cluster and some of its past."""

MAGIC: Final = b"SQLite format 3\x00"
HEADER_BYTES: Final = 100
PAGE_SIZE_AT: Final = 16
PAGES_AT: Final = 28
USER_VERSION_AT: Final = 60
APPLICATION_ID_AT: Final = 68

BESIDE: Final = ("-wal", "-shm", "-journal")
"""What the files are called that SQLite may have beside a session's: its name and one of these."""

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
_INPUTS: Final = """
CREATE TABLE inputs (
    seq INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, steps INTEGER NOT NULL,
    line INTEGER NOT NULL, text TEXT NOT NULL, statement TEXT, checksum INTEGER NOT NULL
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
_SUMMARY: Final = f"""
CREATE TABLE summary ({_COUNTS_6},
    leaderless INTEGER NOT NULL, lost INTEGER NOT NULL
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

``inputs`` are the statements as JSON, each with the number of kernel events before it: enough to
run it all again. ``chunks`` hold consecutive events (:mod:`sessions.format.codec`); the last one is
replaced by a longer one until it is full. ``touches`` names the objects of each chunk.
``keyframes``: :mod:`sessions.format.keyframes`. ``summary`` has the counts after each change.
``meta`` holds structs of :mod:`sessions.format.metadata` as JSON: ``origin``, ``outcome`` once the
recording is closed, and ``extent`` if the file holds a part of what happened. A file that begins
late has a keyframe on which everything is based right before its first event. Checksums are
:func:`sessions.format.codec.checksum`.
"""
CHECKSUMS_SINCE: Final = 7
"""The schema from which on ``meta`` and ``inputs`` have checksums, and checksums are of bytes."""


def tables_of(schema: int) -> dict[str, str]:
    """The statement by which each table of this schema was made, by its name; spaces are single."""
    tables = TABLES if schema >= CHECKSUMS_SINCE else _META_6 + _INPUTS_6 + _SUMMARY_6 + _OTHERS
    statements = [" ".join(each.split()) for each in tables.split(";") if each.strip()]
    return {each.split()[2]: each for each in statements}
