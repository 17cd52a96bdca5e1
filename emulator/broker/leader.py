"""The leader's side of replication: appends, fetches, the high watermark, acknowledgements.

A follower's fetch is handled when it arrives, and once more when it has been parked and is
answered. Followers repeat only what changed (fetch sessions), so a partition at rest costs nothing:
that its followers are caught up is worked out from the session's last fetch when it next matters.
"""

from typing import TYPE_CHECKING, TypeGuard

from emulator import events
from emulator.broker.fetch_session import FetchSession
from emulator.broker.replica import LEADER, DelayedProduce, Replica
from emulator.protocol import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
    ProduceRequest,
    ProduceResponse,
    RecordBatch,
)
from emulator.protocol.names import split
from emulator.replication import truncation
from emulator.replication.high_watermark import high_watermark as next_high_watermark
from emulator.replication.high_watermark import holds_high_watermark
from emulator.replication.remote_replica import NEVER_US, Remote

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

NONE = "NONE"
LOG_LIMIT = (1 << 63) - 1


class LeaderSide:
    """What a broker does for the partitions that it leads."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.kernel = broker.world.kernel
        self.profile = broker.world.profile
        self.fencing = self.profile.has("fetch_fencing")
        self.hw_waits = self.profile.has("hw_waits_for_min_isr")
        self.epochs_on = self.profile.has("leader_epochs")
        self._min_isr: dict[str, int] = {}
        self._min_isr_version = -1

    # ---- produce

    def produce(self, client: int, request: int, message: ProduceRequest) -> None:
        """Handle a ProduceRequest.

        Append, then answer by its acks (semantics of Partition.appendRecordsToLeader).
        """
        replica = self.broker.state.replicas.get(message.tp)
        log_start = -1 if replica is None else replica.log.start
        error = self._refusal(replica, message)
        if error == NONE and replica is not None:
            verdict = self._check_sequence(replica, message.batch)
            if verdict is None:
                base = self.append(replica, message.batch)
                required = replica.log.end
            else:
                error, base = verdict
                required = base + message.batch.count
            if error == NONE and message.acks == -1 and replica.high_watermark < required:
                self._wait(replica, client, request, base, required, message.timeout_us)
                return
        else:
            base = -1
        if message.acks == 0:
            if error != NONE:
                self.broker.close_connection(client, request)
            return
        response = ProduceResponse(request, message.tp, error, base, log_start)
        self.broker.respond(client, request, response)

    def _refusal(self, replica: Replica | None, message: ProduceRequest) -> str:
        if not -1 <= message.acks <= 1 and self.profile.has("acks_checked"):
            return "INVALID_REQUIRED_ACKS"
        if replica is None or replica.role == "offline":
            return "UNKNOWN_TOPIC_OR_PARTITION" if replica is None else "NOT_LEADER_OR_FOLLOWER"
        if replica.role != LEADER:
            return "NOT_LEADER_OR_FOLLOWER"
        if message.acks == -1 and len(replica.isr) < self.effective_min_isr(replica):
            return "NOT_ENOUGH_REPLICAS"
        topic, _, _ = message.tp.rpartition("-")
        if message.size_bytes > self.broker.context.max_message_bytes(topic):
            return "MESSAGE_TOO_LARGE"
        return NONE

    def effective_min_isr(self, replica: Replica) -> int:
        """min.insync.replicas, from 3.7 at most the number of assigned replicas."""
        if self._min_isr_version != self.world.config_version:
            self._min_isr_version = self.world.config_version
            self._min_isr = {}
        min_isr = self._min_isr.get(replica.tp)
        if min_isr is None:
            topic, _ = split(replica.tp)
            min_isr = self.broker.context.min_insync_replicas(topic)
            self._min_isr[replica.tp] = min_isr
        return min(min_isr, len(replica.assigned)) if self.hw_waits else min_isr

    def _check_sequence(self, replica: Replica, batch: RecordBatch) -> tuple[str, int] | None:
        """None to append.

        Otherwise an error, or NONE with the offset of the batch that this one repeats.
        """
        if batch.producer_id < 0:
            return None
        return replica.producers.check(self.profile, batch)

    def append(self, replica: Replica, batch: RecordBatch) -> int:
        """Write a batch as leader; returns its base offset."""
        log = replica.log
        base = log.end
        self._settle_caught_up(replica)
        epoch = replica.leader_epoch if self.epochs_on else -1
        placed = RecordBatch(
            base,
            batch.count,
            epoch,
            batch.first_record,
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
        )
        if self.epochs_on:
            self.broker.assign_epoch(replica, epoch, base)
        log.append(placed)
        if placed.producer_id >= 0:
            replica.producers.append(placed)
        self.kernel.emit(
            events.RecordsAppended,
            replica.tp,
            self.broker.id,
            base,
            placed.count,
            epoch,
            placed.first_record,
        )
        if replica.remotes:
            self.broker.state.lagging[replica.tp] = None
        self.check_high_watermark(replica, "append")
        self.broker.fetches.appended(replica)
        return base

    def _settle_caught_up(self, replica: Replica) -> None:
        """Before the LEO moves: a follower at the LEO was caught up at its session's last fetch."""
        end = replica.log.end
        sessions = self.broker.state.fetch_sessions
        for follower, remote in replica.remotes.items():
            if remote.leo == end:
                session = sessions.get(follower)
                if _tells(session, replica.tp, remote):
                    last = session.last_fetch_us
                    remote.last_caught_up_us = max(remote.last_caught_up_us, last)
                    remote.last_fetch_us = last
                    remote.last_fetch_leader_leo = end

    def _wait(
        self,
        replica: Replica,
        client: int,
        request: int,
        base: int,
        required: int,
        timeout_us: int,
    ) -> None:
        deadline = self.kernel.now + timeout_us
        replica.waiting.append(DelayedProduce(request, client, required, base, deadline))
        self.broker.state.waiting_partitions[replica.tp] = None
        self.broker.arm("produce-timeout", deadline)

    def complete_waiting(self, replica: Replica) -> None:
        """Answer the acks=all requests whose offset the HW has reached.

        Source: Partition.checkEnoughReplicasReachOffset.
        """
        waiting = replica.waiting
        if not waiting:
            return
        high_watermark = replica.high_watermark
        done = [w for w in waiting if w.required_offset <= high_watermark]
        if not done:
            return
        replica.waiting = [w for w in waiting if w.required_offset > high_watermark]
        enough = len(replica.maximal_isr) >= self.effective_min_isr(replica)
        error = NONE if enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
        for each in done:
            self._finish(replica, each, error)
        if not replica.waiting:
            self.broker.state.waiting_partitions.pop(replica.tp, None)

    def fail_waiting(self, replica: Replica, error: str) -> None:
        """Answer all waiting acks=all requests with an error (leadership lost, replica stopped)."""
        waiting, replica.waiting = replica.waiting, []
        self.broker.state.waiting_partitions.pop(replica.tp, None)
        for each in waiting:
            self._finish(replica, each, error)

    def expire_waiting(self) -> None:
        """Answer those whose time has run out with REQUEST_TIMED_OUT.

        The records stay in the log.
        """
        now = self.kernel.now
        state = self.broker.state
        for tp in list(state.waiting_partitions):
            replica = state.replicas[tp]
            late = [w for w in replica.waiting if w.deadline_us <= now]
            replica.waiting = [w for w in replica.waiting if w.deadline_us > now]
            for each in late:
                self._finish(replica, each, "REQUEST_TIMED_OUT")
            if not replica.waiting:
                del state.waiting_partitions[tp]
        left = [
            w.deadline_us for tp in state.waiting_partitions for w in state.replicas[tp].waiting
        ]
        if left:
            self.broker.arm("produce-timeout", min(left))

    def _finish(self, replica: Replica, each: DelayedProduce, error: str) -> None:
        base = each.base_offset if error == NONE else -1
        response = ProduceResponse(each.request, replica.tp, error, base)
        self.broker.respond(each.client, each.request, response)

    # ---- the high watermark

    def check_high_watermark(self, replica: Replica, occasion: str) -> bool:
        """Raise the HW if all that count have more (Partition.maybeIncrementLeaderHW).

        True if it rose.
        """
        if replica.high_watermark >= replica.log.end:
            return False
        isr = replica.isr
        if self.hw_waits and len(isr) < self.effective_min_isr(replica):
            return False
        raised = next_high_watermark(
            replica.high_watermark, replica.log.end, self._counted(replica)
        )
        if raised == replica.high_watermark:
            return False
        self.broker.set_high_watermark(replica, raised, occasion)
        self.broker.fetches.high_watermark_moved(replica)
        self.complete_waiting(replica)
        return True

    def _counted(self, replica: Replica) -> list[int]:
        members = replica.maximal_isr
        counted: list[int] = []
        for follower, remote in replica.remotes.items():
            if follower in members or (
                holds_high_watermark(
                    self.profile,
                    remote,
                    replica.log.end,
                    self.kernel.now,
                    self.broker.config.replica_lag_time_max_us,
                )
                and self.broker.may_be_isr_member(follower)
            ):
                counted.append(remote.leo)
        return counted

    # ---- questions

    def check_epoch(self, replica: Replica | None, epoch: int) -> str:
        """Return the error for a request to a non-leader, or one with another leader epoch.

        Source: Partition.checkCurrentLeaderEpoch 2.1+.
        """
        if replica is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if epoch >= 0 and self.fencing and replica.known:
            if epoch < replica.leader_epoch:
                return "FENCED_LEADER_EPOCH"
            if epoch > replica.leader_epoch:
                return "UNKNOWN_LEADER_EPOCH"
        return NONE if replica.role == LEADER else "NOT_LEADER_OR_FOLLOWER"

    def offsets_for_leader_epoch(
        self, source: int, request: int, message: OffsetsForLeaderEpochRequest
    ) -> None:
        """Answer where epochs end (KIP-101, KIP-279)."""
        rows: dict[str, tuple[str, int, int]] = {}
        for tp, (current, epoch) in message.partitions.items():
            replica = self.broker.state.replicas.get(tp)
            error = self.check_epoch(replica, current)
            if error != NONE or replica is None or replica.epochs is None:
                rows[tp] = (error, truncation.UNDEFINED, truncation.UNDEFINED)
            else:
                rows[tp] = (NONE, *self.broker.end_offset_for(replica, epoch))
        self.broker.respond(source, request, OffsetsForLeaderEpochResponse(request, rows))

    def list_offsets(self, source: int, request: int, message: ListOffsetsRequest) -> None:
        """Answer a follower that is out of range: where this log begins and ends."""
        replica = self.broker.state.replicas.get(message.tp)
        error = self.check_epoch(replica, message.current_leader_epoch)
        if error != NONE or replica is None:
            answer = ListOffsetsResponse(request, message.tp, error, -1, -1)
        else:
            log = replica.log
            answer = ListOffsetsResponse(request, message.tp, NONE, log.start, log.end)
        self.broker.respond(source, request, answer)

    def note_lag(self, replica: Replica) -> None:
        """Remember whether any follower of a partition lacks something: only those can fall out."""
        end = replica.log.end
        for remote in replica.remotes.values():
            if remote.leo != end:
                self.broker.state.lagging[replica.tp] = None
                return
        self.broker.state.lagging.pop(replica.tp, None)

    def caught_up_us(self, replica: Replica, follower: int) -> int:
        """When a follower was last known to have everything (virtual time; 0: never)."""
        remote = replica.remotes[follower]
        session = self.broker.state.fetch_sessions.get(follower)
        if remote.leo == replica.log.end and _tells(session, replica.tp, remote):
            return max(remote.last_caught_up_us, session.last_fetch_us)
        return remote.last_caught_up_us

    def new_remotes(self, replica: Replica, keep: bool) -> None:
        """Begin (or, led already, go on) remembering the followers (Partition.makeLeader)."""
        now = self.kernel.now
        before = replica.remotes if keep else {}
        replica.remotes = {}
        for follower in replica.assigned:
            if follower == self.broker.id:
                continue
            remote = before.get(follower)
            if remote is None:
                remote = Remote()
                self.kernel.emit(
                    events.RemoteLogEndOffsetChanged, replica.tp, self.broker.id, follower, -1
                )
            remote.last_caught_up_us = now if follower in replica.isr else NEVER_US
            remote.since_us = now
            if keep:
                remote.last_fetch_us = now
                remote.last_fetch_leader_leo = replica.log.end
            replica.remotes[follower] = remote
        self.note_lag(replica)


def _tells(session: FetchSession | None, tp: str, remote: Remote) -> TypeGuard[FetchSession]:
    """Whether a session's last fetch tells of a partition in the leader's present epoch."""
    return (
        session is not None
        and tp in session.partitions
        and session.last_fetch_us >= remote.since_us
    )
