"""Variable-length integers: seven bits per byte, the lowest first (Protocol Buffers' varints).

The protocol's compact lengths and tags are unsigned (KIP-482); lengths and deltas in record batches
of format 2 are zigzag-encoded, so that small negative numbers are short as well.
"""

from typing import Final

from emulator.wire.exceptions import MalformedFrame

_LAST_SHIFT: Final = 28
_LAST_LONG_SHIFT: Final = 63

ONE_BYTE: Final = tuple(bytes([number]) for number in range(128))
"""The encoding of every number that takes one byte."""


def unsigned_varint(number: int) -> bytes:
    """Return the encoding of a non-negative number."""
    if number < 128:  # noqa: PLR2004 - seven bits
        return ONE_BYTE[number]
    written = bytearray()
    while number > 127:  # noqa: PLR2004 - seven bits
        written.append(number & 127 | 128)
        number >>= 7
    written.append(number)
    return bytes(written)


def read_unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number of up to 32 bits at ``at``, and its end.

    Raises:
        IndexError: It does not end in ``data``.
    """
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004 - the last one
            return number, at
        shift += 7
        if shift > _LAST_SHIFT:
            raise MalformedFrame(f"a varint at byte {at} has more than 32 bits")


def zigzag_varint(number: int) -> bytes:
    """Return the encoding of a signed number of up to 64 bits."""
    return unsigned_varint(number << 1 if number >= 0 else (-number << 1) - 1)


def read_zigzag_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the signed number of up to 64 bits at ``at``, and its end."""
    byte = data[at]
    if byte < 128:  # noqa: PLR2004 - most numbers take one byte
        return (byte >> 1) ^ -(byte & 1), at + 1
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:  # noqa: PLR2004 - the last one
            return (number >> 1) ^ -(number & 1), at
        shift += 7
        if shift > _LAST_LONG_SHIFT:
            raise MalformedFrame(f"a varint at byte {at} has more than 64 bits")
