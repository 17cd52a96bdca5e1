"""The tree of znodes, from a snapshot on, and what each transaction changes in it.

Source: ``DataTree.processTxn`` of ZooKeeper 3.4 to 3.9. A snapshot is taken while transactions are
applied, so it may have the effect of some that follow it: a znode that is created may exist, and
one that is deleted may be gone.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from sessions.own_cluster.formats import zookeeper_log as log
from sessions.own_cluster.formats.zookeeper_log import Operation, Transaction

_CREATE: Final = (log.CREATE, log.CREATE2, log.CREATE_TTL, log.CREATE_CONTAINER)
_DELETE: Final = (log.DELETE, log.DELETE_CONTAINER)
_SET: Final = (log.SET_DATA, log.RECONFIG)


class Znode(Struct, frozen=True, gc=False):
    """A znode; times are milliseconds since 1970, ``owner`` is a session (0: persistent)."""

    data: bytes | None
    version: int
    czxid: int
    mzxid: int
    ctime_ms: int
    mtime_ms: int
    owner: int = 0

    @property
    def text(self) -> str | None:
        return None if self.data is None else self.data.decode("utf-8", "replace")


class ZnodeChange(Struct, frozen=True):
    """A znode before and after an operation; None if it did not exist."""

    path: str
    before: Znode | None
    after: Znode | None


class ZnodeTree:
    """Znodes by path, as of transaction ``zxid``."""

    def __init__(self, znodes: Iterable[tuple[str, Znode]] = (), zxid: int = 0) -> None:
        self.znodes = dict(znodes)
        self.zxid = zxid
        self._owned: dict[int, dict[str, None]] = {}
        for path, znode in self.znodes.items():
            if znode.owner:
                self._owned.setdefault(znode.owner, {})[path] = None

    def apply(self, transaction: Transaction) -> list[ZnodeChange]:
        """Apply the next transaction; return what it changed, in order."""
        self.zxid = transaction.zxid
        if transaction.is_failed:
            return []
        return [
            change
            for operation in transaction.operations
            for change in self._apply(operation, transaction)
        ]

    def _apply(self, operation: Operation, transaction: Transaction) -> Iterator[ZnodeChange]:
        kind, path = operation.type, operation.path
        before = self.znodes.get(path)
        if kind in _CREATE:
            if before is None:
                yield self._put(path, None, self._created(operation, transaction))
        elif kind in _SET:
            yield self._put(path, before, _set(operation, transaction, before))
        elif kind in _DELETE:
            if before is not None:
                yield self._remove(path, before)
        elif kind == log.CLOSE_SESSION:
            owned = self._owned.pop(transaction.session, {})
            for ephemeral in owned if operation.paths is None else operation.paths:
                znode = self.znodes.get(ephemeral)
                if znode is not None:
                    yield self._remove(ephemeral, znode)

    def _created(self, operation: Operation, transaction: Transaction) -> Znode:
        owner = transaction.session if operation.ephemeral else 0
        if owner:
            self._owned.setdefault(owner, {})[operation.path] = None
        zxid, time_ms = transaction.zxid, transaction.time_ms
        return Znode(operation.data, 0, zxid, zxid, time_ms, time_ms, owner)

    def _put(self, path: str, before: Znode | None, after: Znode) -> ZnodeChange:
        self.znodes[path] = after
        return ZnodeChange(path, before, after)

    def _remove(self, path: str, before: Znode) -> ZnodeChange:
        del self.znodes[path]
        if before.owner in self._owned:
            self._owned[before.owner].pop(path, None)
        return ZnodeChange(path, before, None)


def _set(operation: Operation, transaction: Transaction, before: Znode | None) -> Znode:
    """The znode with new data; what it was before is unknown if the log begins after that."""
    zxid, time_ms = transaction.zxid, transaction.time_ms
    if before is None:
        return Znode(operation.data, operation.version, 0, zxid, 0, time_ms)
    return replace(
        before, data=operation.data, version=operation.version, mzxid=zxid, mtime_ms=time_ms
    )
