"""How a broker serves consumers: up to the HW, from leaders or (KIP-392) from followers.

A leader with a replica selector redirects a consumer that sends its rack to a replica in that rack.
Every follower serves consumers whose fetch can have a rack (version 11 and later), up to its own
HW, which may lag behind the leader's.
"""

from typing import Final

from emulator.broker.replication.fetch_manager import FetchManager, Rows
from emulator.broker.replication.fetch_session import FetchSessions
from emulator.broker.replication.log_segments import LogSegments
from emulator.broker.replication.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    PurgatoryState,
)
from emulator.broker.replication.replica import FOLLOWER, LEADER, OFFLINE, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.common.names import split
from emulator.protocol import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from emulator.protocol.fetch import (
    DEBUGGING,
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
)
from emulator.replication.partition import StopLeading, divergence, epoch_error
from emulator.storage.log import Log

TIMEOUT = "consumer-fetch-timeout"


Listed = tuple[int, int, int]
"""An offset, a timestamp in ms, and a leader epoch."""
NONE_LISTED: Final[Listed] = (-1, -1, -1)


class DelayedFetch(DelayedOperation, frozen=True):
    """A consumer's fetch waiting for records (kafka.server.DelayedFetch)."""

    message: FetchRequest


class ConsumerReads:
    """Answers the Fetch and ListOffsets requests of consumers."""

    def __init__(
        self,
        context: BrokerContext,
        state: PurgatoryState,
        *,
        replicas: Replicas,
        sessions: FetchSessions,
        manager: FetchManager,
        segments: LogSegments,
    ) -> None:
        """Serve ``replicas`` in ``context``; waiting fetches are kept in ``state``.

        ``sessions`` know when followers fetched, ``manager`` has the consumers' fetch sessions,
        ``segments`` know how far a read of a log goes.
        """
        self.context = context
        self.replicas = replicas
        self.sessions = sessions
        self.manager = manager
        self.segments = segments
        self.delayed = DelayedOperationPurgatory[DelayedFetch, Rows](
            context,
            state,
            TIMEOUT,
            partitions=lambda delayed: delayed.message.partitions,
            try_complete=self._enough,
            on_expiration=lambda delayed: self._read_all(delayed.message),
            on_complete=self._respond,
        )
        profile = context.profile
        self.from_followers = profile.has("fetch_from_followers")
        self.in_sync_only = profile.has("preferred_read_replica_in_isr")
        self.gives_one_batch = profile.has("fetch_response_max_bytes")
        self.waits_for_epoch_start = profile.has("offset_not_available_error")
        self.says_not_available = profile.has("absent_replica_not_available")
        self.has_largest = profile.has("largest_timestamp_listed")
        self.has_local_start = profile.has("local_log_start_listed")
        self.tells_tiers = profile.has("listed_timestamps_need_version")
        self.own_epoch = profile.has("newest_record_has_own_epoch")
        self.reads_to_log_end = profile.has("consumers_read_to_log_end")

    # ---- fetch

    def fetch(self, client: int, request: int, message: FetchRequest) -> None:
        """Return the records visible to a consumer: at once, or when enough have arrived."""
        expanded = self.manager.expand(message)
        if isinstance(expanded, str):
            response = FetchResponse(request, {}, error=expanded)
            self.context.respond(client, request, response)
            return
        delayed = DelayedFetch(request, client, expanded)
        self.delayed.try_complete_else_watch(delayed, message.max_wait_us)

    def stopped_leading(self, replica: Replica, _effect: StopLeading) -> None:
        """Check the waiting fetches: the leadership has ended."""
        self.delayed.check_and_complete(replica.tp)

    def _enough(self, delayed: DelayedFetch) -> Rows | None:
        """The response to a fetch that need not wait: min.bytes are available, or on an error.

        A partition that the broker has never heard of is no reason, unless it is the only one.
        """
        message = delayed.message
        rows = self._read_all(message)
        served = [row for tp, row in rows.items() if self._knows(tp)]
        if not served or any(
            row.error != NONE or row.preferred_read_replica >= 0 or row.diverging is not None
            for row in served
        ):
            return rows
        given_bytes = sum(batch.size_bytes for row in rows.values() for batch in row.batches)
        is_any = message.min_bytes <= 1 and any(row.batches for row in rows.values())
        return rows if is_any or given_bytes >= message.min_bytes else None

    def _knows(self, tp: str) -> bool:
        return self.replicas.served(tp) is not None or self.context.metadata.leader(tp) is not None

    def _respond(self, delayed: DelayedFetch, rows: Rows) -> None:
        response = self.manager.respond(delayed.request, delayed.message, rows)
        self.context.respond(delayed.client, delayed.request, response)

    # ---- reading

    def _read_all(self, message: FetchRequest) -> Rows:
        """Read the partitions in order, up to the limits of the request and of this broker.

        Since 0.10.1 (KIP-74) the first batch of the first non-empty partition is returned however
        large it is, so that a consumer can make progress. Partitions that the broker does not know
        come last.
        """
        rows, unknown = Rows(), Rows()
        left_bytes = min(message.max_bytes, self.context.config.fetch_max_bytes)
        gives_one = self.gives_one_batch
        for tp, requested in message.partitions.items():
            limit_bytes = min(requested.max_bytes, left_bytes)
            replica = self.replicas.served(tp)
            row = self._read(tp, replica, requested, message, limit_bytes, at_least_one=gives_one)
            (rows if self._knows(tp) else unknown)[tp] = row
            if row.batches:
                gives_one = False
                given_bytes = sum(batch.size_bytes for batch in row.batches)
                left_bytes = max(0, left_bytes - given_bytes)
        return rows | unknown if unknown else rows

    def _read(
        self,
        tp: str,
        replica: Replica | None,
        requested: FetchPartition,
        message: FetchRequest,
        limit_bytes: int,
        *,
        at_least_one: bool,
    ) -> FetchedPartition:
        rack = message.rack
        error = epoch_error(replica, requested.current_leader_epoch, self.replicas.rules)
        if replica is None:
            is_gone = message.uses_topic_ids and not self._knows(f"{split(tp)[0]}-0")
            error = "UNKNOWN_TOPIC_ID" if is_gone else self.context.absence_error(tp)
        if error == NOT_LEADER and rack is not None and self._may_follow(replica):
            error = NONE
        if error != NONE or replica is None:
            return FetchedPartition(error, -1, -1, [])
        log, high_watermark = replica.log, replica.high_watermark
        if self.reads_to_log_end:
            high_watermark = log.end
        stable = replica.last_stable_offset
        preferred = self.preferred(replica, requested.offset, rack or "")
        if preferred != self.context.id:
            return FetchedPartition(
                NONE, high_watermark, log.start, [], preferred_read_replica=preferred
            )
        differs = divergence(
            replica, requested.offset, requested.last_fetched_epoch, self.replicas.rules
        )
        if differs is not None and differs.error != NONE:
            return FetchedPartition(differs.error, -1, -1, [])
        if differs is not None:
            return FetchedPartition(NONE, high_watermark, log.start, [], differs.diverging)
        # Between the HW and the log end there is nothing to read, but that is no error: a new
        # leader's HW may be below what its consumers have read (LocalLog.read).
        if requested.offset < log.start or requested.offset > log.end:
            return FetchedPartition("OFFSET_OUT_OF_RANGE", -1, -1, [])
        bound = stable if message.read_committed else high_watermark
        bound = min(bound, self.segments.end_after(replica, requested.offset))
        batches = log.read_within(requested.offset, bound, limit_bytes, at_least_one=at_least_one)
        aborted = None
        if message.read_committed:
            end = batches[-1].end_offset if batches else requested.offset
            aborted = replica.producers.transactions.aborted_in(requested.offset, end)
        return FetchedPartition(
            NONE,
            high_watermark,
            log.start,
            batches,
            last_stable_offset=stable,
            aborted=aborted,
            fetch_offset=requested.offset,
        )

    # ---- ListOffsets

    def list_offsets(self, client: int, request: int, message: ListOffsetsRequest) -> None:
        """Look up the offset for a timestamp, below the HW, or for debugging in any replica's log.

        Since 2.2 (KIP-207) a new leader whose HW has not reached the start of its epoch rejects a
        request for the end of the log, because the consumer's offset could go backwards. Source:
        ``Partition.fetchOffsetForTimestamp``.
        """
        tp, rules = message.tp, self.replicas.rules
        replica = self.replicas.get(tp)
        error = epoch_error(replica, message.current_leader_epoch, rules)
        if replica is None:
            is_debugging = message.replica == DEBUGGING and self.says_not_available
            error = "REPLICA_NOT_AVAILABLE" if is_debugging else self.context.absence_error(tp)
        elif error == NOT_LEADER and message.replica == DEBUGGING and replica.role != OFFLINE:
            error = NONE
        if error == NONE and replica is not None and self._is_behind_epoch(replica, message):
            error = "OFFSET_NOT_AVAILABLE"
        if error != NONE or replica is None:
            response = ListOffsetsResponse(request, tp, error, -1, -1)
        else:
            offset, timestamp_ms, epoch = self._offset_for(replica, message)
            response = ListOffsetsResponse(
                request,
                tp,
                NONE,
                replica.log_start,
                replica.log_end,
                offset,
                timestamp_ms,
                epoch if rules.fencing else -1,
            )
        self.context.respond(client, request, response)

    def _is_behind_epoch(self, replica: Replica, message: ListOffsetsRequest) -> bool:
        """Whether the HW may still be below what the previous leader exposed to consumers."""
        if not self.waits_for_epoch_start or message.timestamp_ms == EARLIEST:
            return False
        return replica.epoch_start is not None and replica.high_watermark < replica.epoch_start

    def _offset_for(self, replica: Replica, message: ListOffsetsRequest) -> Listed:
        """The first readable offset with at least the given timestamp, its timestamp and epoch.

        Only the end of the log has the current leader epoch; a record has its own. Source:
        ``UnifiedLog.fetchOffsetByTimestamp``.
        """
        log = replica.log
        bound = replica.last_stable_offset if message.read_committed else replica.high_watermark
        if message.replica == DEBUGGING:
            bound = replica.log_end
        timestamp_ms = message.timestamp_ms
        if timestamp_ms == LATEST:
            return bound, -1, replica.leader_epoch
        if timestamp_ms == EARLIEST or (timestamp_ms == EARLIEST_LOCAL and self.has_local_start):
            return log.start, -1, _epoch_at_start(replica)
        if timestamp_ms == MAX_TIMESTAMP and self.has_largest:
            return self._newest(replica)
        if timestamp_ms in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD) and self.tells_tiers:
            return NONE_LISTED  # there is no tiered storage
        return self._first_since(log, message, bound)

    def offset_since(self, replica: Replica, timestamp_ms: int) -> int | None:
        """The first offset below the HW whose record has that timestamp or a later one, if any."""
        listed = self._first_with_timestamp(replica.log, timestamp_ms, replica.high_watermark)
        return None if listed == NONE_LISTED else listed[0]

    def _first_with_timestamp(self, log: Log, timestamp_ms: int, bound: int) -> Listed:
        for batch in log.read(log.start, bound):
            if batch.is_empty:
                continue
            for at, written_ms in enumerate(self.context.ledger.timestamps_of(batch)):
                if written_ms >= timestamp_ms and batch.base_offset + at >= log.start:
                    return batch.base_offset + at, written_ms, batch.leader_epoch
        return NONE_LISTED

    def _first_since(self, log: Log, message: ListOffsetsRequest, bound: int) -> Listed:
        ledger, timestamp_ms = self.context.ledger, message.timestamp_ms
        if message.by_wall_clock:
            return self._first_with_timestamp(log, timestamp_ms, bound)
        for batch in log.read(log.start, bound):
            if batch.is_empty:
                continue
            made_ms = ledger.entry_of(batch.first_record).created_us // 1_000
            if batch.append_time_ms >= 0:
                made_ms = batch.append_time_ms - self.context.kernel.state.started_ms
            if made_ms >= timestamp_ms:
                return max(batch.base_offset, log.start), made_ms, batch.leader_epoch
        return NONE_LISTED

    def _newest(self, replica: Replica) -> Listed:
        """The record with the greatest timestamp (KIP-734).

        Its leader epoch is its own from 3.8 on (KAFKA-16310), and before the newest in the cache.
        """
        ledger, latest = self.context.ledger, NONE_LISTED
        newest = NONE_LISTED[2] if replica.epochs is None else replica.epochs.latest
        log = replica.log
        for batch in log.read(log.start, replica.high_watermark):
            if batch.is_empty:
                continue
            for at, written_ms in enumerate(ledger.timestamps_of(batch)):
                offset = batch.base_offset + at
                if log.start <= offset < replica.high_watermark and written_ms > latest[1]:
                    latest = offset, written_ms, batch.leader_epoch if self.own_epoch else newest
        return latest

    # ---- KIP-392

    def _may_follow(self, replica: Replica | None) -> bool:
        return self.from_followers and replica is not None and replica.role == FOLLOWER

    def preferred(self, replica: Replica, offset: int, rack: str) -> int:
        """The broker that a consumer in that rack should read from: usually this one.

        Among the live followers in the rack that have the offset, prefer the highest log end
        offset, then the most recently caught up, then the highest id. Source: ``ReplicaManager``
        and ``RackAwareReplicaSelector`` 2.4 to 3.9 (from 3.3.2 only members of the ISR).
        """
        broker = self.context.id
        racks = self.context.settings.racks
        if (
            not (rack and self.from_followers and self.context.config.rack_aware_reads)
            or replica.role != LEADER
            or racks.get(broker) == rack
        ):
            return broker
        candidates = [
            (remote.leo, self.sessions.caught_up_us(replica, follower), follower)
            for follower, remote in replica.remotes.items()
            if racks.get(follower) == rack
            and follower in self.context.process.live_brokers
            and remote.leo >= offset
            and (follower in replica.isr or not self.in_sync_only)
        ]
        return max(candidates)[2] if candidates else broker


def _epoch_at_start(replica: Replica) -> int:
    """The leader epoch at the log start, if the epoch cache reaches back to there."""
    entries = [] if replica.epochs is None else replica.epochs.entries
    return entries[0][0] if entries and entries[0][1] <= replica.log_start else -1
