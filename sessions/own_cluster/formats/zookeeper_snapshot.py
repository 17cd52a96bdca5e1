"""A snapshot file of ZooKeeper, ``snapshot.ZXID``, of releases 3.4 to 3.9.

::

    "ZKSN"  version 2  database id
    count   of sessions, each: id (8), timeout (4)
    count   of lists of permissions, each: id (8), count, each: bits (4), scheme, id
    znodes: path, data, permissions (8), and their statistics; the path "/" ends them

The root's path is empty. Integers are big endian, texts and data have a length of four bytes, -1
for none. Source: ``FileSnap``, ``DataTree`` and ``SerializeUtils`` of 3.4 to 3.9.
"""

import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from sessions.own_cluster.content import Content
from sessions.own_cluster.formats.znodes import Znode, image_of
from sessions.own_cluster.reading import Authority, FormatError, Reading

NAME: Final = "ZooKeeper snapshot"
MAGIC: Final = b"ZKSN"
_VERSION: Final = 2
_HEADER: Final = struct.Struct(">4siq")
_INT: Final = struct.Struct(">i")
_LONG: Final = struct.Struct(">q")
_STAT: Final = struct.Struct(">qqqqqiiiqq")
"""The permissions' id; czxid, mzxid, ctime, mtime; version, cversion, aversion; the owner of an
ephemeral znode; pzxid."""
_PART_BYTES_MAX: Final = 64 << 20
_COUNT_MAX: Final = 1_000_000
KEPT: Final = ("/brokers", "/config", "/admin", "/consumers", "/controller", "/cluster", "/latest")
"""The image is made of paths that have one of these, below a chroot or not."""


def recognizes(head: bytes) -> bool:
    """Whether bytes begin as a snapshot does."""
    return head.startswith(MAGIC)


def read(content: Content) -> Reading:
    """Return the image in a snapshot.

    Raises:
        FormatError: it is truncated or damaged, or there is no Kafka in it.
    """
    image = image_of(
        Znode(znode.path, znode.data, znode.version, znode.czxid)
        for znode in read_znodes(content)
        if any(part in znode.path for part in KEPT)
    )
    return Reading(content.name, NAME, Authority.METADATA, image)


class SnapshotZnode(Struct, frozen=True):
    """A znode with its statistics; times are in milliseconds, ``owner`` a session (0: none)."""

    path: str
    data: bytes | None
    czxid: int
    mzxid: int
    ctime_ms: int
    mtime_ms: int
    version: int
    owner: int


Buffer = bytes | None


class _Parts:
    """Reads the parts of a snapshot."""

    def __init__(self, content: Content) -> None:
        self.content = content

    def take(self, size: int) -> bytes:
        if size > _PART_BYTES_MAX or size < 0:
            raise FormatError(f"is damaged: a part of it would have {size:,} bytes")
        data = self.content.read(size)
        if len(data) < size:
            raise FormatError("is truncated")
        return data

    def integer(self) -> int:
        number: int = _INT.unpack(self.take(_INT.size))[0]
        return number

    def count(self, noun: str) -> int:
        number = self.integer()
        if not 0 <= number <= _COUNT_MAX:
            raise FormatError(f"is damaged: it would have {number:,} {noun}")
        return number

    def buffer(self) -> Buffer:
        size = self.integer()
        return None if size == -1 else self.take(size)


def read_znodes(content: Content) -> Iterator[SnapshotZnode]:
    """Yield the znodes of a snapshot.

    Raises:
        FormatError: it is truncated or damaged.
    """
    parts = _Parts(content)
    magic, version, _ = _HEADER.unpack(parts.take(_HEADER.size))
    if magic != MAGIC or version != _VERSION:
        raise FormatError(f"has the unknown version {version}")
    for _ in range(parts.count("sessions")):
        parts.take(_LONG.size + _INT.size)
    for _ in range(parts.count("lists of permissions")):
        parts.take(_LONG.size)
        for _ in range(parts.count("permissions")):
            parts.take(_INT.size)
            parts.buffer()
            parts.buffer()
    while (raw := parts.buffer()) != b"/":
        path = (raw or b"").decode("utf-8", "replace")
        data = parts.buffer()
        _, czxid, mzxid, ctime, mtime, data_version, _, _, owner, _ = _STAT.unpack(
            parts.take(_STAT.size)
        )
        yield SnapshotZnode(path, data, czxid, mzxid, ctime, mtime, data_version, owner)
