"""Read a session file: its events, keyframes, statements and marks, as far as it is intact.

Opening takes constant time: only the first and last rows are checked, which show whether the end is
missing. Damage in between is detected when events there are read, or by :meth:`SessionFile.check`.
From then on the session ends before the damage.

A file can be read while it is being written (:meth:`SessionFile.refresh` shows what was added),
after its writer was killed, and up to the first damage.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, TypeVar

import msgspec
from msgspec.structs import replace

from emulator.events import Event
from emulator.inputs.limits import excess
from emulator.inputs.statements import AnyInput, ReceiveRequest, Statement
from sessions.decoding import DecodingError, decode_json, memory_of_json
from sessions.format import codec, keyframes, limits
from sessions.format.connection import UNREADABLE, brief, damage_sentence, open_database
from sessions.format.errors import (
    SessionDamagedError,
    SessionDroppedError,
    SessionEndedError,
    SessionMissingError,
)
from sessions.format.header import read_header
from sessions.format.keyframes import Keyframe, Room
from sessions.format.metadata import (
    Extent,
    Origin,
    Outcome,
    RecordedInput,
    input_checksum,
    meta_checksum,
    stand_in,
)
from sessions.format.salvage import Salvage
from sessions.format.schema import CHECKSUMS_SINCE, FRAMES_SINCE
from sessions.memory import give_back
from sessions.model.health import Counts, completed
from sessions.model.states import Bookmark

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
_Row = TypeVar("_Row", bound=tuple[Any, ...])
Row = tuple[Any, ...]

UNDECODABLE: Final = (DecodingError, MemoryError, codec.BlockError, msgspec.ValidationError)
"""Exceptions from decoding a row of a damaged database."""
ROW_BYTES: Final = 256
"""The memory of a statement or a bookmark besides its texts."""
_NUMBERS: Final = "first_seq, last_seq, first_us, last_us, first_record, last_record"
_LAST_SEQ_NAMED: Final = """
SELECT max(seq) FROM (
    SELECT max(seq) AS seq FROM inputs UNION ALL SELECT max(seq) FROM summary
    UNION ALL SELECT max(seq) FROM keyframes UNION ALL SELECT max(first_seq) FROM touches
)
"""
"""Queries for the last event that other rows refer to; rows are committed with their events."""


class Chunk(msgspec.Struct, frozen=True):
    """Consecutive events: the first and last, and the range of record ids in them (-1: none)."""

    first_seq: int
    last_seq: int
    first_us: int
    last_us: int
    first_record: int
    last_record: int


class KeyframePlace(msgspec.Struct, frozen=True):
    """A keyframe, and the one that it is based on (0: none)."""

    seq: int
    base_seq: int


class SessionFile:
    """A session, for reading.

    ``damage`` is empty, or one sentence about what cannot be read; ``inputs_damage`` is the same
    about its statements, once they have been read. ``damaged_at`` is the number of
    the first event that cannot be read; None while no such event is known.
    """

    def __init__(self, path: Path | str, *, check: bool = True) -> None:
        """Open the file; ``damage`` is set if part of it is lost.

        Without ``check`` only its beginning and end are verified.

        Raises:
            SessionError: the file cannot be read, is not a session, has an unknown schema, or
                nothing of it is intact.
        """
        self.path = Path(path)
        self.damage = ""
        self.inputs_damage = ""
        self.damaged_at: int | None = None
        header = read_header(self.path)
        self._schema = header.schema
        self._has_checksums = header.schema >= CHECKSUMS_SINCE
        self._short = self.path.stat().st_size < header.bytes_expected
        self._opened = open_database(self.path, header, is_short=self._short)
        self._database = self._opened.database
        self._is_one_moment = False
        self._salvage: Salvage | None = None
        self.extent = Extent()
        self._last: Chunk | None = None
        self._chunks: list[Chunk] | None = None
        self._keyframes: list[KeyframePlace] | None = None
        try:
            self.origin = self._meta("origin", Origin)
            _require_size(self.origin.cluster)
            self._open(check=check)
        except (*UNREADABLE, SessionDamagedError) as error:
            self.close()
            if self._opened.missing:  # that is why
                raise SessionMissingError(self._opened.missing) from error
            if isinstance(error, SessionDamagedError) and str(self.path) in str(error):
                raise
            raise SessionDamagedError(damage_sentence(self.path, error)) from error

    def _open(self, *, check: bool) -> None:
        self.damage = self._opened.missing
        if not check and not self._short:
            try:
                with self._one_moment():
                    self.refresh()
                    self._require_end()
            except (*UNREADABLE, SessionDamagedError):
                check = True  # that tells what is left
        if check or self._short or self.damage:
            self.check()
        if self._short and not self.damage:
            self.damage = f"{self.path} is truncated: data after its events may be lost."

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
        self._opened.close()
        if self._salvage is not None:
            self._salvage.close()

    # ---- what is there

    @property
    def first_seq(self) -> int:
        """The number of the first event: 1 unless the beginning was dropped."""
        return self.extent.first_seq

    @property
    def last_seq(self) -> int:
        """The number of the last event that can be read; if there is none, one below the first."""
        return self.first_seq - 1 if self._last is None else self._last.last_seq

    @property
    def last_us(self) -> int:
        """The virtual time of the last event."""
        return self.extent.before_us if self._last is None else self._last.last_us

    @property
    def complete(self) -> bool:
        """Whether the writer closed the recording, and all of it can be read."""
        return self.outcome is not None and self.damaged_at is None and not self._opened.missing

    @property
    def outcome(self) -> Outcome | None:
        """How the recording ended; None if it is still being written, or its writer was killed."""
        with suppress(SessionDamagedError, *UNREADABLE):
            if self._has_meta("outcome"):
                return self._meta("outcome", Outcome)
        return None

    @property
    def chunks(self) -> list[Chunk]:
        """The chunks in order; callers must not modify the list."""
        if self._chunks is None:
            self._chunks = []
            self.refresh()
        return self._chunks

    @property
    def keyframes(self) -> list[KeyframePlace]:
        """The keyframes in order; callers must not modify the list."""
        if self._keyframes is None:
            self._keyframes = []
            self._read_keyframes()
        return self._keyframes

    def refresh(self) -> None:
        """Read what was written or dropped since the last call, up to the first damage."""
        with self._one_moment():
            self._look_at_extent()
            if self._chunks is None:
                self._look_at_end()
            else:
                self._read_chunks(check=False)
            if self._keyframes is not None:
                self._read_keyframes()

    def check(self) -> None:
        """Verify every event; from then on the session ends before the first damaged one."""
        self.damage, self.damaged_at = self._opened.missing, None
        with self._one_moment():
            self._look_at_extent()
            self._chunks = []
            self._read_chunks(check=True)
            self._keyframes = []
            self._read_keyframes()
            self._require_end()

    @contextmanager
    def _one_moment(self) -> Iterator[None]:
        """Give all reads within the block one consistent snapshot of a file that may be written."""
        # SQLite has no transactions on a truncated file; a nested block uses the outer snapshot.
        if self._short or self._is_one_moment:
            yield
            return
        self._database.execute("BEGIN")
        self._is_one_moment = True
        try:
            yield
        finally:
            self._is_one_moment = False
            with suppress(*UNREADABLE):  # damage aborts a transaction, or makes its end fail
                self._database.execute("ROLLBACK")

    def _look_at_extent(self) -> None:
        previous_first = self.first_seq
        with suppress(SessionDamagedError):  # a late beginning needs an extent
            if self._has_meta("extent"):
                extent = self._meta("extent", Extent)
                if not (0 < extent.first_seq <= limits.SEQ_MAX and extent.before_us >= 0):
                    raise SessionDamagedError("its first event is none of a recording")
                self.extent = extent
        first = self.first_seq
        if first != previous_first:
            if self._chunks is not None:
                self._chunks = [chunk for chunk in self._chunks if chunk.first_seq >= first]
            if self._keyframes is not None:
                self._keyframes = [place for place in self._keyframes if place.seq >= first - 1]

    def _look_at_end(self) -> None:
        """Read only the last chunk's row."""
        statement = f"SELECT {_NUMBERS} FROM chunks ORDER BY first_seq DESC LIMIT 1"
        row = self._database.execute(statement).fetchone()
        self._last = None if row is None else _chunk(row)

    def _read_chunks(self, *, check: bool) -> None:
        """Read the chunks up to the first damage; ``check`` verifies their bytes, too."""
        chunks = self._chunks
        if chunks is None or self.damaged_at is not None:
            return
        last = chunks.pop() if chunks else None
        expected = last.first_seq if last is not None else self.first_seq
        is_damaged = False
        try:
            for row in self._chunk_rows(expected, check=check):
                *numbers, checksum, block = row
                chunk = _chunk(numbers)
                is_whole = not check or self._is_whole(block, checksum, numbers)
                if len(chunks) >= limits.CHUNKS_MAX:
                    self._end_before(expected, f"it has more than {limits.CHUNKS_MAX:,} chunks")
                    return
                if chunk.first_seq != expected or chunk.last_seq < expected or not is_whole:
                    is_damaged = True
                    break
                chunks.append(chunk)
                expected = chunk.last_seq + 1
        except (*UNREADABLE, SessionDamagedError):
            is_damaged = True
        self._last = chunks[-1] if chunks else None
        if is_damaged:
            self._find_more(chunks, expected)

    def _find_more(self, chunks: list[Chunk], seq: int) -> None:
        """Add intact chunks from ``seq`` on that SQLite does not find."""
        seq = self._salvaged(chunks, seq)
        self._last = chunks[-1] if chunks else None
        last_named = self._last_named()
        if last_named is not None and 0 < last_named < seq:
            self._damaged("not all of its events are where they should be, but they are there")
        elif last_named is not None and seq < last_named:
            self._end_before(seq, f"events {seq:,} to {last_named:,} are missing or damaged")
        else:
            self._end_before(seq)

    def _salvaged(self, chunks: list[Chunk], seq: int) -> int:
        """Add the chunks found on the pages from ``seq`` on; return the next event number."""
        if self._salvage is None:
            with suppress(OSError, ValueError):
                self._salvage = Salvage(self.path, self._is_whole)
        salvaged = {} if self._salvage is None else self._salvage.chunks
        while (numbers := salvaged.get(seq)) and numbers[1] >= seq:  # it may say that it goes back
            chunks.append(Chunk(*numbers))
            seq = numbers[1] + 1
        return seq

    def _last_named(self) -> int | None:
        """Return the last event that other rows refer to; None if they cannot be read."""
        try:
            (last_named,) = self._database.execute(_LAST_SEQ_NAMED).fetchone()
            closed = self._meta("outcome", Outcome).events if self._has_meta("outcome") else 0
            return max(closed, msgspec.convert(last_named or 0, int))
        except (*UNREADABLE, SessionDamagedError, msgspec.ValidationError):
            return None

    def _chunk_rows(self, seq: int, *, check: bool) -> Iterator[Row]:
        """Return the rows of chunks from event ``seq`` on, up to the first unreadable one."""
        columns = f"{_NUMBERS}, {'checksum, events' if check else 'NULL, NULL'}"
        statement = f"SELECT {columns} FROM chunks WHERE first_seq >= ? ORDER BY first_seq"
        try:
            for row in self._database.execute(statement, (seq,)):
                yield row
                seq = row[1] + 1
        except (*UNREADABLE, TypeError):
            # A cursor reads one row ahead, so the row before the damage would be lost.
            statement = f"SELECT {columns} FROM chunks WHERE first_seq = ?"
            yield from self._database.execute(statement, (seq,))
            raise

    def _read_keyframes(self) -> None:
        keyframe_places = self._keyframes
        if keyframe_places is None:
            return
        last_seq = keyframe_places[-1].seq if keyframe_places else 0
        statement = "SELECT seq, base_seq FROM keyframes WHERE seq > ? ORDER BY seq"
        for seq, base_seq in self._typed_rows(tuple[int, int], statement, (last_seq,)):
            if len(keyframe_places) >= limits.KEYFRAMES_MAX:
                self._damaged(f"it has more than {limits.KEYFRAMES_MAX:,} keyframes")
                break
            if seq <= self.last_seq:
                keyframe_places.append(KeyframePlace(seq, base_seq))

    def _require_end(self) -> None:
        """Report missing last events as damage, from other rows that refer to them."""
        if self.damaged_at is not None:
            return
        last_named, last, outcome = self._last_named(), self.last_seq, self.outcome
        if last_named is None:
            self._damaged("its final state cannot be read")
        elif last_named > last:
            self._find_more(self.chunks, last + 1)
        elif outcome is not None and outcome.events < last:
            self._damaged(f"it says that it was closed after event {outcome.events:,}")

    def end_before(self, seq: int, damage: str) -> NoReturn:
        """Make the session end before an event that cannot follow those before it.

        Raises:
            SessionEndedError: always.
        """
        self._end_before(seq, damage)
        raise SessionEndedError(f"{self.path} is damaged from event {seq:,} on: {brief(damage)}.")

    def _end_before(self, seq: int, damage: str = "") -> None:
        """Make the session end before an event that cannot be read."""
        self._chunks = [chunk for chunk in self.chunks if chunk.last_seq < seq]
        self.damaged_at = seq
        self._last = self._chunks[-1] if self._chunks else None
        if self._keyframes is not None:
            self._keyframes = [place for place in self._keyframes if place.seq < seq]
        self._damaged(damage or f"the events from number {seq:,} on")

    # ---- events and keyframes

    def events(self, chunk: Chunk) -> list[Event]:
        """Return the events of one chunk.

        Raises:
            SessionEndedError: they cannot be read; from now on the session ends before them.
            SessionDroppedError: the recorder has dropped them.
        """
        return self.unpacked(chunk).events()

    def unpacked(self, chunk: Chunk, kinds: codec.Kinds = None) -> codec.Unpacked:
        """Return the events of one chunk by column, for some types or all.

        Events added to the chunk since it was listed are omitted. Raises the same errors as
        :meth:`events`.
        """
        try:
            *numbers, checksum, data = self._row_of(chunk)
            if not self._is_whole(data, checksum, numbers):
                raise SessionDamagedError("the checksum is another one")
            unpacked = codec.unpack(data, kinds)
            if unpacked.memory > limits.CHUNK_MEMORY_LARGE:
                give_back()
            is_other = unpacked.first_seq != chunk.first_seq or unpacked.times[0] != chunk.first_us
            if is_other or unpacked.last_seq < chunk.last_seq:
                raise SessionDamagedError("they are other ones")
            return unpacked.up_to(chunk.last_seq)
        except SessionDroppedError:
            raise
        except (codec.BlockError, SessionDamagedError) as error:
            # A whole block that cannot be decoded was written so: no other page has more of it.
            if (
                not isinstance(error, codec.BlockError)
                and self._salvage is None
                and self._salvaged([], chunk.first_seq) > chunk.first_seq
            ):
                return self.unpacked(chunk, kinds)
            self._end_before(chunk.first_seq)
            raise SessionEndedError(
                f"{self.path} is damaged: events {chunk.first_seq:,} to {chunk.last_seq:,} "
                f"cannot be read ({brief(error)})."
            ) from error

    def _row_of(self, chunk: Chunk) -> Row:
        """Return a chunk's row; in a damaged file this may be anything."""
        salvaged = None if self._salvage is None else self._salvage.row(chunk.first_seq)
        if salvaged is not None:
            numbers, checksum, block = salvaged
            return (*numbers, checksum, block)
        statement = f"SELECT {_NUMBERS}, checksum, events FROM chunks WHERE {{}} = ?"
        try:
            return self._row(statement.format("first_seq"), (chunk.first_seq,))
        except SessionDamagedError:
            self._look_at_extent()
            if chunk.first_seq < self.first_seq:
                self.refresh()
                raise SessionDroppedError(
                    f"{self.path} now begins with event {self.first_seq:,}: "
                    "earlier events have been dropped."
                ) from None
        # A table scan can still find a row that an index search misses because of damage.
        return self._row(statement.format("+first_seq"), (chunk.first_seq,))

    def all_events(self) -> Iterator[Event]:
        """Yield all events in order, with one chunk in memory at a time."""
        for chunk in self.chunks:
            yield from self.events(chunk)

    def beginning(self) -> Keyframe | None:
        """Return the state and batches before the first event; None: the recording starts there.

        Raises:
            SessionDamagedError: the beginning was dropped, and that state cannot be read.
        """
        if self.first_seq == 1:
            return None
        frame = self._keyframe(KeyframePlace(self.first_seq - 1, 0), keyframes.room_of_beginning)
        if frame is None:
            raise SessionDamagedError(
                f"{self.path} is damaged: the state before its first event cannot be read."
            )
        return frame

    def keyframe(self, place: KeyframePlace, room: Room | None = None) -> Keyframe | None:
        """Return a keyframe; None if it is damaged, or takes more memory than ``room`` has left."""
        return self._keyframe(place, lambda data: room)

    def _keyframe(
        self, place: KeyframePlace, room: Callable[[bytes], Room | None]
    ) -> Keyframe | None:
        try:
            row = self._row("SELECT checksum, state FROM keyframes WHERE seq = ?", (place.seq,))
            checksum, data = row
            if not self._is_whole(data, checksum, (place.seq, place.base_seq)):
                return None
            frame = keyframes.decode(data, room(data))
            return frame if frame.seq == place.seq else None
        except (codec.BlockError, SessionDamagedError):
            return None

    def objects(self, chunk: Chunk) -> bytes:
        """Return the names of the objects that a chunk's events affect, each between line feeds."""
        row = self._row("SELECT objects FROM touches WHERE first_seq = ?", (chunk.first_seq,))
        return b"\n%b\n" % codec.decompress(row[0])

    # ---- the small tables

    def inputs(self, *, frames: bool = True) -> Iterator[RecordedInput]:
        """Yield the statements in order; ``inputs_damage`` says why there are no more of them.

        Without ``frames`` the requests of clients have none, which takes less time.
        """
        self.inputs_damage = ""
        checksum = "checksum" if self._has_checksums else "0"
        frame = "frame" if frames and self._schema >= FRAMES_SINCE else "NULL"
        query = (
            f"SELECT seq, time_us, steps, line, text, statement, {checksum}, {frame} FROM inputs "
            "WHERE seq > ? ORDER BY seq LIMIT 1"  # a cursor would keep what is written meanwhile
        )
        count = beyond = 0
        room, frame_room, seq = _TextRoom(), _FrameRoom(), -1
        try:
            while (row := self._database.execute(query, (seq,)).fetchone()) is not None:
                before = seq
                seq, time_us, steps, line, text, stored, stored_checksum, packed = msgspec.convert(
                    row, tuple[int, int, int, int, str, str | None, int, bytes | None]
                )
                if seq <= before:  # pages of the table are out of order: it would never end
                    raise SessionDamagedError(f"its number is {seq}, after {before}")
                numbers = (seq, time_us, steps, line)
                room.take(text, stored or "")
                beyond += seq > self.last_seq
                if count >= limits.STATEMENTS_MAX or beyond > limits.BEYOND_MAX:
                    raise SessionDamagedError(f"it has more than {count:,} statements")
                if self._has_checksums and input_checksum(numbers, text, stored) != stored_checksum:
                    raise SessionDamagedError("its checksum is another one")
                statement = None if stored is None else _statement(stored)
                if not frames:
                    statement = _without_frame(statement)
                elif self._schema >= FRAMES_SINCE:
                    statement = _with_frame(statement, packed, frame_room)
                yield RecordedInput(*numbers, text, statement)
                count += 1
        except (*UNREADABLE, *UNDECODABLE, SessionDamagedError) as error:
            self.inputs_damage = self._sentence(f"statement {count + 1:,}: {error}")
            self.damage = self.damage or self.inputs_damage

    def bookmarks(self) -> list[Bookmark]:
        """Return the bookmarks in the order of their events."""
        statement = "SELECT name, note, seq, time_us FROM bookmarks ORDER BY seq"
        rows = self._typed_rows(tuple[str, str, int, int], statement)
        bookmarks, room = list[Bookmark](), _TextRoom()
        try:
            for row in islice(rows, limits.BOOKMARKS_MAX):
                room.take(row[0], row[1])
                bookmarks.append(Bookmark(*row))
        except SessionDamagedError as error:
            self._damaged(str(error))
        return bookmarks

    def summary(self, after_seq: int = 0) -> list[tuple[int, int, Counts]]:
        """Return what the time bar draws: event, time and counts wherever the counts changed."""
        rows_max = min(limits.SUMMARY_ROWS_MAX, self.last_seq + limits.BEYOND_MAX)
        statement = "SELECT * FROM summary WHERE seq > ? ORDER BY seq"
        rows = self._typed_rows(tuple[int, ...], statement, (after_seq,))
        first_rows = islice(rows, rows_max)
        return [(seq, time_us, completed(counts)) for seq, time_us, *counts in first_rows]

    # ---- rows

    def _has_meta(self, key: str) -> bool:
        statement = "SELECT count(*) FROM meta WHERE key = ?"
        return self._row(statement, (key,)) != (0,)

    def _meta(self, key: str, kind: type[_Struct]) -> _Struct:
        checksum = "checksum" if self._has_checksums else "0"
        row = self._row(f"SELECT value, {checksum} FROM meta WHERE key = ?", (key,))
        try:
            value, stored_checksum = msgspec.convert(row, tuple[str, int])
        except msgspec.ValidationError as error:
            raise SessionDamagedError(damage_sentence(self.path, error)) from error
        if self._has_checksums and meta_checksum(key, value) != stored_checksum:
            raise SessionDamagedError(f"{self.path} is damaged: its {key} has another checksum.")
        return _decoded(value, kind, self.path, limits.META_MEMORY_MAX)

    def _is_whole(self, data: object, checksum: object, numbers: Sequence[Any]) -> bool:
        if not isinstance(data, bytes):
            return False
        checksum_of = codec.checksum if self._has_checksums else codec.checksum_up_to_6
        try:
            return checksum_of(data, *numbers) == checksum
        except struct.error:
            return False

    def _row(self, statement: str, values: Row) -> Row:
        try:
            row = self._database.execute(statement, values).fetchone()
        except (*UNREADABLE, MemoryError) as error:
            raise SessionDamagedError(damage_sentence(self.path, error)) from error
        if row is None:
            raise SessionDamagedError(f"{self.path} is damaged: a part of it is not there.")
        return tuple(row)

    def _typed_rows(self, kind: type[_Row], statement: str, values: Row = ()) -> Iterator[_Row]:
        """Return rows whose columns have these types, up to the first damage."""
        try:
            for row in self._database.execute(statement, values):
                yield msgspec.convert(row, kind)
        except (*UNREADABLE, MemoryError, msgspec.ValidationError) as error:
            self._damaged(str(error))

    def _damaged(self, damage: str) -> None:
        self.damage = self.damage or self._sentence(damage)

    def _sentence(self, damage: str) -> str:
        damage = brief(damage)
        return f"{self.path} is damaged ({damage}): it opens up to event {self.last_seq:,}."


def _chunk(numbers: object) -> Chunk:
    """Return the chunk that a row describes.

    Raises:
        SessionDamagedError: the row is malformed.
    """
    try:
        chunk = Chunk(*msgspec.convert(numbers, tuple[int, int, int, int, int, int]))
    except msgspec.ValidationError as error:
        raise SessionDamagedError(str(error)) from error
    if chunk.last_seq - chunk.first_seq >= limits.CHUNK_EVENTS_MAX:
        raise SessionDamagedError(f"a chunk of events up to {chunk.last_seq:,} is too long")
    return chunk


def _statement(stored: str) -> Statement:
    statement = decode_json(stored, Statement, limits.STATEMENT_MEMORY_MAX)
    _require_size(statement.input)
    return statement


def _without_frame(statement: Statement | None) -> Statement | None:
    if statement is None or not isinstance(statement.input, ReceiveRequest):
        return statement
    return replace(statement, input=replace(statement.input, frame=b""))


def _with_frame(
    statement: Statement | None, packed: bytes | None, room: "_FrameRoom"
) -> Statement | None:
    """A statement with its request, whose stand-in is the checksum of the packed bytes."""
    if statement is None or not isinstance(statement.input, ReceiveRequest):
        if packed is not None:
            raise SessionDamagedError("bytes of a request belong to no request")
        return statement
    if packed is None or statement.input.frame != stand_in(packed):
        raise SessionDamagedError("its request is another one")
    return replace(statement, input=replace(statement.input, frame=room.unpacked(packed)))


def _require_size(input_: AnyInput) -> None:
    """Raise :class:`SessionDamagedError` if a statement asks for more than any may."""
    if too_much := excess(input_):
        raise SessionDamagedError(f"{too_much} are more than a statement may ask for")


def _decoded(text: str, kind: type[_Struct], path: Path, memory_max: int) -> _Struct:
    try:
        return decode_json(text, kind, memory_max)
    except DecodingError as error:
        raise SessionDamagedError(damage_sentence(path, error)) from error


class _TextRoom:
    """The memory that is left for the texts of a table."""

    def __init__(self) -> None:
        self._memory = limits.TEXTS_MEMORY_MAX
        self._bytes = limits.TEXTS_BYTES_MAX

    def take(self, *texts: str) -> None:
        """Count the texts of a row.

        Raises:
            SessionDamagedError: there are too many, or they are too long.
        """
        size = sum(map(len, texts))
        self._bytes -= size
        self._memory -= ROW_BYTES + sum(map(memory_of_json, texts)) - 2 * size
        if self._bytes < 0 or self._memory < 0:
            raise SessionDamagedError("it has more statements or bookmarks than a recording")


class _FrameRoom:
    """How many bytes clients' requests may still have, of which one is in memory at a time."""

    def __init__(self) -> None:
        self._bytes = limits.FRAMES_BYTES_MAX

    def unpacked(self, packed: bytes) -> bytes:
        """Return a request.

        Raises:
            SessionDamagedError: the requests have more bytes than those of a recording.
            codec.BlockError: it is damaged.
        """
        frame = codec.decompress(packed)
        self._bytes -= len(frame) - limits.FRAMES_EXPANSION_MAX * len(packed)
        if self._bytes < 0:
            raise SessionDamagedError("its requests are larger than those of a recording")
        return frame
