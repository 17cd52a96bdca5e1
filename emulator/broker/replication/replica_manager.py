"""Handling of requests for partitions by their replicas (kafka.server.ReplicaManager).

Produce requests, and the requests of followers and consumers to a leader other than fetches.
"""

from typing import Final, NamedTuple

from msgspec.structs import replace

from emulator.broker.replication.delayed_delete_records import (
    DelayedDeleteRecords,
    DelayedDeletes,
    Deletion,
)
from emulator.broker.replication.delayed_produce import DelayedProduce, DelayedProduces
from emulator.broker.replication.fetch_session import FENCING_ERRORS, FetchSessions
from emulator.broker.replication.partition_locks import PartitionLocks
from emulator.broker.replication.replica import LEADER, OFFLINE, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.common.names import LOG_DIR, split
from emulator.coordinator.internal_topics import is_internal
from emulator.protocol import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DeleteRecordsRequest,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeProducersRequest,
    DescribeProducersResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
    ProducerDescription,
    ProduceRequest,
    ProduceResponse,
    RecordBatch,
)
from emulator.replication.leader_epoch_cache import UNDEFINED
from emulator.replication.partition import (
    Append,
    DeleteRecords,
    end_offset_for,
    epoch_error,
    log_end_for,
    produce_error,
)
from emulator.storage.log import Log

TO_HIGH_WATERMARK = -1
"""The offset that means the high watermark (``DeleteRecordsRequest``)."""


class Appended(NamedTuple):
    """The error of a produce request, or where its batch begins in the log, and when it came.

    ``keyless`` are the places of the records that lack a key.
    """

    error: str
    base_offset: int = -1
    time_ms: int = -1
    keyless: tuple[int, ...] = ()


WITHOUT_LOG_START: Final = (
    "CORRUPT_MESSAGE",
    "INVALID_REQUIRED_ACKS",
    "KAFKA_STORAGE_ERROR",
    "MESSAGE_TOO_LARGE",
    NOT_LEADER,
    "UNKNOWN_TOPIC_OR_PARTITION",
)
"""Errors that are told without the log start offset (``ReplicaManager.appendToLocalLog``)."""


class ReplicaManager:
    """Handles requests for a broker's partitions."""

    def __init__(
        self,
        context: BrokerContext,
        *,
        replicas: Replicas,
        produces: DelayedProduces,
        deletes: DelayedDeletes,
        sessions: FetchSessions,
        locks: PartitionLocks,
    ) -> None:
        self.context = context
        self.replicas = replicas
        self.produces = produces
        self.deletes = deletes
        self.sessions = sessions
        self.locks = locks
        self.profile = context.profile
        self.rules = replicas.rules

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
        error, base, time_ms, keyless = self._append(replica, message)
        is_told = replica is not None and error not in WITHOUT_LOG_START and not message.malformed
        log_start = replica.log_start if replica is not None and is_told else -1
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
        response = ProduceResponse(request, message.tp, error, base, log_start, time_ms, keyless)
        # Who hears of the record first, its client or a follower, is chance.
        self.context.respond(client, request, response, is_prompt=error == NONE)

    def _append(self, replica: Replica | None, message: ProduceRequest) -> Appended:
        """Append a batch unless it is refused, or was appended before."""
        error = self._refusal(replica, message)
        if error != NONE or replica is None:
            return Appended(error)
        batch, values = message.batch, self.context.topic_values(message.tp.rpartition("-")[0])
        if message.size_bytes > values.max_message_bytes:
            return Appended("MESSAGE_TOO_LARGE")
        if message.invalid:
            return Appended(message.invalid)
        verdict = self._verdict(replica, batch, is_coordinators=message.is_coordinators)
        if verdict is not None:
            error, base = verdict
            return Appended(error, base, self._latest_ms(replica, base))
        if values.compacts and (keyless := self._without_keys(batch)):
            has_own_error = self.profile.has("invalid_record_error")
            error = "INVALID_RECORD" if has_own_error else "CORRUPT_MESSAGE"
            return Appended(error, keyless=keyless)
        if values.log_append_time:  # the topic's records have the broker's time (KIP-32)
            batch = replace(batch, append_time_ms=self.context.timestamp_ms)
        base = replica.log_end if batch.count else -1
        self.replicas.do(replica, Append(batch, self.sessions.session_fetches(replica)))
        return Appended(NONE, base, batch.append_time_ms)

    def _latest_ms(self, replica: Replica, base: int) -> int:
        """The latest time in an appended batch, which is told to who sends it again.

        Source: ``UnifiedLog.append``.
        """
        batch = next(iter(replica.log.read_within(base, base + 1, 0)), None) if base >= 0 else None
        return -1 if batch is None else max(self.context.ledger.timestamps_of(batch))

    def _without_keys(self, batch: RecordBatch) -> tuple[int, ...]:
        """The places of the records that a compacted topic cannot have (``LogValidator``)."""
        if not self.profile.has("compacted_topics_need_keys"):
            return ()
        return tuple(self.context.ledger.keyless(batch))

    def _verdict(
        self, replica: Replica, batch: RecordBatch, *, is_coordinators: bool
    ) -> tuple[str, int] | None:
        """The error of idempotence and transaction checks, if any (``ProducerStates.check``)."""
        if batch.producer_id < 0:
            return None
        if batch.base_sequence >= 0 and not is_coordinators:
            return replica.producers.check(self.profile, batch)
        error = replica.producers.check_epoch(batch)  # appended by a coordinator
        return None if error == NONE else (error, -1)

    def _refusal(self, replica: Replica | None, message: ProduceRequest) -> str:
        """The error of a request before its batch is looked at.

        Source: ``KafkaApis.handleProduceRequest``, ``ReplicaManager.appendRecords``.
        """
        if replica is None and self.context.metadata.leader(message.tp) is None:
            return self.context.absence_error(message.tp)
        if message.malformed:
            return message.malformed
        if not -1 <= message.acks <= 1 and self.profile.has("required_acks_validated"):
            return "INVALID_REQUIRED_ACKS"
        if replica is None:
            return self.context.absence_error(message.tp)
        acks = message.acks if message.needs_min_isr else 1
        return produce_error(replica, acks, self.rules, self.replicas.moment)

    def delete_records(self, client: int, request: int, message: DeleteRecordsRequest) -> None:
        """Delete records before an offset; respond once the live followers have, too.

        Source: ``ReplicaManager.deleteRecordsOnLocalLog``, ``Partition.deleteRecordsOnLeader``.
        """
        deletions: dict[str, Deletion] = {}
        for tp, requested in message.offsets.items():
            replica = self.replicas.get(tp)
            offset = requested
            if replica is not None and requested == TO_HIGH_WATERMARK:
                offset = replica.high_watermark
            error = self._deletion_refused(tp, replica, offset)
            low_watermark = -1
            if error == NONE and replica is not None:
                self.replicas.do(replica, DeleteRecords(offset))
                low_watermark = self.deletes.low_watermark(replica)
            deletions[tp] = Deletion(error, offset, low_watermark)
        delayed = DelayedDeleteRecords(request, client, deletions)
        self.deletes.purgatory.try_complete_else_watch(delayed, message.timeout_us)

    def _deletion_refused(self, tp: str, replica: Replica | None, offset: int) -> str:
        if is_internal(tp) and self.context.metadata.leader(tp) is not None:
            return "INVALID_TOPIC_EXCEPTION"
        if replica is None:
            return self.context.absence_error(tp)
        if replica.role != LEADER:
            return NOT_LEADER
        if not self.context.topic_values(replica.tp.rpartition("-")[0]).deletes:
            return "POLICY_VIOLATION"
        in_range = 0 <= offset <= replica.high_watermark
        return NONE if in_range else "OFFSET_OUT_OF_RANGE"

    # ---- queries to a leader's log

    def offsets_for_leader_epoch(
        self, source: int, request: int, message: OffsetsForLeaderEpochRequest
    ) -> None:
        """Return the end offsets of epochs (KIP-101, KIP-279)."""
        rows: dict[str, tuple[str, int, int]] = {}
        for tp, (current, epoch) in message.partitions.items():
            replica = self.replicas.get(tp)
            error = epoch_error(replica, current, self.rules)
            if replica is None and self.rules.fencing:
                error = self.context.absence_error(tp)
            elif replica is not None and error in FENCING_ERRORS:
                own_epoch = replica.leader_epoch
                self.context.refuse(source, request, tp, error, current, own_epoch)
            if error != NONE or replica is None or replica.epochs is None:
                rows[tp] = (error, UNDEFINED, UNDEFINED)
            else:
                rows[tp] = (NONE, *end_offset_for(replica, epoch, self.rules))
        self.context.respond(source, request, OffsetsForLeaderEpochResponse(request, rows))

    def describe_log_dirs(self, client: int, request: int, message: DescribeLogDirsRequest) -> None:
        """Describe the logs on this broker's disk (``ReplicaManager.describeLogDirs``)."""
        replicas = self.replicas.by_name
        names = replicas if message.partitions is None else message.partitions
        described = [replicas[tp] for tp in names if tp in replicas]
        logs = {replica.tp: (replica.log.size_bytes, _offset_lag(replica)) for replica in described}
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
        if self.profile.has("log_dir_moves_need_metadata") and not self._knows(tp):
            return "UNKNOWN_TOPIC_OR_PARTITION"
        return "REPLICA_NOT_AVAILABLE"

    def _knows(self, tp: str) -> bool:
        """Whether the broker's metadata has a partition."""
        return self.context.metadata.leader(tp) is not None

    def describe_producers(
        self, client: int, request: int, message: DescribeProducersRequest
    ) -> None:
        """Describe the producers of partitions, from the logs here.

        A follower describes what it knows (``Partition.activeProducerState``).
        """
        descriptions: dict[str, tuple[str, list[ProducerDescription]]] = {}
        topics = {split(tp)[0] for tp in message.partitions}
        unknown = sorted(topic for topic in topics if not self._knows(f"{topic}-0"))
        for tp in message.partitions:
            replica = self.replicas.get(tp)
            if replica is not None and replica.role != OFFLINE:
                descriptions[tp] = (NONE, self._producers(replica))
            else:
                is_known = self._knows(tp)
                descriptions[tp] = (NOT_LEADER if is_known else "UNKNOWN_TOPIC_OR_PARTITION", [])
        response = DescribeProducersResponse(request, descriptions, unknown)
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

    def append_own(self, client: int, request: int, message: ProduceRequest) -> None:
        """Append a record of this broker's coordinators, which waits for locks as producers' do."""
        if self.locks.state.held and self.locks.blocks(client, message):
            self.locks.wait(client, request, message)
        else:
            self.produce(client, request, message)

    # ---- inspection

    def log_of(self, tp: str) -> tuple[Log, int]:
        """This broker's log of a partition, and its high watermark."""
        replica = self.replicas.by_name[tp]
        return replica.log, replica.high_watermark


def _offset_lag(replica: Replica) -> int:
    """How far a log ends below its high watermark; -1 if the broker does not replicate it."""
    if replica.role == OFFLINE:
        return -1
    return max(replica.high_watermark - replica.log_end, 0)
