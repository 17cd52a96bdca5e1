"""A member of the metadata quorum: leader election and replication (KIP-595, KIP-996).

Controllers are voters: they vote and can be elected. Brokers are observers: they only fetch. Every
member replicates the log by fetching from the leader, and the leader tracks each member's progress
by its fetch offsets. Records are committed once a majority of the voters has them and the leader
has committed a record of its own epoch. This module is independent of the kernel and the network:
messages are passed to :meth:`QuorumMember.handle`, timeouts are checked by
:meth:`QuorumMember.poll`, and requests are sent through a callback. Source:
``org.apache.kafka.raft.KafkaRaftClient`` and its ``EpochState``s, 3.9 to 4.1.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from emulator.metadata_log.records import AnyRecord, LeaderChangeMessage
from emulator.protocol.message import Message
from emulator.protocol.raft import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    MetadataBatch,
    MetadataFetchRequest,
    MetadataFetchResponse,
    VoteRequest,
    VoteResponse,
)
from emulator.raft.log import SegmentLimits
from emulator.raft.state import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NOBODY,
    PROSPECTIVE,
    RESIGNED,
    UNATTACHED,
    InFlight,
    Parked,
    Progress,
    QuorumState,
    Resting,
    SnapshotFetch,
)

FETCH_WAIT_US: Final = 500_000
"""The maximum wait of a fetch of the log (``KafkaRaftClient.MAX_FETCH_WAIT_MS``)."""
RECONNECT_US: Final = 50_000
RECONNECT_MAX_US: Final = 1_000_000
"""The maximum backoff to an unreachable member (reconnect.backoff.max.ms)."""
NOTICED_US: Final = 20_000
"""How late a follower notices at most that its fetch timeout has expired (observed: voters follow
one another by 5 to 11 ms). The leader's last responses leave together, so without that delay all
voters would become candidates at once, and split the vote."""
BACKOFF_BASE_US: Final = 100_000
"""The base of a candidate's exponential backoff (``RETRY_BACKOFF_BASE_MS``)."""
BACKOFF_POWER_MAX: Final = 10
CHECK_QUORUM_FACTOR: Final = 1.5
"""The number of fetch timeouts without a majority before a leader resigns (``LeaderState``)."""
SNAPSHOT_CHUNK_BYTES: Final = 8 << 20
"""The maximum size of a snapshot chunk (``KafkaRaftClient.MAX_BATCH_SIZE_BYTES``)."""
NEVER_US: Final = 1 << 62


class QuorumRules(Struct, frozen=True):
    """A member's settings (controller.quorum.*, in microseconds) and release-specific behaviour.

    ``pre_vote``: a voter sends pre-vote requests before an election (KIP-996). ``checks_quorum``: a
    leader resigns unless a majority fetches from it (KAFKA-15489). ``tells_high_watermark``: an
    advanced high watermark completes a waiting fetch (KIP-1166).
    """

    election_timeout_us: int
    election_backoff_max_us: int
    fetch_timeout_us: int
    request_timeout_us: int
    pre_vote: bool
    checks_quorum: bool
    tells_high_watermark: bool
    segments: SegmentLimits = SegmentLimits()


class Surroundings(Struct, frozen=True):
    """The surroundings of a member: the clock, random numbers, the network, and record sizes.

    ``on_commit`` is called after the high watermark has advanced, ``on_role`` after the role, the
    epoch or the leader has changed, and ``on_progress`` with a replica that has fetched.
    """

    now_us: Callable[[], int]
    draw: Callable[[int], int]
    send: Callable[[int, Any, int], int]
    hang_up: Callable[[int], None]
    size_of: Callable[[Sequence[AnyRecord]], int] = lambda _records: 0
    on_commit: Callable[[], None] = lambda: None
    on_role: Callable[[], None] = lambda: None
    on_progress: Callable[[int], None] = lambda _replica: None


class QuorumMember:
    """A voter or an observer of the quorum."""

    def __init__(
        self,
        me: int,
        voters: Sequence[int],
        state: QuorumState,
        rules: Callable[[], QuorumRules],
        around: Surroundings,
    ) -> None:
        """Create member ``me``; ``rules`` is called each time, since settings may change."""
        self.me = me
        self.voters = list(voters)
        self.state = state
        self.rules = rules
        self.around = around
        self.is_voter = me in self.voters
        self._handlers: dict[type[Message], Callable[[int, int, Any], None]] = {
            VoteRequest: self._asked_for_vote,
            VoteResponse: self._on_vote_response,
            BeginQuorumEpochRequest: self._leader_greets,
            BeginQuorumEpochResponse: self._on_greeting_response,
            EndQuorumEpochRequest: self._leader_resigned,
            EndQuorumEpochResponse: self._on_resignation_response,
            MetadataFetchRequest: self._fetched_from,
            MetadataFetchResponse: self._on_fetch_response,
            FetchSnapshotRequest: self._snapshot_fetched_from,
            FetchSnapshotResponse: self._on_snapshot_response,
        }

    # ---- the process

    def start(self) -> None:
        """Start the process from its persisted state (``QuorumState.initialize``).

        A voter that was the leader starts as resigned and does not vote again in that epoch.
        """
        state = self.state
        state.running = True
        led = state.leader == self.me
        if led:
            self._become(RESIGNED, state.epoch, self.me)
        elif state.leader != NOBODY:
            self._become(FOLLOWER, state.epoch, state.leader)
        else:
            self._become(UNATTACHED, state.epoch, NOBODY)
        if self.voters == [self.me]:
            self._stand()
        self.poll()

    def resume(self, leader: int, epoch: int) -> None:
        """Continue as a member of a quorum that has elected ``leader`` in ``epoch``.

        Its log is what the quorum has committed. The leader begins its epoch with the next record.
        """
        state = self.state
        state.running, state.epoch = True, epoch
        if leader == self.me:
            state.voted_for = leader
            self._lead()
        else:
            self._become(FOLLOWER, epoch, leader)
        self.poll()

    def handle(self, source: int, request: int, message: Message) -> None:
        """Handle a message from another member; ``request`` is the request's id if it is one."""
        self._handlers[type(message)](source, request, message)
        self.poll()

    def connection_lost(self, peer: int) -> None:
        """Drop the request in flight to ``peer`` and its parked fetch; back off if needed."""
        state = self.state
        state.parked.pop(peer, None)
        if state.asked.pop(peer, None) is not None:
            before = state.resting.get(peer)
            failures = 1 if before is None else before.failures + 1
            pause_us = min(RECONNECT_MAX_US, RECONNECT_US << min(failures - 1, BACKOFF_POWER_MAX))
            state.resting[peer] = Resting(failures, self.around.now_us() + pause_us)
        self.poll()

    # ---- time

    def poll(self) -> None:
        """Perform the actions that are due (``KafkaRaftClient.pollCurrentState``)."""
        state = self.state
        if not state.running:
            return
        self.give_up_requests()
        if state.role == LEADER:
            self._poll_leader()
        elif self.is_voter and state.due_us <= self.around.now_us():
            self._time_is_up()
        if state.role == FOLLOWER:
            self._fetch()
        elif state.role == UNATTACHED and not self.is_voter:
            self._fetch_from_any()
        elif state.role in (CANDIDATE, PROSPECTIVE):
            self._ask_for_votes()

    def next_due_us(self) -> int:
        """The time of the next timeout, in microseconds."""
        state = self.state
        if not state.running:
            return NEVER_US
        times = [state.due_us] if self.is_voter or state.role == FOLLOWER else []
        if state.role == LEADER:
            times.append(state.greets_us)
        for request in state.asked.values():
            times.append(request.due_us)
        for parked in state.parked.values():
            times.append(parked.due_us)
        for resting in state.resting.values():
            times.append(resting.until_us)
        now_us, next_us = self.around.now_us(), NEVER_US
        for due_us in times:
            if now_us < due_us < next_us:
                next_us = due_us
        return next_us

    def give_up_requests(self) -> None:
        """Disconnect from the members whose response is overdue, and back off."""
        state, now_us = self.state, self.around.now_us()
        for peer, request in list(state.asked.items()):
            if request.due_us > now_us:
                continue
            del state.asked[peer]
            self.around.hang_up(peer)
            state.resting[peer] = Resting(1, now_us + RECONNECT_US)

    def _time_is_up(self) -> None:
        """Handle the expiry of the current role's timeout."""
        state, rules = self.state, self.rules()
        if state.role == CANDIDATE and not rules.pre_vote and not state.backs_off:
            self._back_off()
        elif state.role == PROSPECTIVE:
            self._give_up_candidacy()
        elif state.role == FOLLOWER and not self.is_voter:
            return
        elif state.role == FOLLOWER and not state.is_late:
            state.is_late = True
            state.due_us = self.around.now_us() + 1 + self.around.draw(NOTICED_US)
        elif rules.pre_vote and self.voters != [self.me]:
            self._become(PROSPECTIVE, state.epoch, state.leader)
        else:
            self._stand()

    def _election_timeout_us(self) -> int:
        timeout_us = self.rules().election_timeout_us
        return timeout_us + self.around.draw(timeout_us)

    # ---- roles

    def _become(self, role: str, epoch: int, leader: int) -> None:
        """Transition to a role in an epoch; ``leader`` is that epoch's leader, if known.

        A member that becomes unattached keeps its remaining election timeout. Otherwise, a
        candidate that cannot win would keep other voters from becoming candidates
        (``QuorumState.transitionToUnattached``).
        """
        state, now_us, rules = self.state, self.around.now_us(), self.rules()
        waits_on = role == UNATTACHED and state.role != LEADER and state.due_us > 0
        if epoch != state.epoch:
            state.voted_for = NOBODY
        state.epoch, state.role, state.leader = epoch, role, leader
        state.votes, state.progress, state.greeted = {}, {}, {}
        state.backs_off, state.fetched_in_epoch, state.fetching = False, False, None
        for replica, parked in state.parked.items():
            self._respond_with_error(replica, parked.request, "NOT_LEADER_OR_FOLLOWER")
        state.parked = {}
        if role == FOLLOWER:
            self._await_leader()
            state.elections = 0
        elif role == LEADER:
            state.due_us = NEVER_US
            if rules.checks_quorum and len(self.voters) > 1:
                state.due_us = now_us + int(rules.fetch_timeout_us * CHECK_QUORUM_FACTOR)
        elif not waits_on:
            state.due_us = now_us + self._election_timeout_us()
        if role in (CANDIDATE, PROSPECTIVE):
            state.votes[self.me] = True
        self.around.on_role()

    def _await_leader(self) -> None:
        """Begin the fetch timeout: the leader has just been heard of."""
        self.state.due_us = self.around.now_us() + self.rules().fetch_timeout_us
        self.state.is_late = False

    def _meet(self, epoch: int, leader: int) -> None:
        """Transition according to another member's epoch and leader (``maybeTransition``)."""
        state = self.state
        if epoch < state.epoch:
            return
        if epoch > state.epoch:
            self._become(FOLLOWER if leader not in (NOBODY, self.me) else UNATTACHED, epoch, leader)
        elif leader != NOBODY and state.leader == NOBODY:
            self._become(FOLLOWER, epoch, leader)

    # ---- elections

    def _stand(self) -> None:
        """Become a candidate in a new epoch and vote for itself."""
        state = self.state
        state.elections += 1
        self._become(CANDIDATE, state.epoch + 1, NOBODY)
        state.voted_for = self.me
        self._count_votes()

    def _back_off(self) -> None:
        """Back off for a random time that grows with each failed election (3.9)."""
        power = 2 << min(BACKOFF_POWER_MAX, self.state.elections - 1)
        pause_us = BACKOFF_BASE_US * (2 + self.around.draw(max(1, power - 2)))
        self.state.backs_off = True
        pause_us = min(pause_us, self.rules().election_backoff_max_us)
        self.state.due_us = self.around.now_us() + pause_us

    def _give_up_candidacy(self) -> None:
        """End an unsuccessful pre-vote (4.0); follow the leader again if it is known."""
        state = self.state
        role = FOLLOWER if state.leader != NOBODY else UNATTACHED
        voted_for, leader = state.voted_for, state.leader
        self._become(role, state.epoch, leader)
        state.voted_for = voted_for

    def _ask_for_votes(self) -> None:
        state = self.state
        if self._is_rejected() or state.backs_off:
            return
        is_pre_vote = state.role == PROSPECTIVE
        log = state.log
        for voter in self.voters:
            if voter not in state.votes:
                request = VoteRequest(
                    self.me, state.epoch, log.last_epoch, log.end_offset, is_pre_vote
                )
                self._ask(voter, request)

    def _asked_for_vote(self, source: int, request: int, message: VoteRequest) -> None:
        state = self.state
        if message.epoch > state.epoch:
            self._become(UNATTACHED, message.epoch, NOBODY)
        granted = message.epoch == state.epoch and self._may_vote_for(message)
        if granted and not message.pre_vote:
            if state.role != UNATTACHED:
                self._become(UNATTACHED, state.epoch, NOBODY)
            state.voted_for = message.candidate
            state.due_us = self.around.now_us() + self._election_timeout_us()
        response = VoteResponse(
            request, self.me, state.epoch, state.leader, granted, message.pre_vote
        )
        self.around.send(source, response, request)

    def _may_vote_for(self, message: VoteRequest) -> bool:
        """Whether the candidate's log is up to date and this voter has not voted for another."""
        state = self.state
        own_end = (state.log.last_epoch, state.log.end_offset)
        is_up_to_date = (message.end_epoch, message.end_offset) >= own_end
        if message.pre_vote:
            if state.role == FOLLOWER:
                return is_up_to_date and not state.fetched_in_epoch
            return is_up_to_date and state.role not in (LEADER, RESIGNED)
        if state.role in (UNATTACHED, PROSPECTIVE):
            if state.voted_for != NOBODY:
                return state.voted_for == message.candidate
            return state.leader == NOBODY and is_up_to_date
        return False

    def _on_vote_response(self, source: int, _request: int, message: VoteResponse) -> None:
        state = self.state
        if not self._is_awaited(source, message.request):
            return
        self._meet(message.epoch, message.leader)
        asks = PROSPECTIVE if message.pre_vote else CANDIDATE
        if message.epoch == state.epoch and state.role == asks:
            state.votes[message.voter] = message.granted
            self._count_votes()

    def _count_votes(self) -> None:
        state = self.state
        if sum(state.votes.values()) * 2 > len(self.voters):
            if state.role == PROSPECTIVE:
                self._stand()
            else:
                self._lead()
        elif self._is_rejected():
            if state.role == PROSPECTIVE:
                self._give_up_candidacy()
            elif not self.rules().pre_vote and not state.backs_off:
                self._back_off()

    def _is_rejected(self) -> bool:
        """Whether a majority can no longer be reached."""
        against = sum(not granted for granted in self.state.votes.values())
        return against * 2 >= len(self.voters) and against > 0

    # ---- leading

    def _lead(self) -> None:
        """Start an epoch as the leader by appending a LeaderChangeMessage."""
        state = self.state
        self._become(LEADER, state.epoch, self.me)
        state.epoch_start = state.log.end_offset
        state.progress = {v: Progress() for v in self.voters if v != self.me}
        state.greets_us = self.around.now_us()
        self.append([(LeaderChangeMessage(self.me),)])

    def append(self, batches: Sequence[tuple[AnyRecord, ...]]) -> int:
        """Append batches as the leader; return the log end offset."""
        state, now_us, segments = self.state, self.around.now_us(), self.rules().segments
        for records in batches:
            size = self.around.size_of(records)
            batch = MetadataBatch(state.log.end_offset, state.epoch, records, now_us, size)
            state.log.append(batch, segments)
        risen = self._raise_high_watermark()
        self._respond_to_parked()
        if risen:
            self.around.on_commit()
        return state.log.end_offset

    def resign(self) -> None:
        """Resign and notify the other voters, on shutdown or when a majority no longer fetches."""
        state = self.state
        if state.role != LEADER:
            return
        ends = state.progress
        others = [voter for voter in self.voters if voter != self.me]
        successors = sorted(others, key=lambda voter: (-ends[voter].end_offset, voter))
        self._become(RESIGNED, state.epoch, self.me)
        for voter in others:
            self._ask(voter, EndQuorumEpochRequest(self.me, state.epoch, successors))

    def _poll_leader(self) -> None:
        state, now_us = self.state, self.around.now_us()
        if state.due_us <= now_us:
            self.resign()
            return
        if state.greets_us <= now_us:
            state.greeted = {}
            state.greets_us = NEVER_US
            if len(self.voters) > 1:
                state.greets_us = now_us + self.rules().fetch_timeout_us // 2
        for voter in self.voters:
            if voter != self.me and voter not in state.greeted:
                self._ask(voter, BeginQuorumEpochRequest(self.me, state.epoch))
        self._respond_to_parked(now_us)

    def _leader_greets(self, source: int, request: int, message: BeginQuorumEpochRequest) -> None:
        state = self.state
        self._meet(message.epoch, message.leader)
        if state.role == FOLLOWER and state.leader == message.leader:
            self._await_leader()
        response = BeginQuorumEpochResponse(request, self.me, state.epoch, state.leader)
        self.around.send(source, response, request)

    def _on_greeting_response(
        self, source: int, _request: int, message: BeginQuorumEpochResponse
    ) -> None:
        if self._is_awaited(source, message.request):
            self._meet(message.epoch, message.leader)
            if message.epoch == self.state.epoch:
                self.state.greeted[message.voter] = None

    def _leader_resigned(self, source: int, request: int, message: EndQuorumEpochRequest) -> None:
        """Start an election, at once if first among the successors, else after a backoff.

        Source: ``endEpochElectionBackoff``.
        """
        state = self.state
        self._meet(message.epoch, message.leader)
        if state.role == FOLLOWER and message.epoch == state.epoch:
            rank = message.successors.index(self.me) if self.me in message.successors else 0
            pause_us = 0
            if rank:
                power = 2 << min(BACKOFF_POWER_MAX, rank - 1)
                pause_us = BACKOFF_BASE_US * (2 + self.around.draw(max(1, power - 2)))
                pause_us = min(pause_us, self.rules().election_backoff_max_us)
            state.due_us = self.around.now_us() + pause_us
            state.fetched_in_epoch = False
        response = EndQuorumEpochResponse(request, state.epoch, state.leader)
        self.around.send(source, response, request)

    def _on_resignation_response(
        self, source: int, _request: int, message: EndQuorumEpochResponse
    ) -> None:
        if self._is_awaited(source, message.request):
            self._meet(message.epoch, NOBODY if message.leader == self.me else message.leader)

    # ---- the leader's side of fetching

    def _fetched_from(self, source: int, request: int, message: MetadataFetchRequest) -> None:
        """Handle a fetch: update its sender's progress and park the request until there is news."""
        state, now_us = self.state, self.around.now_us()
        error = self._refusal(message)
        if error:
            self._respond_with_error(source, request, error)
            return
        snapshot = state.log.snapshot_instead(message.offset, message.last_epoch)
        if snapshot is not None:
            response = MetadataFetchResponse(
                *(request, "NONE", state.epoch, self.me, state.high_watermark), snapshot=snapshot
            )
            self.around.send(source, response, request)
            return
        diverging = state.log.diverging(message.offset, message.last_epoch)
        if diverging is not None:
            response = MetadataFetchResponse(
                request, "NONE", state.epoch, self.me, state.high_watermark, (), diverging
            )
            self.around.send(source, response, request)
            return
        self._note_progress(message.replica, message.offset, now_us)
        high_watermark = message.high_watermark if self.rules().tells_high_watermark else NEVER_US
        due_us = now_us + message.max_wait_us
        state.parked[source] = Parked(request, message.offset, high_watermark, due_us)
        risen = self._raise_high_watermark()
        self._respond_to_parked(now_us)
        if risen:
            self.around.on_commit()

    def _snapshot_fetched_from(
        self, source: int, request: int, message: FetchSnapshotRequest
    ) -> None:
        """Send a chunk of a snapshot; fetching it counts as a sign of life."""
        state = self.state
        error = self._refusal(message)
        snapshot = None if error else state.log.snapshot(message.snapshot)
        if snapshot is None:
            leader = NOBODY if state.role == RESIGNED else state.leader
            error = error or "SNAPSHOT_NOT_FOUND"
            response = FetchSnapshotResponse(request, error, state.epoch, leader)
        else:
            if message.replica in state.progress:
                state.progress[message.replica].fetched_us = self.around.now_us()
                self._hear_majority()
            end = min(snapshot.size_bytes, message.position + SNAPSHOT_CHUNK_BYTES)
            whole = snapshot if end == snapshot.size_bytes else None
            response = FetchSnapshotResponse(
                request, "NONE", state.epoch, self.me, end, snapshot.size_bytes, whole
            )
        self.around.send(source, response, request)

    def _refusal(self, message: MetadataFetchRequest | FetchSnapshotRequest) -> str:
        state = self.state
        if message.epoch < state.epoch:
            return "FENCED_LEADER_EPOCH"
        if message.epoch > state.epoch:
            return "UNKNOWN_LEADER_EPOCH"
        return "" if state.role == LEADER else "NOT_LEADER_OR_FOLLOWER"

    def _respond_with_error(self, source: int, request: int, error: str) -> None:
        state = self.state
        leader = NOBODY if state.role == RESIGNED else state.leader
        self.around.send(
            source, MetadataFetchResponse(request, error, state.epoch, leader), request
        )

    def _note_progress(self, replica: int, offset: int, now_us: int) -> None:
        state = self.state
        progress = state.progress.get(replica)
        if progress is None:
            progress = state.progress[replica] = Progress()
        moved, end = progress.end_offset != offset, state.log.end_offset
        if offset >= end:
            progress.caught_up_us = now_us
        elif offset >= progress.leader_end:
            progress.caught_up_us = max(progress.caught_up_us, progress.fetched_us)
        progress.end_offset, progress.fetched_us = offset, now_us
        progress.leader_end = end
        if moved:
            self.around.on_progress(replica)
        if replica in self.voters:
            self._hear_majority()

    def _hear_majority(self) -> None:
        """Postpone the resignation of a leader that a majority fetches from (``LeaderState``)."""
        state = self.state
        if state.due_us != NEVER_US:
            window_us = int(self.rules().fetch_timeout_us * CHECK_QUORUM_FACTOR)
            others = [
                progress.fetched_us for v, progress in state.progress.items() if v in self.voters
            ]
            others.sort(reverse=True)
            heard_us = others[len(self.voters) // 2 - 1]  # together with the leader a majority
            if heard_us:
                state.due_us = heard_us + window_us

    def _raise_high_watermark(self) -> bool:
        """Advance the high watermark to the majority's offset, once it passes the epoch's start."""
        state = self.state
        ends = [state.progress[v].end_offset for v in self.voters if v != self.me]
        ends.append(state.log.end_offset)
        ends.sort(reverse=True)
        majority_offset = ends[len(self.voters) // 2]
        if majority_offset <= state.epoch_start or majority_offset <= state.high_watermark:
            return False
        state.high_watermark = majority_offset
        return True

    def _respond_to_parked(self, now_us: int | None = None) -> None:
        """Complete parked fetches that have new records or a new high watermark, or timed out."""
        state = self.state
        end, high_watermark = state.log.end_offset, state.high_watermark
        for replica, parked in list(state.parked.items()):
            is_late = now_us is not None and parked.due_us <= now_us
            if parked.offset < end or parked.high_watermark < high_watermark or is_late:
                del state.parked[replica]
                batches = tuple(state.log.from_offset(parked.offset))
                response = MetadataFetchResponse(
                    parked.request, "NONE", state.epoch, self.me, high_watermark, batches
                )
                self.around.send(replica, response, parked.request)

    # ---- the follower's side

    def _fetch(self) -> None:
        """Fetch from the leader; an observer tries any voter if the leader is unreachable."""
        state, now_us = self.state, self.around.now_us()
        if self.is_voter:
            self._send_fetch(state.leader)
        elif state.due_us <= now_us or self._rests(state.leader):
            self._fetch_from_any()
        elif not state.asked:
            self._send_fetch(state.leader)

    def _fetch_from_any(self) -> None:
        """Fetch from any voter to find the leader."""
        if self.state.asked:
            return
        ready = [voter for voter in self.voters if not self._rests(voter)]
        if ready:
            self._send_fetch(ready[self.around.draw(len(ready))])

    def _send_fetch(self, voter: int) -> None:
        state = self.state
        log, snapshot = state.log, state.fetching
        if snapshot is not None:
            snapshot_id = (snapshot.end_offset, snapshot.epoch)
            self._ask(
                voter, FetchSnapshotRequest(self.me, state.epoch, snapshot_id, snapshot.position)
            )
            return
        high_watermark = state.high_watermark if self.rules().tells_high_watermark else -1
        request = MetadataFetchRequest(
            self.me, state.epoch, log.end_offset, log.last_epoch, FETCH_WAIT_US, high_watermark
        )
        self._ask(voter, request)

    def _on_fetch_response(
        self, source: int, _request: int, message: MetadataFetchResponse
    ) -> None:
        state = self.state
        if not self._is_awaited(source, message.request):
            return
        before = (state.epoch, state.leader)
        self._meet(message.epoch, message.leader)
        if message.error != "NONE":
            if (state.epoch, state.leader) == before:  # no newer leader known: retry later
                state.resting[source] = Resting(1, self.around.now_us() + RECONNECT_US)
            return
        if state.role != FOLLOWER or source != state.leader:
            return
        if message.epoch != state.epoch:
            return
        self._await_leader()
        state.fetched_in_epoch = True
        if message.snapshot is not None:
            state.fetching = SnapshotFetch(*message.snapshot)
            return
        if message.diverging is not None:
            epoch, end = message.diverging
            _, own_end = state.log.end_of_epoch(epoch)
            state.log.truncate(min(end, own_end))
            return
        self._take(message)

    def _take(self, message: MetadataFetchResponse) -> None:
        """Append the fetched batches and advance the high watermark."""
        state, segments = self.state, self.rules().segments
        end = state.log.end_offset
        for batch in message.batches:
            if batch.base_offset == end:
                state.log.append(batch, segments)
                end = batch.end_offset
        committed = min(message.high_watermark, end)
        if committed > state.high_watermark:
            state.high_watermark = committed
            self.around.on_commit()

    def _on_snapshot_response(
        self, source: int, _request: int, message: FetchSnapshotResponse
    ) -> None:
        """Request the next chunk of a snapshot; after the last one, restart the log at its end."""
        state, now_us = self.state, self.around.now_us()
        if not self._is_awaited(source, message.request):
            return
        self._meet(message.epoch, message.leader)
        if state.role != FOLLOWER or source != state.leader or state.fetching is None:
            return
        if message.error != "NONE":  # the leader has a newer one, named by its next fetch response
            state.fetching = None
            state.resting[source] = Resting(1, now_us + RECONNECT_US)
            return
        self._await_leader()
        if message.snapshot is None:
            state.fetching.position = message.end
            return
        state.fetching = None
        state.log.start_at(message.snapshot)
        state.high_watermark = max(state.high_watermark, message.snapshot.end_offset)
        self.around.on_commit()

    # ---- requests in flight: at most one to each member

    def _ask(self, peer: int, request: Message) -> None:
        state = self.state
        if peer in state.asked or self._rests(peer):
            return
        seq = self.around.send(peer, request, 0)
        due_us = self.around.now_us() + self.rules().request_timeout_us
        state.asked[peer] = InFlight(seq, due_us)

    def _is_awaited(self, peer: int, request: int) -> bool:
        """Whether this is the response to the request in flight."""
        in_flight = self.state.asked.get(peer)
        if in_flight is None or in_flight.request != request:
            return False
        del self.state.asked[peer]
        self.state.resting.pop(peer, None)
        return True

    def _rests(self, peer: int) -> bool:
        resting = self.state.resting.get(peer)
        return resting is not None and resting.until_us > self.around.now_us()
