"""Messages between ZooKeeper and its clients."""

from emulator.protocol.message import Message


class ZkPing(Message, frozen=True):
    """A client's ping, also used to reconnect."""

    session: int


class ZkPong(Message, frozen=True):
    """The server's response to a ping."""

    request: int
    session: int


class ZkExpired(Message, frozen=True):
    """The session has expired on the server."""

    request: int
    session: int


class WatchEvent(Message, frozen=True):
    """A one-shot watch fired."""

    path: str
    kind: str
