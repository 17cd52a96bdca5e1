"""The metadata log once it has very many records: a real cluster's has millions.

A recorder holds them encoded. In a recording they are events, so keyframes do not repeat them: a
view that is read from one knows in which events they are, and reads them when somebody asks.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from typing import Any, NoReturn, overload

from emulator.simulation.packed_list import PackedList, as_list
from sessions.model.states import CommittedRecord

Piece = tuple[int, int]
"""An event, and how many records the log has up to it."""
ReadRecords = Callable[[int, int, int], Sequence[CommittedRecord]]
"""Returns the records that are committed from one event to another, and how many there are."""


class LongMetadataLog(MutableSequence[CommittedRecord]):
    """A log that only grows. ``pieces`` tell where its records are in the recording, in order."""

    __slots__ = ("_newer", "_number", "_read", "_records", "_stored", "pieces")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, records: Iterable[CommittedRecord] = ()) -> None:
        self.pieces: list[Piece] = []
        self._stored = 0
        self._newer = _PackedRecords(records)
        self._read: ReadRecords = _nowhere
        self._number, self._records = -1, list[CommittedRecord]()

    @classmethod
    def stored(cls, pieces: list[Piece]) -> "LongMetadataLog":
        """Return a log whose records are in a recording; :meth:`read_with` says how to read it."""
        log = cls()
        log.pieces = pieces
        log._stored = pieces[-1][1]
        return log

    def read_with(self, read: ReadRecords) -> None:
        """Read stored records in this way."""
        self._read = read

    def copy(self) -> "LongMetadataLog":
        """Return an independent copy, which shares what is encoded."""
        copied = LongMetadataLog()
        copied.pieces = self.pieces.copy()
        copied._stored, copied._newer, copied._read = self._stored, self._newer.copy(), self._read
        return copied

    __copy__ = copy

    def append(self, record: CommittedRecord) -> None:
        self._newer.append(record)

    def __len__(self) -> int:
        """How many records there are, stored or not."""
        return self._stored + len(self._newer)

    @overload
    def __getitem__(self, index: int) -> CommittedRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[CommittedRecord]: ...
    def __getitem__(self, index: int | slice) -> CommittedRecord | list[CommittedRecord]:
        """Return a record, or those of a slice; stored ones are read."""
        stored = self._stored
        if isinstance(index, slice):
            begin, end, step = index.indices(len(self))
            if begin >= stored and step == 1:
                return self._newer[begin - stored : max(end - stored, 0)]
            return [self[at] for at in range(begin, end, step)]
        if index < 0:
            index += len(self)
        if index >= stored:
            return self._newer[index - stored]
        if index < 0:
            raise IndexError("list index out of range")
        at = bisect_right(self.pieces, index, key=_records_up_to)
        if at != self._number:
            self._number, self._records = at, list(self._read_piece(at))
        begin = self.pieces[at - 1][1] if at else 0
        return self._records[index - begin]

    def __iter__(self) -> Iterator[CommittedRecord]:
        """All records, with one piece in memory at a time."""
        if self._stored:
            for number in range(len(self.pieces)):
                yield from self._read_piece(number)
        yield from self._newer

    def pieces_from(self, index: int) -> Iterator[Sequence[CommittedRecord]]:
        """Yield the records from ``index`` on, each stored piece when it is asked for."""
        number = bisect_right(self.pieces, index, key=_records_up_to)
        while index < self._stored:
            begin = self.pieces[number - 1][1] if number else 0
            yield self._read_piece(number)[index - begin :]
            index, number = self.pieces[number][1], number + 1
        yield self._newer[index - self._stored :]

    def is_in_memory(self, index: int) -> bool:
        """Whether no record from ``index`` on is only in the recording."""
        return index >= self._stored

    def continues(self, other: object) -> bool:
        """Whether both are known to be of one recording, without reading it."""
        if not isinstance(other, LongMetadataLog) or not (self._stored and other._stored):
            return False
        return self._read == other._read

    def _read_piece(self, number: int) -> Sequence[CommittedRecord]:
        before, count = self.pieces[number - 1] if number else (0, 0)
        last, total = self.pieces[number]
        return self._read(before + 1, last, total - count)

    def __eq__(self, other: object) -> bool:
        """Whether another list has the same records."""
        if not isinstance(other, LongMetadataLog | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __setitem__(self, index: int | slice, value: object) -> NoReturn:
        """Raise a TypeError: committed records do not change."""
        raise TypeError("a metadata log only grows")

    def __delitem__(self, index: int | slice) -> NoReturn:
        """Raise a TypeError: what is committed stays."""
        raise TypeError("a metadata log only grows")

    def insert(self, index: int, value: CommittedRecord) -> NoReturn:
        """Raise a TypeError: records are added at the end."""
        raise TypeError("a metadata log only grows")


class _PackedRecords(PackedList[CommittedRecord], kind=CommittedRecord):
    """Records in memory."""


def plain_list(value: object) -> list[Any]:
    """Convert a list of a view for an encoder (msgspec's ``enc_hook``).

    Raises:
        NotImplementedError: it is no list.
    """
    return list(value) if isinstance(value, LongMetadataLog) else as_list(value)


def _records_up_to(piece: Piece) -> int:
    return piece[1]


def _nowhere(_first: int, _last: int, _count: int) -> NoReturn:
    raise LookupError("the records are in a recording, and nobody said how to read it")
