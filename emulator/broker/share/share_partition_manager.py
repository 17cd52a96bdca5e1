"""Share fetches and acknowledgements at the leaders of partitions.

A fetch waits until something can be acquired, which is then locked for the member for a while.
Acknowledgements are answered when the share coordinator has stored them. A leader reads a
share-partition's state when it is first asked for it, and forgets it when it leads no more. Source:
``SharePartitionManager``, ``DelayedShareFetch`` and ``KafkaApis`` 4.1.2 and 4.2.0.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.broker.replication.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    PurgatoryState,
)
from emulator.broker.replication.replica import LEADER, Replica, Replicas
from emulator.broker.share.acknowledgements import dead_letters_of, is_invalid
from emulator.broker.share.dead_letters import DeadLetterQueues, DeadLetters, DeadLetterState
from emulator.broker.share.in_flight import ARCHIVED, ARCHIVING
from emulator.broker.share.share_partition import (
    ACTIVE,
    EMPTY,
    INITIALIZING,
    Acquired,
    Batch,
    Invalid,
    Limits,
    SharePartition,
    name_of,
)
from emulator.broker.share.share_partition_events import ABORTED, SharePartitionEvents
from emulator.broker.share.share_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    INVALID_EPOCH,
    LIMIT_REACHED,
    NOT_FOUND,
    ShareSession,
    ShareSessions,
)
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.common.names import UNRESOLVED, is_uuid, split
from emulator.coordinator.share_persister import SharePersister
from emulator.metadata_log.metadata_version import SHARE_VERSION
from emulator.protocol import (
    Acknowledgement,
    AcquiredRange,
    ConnectionClosed,
    ReadShareGroupStateRequest,
    RecordBatch,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    SharedPartition,
    ShareFetchRequest,
    ShareFetchResponse,
    ShareGroupStateResponse,
    SharePartitionKey,
    StateBatch,
    WriteShareGroupStateRequest,
)
from emulator.protocol.fetch import NO_LIMIT
from emulator.protocol.record_batch import of_aborted
from emulator.releases.group_configs import duration_us
from emulator.replication.partition import StopLeading

TIMEOUT: Final = "share-fetch-timeout"
LOCKS: Final = "share-locks"
READS, WRITES = "share-reads", "share-writes"
UNSUPPORTED: Final = "UNSUPPORTED_VERSION"
INVALID: Final = "INVALID_REQUEST"
UNKNOWN_PARTITION: Final = "UNKNOWN_TOPIC_OR_PARTITION"
UNKNOWN_ID: Final = "UNKNOWN_TOPIC_ID"
UNKNOWN_ERROR: Final = "UNKNOWN_SERVER_ERROR"
ID_LENGTH_MAX: Final = 36
RENEWALS_SINCE: Final = 2
"""The first version of requests that can renew locks."""
STATE_ERRORS: Final = {
    "NOT_COORDINATOR": "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_NOT_AVAILABLE": "COORDINATOR_NOT_AVAILABLE",
    "COORDINATOR_LOAD_IN_PROGRESS": "COORDINATOR_NOT_AVAILABLE",
    "GROUP_ID_NOT_FOUND": "GROUP_ID_NOT_FOUND",
    "UNKNOWN_TOPIC_OR_PARTITION": "UNKNOWN_TOPIC_OR_PARTITION",
    "FENCED_LEADER_EPOCH": NOT_LEADER,
    "FENCED_STATE_EPOCH": NOT_LEADER,
}
"""What a member is told if a share-partition's state cannot be read or written; any other error is
unknown (``SharePartition.fetchPersisterError``)."""
LEADS_NO_MORE, NO_SESSION = "leads no more", "no member has a session"
FORGETTING: Final = (NOT_LEADER, "GROUP_ID_NOT_FOUND", "UNKNOWN_TOPIC_OR_PARTITION")
"""After these errors a leader forgets a share-partition, and reads its state again."""


class Write(Struct, array_like=True):
    """Changes that are being stored, and the ``request`` that waits for them.

    ``is_final``: they are made already, and are not undone if they cannot be stored. ``letters``
    are the dead letters among them.
    """

    share: str
    request: int = 0
    tp: str = ""
    is_final: bool = False
    letters: list[DeadLetters] = field(default_factory=list)


class PendingAcknowledgement(Struct, array_like=True):
    """An acknowledgement that is answered when all its partitions' changes are stored.

    ``errors`` have messages. If it came with a share fetch, ``fetched`` is what that has acquired;
    None as long as it waits.
    """

    client: int
    message: ShareFetchRequest | ShareAcknowledgeRequest
    writes: int = 0
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    fetched: dict[str, SharedPartition] | None = None


class DelayedShareFetch(DelayedOperation, frozen=True):
    """A share fetch that waits for records (``kafka.server.share.DelayedShareFetch``).

    ``partitions`` are those that it fetches, in their order for its turn; ``unknown`` are the
    errors of others.
    """

    message: ShareFetchRequest
    partitions: list[str]
    unknown: dict[str, str]


class ShareState(Struct, array_like=True):
    """A broker's share-partitions and share sessions; all of it is lost when the process ends.

    ``partitions`` are by group and partition. ``writes`` and ``reads`` are by the numbers of the
    persister's requests, ``acknowledgements`` by the numbers of members' requests. ``failed`` has
    the errors of share-partitions for the fetches that are told of them just now.
    """

    partitions: dict[str, SharePartition] = field(default_factory=dict)
    sessions: ShareSessions = field(default_factory=ShareSessions)
    fetches: PurgatoryState = field(default_factory=PurgatoryState)
    reads: dict[int, str] = field(default_factory=dict)
    writes: dict[int, Write] = field(default_factory=dict)
    acknowledgements: dict[int, PendingAcknowledgement] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    letters: DeadLetterState = field(default_factory=DeadLetterState)


Results = dict[str, SharedPartition]


class SharePartitionManager:
    """Answers the ShareFetch and ShareAcknowledge requests of members."""

    def __init__(
        self,
        context: BrokerContext,
        state: ShareState,
        *,
        replicas: Replicas,
        persister: SharePersister,
        queues: DeadLetterQueues,
        end_after: Callable[[Replica, int], int],
        offset_since: Callable[[Replica, int], int | None],
    ) -> None:
        """Serve ``replicas`` in ``context``.

        ``end_after`` is how far a read of a log goes, ``offset_since`` the first offset whose
        record has a timestamp or a later one.
        """
        self.context = context
        self.state = state
        self.kernel = context.kernel
        self.replicas = replicas
        self.persister = persister
        self.queues = queues
        self.events = SharePartitionEvents(context, self.limits)
        queues.on_end = self._letters_ended
        self._end_after = end_after
        self._offset_since = offset_since
        persister.on_answer(READS, self._state_read)
        persister.on_answer(WRITES, self._state_written)
        profile = context.profile
        self.may_renew = profile.has("share_locks_renewed")
        self.may_have_any_id = profile.has("share_member_ids_need_no_uuid")
        self.limits_fetches = profile.has("share_fetches_within_lock_limit")
        self.counts_completed = profile.has("share_completed_records_counted")
        self.keeps_idle = profile.has("share_partitions_kept_without_sessions")
        self.takes_back = not profile.has("share_deliveries_counted_at_session_end")
        self.names_unknown = profile.has("share_fetch_of_unknown_topics")
        self.throttles = profile.has("share_deliveries_throttled")
        self.is_early_access = profile.has("share_group_early_access")
        self.delayed = DelayedOperationPurgatory[DelayedShareFetch, Results](
            context,
            state.fetches,
            TIMEOUT,
            partitions=lambda delayed: delayed.partitions,
            try_complete=self._try_complete,
            on_expiration=self._acquire_all,
            on_complete=self._complete_fetch,
        )

    # ---- what the configuration says

    @property
    def is_enabled(self) -> bool:
        """Whether the release has share groups, and the cluster their feature.

        Early access (4.0) needs no feature.
        """
        level = self.context.metadata.feature_level(SHARE_VERSION)
        return self.is_early_access or (level > 0 and self.context.profile.has("share_groups"))

    def limits(self, group: str) -> Limits:
        config, of_group = self.context.config, self.context.metadata.group_config(group)
        default_us, in_flight = config.share_record_lock_us, config.share_partition_max_record_locks
        deliveries = config.share_delivery_count_limit
        return Limits(
            self.context.group_duration_us(group, "share.record.lock.duration.ms", default_us),
            int(of_group.get("share.partition.max.record.locks", in_flight)),
            int(of_group.get("share.delivery.count.limit", deliveries)),
            limits_fetches=self.limits_fetches,
            throttles=self.throttles,
            takes_back=self.takes_back,
            is_early_access=self.is_early_access,
            has_dead_letters=self.queues.is_asked(group),
        )

    def _lock_ms(self, group: str) -> int:
        return self.limits(group).lock_us // 1_000

    # ---- share fetches

    def fetch(self, client: int, request: int, message: ShareFetchRequest) -> None:
        """Acknowledge, and acquire records: at once, or when there are some."""
        error = self._member_error(message.member_id)
        if error == NONE and _is_invalid_renewal(message):
            error = INVALID
        session = None
        if error == NONE:
            session, error = self._session(message)
        if error == LIMIT_REACHED and self.is_early_access:
            error = NOT_FOUND
        if error == LIMIT_REACHED and message.max_wait_us:
            # the member is not to ask again at once
            self.delayed.watch(
                DelayedShareFetch(request, client, message, [], {}),
                message.max_wait_us,
            )
            return
        if error != NONE:
            self.context.respond(client, request, ShareFetchResponse(request, message.group, error))
            return
        pending = PendingAcknowledgement(client, message)
        if message.acknowledged:
            self._acknowledge_all(request, pending)
        partitions, unknown = self._partitions_to_fetch(message, session)
        delayed = DelayedShareFetch(request, client, message, partitions, unknown)
        is_over = message.session_epoch == FINAL_EPOCH or message.renews
        wants = bool(message.max_records and message.max_bytes)
        if is_over or not wants or not delayed.partitions:
            self._complete_fetch(delayed, self._unknown_partitions(delayed))
        else:
            self.delayed.try_complete_else_watch(delayed, message.max_wait_us)

    def _member_error(self, member_id: str) -> str:
        """The error for a request of a member; before 4.2 its id has to be a UUID."""
        if not self.is_enabled:
            return UNSUPPORTED
        if self.may_have_any_id:
            return NONE if 0 < len(member_id) <= ID_LENGTH_MAX else INVALID
        return NONE if is_uuid(member_id) else UNKNOWN_ERROR

    def _session(self, message: ShareFetchRequest) -> tuple[ShareSession | None, str]:
        """The session of a fetch, or an error."""
        sessions = self.state.sessions
        session = sessions.find(message.group, message.member_id)
        if message.session_epoch == FINAL_EPOCH:
            if self.is_early_access and message.partitions:
                return None, INVALID
            return session, NONE if session is not None else NOT_FOUND
        if message.session_epoch == INITIAL_EPOCH:
            if any(message.acknowledged.values()):
                return None, INVALID
            session = ShareSession(
                message.group,
                message.member_id,
                message.connection,
                1,
                dict.fromkeys(message.partitions, False),
                message.limits,
            )
            return session, sessions.open(session, self.context.config.share_max_sessions)
        if session is None:
            return None, NOT_FOUND
        if session.epoch != message.session_epoch:
            return None, INVALID_EPOCH
        session.update(message.partitions, message.limits, message.forgotten)
        session.advance()
        if not self.names_unknown and any(_is_unresolved(tp) for tp in session.partitions):
            return None, UNKNOWN_ERROR
        return session, NONE

    def _partitions_to_fetch(
        self, message: ShareFetchRequest, session: ShareSession | None
    ) -> tuple[list[str], dict[str, str]]:
        """The partitions to fetch, in order, and the errors of those that are unknown."""
        partitions: list[str] = []
        unknown: dict[str, str] = {}
        if session is None or message.session_epoch == FINAL_EPOCH:
            return partitions, unknown
        for tp in session.rotated(0 if self.is_early_access else message.session_epoch):
            if _is_unresolved(tp):
                unknown[tp] = UNKNOWN_ID
            elif self.context.metadata.leader(tp) is None:
                unknown[tp] = UNKNOWN_PARTITION
            else:
                partitions.append(tp)
        return partitions, unknown

    def _unknown_partitions(self, delayed: DelayedShareFetch) -> Results:
        return {tp: SharedPartition(error) for tp, error in delayed.unknown.items()}

    def leads_no_more(self, replica: Replica, _effect: StopLeading) -> None:
        """Forget the share-partitions of a partition: the next leader reads their state."""
        for name in [n for n, share in self.state.partitions.items() if share.tp == replica.tp]:
            self._forget(name, LEADS_NO_MORE)

    def _forget(self, name: str, reason: str) -> None:
        share = self.state.partitions.pop(name, None)
        if share is not None:
            self.context.timers.clear_deadline(LOCKS, name)
            if share.status == ACTIVE:
                self.events.forgotten(share, reason)
            self.delayed.check_and_complete(share.tp)

    def _try_complete(self, delayed: DelayedShareFetch) -> Results | None:
        """What a fetch acquires if it need not wait: some records, or an error."""
        if not delayed.partitions:
            return None  # there are too many sessions
        errors, ready = self._ready(delayed)
        if len(errors) == len(delayed.partitions):
            results = {tp: SharedPartition(error) for tp, error in errors.items()}
            return results | self._unknown_partitions(delayed)
        fetched = [share for share in ready if share.looked_up == share.next_fetch_offset()]
        if not ready or not self._has_bytes(delayed, ready):
            return None
        # What is looked up only now has been read already, and is added to what is read then.
        return self._acquire(delayed, errors, [*fetched, *(s for s in ready if s not in fetched)])

    def _acquire_all(self, delayed: DelayedShareFetch) -> Results:
        """What a fetch acquires when its time is over."""
        errors, ready = self._ready(delayed)
        return self._acquire(delayed, errors, ready)

    def _ready(self, delayed: DelayedShareFetch) -> tuple[dict[str, str], list[SharePartition]]:
        """The errors of a fetch's partitions, and the share-partitions that may give records."""
        group = delayed.message.group
        limits = self.limits(group)
        errors: dict[str, str] = {}
        ready: list[SharePartition] = []
        for tp in delayed.partitions:
            share, error = self._share_partition(group, tp, delayed.request)
            if error != NONE:
                errors[tp] = error
            elif share is not None and share.status == ACTIVE and share.can_acquire(limits):
                ready.append(share)
        return errors, ready

    def _share_partition(
        self, group: str, tp: str, request: int
    ) -> tuple[SharePartition | None, str]:
        """A share-partition that is led here; its state is read when it is first asked for."""
        name = name_of(group, tp)
        failed = self.state.failed.pop(f"{request}\n{name}", None)
        if failed is not None:
            return None, failed
        share = self.state.partitions.get(name)
        if share is not None:
            return share, NONE
        replica = self.replicas.get(tp)
        topic = self.context.metadata.topic(split(tp)[0])
        if replica is None or topic is None:
            return None, self.context.absence_error(tp)
        if replica.role != LEADER:
            return None, NOT_LEADER
        share = SharePartition(group, tp, topic.id, replica.leader_epoch, INITIALIZING)
        self.state.partitions[name] = share
        number = self.persister.number()
        self.state.reads[number] = name
        key = SharePartitionKey(group, topic.id, split(tp)[1])
        self.persister.send(READS, number, ReadShareGroupStateRequest(key, share.leader_epoch))
        return self.state.partitions.get(name), NONE

    def _state_read(self, number: int, response: ShareGroupStateResponse) -> None:
        name = self.state.reads.pop(number)
        share = self.state.partitions.get(name)
        if share is None or share.status != INITIALIZING:
            return
        replica = self.replicas.get(share.tp)
        if replica is None or replica.role != LEADER:
            self._forget(name, LEADS_NO_MORE)
            return
        if response.error != NONE:
            self._fail(share, STATE_ERRORS.get(response.error, UNKNOWN_ERROR))
            return
        start = response.start if response.start >= 0 else self._first_offset(share.group, replica)
        if start is None:
            self._fail(share, "OFFSET_NOT_AVAILABLE")
            return
        limits = self.limits(share.group)
        share.load(start, response.state_epoch, response.batches, limits)
        self.events.loaded(share)
        archiving = [
            StateBatch(run.first, run.last, ARCHIVING, run.state.deliveries)
            for run in share.runs()
            if run.state.state == ARCHIVING
        ]
        for letters in dead_letters_of(share, archiving, limit=limits.deliveries):
            self.queues.write(letters)
        self.delayed.check_and_complete(share.tp)

    def _fail(self, share: SharePartition, error: str) -> None:
        """Tell the fetches that wait for a share-partition that it cannot be used."""
        del self.state.partitions[share.name]
        for request in list(self.state.fetches.watchers.get(share.tp, ())):
            delayed = self.delayed.find(request)
            if delayed is not None and delayed.message.group == share.group:
                key = f"{request}\n{share.name}"
                self.state.failed[key] = error
                self.delayed.check(request)
                self.state.failed.pop(key, None)

    def _first_offset(self, group: str, replica: Replica) -> int | None:
        """Where a group begins (share.auto.offset.reset); None if no record is as new as asked."""
        reset = self.context.metadata.group_config(group).get("share.auto.offset.reset", "latest")
        age_us = duration_us(reset)
        if age_us is not None:
            return self._offset_since(replica, self.context.timestamp_ms - age_us // 1_000)
        return replica.log.start if reset == "earliest" else replica.high_watermark

    # ---- acquiring

    def _has_bytes(self, delayed: DelayedShareFetch, ready: Sequence[SharePartition]) -> bool:
        """Whether there are enough records to read."""
        readable_bytes = 0
        for share in ready:
            replica = self.replicas.by_name[share.tp]
            offset = share.next_fetch_offset()
            if offset < replica.log.start or offset > replica.log.end:
                return True
            share.looked_up = offset
            batches = self._batches(share, replica, NO_LIMIT)
            readable_bytes += sum(batch.size_bytes for batch in batches)
        return readable_bytes >= max(1, delayed.message.min_bytes)

    def _batches(
        self, share: SharePartition, replica: Replica, limit_bytes: int
    ) -> list[RecordBatch]:
        """The batches of the log from the next offset on."""
        offset = share.next_fetch_offset()
        bound = replica.high_watermark
        if self._reads_committed(share.group):
            bound = replica.last_stable_offset
        bound = min(bound, self._end_after(replica, offset))
        return replica.log.read_within(offset, bound, limit_bytes)

    def _reads_committed(self, group: str) -> bool:
        level = self.context.metadata.group_config(group).get("share.isolation.level")
        return level == "read_committed"

    def _acquire(
        self, delayed: DelayedShareFetch, errors: dict[str, str], ready: Sequence[SharePartition]
    ) -> Results:
        """Acquire records of the share-partitions in order, until there are enough."""
        message = delayed.message
        results = {tp: SharedPartition(error) for tp, error in errors.items()}
        results |= self._unknown_partitions(delayed)
        limits, now = self.limits(message.group), self.kernel.now
        records_left = message.max_records
        bytes_left = min(message.max_bytes, self.context.config.fetch_max_bytes)
        session = self.state.sessions.find(message.group, message.member_id)
        partition_limits = session.limits if session is not None else {}
        for share in ready:
            limit_bytes = bytes_left // len(ready)
            if self.is_early_access:
                limit_bytes = min(bytes_left, partition_limits.get(share.tp, bytes_left))
            replica = self.replicas.by_name[share.tp]
            offset = share.next_fetch_offset()
            former_start = share.start
            if offset < replica.log.start or offset > replica.log.end:
                deleted = share.available_between(former_start, replica.log.start)
                share.log_start_moved(replica.log.start)
                self.events.deleted(share, deleted)
                self.events.start_moved(share, former_start)
                results[share.tp] = SharedPartition(NONE)
                continue
            batches = self._batches(share, replica, limit_bytes)
            if self.is_early_access:
                bytes_left -= sum(batch.size_bytes for batch in batches)
            log = [Batch(batch.base_offset, batch.end_offset - 1) for batch in batches]
            deleted = share.available_between(offset, log[0].first) if log else []
            acquired = share.acquire(
                message.member_id,
                offset,
                log,
                records_left,
                message.batch_size,
                limits,
                now,
                strict=message.strict,
            )
            archived = [run for run in deleted if share.is_archived(run.first)]
            self.events.deleted(share, archived)
            self.events.start_moved(share, former_start)
            if self._reads_committed(message.group) and acquired:
                acquired = self._without_aborted(share, replica, batches, acquired)
            records_left -= sum(piece.last - piece.first + 1 for piece in acquired)
            sent = batches if self.is_early_access else _sliced(batches, acquired)
            results[share.tp] = SharedPartition(
                NONE,
                batches=sent if acquired else [],
                acquired=[AcquiredRange(*piece) for piece in acquired],
            )
            if acquired:
                self._schedule_expiry(share)
                self.events.acquired(message, share, acquired)
        return results

    def _without_aborted(
        self,
        share: SharePartition,
        replica: Replica,
        batches: Sequence[RecordBatch],
        acquired: Sequence[Acquired],
    ) -> list[Acquired]:
        """What was acquired without records of aborted transactions, which are archived."""
        end = batches[-1].end_offset
        aborted = replica.producers.transactions.aborted_in(batches[0].base_offset, end)
        committed = list(acquired)
        for batch in of_aborted(batches, aborted):
            first, last = batch.base_offset, batch.end_offset - 1
            share.archive_aborted(first, last)
            pieces = [
                (max(run.first, first), min(run.last, last), run.deliveries) for run in committed
            ]
            for low, high, deliveries in pieces:
                if low <= high:
                    archived = StateBatch(low, high, ARCHIVED, deliveries)
                    self.events.released(share, [archived], ABORTED)
            committed = [
                piece
                for run in committed
                for piece in (
                    run._replace(last=min(run.last, first - 1)),
                    run._replace(first=max(run.first, last + 1)),
                )
                if piece.first <= piece.last
            ]
        return committed

    def _complete_fetch(self, delayed: DelayedShareFetch, results: Results) -> None:
        """Respond to a fetch, once its acknowledgements are stored."""
        pending = self.state.acknowledgements.get(delayed.request)
        if pending is None:
            self._respond_to_fetch(
                delayed.request, PendingAcknowledgement(delayed.client, delayed.message), results
            )
        elif pending.writes:
            pending.fetched = results
        else:
            del self.state.acknowledgements[delayed.request]
            self._respond_to_fetch(delayed.request, pending, results)

    def _respond_to_fetch(
        self, request: int, pending: PendingAcknowledgement, results: Results
    ) -> None:
        message = pending.message
        assert isinstance(message, ShareFetchRequest)
        session = self.state.sessions.find(message.group, message.member_id)
        error = NONE
        if session is None and message.session_epoch == INITIAL_EPOCH:
            error = LIMIT_REACHED
        answered: Results = {}
        for tp, row in results.items():
            if (
                message.session_epoch == INITIAL_EPOCH
                or session is None
                or session.must_include(tp, row.error, has_records=bool(row.batches))
            ):
                answered[tp] = row
        for tp, (acknowledge_error, text) in pending.errors.items():
            row = answered.get(tp, SharedPartition(NONE))
            answered[tp] = replace(
                row, acknowledge_error=acknowledge_error, acknowledge_message=text
            )
        lock_ms = self._lock_ms(message.group)
        response = ShareFetchResponse(request, message.group, error, "", lock_ms, answered)
        if message.session_epoch == FINAL_EPOCH and session is not None:
            self._end_session(session)
        self.context.respond(pending.client, request, response)

    # ---- acknowledgements

    def acknowledge(self, client: int, request: int, message: ShareAcknowledgeRequest) -> None:
        """Acknowledge records; respond when that is stored."""
        error = self._member_error(message.member_id)
        session = self.state.sessions.find(message.group, message.member_id)
        if error == NONE:
            if message.session_epoch == INITIAL_EPOCH:
                error = INVALID_EPOCH
            elif session is None:
                error = NOT_FOUND
            elif message.session_epoch not in (FINAL_EPOCH, session.epoch):
                error = INVALID_EPOCH
            elif message.session_epoch != FINAL_EPOCH:
                session.advance()
        if error != NONE:
            response = ShareAcknowledgeResponse(request, message.group, error)
            self.context.respond(client, request, response)
            return
        pending = PendingAcknowledgement(client, message)
        self._acknowledge_all(request, pending)
        self._check_stored(request)

    def _acknowledge_all(self, request: int, pending: PendingAcknowledgement) -> None:
        """Acknowledge what is valid; ``pending`` has the errors, and counts the writes."""
        message = pending.message
        may_renew = self.may_renew and message.version >= RENEWALS_SINCE
        interested: dict[str, list[Acknowledgement]] = {}
        empty: list[str] = []
        for tp, batches in message.acknowledged.items():
            if _is_unresolved(tp):
                pending.errors[tp] = (UNKNOWN_ID, "")
            elif is_invalid(batches, renews=message.renews, may_renew=may_renew):
                pending.errors[tp] = (INVALID, "")
            elif self.context.metadata.leader(tp) is None:
                pending.errors[tp] = (UNKNOWN_PARTITION, "")
            elif not batches:
                empty.append(tp)
            else:
                interested[tp] = batches
        if interested:
            pending.errors.update(dict.fromkeys(empty, (NONE, "")))
        self.state.acknowledgements[request] = pending
        pending.writes += 1  # what this broker stores without others is stored at once
        for tp, batches in interested.items():
            self._acknowledge(request, pending, tp, batches)
        pending.writes -= 1

    def _acknowledge(
        self,
        request: int,
        pending: PendingAcknowledgement,
        tp: str,
        batches: Sequence[Acknowledgement],
    ) -> None:
        message = pending.message
        share = self.state.partitions.get(name_of(message.group, tp))
        if share is None or share.status == EMPTY:
            pending.errors[tp] = (UNKNOWN_PARTITION, "")
            return
        pending.errors[tp] = (NONE, "")
        number = self.persister.number()
        limits, now = self.limits(message.group), self.kernel.now
        try:
            stored = share.acknowledge(message.member_id, batches, limits, number, now)
        except Invalid as invalid:
            pending.errors[tp] = (invalid.error, str(invalid))
            self.delayed.check_and_complete(share.tp)
            return
        self._schedule_expiry(share)
        self.events.acknowledged(message, share, batches, stored)
        if stored:
            pending.writes += 1
            letters = dead_letters_of(share, stored, batches)
            self._store(number, share, stored, Write(share.name, request, tp, letters=letters))
        self.delayed.check_and_complete(share.tp)

    def _check_stored(self, request: int) -> None:
        """Answer an acknowledgement if nothing of it is left to store."""
        pending = self.state.acknowledgements.get(request)
        if pending is None or pending.writes:
            return
        message = pending.message
        if isinstance(message, ShareFetchRequest):
            if pending.fetched is not None:
                del self.state.acknowledgements[request]
                self._respond_to_fetch(request, pending, pending.fetched)
            return
        del self.state.acknowledgements[request]
        results = {tp: SharedPartition(error, text) for tp, (error, text) in pending.errors.items()}
        lock_ms = self._lock_ms(message.group)
        response = ShareAcknowledgeResponse(request, message.group, NONE, "", lock_ms, results)
        session = self.state.sessions.find(message.group, message.member_id)
        if message.session_epoch == FINAL_EPOCH and session is not None:
            self._end_session(session)
        self.context.respond(pending.client, request, response)

    # ---- storing

    def _store(
        self, number: int, share: SharePartition, batches: Sequence[StateBatch], write: Write
    ) -> None:
        """Store changes of a share-partition with its share coordinator."""
        self.state.writes[number] = write
        key = SharePartitionKey(share.group, share.topic_id, split(share.tp)[1])
        message = WriteShareGroupStateRequest(
            key,
            share.state_epoch,
            share.leader_epoch,
            share.start,
            list(batches),
            share.completed if self.counts_completed else -1,
        )
        self.persister.send(WRITES, number, message)

    def _state_written(self, number: int, response: ShareGroupStateResponse) -> None:
        """Complete or undo changes that were to be stored."""
        write, error = self.state.writes.pop(number), response.error
        if error != NONE:
            error = STATE_ERRORS.get(error, UNKNOWN_ERROR)
        share = self.state.partitions.get(write.share)
        if share is not None:
            self._complete(share, number, write, error)
        pending = self.state.acknowledgements.get(write.request)
        if pending is not None:
            pending.writes -= 1
            if error != NONE:
                pending.errors[write.tp] = (error, response.message)
            self._check_stored(write.request)
        if share is not None:
            self.delayed.check_and_complete(share.tp)
        for letters in write.letters if error == NONE or write.is_final else ():
            self.queues.write(letters)

    def _complete(self, share: SharePartition, number: int, write: Write, error: str) -> None:
        """Complete or undo the changes of a share-partition that ``write`` stores."""
        limits = self.limits(share.group)
        former_start, undone = share.start, share.changed_by(number) if error != NONE else []
        if write.is_final:
            share.advance(limits)
        else:
            share.complete(number, limits, self.kernel.now, stored=error == NONE)
            self._schedule_expiry(share)
        for run in undone:
            self.events.restored(share, run, error)
        self.events.start_moved(share, former_start)
        if error in FORGETTING:
            self._forget(write.share, error)

    def _letters_ended(self, letters: DeadLetters) -> None:
        """Archive records that are in a dead-letter queue now, or cannot be written to it."""
        share = self.state.partitions.get(letters.share)
        if share is None or share.status != ACTIVE:
            return
        share.archive_dead(letters.first, letters.last)
        archived = StateBatch(letters.first, letters.last, ARCHIVED, letters.deliveries)
        number = self.persister.number()
        self._store(number, share, [archived], Write(letters.share, is_final=True))

    # ---- locks and sessions that end

    def _schedule_expiry(self, share: SharePartition) -> None:
        """Schedule the release of what stays acquired for too long."""
        due_us = share.next_expiry_us
        if due_us:
            self.context.timers.set_deadline(LOCKS, share.name, due_us)
        else:
            self.context.timers.clear_deadline(LOCKS, share.name)

    def expire_locks(self) -> None:
        """Release what was acquired for too long."""
        for key in self.context.timers.overdue(LOCKS):
            share = self.state.partitions.get(str(key))
            if share is None:
                continue
            limits = self.limits(share.group)
            stored = share.expire(limits, self.kernel.now)
            if stored:
                self.events.released(share, stored, "lock expired")
                write = Write(share.name, is_final=True, letters=dead_letters_of(share, stored))
                self._store(self.persister.number(), share, stored, write)
            self._schedule_expiry(share)
            self.delayed.check_and_complete(share.tp)

    def _end_session(self, session: ShareSession) -> None:
        """Forget a session, and release what its member has acquired."""
        self.state.sessions.close(session)
        for tp in session.partitions:
            share = self.state.partitions.get(name_of(session.group, tp))
            if share is None:
                continue
            number = self.persister.number()
            stored = share.release(session.member_id, self.limits(session.group), number)
            if stored:
                self.events.released(share, stored, "session ended")
                write = Write(share.name, letters=dead_letters_of(share, stored))
                self._store(number, share, stored, write)
            self._schedule_expiry(share)
            self.delayed.check_and_complete(share.tp)

    def disconnected(self, _client: int, _request: int, message: ConnectionClosed) -> None:
        """End the sessions of a member whose connection is gone; those of 4.0 go on."""
        if self.is_early_access:
            return
        for session in list(self.state.sessions.sessions.values()):
            if session.connection == message.connection:
                self._end_session(session)
                self._check_group(session.group)

    def _check_group(self, group: str) -> None:
        """Forget the share-partitions of a group without sessions (4.1): they are read anew."""
        sessions = self.state.sessions.sessions.values()
        if self.keeps_idle or any(session.group == group for session in sessions):
            return
        for name in [n for n, share in self.state.partitions.items() if share.group == group]:
            self._forget(name, NO_SESSION)


def _is_unresolved(tp: str) -> bool:
    """Whether a partition belongs to no topic, as the topic's id is unknown."""
    return tp.startswith(UNRESOLVED)


def _is_invalid_renewal(message: ShareFetchRequest) -> bool:
    """Whether a fetch renews locks, but wants records, too."""
    limits = (message.max_bytes, message.min_bytes, message.max_records, message.max_wait_us)
    return message.renews and any(limits)


def _sliced(
    batches: Sequence[RecordBatch], acquired: Sequence[tuple[int, int, int]]
) -> list[RecordBatch]:
    """The batches from that with the first acquired record to that with the last."""
    if not acquired:
        return []
    first, last = acquired[0][0], acquired[-1][1]
    return [
        batch
        for index, batch in enumerate(batches)
        if batch.base_offset <= last
        and (index + 1 == len(batches) or batches[index + 1].base_offset > first)
    ]
