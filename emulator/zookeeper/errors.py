"""What ZooKeeper refuses, by kazoo's names and ZooKeeper's codes (``KeeperException.Code`` 3.6)."""

from typing import ClassVar


class ZooKeeperError(Exception):
    """A request that ZooKeeper refused; ``str()`` is one sentence for people.

    Of a refused transaction it is the error of the operation that failed: ``index`` is that
    operation's place, and ``results`` holds what became of each operation (see
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
    """An operation of a transaction that was fine, but undone because a later one failed."""

    code = 0


class RuntimeInconsistency(ZooKeeperError):
    """An operation of a transaction that was not looked at, because an earlier one failed."""

    code = -2


class ConnectionLoss(ZooKeeperError):
    """No answer came, as the connection is broken: whether the request was carried out is unknown.

    A server never says this; it is what a client tells its caller.
    """

    code = -4


class BadArgumentsError(ZooKeeperError):
    """A malformed path, or one of ZooKeeper's own that must stay."""

    code = -8


class NoNodeError(ZooKeeperError):
    """The znode, or the parent of the one to be created, does not exist."""

    code = -101


class BadVersionError(ZooKeeperError):
    """The znode's dataVersion is not the expected one."""

    code = -103


class NoChildrenForEphemeralsError(ZooKeeperError):
    """Ephemeral znodes cannot have children."""

    code = -108


class NodeExistsError(ZooKeeperError):
    """The znode to be created exists."""

    code = -110


class NotEmptyError(ZooKeeperError):
    """The znode to be deleted has children."""

    code = -111


class SessionExpiredError(ZooKeeperError):
    """The session that asks does not exist (any longer)."""

    code = -112
