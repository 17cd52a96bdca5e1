"""Find chunks in a damaged file without the pages that refer to them.

SQLite finds a row by way of interior pages, which refer to other pages. A single one may refer to a
hundred chunks and lie anywhere in the file; if it is damaged or truncated, SQLite can read none of
them. But each row has pages of its own, and its checksum tells whether it is intact. So every page
is examined. From sections 1.6 and 2.1 of SQLite's "Database File Format"::

    leaf page  0x0d | free block, 2 | cells, 2 | content, 2 | fragments, 1 | places of cells, 2 each
    cell       bytes of the record, varint | rowid, varint | record | page where it goes on, 4
    next page  page where it goes on, 4 | more of the record
    record     bytes of this head, varint | type of each column, varint | columns

Pages that are no longer in use may contain stale rows too: shorter versions of a chunk that has
grown since. The longest one counts.
"""

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from sessions.file_system import open_regular
from sessions.format.limits import SALVAGE_CELLS_MAX, VALUE_BYTES_MAX
from sessions.format.schema import HEADER_BYTES, PAGE_SIZE_AT

LEAF: Final = 0x0D
LEAF_HEAD_BYTES: Final = 8
RESERVED_AT: Final = 20
INTEGER_BYTES: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""Length of an integer of each type in bytes; types 8 and 9 are the values 0 and 1."""
BLOB: Final = 12
NUMBERS: Final = 5
"""Number of columns between a chunk's first event, which is the rowid, and its checksum."""
VARINT_BYTES_MAX: Final = 9
GOES_ON: Final = 0x80
"""In each byte of a varint but the ninth, this bit means that another byte follows."""
READ_MAX: Final = 4
"""Limit on reads, in multiples of the file size: hostile rows may all share their pages."""

Numbers = tuple[int, int, int, int, int, int]
Found = tuple[Numbers, int, bytes]
"""A chunk's numbers, checksum and block."""
IsWhole = Callable[[bytes, int, Numbers], bool]


class NotARowError(Exception):
    """The data at this position is not a row of ``chunks``."""


class Salvage:
    """The chunks of a damaged file, whose pages may be missing or contain anything.

    ``chunks`` has the numbers of every intact chunk by its first event.
    """

    def __init__(self, path: Path, is_whole: IsWhole) -> None:
        """Examine every page of the file, which stays open until :meth:`close`.

        Raises:
            OSError: the file cannot be read.
            ValueError: the file is empty.
        """
        with open_regular(path) as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = int.from_bytes(self._content[PAGE_SIZE_AT : PAGE_SIZE_AT + 2], "big")
        self._size = 65_536 if size == 1 else max(size, 512)
        self._usable = self._size - self._content[RESERVED_AT]
        self._bytes_left = READ_MAX * len(self._content)
        self.chunks: dict[int, Numbers] = {}
        self._cell_offsets: dict[int, tuple[int, int]] = {}
        for begin, at in self._cells():
            try:
                numbers, checksum, block = self._row(self._page(begin), at)
            except (NotARowError, IndexError):
                continue
            before = self.chunks.get(numbers[0])
            if (before is None or before[1] < numbers[1]) and is_whole(block, checksum, numbers):
                self.chunks[numbers[0]] = numbers
                self._cell_offsets[numbers[0]] = (begin, at)

    def close(self) -> None:
        self._content.close()

    def row(self, first_seq: int) -> Found | None:
        """Return a chunk as stored in the file; None if it is not complete."""
        offsets = self._cell_offsets.get(first_seq)
        if offsets is None:
            return None
        self._bytes_left = len(self._content)
        return self._row(self._page(offsets[0]), offsets[1])

    def _page(self, begin: int) -> bytes:
        return self._content[begin : begin + self._size]

    def _cells(self) -> Iterator[tuple[int, int]]:
        """Yield possible cells of leaf pages: the offsets of the page and of the cell in it."""
        cells_left = SALVAGE_CELLS_MAX
        for begin in range(0, len(self._content) - self._size + 1, self._size):
            head = HEADER_BYTES if begin == 0 else 0
            if self._content[begin + head] != LEAF:
                continue
            page = self._page(begin)
            pointers = head + LEAF_HEAD_BYTES
            cells = int.from_bytes(page[head + 3 : head + 5], "big")
            ends = range(pointers, min(pointers + 2 * cells, self._size - 1), 2)
            offsets = [int.from_bytes(page[at : at + 2], "big") for at in ends]
            # Most pages belong to other tables: three of their rows tell that.
            samples = {offsets[0], offsets[len(offsets) // 2], offsets[-1]} if offsets else ()
            if any(_is_chunk_at(page, at) for at in samples):
                for at in offsets[: max(0, cells_left)]:
                    yield begin, at
                cells_left -= len(offsets)

    def _row(self, page: bytes, at: int) -> Found:
        size, at = _varint(page, at)
        first_seq, at = _varint(page, at)
        if size > VALUE_BYTES_MAX or size > self._bytes_left:
            raise NotARowError
        kinds, block_type, begin = _columns(page, at)
        self._bytes_left -= size
        record = self._record(page, at, size)
        begin -= at
        numbers = []
        for kind in kinds:
            length = INTEGER_BYTES[kind]
            part = record[begin : begin + length]
            numbers.append(kind - 8 if length == 0 else int.from_bytes(part, "big", signed=True))
            begin += length
        last_seq, first_us, last_us, first_record, last_record, checksum = numbers
        block = record[begin : begin + (block_type - BLOB) // 2]
        return (
            (first_seq, last_seq, first_us, last_us, first_record, last_record),
            checksum,
            block,
        )

    def _record(self, page: bytes, at: int, size: int) -> bytes:
        """Return a whole record, from its leaf page and overflow pages."""
        usable = self._usable
        local = size
        if size > usable - 35:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (usable - 4)
            local = least if local > usable - 35 else local
        parts = [page[at : at + local]]
        missing = size - local
        next_page = int.from_bytes(page[at + local : at + local + 4], "big") if missing else 0
        while missing > 0:
            begin = (next_page - 1) * self._size
            if next_page == 0 or begin + self._size > len(self._content):
                raise NotARowError
            more = self._content[begin : begin + usable]
            parts.append(more[4 : 4 + missing])
            missing -= len(parts[-1])
            next_page = int.from_bytes(more[:4], "big")
        return b"".join(parts)


def _is_chunk_at(page: bytes, at: int) -> bool:
    """Return whether the cell at a place of a leaf page looks like a row of ``chunks``."""
    try:
        _, at = _varint(page, at)
        _, at = _varint(page, at)
        _columns(page, at)
    except (IndexError, NotARowError):
        return False
    return True


def _columns(page: bytes, at: int) -> tuple[list[int], int, int]:
    """Return the types of a chunk's integers and of its block, and where the first one begins.

    Raises:
        NotARowError: the record's header is not that of a chunk: integers and a block.
        IndexError: the page ends before the header does.
    """
    head, position = _varint(page, at)
    end = at + head
    first, position = _varint(page, position)
    kind, position = _varint(page, position)
    numbers: list[int] = []
    while kind in INTEGER_BYTES and len(numbers) <= NUMBERS:
        numbers.append(kind)
        kind, position = _varint(page, position)
    is_blob = kind >= BLOB and kind % 2 == 0
    if first != 0 or len(numbers) != NUMBERS + 1 or not is_blob or position != end:
        raise NotARowError
    return numbers, kind, position


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a varint of one to nine bytes, and the position after it."""
    value = 0
    for index in range(at, at + VARINT_BYTES_MAX - 1):
        byte = data[index]
        if byte < GOES_ON:
            return value << 7 | byte, index + 1
        value = value << 7 | byte & ~GOES_ON
    return value << 8 | data[index + 1], index + 2
