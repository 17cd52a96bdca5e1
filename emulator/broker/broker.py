"""A broker: one process with its replicas, its fetchers, its ZooKeeper session and its coordinator.

The parts only know the layers below them. This module wires them together and dispatches messages
and timers to them.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from emulator import events
from emulator import protocol as messages
from emulator.broker.membership import ProducerIdBlock
from emulator.broker.replication.consumer_fetch import ConsumerReads
from emulator.broker.replication.delayed_delete_records import DelayedDeletes
from emulator.broker.replication.delayed_produce import DelayedProduces
from emulator.broker.replication.fetch_manager import FetchManager, FetchSessionCache
from emulator.broker.replication.fetch_round import SingleRounds
from emulator.broker.replication.fetch_session import FetchSessions, FetchSessionsState
from emulator.broker.replication.fetcher import FetcherManager, FetchersState
from emulator.broker.replication.isr_manager import IsrManager, IsrManagerState
from emulator.broker.replication.log_retention import LogRetention, RetentionState
from emulator.broker.replication.partition_locks import (
    BEHIND_LOCKS,
    STATE_CHANGE,
    LocksState,
    PartitionLocks,
)
from emulator.broker.replication.purgatory import PurgatoryState
from emulator.broker.replication.replica import Replica, ReplicaIndex, Replicas
from emulator.broker.replication.replica_manager import ReplicaManager, ReplicaManagerState
from emulator.broker.transactions.add_partitions_to_txn_manager import (
    AddPartitionsToTxnManager,
    VerificationState,
)
from emulator.broker.transactions.transaction_marker_writer import MarkerWriter, MarkerWriterState
from emulator.broker.zookeeper_membership.admin_manager import AdminRequestsState, ZkAdminManager
from emulator.broker.zookeeper_membership.dynamic_config import DynamicConfig
from emulator.broker.zookeeper_membership.lifecycle import Lifecycle, LifecycleState
from emulator.broker.zookeeper_membership.metadata_cache import MetadataCache
from emulator.broker.zookeeper_membership.producer_ids import ProducerIds
from emulator.broker_context import BrokerContext, ProcessState, Surroundings
from emulator.controller.context import Controllership, ControllerState
from emulator.controller.controller import Controller
from emulator.coordinator import internal_topics
from emulator.coordinator.group_coordinator import GroupCoordinator
from emulator.coordinator.groups import CoordinatorState
from emulator.coordinator.own_requests import OwnRequests, OwnRequestsState
from emulator.coordinator.transaction_coordinator import TransactionCoordinator
from emulator.coordinator.transaction_log import TransactionLog
from emulator.coordinator.transaction_markers import TransactionMarkers
from emulator.coordinator.transaction_metadata import TransactionCoordinatorState
from emulator.events import ZOOKEEPER
from emulator.protocol import AnyMessage
from emulator.replication.partition import BeginLeading, End, StopLeading
from emulator.simulation.network import LATENCY_MIN_US

Handler = Callable[[int, Any], None]
"""Handles a message of one type from a source."""


class BrokerState(Struct, array_like=True):
    """The complete state of a broker, grouped by part.

    ``replicas`` includes what is on disk; everything else is lost when the process ends.
    ``clean_shutdown`` is what the disk records about how the last process ended.
    """

    process: ProcessState
    replicas: dict[str, Replica] = field(default_factory=dict)
    clean_shutdown: bool = True
    index: ReplicaIndex = field(default_factory=ReplicaIndex)
    requests: ReplicaManagerState = field(default_factory=ReplicaManagerState)
    produces: PurgatoryState = field(default_factory=PurgatoryState)
    locks: LocksState = field(default_factory=LocksState)
    fetch_sessions: FetchSessionsState = field(default_factory=FetchSessionsState)
    fetchers: FetchersState = field(default_factory=FetchersState)
    isr: IsrManagerState = field(default_factory=IsrManagerState)
    lifecycle: LifecycleState = field(default_factory=LifecycleState)
    producer_ids: ProducerIdBlock = field(default_factory=ProducerIdBlock)
    controllership: Controllership = field(default_factory=Controllership)
    coordinator: CoordinatorState = field(default_factory=CoordinatorState)
    consumer_fetches: PurgatoryState = field(default_factory=PurgatoryState)
    admin_requests: AdminRequestsState = field(default_factory=AdminRequestsState)
    own_requests: OwnRequestsState = field(default_factory=OwnRequestsState)
    transactions: TransactionCoordinatorState = field(default_factory=TransactionCoordinatorState)
    markers: MarkerWriterState = field(default_factory=MarkerWriterState)
    retention: RetentionState = field(default_factory=RetentionState)
    fetch_cache: FetchSessionCache = field(default_factory=FetchSessionCache)
    verification: VerificationState = field(default_factory=VerificationState)
    deletes: PurgatoryState = field(default_factory=PurgatoryState)

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
        """The id of its ZooKeeper session; 0 if it has none."""
        return self.process.zk.session

    @property
    def broker_epoch(self) -> int:
        """The czxid of its registration; 0 if it has not registered since it was started."""
        return self.process.broker_epoch

    @property
    def controller(self) -> ControllerState | None:
        """The controller's cache, if this broker is (or believes to be) the controller."""
        return self.controllership.state


class Broker:
    """A broker's behaviour: it handles messages and acts through its context."""

    def __init__(self, state: BrokerState, surroundings: Surroundings) -> None:
        """Act on ``state`` in ``surroundings``."""
        self.state = state
        self.id = state.id
        self._process = state.process
        self.kernel = surroundings.kernel
        self.context = context = BrokerContext(state.process, surroundings)
        self.zk = context.zk
        self.replicas = Replicas(context, state.replicas, state.index)
        self.produces = DelayedProduces(context, state.produces, self.replicas)
        self.locks = PartitionLocks(context, state.locks, self._session_partitions)
        self.sessions = FetchSessions(context, state.fetch_sessions, self.replicas, self.locks)
        self.reads = ConsumerReads(
            context,
            state.consumer_fetches,
            replicas=self.replicas,
            sessions=self.sessions,
            manager=FetchManager(context, state.fetch_cache, self.sessions.last_fetches),
        )
        self.fetchers = FetcherManager(context, state.fetchers, self.replicas)
        self.rounds = SingleRounds(self.fetchers)
        self.isr = IsrManager(
            context,
            state.isr,
            self.replicas,
            session_fetches=self.sessions.session_fetches,
            last_fetches=self.sessions.last_fetches,
            locks=self.locks,
        )
        self.replica_manager = ReplicaManager(
            context,
            state.requests,
            replicas=self.replicas,
            produces=self.produces,
            deletes=DelayedDeletes(context, state.deletes, self.replicas, self.sessions),
            sessions=self.sessions,
            fetchers=self.fetchers,
            locks=self.locks,
        )
        self.admin = ZkAdminManager(
            context, state.admin_requests, lambda: self.controller.state is not None
        )
        self.metadata = MetadataCache(
            context, self.isr.controller_known, self.admin.create_automatically
        )
        self.producer_ids = ProducerIds(context, state.producer_ids)
        self.controller = Controller(context, state.controllership, self.isr.controller_known)
        self.own_requests = OwnRequests(state.own_requests)
        self.verifier = AddPartitionsToTxnManager(
            context, state.verification, self.own_requests, self.replicas, self._append_own
        )
        self.coordinator = GroupCoordinator(
            context,
            state.coordinator,
            self.own_requests,
            append=self.verifier.produce,
            log_of=self.replica_manager.log_of,
        )
        self.markers = MarkerWriter(
            context, state.markers, self.own_requests, self.replicas, self._append_own
        )
        self.transactions = TransactionCoordinator(
            context,
            state.transactions,
            self.own_requests,
            log=TransactionLog(
                context,
                state.transactions,
                self.own_requests,
                append=self._append_own,
                log_of=self.replica_manager.log_of,
            ),
            ask_producer_id=self._give_producer_id,
            leader_epoch=lambda tp: self.replicas.by_name[tp].leader_epoch,
            group_partition=self.coordinator.partition_of,
            markers=TransactionMarkers(
                context, state.transactions, self.own_requests, self.markers.write
            ),
        )
        self.retention = LogRetention(context, state.retention, self.replicas)
        self.config = DynamicConfig(context, self.controller.config_changed)
        self.lifecycle = Lifecycle(
            context,
            state.lifecycle,
            replicas=self.replicas,
            locks=self.locks,
            config=self.config,
            producer_ids=self.producer_ids,
            controller=self.controller,
            start_tasks=self.start_tasks,
            end_process=self.end_process,
        )
        self._connect_parts()
        self._unlocked = self._table()
        self._closed = self._unlocked | dict.fromkeys(messages.REQUESTS, self._refuse)
        self._behind_locks = self._unlocked | dict.fromkeys(BEHIND_LOCKS, self._take_in_turn)
        self._handlers = self._unlocked
        self._locks_changed()
        self._tasks = self._task_table()

    def _connect_parts(self) -> None:
        """Subscribe the parts to each other's events."""
        replicas, coordinator = self.replicas, self.coordinator
        replicas.on(BeginLeading, lambda replica, _: self._coordinates(replica.tp))
        replicas.on(StopLeading, lambda replica, _: self._coordinates_no_more(replica.tp))
        self.context.own_response = self.own_requests.receive
        self.markers.ended = lambda tp, producer_id, commit: coordinator.offsets.transaction_ended(
            tp, producer_id, commit=commit
        )
        self.verifier.ask = self.transactions.add_partitions
        self.verifier.partition_of = self.transactions.log.partition_of
        self.fetchers.on_halt = self._halt
        self.locks.on_change = self._locks_changed
        self.replica_manager.on_fetchers_shut_down = self._go_on
        self.lifecycle.on_sockets_closed = self._locks_changed
        self.zk.on_reconnected = self.lifecycle.zookeeper_is_back
        self.replica_manager.log_created = self.config.log_created
        self.zk.on_expired = self._session_expired
        self.controller.register_again = self.lifecycle.register_again

    # ---- start and stop

    def start(self) -> None:
        """Start the process."""
        self.lifecycle.start()

    def stop(self) -> None:
        """Begin a controlled shutdown."""
        self.lifecycle.stop()

    @property
    def takes_requests(self) -> bool:
        """Whether its sockets are open: from its first registration until it shuts down."""
        return self._process.broker_epoch > 0 and not self.state.lifecycle.sockets_closed

    # ---- dispatch

    def handle(self, source: int, message: AnyMessage) -> None:
        """Handle one message; requests are accepted from the first registration on."""
        if self._process.broker_epoch or not isinstance(message, messages.REQUESTS):
            self._handlers[type(message)](source, message)
        else:
            self._refuse(source, message)

    def _refuse(self, source: int, _message: AnyMessage) -> None:
        """Refuse the connection: no process is listening."""
        kernel = self.kernel
        refused = messages.ConnectionLost(self.id, kernel.cause)
        kernel.schedule(kernel.now + LATENCY_MIN_US, source, refused, kernel.cause, self.id)

    # ---- requests waiting for a partition's lock

    def _session_partitions(self, follower: int) -> dict[str, messages.FetchPartition]:
        session = self.state.fetch_sessions.by_follower.get(follower)
        return {} if session is None else session.partitions

    def _locks_changed(self) -> None:
        """Check the locks before a request is handled, but only while any is held.

        Once the sockets are closed no request is accepted; those accepted before are still handled.
        """
        state = self.state.locks
        if self.state.lifecycle.sockets_closed:
            self._handlers = self._closed
        elif state.held or state.waiting or state.fetchers:
            self._handlers = self._behind_locks
        else:
            self._handlers = self._unlocked

    def _take_in_turn(self, source: int, message: AnyMessage) -> None:
        if self.locks.blocks(source, message):
            self.locks.wait(source, self.kernel.cause, message)
        else:
            self._unlocked[type(message)](source, message)

    def _append_own(self, client: int, request: int, message: messages.ProduceRequest) -> None:
        """Append the broker's own records (of groups), which wait for locks as producers' do."""
        if self.state.locks.held and self.locks.blocks(client, message):
            self.locks.wait(client, request, message)
        else:
            self.replica_manager.produce(client, request, message)

    def _coordinates(self, tp: str) -> None:
        if internal_topics.is_internal(tp):
            self.coordinator.leads(tp)
            self.transactions.leads(tp)

    def _coordinates_no_more(self, tp: str) -> None:
        self.coordinator.leads_no_more(tp)
        self.transactions.leads_no_more(tp)

    def _give_producer_id(
        self, client: int, request: int, message: messages.InitProducerIdRequest
    ) -> None:
        self.producer_ids.give_out(client, request, message)

    def _init_producer_id(
        self, client: int, request: int, message: messages.InitProducerIdRequest
    ) -> None:
        """Answer through the coordinator for a transactional id; otherwise give out any new id."""
        if message.transactional_id:
            self.transactions.init_producer_id(client, request, message)
        else:
            self._give_producer_id(client, request, message)

    def _find_coordinator(
        self, client: int, request: int, message: messages.FindCoordinatorRequest
    ) -> None:
        coordinator = self.transactions if message.is_transaction else self.coordinator
        coordinator.find(client, request, message)

    def _go_on(self) -> None:
        """Handle the requests whose locks are free by now, then check the locks again."""
        kernel = self.kernel
        cause = kernel.cause
        for source, request, message in self.locks.freed():
            kernel.cause = request
            self._take_in_turn(source, message)
        kernel.cause = cause
        self._locks_changed()

    def _retry_isr_writes(self) -> None:
        expired = self.locks.expiring
        self.isr.write_again()
        if expired and not self.locks.expiring:
            self.isr.expire()
        self._go_on()

    # ---- dispatch table

    def _table(self) -> dict[type, Handler]:
        def request(method: Callable[[int, int, Any], None]) -> Handler:
            return lambda source, message: method(source, self.kernel.cause, message)

        def on_response(_source: int, message: messages.ControlResponse) -> None:
            self.controller.on_response(message)

        replica_manager, coordinator = self.replica_manager, self.coordinator
        transactions = self.transactions
        return {
            messages.FetchRequest: self._fetch,
            messages.ProduceRequest: request(self.verifier.produce),
            messages.InitProducerIdRequest: request(self._init_producer_id),
            messages.AddPartitionsToTxnRequest: request(transactions.add_partitions),
            messages.AddOffsetsToTxnRequest: request(transactions.add_offsets),
            messages.EndTxnRequest: request(transactions.end),
            messages.DescribeTransactionsRequest: request(transactions.describe),
            messages.DescribeProducersRequest: request(replica_manager.describe_producers),
            messages.TxnOffsetCommitRequest: request(coordinator.commit_in_transaction),
            messages.WriteTxnMarkersRequest: request(self.markers.write),
            messages.WriteTxnMarkersResponse: lambda _source, message: transactions.marked(
                message.request, message
            ),
            messages.AddPartitionsToTxnResponse: lambda _source, message: self.verifier.on_response(
                message.request, message
            ),
            messages.DescribeLogDirsRequest: request(replica_manager.describe_log_dirs),
            messages.AlterReplicaLogDirsRequest: request(replica_manager.alter_log_dirs),
            messages.DeleteRecordsRequest: request(replica_manager.delete_records),
            messages.OffsetsForLeaderEpochRequest: request(
                replica_manager.offsets_for_leader_epoch
            ),
            messages.ListOffsetsRequest: self._list_offsets,
            messages.MetadataRequest: request(self.metadata.describe_topic),
            messages.LeaderAndIsrRequest: request(replica_manager.leader_and_isr),
            messages.StopReplicaRequest: request(replica_manager.stop_replica),
            messages.UpdateMetadataRequest: self._update_metadata,
            messages.ClusterMetadataRequest: request(self.metadata.describe_cluster),
            messages.ApiVersionsRequest: request(self.metadata.describe_features),
            messages.CreateTopicsRequest: request(self.admin.create_topics),
            messages.CreatePartitionsRequest: request(self.admin.create_partitions),
            messages.DeleteTopicsRequest: request(self.admin.delete_topics),
            messages.DescribeConfigsRequest: request(self.admin.describe_configs),
            messages.AlterConfigsRequest: request(self.admin.alter_configs),
            messages.IncrementalAlterConfigsRequest: request(self.admin.alter_broker_configs),
            messages.ControlledShutdownRequest: request(self.controller.controlled_shutdown),
            messages.AlterPartitionRequest: request(self.controller.alter_partition),
            messages.DescribeClusterRequest: request(self.controller.describe_cluster),
            messages.ElectLeadersRequest: request(self.controller.elect_leaders),
            messages.AlterPartitionReassignmentsRequest: request(
                self.controller.alter_reassignments
            ),
            messages.ListPartitionReassignmentsRequest: request(self.controller.list_reassignments),
            messages.OffsetDeleteRequest: request(coordinator.delete_offsets),
            messages.FindCoordinatorRequest: request(self._find_coordinator),
            messages.JoinGroupRequest: request(coordinator.join),
            messages.SyncGroupRequest: request(coordinator.sync),
            messages.HeartbeatRequest: request(coordinator.heartbeat),
            messages.LeaveGroupRequest: request(coordinator.leave),
            messages.OffsetCommitRequest: request(coordinator.commit),
            messages.OffsetFetchRequest: request(coordinator.committed),
            messages.DescribeGroupsRequest: request(coordinator.describe),
            messages.DeleteGroupsRequest: request(coordinator.delete),
            messages.FetchResponse: self._fetched,
            messages.OffsetsForLeaderEpochResponse: self._on_epoch_response,
            messages.ListOffsetsResponse: self._on_ends_response,
            messages.LeaderAndIsrResponse: on_response,
            messages.StopReplicaResponse: on_response,
            messages.UpdateMetadataResponse: on_response,
            messages.AlterPartitionResponse: lambda _source, message: self.isr.on_response(message),
            messages.ControlledShutdownResponse: lambda _source, message: (
                self.lifecycle.on_shutdown_response(message)
            ),
            messages.ZkPong: lambda _source, message: self.zk.ponged(message),
            messages.ZkExpired: lambda _source, message: self.zk.expired(message),
            messages.WatchEvent: lambda _source, message: self.lifecycle.watched(message),
            messages.ConnectionLost: self._connection_lost,
            messages.Timer: self._timer,
        }

    def _task_table(self) -> dict[str, Callable[[], None]]:
        return {
            "boot": self.lifecycle.boot,
            "register": self.lifecycle.register,
            "zk-ping": self.zk.ping,
            "fetch-timeout": self.sessions.parked.expire,
            "consumer-fetch-timeout": self.reads.delayed.expire,
            "produce-timeout": self.produces.purgatory.expire,
            "delete-records-timeout": self.replica_manager.deletes.purgatory.expire,
            "fetch-backoff": self.fetchers.resume,
            "socket-timeout": self.fetchers.check_timeouts,
            "isr-expiration": self._expire_isr,
            "checkpoint": self._checkpoint,
            "recovery-checkpoint": self._checkpoint_recovery_points,
            "isr-write": self._retry_isr_writes,
            "isr-propagation": self.isr.propagate_changes,
            "alter-partition": self.isr.send_pending,
            "alter-partition-timeout": self.isr.check_timeout,
            "close-sockets": self.lifecycle.close_sockets,
            "close-fetchers": self._close_fetchers,
            "shutdown-retry": self.lifecycle.ask_to_leave,
            "shutdown-timeout": self.lifecycle.check_timeout,
            "controller-retry": self.controller.retry,
            "control-retry": self.controller.channels.retry,
            "control-timeout": self.controller.check_timeouts,
            "rebalance": self.controller.rebalance,
            "groups": self.coordinator.tick,
            "transactions": self.transactions.tick,
            "transaction-verification": self.verifier.expire,
            "admin-timeout": self.admin.expire,
        }

    def _timer(self, _source: int, message: messages.Timer) -> None:
        if self.context.timers.is_due(message):
            self._tasks[message.task]()

    def _fetch(self, source: int, message: messages.FetchRequest) -> None:
        """Handle a fetch from a follower, or (replica -1) from a consumer."""
        if message.replica < 0:
            self.reads.fetch(source, self.kernel.cause, message)
        else:
            self.sessions.fetch(source, self.kernel.cause, message)

    def _list_offsets(self, source: int, message: messages.ListOffsetsRequest) -> None:
        """Answer an out-of-range follower, or (replica -1) a consumer looking up an offset."""
        manager, reads = self.replica_manager, self.reads
        list_offsets = reads.list_offsets if message.replica < 0 else manager.list_offsets
        list_offsets(source, self.kernel.cause, message)

    def _update_metadata(self, source: int, message: messages.UpdateMetadataRequest) -> None:
        going = self.metadata.update(source, self.kernel.cause, message)
        self.replicas.index.unannounced.clear()
        if going:
            self.sessions.read_again(going)
        if self.state.admin_requests.delayed:
            self.admin.metadata_changed()

    def _fetched(self, source: int, message: messages.FetchResponse) -> None:
        if message.request in self.state.fetchers.single_rounds:
            self.rounds.fetched(message)
        else:
            self.fetchers.fetched(source, message)

    def _on_epoch_response(
        self, source: int, message: messages.OffsetsForLeaderEpochResponse
    ) -> None:
        if self.rounds.is_round(message.request):
            self.rounds.on_epoch_response(message)
        else:
            self.fetchers.on_epoch_response(source, message)

    def _on_ends_response(self, source: int, message: messages.ListOffsetsResponse) -> None:
        if self.rounds.is_round(message.request):
            self.rounds.on_ends_response(message)
        else:
            self.fetchers.on_ends_response(source, message)

    def _connection_lost(self, _source: int, message: messages.ConnectionLost) -> None:
        peer = message.peer
        if peer >= 0:
            self.fetchers.connection_lost(peer)
            self.rounds.connection_lost(peer)
            self.isr.connection_lost(peer)
            self.transactions.connection_lost(message)
            self.verifier.connection_lost(message)
            self.controller.connection_lost(peer, message.request)
            self.lifecycle.connection_lost(peer)
            if not message.request:  # it accepts no more requests, but may still fetch itself
                self.sessions.connection_lost(peer)
        elif peer == ZOOKEEPER:
            self.zk.connection_lost()

    # ---- periodic tasks

    def start_tasks(self) -> None:
        """Start the periodic tasks (in stepwise mode they run by `tick` only)."""
        self.isr.start()
        if self.context.stepwise:
            return
        self.context.later("isr-expiration", self.isr.period_us())
        self.context.later("checkpoint", self._checkpoint_us())
        self.context.later("recovery-checkpoint", RECOVERY_DELAY_US)

    def _checkpoint_us(self) -> int:
        return self.context.config.high_watermark_checkpoint_interval_us

    def _expire_isr(self) -> None:
        self.kernel.cause = 0  # a periodic task is its own cause
        if not self.state.lifecycle.sockets_closed:
            self.isr.expire()
            self.context.later("isr-expiration", self.isr.period_us())

    def _close_fetchers(self) -> None:
        """End the process once the last requests of its idle fetchers have completed."""
        if self.fetchers.hangs():
            return
        if self.state.locks.fetchers:
            self.context.later("close-fetchers", CLOSE_RETRY_US)
        else:
            self.lifecycle.end()

    def _checkpoint(self) -> None:
        self.kernel.cause = 0
        self.replicas.checkpoint_high_watermarks()
        self.retention.look()
        self.context.later("checkpoint", self._checkpoint_us())

    def _checkpoint_recovery_points(self) -> None:
        self.kernel.cause = 0
        self.replicas.checkpoint_recovery_points()
        interval_us = self.context.config.recovery_point_checkpoint_interval_us
        self.context.later("recovery-checkpoint", interval_us)

    # ---- the process

    def _session_expired(self) -> None:
        """Start a new session: resign as controller, register again, stand for election."""
        if self.state.lifecycle.closes_session:
            self.lifecycle.end()
            return
        if self.state.locks.held:
            self.isr.session_expired()
            self._go_on()
        self.controller.session_expired()
        self.lifecycle.session_expired()
        if self.state.locks.held and self.zk.usable():
            self._retry_isr_writes()

    def _halt(self) -> None:
        """End because a follower may not truncate: at once, or from 0.10.0.1 on in order.

        Before 0.11 the thread that began this holds on to the locks of its fetcher. No request of
        the controller gets past them, and the shutdown waits for the thread for ever.
        """
        if not self.context.profile.has("fatal_fetch_error_exits_in_order"):
            self.end_process("crashed")
        elif self._process.status == "running":
            if self.fetchers.exited_is_awaited:
                self.locks.hold_fetchers(STATE_CHANGE)
            self.stop()

    def thaw(self) -> None:
        """Continue after a freeze with the messages that were received meanwhile.

        Fetches that timed out during the freeze are given up before their responses are read:
        continuing a stopped process interrupts its wait for the network, so its clients see the
        timeouts first (``NetworkClient.poll``; seen in 0.10.2.2, 2.4.1, 3.9.2 and 4.1.2).
        """
        if self.context.profile.has("timeouts_precede_responses"):
            self.fetchers.check_timeouts()
        self.kernel.thaw_host(self.id)

    def replace_disk(self) -> None:
        """Give a process that is down a new, empty disk."""
        for tp in self.state.replicas:
            self.kernel.emit(events.LogDeleted, tp, self.id)
        self.state.replicas.clear()

    def end_process(self, status: str) -> None:
        """Discard the process's state: only what is on disk survives."""
        mine = self.state
        mine.clean_shutdown = status == "stopped"
        for replica in mine.replicas.values():
            self.replicas.do(replica, End())
        fresh = BrokerState(ProcessState(mine.id))
        for name in mine.__struct_fields__:
            if name not in ON_DISK:
                _reset(getattr(mine, name), getattr(fresh, name))
        self._locks_changed()
        self.context.set_status(status)
        self.kernel.end_host(self.id)
        self.context.network.host_ended(self.id)


RECOVERY_DELAY_US = 30_000_000
"""When a process writes its recovery points for the first time (LogManager.InitialTaskDelayMs)."""
CLOSE_RETRY_US = 10_000
"""How often a process that is shutting down checks whether its idle fetchers have ended."""

ON_DISK = ("replicas", "clean_shutdown")
"""The fields of :class:`BrokerState` that outlive the process."""


def _reset(state: Struct, fresh: Struct) -> None:
    """Overwrite a struct in place with the fields of ``fresh``, keeping references to it valid."""
    for name in state.__struct_fields__:
        now, new = getattr(state, name), getattr(fresh, name)
        if isinstance(now, Struct) and isinstance(new, Struct):
            _reset(now, new)
        else:
            setattr(state, name, new)
