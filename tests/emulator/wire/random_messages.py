"""Any message that a version can carry."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from emulator.wire.schema import Array, Field, Kind, fields_of
from emulator.wire.types import Message, Number, Sized

SIGNED_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}


@cache
def messages(message: type[Message], version: int) -> st.SearchStrategy[Any]:
    """Messages with any value in each field of the version, and defaults in all others."""
    return st.builds(
        message,
        **{
            field.name: values(field, version)
            for field in fields_of(message)
            if version in field.versions
        },
    )


def values(field: Field, version: int) -> st.SearchStrategy[Any]:
    found = of_kind(field.kind, version)
    if field.tag is not None:
        found = st.just(field.default) | found
    return st.none() | found if field.is_nullable(version) else found


def of_kind(kind: Kind, version: int) -> st.SearchStrategy[Any]:
    if isinstance(kind, Number):
        return numbers(kind)
    if isinstance(kind, Array):
        return st.lists(of_kind(kind.item, version), max_size=3)
    if kind is Sized.STRING:
        return st.text(max_size=20) | st.just("t" * 200)
    if kind is Sized.BYTES:
        return st.binary(max_size=20) | st.just(bytes(300))
    assert isinstance(kind, type)
    return messages(kind, version)


def numbers(kind: Number) -> st.SearchStrategy[Any]:
    match kind.code:
        case "?":
            return st.booleans()
        case "H":
            return st.integers(0, 2**16 - 1)
        case "16s":
            return st.binary(min_size=16, max_size=16)
        case "d":
            return st.floats(allow_nan=False)
    half = 1 << (SIGNED_BITS[kind.code] - 1)
    return st.integers(-half, half - 1)
