"""How a leader's broker serves followers' fetches: fetch sessions and delayed fetches.

A follower's fetch is handled when it arrives, and once more when a parked fetch completes.
Followers only send what changed (fetch sessions, KIP-227), so an idle partition costs nothing.
"""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from emulator import events
from emulator.broker.replication.partition_locks import PartitionLocks
from emulator.broker.replication.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    PurgatoryState,
)
from emulator.broker.replication.replica import LEADER, Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE, NOT_LEADER
from emulator.protocol import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    RecordBatch,
)
from emulator.protocol.fetch import NO_LIMIT
from emulator.replication.partition import (
    AnnounceIsr,
    BeginEpoch,
    CompleteFetches,
    CountFetch,
    LogReadResult,
    OfferRecords,
    StopLeading,
    TellHighWatermark,
    caught_up_us,
    fencing_error,
    fetch_records,
)

TIMEOUT = "fetch-timeout"
UNKNOWN_TOPIC_ID = "UNKNOWN_TOPIC_ID"
FENCING_ERRORS = ("FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH")
"""The errors for a request with a different leader epoch (KIP-320)."""


class FetchSession(Struct, array_like=True, gc=False):
    """A leader's state of one follower's fetches.

    ``partitions`` are the fetched partitions and offsets, those that were answered last at the end;
    ``outside`` those whose ISR does not include the follower, which are checked on every fetch;
    ``ready`` those with new data to read; ``news`` those whose HW is to be sent, and whether it is
    new to the follower. ``parked`` is the waiting request (0: none). ``max_bytes`` limits the
    records of one response. ``is_full``: the last fetch began the session. ``replica_epoch`` is the
    follower's broker epoch in its last fetch (-1: not sent).
    """

    follower: int
    one_shot: bool = False
    partitions: dict[str, FetchPartition] = field(default_factory=dict)
    ready: dict[str, None] = field(default_factory=dict)
    news: dict[str, bool] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)
    parked: int = 0
    last_fetch_us: int = 0
    max_bytes: int = NO_LIMIT
    is_full: bool = False
    replica_epoch: int = -1


class DelayedFetch(DelayedOperation, frozen=True):
    """A follower's fetch waiting for records; its partitions are in its session."""

    one_shot: bool


Rows = dict[str, FetchedPartition]


class FetchSessionsState(Struct, array_like=True):
    """The followers' sessions, single fetches by request, and the parked fetches."""

    by_follower: dict[int, FetchSession] = field(default_factory=dict)
    single: dict[int, FetchSession] = field(default_factory=dict)
    parked: PurgatoryState = field(default_factory=PurgatoryState)

    def partitions_of(self, follower: int) -> dict[str, FetchPartition]:
        session = self.by_follower.get(follower)
        return {} if session is None else session.partitions

    def log_start_of(self, follower: int, tp: str) -> int:
        """The start of a follower's log when it last fetched, or -1 if it has not."""
        partition = self.partitions_of(follower).get(tp)
        return -1 if partition is None else partition.log_start


class FetchSessions:
    """Answers followers' fetches."""

    def __init__(
        self,
        context: BrokerContext,
        state: FetchSessionsState,
        replicas: Replicas,
        locks: PartitionLocks,
        deletes: DelayedOperationPurgatory[Any, Any],
    ) -> None:
        """Serve ``replicas`` in ``context``, waiting for ``locks``.

        A follower that has told what it has of a partition may complete ``deletes`` of its records.
        """
        self.context = context
        self.kernel = context.kernel
        self.state = state
        self.replicas = replicas
        self.locks = locks
        self.rules = replicas.rules
        self.gives_one_batch = context.profile.has("fetch_response_max_bytes")
        self.forgets_epochs = context.profile.has("incremental_fetch_without_epoch")
        self.quick = context.profile.has("delayed_fetch_completes_on_high_watermark")
        self.deletes = deletes

    # ---- when followers fetched

    def session_fetches(self, replica: Replica) -> dict[int, int]:
        """When each follower with the partition in its session last fetched (microseconds)."""
        return {session.follower: session.last_fetch_us for session in self._continuing(replica)}

    def caught_up_us(self, replica: Replica, follower: int) -> int:
        """When a follower was last known to be caught up (microseconds)."""
        fetched_us = self.session_fetches(replica).get(follower, 0)
        return caught_up_us(replica.remotes[follower], replica.log_end, fetched_us)

    def replica_epochs(self, replica: Replica, members: list[int]) -> list[int]:
        """The broker epoch in each member's last fetch of a partition led here; -1 if unknown.

        Source: ``Partition.addBrokerEpochToIsr``.
        """
        return [self._replica_epoch(replica.tp, member) for member in members]

    def _replica_epoch(self, tp: str, member: int) -> int:
        if member == self.context.id:
            return self.context.process.broker_epoch
        sessions = (self.state.by_follower.get(member), *self.state.single.values())
        for session in sessions:
            if session is not None and session.follower == member and tp in session.partitions:
                return session.replica_epoch
        return -1

    def last_fetches(self) -> Mapping[int, int]:
        """When each follower with a session last fetched (microseconds)."""
        sessions = self.state.by_follower
        return {follower: session.last_fetch_us for follower, session in sessions.items()}

    # ---- changes to a partition that is led here

    def _continuing(self, replica: Replica) -> list[FetchSession]:
        """The followers' sessions that name a partition."""
        by_follower, tp = self.state.by_follower, replica.tp
        sessions: list[FetchSession] = []
        for follower in replica.remotes if by_follower else ():
            session = by_follower.get(follower)
            if session is not None and tp in session.partitions:
                sessions.append(session)
        return sessions

    def _sessions_with(self, replica: Replica) -> list[FetchSession]:
        """The sessions and single fetches that name a partition."""
        sessions, tp = self._continuing(replica), replica.tp
        if self.state.single:
            sessions += [
                session for session in self.state.single.values() if tp in session.partitions
            ]
        return sessions

    def offer_records(self, replica: Replica, _effect: OfferRecords) -> None:
        """Answer followers' parked fetches; the others see the records on their next fetch."""
        for session in self._sessions_with(replica):
            session.ready[replica.tp] = None
            if session.parked:
                self._answer_news(session)

    def isr_changed(self, replica: Replica, _effect: AnnounceIsr) -> None:
        """Check the followers that the new ISR leaves out on every fetch."""
        for session in self._continuing(replica):
            _note_membership(session, replica)

    def epoch_began(self, replica: Replica, _effect: BeginEpoch) -> None:
        """Check on its next fetch what each follower sent under the previous epoch (KIP-320)."""
        for session in self._continuing(replica):
            if self.rules.fencing:
                session.ready[replica.tp] = None
            _note_membership(session, replica)

    def high_watermark_moved(self, replica: Replica, _effect: CompleteFetches) -> None:
        """Send followers the new HW with their next response, in 2.4 and 2.5 at once."""
        for session in self._sessions_with(replica):
            session.news[replica.tp] = True
            if self.quick and session.parked:
                self._answer_news(session)

    def stopped_leading(self, replica: Replica, effect: StopLeading) -> None:
        """Answer parked fetches that include the partition at once."""
        for session in [*self.state.by_follower.values(), *self.state.single.values()]:
            if session.parked and replica.tp in session.partitions:
                session.ready.pop(replica.tp, None)
                rows = self._read_ready(session)
                requested = session.partitions[replica.tp].current_leader_epoch
                error = fencing_error(requested, effect.leader_epoch, self.rules)
                rows[replica.tp] = FetchedPartition(error or NOT_LEADER, -1, -1, [])
                self._answer(session, session.parked, rows)

    def read_again(self, tps: list[str]) -> None:
        """Read partitions with their followers' next fetches, although they have nothing new."""
        for session in self.state.by_follower.values():
            session.ready.update(dict.fromkeys(tp for tp in tps if tp in session.partitions))

    # ---- fetch

    def fetch(self, follower: int, request: int, message: FetchRequest) -> None:
        """Handle a FetchRequest of a follower."""
        if (
            follower not in self.state.by_follower
            and not message.one_shot
            and not message.new_session
        ):  # the session that the follower refers to no longer exists (KIP-227)
            self.context.close_connection(follower, request)
            return
        session = self._session(follower, request, message)
        session.last_fetch_us = self.kernel.state.now_us
        session.replica_epoch = message.replica_epoch
        due: dict[str, None] = dict.fromkeys(message.partitions) if message.partitions else {}
        if session.ready:
            due.update(session.ready)
            session.ready = {}
        if session.outside:
            due.update(session.outside)
            if len(due) > 1:  # the first to be checked is the first to rejoin its ISR
                due = {tp: None for tp in session.partitions if tp in due}
        rows = self._read_all(session, due) if due else {}
        if rows or message.max_wait_us <= 0:
            self._send(session, request, rows)
            return
        session.parked = request
        self.state.parked.operations[request] = DelayedFetch(request, follower, message.one_shot)
        until_us = session.last_fetch_us + message.max_wait_us
        self.context.timers.set_deadline(TIMEOUT, request, until_us)
        if self.quick:
            self._answer_news(session)

    def _session(self, follower: int, request: int, message: FetchRequest) -> FetchSession:
        if message.one_shot:
            session = FetchSession(follower, one_shot=True)
            self.state.single[request] = session
        else:
            of_follower = self.state.by_follower.get(follower)
            if of_follower is None or message.new_session:
                of_follower = self.state.by_follower[follower] = FetchSession(follower)
            session = of_follower
            if session.parked:
                self._unpark(session, session.parked)
            for tp in message.forgotten:
                session.partitions.pop(tp, None)
                session.ready.pop(tp, None)
                session.news.pop(tp, None)
                session.outside.pop(tp, None)
        forgets = self.forgets_epochs and not message.new_session and not message.one_shot
        # A cached partition has no leader epoch in these releases: what the full fetch sent is
        # gone with the next one, and later fetches are no longer checked (KAFKA-9338).
        if forgets and session.is_full:
            session.partitions = {
                tp: _unfenced(partition) for tp, partition in session.partitions.items()
            }
        session.is_full = message.new_session
        partitions, news = session.partitions, session.news
        deletes = self.deletes.state.watchers
        for tp, partition in message.partitions.items():
            if tp not in news:
                news[tp] = tp not in partitions
            partitions[tp] = _unfenced(partition) if forgets else partition
            if tp in deletes:
                self.deletes.check_and_complete(tp)
        session.max_bytes = message.max_bytes
        return session

    def _untold(self, session: FetchSession) -> bool:
        """2.4-2.5: whether a parked partition's HW is above the one last sent to its follower."""
        for tp in session.news:
            replica = self.replicas.get(tp)
            remote = None if replica is None else replica.remotes.get(session.follower)
            if (
                replica is not None
                and remote is not None
                and replica.high_watermark > max(0, remote.told_hw)
            ):
                return True
        return False

    def _read_all(self, session: FetchSession, due: dict[str, None]) -> Rows:
        """The response for the partitions that are due, omitting those without changes.

        Records are returned up to the limits of the fetch: ``replica.fetch.max.bytes`` a partition,
        ``replica.fetch.response.max.bytes`` in total. Since 0.10.1 (KIP-74) the first batch of the
        first non-empty partition is returned however large it is, so that the follower progresses.
        """
        rows: Rows = {}
        known_ids = self.context.metadata.known_topic_ids
        left_bytes, at_least_one = session.max_bytes, self.gives_one_batch
        for tp in due:
            requested = session.partitions.get(tp)
            if requested is None:
                continue
            if known_ids is not None and requested.topic_id not in known_ids:
                rows[tp] = self._refuse_unknown(session, tp)
                continue
            row = self._read(session, tp, requested, left_bytes, at_least_one)
            if row is not None:
                rows[tp] = row
                if row.batches:
                    at_least_one = False
                    for batch in row.batches:
                        left_bytes -= batch.size_bytes
        return rows

    def _read(
        self,
        session: FetchSession,
        tp: str,
        requested: FetchPartition,
        left_bytes: int,
        at_least_one: bool,
    ) -> FetchedPartition | None:
        """The response for one partition; None if there is nothing new to read."""
        follower, offset, rules = session.follower, requested.offset, self.rules
        replica = self.replicas.served(tp)
        response = fetch_records(
            replica,
            follower,
            offset,
            requested.current_leader_epoch,
            requested.last_fetched_epoch,
            rules,
        )
        if response.error != NONE or response.diverging is not None or replica is None:
            if replica is not None and response.error in FENCING_ERRORS:
                sent = requested.current_leader_epoch
                self._refuse(session, tp, response.error, sent, replica.leader_epoch)
            return _without_records(response)
        is_current = True
        if session.replica_epoch >= 0:
            epoch = self.context.metadata.broker_epoch(follower)
            if epoch is not None and session.replica_epoch < epoch:
                return self._refuse_stale(session, tp, epoch)
            # A newer epoch than this broker knows is a matter of its own metadata being behind: the
            # records count as fetched, but the follower does not join the ISR yet
            # (Partition.isReplicaIsrEligible, KIP-903).
            is_current = session.replica_epoch == epoch
        counted = CountFetch(follower, offset, is_current)
        if rules.counts_fetch_first:
            # Up to 0.8.1 a fetch updates the follower's position before the read, so its response
            # already carries the HW that it raised. Since 0.8.2 the read comes first, and followers
            # learn of a new HW one round later (docs/high-watermark.md). In the documents the read
            # comes first, too, but the response carries the new HW.
            self.replicas.do(replica, counted)
        batches: list[RecordBatch] = []
        if offset < replica.log_end:
            limit_bytes = requested.max_bytes if requested.max_bytes < left_bytes else left_bytes
            batches = self._records(session, replica, offset, limit_bytes, at_least_one)
        if not rules.counts_fetch_first:
            self.replicas.do(replica, counted)
        if session.outside or follower not in replica.isr:
            _note_membership(session, replica)
        if not batches:
            return None
        tells_raised = rules.tells_raised_high_watermark
        high_watermark = replica.high_watermark if tells_raised else response.high_watermark
        return FetchedPartition(NONE, high_watermark, replica.log_start, batches)

    def _records(
        self,
        session: FetchSession,
        replica: Replica,
        offset: int,
        limit_bytes: int,
        at_least_one: bool,
    ) -> list[RecordBatch]:
        """Read the log from ``offset`` on, up to the LEO."""
        tp, follower = replica.tp, session.follower
        batches = replica.log.read_within(
            offset, replica.log_end, limit_bytes, at_least_one=at_least_one
        )
        if batches:
            last = batches[-1]
            count = last.base_offset + last.count - offset
            self.kernel.emit(events.RecordsRead, tp, self.context.id, follower, offset, count)
        else:
            session.ready[tp] = None  # the response was full: the next fetch reads it
        return batches

    def _refuse_unknown(self, session: FetchSession, tp: str) -> FetchedPartition:
        """Refuse a fetch of a topic id that is not, or no longer, in this broker's image.

        A topic of the same name may have been re-created (KIP-516). The follower asks again.
        """
        self._refuse(session, tp, UNKNOWN_TOPIC_ID, -1, -1)
        return FetchedPartition(UNKNOWN_TOPIC_ID, -1, -1, [])

    def _refuse_stale(self, session: FetchSession, tp: str, current: int) -> FetchedPartition:
        """Refuse a fetch of a broker's previous process (``Replica.updateFetchStateOrThrow``)."""
        self._refuse(session, tp, NOT_LEADER, session.replica_epoch, current)
        return FetchedPartition(NOT_LEADER, -1, -1, [])

    def _refuse(self, session: FetchSession, tp: str, error: str, sent: int, current: int) -> None:
        request = session.parked or self.kernel.cause
        self.context.refuse(session.follower, request, tp, error, sent, current)

    # ---- parked fetches

    def _answer_news(self, session: FetchSession) -> None:
        """Answer a parked fetch if there is anything new."""
        if self.quick and self._untold(session):
            self._answer(session, session.parked, self._all(session))
        elif rows := self._read_ready(session):
            self._answer(session, session.parked, rows)

    def expire(self) -> None:
        """Answer the parked fetches that have waited long enough."""
        for request in self.context.timers.overdue(TIMEOUT):
            assert isinstance(request, int)
            delayed = self.state.parked.operations.get(request)
            if delayed is not None:
                single, sessions = self.state.single, self.state.by_follower
                session = single[request] if delayed.one_shot else sessions[delayed.client]
                self._answer(session, request, self._all(session))

    def _all(self, session: FetchSession) -> Rows:
        """The response to a parked fetch that must complete now; the partitions are read again."""
        # Where the session drops leader epochs, the second read does not update the follower's
        # position: the next fetch does.
        return {} if self.forgets_epochs else self._read_ready(session)

    def _read_ready(self, session: FetchSession) -> Rows:
        if not session.ready:
            return {}
        due, session.ready = session.ready, {}
        return self._read_all(session, due)

    def _answer(self, session: FetchSession, request: int, rows: Rows) -> None:
        self._unpark(session, request)
        self._send(session, request, rows)

    def _unpark(self, session: FetchSession, request: int) -> None:
        if self.state.parked.operations.pop(request, None) is not None:
            self.context.timers.clear_deadline(TIMEOUT, request)
        session.parked = 0

    def _send(self, session: FetchSession, request: int, rows: Rows) -> None:
        follower = session.follower
        if rows or session.news:
            self._rotate(session, rows)
        if session.news:
            self._add_news(session, rows)
        if session.one_shot:
            self.state.single.pop(request, None)
        response = FetchResponse(request, rows)
        if self.locks.state.held and self.locks.keep(follower, request, response):
            return
        self.context.network.send(self.context.id, follower, response, request)

    def _add_news(self, session: FetchSession, rows: Rows) -> None:
        """Add the HWs that are new to the follower to a response."""
        later: dict[str, bool] = {}
        replicas, quick = self.replicas.by_name, self.quick
        nothing = FetchedPartition(NONE, 0, 0, [])
        for tp in session.news:
            replica = replicas.get(tp)
            if replica is None or replica.role != LEADER:
                continue
            high_watermark, start = replica.high_watermark, replica.log_start
            row = rows.get(tp)
            if row is None:
                if nothing.high_watermark != high_watermark or nothing.log_start != start:
                    nothing = FetchedPartition(NONE, high_watermark, start, [])
                row = rows[tp] = nothing
            elif row.high_watermark < high_watermark:
                # The row was read before this fetch raised the HW: that is for the next response.
                later[tp] = True
            if quick:
                command = TellHighWatermark(session.follower, row.high_watermark)
                self.replicas.do(replica, command)
        session.news = later

    @staticmethod
    def _rotate(session: FetchSession, rows: Rows) -> None:
        """Move the partitions whose news are sent to the session's end (``PartitionIterator``).

        So the partitions that changed least recently come first in the next fetch.
        """
        # The response to a full fetch creates the session in the order of the request: only
        # incremental fetches rotate it (IncrementalFetchContext).
        if session.is_full or len(session.partitions) == 1:
            return
        moved = [*rows, *[tp for tp, is_new in session.news.items() if is_new and tp not in rows]]
        if [*islice(reversed(session.partitions), len(moved))] == moved[::-1]:
            return  # they are at the session's end already, in this order
        for tp in moved:
            partition = session.partitions.pop(tp, None)
            if partition is not None:
                session.partitions[tp] = partition

    def connection_lost(self, follower: int) -> None:
        """Drop a follower's parked fetch when its connection breaks."""
        session = self.state.by_follower.get(follower)
        if session is not None and session.parked:
            self._unpark(session, session.parked)


def _unfenced(requested: FetchPartition) -> FetchPartition:
    """The session's copy of a partition where the leader epoch is dropped (KAFKA-9338)."""
    return replace(requested, current_leader_epoch=-1)


def _note_membership(session: FetchSession, replica: Replica) -> None:
    """Check a follower outside the ISR on every fetch."""
    if session.follower not in replica.isr:
        session.outside[replica.tp] = None
    elif session.outside:
        session.outside.pop(replica.tp, None)


def _without_records(response: LogReadResult) -> FetchedPartition:
    return FetchedPartition(
        response.error, response.high_watermark, response.log_start, [], response.diverging
    )
