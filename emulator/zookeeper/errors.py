"""ZooKeeper's errors, with kazoo's names and ZooKeeper's codes (``KeeperException.Code`` 3.6)."""

from typing import ClassVar


class ZooKeeperError(Exception):
    """A request that ZooKeeper rejected; ``str()`` is a sentence for users.

    For a transaction it is the error of the operation that failed: ``index`` is the position of
    that operation, and ``results`` has the outcome of each operation (see
    :meth:`emulator.zookeeper.tree.ZooKeeper.multi`).
    """

    code: ClassVar[int] = -1

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.index = 0
        self.results: list[ZooKeeperError] = [self]

    @property
    def name(self) -> str:
        """The error's name in kazoo, such as ``NoNodeError``."""
        return type(self).__name__


class RolledBackError(ZooKeeperError):
    """A successful operation of a transaction that was rolled back because a later one failed."""

    code = 0


class RuntimeInconsistency(ZooKeeperError):
    """An operation of a transaction that was not attempted, because an earlier one failed."""

    code = -2


class ConnectionLoss(ZooKeeperError):
    """No response arrived, as the connection is broken: the request may or may not be executed.

    A server never returns this; a client raises it to its caller.
    """

    code = -4


class BadArgumentsError(ZooKeeperError):
    """A malformed path, or one of ZooKeeper's own that cannot be deleted."""

    code = -8


class NoNodeError(ZooKeeperError):
    """The znode, or the parent of a znode to be created, does not exist."""

    code = -101


class BadVersionError(ZooKeeperError):
    """The znode's dataVersion is not the expected one."""

    code = -103


class NoChildrenForEphemeralsError(ZooKeeperError):
    """Ephemeral znodes cannot have children."""

    code = -108


class NodeExistsError(ZooKeeperError):
    """The znode to be created already exists."""

    code = -110


class NotEmptyError(ZooKeeperError):
    """The znode to be deleted has children."""

    code = -111


class SessionExpiredError(ZooKeeperError):
    """The requesting session does not exist (any longer)."""

    code = -112
