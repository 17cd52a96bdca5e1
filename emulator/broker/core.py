"""The core of a broker: what is the same however it belongs to its cluster.

It replicates partitions, serves clients, and coordinates groups and transactions.
"""

from msgspec import Struct, field

from emulator import protocol as messages
from emulator.broker.membership import Handler, ProducerIdSource, Task, reset
from emulator.broker.replication.consumer_fetch import ConsumerReads
from emulator.broker.replication.delayed_delete_records import DelayedDeletes
from emulator.broker.replication.delayed_produce import DelayedProduces
from emulator.broker.replication.fetch_manager import FetchManager, FetchSessionCache
from emulator.broker.replication.fetch_round import SingleRounds
from emulator.broker.replication.fetch_session import FetchSessions, FetchSessionsState
from emulator.broker.replication.fetcher import FetcherManager, FetchersState
from emulator.broker.replication.isr_manager import IsrManager
from emulator.broker.replication.log_retention import LogRetention, RetentionState
from emulator.broker.replication.log_segments import LogSegments
from emulator.broker.replication.partition_locks import LocksState, PartitionLocks
from emulator.broker.replication.purgatory import DelayedOperations, PurgatoryState
from emulator.broker.replication.replica import Replica, ReplicaIndex, Replicas
from emulator.broker.replication.replica_manager import ReplicaManager
from emulator.broker.share.dead_letters import DeadLetterQueues
from emulator.broker.share.share_partition_manager import LOCKS, SharePartitionManager, ShareState
from emulator.broker.transactions.add_partitions_to_txn_manager import (
    AddPartitionsToTxnManager,
    VerificationState,
)
from emulator.broker.transactions.transaction_marker_writer import MarkerWriter, MarkerWriterState
from emulator.broker_context import CLOSED, BrokerContext
from emulator.broker_effects import CoordinatorAsked, ProcessStarted
from emulator.coordinator import internal_topics
from emulator.coordinator.group_coordinator import GroupCoordinator
from emulator.coordinator.groups import CoordinatorState
from emulator.coordinator.own_requests import OwnRequests, OwnRequestsState
from emulator.coordinator.share_coordinator import ShareCoordinator, ShareCoordinatorState
from emulator.coordinator.share_persister import PersisterState, SharePersister
from emulator.coordinator.transaction_coordinator import TransactionCoordinator
from emulator.coordinator.transaction_metadata import TransactionCoordinatorState
from emulator.replication.partition import BeginLeading, End, StopLeading


class CoreState(Struct, array_like=True):
    """The state of a broker's core, grouped by part.

    ``replicas`` includes what is on disk, and ``clean_shutdown`` is what the disk records about how
    the last process ended; everything else is lost when the process ends.
    """

    replicas: dict[str, Replica] = field(default_factory=dict)
    clean_shutdown: bool = True
    index: ReplicaIndex = field(default_factory=ReplicaIndex)
    produces: PurgatoryState = field(default_factory=PurgatoryState)
    locks: LocksState = field(default_factory=LocksState)
    fetch_sessions: FetchSessionsState = field(default_factory=FetchSessionsState)
    fetchers: FetchersState = field(default_factory=FetchersState)
    coordinator: CoordinatorState = field(default_factory=CoordinatorState)
    consumer_fetches: PurgatoryState = field(default_factory=PurgatoryState)
    own_requests: OwnRequestsState = field(default_factory=OwnRequestsState)
    transactions: TransactionCoordinatorState = field(default_factory=TransactionCoordinatorState)
    markers: MarkerWriterState = field(default_factory=MarkerWriterState)
    retention: RetentionState = field(default_factory=RetentionState)
    fetch_cache: FetchSessionCache = field(default_factory=FetchSessionCache)
    verification: VerificationState = field(default_factory=VerificationState)
    deletes: PurgatoryState = field(default_factory=PurgatoryState)
    share_coordinator: ShareCoordinatorState = field(default_factory=ShareCoordinatorState)
    persister: PersisterState = field(default_factory=PersisterState)
    shares: ShareState = field(default_factory=ShareState)

    def end_process(self) -> None:
        """Discard what is not on disk."""
        fresh = CoreState(self.replicas, self.clean_shutdown)
        for name in self.__struct_fields__:
            if name not in ON_DISK:
                reset(getattr(self, name), getattr(fresh, name))


RECOVERY_DELAY_US = 30_000_000
"""When a process writes its recovery points for the first time (LogManager.InitialTaskDelayMs)."""
ON_DISK = ("replicas", "clean_shutdown")
"""The fields of :class:`CoreState` that outlive the process."""


class Core:
    """A broker's replicas, its fetchers, its coordinators, and the requests to them."""

    def __init__(
        self,
        context: BrokerContext,
        state: CoreState,
        own_requests: OwnRequests,
        producer_ids: ProducerIdSource,
    ) -> None:
        """Act in ``context``; ``producer_ids`` allocates producers' ids."""
        self.context = context
        self.state = state
        self.kernel = context.kernel
        self.producer_ids = producer_ids
        self.replicas = replicas = Replicas(context, state.replicas, state.index)
        self.produces = DelayedProduces(context, state.produces, replicas)
        self.deletes = DelayedDeletes(context, state.deletes, replicas, state.fetch_sessions)
        self.locks = PartitionLocks(context, state.locks, state.fetch_sessions.partitions_of)
        self.sessions = FetchSessions(
            context,
            state.fetch_sessions,
            replicas,
            self.locks,
            deletes=self.deletes.purgatory,
        )
        segments = LogSegments(context)
        self.reads = ConsumerReads(
            context,
            state.consumer_fetches,
            replicas=replicas,
            sessions=self.sessions,
            manager=FetchManager(context, state.fetch_cache, self.sessions.last_fetches),
            segments=segments,
        )
        self.fetchers = FetcherManager(context, state.fetchers, replicas)
        self.rounds = SingleRounds(self.fetchers)
        self.isr = IsrManager(
            context,
            replicas,
            session_fetches=self.sessions.session_fetches,
            last_fetches=self.sessions.last_fetches,
            locks=self.locks,
        )
        self.replica_manager = manager = ReplicaManager(
            context,
            replicas=replicas,
            produces=self.produces,
            deletes=self.deletes,
            sessions=self.sessions,
            locks=self.locks,
        )
        self.retention = LogRetention(context, state.retention, replicas, segments)
        self.verifier = AddPartitionsToTxnManager(
            context,
            state.verification,
            own_requests,
            replicas,
            append=manager.append_own,
            partition_of=lambda transactional_id: internal_topics.partition_of(
                context, internal_topics.TRANSACTIONS, state.transactions, transactional_id
            ),
        )
        self.share_coordinator = ShareCoordinator(
            context,
            state.share_coordinator,
            own_requests,
            append=manager.append_own,
            log_of=manager.log_of,
        )
        self.persister = SharePersister(
            context, state.persister, own_requests, self.share_coordinator.handle
        )
        self.dead_letters = DeadLetterQueues(
            context,
            state.shares.letters,
            own_requests,
            append=manager.append_own,
            log_of=manager.log_of,
        )
        self.shares = SharePartitionManager(
            context,
            state.shares,
            replicas=replicas,
            persister=self.persister,
            queues=self.dead_letters,
            end_after=segments.end_after,
            offset_since=self.reads.offset_since,
        )
        self.delayed = DelayedOperations(
            self.produces.purgatory, (self.reads.delayed, self.shares.delayed)
        )
        self.coordinator = GroupCoordinator(
            context,
            state.coordinator,
            own_requests,
            self.persister,
            append=self.verifier.produce,
            log_of=manager.log_of,
        )
        offsets = self.coordinator.offsets
        self.markers = MarkerWriter(
            context,
            state.markers,
            own_requests,
            replicas,
            append=manager.append_own,
            ended=lambda tp, producer_id, commit: offsets.transaction_ended(
                tp, producer_id, commit=commit
            ),
        )
        self.transactions = TransactionCoordinator(
            context,
            state.transactions,
            own_requests,
            append=manager.append_own,
            log_of=manager.log_of,
            write_markers=self.markers.write,
            ask_producer_id=producer_ids.give_out,
            leader_epoch=lambda tp: replicas.by_name[tp].leader_epoch,
            group_partition=self.coordinator.partition_of,
        )

    # ---- dispatch

    def requests(self) -> dict[type, Handler]:
        manager, coordinator, transactions = (
            self.replica_manager,
            self.coordinator,
            self.transactions,
        )
        return {
            messages.FetchRequest: self._fetch,
            # Every produce request passes the transaction verifier: since 3.6 a leader asks the
            # coordinator before it appends the first record of a transaction that it does not
            # know (KIP-890). All others the verifier appends at once.
            messages.ProduceRequest: self.verifier.produce,
            messages.InitProducerIdRequest: self._init_producer_id,
            messages.AddPartitionsToTxnRequest: transactions.add_partitions,
            messages.AddOffsetsToTxnRequest: transactions.add_offsets,
            messages.EndTxnRequest: transactions.end,
            messages.DescribeTransactionsRequest: transactions.describe,
            messages.DescribeProducersRequest: manager.describe_producers,
            messages.TxnOffsetCommitRequest: coordinator.commit_in_transaction,
            messages.WriteTxnMarkersRequest: self.markers.write,
            messages.DescribeLogDirsRequest: manager.describe_log_dirs,
            messages.AlterReplicaLogDirsRequest: manager.alter_log_dirs,
            messages.DeleteRecordsRequest: manager.delete_records,
            messages.OffsetsForLeaderEpochRequest: manager.offsets_for_leader_epoch,
            messages.ListOffsetsRequest: self._list_offsets,
            messages.OffsetDeleteRequest: coordinator.delete_offsets,
            messages.FindCoordinatorRequest: self._find_coordinator,
            messages.JoinGroupRequest: coordinator.join,
            messages.SyncGroupRequest: coordinator.sync,
            messages.HeartbeatRequest: coordinator.heartbeat,
            messages.LeaveGroupRequest: coordinator.leave,
            messages.OffsetCommitRequest: coordinator.commit,
            messages.OffsetFetchRequest: coordinator.committed,
            messages.DescribeGroupsRequest: coordinator.describe,
            messages.DeleteGroupsRequest: coordinator.delete,
            messages.ConsumerGroupHeartbeatRequest: coordinator.consumer_heartbeat,
            messages.ConsumerGroupDescribeRequest: coordinator.describe_consumer_groups,
            messages.ShareGroupHeartbeatRequest: coordinator.share_heartbeat,
            messages.ShareGroupDescribeRequest: coordinator.describe_share_groups,
            messages.DescribeShareGroupOffsetsRequest: coordinator.describe_share_offsets,
            messages.AlterShareGroupOffsetsRequest: coordinator.alter_share_offsets,
            messages.DeleteShareGroupOffsetsRequest: coordinator.delete_share_offsets,
            messages.ShareFetchRequest: self.shares.fetch,
            messages.ShareAcknowledgeRequest: self.shares.acknowledge,
            messages.ConnectionClosed: self.shares.disconnected,
            messages.InitializeShareGroupStateRequest: self.share_coordinator.handle,
            messages.ReadShareGroupStateRequest: self.share_coordinator.handle,
            messages.WriteShareGroupStateRequest: self.share_coordinator.handle,
            messages.DeleteShareGroupStateRequest: self.share_coordinator.handle,
            messages.ReadShareGroupStateSummaryRequest: self.share_coordinator.handle,
            messages.ShareGroupStateResponse: self.persister.on_response,
            messages.ProduceResponse: self.dead_letters.on_response,
            messages.WriteTxnMarkersResponse: self._markers_written,
            messages.AddPartitionsToTxnResponse: self._partitions_added,
            messages.FetchResponse: self._fetched,
            messages.OffsetsForLeaderEpochResponse: self._on_epoch_response,
            messages.ListOffsetsResponse: self._on_ends_response,
        }

    def tasks(self) -> dict[str, Task]:
        purgatories = (
            self.reads.delayed,
            self.produces.purgatory,
            self.deletes.purgatory,
            self.shares.delayed,
        )
        return {
            **{purgatory.timeout: purgatory.expire for purgatory in purgatories},
            **{sender.task: sender.tick for sender in (self.persister, self.dead_letters)},
            "fetch-timeout": self.sessions.expire,
            "fetch-backoff": self.fetchers.resume,
            "socket-timeout": self.fetchers.check_timeouts,
            "isr-expiration": self._expire_isr,
            "checkpoint": self._checkpoint,
            "recovery-checkpoint": self._checkpoint_recovery_points,
            "groups": self.coordinator.tick,
            "share-state": self.share_coordinator.tick,
            LOCKS: self.shares.expire_locks,
            "transactions": self.transactions.tick,
            "transaction-verification": self.verifier.expire,
        }

    def _fetch(self, source: int, request: int, message: messages.FetchRequest) -> None:
        """Handle a fetch from a follower, or (replica -1) from a consumer."""
        if message.replica < 0:
            self.reads.fetch(source, request, message)
        else:
            self.sessions.fetch(source, request, message)

    def _list_offsets(
        self, source: int, request: int, message: messages.ListOffsetsRequest
    ) -> None:
        """Answer an out-of-range follower, or (replica -1) a consumer looking up an offset."""
        manager, reads = self.replica_manager, self.reads
        list_offsets = reads.list_offsets if message.replica < 0 else manager.list_offsets
        list_offsets(source, request, message)

    def _fetched(self, source: int, _request: int, message: messages.FetchResponse) -> None:
        if message.request in self.state.fetchers.single_rounds:
            self.rounds.fetched(message)
        else:
            self.fetchers.fetched(source, message)

    def _on_epoch_response(
        self, source: int, _request: int, message: messages.OffsetsForLeaderEpochResponse
    ) -> None:
        if self.rounds.is_round(message.request):
            self.rounds.on_epoch_response(message)
        else:
            self.fetchers.on_epoch_response(source, message)

    def _on_ends_response(
        self, source: int, _request: int, message: messages.ListOffsetsResponse
    ) -> None:
        if self.rounds.is_round(message.request):
            self.rounds.on_ends_response(message)
        else:
            self.fetchers.on_ends_response(source, message)

    def _markers_written(
        self, _source: int, _request: int, message: messages.WriteTxnMarkersResponse
    ) -> None:
        self.transactions.marked(message.request, message)

    def _partitions_added(
        self, _source: int, _request: int, message: messages.AddPartitionsToTxnResponse
    ) -> None:
        self.verifier.on_response(message.request, message)

    def connection_lost(self, message: messages.ConnectionLost) -> None:
        """Handle a lost connection to another broker, a client or a controller."""
        peer = message.peer
        self.fetchers.connection_lost(peer)
        self.rounds.connection_lost(peer)
        self.transactions.connection_lost(message)
        self.verifier.connection_lost(message)
        self.persister.connection_lost(message)
        self.dead_letters.connection_lost(message)
        if not message.request:  # it accepts no more requests, but may still fetch itself
            self.sessions.connection_lost(peer)

    # ---- coordination

    def coordinates(self, replica: Replica, _effect: BeginLeading) -> None:
        """Begin to coordinate what is stored in a partition of an internal topic."""
        if internal_topics.is_internal(replica.tp):
            self.coordinator.leads(replica.tp)
            self.transactions.leads(replica.tp)
            self.share_coordinator.leads(replica.tp)

    def coordinates_no_more(self, replica: Replica, _effect: StopLeading) -> None:
        """Leave what is stored in a partition to the next leader."""
        self.coordinator.leads_no_more(replica.tp)
        self.transactions.leads_no_more(replica.tp)
        self.share_coordinator.leads_no_more(replica.tp)

    def ask_coordinator(self, effect: CoordinatorAsked) -> None:
        """Handle a leader's question to the transaction coordinator of the same broker."""
        self.transactions.add_partitions(self.context.id, effect.number, effect.message)

    def _init_producer_id(
        self, client: int, request: int, message: messages.InitProducerIdRequest
    ) -> None:
        """Answer through the coordinator for a transactional id; otherwise give out any new id."""
        if message.transactional_id:
            self.transactions.init_producer_id(client, request, message)
        else:
            self.producer_ids.give_out(client, request, message)

    def _find_coordinator(
        self, client: int, request: int, message: messages.FindCoordinatorRequest
    ) -> None:
        coordinator = self.transactions if message.is_transaction else self.coordinator
        coordinator.find(client, request, message)

    # ---- periodic tasks

    def start_tasks(self, _effect: ProcessStarted) -> None:
        """Start the periodic tasks (in stepwise mode they run by `tick` only)."""
        if not self.context.stepwise:
            self.context.later("isr-expiration", self.isr.period_us())
            self.context.later("checkpoint", self._checkpoint_us())
            self.context.later("recovery-checkpoint", RECOVERY_DELAY_US)

    def _checkpoint_us(self) -> int:
        return self.context.config.high_watermark_checkpoint_interval_us

    def _expire_isr(self) -> None:
        self.kernel.cause = 0  # a periodic task is its own cause
        if self.context.process.ports != CLOSED:
            self.isr.expire()
            self.context.later("isr-expiration", self.isr.period_us())

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

    def thaw(self) -> None:
        """Give up the fetches that timed out during a freeze, before their responses are read.

        Continuing a stopped process interrupts its wait for the network, so its clients see the
        timeouts first (``NetworkClient.poll``; seen in 0.10.2.2, 2.4.1, 3.9.2 and 4.1.2).
        """
        if self.context.profile.has("timeouts_precede_responses"):
            self.fetchers.check_timeouts()

    def end_process(self, *, clean: bool) -> None:
        """Discard the process's state: only what is on disk survives."""
        self.state.clean_shutdown = clean
        for replica in self.state.replicas.values():
            self.replicas.do(replica, End())
        self.state.end_process()
