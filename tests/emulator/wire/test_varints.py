"""Numbers of variable length, against kafka-python's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.util import decode_varint, encode_varint

from emulator.wire.exceptions import MalformedFrame
from emulator.wire.varints import (
    read_unsigned_varint,
    read_zigzag_varint,
    unsigned_varint,
    zigzag_varint,
)


@pytest.mark.parametrize(
    ("number", "encoded"),
    [
        (0, b"\0"),
        (127, b"\x7f"),
        (128, b"\x80\1"),
        (300, b"\xac\2"),
        (2**32 - 1, b"\xff\xff\xff\xff\x0f"),
    ],
)
def test_unsigned_numbers_have_the_lowest_bits_first(number: int, encoded: bytes) -> None:
    assert unsigned_varint(number) == encoded
    assert read_unsigned_varint(b"x" + encoded + b"x", 1) == (number, 1 + len(encoded))


@given(st.integers(-(2**63), 2**63 - 1))
def test_numbers_with_a_sign_are_those_of_kafka_python(number: int) -> None:
    theirs = bytearray()
    encode_varint(number, theirs.append)
    assert zigzag_varint(number) == theirs
    assert read_zigzag_varint(bytes(theirs), 0) == decode_varint(theirs)


def test_a_number_may_be_padded() -> None:
    """librdkafka writes counts that it learns later into four bytes."""
    assert read_unsigned_varint(b"\x83\x80\x80\0", 0) == (3, 4)


@pytest.mark.parametrize("read", [read_unsigned_varint, read_zigzag_varint])
def test_a_number_without_an_end_is_malformed(read: object) -> None:
    assert callable(read)
    with pytest.raises(MalformedFrame, match="more than"):
        read(b"\xff" * 20, 0)
    with pytest.raises(IndexError):
        read(b"\xff" * 3, 0)
