"""The encoding of a state piece by piece, as all of its records may not fit in memory together."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from msgspec import msgpack

from emulator.simulation.bytes_by_number import BytesByNumber
from emulator.simulation.packed_list import PackedList, as_list

_EXTENSION: Final = 1
"""The type of what stands for a part while the others are encoded."""
_LIST: Final = (0x90, b"\xdc", b"\xdd")
_MAP: Final = (0x80, b"\xde", b"\xdf")
"""How MessagePack begins with up to 15 items, with up to 65,535, and with more."""

_encode: Final = msgpack.Encoder().encode

Part = PackedList[Any] | BytesByNumber


def pieces(state: object) -> Iterator[bytes]:
    """Plain data, packed lists and bytes by number in MessagePack, as if these were lists and maps.

    Joined, it is what an encoder makes of the same data without them.
    """
    stand_in = msgpack.Ext(_EXTENSION, b"part")
    encoded, parts = _encoded(state, stand_in)
    while len(between := encoded.split(_encode(stand_in))) != len(parts) + 1:
        # A client has sent bytes that look like it. It cannot send the hash of what it sends.
        stand_in = msgpack.Ext(_EXTENSION, sha256(encoded).digest())
        encoded, parts = _encoded(state, stand_in)
    yield between[0]
    for part, after in zip(parts, between[1:], strict=True):
        yield from _items(part) if isinstance(part, PackedList) else _entries(part)
        yield after


def _encoded(state: object, stand_in: msgpack.Ext) -> tuple[bytes, list[Part]]:
    """The state with ``stand_in`` for each of its parts, and the parts in this order."""
    parts: list[Part] = []

    def stood_for(value: object) -> object:
        if isinstance(value, BytesByNumber) or (isinstance(value, PackedList) and value.is_packed):
            parts.append(value)
            return stand_in
        return as_list(value)

    return msgpack.encode(state, enc_hook=stood_for), parts


def _items(packed: PackedList[Any]) -> Iterator[bytes]:
    yield _header(_LIST, len(packed))
    for encoded, size in packed.encoded():
        yield encoded[len(_header(_LIST, size)) :]


def _entries(by_number: BytesByNumber) -> Iterator[bytes]:
    yield _header(_MAP, len(by_number))
    for number, data in by_number.items():
        yield _encode(number) + _encode(data)


def _header(kind: tuple[int, bytes, bytes], size: int) -> bytes:
    short, long, longest = kind
    if size < 1 << 4:
        return bytes([short | size])
    return long + size.to_bytes(2) if size < 1 << 16 else longest + size.to_bytes(4)
