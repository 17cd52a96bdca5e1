"""Bytes by increasing numbers, of which only the latest need be in memory.

A served cluster keeps what clients write for as long as any log has it. Beyond a limit the oldest
values move to files, which the emulator does not open itself: whoever serves it says how.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

SPILLED_AT_ONCE: Final = 1 << 20
"""At least this many bytes move to a file in one write."""
VOLUME_BYTES: Final = 1 << 26
"""The size at which the next file is begun."""


class SpillFile(Protocol):
    """A file that is appended to; it takes up disk as long as somebody refers to it."""

    def append(self, data: bytes) -> bool:
        """Write at the end; return False, with the file as before, if the disk has no room."""

    def read(self, position: int, size: int) -> bytes:
        """Read what was written at a position."""


class _Volume:
    """The values of one file in order; ``ends`` are the positions after them, beginning with 0.

    Copies share the file: what one of them appends lies behind what the others know.
    """

    __slots__ = ("ends", "file", "gone", "live_bytes", "numbers")

    def __init__(self, file: SpillFile) -> None:
        self.file = file
        self.numbers = array("q")
        self.ends = array("q", [0])
        self.gone: set[int] = set()
        self.live_bytes = 0

    def copy(self) -> "_Volume":
        copied = _Volume(self.file)
        copied.numbers, copied.ends = self.numbers[:], self.ends[:]
        copied.gone, copied.live_bytes = self.gone.copy(), self.live_bytes
        return copied

    def append(self, values: list[tuple[int, bytes]]) -> bool:
        """Write these values; return False if the disk has no room."""
        if not self.file.append(b"".join(data for _, data in values)):
            return False
        end = self.ends[-1]
        for number, data in values:
            end += len(data)
            self.numbers.append(number)
            self.ends.append(end)
        self.live_bytes += end - self.ends[-1 - len(values)]
        return True

    def index_of(self, number: int) -> int | None:
        """The index of a value among all; None if it is not there."""
        index = bisect_left(self.numbers, number)
        is_here = index < len(self.numbers) and self.numbers[index] == number
        return index if is_here and index not in self.gone else None

    def read(self, index: int) -> bytes:
        begin, end = self.ends[index], self.ends[index + 1]
        return self.file.read(begin, end - begin)

    def remove(self, index: int) -> None:
        self.gone.add(index)
        self.live_bytes -= self.ends[index + 1] - self.ends[index]

    def items(self) -> Iterator[tuple[int, bytes]]:
        """The remaining values, in order."""
        for index, number in enumerate(self.numbers):
            if index not in self.gone:
                yield number, self.read(index)


class BytesByNumber(Mapping[int, bytes]):
    """Maps numbers, which only increase, to bytes; copies share what is in files."""

    __slots__ = ("_in_memory", "_kept_bytes", "_limit", "_make_file", "_patience", "_volumes")

    def __init__(self) -> None:
        """Create an empty mapping that keeps everything in memory."""
        self._in_memory: dict[int, bytes] = {}
        self._kept_bytes = 0
        self._volumes: list[_Volume] = []
        self._make_file: Callable[[], SpillFile] | None = None
        self._limit = self._patience = 0

    def spill(self, limit_bytes: int, make_file: Callable[[], SpillFile]) -> None:
        """Keep at most ``limit_bytes`` in memory from now on, the latest, and the others in files.

        If a disk has no room, more stays in memory.
        """
        self._limit = self._patience = limit_bytes
        self._make_file = make_file

    def copy(self) -> "BytesByNumber":
        """Return an independent copy, whose later values stay in memory."""
        copied = BytesByNumber()
        copied._in_memory, copied._kept_bytes = self._in_memory.copy(), self._kept_bytes
        copied._volumes = [volume.copy() for volume in self._volumes]
        return copied

    @property
    def kept_bytes(self) -> int:
        """The size of the values in memory."""
        return self._kept_bytes

    # ---- as a mapping

    def __getitem__(self, number: int) -> bytes:
        if (data := self._in_memory.get(number)) is not None:
            return data
        volume = self._volume_of(number)
        index = None if volume is None else volume.index_of(number)
        if volume is None or index is None:
            raise KeyError(number)
        return volume.read(index)

    def __contains__(self, number: object) -> bool:
        if number in self._in_memory:
            return True
        if not isinstance(number, int):
            return False
        volume = self._volume_of(number)
        return volume is not None and volume.index_of(number) is not None

    def __len__(self) -> int:
        spilled = sum(len(volume.numbers) - len(volume.gone) for volume in self._volumes)
        return spilled + len(self._in_memory)

    def __iter__(self) -> Iterator[int]:
        for volume in self._volumes:
            for index, number in enumerate(volume.numbers):
                if index not in volume.gone:
                    yield number
        yield from self._in_memory

    # ---- changes

    def add(self, number: int, data: bytes) -> None:
        """Add a value; its number is larger than that of any earlier one."""
        self._in_memory[number] = data
        self._kept_bytes += len(data)
        if self._make_file is not None and self._kept_bytes > self._patience:
            self._spill(self._make_file)

    def discard(self, number: int) -> None:
        """Remove a value if it is there; a file with little left is written anew."""
        if (data := self._in_memory.pop(number, None)) is not None:
            self._kept_bytes -= len(data)
            return
        volume = self._volume_of(number)
        index = None if volume is None else volume.index_of(number)
        if volume is None or index is None:
            return
        volume.remove(index)
        if volume.live_bytes <= volume.ends[-1] // 2:
            self._shrink(volume)

    def _volume_of(self, number: int) -> _Volume | None:
        """The file that has a number, if one does."""
        at = bisect_right(self._volumes, number, key=_first) - 1
        return self._volumes[at] if at >= 0 else None

    def _spill(self, make_file: Callable[[], SpillFile]) -> None:
        """Move the oldest values to files."""
        while self._kept_bytes > self._limit:
            values, size = [], 0
            for number, data in self._in_memory.items():
                values.append((number, data))
                size += len(data)
                if size >= SPILLED_AT_ONCE:
                    break
            volume = self._volumes[-1] if self._volumes else None
            if volume is None or volume.ends[-1] >= VOLUME_BYTES:
                volume = _Volume(make_file())
            if not volume.append(values):
                self._patience = self._kept_bytes + VOLUME_BYTES
                return
            if not self._volumes or volume is not self._volumes[-1]:
                self._volumes.append(volume)
            for number, _ in values:
                del self._in_memory[number]
            self._kept_bytes -= size
        self._patience = self._limit

    def _shrink(self, volume: _Volume) -> None:
        """Write what is left of a file to a new one, if anything is left."""
        at = bisect_left(self._volumes, volume.numbers[0], key=_first)
        if len(volume.gone) == len(volume.numbers):
            del self._volumes[at]
        elif self._make_file is not None:
            smaller = _Volume(self._make_file())
            if smaller.append(list(volume.items())):
                self._volumes[at] = smaller


def _first(volume: _Volume) -> int:
    return volume.numbers[0]
