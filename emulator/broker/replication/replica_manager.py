"""Handling of requests for partitions by their replicas (kafka.server.ReplicaManager).

Produce requests, the controller's LeaderAndIsr and StopReplica, and the requests of followers and
consumers to a leader other than fetches.
"""

from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.broker.replication.delayed_delete_records import (
    DelayedDeleteRecords,
    DelayedDeletes,
    Deletion,
)
from emulator.broker.replication.delayed_produce import DelayedProduce, DelayedProduces
from emulator.broker.replication.fetch_session import FENCING_ERRORS, FetchSessions
from emulator.broker.replication.fetcher import FetcherManager
from emulator.broker.replication.partition_locks import MAP, STATE_CHANGE, PartitionLocks
from emulator.broker.replication.replica import LEADER, OFFLINE, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.common.names import LOG_DIR, split
from emulator.protocol import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DeleteRecordsRequest,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
    PartitionInfo,
    ProducerDescription,
    ProduceRequest,
    ProduceResponse,
    RecordBatch,
    StopReplicaRequest,
    StopReplicaResponse,
)
from emulator.replication.leader_epoch_cache import UNDEFINED
from emulator.replication.partition import (
    Append,
    BecomeFollower,
    BecomeLeader,
    DeleteRecords,
    Stop,
    end_offset_for,
    epoch_error,
    log_end_for,
    produce_error,
)
from emulator.storage.log import Log

TO_HIGH_WATERMARK = -1
"""The offset that means the high watermark (``DeleteRecordsRequest``)."""


class ReplicaManagerState(Struct, array_like=True):
    """LeaderAndIsr requests waiting for idle fetchers: source and errors by request."""

    unanswered: dict[int, tuple[int, dict[str, str]]] = field(default_factory=dict)


class ReplicaManager:
    """Handles requests for a broker's partitions."""

    def __init__(
        self,
        context: BrokerContext,
        state: ReplicaManagerState,
        *,
        replicas: Replicas,
        produces: DelayedProduces,
        deletes: DelayedDeletes,
        sessions: FetchSessions,
        fetchers: FetcherManager,
        locks: PartitionLocks,
    ) -> None:
        """Handle requests in ``context`` for ``replicas``."""
        self.context = context
        self.state = state
        self.replicas = replicas
        self.produces = produces
        self.deletes = deletes
        self.sessions = sessions
        self.fetchers = fetchers
        self.locks = locks
        self.on_fetchers_shut_down: Callable[[], None] = _nothing
        self.log_created: Callable[[str], None]
        self.profile = context.profile
        self.rules = replicas.rules
        fetchers.on_idle = self._fetcher_ended

    # ---- produce

    def produce(self, client: int, request: int, message: ProduceRequest) -> None:
        """Append, then respond according to acks (Partition.appendRecordsToLeader).

        A request larger than socket.request.max.bytes is not read: its connection is closed
        (NetworkReceive throws InvalidReceiveException).
        """
        if message.size_bytes > self.context.config.socket_request_max_bytes:
            self.context.close_connection(client, request, lost=True)
            return
        replica = self.replicas.served(message.tp)
        log_start = -1 if replica is None else replica.log_start
        error, base, time_ms = self._refusal(replica, message), -1, -1
        if error == NONE and replica is not None:
            verdict = self._verdict(replica, message.batch)
            if verdict is None:
                base = replica.log_end
                fetches = self.sessions.session_fetches(replica)
                batch = self._stamped(message)
                time_ms = batch.append_time_ms
                self.replicas.do(replica, Append(batch, fetches))
            else:
                error, base = verdict
            if error == NONE and message.acks == -1:
                required = base + message.batch.count
                delayed = DelayedProduce(
                    request, client, message.tp, required, base, log_start, time_ms
                )
                self.produces.purgatory.try_complete_else_watch(delayed, message.timeout_us)
                return
        if message.acks == 0:
            if error != NONE:
                self.context.close_connection(client, request)
            return
        response = ProduceResponse(request, message.tp, error, base, log_start, time_ms)
        self.context.respond(client, request, response)

    def _stamped(self, message: ProduceRequest) -> RecordBatch:
        """The batch with this broker's time, if the topic's records have that (KIP-32)."""
        batch = message.batch
        if not self.context.topic_values(message.tp.rpartition("-")[0]).log_append_time:
            return batch
        return replace(batch, append_time_ms=self.context.timestamp_ms)

    def _verdict(self, replica: Replica, batch: RecordBatch) -> tuple[str, int] | None:
        """The error of idempotence and transaction checks, if any (``ProducerStates.check``)."""
        if batch.producer_id < 0:
            return None
        if batch.base_sequence >= 0:
            return replica.producers.check(self.profile, batch)
        error = replica.producers.check_epoch(batch)  # appended by a coordinator
        return None if error == NONE else (error, -1)

    def _refusal(self, replica: Replica | None, message: ProduceRequest) -> str:
        if not -1 <= message.acks <= 1 and self.profile.has("required_acks_validated"):
            return "INVALID_REQUIRED_ACKS"
        if replica is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        error = produce_error(replica, message.acks, self.rules, self.replicas.at(replica))
        if error != NONE:
            return error
        topic, _, _ = message.tp.rpartition("-")
        if message.size_bytes > self.context.max_message_bytes(topic):
            return "MESSAGE_TOO_LARGE"
        return NONE

    def delete_records(self, client: int, request: int, message: DeleteRecordsRequest) -> None:
        """Delete records before an offset; respond once the live followers have, too.

        Source: ``ReplicaManager.deleteRecordsOnLocalLog``, ``Partition.deleteRecordsOnLeader``.
        """
        deletions: dict[str, Deletion] = {}
        for tp, wanted in message.offsets.items():
            replica = self.replicas.get(tp)
            offset = wanted
            if replica is not None and wanted == TO_HIGH_WATERMARK:
                offset = replica.high_watermark
            error = self._deletion_refused(replica, offset)
            low_watermark = -1
            if error == NONE and replica is not None:
                self.replicas.do(replica, DeleteRecords(offset))
                low_watermark = self.deletes.low_watermark(replica)
            deletions[tp] = Deletion(error, offset, low_watermark)
        delayed = DelayedDeleteRecords(request, client, deletions)
        self.deletes.purgatory.try_complete_else_watch(delayed, message.timeout_us)

    def _deletion_refused(self, replica: Replica | None, offset: int) -> str:
        if replica is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if replica.role != LEADER:
            return NOT_LEADER
        if not self.context.topic_values(replica.tp.rpartition("-")[0]).deletes:
            return "POLICY_VIOLATION"
        in_range = 0 <= offset <= replica.high_watermark
        return NONE if in_range else "OFFSET_OUT_OF_RANGE"

    # ---- LeaderAndIsr (ReplicaManager.becomeLeaderOrFollower)

    def leader_and_isr(self, source: int, request: int, message: LeaderAndIsrRequest) -> None:
        """Become leader or follower; reject partitions whose leader epoch is not newer."""
        error = self.context.fence_controller(
            message.controller, message.controller_epoch, message.broker_epoch
        )
        errors: dict[str, str] = {}
        if error == NONE:
            mine, do = self.context.id, self.replicas.do
            lead: list[tuple[Replica, PartitionInfo]] = []
            follow: list[tuple[Replica, PartitionInfo]] = []
            configured: dict[str, None] = {}
            for tp, info in message.partitions.items():
                replica = self.replicas.get(tp)
                if replica is not None and _is_stale(info, replica):
                    # Not FENCED_LEADER_EPOCH: to Kafka, who names an old leader epoch is a
                    # controller that has been replaced (ReplicaManager.becomeLeaderOrFollower).
                    errors[tp] = "STALE_CONTROLLER_EPOCH"
                    self.context.refuse(
                        source, request, tp, errors[tp], info.leader_epoch, replica.leader_epoch
                    )
                elif mine not in info.replicas:
                    errors[tp] = "UNKNOWN_TOPIC_OR_PARTITION"
                else:
                    if replica is None:
                        replica = self._create(tp, info, configured)
                    (lead if info.leader == mine else follow).append((replica, info))
            # Leaders come first in every release (makeLeaders, makeFollowers).
            for replica, info in lead:
                do(
                    replica,
                    BecomeLeader(
                        info.leader_epoch,
                        info.controller_epoch,
                        info.isr,
                        info.replicas,
                        info.zk_version,
                    ),
                )
            live = frozenset((*message.live_brokers, *self.context.process.live_brokers))
            for replica, info in follow:
                do(
                    replica,
                    BecomeFollower(
                        info.leader,
                        info.leader_epoch,
                        info.controller_epoch,
                        info.replicas,
                        info.zk_version,
                        info.leader in live,
                    ),
                )
            if self.fetchers.has_idle_request():
                self.state.unanswered[request] = (source, errors)
                self.locks.hold_fetchers(STATE_CHANGE)
                return
        self._respond_to_leader_and_isr(source, request, error, errors)

    def _create(self, tp: str, info: PartitionInfo, configured: dict[str, None]) -> Replica:
        """Create a log; the request's logs of one topic share one read of its configuration."""
        topic = tp.rpartition("-")[0]
        if topic not in configured:
            configured[topic] = None
            self.log_created(topic)
        if info.is_new:
            self.replicas.index.unannounced[tp] = None
        return self.replicas.create(tp)

    def _respond_to_leader_and_isr(
        self, source: int, request: int, error: str, errors: dict[str, str]
    ) -> None:
        response = LeaderAndIsrResponse(request, self.context.id, error, errors)
        self.context.respond(source, request, response)

    def _fetcher_ended(self) -> None:
        """Answer the LeaderAndIsr requests that waited for a fetcher's request to complete."""
        if not self.locks.state.fetchers or self.fetchers.has_idle_request():
            return
        unanswered, self.state.unanswered = self.state.unanswered, {}
        for request, (source, errors) in unanswered.items():
            self._respond_to_leader_and_isr(source, request, NONE, errors)
        self.locks.hold_fetchers("")
        self.on_fetchers_shut_down()

    # ---- StopReplica

    def stop_replica(self, source: int, request: int, message: StopReplicaRequest) -> None:
        """Stop replicas, and delete their logs if ``delete`` is set."""
        error = self.context.fence_controller(
            message.controller, message.controller_epoch, message.broker_epoch
        )
        if error == NONE:
            for tp in message.partitions:
                replica = self.replicas.get(tp)
                if replica is not None:
                    self.replicas.do(replica, Stop())
                    if message.delete:
                        self.fetchers.forget(tp)
                        self.replicas.delete(replica)
        response = StopReplicaResponse(request, self.context.id, error, {})
        self.context.respond(source, request, response)
        if self.fetchers.has_idle_request():
            self.locks.hold_fetchers(MAP)

    # ---- queries to a leader's log

    def offsets_for_leader_epoch(
        self, source: int, request: int, message: OffsetsForLeaderEpochRequest
    ) -> None:
        """Return the end offsets of epochs (KIP-101, KIP-279)."""
        rows: dict[str, tuple[str, int, int]] = {}
        for tp, (current, epoch) in message.partitions.items():
            replica = self.replicas.get(tp)
            error = epoch_error(replica, current, self.rules)
            if replica is not None and error in FENCING_ERRORS:
                known = replica.leader_epoch
                self.context.refuse(source, request, tp, error, current, known)
            if error != NONE or replica is None or replica.epochs is None:
                rows[tp] = (error, UNDEFINED, UNDEFINED)
            else:
                rows[tp] = (NONE, *end_offset_for(replica, epoch, self.rules))
        self.context.respond(source, request, OffsetsForLeaderEpochResponse(request, rows))

    def describe_log_dirs(self, client: int, request: int, message: DescribeLogDirsRequest) -> None:
        """Describe the logs on this broker's disk (``ReplicaManager.describeLogDirs``)."""
        replicas = self.replicas.by_name
        wanted = replicas if message.partitions is None else message.partitions
        found = [replicas[tp] for tp in wanted if tp in replicas]
        logs = {each.tp: (each.log.size_bytes, _offset_lag(each)) for each in found}
        self.context.respond(client, request, DescribeLogDirsResponse(request, logs))

    def alter_log_dirs(
        self, client: int, request: int, message: AlterReplicaLogDirsRequest
    ) -> None:
        """Move replicas to a log directory: the broker has one (``alterReplicaLogDirs``)."""
        errors = {tp: self._move_error(tp, message.path) for tp in message.partitions}
        self.context.respond(client, request, AlterReplicaLogDirsResponse(request, errors))

    def _move_error(self, tp: str, path: str) -> str:
        if path != LOG_DIR:
            return "LOG_DIR_NOT_FOUND"
        replica = self.replicas.get(tp)
        if replica is not None and replica.role != OFFLINE:
            return NONE
        if self.profile.has("log_dir_moves_need_metadata") and not self.context.knows(tp):
            return "UNKNOWN_TOPIC_OR_PARTITION"
        return "REPLICA_NOT_AVAILABLE"

    def describe_producers(
        self, client: int, request: int, message: DescribeProducersRequest
    ) -> None:
        """Describe the producers of partitions, from the logs here.

        A follower describes what it knows (``Partition.activeProducerState``).
        """
        found: dict[str, tuple[str, list[ProducerDescription]]] = {}
        topics = {split(tp)[0] for tp in message.partitions}
        unknown = sorted(topic for topic in topics if not self.context.knows(f"{topic}-0"))
        for tp in message.partitions:
            replica = self.replicas.get(tp)
            if replica is not None and replica.role != OFFLINE:
                found[tp] = (NONE, self._producers(replica))
            else:
                is_known = self.context.knows(tp)
                found[tp] = (NOT_LEADER if is_known else "UNKNOWN_TOPIC_OR_PARTITION", [])
        response = DescribeProducersResponse(request, found, unknown)
        self.context.respond(client, request, response)

    def _producers(self, replica: Replica) -> list[ProducerDescription]:
        ledger = self.context.ledger
        last: dict[int, int] = {}
        for batch in replica.log.batches:
            if batch.producer_id >= 0:
                last[batch.producer_id] = max(ledger.timestamps_of(batch))
        return [
            ProducerDescription(
                producer_id,
                state.epoch,
                state.batches[-1].last_sequence if state.batches else -1,
                last.get(producer_id, -1),
                -1 if state.marker < 0 else int(ledger.entry_of(state.marker).keys[0] or 0),
                replica.producers.transactions.ongoing.get(producer_id, -1),
            )
            for producer_id, state in replica.producers.producers.items()
        ]

    def list_offsets(self, source: int, request: int, message: ListOffsetsRequest) -> None:
        """Return the start and end of this log to a follower that is out of range."""
        replica = self.replicas.get(message.tp)
        error = epoch_error(replica, message.current_leader_epoch, self.rules)
        if error != NONE or replica is None:
            response = ListOffsetsResponse(request, message.tp, error, -1, -1)
        else:
            log_end = log_end_for(replica, message.current_leader_epoch, self.rules)
            response = ListOffsetsResponse(request, message.tp, NONE, replica.log_start, log_end)
        self.context.respond(source, request, response)

    # ---- inspection

    def log_of(self, tp: str) -> tuple[Log, int]:
        """This broker's log of a partition, and its high watermark."""
        replica = self.replicas.by_name[tp]
        return replica.log, replica.high_watermark


def _is_stale(info: PartitionInfo, replica: Replica) -> bool:
    """Whether a replica has seen a leader epoch that is as new."""
    return replica.is_known and info.leader_epoch <= replica.leader_epoch


def _offset_lag(replica: Replica) -> int:
    """How far a log ends below its high watermark; -1 if the broker does not replicate it."""
    if replica.role == OFFLINE:
        return -1
    return max(replica.high_watermark - replica.log_end, 0)


def _nothing() -> None:
    """Do nothing: the default where no idle fetchers are waited for."""
