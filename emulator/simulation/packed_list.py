"""Lists that grow for ever in little memory: what lies well before their end is kept encoded.

A batch of one record is an object with two numbers of its own, 150 bytes in all; encoded it takes
about five. What a cluster is doing touches the ends of its logs, so only those are objects.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from itertools import takewhile
from types import GenericAlias
from typing import Any, ClassVar, Final, TypeVar, overload
from zlib import compress, decompress

import msgspec
from msgspec import Struct

BLOCK_ITEMS: Final = 256
"""How many items are encoded at once; so many at least stay objects at the end."""

FASTEST: Final = 1
"""How hard to compress."""

_Item = TypeVar("_Item", bound=Struct)
_Self = TypeVar("_Self", bound="PackedList[Any]")
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class _Blocks:
    """Encoded items, the first item of each block as it is, and the block looked at last."""

    __slots__ = ("data", "decoded", "decoded_index", "firsts")

    def __init__(self) -> None:
        self.data: list[bytes] = []
        self.firsts: list[Any] = []
        self.decoded: list[Any] = []
        self.decoded_index = -1

    def copy(self) -> "_Blocks":
        """Other lists of the same blocks, which never change."""
        made = _Blocks()
        made.data, made.firsts = self.data.copy(), self.firsts.copy()
        return made


class PackedList(MutableSequence[_Item]):
    """Frozen structs in a row; as a kind of its own: ``class Batches(PackedList[B], kind=B)``.

    It is copied in no time (copies share what is encoded), equals a plain list of the same items,
    and is to be encoded as one (:func:`as_list`). Changes anywhere but at its end are slow.
    """

    __slots__ = ("_blocks", "_tail")
    __hash__ = None  # type: ignore[assignment]
    _decoder: ClassVar[msgspec.msgpack.Decoder[list[Any]]]

    def __init_subclass__(cls, *, kind: type[Struct]) -> None:
        """Know how items are decoded."""
        cls._decoder = msgspec.msgpack.Decoder(GenericAlias(list, (kind,)))

    def __init__(self, items: Iterable[_Item] = ()) -> None:
        """Begin with these items."""
        self._blocks: _Blocks | None = None
        self._tail: list[_Item] = []
        for item in items:
            self.append(item)

    def copy(self: _Self) -> _Self:
        """A list of its own of the same items."""
        made = type(self)()
        made._tail = self._tail.copy()
        if self._blocks is not None:
            made._blocks = self._blocks.copy()
        return made

    __copy__ = copy

    @property
    def objects(self) -> int:
        """How many of the items are objects in memory at the moment."""
        blocks = self._blocks
        kept = 0 if blocks is None else len(blocks.firsts) + len(blocks.decoded)
        return kept + len(self._tail)

    # ---- at the end

    def append(self, item: _Item) -> None:
        """Add an item."""
        tail = self._tail
        tail.append(item)
        if len(tail) == 2 * BLOCK_ITEMS:
            blocks = self._blocks = self._blocks or _Blocks()
            blocks.firsts.append(tail[0])
            blocks.data.append(compress(_ENCODE(tail[:BLOCK_ITEMS]), FASTEST))
            del tail[:BLOCK_ITEMS]

    def pop(self, index: int = -1) -> _Item:
        """Take an item away, the last if none is named.

        Raises:
            IndexError: there is none.
        """
        if index != -1:
            return super().pop(index)
        item = self._tail.pop()
        blocks = self._blocks
        if blocks is not None and not self._tail:
            self._tail = self._unpacked(blocks.data.pop())
            blocks.firsts.pop()
            if not blocks.data:
                self._blocks = None
            else:
                blocks.decoded, blocks.decoded_index = [], -1
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
        """Put an item before the one at ``index``."""
        items = list(self)
        items.insert(index, value)
        self._refill(items)

    def _refill(self, items: list[_Item]) -> None:
        self._blocks, self._tail = None, []
        self.extend(items)

    # ---- looking

    def __len__(self) -> int:
        return self._packed + len(self._tail)

    def __bool__(self) -> bool:
        return bool(self._tail)

    @overload
    def __getitem__(self, index: int) -> _Item: ...

    @overload
    def __getitem__(self, index: slice) -> list[_Item]: ...

    def __getitem__(self, index: int | slice) -> _Item | list[_Item]:
        if isinstance(index, slice):
            return self._part(*index.indices(len(self)))
        tail = self._tail
        if -len(tail) <= index < 0:
            return tail[index]
        packed = self._packed
        if index < 0:
            index += packed + len(tail)
        if index >= packed:
            return tail[index - packed]
        if index < 0:
            raise IndexError("list index out of range")
        return self._block(index // BLOCK_ITEMS)[index % BLOCK_ITEMS]

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

    def bisect_right(self, value: int, key: Callable[[_Item], int]) -> int:
        """As :func:`bisect.bisect_right`, of items in the order of ``key``."""
        blocks, tail = self._blocks, self._tail
        if blocks is None or key(tail[0]) <= value:
            return self._packed + bisect_right(tail, value, key=key)
        index = bisect_right(blocks.firsts, value, key=key) - 1
        if index < 0:
            return 0
        return index * BLOCK_ITEMS + bisect_right(self._block(index), value, key=key)

    def same_blocks(self, other: "PackedList[_Item]") -> int:
        """How many encoded blocks both begin with."""
        if self._blocks is None or other._blocks is None:
            return 0
        pairs = zip(self._blocks.data, other._blocks.data, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    # ---- what is encoded

    @property
    def _packed(self) -> int:
        return 0 if self._blocks is None else len(self._blocks.data) * BLOCK_ITEMS

    def _unpacked(self, data: bytes) -> list[_Item]:
        return self._decoder.decode(decompress(data))

    def _block(self, index: int) -> list[_Item]:
        blocks = self._blocks
        assert blocks is not None
        if blocks.decoded_index != index:
            blocks.decoded = self._unpacked(blocks.data[index])
            blocks.decoded_index = index
        return blocks.decoded

    def _part(self, start: int, stop: int, step: int) -> list[_Item]:
        packed = self._packed
        if start >= packed and step > 0:
            return self._tail[start - packed : max(stop - packed, 0) : step]
        return [self[index] for index in range(start, stop, step)]


def same_start(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many items two lists begin with both."""
    begin = 0
    if isinstance(one, PackedList) and isinstance(other, PackedList):
        begin = one.same_blocks(other) * BLOCK_ITEMS
    first, second = one[begin:], other[begin:]
    shorter = min(len(first), len(second))
    if first[:shorter] == second[:shorter]:
        return begin + shorter
    differs = range(1, shorter + 1)
    return begin + bisect_left(differs, 1, key=lambda count: first[:count] != second[:count])


def as_list(found: object) -> list[Any]:
    """How an encoder that does not know packed lists encodes them (msgspec's ``enc_hook``).

    Raises:
        NotImplementedError: it is no packed list.
    """
    if isinstance(found, PackedList):
        return list(found) if found else []
    raise NotImplementedError(f"{type(found).__name__} is no plain data")
