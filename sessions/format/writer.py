"""Write a session file: put rows into its tables and commit on request.

Committed data survives the death of the process, because it is in SQLite's write-ahead log. The log
is not fsynced on each commit, which would cost more than everything else: a power failure may lose
what was committed since the last checkpoint of the log, but never more. A closed file is durable,
and so is its name.
"""

import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from emulator.events import Event
from emulator.inputs.statements import ReceiveRequest
from sessions.file_system import delete_file, sync_folder
from sessions.format import bookmarks, codec, keyframes
from sessions.format.beside import hold
from sessions.format.connection import create_database
from sessions.format.errors import SessionMissingError
from sessions.format.keyframes import Keyframe
from sessions.format.metadata import (
    Extent,
    Origin,
    Outcome,
    RecordedInput,
    input_checksum,
    meta_checksum,
    stand_in,
)
from sessions.format.schema import APPLICATION_ID, BESIDE, SCHEMA, TABLES
from sessions.model import touches
from sessions.model.handlers.clients import NAMING
from sessions.model.health import Counts
from sessions.model.states import Batch, Bookmark

PAGE_BYTES: Final = 1024
"""Small pages keep small sessions small: a campaign has thousands of them."""
FREE_SHARE: Final = 20
"""When a file is closed, it is rewritten if more than one page in so many is empty."""
LOG_PAGES_MAX: Final = 8_000
"""Maximum size of SQLite's write-ahead log before a checkpoint."""
_JSON: Final = msgspec.json.Encoder().encode


class Stored(NamedTuple):
    """What became of consecutive events: their size in bytes, and themselves by type."""

    size: int
    groups: codec.Groups
    is_one_chunk: bool = True


class SessionWriter:
    """A session file that is being written. Uncommitted data is lost with the process.

    ``log_pages_max`` bounds SQLite's log, which takes space beside the file.

    Raises:
        SessionError: the file cannot be created or written.
    """

    def __init__(self, path: Path, origin: Origin, log_pages_max: int = LOG_PAGES_MAX) -> None:
        """Create the file; it must not exist yet."""
        self.path = path
        new = create_database(path)
        self._in_transaction = False
        self._last_chunk = (0, 0)  # its first event, and how many it has
        self._database = new.connection
        self._lock: int | None = new.descriptor
        try:
            _make_tables(self._database, log_pages_max)
            hold(new.descriptor)
            self.put_meta("origin", origin)
            self.commit()
        except sqlite3.Error as error:
            self._unlock()
            self._database.close()
            delete_files(path)
            raise SessionMissingError(f"{path} cannot be written: {error}.") from error

    def put_meta(self, key: str, value: msgspec.Struct) -> None:
        """Store one of the structs of :mod:`sessions.format.metadata`."""
        text = _text(value)
        row = (key, text, meta_checksum(key, text))
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", row)

    def put_chunk(self, members: list[Event], data: bytes | None = None) -> Stored:
        """Store consecutive events; they replace a chunk that starts with the same one.

        ``data`` is the block of them, if there is one already. Events that are too large for one
        chunk become several, which must be the last chunks that begin with these events. A chunk
        that they continue stays as it is: readers know its length.
        """
        groups = codec.group(members)
        if data is None:
            try:
                data = codec.encode(members, groups)
            except codec.BlockTooLargeError:
                first_seq, count = self._last_chunk
                middle = count if first_seq == members[0].seq else len(members) // 2
                parts = [self.put_chunk(part) for part in (members[:middle], members[middle:])]
                return Stored(sum(part.size for part in parts), groups, is_one_chunk=False)
        names: set[str] = set()
        for kind, group in groups.items():
            names |= touches.objects_of_all(kind, group)
        objects = codec.compress("\n".join(sorted(names)).encode())
        first, last = members[0], members[-1]
        numbers = (first.seq, last.seq, first.time_us, last.time_us, *_records(groups))
        self._execute(
            "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*numbers, codec.checksum(data, *numbers), data),
        )
        self._execute("INSERT OR REPLACE INTO touches VALUES (?, ?)", (numbers[0], objects))
        self._last_chunk = (first.seq, len(members))
        return Stored(len(data) + len(objects), groups)

    def put_input(self, recorded: RecordedInput) -> None:
        """Store a statement."""
        statement, frame = recorded.statement, None
        if statement is not None and isinstance(statement.input, ReceiveRequest):
            frame = codec.compress(statement.input.frame)
            statement = replace(statement, input=replace(statement.input, frame=stand_in(frame)))
        stored = None if statement is None else _text(statement)
        numbers = (recorded.seq, recorded.time_us, recorded.steps, recorded.line)
        checksum = input_checksum(numbers, recorded.text, stored)
        self._execute(
            "INSERT OR REPLACE INTO inputs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*numbers, recorded.text, stored, checksum, frame),
        )

    def put_bookmark(self, mark: Bookmark) -> None:
        """Store a bookmark; it replaces one at the same event."""
        self._execute(bookmarks.PUT, (mark.name, mark.note, mark.seq, mark.time_us))

    def remove_bookmark(self, seq: int) -> None:
        """Delete the bookmark at an event."""
        self._execute(bookmarks.REMOVE, (seq,))

    def put_counts(self, changes: Iterable[tuple[int, int, Counts]]) -> None:
        """Store what the time bar draws: event, time and counts after it."""
        parameters = ", ".join("?" * (2 + len(Counts.__struct_fields__)))
        for seq, time_us, counts in changes:
            self._execute(
                f"INSERT OR REPLACE INTO summary VALUES ({parameters})",
                (seq, time_us, *msgspec.structs.astuple(counts)),
            )

    def put_keyframe(self, frame: Keyframe) -> int:
        """Store a keyframe, and return its size in bytes."""
        data = keyframes.encode(frame)
        self._execute(
            "INSERT OR REPLACE INTO keyframes VALUES (?, ?, ?, ?)",
            (frame.seq, frame.base_seq, codec.checksum(data, frame.seq, frame.base_seq), data),
        )
        return len(data)

    def put_batches(self, seq: int, batches: list[Batch]) -> None:
        """Add batches to the keyframe at which the file will start."""
        query = "SELECT state FROM keyframes WHERE seq = ?"
        (data,) = self._database.execute(query, (seq,)).fetchone()
        frame = keyframes.decode(data)
        frame.state.batches = batches
        self.put_keyframe(frame)

    def drop_before(self, extent: Extent) -> None:
        """Drop everything before the extent's first event, which follows a full keyframe.

        Statements are kept, so that the session can still be run again.
        """
        first = extent.first_seq
        for table in ("chunks", "touches"):
            self._execute(f"DELETE FROM {table} WHERE first_seq < ?", (first,))
        for table in ("keyframes", "bookmarks"):
            self._execute(f"DELETE FROM {table} WHERE seq < ?", (first - 1,))
        last_dropped = "(SELECT max(seq) FROM summary WHERE seq < ?)"
        self._execute(f"DELETE FROM summary WHERE seq < {last_dropped}", (first,))
        self.put_meta("extent", extent)

    def replace_bookmarks(self, marks: Iterable[Bookmark]) -> None:
        self._execute("DELETE FROM bookmarks", ())
        for mark in marks:
            self.put_bookmark(mark)

    @property
    def used_bytes(self) -> int:
        """Return the bytes of the file in use; writes reuse the rest before the file grows."""
        (pages,) = self._database.execute("PRAGMA page_count").fetchone()
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        return int(pages - free) * PAGE_BYTES

    def commit(self) -> None:
        """Commit: everything put so far survives the death of this process."""
        if self._in_transaction:
            self._database.execute("COMMIT")
            self._in_transaction = False

    def close(self, outcome: Outcome | None) -> None:
        """Close the recording; a single file is left, which survives a power failure.

        Once the outcome is written the session is complete. The cleanup that follows may fail: if
        another process reads the file, or the disk is full, its log stays beside it without harm.

        Raises:
            sqlite3.Error: the data could not be written.
        """
        try:
            if outcome is not None:
                self.put_meta("outcome", outcome)
            self.commit()
            with suppress(sqlite3.Error, OSError):
                self._unlock()
                self._squeeze()
                self._database.execute("PRAGMA journal_mode = MEMORY")
                sync_folder(self.path.parent)
        finally:
            self._unlock()
            self._database.close()

    def _unlock(self) -> None:
        """Let go of the file, which SQLite locks alone to merge its log."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def abandon(self) -> None:
        """Close the file as of the last commit, after a failed write."""
        with suppress(sqlite3.Error):
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            self._unlock()
            self._database.execute("PRAGMA journal_mode = MEMORY")
        with suppress(sqlite3.Error):
            self._database.close()

    def _squeeze(self) -> None:
        """Vacuum the pages that rewritten chunks left unused, if there are enough of them."""
        (pages,) = self._database.execute("PRAGMA page_count").fetchone()
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        if free * FREE_SHARE > pages:
            self._database.execute("VACUUM")

    def _execute(self, statement: str, values: tuple[object, ...]) -> None:
        if not self._in_transaction:
            self._database.execute("BEGIN")
            self._in_transaction = True
        self._database.execute(statement, values)


def delete_files(path: Path) -> None:
    """Delete a session's file and the files that SQLite has beside it.

    Raises:
        OSError: a file cannot be deleted.
    """
    for suffix in (*BESIDE, ""):
        delete_file(path.with_name(f"{path.name}{suffix}"), inside=path.parent)


def _make_tables(database: sqlite3.Connection, log_pages_max: int) -> None:
    database.executescript(
        # A killed process must leave no journal, which nobody would open the file with.
        f"PRAGMA journal_mode = MEMORY; PRAGMA page_size = {PAGE_BYTES};"
        f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA};"
        f"BEGIN; {TABLES} COMMIT;"
    )
    # The header is now in the file itself; everything after it goes through the log.
    database.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        f"PRAGMA wal_autocheckpoint = {log_pages_max};"
    )


def _records(groups: codec.Groups) -> tuple[int, int]:
    """Return the lowest and highest record id in these events; -1: there are none."""
    spans = [
        (event.first_record, event.first_record + len(event.values) - 1)
        for kind in NAMING
        for event in groups.get(kind, ())
        if isinstance(event, NAMING)
    ]
    if not spans:
        return -1, -1
    return min(first for first, _ in spans), max(last for _, last in spans)


def _text(value: msgspec.Struct) -> str:
    return _JSON(value).decode()
