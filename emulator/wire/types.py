"""The field types used in the declarations of messages.

A message is a class whose annotations define the encoding of each field::

    class FetchPartition(Message):
        partition: Int32 = 0
        current_leader_epoch: Annotated[Int32, since(9)] = -1
        cluster_id: Annotated[String | None, since(12), tag(0)] = None

For the type checker these are plain ``int``, ``str`` and ``bytes``. Fields that a version does not
have are omitted on encoding, and have their defaults after decoding.
Source: the protocol's primitive types, KIP-482 for compact types and tagged fields.
"""

from enum import Enum
from typing import Annotated, Final

from msgspec import Struct

NEWEST: Final = 32_767
"""The last version of a field that still exists."""
NEVER: Final = NEWEST + 1
"""A version that no API has."""
API_VERSIONS: Final = 18
"""The key of the API that a client requests first."""


class Message(Struct, frozen=True, gc=False):
    """A request, a response, or a nested structure.

    It is plain data. Its lists are never changed after creation.
    """


class Number(Struct, frozen=True):
    """A fixed-size type; ``code`` is its format character in :mod:`struct`, big endian."""

    code: str
    size: int


class Sized(Enum):
    """A length-prefixed type."""

    STRING = "string"
    BYTES = "bytes"


class Versions(Struct, frozen=True):
    """The versions of the message that have a field, both inclusive."""

    first: int
    last: int = NEWEST

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last


class NullableSince(Struct, frozen=True):
    """The first version in which a field may be null."""

    version: int


class Tag(Struct, frozen=True):
    """A tagged field (KIP-482): written only if it differs from its default."""

    number: int


def since(first: int, last: int = NEWEST) -> Versions:
    """Return the versions from ``first`` on, or from ``first`` to ``last``."""
    return Versions(first, last)


def until(last: int) -> Versions:
    """Return the versions up to ``last``."""
    return Versions(0, last)


def nullable_since(version: int) -> NullableSince:
    """Mark a field as nullable from a version on; ``| None`` alone means in all versions."""
    return NullableSince(version)


def tag(number: int) -> Tag:
    """Mark a field as tagged."""
    return Tag(number)


Bool = Annotated[bool, Number("?", 1)]
Int8 = Annotated[int, Number("b", 1)]
Int16 = Annotated[int, Number("h", 2)]
Uint16 = Annotated[int, Number("H", 2)]
Int32 = Annotated[int, Number("i", 4)]
Int64 = Annotated[int, Number("q", 8)]
Float64 = Annotated[float, Number("d", 8)]
Uuid = Annotated[bytes, Number("16s", 16)]
String = Annotated[str, Sized.STRING]
Bytes = Annotated[bytes, Sized.BYTES]
Records = Annotated[bytes, Sized.BYTES]
"""Record batches, or a message set of the older formats; see :mod:`emulator.wire.records`."""

NO_UUID: Final = bytes(16)
"""The UUID that means none."""


class Api(Struct, frozen=True):
    """One API of the protocol.

    ``flexible_since`` is the first version with compact types and tagged fields (KIP-482).
    """

    key: int
    request: type[Message]
    response: type[Message]
    last_version: int
    flexible_since: int = NEVER

    @property
    def name(self) -> str:
        """Kafka's name of the API, such as ``ListOffsets``."""
        return self.request.__name__.removesuffix("Request")

    @property
    def versions(self) -> range:
        return range(self.last_version + 1)

    def is_flexible(self, version: int) -> bool:
        """Whether that version has compact types, tagged fields and request header 2."""
        return version >= self.flexible_since

    def has_flexible_response_header(self, version: int) -> bool:
        """Whether a response has tagged fields in its header.

        Responses of ApiVersions never do: a client decodes them before it knows what the broker
        supports (KIP-511).
        """
        return version >= self.flexible_since and self.key != API_VERSIONS
