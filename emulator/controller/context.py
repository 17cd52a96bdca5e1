"""What all parts of the controller share: its cache of ZooKeeper, and how it reads and writes it.

The parts lie in layers: this context, the channels to the brokers, the state machines of partitions
and replicas, the procedures that are made of their transitions (topic deletion, reassignment,
elections, brokers that come and go), the listeners, the failover, and the controller, which is the
only one that makes them. Each is given the parts below it that it needs, and none knows one above.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct, field

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.controller.hash_order import brokers_grouped
from emulator.protocol import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionRequest,
    ControlledShutdownRequest,
    ElectLeadersRequest,
    LeaderAndIsrRequest,
    PartitionInfo,
    StopReplicaRequest,
    UpdateMetadataRequest,
    WatchEvent,
)
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors
from emulator.zookeeper.data import PartitionState
from emulator.zookeeper.metadata import VersionedState

NON_EXISTENT = "NonExistentPartition"
NEW = "NewPartition"
ONLINE = "OnlinePartition"
OFFLINE = "OfflinePartition"

RETRY_US = 100_000
"""How long the controller waits before it tries to reach ZooKeeper again."""

ControlRequest = LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest


class ControllerMovedError(Exception):
    """Another broker is controller by now: this one has to resign."""


class UnreadableError(Exception):
    """A znode holds what Kafka cannot read, so that the work on it ends in an exception.

    The controller's event thread logs it and goes on with its next event.
    """


class Channel(Struct, array_like=True):
    """The queue to one broker; ``request`` is the one under way (0: none)."""

    queue: list[ControlRequest] = field(default_factory=list)
    request: int = 0


class Move(Struct, array_like=True):
    """A reassignment under way: the replicas there were, and those there shall be."""

    original: list[int]
    target: list[int]


class Deletion(Struct, array_like=True):
    """A topic on its way out.

    ``halted``: a replica is on a dead broker, so nothing more is begun until such a broker returns
    (``topicsIneligibleForDeletion``).
    """

    halted: bool = False


class ControllerState(Struct, array_like=True):
    """The controller's cache. ``live`` maps broker ids to their registration epochs.

    ``topics`` has the numbers of each topic's partitions, which have gaps if an outsider wrote the
    topic. ``partitions`` holds the state of each partition, ``replicas`` that of those (``t-0@2``)
    that are not simply online (see :mod:`emulator.controller.replica_state_machine`).
    """

    epoch: int
    epoch_zk_version: int
    live: dict[int, int] = field(default_factory=dict)
    shutting_down: dict[int, None] = field(default_factory=dict)
    assignments: dict[str, list[int]] = field(default_factory=dict)
    infos: dict[str, PartitionInfo] = field(default_factory=dict)
    partitions: dict[str, str] = field(default_factory=dict)
    topics: dict[str, list[int]] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    reassigning: dict[str, Move] = field(default_factory=dict)
    deleting: dict[str, Deletion] = field(default_factory=dict)
    replicas: dict[str, str] = field(default_factory=dict)


class BrokerChange(Struct, frozen=True):
    """A BrokerChange under way: what ``/brokers/ids`` held, and the differences to the cache.

    ``removing`` are the brokers whose send threads are still to be shut down.
    """

    registered: dict[int, int]
    gone: list[int]
    new: list[int]
    bounced: list[int]
    removing: list[int]


# ---- events of the controller's thread, beside watches and requests


class ThreadEvent(Struct, array_like=True, tag=True, frozen=True):
    """What the controller's thread is to do, beside watches and requests."""


class Elect(ThreadEvent, frozen=True):
    """Look who is controller, and become it if nobody is (Reelect)."""


class LookAgain(ThreadEvent, frozen=True):
    """ZooKeeper can be reached again: look at everything that may have been missed."""


class SessionExpired(ThreadEvent, frozen=True):
    """The ZooKeeper session is over, and the office with it (Expire)."""


class RegisterAgain(ThreadEvent, frozen=True):
    """Write the broker's own znode anew, and take part in the election.

    In Kafka this is RegisterBrokerAndReelect.
    """


class ConfigTaken(ThreadEvent, frozen=True):
    """This broker has taken a changed configuration of a topic or a broker."""

    kind: str
    name: str


class RebalanceLeaders(ThreadEvent, frozen=True):
    """The task that moves leaders home is due (AutoPreferredReplicaLeaderElection)."""


class ReplicasStopped(ThreadEvent, frozen=True):
    """A broker has done what a StopReplica told it (TopicDeletionStopReplicaResponseReceived)."""

    broker: int
    request: StopReplicaRequest


ControllerEvent = (
    WatchEvent
    | ControlledShutdownRequest
    | AlterPartitionRequest
    | ElectLeadersRequest
    | AlterPartitionReassignmentsRequest
    | Elect
    | LookAgain
    | SessionExpired
    | RegisterAgain
    | ConfigTaken
    | RebalanceLeaders
    | ReplicasStopped
)
"""What the controller's one thread works on, one after another."""

QueuedEvent = tuple[int, int, ControllerEvent]
"""The host that an event came from, its cause (of a request its number), and the event."""


class ControllerThread(Struct, array_like=True):
    """What the controller's thread waits for, and the events that wait for the thread.

    ``closing`` are channels whose send threads are being shut down, and which have a request under
    way that the thread waits for; ``change`` is what it then goes on with, None after a
    resignation. ``without_zookeeper``: ``change``, or else the first of ``events``, is under way,
    and ZooKeeper does not answer.
    """

    events: list[QueuedEvent] = field(default_factory=list)
    closing: dict[int, Channel] = field(default_factory=dict)
    change: BrokerChange | None = None
    without_zookeeper: bool = False

    @property
    def waits(self) -> bool:
        """Whether it waits for anything."""
        return self.without_zookeeper or bool(self.closing)


class Controllership(Struct, array_like=True):
    """The controller's cache while this broker is (or believes to be) the controller.

    ``thread`` does the work of the controller, and takes part in its election.
    """

    state: ControllerState | None = None
    thread: ControllerThread = field(default_factory=ControllerThread)


class ControllerContext:
    """The surroundings of a broker that is, or may become, the controller."""

    def __init__(self, broker: BrokerContext, controllership: Controllership) -> None:
        """Act for the broker of ``broker``, remembering in ``controllership``."""
        self.broker = broker
        self.controllership = controllership
        self.id = broker.id
        self.kernel = broker.kernel
        self.emit = broker.emit
        self.network = broker.network
        self.profile = broker.profile
        self.checks_epoch = broker.profile.has("controller_multi")
        self.stepwise = broker.stepwise
        self.zk = broker.zk
        self.metadata = broker.metadata

    @property
    def state(self) -> ControllerState:
        """The cache of the controller; this broker must be it."""
        state = self.controllership.state
        assert state is not None
        return state

    # ---- questions to the cache

    def live_brokers(self) -> list[int]:
        """The brokers that may lead: alive, and not about to go."""
        state = self.state
        if not state.shutting_down:
            return list(state.live)
        return [b for b in state.live if b not in state.shutting_down]

    def live_replicas(self, tp: str) -> list[int]:
        """A partition's assigned replicas on such brokers."""
        state = self.state
        return [
            b for b in state.assignments[tp] if b in state.live and b not in state.shutting_down
        ]

    def hosted(self, brokers: list[int]) -> list[str]:
        """The partitions with a replica on any of ``brokers``."""
        wanted = frozenset(brokers)
        return [
            tp for tp, assigned in self.state.assignments.items() if not wanted.isdisjoint(assigned)
        ]

    def partitions_of(self, topic: str) -> list[str]:
        """A topic's partitions, in order of their numbers."""
        return [f"{topic}-{number}" for number in self.state.topics.get(topic, ())]

    def is_deleting(self, tp: str) -> bool:
        """Whether a partition's topic is to be deleted."""
        deleting = self.state.deleting
        return bool(deleting) and tp.rpartition("-")[0] in deleting

    def in_turn(self, brokers: Iterable[int]) -> list[int]:
        """Brokers in the order in which their replicas go offline (``handleStateChanges``).

        From 2.5 on by their ids, before by Scala 2.12's hashes of them.
        """
        ids = sorted(brokers)
        return brokers_grouped(ids) if self.profile.has("brokers_in_hash_order") else ids

    def leaderless(self) -> list[str]:
        """The partitions without a leader, but for those that are being deleted."""
        return [
            tp
            for tp, each in self.state.partitions.items()
            if each in (OFFLINE, NEW) and not self.is_deleting(tp)
        ]

    def asks_anew(self, kind: str) -> bool:
        """Whether a change of a znode under /admin counts: from 1.1 only that it is there again."""
        return kind == "NodeCreated" or self.profile.has("admin_requests_data_watched")

    def registered(self) -> tuple[dict[int, int], list[str]]:
        """The brokers that are registered, with their registration epochs; and what is no broker.

        Raises:
            ConnectionLoss: ZooKeeper does not answer.
        """
        hosts = self.kernel.state.hosts
        found: dict[int, int] = {}
        unreadable: list[str] = []
        for name in self.zk.children(znodes.BROKER_IDS):
            number = znodes.number_in(name)
            node = self.zk.get(f"{znodes.BROKER_IDS}/{name}")
            if number is None or number not in hosts or not znodes.is_broker(node.data):
                unreadable.append(name)
            else:
                found[number] = node.czxid
        return {number: found[number] for number in sorted(found)}, unreadable

    # ---- fencing

    def check_epoch(self) -> None:
        """2.1+ (KAFKA-6082): every write checks the version of /controller_epoch.

        Raises:
            ControllerMovedError: another broker has become controller.
        """
        if not self.checks_epoch:
            return
        node = self.zk.find(znodes.CONTROLLER_EPOCH)
        if node is None or node.version != self.state.epoch_zk_version:
            error = errors.NoNodeError if node is None else errors.BadVersionError
            expected = self.state.epoch_zk_version
            self.zk.refused("check", znodes.CONTROLLER_EPOCH, error.__name__, expected)
            raise ControllerMovedError

    # ---- the states of partitions

    def read(self, tp: str) -> PartitionInfo | None:
        """What ZooKeeper says of a partition; None if nothing, or nothing that can be read."""
        found = self.metadata.read(tp)
        return None if found is None else self._info(tp, found)

    def _info(self, tp: str, found: VersionedState) -> PartitionInfo:
        state = found.state
        return PartitionInfo(
            state.leader,
            state.leader_epoch,
            state.isr,
            found.version,
            self.state.assignments.get(tp, []),
            state.controller_epoch,
            leader_recovery_state=state.leader_recovery_state,
        )

    def refresh(self, tp: str) -> PartitionInfo | None:
        """Read a partition's state anew, as every decision does: leaders write ISRs themselves.

        None: the controller does not know the partition, an outsider deleted the znode or wrote
        what cannot be read, or (up to 2.0) a newer controller has written it; nothing is decided
        then.

        Raises:
            ControllerMovedError: a newer controller has written it (from 2.1).
        """
        found = self.read(tp)
        if found is None or tp not in self.state.assignments:
            return None
        if found.controller_epoch > self.state.epoch:
            if self.profile.has("controller_multi"):
                raise ControllerMovedError
            self.failed(tp, "Offline", f"controller {found.controller_epoch} has written it")
            return None
        self.remember(tp, found)
        return found

    def remember(self, tp: str, info: PartitionInfo) -> None:
        """Take what ZooKeeper says into the cache; what is news there is an event."""
        known = self.state.infos.get(tp)
        self.state.infos[tp] = info
        if known is None or known.zk_version != info.zk_version:
            self._cached(tp, info)

    def _cached(self, tp: str, info: PartitionInfo) -> None:
        self.emit(
            events.PartitionCached,
            tp,
            self.id,
            info.leader,
            info.leader_epoch,
            info.isr,
            info.zk_version,
        )

    def create(self, tp: str, leader: int, isr: list[int]) -> PartitionInfo:
        """Write the first state of a partition.

        Raises:
            NodeExistsError: it has one already.
            NoNodeError: its topic is gone.
            ControllerMovedError: another broker is controller.
        """
        self.check_epoch()
        state = self.state
        version = self.metadata.create(tp, PartitionState(state.epoch, leader, 0, isr))
        info = PartitionInfo(
            leader, 0, isr, version, state.assignments[tp], state.epoch, is_new=True
        )
        state.infos[tp] = info
        return info

    def update(
        self, tp: str, leader: int, isr: list[int], *, bump: bool = True, recovery: int = 0
    ) -> PartitionInfo:
        """Write a partition's state under the version that the cache has; ``bump``: a new epoch.

        Nothing is written over what the cache does not know: the caller decides again, by the state
        that the cache has then (``updateLeaderAndIsr``).

        Raises:
            BadVersionError: somebody else has written it; the cache has been refreshed.
            NoNodeError: it is gone.
            ControllerMovedError: another broker is controller.
        """
        state = self.state
        known = state.infos[tp]
        epoch = znodes.following(known.leader_epoch) if bump else known.leader_epoch
        self.check_epoch()
        wanted = PartitionState(state.epoch, leader, epoch, isr, recovery)
        try:
            version = self.metadata.write(tp, wanted, known.zk_version)
        except errors.BadVersionError:
            found = self.read(tp)
            if found is None or found.controller_epoch > state.epoch:
                raise ControllerMovedError from None
            self.remember(tp, found)
            raise
        info = PartitionInfo(
            leader,
            epoch,
            isr,
            version,
            state.assignments[tp],
            state.epoch,
            leader_recovery_state=recovery,
        )
        state.infos[tp] = info
        return info

    def write(self, tp: str, leader: int, isr: list[int], *, bump: bool = True) -> PartitionInfo:
        """Write a partition's state without an election; see :meth:`update`."""
        recovery = self.state.infos[tp].leader_recovery_state if bump else znodes.RECOVERED
        info = self.update(tp, leader, isr, bump=bump, recovery=recovery)
        self._cached(tp, info)
        return info

    def failed(self, tp: str, strategy: str, reason: str) -> None:
        """State that nobody could be elected, and why."""
        self.emit(events.ElectionFailed, tp, self.id, strategy, reason)

    # ---- the work on an event

    def guarded(self, work: Callable[[], None], moved: Callable[[], None]) -> bool:
        """Do the work on one event; an error ends that work only, and is stated.

        ``moved`` is called if another broker has turned out to be controller. Without a connection
        to ZooKeeper everything is looked at again once there is one: False.
        """
        try:
            try:
                work()
            except ControllerMovedError:
                moved()
        except errors.ConnectionLoss:
            self.retry_later()
            return False
        except (errors.ZooKeeperError, UnreadableError) as error:
            self.step("error", 1, type(error).__name__, str(error))
        return True

    def retry_later(self) -> None:
        """Look at everything again in a while: ZooKeeper does not answer now."""
        self.broker.later("controller-retry", RETRY_US)

    def step(self, procedure: str, number: int, name: str, detail: str = "") -> None:
        """State one step of a procedure."""
        self.emit(events.ControllerStep, self.id, procedure, number, name, detail)
