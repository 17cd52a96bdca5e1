"""What ZooKeeper and its clients tell each other."""

from emulator.protocol.message import Message


class ZkPing(Message, frozen=True):
    """A client's sign of life (and its reconnection)."""

    session: int


class ZkPong(Message, frozen=True):
    """The server's answer to a ping."""

    request: int
    session: int


class ZkExpired(Message, frozen=True):
    """The server does not know the session any longer."""

    request: int
    session: int


class WatchEvent(Message, frozen=True):
    """A one-shot watch fired."""

    path: str
    kind: str
