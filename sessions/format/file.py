"""Reading a session file: its events, keyframes, statements and marks, as far as it is whole.

A file may be read while it is being written (:meth:`SessionFile.refresh` shows what came since),
after its writer was killed, and up to the place where it is damaged.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import msgspec

from emulator.events import Event
from emulator.inputs.statements import Statement
from sessions.format import codec, keyframes
from sessions.format.errors import SessionDamagedError, SessionDroppedError, SessionMissingError
from sessions.format.header import read_header
from sessions.format.keyframes import Keyframe
from sessions.format.metadata import Extent, Origin, Outcome, RecordedInput
from sessions.model.health import Counts
from sessions.model.states import Bookmark

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
_Row = TypeVar("_Row", bound=tuple[Any, ...])
Row = tuple[Any, ...]

REASON_CHARACTERS_MAX: Final = 120
UNREADABLE: Final = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged database raises; SQLite's message itself may be no text."""

_CHUNKS: Final = (
    "SELECT first_seq, last_seq, first_us, last_us, first_record, last_record, checksum, {} "
    "FROM chunks WHERE first_seq >= ? ORDER BY first_seq"
)


class Chunk(msgspec.Struct, frozen=True):
    """Consecutive events: the first and last, and which record ids they name (-1: none)."""

    first_seq: int
    last_seq: int
    first_us: int
    last_us: int
    first_record: int
    last_record: int


class KeyframePlace(msgspec.Struct, frozen=True):
    """Which keyframe there is, and which one it stands on (0: none)."""

    seq: int
    base_seq: int


class SessionFile:
    """A session, for reading.

    ``damage`` is empty, or one sentence about what cannot be read; ``complete`` tells whether the
    recording was closed.
    """

    def __init__(self, path: Path | str, *, check: bool = True) -> None:
        """Open the file; with ``damage`` afterwards if a part of it is lost.

        Without ``check`` events are not read, and that they are damaged may go unnoticed.

        Raises: SessionError: it cannot be read, is no session, is a newer one, or nothing of it is
        left.
        """
        self.path = Path(path)
        self.damage = ""
        self._check = check
        header = read_header(self.path)
        self._short = self.path.stat().st_size < header.bytes_expected
        self._database = _connect(self.path, is_short=self._short)
        self.extent = Extent()
        self.chunks: list[Chunk] = []
        self.keyframes: list[KeyframePlace] = []
        try:
            self.origin = self._meta("origin", Origin)
            self.refresh()
        except (*UNREADABLE, SessionDamagedError) as error:
            self._database.close()
            if isinstance(error, SessionDamagedError):
                raise
            raise SessionDamagedError(_sentence(self.path, error)) from error
        if self._short and not self.damage:
            self.damage = f"{self.path} is cut short: what it held after its events may be lost."

    def __enter__(self) -> "SessionFile":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Read no more."""
        self._database.close()

    # ---- what is there

    @property
    def first_seq(self) -> int:
        """The number of the first event that is kept: 1, unless the beginning was dropped."""
        return self.extent.first_seq

    @property
    def last_seq(self) -> int:
        """The number of the last event that can be read; if there is none, of the one before."""
        return self.chunks[-1].last_seq if self.chunks else self.first_seq - 1

    @property
    def last_us(self) -> int:
        """The time of that event."""
        return self.chunks[-1].last_us if self.chunks else self.extent.before_us

    @property
    def complete(self) -> bool:
        """Whether the recording was closed by its writer."""
        return self.outcome is not None

    @property
    def outcome(self) -> Outcome | None:
        """How the recording ended; None while it goes on, or if its writer was killed."""
        try:
            return self._meta("outcome", Outcome)
        except (SessionDamagedError, *UNREADABLE):
            return None

    def refresh(self) -> None:
        """Take notice of what was written or dropped since the last look; stop at damage."""
        with self._one_moment():
            self._look_at_extent()
            self._look_at_chunks()
            self._look_at_keyframes()

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        """What is read within is of one moment, where somebody may be writing."""
        if self._short:  # SQLite has no transactions on what is cut short
            yield
            return
        self._database.execute("BEGIN")
        try:
            yield
        finally:
            if self._database.in_transaction:  # damage ends one
                self._database.execute("COMMIT")

    def _look_at_extent(self) -> None:
        known = self.first_seq
        with suppress(SessionDamagedError):  # without it, what begins late counts as damaged
            self.extent = self._meta("extent", Extent)
        first = self.first_seq
        if first != known:
            self.chunks = [chunk for chunk in self.chunks if chunk.first_seq >= first]
            self.keyframes = [place for place in self.keyframes if place.seq >= first - 1]

    def _look_at_chunks(self) -> None:
        last = self.chunks.pop() if self.chunks else None
        expected = last.first_seq if last is not None else self.first_seq
        statement = _CHUNKS.format("events" if self._check else "NULL")
        for *numbers, checksum, data in self._rows(statement, (expected,)):
            is_whole = not self._check or _is_whole(data, checksum, *numbers)
            if numbers[0] != expected or not is_whole:
                self._damaged(f"the events from number {expected} on")
                break
            chunk = Chunk(*numbers)
            self.chunks.append(chunk)
            expected = chunk.last_seq + 1

    def _look_at_keyframes(self) -> None:
        known = self.keyframes[-1].seq if self.keyframes else 0
        statement = "SELECT seq, base_seq FROM keyframes WHERE seq > ? ORDER BY seq"
        for seq, base_seq in self._typed_rows(tuple[int, int], statement, (known,)):
            if seq <= self.last_seq:
                self.keyframes.append(KeyframePlace(seq, base_seq))

    def events(self, chunk: Chunk) -> list[Event]:
        """The events of one chunk.

        Raises:
            SessionDamagedError: they cannot be read.
            SessionDroppedError: they have been dropped since.
        """
        return self.unpacked(chunk).events()

    def unpacked(self, chunk: Chunk, kinds: codec.Kinds = None) -> codec.Unpacked:
        """The events of one chunk, of some types or of all, column by column.

        If the chunk has grown since, those that it had. Raises what :meth:`events` does.
        """
        row = self._row_of(chunk)
        try:
            found = codec.unpack(row[0], kinds)
            if found.first_seq != chunk.first_seq or found.last_seq < chunk.last_seq:
                raise codec.BlockError("they are other ones")
            return found.up_to(chunk.last_seq)
        except codec.BlockError as error:
            raise SessionDamagedError(
                f"{self.path} is damaged: events {chunk.first_seq} to {chunk.last_seq} "
                f"cannot be read ({error})."
            ) from error

    def _row_of(self, chunk: Chunk) -> Row:
        """A chunk's block; where the file is damaged, this may be anything."""
        statement = "SELECT events FROM chunks WHERE {} = ?"
        try:
            return self._row(statement.format("first_seq"), (chunk.first_seq,))
        except SessionDamagedError:
            self.refresh()
            if chunk.first_seq < self.first_seq:
                raise SessionDroppedError(
                    f"{self.path} begins with event {self.first_seq:,} by now: "
                    "what was before has been dropped."
                ) from None
        # What damage hides from a search is still found by looking at one row after the other.
        return self._row(statement.format("+first_seq"), (chunk.first_seq,))

    def all_events(self) -> Iterator[Event]:
        """All events in order; only one chunk of them is in memory."""
        for chunk in self.chunks:
            yield from self.events(chunk)

    def beginning(self) -> Keyframe | None:
        """The state before the first event, with batches that came before it; None: nothing.

        Raises:
            SessionDamagedError: the file begins late, and that state cannot be read.
        """
        if self.first_seq == 1:
            return None
        frame = self.keyframe(KeyframePlace(self.first_seq - 1, 0))
        if frame is None:
            raise SessionDamagedError(
                f"{self.path} is damaged: the state before its first event cannot be read."
            )
        return frame

    def keyframe(self, place: KeyframePlace) -> Keyframe | None:
        """A keyframe; None if it is damaged."""
        try:
            row = self._row("SELECT checksum, state FROM keyframes WHERE seq = ?", (place.seq,))
            is_whole = _is_whole(row[1], row[0], place.seq, place.base_seq)
            return keyframes.decode(row[1]) if is_whole else None
        except (codec.BlockError, SessionDamagedError):
            return None

    def objects(self, chunk: Chunk) -> bytes:
        """The names of the objects that a chunk's events touch, each between line ends."""
        row = self._row("SELECT objects FROM touches WHERE first_seq = ?", (chunk.first_seq,))
        return b"\n%b\n" % codec.decompress(row[0])

    # ---- the small tables

    def inputs(self) -> list[RecordedInput]:
        """The statements in order."""
        rows = self._typed_rows(
            tuple[int, int, int, int, str, str | None],
            "SELECT seq, time_us, steps, line, text, statement FROM inputs ORDER BY seq",
        )
        found: list[RecordedInput] = []
        try:
            for seq, time_us, steps, line, text, stored in rows:
                statement = None if stored is None else _decoded(stored, Statement, self.path)
                found.append(RecordedInput(seq, time_us, steps, line, text, statement))
        except SessionDamagedError as error:
            self._damaged(str(error))
        return found

    def bookmarks(self) -> list[Bookmark]:
        """The named places in order."""
        statement = "SELECT name, note, seq, time_us FROM bookmarks ORDER BY seq"
        rows = self._typed_rows(tuple[str, str, int, int], statement)
        return [Bookmark(*row) for row in rows]

    def summary(self, after_seq: int = 0) -> list[tuple[int, int, Counts]]:
        """What the time bar draws: event, time, and the counts after it, where they changed."""
        statement = "SELECT * FROM summary WHERE seq > ? ORDER BY seq"
        rows = self._typed_rows(tuple[int, ...], statement, (after_seq,))
        return [(seq, time_us, Counts(*counts)) for seq, time_us, *counts in rows]

    # ---- rows

    def _meta(self, key: str, kind: type[_Struct]) -> _Struct:
        row = self._row("SELECT value FROM meta WHERE key = ?", (key,))
        return _decoded(row[0], kind, self.path)

    def _row(self, statement: str, values: Row) -> Row:
        try:
            row = self._database.execute(statement, values).fetchone()
        except UNREADABLE as error:
            raise SessionDamagedError(_sentence(self.path, error)) from error
        if row is None:
            raise SessionDamagedError(f"{self.path} is damaged: a part of it is not there.")
        return tuple(row)

    def _rows(self, statement: str, values: Row = ()) -> Iterator[Row]:
        """Rows up to the damage, if there is any."""
        try:
            yield from self._database.execute(statement, values)
        except UNREADABLE as error:
            self._damaged(str(error))

    def _typed_rows(self, kind: type[_Row], statement: str, values: Row = ()) -> Iterator[_Row]:
        """Rows of columns of these types, up to the damage."""
        try:
            for row in self._rows(statement, values):
                yield msgspec.convert(row, kind)
        except msgspec.ValidationError as error:
            self._damaged(str(error))

    def _damaged(self, what: str) -> None:
        if not self.damage:
            what = _brief(what)
            self.damage = (
                f"{self.path} is damaged ({what}): it opens up to event {self.last_seq:,}."
            )


def _is_whole(data: object, checksum: object, *numbers: object) -> bool:
    return isinstance(data, bytes) and codec.checksum(data, *numbers) == checksum


def _decoded(text: str, kind: type[_Struct], path: Path) -> _Struct:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.MsgspecError as error:
        raise SessionDamagedError(_sentence(path, error)) from error


def _sentence(path: Path, error: object) -> str:
    return f"{path} is damaged: {_brief(error)}."


def _brief(error: object) -> str:
    """An error's text in one line; SQLite may quote whole statements."""
    text = " ".join(str(error).split())
    return text if len(text) <= REASON_CHARACTERS_MAX else f"{text[:REASON_CHARACTERS_MAX]}.."


def _connect(path: Path, *, is_short: bool) -> sqlite3.Connection:
    """Open for reading only; a killed writer's log is taken in where the folder allows it."""
    failure: sqlite3.Error | None = None
    for options in ("mode=ro",) if is_short else ("mode=rw", "mode=ro", "mode=ro&immutable=1"):
        try:
            database = sqlite3.connect(
                f"{path.absolute().as_uri()}?{options}",
                uri=True,
                isolation_level=None,
                check_same_thread=False,
            )
            database.execute("PRAGMA query_only = ON")
            if is_short:  # otherwise SQLite refuses a file that is cut short as a whole
                database.execute("PRAGMA writable_schema = ON")
            database.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as error:
            failure = error
        except UNREADABLE as error:
            raise SessionDamagedError(_sentence(path, error)) from error
        else:
            return database
    raise SessionMissingError(f"{path} cannot be read: {failure}.") from failure
