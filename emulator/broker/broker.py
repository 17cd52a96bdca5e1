"""A broker.

One process with its replicas, its fetchers, its ZooKeeper session and, perhaps, the controller's
office.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from emulator import events
from emulator import protocol as messages
from emulator.broker.consumer_fetch import ConsumerReads
from emulator.broker.control import ControlPlane
from emulator.broker.fetch_round import SingleRounds
from emulator.broker.fetch_session import FetchServer, FetchSession
from emulator.broker.fetcher import Fetcher, FollowerSide
from emulator.broker.isr_manager import IsrManager
from emulator.broker.leader import LeaderSide
from emulator.broker.lifecycle import Registration
from emulator.broker.out_of_range import OutOfRange
from emulator.broker.producer_ids import ProducerIds
from emulator.broker.replica import LEADER, OFFLINE, Replica
from emulator.broker_context import BrokerContext, ProcessState, World
from emulator.controller.context import Controllership, ControllerState
from emulator.controller.controller import Controller
from emulator.coordinator.group_coordinator import GroupCoordinator
from emulator.coordinator.groups import CoordinatorState
from emulator.events import ZOOKEEPER
from emulator.protocol import AnyMessage
from emulator.releases.config import BrokerConfig
from emulator.simulation.network import LATENCY_MIN_US
from emulator.storage.leader_epoch_cache import LeaderEpochCache
from emulator.storage.log import Log

Handler = Callable[[int, Any], None]
"""Takes a message of one kind from a source."""


class BrokerState(Struct, array_like=True):
    """All that a broker remembers. ``replicas`` hold the disk's part too.

    The rest of it ends with the process.
    """

    process: ProcessState
    replicas: dict[str, Replica] = field(default_factory=dict)
    clean_shutdown: bool = True
    fetchers: dict[int, Fetcher] = field(default_factory=dict)
    fetch_sessions: dict[int, FetchSession] = field(default_factory=dict)
    single_fetches: dict[int, FetchSession] = field(default_factory=dict)
    single_rounds: dict[int, str] = field(default_factory=dict)
    lagging: dict[str, None] = field(default_factory=dict)
    waiting_partitions: dict[str, None] = field(default_factory=dict)
    pending_isr: dict[str, None] = field(default_factory=dict)
    alter_request: int = 0
    alter_sent_us: int = 0
    isr_changes: dict[str, None] = field(default_factory=dict)
    isr_changed_us: int = 0
    isr_told_us: int = 0
    unchecked_hw: dict[str, None] = field(default_factory=dict)
    shutdown_request: int = 0
    shutdown_sent_us: int = 0
    shutdown_tries: int = 0
    unanswered: dict[int, tuple[int, dict[str, str]]] = field(default_factory=dict)
    producer_id: int = -1
    producer_id_end: int = -1
    controllership: Controllership = field(default_factory=Controllership)
    coordinator: CoordinatorState = field(default_factory=CoordinatorState)

    @property
    def id(self) -> int:
        """The broker's id."""
        return self.process.id

    @property
    def state(self) -> str:
        """The process's status (see :class:`emulator.events.BrokerStateChanged`)."""
        return self.process.status

    @property
    def session(self) -> int:
        """The id of its ZooKeeper session; 0: none."""
        return self.process.zk.session

    @property
    def broker_epoch(self) -> int:
        """The czxid of its registration; 0: it has not registered since it was started."""
        return self.process.broker_epoch

    @property
    def controller(self) -> ControllerState | None:
        """The controller's cache, if this broker is (or believes to be) the controller."""
        return self.controllership.state


class Broker:
    """A broker's behaviour: takes messages, acts through the world."""

    def __init__(self, state: BrokerState, world: World) -> None:
        """Act on ``state`` in ``world``."""
        self.state = state
        self.id = state.id
        self.world = world
        self.kernel = world.kernel
        self.context = BrokerContext(state.process, world)
        self.arm = self.context.arm
        self.later = self.context.later
        self.close_connection = self.context.close_connection
        self.zk = self.context.zk
        self.zk.on_reconnected = self._zookeeper_is_back
        self.zk.on_expired = self.session_expired
        self.leader = LeaderSide(self)
        self.fetches = FetchServer(self)
        self.reads = ConsumerReads(self)
        self.follower = FollowerSide(self)
        self.rounds = SingleRounds(self)
        self.out_of_range = OutOfRange(self)
        self.isr = IsrManager(self)
        self.control = ControlPlane(self)
        self.producer_ids = ProducerIds(self)
        self.registration = Registration(self)
        self.controller = Controller(self.context, state.controllership, self.isr.send_pending)
        self.coordinator = GroupCoordinator(
            self.context, state.coordinator, append=self.leader.produce, log_of=self.log_of
        )
        self._handlers = self._table()
        self._tasks = self._task_table()

    @property
    def config(self) -> BrokerConfig:
        """This broker's configuration as it is now."""
        return self.context.config

    # ---- dispatch

    def handle(self, source: int, message: AnyMessage) -> None:
        """Take one message; requests are taken from the first registration on."""
        if not self.state.process.broker_epoch and isinstance(message, messages.REQUESTS):
            refused = messages.ConnectionLost(self.id, self.kernel.cause)
            self.kernel.schedule(
                self.kernel.now + LATENCY_MIN_US, source, refused, self.kernel.cause, self.id
            )
        else:
            self._handlers[type(message)](source, message)

    def _table(self) -> dict[type, Handler]:
        def request(method: Callable[[int, int, Any], None]) -> Handler:
            return lambda source, message: method(source, self.kernel.cause, message)

        def answered(_source: int, message: messages.ControlResponse) -> None:
            self.controller.answered(message)

        return {
            messages.FetchRequest: request(self.fetches.fetch),
            messages.ProduceRequest: request(self.leader.produce),
            messages.InitProducerIdRequest: request(self.producer_ids.give_out),
            messages.OffsetsForLeaderEpochRequest: request(self.leader.offsets_for_leader_epoch),
            messages.ListOffsetsRequest: request(self.leader.list_offsets),
            messages.MetadataRequest: request(self.control.describe_topic),
            messages.LeaderAndIsrRequest: request(self.control.leader_and_isr),
            messages.StopReplicaRequest: request(self.control.stop_replica),
            messages.UpdateMetadataRequest: request(self.control.update_metadata),
            messages.ControlledShutdownRequest: request(self.controller.controlled_shutdown),
            messages.AlterPartitionRequest: request(self.controller.alter_partition),
            messages.FindCoordinatorRequest: request(self.coordinator.find),
            messages.JoinGroupRequest: request(self.coordinator.join),
            messages.SyncGroupRequest: request(self.coordinator.sync),
            messages.HeartbeatRequest: request(self.coordinator.heartbeat),
            messages.LeaveGroupRequest: request(self.coordinator.leave),
            messages.OffsetCommitRequest: request(self.coordinator.commit),
            messages.OffsetFetchRequest: request(self.coordinator.committed),
            messages.FetchResponse: self.follower.fetched,
            messages.OffsetsForLeaderEpochResponse: self.follower.epochs_answered,
            messages.ListOffsetsResponse: self.out_of_range.answered,
            messages.LeaderAndIsrResponse: answered,
            messages.StopReplicaResponse: answered,
            messages.UpdateMetadataResponse: answered,
            messages.AlterPartitionResponse: lambda source, message: self.isr.answered(message),
            messages.ControlledShutdownResponse: lambda source, message: (
                self.registration.shutdown_answered(message)
            ),
            messages.ZkPong: lambda source, message: self.zk.ponged(message),
            messages.ZkExpired: lambda source, message: self.zk.expired(message),
            messages.WatchEvent: lambda source, message: self.registration.watched(message),
            messages.ConnectionLost: self._connection_lost,
            messages.Timer: self._timer,
        }

    def _task_table(self) -> dict[str, Callable[[], None]]:
        return {
            "boot": self.registration.boot,
            "register": self.registration.register,
            "zk-ping": self.zk.ping,
            "fetch-timeout": self.fetches.expire_parked,
            "produce-timeout": self.leader.expire_waiting,
            "fetch-backoff": self.follower.resume,
            "socket-timeout": self.follower.check_timeouts,
            "isr-expiration": self._expire_isr,
            "checkpoint": self._checkpoint,
            "isr-propagation": self._propagate_isr,
            "alter-partition": self.isr.send_pending,
            "alter-partition-timeout": self.isr.check_timeout,
            "shutdown-retry": self.registration.ask_to_leave,
            "shutdown-timeout": self.registration.check_timeout,
            "controller-retry": self.controller.retry,
            "control-retry": self.controller.channels.retry,
            "control-timeout": self.controller.channels.check_timeouts,
            "rebalance": self.controller.rebalance,
            "groups": self.coordinator.tick,
        }

    def _timer(self, _source: int, message: messages.Timer) -> None:
        if self.context.timers.is_due(message):
            self._tasks[message.task]()

    def _connection_lost(self, _source: int, message: messages.ConnectionLost) -> None:
        peer = message.peer
        if peer >= 0:
            self.follower.connection_lost(peer)
            self.rounds.connection_lost(peer)
            self.isr.connection_lost(peer)
            self.controller.connection_lost(peer, message.request)
            self.registration.connection_lost(peer)
            self.fetches.connection_lost(peer)
        elif peer == ZOOKEEPER:
            self.zk.connection_lost()

    # ---- periodic tasks

    def start_tasks(self) -> None:
        """Begin the periodic tasks (in stepwise mode they run by `tick` only)."""
        if self.world.stepwise:
            return
        self.later("isr-expiration", self.isr.period_us())
        self.later("checkpoint", self.config.high_watermark_checkpoint_interval_us)

    def _expire_isr(self) -> None:
        self._as_root()
        self.isr.expire()
        self.later("isr-expiration", self.isr.period_us())

    def _checkpoint(self) -> None:
        self._as_root()
        self.checkpoint_high_watermarks()
        self.later("checkpoint", self.config.high_watermark_checkpoint_interval_us)

    def _propagate_isr(self) -> None:
        self.registration.propagate_isr_changes()

    def _as_root(self) -> None:
        """A periodic task is its own cause."""
        self.kernel.cause = 0

    def checkpoint_high_watermarks(self) -> None:
        """Write replication-offset-checkpoint: the HWs that changed since it was last written."""
        state = self.state
        changed: dict[str, int] = {}
        for tp in state.unchecked_hw:
            replica = state.replicas.get(tp)
            if replica is not None and replica.checkpointed_hw != replica.high_watermark:
                replica.checkpointed_hw = changed[tp] = replica.high_watermark
        state.unchecked_hw = {}
        if changed:
            self.kernel.emit(events.HighWatermarksCheckpointed, self.id, changed)

    # ---- answering

    def respond(self, destination: int, request: int, response: AnyMessage) -> None:
        """Send the answer to ``request``; the coordinator's own writes are answered at once."""
        if destination == self.id and isinstance(response, messages.ProduceResponse):
            self.coordinator.offsets.stored(request, response)
        else:
            self.world.network.send(self.id, destination, response, request)

    # ---- changes of a replica that are stated in one place

    def set_high_watermark(self, replica: Replica, high_watermark: int, occasion: str) -> None:
        """Move a replica's HW and state it."""
        previous, replica.high_watermark = replica.high_watermark, high_watermark
        self.state.unchecked_hw[replica.tp] = None
        self.kernel.emit(
            events.HighWatermarkChanged, replica.tp, self.id, high_watermark, previous, occasion
        )

    def isr_changed(self, replica: Replica, isr: list[int], zk_version: int) -> None:
        """Take a stored ISR as the one to act on."""
        replica.isr, replica.zk_version = isr, zk_version
        self.kernel.emit(events.IsrChanged, replica.tp, self.id, isr, zk_version)
        self.fetches.isr_moved(replica)
        if self.world.profile.has("isr_change_notifications"):
            self.registration.note_isr_change(replica.tp)

    def assign_epoch(self, replica: Replica, epoch: int, offset: int) -> None:
        """Enter an epoch's start offset in the cache and its file, if that is new."""
        cache = replica.epochs
        if cache is not None and cache.latest != epoch:
            repair = self.world.profile.has("epoch_assigned_at_election")
            if cache.assign(epoch, offset, repair=repair):
                self._epochs_changed(replica, cache)

    def truncate_epochs(self, replica: Replica, offset: int) -> None:
        """Drop the cache's entries that start at ``offset`` or later."""
        cache = replica.epochs
        if cache is not None and cache.truncate_from_end(offset):
            self._epochs_changed(replica, cache)

    def _epochs_changed(self, replica: Replica, cache: LeaderEpochCache) -> None:
        entries = list(cache.entries)
        self.kernel.emit(events.EpochCacheChanged, replica.tp, self.id, entries)

    def end_offset_for(self, replica: Replica, epoch: int) -> tuple[int, int]:
        """What this replica's cache says of the end of an epoch.

        (epoch, end offset), -1 undefined.
        """
        assert replica.epochs is not None
        return replica.epochs.end_offset_for(epoch, replica.log.end, self.world.profile)

    def restart_log(self, replica: Replica, offset: int) -> None:
        """Wipe a log and begin anew at ``offset`` (truncateFullyAndStartAt)."""
        previous = replica.log.end
        replica.log.restart_at(offset)
        replica.producers.truncate(replica.log)
        if replica.epochs is not None:
            replica.epochs.clear()
            self._epochs_changed(replica, replica.epochs)
        self.kernel.emit(
            events.LogTruncated, replica.tp, self.id, offset, previous, "out of range: restart"
        )
        self.kernel.emit(events.LogStartOffsetChanged, replica.tp, self.id, offset)
        self.set_high_watermark(replica, offset, "truncate")

    def may_be_isr_member(self, broker: int) -> bool:
        """Whether a follower may be in an ISR: from 3.x only while it is known to be alive."""
        eligible = self.world.profile.has("isr_answer_rechecks_hw")
        return not eligible or broker in self.state.process.live_brokers

    # ---- the process

    def set_state(self, state: str) -> None:
        """The process changed."""
        self.state.process.status = state
        self.kernel.emit(events.BrokerStateChanged, self.id, state)

    def _zookeeper_is_back(self) -> None:
        self.registration.zookeeper_is_back()

    def session_expired(self) -> None:
        """Begin a new session.

        Resign as controller, register again, take part in the next election.
        """
        self.controller.resign("session expired")
        self.registration.register_again()

    def end_process(self, state: str) -> None:
        """The process is gone: only what is on disk stays."""
        mine = self.state
        mine.clean_shutdown = state == "stopped"
        for tp, replica in mine.replicas.items():
            if replica.role != OFFLINE:
                self.kernel.emit(events.ReplicaRoleChanged, tp, self.id, OFFLINE, -1, -1)
            replica.forget()
        _reset(mine.process, ProcessState(mine.id))
        _reset(mine.controllership, Controllership())
        _reset(mine.coordinator, CoordinatorState())
        kept = ("process", "replicas", "clean_shutdown", "controllership", "coordinator")
        fresh = BrokerState(mine.process)
        for name in mine.__struct_fields__:
            if name not in kept:
                setattr(mine, name, getattr(fresh, name))
        self.set_state(state)
        self.kernel.end_host(self.id)
        self.world.network.host_ended(self.id)

    def led(self) -> list[Replica]:
        """The replicas that this broker leads."""
        return [r for r in self.state.replicas.values() if r.role == LEADER]

    def log_of(self, tp: str) -> tuple[Log, int]:
        """This broker's log of a partition, and its high watermark."""
        replica = self.state.replicas[tp]
        return replica.log, replica.high_watermark


def _reset(state: Struct, fresh: Struct) -> None:
    """Make a struct that others hold what ``fresh`` is."""
    for name in state.__struct_fields__:
        now, new = getattr(state, name), getattr(fresh, name)
        if isinstance(now, Struct) and isinstance(new, Struct):
            _reset(now, new)
        else:
            setattr(state, name, new)
