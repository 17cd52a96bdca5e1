"""A broker: one process, made of a core and of a membership.

The core replicates and coordinates (:mod:`emulator.broker.core`); the membership connects it to the
rest of the cluster (:mod:`emulator.broker.membership`). Their parts know only the layers below
them. This module dispatches messages and timers to them, and the table ``REACTIONS`` says which of
them reacts to what happens at another.
"""

from collections.abc import Callable, Mapping
from types import MethodType
from typing import Final, get_args

from msgspec import Struct, field

from emulator import events
from emulator import protocol as messages
from emulator.broker.core import Core, CoreState
from emulator.broker.kraft_membership.cluster_metadata import ImageMetadata
from emulator.broker.kraft_membership.forwarding import ForwardingManager
from emulator.broker.kraft_membership.lifecycle import BrokerLifecycle
from emulator.broker.kraft_membership.membership import KRaftMembership
from emulator.broker.kraft_membership.producer_ids import KRaftProducerIds
from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker.membership import Handler, Membership, reset
from emulator.broker.replication.alter_partition_manager import AlterPartitionManager
from emulator.broker.replication.consumer_fetch import ConsumerReads
from emulator.broker.replication.delayed_delete_records import DelayedDeletes
from emulator.broker.replication.fetch_session import FetchSessions
from emulator.broker.replication.fetcher import FetcherManager
from emulator.broker.replication.isr_manager import IsrManager
from emulator.broker.replication.partition_locks import BEHIND_LOCKS, STATE_CHANGE
from emulator.broker.replication.purgatory import DelayedOperations
from emulator.broker.replication.replica import Replica
from emulator.broker.share.share_partition_manager import SharePartitionManager
from emulator.broker.zookeeper_membership.cluster_metadata import ZooKeeperMetadata
from emulator.broker.zookeeper_membership.control_requests import ControlRequests
from emulator.broker.zookeeper_membership.lifecycle import Lifecycle
from emulator.broker.zookeeper_membership.membership import (
    ZooKeeperMembership,
    ZooKeeperMembershipState,
)
from emulator.broker.zookeeper_membership.producer_ids import ProducerIds
from emulator.broker.zookeeper_membership.zk_isr_manager import ZkIsrManager
from emulator.broker_context import OPEN, BrokerContext, ProcessState, Surroundings
from emulator.broker_effects import (
    ControllerKnown,
    CoordinatorAsked,
    FetcherIdle,
    LocksChanged,
    MetadataPublished,
    PartitionsDeleted,
    PortsChanged,
    ProcessEnded,
    ProcessStarted,
    RegistrationLost,
    Unlocked,
)
from emulator.coordinator.group_coordinator import GroupCoordinator
from emulator.coordinator.own_requests import OwnRequests
from emulator.protocol import AnyMessage
from emulator.replication import partition
from emulator.simulation.network import LATENCY_MIN_US
from emulator.zookeeper.client import ZkClient

MembershipState = ZooKeeperMembershipState | KRaftMembershipState


class BrokerState(Struct, array_like=True):
    """The complete state of a broker."""

    process: ProcessState
    membership: MembershipState
    core: CoreState = field(default_factory=CoreState)

    @property
    def id(self) -> int:
        return self.process.id

    @property
    def state(self) -> str:
        """The process's status (see :class:`emulator.events.BrokerStateChanged`)."""
        return self.process.status

    @property
    def broker_epoch(self) -> int:
        """The epoch of its registration; 0 if it has not registered since it was started."""
        return self.process.broker_epoch

    @property
    def replicas(self) -> dict[str, Replica]:
        """The replicas on its disk, by partition."""
        return self.core.replicas


class Broker:
    """A broker's behaviour: it handles messages and acts through its context."""

    def __init__(self, state: BrokerState, core: Core, membership: Membership) -> None:
        self.state = state
        self.id = state.id
        self.core = core
        self.membership = membership
        self.context = core.context
        self.kernel = core.kernel
        self._process = state.process
        self._connect()
        self._tasks = core.tasks() | membership.tasks()
        self._unlocked: dict[type, Handler] = {
            **core.requests(),
            **membership.requests(),
            messages.ConnectionLost: self._connection_lost,
            messages.Timer: self._timer,
        }
        self._refusing = self._unlocked | dict.fromkeys(messages.REQUESTS, self._refuse)
        self._behind_locks = self._unlocked | dict.fromkeys(BEHIND_LOCKS, self._take_in_turn)
        self._handlers = self._unlocked
        self.choose_handlers()

    def _connect(self) -> None:
        """Let the parts that this broker has react to each other as the table says."""
        parts = self.parts()
        of_partitions = get_args(partition.Effect)
        for effect, methods in REACTIONS.items():
            reactions = [
                MethodType(method, parts[owner_of(method)])
                for method in methods
                if owner_of(method) in parts
            ]
            if effect in of_partitions:
                for reaction in reactions:
                    self.core.replicas.on(effect, reaction)
            else:
                self.context.reactions[effect] = tuple(reactions)

    def parts(self) -> dict[str, object]:
        """The broker, its core, its membership, and their parts, by the names of their classes."""
        owned = (*vars(self.core).values(), *self.membership.parts(), self.core, self)
        return {type(part).__name__: part for part in owned}

    # ---- start and stop

    def start(self) -> None:
        self.membership.start()

    def stop(self) -> None:
        self.membership.stop()

    @property
    def takes_requests(self) -> bool:
        """Whether its ports are open."""
        return self._process.ports == OPEN

    # ---- dispatch

    def handle(self, source: int, message: AnyMessage) -> None:
        self._handlers[type(message)](source, self.kernel.cause, message)

    def choose_handlers(self, _effect: PortsChanged | LocksChanged | None = None) -> None:
        """Refuse requests, check locks before they are handled, or handle them at once.

        Locks are checked only while any is held. Requests that were accepted before the ports were
        closed are still handled.
        """
        locks = self.state.core.locks
        if self._process.ports != OPEN:
            self._handlers = self._refusing
        elif locks.held or locks.waiting or locks.fetchers:
            self._handlers = self._behind_locks
        else:
            self._handlers = self._unlocked

    def _refuse(self, source: int, request: int, _message: AnyMessage) -> None:
        """Refuse the connection: no process is listening."""
        kernel = self.kernel
        refused = messages.ConnectionLost(self.id, request)
        kernel.schedule(kernel.now + LATENCY_MIN_US, source, refused, kernel.cause, self.id)

    def _timer(self, _source: int, _request: int, message: messages.Timer) -> None:
        if self.context.timers.is_due(message):
            self._tasks[message.task]()

    def _connection_lost(
        self, _source: int, _request: int, message: messages.ConnectionLost
    ) -> None:
        if message.peer >= 0:
            self.core.connection_lost(message)
        self.membership.connection_lost(message)

    # ---- requests that wait for a lock

    def _take_in_turn(self, source: int, request: int, message: AnyMessage) -> None:
        locks = self.core.locks
        if locks.blocks(source, message):
            locks.wait(source, request, message)
        else:
            self._unlocked[type(message)](source, request, message)

    def release_waiting(self, _effect: Unlocked) -> None:
        """Handle the requests whose locks are free by now, then check the locks again."""
        kernel = self.kernel
        cause = kernel.cause
        for source, request, message in self.core.locks.freed():
            kernel.cause = request
            self._take_in_turn(source, request, message)
        kernel.cause = cause
        self.choose_handlers()

    # ---- the process

    def halt(self, _replica: Replica, _effect: partition.Halt) -> None:
        """End because a follower may not truncate: at once, or from 0.10.0.1 on in order.

        Before 0.11 the thread that began this holds on to the locks of its fetcher. No request of
        the controller gets past them, and the shutdown waits for the thread for ever.
        """
        if not self.context.profile.has("fatal_fetch_error_exits_in_order"):
            self.end_process("crashed")
        elif self._process.status == "running":
            if self.core.fetchers.exited_is_awaited:
                self.core.locks.hold_fetchers(STATE_CHANGE)
            self.stop()

    def thaw(self) -> None:
        """Continue after a freeze with the messages that were received meanwhile."""
        self.membership.thaw()
        self.core.thaw()
        self.kernel.thaw_host(self.id)

    def replace_disk(self) -> None:
        """Give a process that is down a new, empty disk."""
        for tp in self.state.replicas:
            self.kernel.emit(events.LogDeleted, tp, self.id)
        self.state.replicas.clear()
        self.membership.replace_disk()

    def process_ended(self, effect: ProcessEnded) -> None:
        """End the process as one of its parts wants it."""
        self.end_process(effect.status)

    def end_process(self, status: str) -> None:
        """Discard the process's state: only what is on disk survives."""
        self.core.end_process(clean=status == "stopped")
        self.membership.end_process()
        reset(self._process, ProcessState(self.id))
        self.choose_handlers()
        self.context.set_status(status)
        self.kernel.end_host(self.id)
        self.context.network.host_ended(self.id)


REACTIONS: Final[Mapping[type, tuple[Callable[..., object], ...]]] = {
    # What a partition decides. The log and the index of replicas are changed before.
    partition.MoveHighWatermark: (DelayedOperations.read_more,),
    partition.CompleteProduces: (DelayedOperations.complete_produces,),
    partition.OfferRecords: (FetchSessions.offer_records,),
    partition.CompleteFetches: (FetchSessions.high_watermark_moved,),
    partition.ProposeIsr: (
        IsrManager.change_proposed,
        ZkIsrManager.propose,
        AlterPartitionManager.propose,
    ),
    partition.AnnounceIsr: (FetchSessions.isr_changed, ZkIsrManager.announce),
    partition.BeginEpoch: (FetchSessions.epoch_began,),
    partition.BeginLeading: (Core.coordinates,),
    partition.StopLeading: (
        DelayedOperations.complete_produces,
        FetchSessions.stopped_leading,
        ConsumerReads.stopped_leading,
        DelayedDeletes.stopped_leading,
        SharePartitionManager.leads_no_more,
        Core.coordinates_no_more,
    ),
    partition.StartFetching: (FetcherManager.start,),
    partition.KeepFetching: (FetcherManager.keep,),
    partition.StopFetching: (FetcherManager.stop,),
    partition.Halt: (Broker.halt,),
    # What happens at a part.
    ProcessStarted: (ZkIsrManager.start, Core.start_tasks),
    PortsChanged: (Broker.choose_handlers,),
    ProcessEnded: (Broker.process_ended,),
    LocksChanged: (Broker.choose_handlers,),
    Unlocked: (Broker.release_waiting,),
    FetcherIdle: (ControlRequests.fetcher_ended,),
    ControllerKnown: (AlterPartitionManager.controller_known, KRaftMembership.controller_known),
    RegistrationLost: (Lifecycle.register_again,),
    MetadataPublished: (BrokerLifecycle.metadata_published,),
    PartitionsDeleted: (GroupCoordinator.partitions_deleted,),
    CoordinatorAsked: (Core.ask_coordinator,),
}
"""Which parts react to an effect, in this order; a broker that lacks one of them skips it."""


def owner_of(method: Callable[..., object]) -> str:
    """The name of the class whose method it is."""
    return method.__qualname__.partition(".")[0]


def broker_of(state: BrokerState, surroundings: Surroundings) -> Broker:
    """Make the broker whose state is ``state``, with the membership that its state is of."""
    own_requests = OwnRequests(state.core.own_requests)
    context = BrokerContext(state.process, surroundings, own_requests.receive)
    membership_state = state.membership
    if isinstance(membership_state, KRaftMembershipState):
        forwarding = ForwardingManager(context, membership_state)
        context.metadata = ImageMetadata(context, membership_state, surroundings.voters, forwarding)
        ids_from_controller = KRaftProducerIds(context, membership_state)
        core = Core(context, state.core, own_requests, ids_from_controller)
        return Broker(
            state,
            core,
            KRaftMembership(
                core,
                membership_state,
                voters=surroundings.voters,
                cluster_id=surroundings.cluster_id,
                forwarding=forwarding,
                producer_ids=ids_from_controller,
            ),
        )
    zk = ZkClient(
        context.id,
        membership_state.zk,
        kernel=context.kernel,
        network=context.network,
        zookeeper=surroundings.zookeeper,
        environment=surroundings.environment.of(context.id),
        timers=context.timers,
        timeout_us=lambda: context.config.zookeeper_session_timeout_us,
        session_opened=surroundings.session_opened,
    )
    context.metadata = metadata = ZooKeeperMetadata(context, zk)
    producer_ids = ProducerIds(context, membership_state.producer_ids, zk)
    core = Core(context, state.core, own_requests, producer_ids)
    return Broker(state, core, ZooKeeperMembership(core, membership_state, metadata, producer_ids))
