"""ZooKeeper: znodes, sessions, watches, and the content of state znodes."""

from emulator.events import fields
from emulator.events.base import CHANGE, FAULT, Attribute, Event, Row
from emulator.events.fields import Touched


class ZnodeCreated(
    Event,
    frozen=True,
    label="ZK",
    row=Row("znodes", change="created", version=0, zk_session=Attribute("session")),
):
    """A znode was created with transaction ``zxid``; ``data`` None is ZooKeeper's null.

    ``session`` is the owner of an ephemeral znode (0: persistent). ``writer`` is the host that
    requested it: a broker, ``CLIENTS`` (a tool), or None if not recorded (before schema 9).
    """

    path: fields.Path
    data: fields.Data
    session: fields.Session
    zxid: fields.Zxid
    writer: fields.Writer = None


class ZnodeChanged(Event, frozen=True, label="ZK", row=Row("znodes", change="changed")):
    """A znode's data was set by ``writer``; ``version`` is its new dataVersion."""

    path: fields.Path
    data: fields.Data
    version: fields.Version
    zxid: fields.Zxid
    writer: fields.Writer = None


class ZnodeDeleted(Event, frozen=True, label="ZK", row=Row("znodes", change="deleted")):
    """A znode was deleted by ``writer``; by ``ZOOKEEPER`` if its owner's session expired."""

    path: fields.Path
    zxid: fields.Zxid
    writer: fields.Writer = None


class ZooKeeperRefused(Event, frozen=True, label="ZK"):
    """ZooKeeper rejected a broker's write request.

    ``operation`` is ``create``, ``setData``, ``delete`` or ``check`` (the first one of a
    transaction that failed), ``error`` the error's name, such as ``NodeExistsError`` for the loser
    of a race for /controller. ``expected`` is the dataVersion that the request expected (-1: any),
    and ``actual`` the znode's dataVersion (-1: it does not exist).
    """

    broker: Touched[fields.BrokerId]
    operation: fields.Operation
    path: fields.Path
    error: fields.Error
    expected: int
    actual: int


class SessionCreated(Event, frozen=True, label="SESS"):
    """ZooKeeper gave ``host`` a session with the negotiated timeout."""

    session: fields.Session
    host: Touched[fields.HostId]
    timeout_ms: fields.TimeoutMs
    zxid: fields.Zxid


class SessionEnded(
    Event,
    frozen=True,
    label="SESS",
    row=Row("faults", kind="session", broker=Attribute("host"), state=Attribute("reason")),
):
    """A session ended: ``expired`` (no heartbeat within its timeout) or ``closed`` (by its client).

    Its ephemeral znodes are deleted with it.
    """

    session: fields.Session
    host: Touched[fields.HostId]
    reason: fields.Reason
    zxid: fields.Zxid

    @property
    def level(self) -> int:
        """A fault if it expired."""
        return FAULT if self.reason == "expired" else CHANGE


class WatchFired(Event, frozen=True, label="WATCH"):
    """A one-shot watch of ``host`` on ``path`` fired.

    ``kind`` is ZooKeeper's event type (``NodeDataChanged``, ..).
    """

    path: fields.Path
    kind: fields.Kind
    host: fields.HostId


class ZkConnectionChanged(Event, frozen=True, label="CONN"):
    """A broker's view of its ZooKeeper session: ``connected``, ``disconnected`` or ``expired``."""

    broker: Touched[fields.BrokerId]
    state: fields.State


class PartitionStateChanged(Event, frozen=True, label="STATE"):
    """A partition's ``state`` znode changed (leader -1: none).

    ``zk_version`` is the znode's dataVersion.
    """

    tp: fields.Tp
    leader: fields.Leader
    leader_epoch: fields.LeaderEpoch
    isr: fields.Isr
    controller_epoch: fields.ControllerEpoch
    zk_version: fields.ZkVersion

    @property
    def level(self) -> int:
        """A fault if there is no leader."""
        return FAULT if self.leader == -1 else CHANGE


class PartitionStateRemoved(Event, frozen=True, label="STATE"):
    """A partition's ``state`` znode was deleted."""

    tp: fields.Tp
