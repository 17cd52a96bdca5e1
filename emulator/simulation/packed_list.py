"""Growing lists with a small memory footprint: all but the last items are kept encoded.

A batch of one record is an object with two int objects, 150 bytes in total; encoded it takes about
five. A cluster mostly accesses the ends of its logs, so only those are kept as objects.
"""

import lzma
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from itertools import takewhile
from operator import sub
from types import GenericAlias
from typing import Any, ClassVar, Final, Protocol, TypeVar, overload
from zlib import compress, decompress

import msgspec
from msgspec import Struct

BLOCK_ITEMS: Final = 256
"""The usual number of items in a block; at least as many at the end remain objects."""

WEIGHT_MAX: Final = 16 << 20
"""The most that items weigh which remain objects, but for the last one."""

FASTEST: Final = 1
"""The compression level."""
SAMPLE_BYTES: Final = 1 << 20
"""A longer block may repeat itself at a distance of more than zlib's 32 KiB."""
LITTLE: Final = 4
"""How many times smaller its beginning becomes, at least, if zlib will do."""
STRING_BYTES: Final = 49
"""What a string takes in memory besides its characters."""
_FAR: Final = ({"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 18},)
_XZ_MAGIC: Final = b"\xfd7zXZ\0"

_Item = TypeVar("_Item", bound=Struct)
_Self = TypeVar("_Self", bound="PackedList[Any]")
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class _Blocks:
    """Encoded blocks, and the most recently decoded one as objects.

    ``ends`` has how many items there are up to the end of each block, ``firsts`` the number by
    which the first item of each is found. ``decoded`` is with its index.
    """

    __slots__ = ("data", "decoded", "ends", "firsts")

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.ends: list[int] = []
        self.firsts: list[int] = []
        self.decoded: tuple[int, list[Any]] = (-1, [])

    def copy(self) -> "_Blocks":
        """A copy that shares the encoded blocks, which are immutable."""
        copied = _Blocks()
        copied.data, copied.ends = self.data.copy(), self.ends.copy()
        copied.firsts = self.firsts.copy()
        return copied

    def begin(self, index: int) -> int:
        """The place of a block's first item."""
        return self.ends[index - 1] if index else 0


class PackedList(MutableSequence[_Item]):
    """A list of frozen structs, subclassed for each type: ``class Batches(PackedList[B], kind=B)``.

    Blocks of fewer items (``block``) take more memory and are read faster at random places. Items
    are sorted ``by`` a number, by which :meth:`bisect_right` finds them. If they may be large,
    ``weight`` tells their bytes: heavy ones do not remain objects until there are many.
    Copying is cheap (copies share encoded blocks). It equals a plain list of the same items, and is
    encoded as one (:func:`as_list`). Changes anywhere but at its end are slow.
    """

    __slots__ = ("_blocks", "_tail", "_tail_weight")
    __hash__ = None  # type: ignore[assignment]
    _decoder: ClassVar[msgspec.msgpack.Decoder[list[Any]]]
    _block_items: ClassVar[int]
    _by: ClassVar[Callable[[Any], int] | None]
    _weight: ClassVar[Callable[[Any], int] | None]

    def __init_subclass__(
        cls,
        *,
        kind: type[Struct],
        block: int = BLOCK_ITEMS,
        by: Callable[[Any], int] | None = None,
        weight: Callable[[Any], int] | None = None,
    ) -> None:
        """Create the decoder of the items."""
        cls._block_items, cls._by, cls._weight = block, by, weight
        cls._decoder = msgspec.msgpack.Decoder(GenericAlias(list, (kind,)))

    def __init__(self, items: Iterable[_Item] = ()) -> None:
        self._blocks: _Blocks | None = None
        self._tail: list[_Item] = []
        self._tail_weight = 0
        for item in items:
            self.append(item)

    def copy(self: _Self) -> _Self:
        copied = type(self)()
        copied._tail, copied._tail_weight = self._tail.copy(), self._tail_weight
        if self._blocks is not None:
            copied._blocks = self._blocks.copy()
        return copied

    __copy__ = copy

    @property
    def objects(self) -> int:
        """The number of items currently held as objects."""
        blocks = self._blocks
        return len(self._tail) + (0 if blocks is None else len(blocks.decoded[1]))

    # ---- at the end

    def append(self, item: _Item) -> None:
        tail = self._tail
        tail.append(item)
        size = self._block_items
        if len(tail) == 2 * size:
            self._pack(size)
        elif (weight := type(self)._weight) is not None:
            self._tail_weight += weight(item)
            if self._tail_weight > WEIGHT_MAX and len(tail) > 1:
                self._tail_weight = 0
                self._pack(len(tail) - 1)

    def _pack(self, size: int) -> None:
        """Encode the first objects as a block."""
        tail, by = self._tail, type(self)._by
        blocks = self._blocks = self._blocks or _Blocks()
        if by is not None:
            blocks.firsts.append(by(tail[0]))
        blocks.ends.append(self._packed + size)
        blocks.data.append(_compressed(_ENCODE(tail[:size])))
        del tail[:size]

    def pop(self, index: int = -1) -> _Item:
        """Remove and return an item, by default the last one.

        Raises:
            IndexError: there is none.
        """
        if index != -1:
            return super().pop(index)
        item = self._tail.pop()
        blocks = self._blocks
        if blocks is not None and not self._tail:
            self._tail = self._unpacked(blocks.data.pop())
            blocks.ends.pop()
            del blocks.firsts[-1:]
            if not blocks.data:
                self._blocks = None
            else:
                blocks.decoded = (-1, [])
        return item

    def __setitem__(self, index: int | slice, value: object) -> None:
        is_last = index == -1 and bool(self._tail)
        items: Any = self._tail if is_last else list(self)
        items[index] = value
        if not is_last:
            self._refill(items)

    def __delitem__(self, index: int | slice) -> None:
        items = list(self)
        del items[index]
        self._refill(items)

    def insert(self, index: int, value: _Item) -> None:
        """Insert an item before ``index``."""
        items = list(self)
        items.insert(index, value)
        self._refill(items)

    def _refill(self, items: list[_Item]) -> None:
        self._blocks, self._tail = None, []
        self.extend(items)

    # ---- reading

    def __len__(self) -> int:
        return self._packed + len(self._tail)

    def __bool__(self) -> bool:
        return bool(self._tail)

    @overload
    def __getitem__(self, index: int) -> _Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[_Item]: ...

    def __getitem__(self, index: int | slice) -> _Item | list[_Item]:
        tail = self._tail
        if index == -1:
            return tail[-1]
        if isinstance(index, slice):
            return self._part(*index.indices(len(self)))
        if -len(tail) <= index < 0:
            return tail[index]
        packed = self._packed
        if index < 0:
            index += packed + len(tail)
        if index >= packed:
            return tail[index - packed]
        if index < 0:
            raise IndexError("list index out of range")
        blocks = self._blocks
        assert blocks is not None
        block = bisect_right(blocks.ends, index)
        return self._block(block)[index - blocks.begin(block)]

    def __iter__(self) -> Iterator[_Item]:
        if self._blocks is not None:
            for data in self._blocks.data:
                yield from self._unpacked(data)
        yield from self._tail

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedList | list):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"

    def bisect_right(self, value: int) -> int:
        """As :func:`bisect.bisect_right`, for the number that items are sorted by."""
        blocks, tail, key = self._blocks, self._tail, type(self)._by
        assert key is not None
        if blocks is None or key(tail[0]) <= value:
            return self._packed + bisect_right(tail, value, key=key)
        index = bisect_right(blocks.firsts, value) - 1
        if index < 0:
            return 0
        return blocks.begin(index) + bisect_right(self._block(index), value, key=key)

    def same_items(self, other: "PackedList[_Item]") -> int:
        """The number of items in encoded blocks at the start that both have in common."""
        if self._blocks is None or other._blocks is None:
            return 0
        pairs = zip(self._blocks.data, other._blocks.data, strict=False)
        return self._blocks.begin(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)))

    # ---- encoded items

    @property
    def _packed(self) -> int:
        return 0 if self._blocks is None or not self._blocks.ends else self._blocks.ends[-1]

    @property
    def is_packed(self) -> bool:
        """Whether some items are encoded."""
        return self._blocks is not None

    def encoded(self) -> Iterator[tuple[bytes, int]]:
        """Its items in MessagePack: lists that take little memory each, with their lengths."""
        blocks = self._blocks
        if blocks is not None:
            lengths = map(sub, blocks.ends, (0, *blocks.ends))
            yield from zip(map(_decompressed, blocks.data), lengths, strict=True)
        yield _ENCODE(self._tail), len(self._tail)

    def _unpacked(self, data: bytes) -> list[_Item]:
        return self._decoder.decode(_decompressed(data))

    def _block(self, index: int) -> list[_Item]:
        blocks = self._blocks
        assert blocks is not None
        decoded_index, items = blocks.decoded
        if decoded_index != index:
            items = self._unpacked(blocks.data[index])
            blocks.decoded = (index, items)
        return items

    def _part(self, start: int, stop: int, step: int) -> list[_Item]:
        packed = self._packed
        if start >= packed and step > 0:
            return self._tail[start - packed : max(stop - packed, 0) : step]
        return [self[index] for index in range(start, stop, step)]


def _compressed(encoded: bytes) -> bytes:
    """Compress a block: fast, or else so that long texts which are repeated take little."""
    if len(encoded) > SAMPLE_BYTES:
        sample = encoded[:SAMPLE_BYTES]
        near = len(compress(sample, FASTEST))
        if LITTLE * near > SAMPLE_BYTES and 2 * len(_compressed_far(sample)) < near:
            return _compressed_far(encoded)
    return compress(encoded, FASTEST)


def _compressed_far(encoded: bytes) -> bytes:
    return lzma.compress(encoded, check=lzma.CHECK_NONE, filters=_FAR)


def _decompressed(data: bytes) -> bytes:
    return lzma.decompress(data) if data.startswith(_XZ_MAGIC) else decompress(data)


class Texts(Protocol):
    """An item with the keys and values of records."""

    @property
    def keys(self) -> Sequence[str | None]:
        """The keys; as many as there are values, or none."""

    @property
    def values(self) -> Sequence[str]:
        """The values."""


def text_bytes(item: Texts) -> int:
    """The memory of the keys and values of records, as if each were an ASCII string of its own."""
    keys, values = item.keys, item.values
    characters = sum(map(len, values)) + sum(map(len, filter(None, keys)))
    return characters + STRING_BYTES * (len(values) + len(keys))


def same_start(first_list: Sequence[Any], second_list: Sequence[Any]) -> int:
    """The length of the common prefix of two lists."""
    begin = 0
    if isinstance(first_list, PackedList) and isinstance(second_list, PackedList):
        begin = first_list.same_items(second_list)
    first, second = first_list[begin:], second_list[begin:]
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter]:
        return begin + shorter
    differs = range(1, shorter + 1)
    return begin + bisect_left(differs, 1, key=lambda count: first[:count] != second[:count])


def as_list(value: object) -> list[Any]:
    """Convert a packed list for an encoder (msgspec's ``enc_hook``), which does not change it.

    Raises:
        NotImplementedError: it is not a packed list.
    """
    if isinstance(value, PackedList):
        return value._tail if value._blocks is None else list(value)
    raise NotImplementedError(f"{type(value).__name__} is no plain data")
