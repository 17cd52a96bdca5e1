"""Turn foreign bytes into values: JSON and MessagePack, with a bound on the memory that they take.

A few kilobytes of compressed bytes may describe gigabytes of objects, and nested arrays more levels
than a stack has. So the size of the values is estimated from the bytes before any is made, and what
a decoder raises becomes one error, :class:`DecodingError`.
"""

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

_EMPTY: Final = b"\x80\x90"
_CONTAINER: Final = bytes([*range(0x81, 0x90), *range(0x91, 0xA0), *range(0xDC, 0xE0)])
_STRING: Final = bytes([*range(0xA0, 0xC0), *range(0xC4, 0xCA), *range(0xD9, 0xDC)])
_NUMBER: Final = bytes([*range(0xCA, 0xD9), *range(0xE0, 0x100)])


class DecodingError(ValueError):
    """The bytes are not what was expected, or would take too much memory."""


def memory_of_msgpack(data: bytes, container_bytes: int = CONTAINER_BYTES) -> int:
    """Return an upper bound of the memory that values take that MessagePack bytes describe.

    Every value begins with a byte that tells its type. So the bytes of each type are counted, at
    the speed of a copy: those within numbers and strings count too, hence it is a bound.
    """
    left = len(data)
    memory = SLOT_BYTES * left
    for bytes_of_type, size in (
        (_EMPTY, EMPTY_BYTES),
        (_CONTAINER, container_bytes),
        (_STRING, STRING_BYTES),
        (_NUMBER, NUMBER_BYTES),
    ):
        count = left - len(data.translate(None, bytes_of_type))
        memory += count * (size - SLOT_BYTES)
    return memory


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
