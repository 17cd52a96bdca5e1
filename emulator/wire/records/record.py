"""One record, independent of its format."""

from enum import IntEnum
from typing import Final

from msgspec import Struct

RECORDS_MAX: Final = 1_000_000
"""The maximum records and headers of a batch or message set: each takes memory, however small."""
NO_TIMESTAMP: Final = -1
"""The timestamp of records in format 0."""


class TimestampType(IntEnum):
    """The source of records' timestamps (``message.timestamp.type``, KIP-32)."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class Header(Struct, frozen=True, array_like=True, gc=False):
    """A record header (KIP-82, format 2): its key may repeat, its value may be null."""

    key: str
    value: bytes | None


class Record(Struct, frozen=True, array_like=True, gc=False):
    """A record; ``timestamp`` is in milliseconds since 1970, or -1."""

    key: bytes | None = None
    value: bytes | None = None
    timestamp: int = NO_TIMESTAMP
    headers: tuple[Header, ...] = ()
    offset: int = 0
