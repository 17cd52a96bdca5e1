"""What all parts of the controller share: its cache of ZooKeeper, and access to ZooKeeper.

The parts form layers: this context, the channels to the brokers, the state machines of partitions
and replicas, the procedures built from their transitions (topic deletion, reassignment, elections,
broker changes), the listeners, the failover, and the controller, which creates all of them. Each
receives the lower parts that it needs, and knows none above.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct, field

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.controller.assignment_order import AssignmentOrder
from emulator.controller.hash_order import brokers_grouped, brokers_grouped_since_2_13
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
from emulator.zookeeper.client import ZkClient
from emulator.zookeeper.data import PartitionState
from emulator.zookeeper.metadata import PartitionMetadata, VersionedState

NON_EXISTENT = "NonExistentPartition"
NEW = "NewPartition"
ONLINE = "OnlinePartition"
OFFLINE = "OfflinePartition"

RETRY_US = 100_000
"""How long the controller waits before it retries after losing ZooKeeper."""

ControlRequest = LeaderAndIsrRequest | StopReplicaRequest | UpdateMetadataRequest


class ControllerMovedError(Exception):
    """Another broker has become controller: this one has to resign."""


class UnreadableError(Exception):
    """A znode's content is invalid for Kafka, so processing it ends in an exception.

    The controller's event thread logs it and continues with its next event.
    """


class Channel(Struct, array_like=True):
    """The queue to one broker; ``request`` is the one in flight (0: none)."""

    queue: list[ControlRequest] = field(default_factory=list)
    request: int = 0


class Move(Struct, array_like=True):
    """A reassignment in progress: the original and the target replicas.

    Both are empty if the topic was deleted meanwhile (from 2.4 on).
    """

    original: list[int]
    target: list[int]


class Deletion(Struct, array_like=True):
    """A topic being deleted.

    ``halted``: a replica is on a dead broker, or a partition is being reassigned, so no further
    deletions start until that broker returns, or the reassignment is complete
    (``topicsIneligibleForDeletion``).
    """

    halted: bool = False


class ControllerState(Struct, array_like=True):
    """The controller's cache. ``live`` maps broker ids to their registration epochs.

    ``topics`` maps topics to their partition numbers, which have gaps if an external client wrote
    the topic. ``partitions`` has the state of each partition, ``replicas`` that of those
    (``t-0@2``) that are not simply online (see :mod:`emulator.controller.replica_state_machine`).
    ``order`` is the iteration order of Kafka's map of ``assignments``.
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
    order: AssignmentOrder = field(default_factory=AssignmentOrder)


class BrokerChange(Struct, frozen=True):
    """A BrokerChange in progress: the content of ``/brokers/ids``, and its changes to the cache.

    ``removing`` are the brokers whose send threads have yet to be shut down.
    """

    registered: dict[int, int]
    gone: list[int]
    new: list[int]
    bounced: list[int]
    removing: list[int]


# ---- events of the controller's thread, besides watches and requests


class ThreadEvent(Struct, array_like=True, tag=True, frozen=True):
    """Work for the controller's thread, besides watches and requests."""


class Elect(ThreadEvent, frozen=True):
    """Read /controller, and become controller if there is none (Reelect)."""


class LookAgain(ThreadEvent, frozen=True):
    """Check everything that may have changed while ZooKeeper was unreachable."""


class SessionExpired(ThreadEvent, frozen=True):
    """The ZooKeeper session has expired, and with it the controllership (Expire)."""


class RegisterAgain(ThreadEvent, frozen=True):
    """Create the broker's znode again, and stand for election.

    Called RegisterBrokerAndReelect in Kafka.
    """


class ConfigTaken(ThreadEvent, frozen=True):
    """This broker has applied a changed configuration of a topic or broker."""

    kind: str
    name: str


class RebalanceLeaders(ThreadEvent, frozen=True):
    """The task that rebalances preferred leaders is due (AutoPreferredReplicaLeaderElection)."""


class ReplicasStopped(ThreadEvent, frozen=True):
    """A broker has completed a StopReplica (TopicDeletionStopReplicaResponseReceived)."""

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
"""The events that the controller's single thread processes one after another."""

QueuedEvent = tuple[int, int, ControllerEvent]
"""An event's source host, its cause (for a request its number), and the event."""


class ControllerThread(Struct, array_like=True):
    """The awaited response of the controller's thread, and the events queued behind it.

    ``closing`` are channels whose send threads are being shut down, with a request in flight that
    the thread waits for; ``change`` is the change it then continues, None after a resignation.
    ``without_zookeeper``: ``change``, or else the first of ``events``, is in progress, and
    ZooKeeper does not respond.
    """

    events: list[QueuedEvent] = field(default_factory=list)
    closing: dict[int, Channel] = field(default_factory=dict)
    change: BrokerChange | None = None
    without_zookeeper: bool = False

    @property
    def waits(self) -> bool:
        return self.without_zookeeper or bool(self.closing)


class Controllership(Struct, array_like=True):
    """The controller's cache while this broker is (or believes to be) the controller.

    ``thread`` processes the controller's events, including its election. ``is_running``: it has not
    been shut down (``KafkaController.isRunning``); the broker's session may end a little later.
    """

    state: ControllerState | None = None
    thread: ControllerThread = field(default_factory=ControllerThread)
    is_running: bool = True


class ControllerContext:
    """The context of a broker that is, or may become, the controller.

    ``state`` is the controller's cache, which exists only while this broker is the controller.
    """

    state: ControllerState

    def __init__(self, broker: BrokerContext, controllership: Controllership, zk: ZkClient) -> None:
        """Act for the broker of ``broker`` through ``zk``, with the state ``controllership``."""
        self.broker = broker
        self.controllership = controllership
        if controllership.state is not None:
            self.state = controllership.state
        self.id = broker.id
        self.kernel = broker.kernel
        self.emit = broker.emit
        self.network = broker.network
        self.profile = broker.profile
        self.checks_epoch = broker.profile.has("controller_multi")
        self.stepwise = broker.stepwise
        self.zk = zk
        self.metadata = PartitionMetadata(zk)

    def take_office(self, state: ControllerState) -> None:
        """Begin as controller, with the cache ``state``."""
        self.controllership.state = self.state = state

    def leave_office(self) -> None:
        """Discard the cache: this broker is no longer controller."""
        self.controllership.state = None
        del self.state

    # ---- queries to the cache

    def live_brokers(self) -> list[int]:
        """The brokers that may lead: alive, and not shutting down."""
        state = self.state
        if not state.shutting_down:
            return list(state.live)
        return [b for b in state.live if b not in state.shutting_down]

    def live_replicas(self, tp: str) -> list[int]:
        """A partition's assigned replicas on brokers that may lead."""
        state = self.state
        return [
            b for b in state.assignments[tp] if b in state.live and b not in state.shutting_down
        ]

    def hosted(self, brokers: list[int]) -> list[str]:
        """The partitions with a replica on any of ``brokers``."""
        hosts = frozenset(brokers)
        return [
            tp for tp, assigned in self.state.assignments.items() if not hosts.isdisjoint(assigned)
        ]

    def partitions_of(self, topic: str) -> list[str]:
        """A topic's partitions, in order of their numbers."""
        return [f"{topic}-{number}" for number in self.state.topics.get(topic, ())]

    def is_deleting(self, tp: str) -> bool:
        """Whether a partition's topic is queued for deletion."""
        deleting = self.state.deleting
        return bool(deleting) and tp.rpartition("-")[0] in deleting

    def in_turn(self, brokers: Iterable[int]) -> list[int]:
        """Brokers in the order in which their replicas go offline (``handleStateChanges``).

        From 1.1 on in the order of a hash map: of Scala 2.12 up to 2.4, and of 2.13 since.
        """
        ids = sorted(brokers)
        if self.profile.has("brokers_in_hash_order_of_scala_2_13"):
            return brokers_grouped_since_2_13(ids)
        return brokers_grouped(ids) if self.profile.has("brokers_in_hash_order") else ids

    def leaderless(self) -> list[str]:
        """The partitions without a leader, except those being deleted."""
        return [
            tp
            for tp, state in self.state.partitions.items()
            if state in (OFFLINE, NEW) and not self.is_deleting(tp)
        ]

    def asks_anew(self, kind: str) -> bool:
        """Whether to act on a change to an /admin znode: from 1.1 only on its creation."""
        return kind == "NodeCreated" or self.profile.has("admin_requests_data_watched")

    def registered(self) -> tuple[dict[int, int], list[str]]:
        """The registered brokers with their registration epochs, and malformed registrations.

        Raises:
            ConnectionLoss: ZooKeeper does not respond.
        """
        hosts = self.kernel.state.hosts
        epochs: dict[int, int] = {}
        unreadable: list[str] = []
        for name in self.zk.children(znodes.BROKER_IDS):
            number = znodes.number_in(name)
            node = self.zk.get(f"{znodes.BROKER_IDS}/{name}")
            if number is None or number not in hosts or not znodes.is_broker(node.data):
                unreadable.append(name)
            else:
                epochs[number] = node.czxid
        return {number: epochs[number] for number in sorted(epochs)}, unreadable

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
        """A partition's state in ZooKeeper; None if it is missing or malformed.

        Reading it watches it if the partition is being reassigned, as its znode has a handler then.
        """
        versioned = self.metadata.read(tp)
        if versioned is not None and tp in self.state.reassigning:
            self.metadata.watch(tp)
        return None if versioned is None else self._info(tp, versioned)

    def _info(self, tp: str, versioned: VersionedState) -> PartitionInfo:
        state = versioned.state
        return PartitionInfo(
            state.leader,
            state.leader_epoch,
            state.isr,
            versioned.version,
            self.state.assignments.get(tp, []),
            state.controller_epoch,
            leader_recovery_state=state.leader_recovery_state,
        )

    def refresh(self, tp: str) -> PartitionInfo | None:
        """Re-read a partition's state, as every decision does: leaders write ISRs themselves.

        None if the controller does not know the partition, if an external client deleted the znode
        or wrote malformed data, or (up to 2.0) if a newer controller wrote it; no decision is made
        then.

        Raises:
            ControllerMovedError: a newer controller has written it (from 2.1).
        """
        info = self.read(tp)
        if info is None or tp not in self.state.assignments:
            return None
        if info.controller_epoch > self.state.epoch:
            if self.profile.has("controller_multi"):
                raise ControllerMovedError
            self.failed(tp, "Offline", f"controller {info.controller_epoch} has written it")
            return None
        self.remember(tp, info)
        return info

    def remember(self, tp: str, info: PartitionInfo) -> None:
        """Store a partition's state in the cache; emit an event for what is new in it."""
        cached = self.state.infos.get(tp)
        self.state.infos[tp] = info
        if cached is None or cached.zk_version != info.zk_version:
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
        """Write the initial state of a partition.

        Raises:
            NodeExistsError: it already has one.
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
        """Write a partition's state with the version in the cache; ``bump``: increment the epoch.

        A conflicting write is never overwritten: the caller decides again, by the refreshed cache
        (``updateLeaderAndIsr``).

        Raises:
            BadVersionError: another client has written it; the cache has been refreshed.
            NoNodeError: it is gone.
            ControllerMovedError: another broker is controller.
        """
        state = self.state
        cached = state.infos[tp]
        epoch = znodes.following(cached.leader_epoch) if bump else cached.leader_epoch
        self.check_epoch()
        partition_state = PartitionState(state.epoch, leader, epoch, isr, recovery)
        try:
            version = self.metadata.write(tp, partition_state, cached.zk_version)
        except errors.BadVersionError:
            current = self.read(tp)
            if current is None or current.controller_epoch > state.epoch:
                raise ControllerMovedError from None
            self.remember(tp, current)
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
        """Emit the event that no leader could be elected, and why."""
        self.emit(events.ElectionFailed, tp, self.id, strategy, reason)

    # ---- event processing

    def guarded(self, work: Callable[[], None], moved: Callable[[], None]) -> bool:
        """Process one event; an error ends that event only, and is emitted.

        ``moved`` is called if another broker turns out to be controller. Without a connection to
        ZooKeeper, return False; everything is checked again once it is back.
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
        """Schedule a full check: ZooKeeper does not respond now."""
        self.broker.later("controller-retry", RETRY_US)

    def step(self, procedure: str, number: int, name: str, detail: str = "") -> None:
        """Emit the event of one step of a procedure."""
        self.emit(events.ControllerStep, self.id, procedure, number, name, detail)
