"""Turn foreign bytes into values: JSON and MessagePack, with a bound on the memory that they take.

A few kilobytes of compressed bytes may describe gigabytes of objects, and nested arrays more levels
than a stack has. So the size of the values is estimated from the bytes before any is made, and what
a decoder raises becomes one error, :class:`DecodingError`.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeVar

import msgspec

Value = TypeVar("Value")

MIB: Final = 1 << 20
JSON_MEMORY_MAX: Final = 256 * MIB
"""Maximum memory of the values of a JSON text: manifests and notes take a thousandth of it."""

EVENT_JSON_MEMORY_MAX: Final = 64 * MIB
"""Maximum memory of JSON in an event, such as a metadata record."""

SLOT_BYTES: Final = 8
"""An item of a list or an object: a reference to it."""
EMPTY_BYTES: Final = 88
"""An empty list or dict with its reference."""
STRING_BYTES: Final = 72
"""A string with its reference; its characters count besides."""
NUMBER_BYTES: Final = 40
"""A number that is not among the small ones, which Python makes once."""
CONTAINER_BYTES: Final = 96
"""A list that is not empty, without its items."""
STRUCT_BYTES: Final = 288
"""The largest struct that a short array can become, because the fields that it lacks have defaults.
"""

CHARACTER_BYTES_MAX: Final = 4
"""A character of a string in which any is beyond ASCII, at most."""
VALUES_WALKED_MAX: Final = 1 << 21
"""How many values are told apart, in less than a second: keys and values of the largest batch."""

_EMPTY: Final = b"\x80\x90"
_CONTAINER: Final = bytes([*range(0x81, 0x90), *range(0x91, 0xA0), *range(0xDC, 0xE0)])
_STRING: Final = bytes([*range(0xA0, 0xC0), *range(0xC4, 0xCA), *range(0xD9, 0xDC)])
_NUMBER: Final = bytes([*range(0xCA, 0xD9), *range(0xE0, 0x100)])
_TYPES: Final = (_EMPTY, _CONTAINER, _STRING, _NUMBER)
_FIRST_OF_TYPE: Final = bytes.maketrans(b"".join(_TYPES), b"".join(t[:1] * len(t) for t in _TYPES))
_LENGTH_BYTES: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
"""Bytes of the length of binary data (0xC4..) and of a string, after the byte of its type."""
_BYTES_MAX: Final = 0xC6
_FIXED_STRINGS: Final = range(0xA0, 0xC0)
_FIXED: Final = {
    **dict.fromkeys(range(0xC7, 0xCA), 0),  # extensions, which nobody writes: nothing is known
    **dict.fromkeys((0xCC, 0xD0), 2),
    **dict.fromkeys((0xCD, 0xD1, 0xDC, 0xDE), 3),
    **dict.fromkeys((0xCA, 0xCE, 0xD2, 0xDD, 0xDF), 5),
    **dict.fromkeys((0xCB, 0xCF, 0xD3), 9),
    **dict.fromkeys(range(0xD4, 0xD9), 0),
}
"""Bytes of a number, or of what stands before a container's items; all others have one."""


class DecodingError(ValueError):
    """The bytes are not what was expected, or would take too much memory."""


def memory_of_msgpack(
    data: bytes, container_bytes: int = CONTAINER_BYTES, memory_max: int = 0
) -> int:
    """Return an upper bound of the memory that values take that MessagePack bytes describe.

    Every value begins with a byte that tells its type. So the bytes of each type are counted, at
    the speed of a copy: those within numbers and strings count too, hence it is a bound. If it is
    above ``memory_max``, which text beyond ASCII easily is, strings are found and counted exactly.
    """
    memory = _memory_of_bytes(data, container_bytes)
    if memory <= memory_max or not memory_max:
        return memory
    texts = [data[at:end] for at, end in _strings(data)]
    for text in texts:
        size = len(text) * (1 if text.isascii() else CHARACTER_BYTES_MAX)
        memory += STRING_BYTES + len(text) + size  # it may be within bytes that are copied first
    return memory - _memory_of_bytes(b"".join(texts), container_bytes)


def _memory_of_bytes(data: bytes, container_bytes: int) -> int:
    firsts, memory = data.translate(_FIRST_OF_TYPE), SLOT_BYTES * len(data)
    sizes = (EMPTY_BYTES, container_bytes, STRING_BYTES, NUMBER_BYTES)
    for bytes_of_type, size in zip(_TYPES, sizes, strict=True):
        memory += firsts.count(bytes_of_type[0]) * (size - SLOT_BYTES)
    return memory


def _strings(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the beginning and end of each string among the first values.

    Binary data may be MessagePack, too. What is none yields parts of it, at most.
    """
    at, ends = 0, [len(data)]
    for _ in range(VALUES_WALKED_MAX):
        while at >= ends[-1]:
            at = ends.pop()
            if not ends:
                return
        kind = data[at]
        if kind in _FIXED_STRINGS:
            begin, length = at + 1, kind - _FIXED_STRINGS.start
        elif (length_bytes := _LENGTH_BYTES.get(kind)) is not None:
            begin = at + 1 + length_bytes
            length = int.from_bytes(data[at + 1 : begin])
        else:
            at += _FIXED.get(kind, 1) or len(data)
            continue
        end = begin + length
        if end > ends[-1]:
            at = ends[-1]
        elif kind in _LENGTH_BYTES and kind <= _BYTES_MAX:
            at = begin
            ends.append(end)
        else:
            at = end
            if length:
                yield begin, end


def memory_of_json(text: bytes | str) -> int:
    """Return an upper bound of the memory that the values of a JSON text take."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    values = data.count(b",") + data.count(b":") + 1
    containers = data.count(b"[") + data.count(b"{")
    return 2 * len(data) + STRING_BYTES * values + STRUCT_BYTES * containers


def decode_json(text: bytes | str, kind: type[Value], memory_max: int = JSON_MEMORY_MAX) -> Value:
    """Return the value of a JSON text of foreign origin.

    Raises:
        DecodingError: it is not JSON, not of this type, nested too deeply or too large.
    """
    _require_room(memory_of_json(text), memory_max)
    try:
        return msgspec.json.decode(text, type=kind)
    except FAILURES as error:
        raise DecodingError(reason(error)) from error


def decode_object(text: str) -> dict[str, Any]:
    """Return the JSON object in an event, such as what a metadata record says.

    Raises:
        DecodingError: it is no JSON object, is nested too deeply or too large.
    """
    return decode_json(text, dict[str, Any], EVENT_JSON_MEMORY_MAX)


def decode_msgpack(
    data: bytes, decoder: "msgspec.msgpack.Decoder[Value]", memory: int, memory_max: int
) -> Value:
    """Return the value of MessagePack bytes of foreign origin that take at most so much memory.

    Raises:
        DecodingError: they are not of the decoder's type, nested too deeply or too large.
    """
    _require_room(memory, memory_max)
    try:
        return decoder.decode(data)
    except FAILURES as error:
        raise DecodingError(reason(error)) from error


FAILURES: Final = (
    msgspec.MsgspecError,
    MemoryError,
    OverflowError,
    RecursionError,
    UnicodeError,
)
"""What decoders raise, whatever the bytes are."""


def reason(error: Exception) -> str:
    """Return what is wrong with the bytes, in a few words."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    return str(error)


def _require_room(memory: int, memory_max: int) -> None:
    if memory > memory_max:
        raise DecodingError(
            f"its values may take {memory // MIB:,} MiB, and at most {memory_max // MIB:,} are read"
        )
