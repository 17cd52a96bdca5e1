"""ZooKeeper: znodes, sessions, watches, and the content of state znodes."""

from emulator.events.base import Event


class ZnodeCreated(Event, frozen=True, gc=False):
    """A znode was created with transaction ``zxid``; ``data`` None is ZooKeeper's null.

    ``session`` is the owner of an ephemeral znode (0: persistent). ``writer`` is the host that
    requested it: a broker, ``CLIENTS`` (a tool), or None if not recorded (before schema 9).
    """

    path: str
    data: str | None
    session: int
    zxid: int
    writer: int | None = None


class ZnodeChanged(Event, frozen=True, gc=False):
    """A znode's data was set by ``writer``; ``version`` is its new dataVersion."""

    path: str
    data: str | None
    version: int
    zxid: int
    writer: int | None = None


class ZnodeDeleted(Event, frozen=True, gc=False):
    """A znode was deleted by ``writer``; by ``ZOOKEEPER`` if its owner's session expired."""

    path: str
    zxid: int
    writer: int | None = None


class ZooKeeperRefused(Event, frozen=True, gc=False):
    """ZooKeeper rejected a broker's write request.

    ``operation`` is ``create``, ``setData``, ``delete`` or ``check`` (the first one of a
    transaction that failed), ``error`` the error's name, such as ``NodeExistsError`` for the loser
    of a race for /controller. ``expected`` is the dataVersion that the request expected (-1: any),
    and ``actual`` the znode's dataVersion (-1: it does not exist).
    """

    broker: int
    operation: str
    path: str
    error: str
    expected: int
    actual: int


class SessionCreated(Event, frozen=True, gc=False):
    """ZooKeeper gave ``host`` a session with the negotiated timeout."""

    session: int
    host: int
    timeout_ms: int
    zxid: int


class SessionEnded(Event, frozen=True, gc=False):
    """A session ended: ``expired`` (no heartbeat within its timeout) or ``closed`` (by its client).

    Its ephemeral znodes are deleted with it.
    """

    session: int
    host: int
    reason: str
    zxid: int


class WatchFired(Event, frozen=True, gc=False):
    """A one-shot watch of ``host`` on ``path`` fired.

    ``kind`` is ZooKeeper's event type (``NodeDataChanged``, ..).
    """

    path: str
    kind: str
    host: int


class ZkConnectionChanged(Event, frozen=True, gc=False):
    """A broker's view of its ZooKeeper session: ``connected``, ``disconnected`` or ``expired``."""

    broker: int
    state: str


class PartitionStateChanged(Event, frozen=True, gc=False):
    """A partition's ``state`` znode changed (leader -1: none).

    ``zk_version`` is the znode's dataVersion.
    """

    tp: str
    leader: int
    leader_epoch: int
    isr: list[int]
    controller_epoch: int
    zk_version: int


class PartitionStateRemoved(Event, frozen=True, gc=False):
    """A partition's ``state`` znode was deleted."""

    tp: str
