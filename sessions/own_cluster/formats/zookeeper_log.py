"""A transaction log of ZooKeeper, ``log.ZXID``, of releases 3.4 to 3.9.

::

    "ZKLG"  version 2  database id (8)
    entry:  checksum (8, Adler-32)  length (4)  transaction  "B"
    transaction: session (8), cxid (4), zxid (8), time (8, ms), type (4), and what the type has

The server allocates the file in blocks of zeros, so an entry of length 0 ends it. Integers are big
endian, texts and data have a length of four bytes, -1 for none. From 3.6 on a digest of the tree
may follow a transaction. Sources: ``FileTxnLog``, ``SerializeUtils`` and ``zookeeper.jute``.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from sessions.own_cluster.content import Content
from sessions.own_cluster.places import LAST_MS
from sessions.own_cluster.reading import FormatError

NAME: Final = "ZooKeeper transaction log"
MAGIC: Final = b"ZKLG"
WANTED: Final = "wanted is ZooKeeper's folder version-2, whose snapshot.* has what is before it"

_VERSION: Final = 2
_FILE_HEADER: Final = struct.Struct(">4siq")
_ENTRY_HEADER: Final = struct.Struct(">qi")
_HEADER: Final = struct.Struct(">qiqqi")
_INT: Final = struct.Struct(">i")
_LONG: Final = struct.Struct(">q")
_END_OF_ENTRY: Final = b"B"
_ENTRY_BYTES_MAX: Final = 64 << 20
"""``jute.maxbuffer`` is 1 MiB unless an administrator raised it."""
_COUNT_MAX: Final = 1_000_000
_SKIPPED_BYTES: Final = 1 << 20
CHECKSUM: Final = "a wrong checksum"

CREATE: Final = 1
DELETE: Final = 2
SET_DATA: Final = 5
SET_ACL: Final = 7
CHECK: Final = 13
MULTI: Final = 14
CREATE2: Final = 15
RECONFIG: Final = 16
CREATE_CONTAINER: Final = 19
DELETE_CONTAINER: Final = 20
CREATE_TTL: Final = 21
CREATE_SESSION: Final = -10
CLOSE_SESSION: Final = -11
ERROR: Final = -1
NAMES: Final = {
    CREATE: "create",
    DELETE: "delete",
    SET_DATA: "setData",
    SET_ACL: "setACL",
    CHECK: "check",
    MULTI: "multi",
    CREATE2: "create2",
    RECONFIG: "reconfig",
    CREATE_CONTAINER: "createContainer",
    DELETE_CONTAINER: "deleteContainer",
    CREATE_TTL: "createTTL",
    CREATE_SESSION: "createSession",
    CLOSE_SESSION: "closeSession",
    ERROR: "error",
}
"""ZooKeeper's names of the types (``ZooDefs.OpCode``)."""


class Operation(Struct, frozen=True):
    """A transaction's change of one znode or session.

    ``version`` is the data's version that a ``setData`` leaves, the permissions' version of a
    ``setACL``, or what a ``check`` expected. ``timeout_ms`` is of a new session. ``paths`` are the
    ephemeral znodes that a closed session leaves, None before 3.6, where the log does not list
    them. ``error`` is ZooKeeper's code, such as -101 for a znode that does not exist.
    """

    type: int
    path: str = ""
    data: bytes | None = None
    ephemeral: bool = False
    version: int = 0
    timeout_ms: int = 0
    paths: tuple[str, ...] | None = None
    error: int = 0


class Transaction(Struct, frozen=True):
    """One entry: the session's id, when the leader made it, and its operations.

    ``time_ms`` is wall-clock time in milliseconds since 1970. A ``multi`` has several operations;
    if one of them is an error, none took effect.
    """

    zxid: int
    time_ms: int
    session: int
    cxid: int
    type: int
    operations: tuple[Operation, ...]

    @property
    def is_failed(self) -> bool:
        return any(operation.type == ERROR for operation in self.operations)


class Torn(Struct, frozen=True):
    """The last entry is not whole, as in a copy of a running server's log."""

    at: int


def recognizes(head: bytes) -> bool:
    """Whether bytes begin as a transaction log does."""
    return head.startswith(MAGIC)


def read_transactions(content: Content) -> Iterator[Transaction | Torn]:
    """Yield the transactions of a log in their order.

    Raises:
        FormatError: it is no transaction log, or damaged before its last entry.
    """
    header = content.read(_FILE_HEADER.size)
    if len(header) < _FILE_HEADER.size:
        raise FormatError("is truncated: its header is not whole")
    magic, version, _ = _FILE_HEADER.unpack(header)
    if magic != MAGIC or version != _VERSION:
        raise FormatError(f"has the unknown version {version}")
    at = _FILE_HEADER.size
    while head := content.read(_ENTRY_HEADER.size):
        if len(head) < _ENTRY_HEADER.size:
            yield Torn(at)
            return
        checksum, length = _ENTRY_HEADER.unpack(head)
        if not length:
            if checksum:
                yield Torn(at)
            return
        if not 0 < length <= _ENTRY_BYTES_MAX:
            raise FormatError(f"is damaged: the entry at byte {at:,} would have {length:,} bytes")
        entry = content.read(length + 1)
        damage = _damage(entry, length, checksum)
        if damage is None:
            yield _transaction(entry[:length])
        elif _is_over(content, b"" if damage is CHECKSUM else entry[length:]):
            yield Torn(at)
            return
        else:
            raise FormatError(f"is damaged: the entry at byte {at:,} has {damage}")
        at += _ENTRY_HEADER.size + length + 1


def _damage(entry: bytes, length: int, checksum: int) -> str | None:
    if entry[length:] != _END_OF_ENTRY:
        return "no end"
    return None if zlib.adler32(memoryview(entry)[:length]) == checksum else CHECKSUM


def _is_over(content: Content, after: bytes) -> bool:
    """Whether nothing but zeros follows."""
    while after or (after := content.read(_SKIPPED_BYTES)):
        if after.strip(b"\0"):
            return False
        after = b""
    return True


class _Fields:
    """Reads the fields of a transaction."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        part = self.data[self.at : self.at + size] if size >= 0 else b""
        if size < 0 or len(part) < size:
            raise FormatError("is damaged: a transaction ends in the middle of a field")
        self.at += size
        return part

    def integer(self) -> int:
        number: int = _INT.unpack(self.take(_INT.size))[0]
        return number

    def buffer(self) -> bytes | None:
        size = self.integer()
        return None if size == -1 else self.take(size)

    def text(self) -> str:
        return (self.buffer() or b"").decode("utf-8", "replace")

    def count(self) -> int:
        number = self.integer()
        if not -1 <= number <= _COUNT_MAX:
            raise FormatError(f"is damaged: a list in a transaction would have {number:,} items")
        return max(number, 0)

    def permissions(self) -> None:
        for _ in range(self.count()):
            self.integer()
            self.buffer()
            self.buffer()

    @property
    def is_at_end(self) -> bool:
        return self.at >= len(self.data)


def _transaction(data: bytes) -> Transaction:
    fields = _Fields(data)
    session, cxid, zxid, time_ms, kind = _HEADER.unpack(fields.take(_HEADER.size))
    operations = tuple(_parts(fields)) if kind == MULTI else (_operation(kind, fields),)
    return Transaction(zxid, min(time_ms, LAST_MS), session, cxid, kind, operations)


def _parts(fields: _Fields) -> Iterator[Operation]:
    for _ in range(fields.count()):
        kind = fields.integer()
        yield _operation(kind, _Fields(fields.buffer() or b""))


def _operation(kind: int, fields: _Fields) -> Operation:
    match kind:
        case _ if kind in (CREATE, CREATE2, CREATE_TTL, CREATE_CONTAINER):
            path, data = fields.text(), fields.buffer()
            fields.permissions()
            ephemeral = kind in (CREATE, CREATE2) and fields.take(1) != b"\0"
            return Operation(kind, path, data, ephemeral)
        case _ if kind in (DELETE, DELETE_CONTAINER):
            return Operation(kind, fields.text())
        case _ if kind in (SET_DATA, RECONFIG):
            path, data = fields.text(), fields.buffer()
            return Operation(kind, path, data, version=fields.integer())
        case _ if kind == SET_ACL:
            path = fields.text()
            fields.permissions()
            return Operation(kind, path, version=fields.integer())
        case _ if kind == CHECK:
            path = fields.text()
            return Operation(kind, path, version=fields.integer())
        case _ if kind == CREATE_SESSION:
            return Operation(kind, timeout_ms=fields.integer())
        case _ if kind == CLOSE_SESSION:
            return Operation(kind, paths=_closed_paths(fields))
        case _ if kind == ERROR:
            return Operation(kind, error=fields.integer())
        case _:
            raise FormatError(f"is damaged: a transaction has the unknown type {kind}")


def _closed_paths(fields: _Fields) -> tuple[str, ...] | None:
    """None if the server did not write them (before 3.6, or ``closeSessionTxn.enabled=false``)."""
    if fields.is_at_end:
        return None
    return tuple(fields.text() for _ in range(fields.count()))
