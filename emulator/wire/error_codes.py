"""The error codes in a message, at any depth."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from emulator.wire.schema import Array, fields_of
from emulator.wire.types import Message

CODE: Final = "error_code"


def error_codes(message: Message) -> Iterator[int]:
    """Yield every non-zero error code of the message and its nested structures."""
    has_code, structures, arrays = _places(type(message))
    if has_code and (code := getattr(message, CODE)):
        yield code
    for name in structures:
        if (inner := getattr(message, name)) is not None:
            yield from error_codes(inner)
    for name in arrays:
        for item in getattr(message, name) or ():
            yield from error_codes(item)


@cache
def _places(kind: type[Message]) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Whether a message has a code itself, and its fields with structures that may have one."""
    fields = [field for field in fields_of(kind) if _may_tell(field.kind)]
    return (
        any(field.name == CODE for field in fields_of(kind)),
        tuple(field.name for field in fields if not isinstance(field.kind, Array)),
        tuple(field.name for field in fields if isinstance(field.kind, Array)),
    )


def _may_tell(kind: object) -> bool:
    if isinstance(kind, Array):
        return _may_tell(kind.item)
    if not isinstance(kind, type):
        return False
    has_code, structures, arrays = _places(kind)
    return has_code or bool(structures or arrays)
