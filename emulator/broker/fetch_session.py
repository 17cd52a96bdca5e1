"""How a leader's broker serves fetches: sessions, parking, and what a fetch tells of its follower.

A follower's fetch is handled when it arrives, and once more when it was parked and is answered.
Followers repeat only what changed (fetch sessions, KIP-227), so a partition at rest costs nothing.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from emulator import events
from emulator.broker.replica import LEADER, Replica
from emulator.protocol import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.replication import remote_replica, truncation

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

NONE = "NONE"


class FetchSession(Struct, array_like=True, gc=False):
    """What a leader's broker knows of one follower's fetching.

    ``partitions`` is what it fetches and from where; ``outside`` those in whose ISR it is not,
    which are looked at on every fetch; ``ready`` those with something new to read; ``news`` those
    whose HW it is to be told. ``parked`` is the request that waits (0: none) until ``deadline_us``.
    """

    follower: int
    one_shot: bool = False
    partitions: dict[str, FetchPartition] = field(default_factory=dict)
    ready: dict[str, None] = field(default_factory=dict)
    news: dict[str, None] = field(default_factory=dict)
    outside: dict[str, None] = field(default_factory=dict)
    parked: int = 0
    deadline_us: int = 0
    last_fetch_us: int = 0


class FetchServer:
    """Answers the fetches of followers."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.kernel = broker.world.kernel
        self.profile = broker.world.profile
        self.recorded_first = self.profile.has("fetch_recorded_before_read")
        self.quick = self.profile.has("delayed_fetch_completes_on_high_watermark")

    # ---- what happened to a partition that is led here

    def appended(self, replica: Replica) -> None:
        """New records: answer the parked fetches of followers; the others read when they ask."""
        state = self.broker.state
        tp = replica.tp
        for follower in replica.remotes:
            session = state.fetch_sessions.get(follower)
            if session is not None and tp in session.partitions:
                session.ready[tp] = None
                if session.parked:
                    self._answer_if_ready(session)
        for session in list(state.single_fetches.values()):
            if tp in session.partitions and session.parked:
                session.ready[tp] = None
                self._answer_if_ready(session)

    def isr_moved(self, replica: Replica) -> None:
        """Look on every fetch at the followers that are not in the ISR (any longer)."""
        for follower in replica.remotes:
            session = self.broker.state.fetch_sessions.get(follower)
            if session is not None and replica.tp in session.partitions:
                if follower in replica.isr:
                    session.outside.pop(replica.tp, None)
                else:
                    session.outside[replica.tp] = None

    def epoch_began(self, replica: Replica) -> None:
        """Look on its next fetch at what each follower said under the epoch before (KIP-320)."""
        if not self.broker.state.fetch_sessions:
            return
        for follower in replica.remotes:
            session = self.broker.state.fetch_sessions.get(follower)
            fenced = self.broker.leader.fencing
            if fenced and session is not None and replica.tp in session.partitions:
                session.ready[replica.tp] = None
        self.isr_moved(replica)

    def high_watermark_moved(self, replica: Replica) -> None:
        """Let followers be told of the new HW, in 2.4 and 2.5 at once."""
        state = self.broker.state
        tp = replica.tp
        for follower in replica.remotes:
            session = state.fetch_sessions.get(follower)
            if session is not None and tp in session.partitions:
                session.news[tp] = None
                if self.quick and session.parked:
                    self._answer(session)
        if state.single_fetches:
            self._spread_to_single_fetches(tp)

    def _spread_to_single_fetches(self, tp: str) -> None:
        for session in list(self.broker.state.single_fetches.values()):
            if tp in session.partitions:
                session.news[tp] = None
                if self.quick and session.parked:
                    self._answer(session)

    # ---- fetch

    def fetch(self, follower: int, request: int, message: FetchRequest) -> None:
        """Handle a FetchRequest of a follower, or (replica -1) of a consumer."""
        if message.replica < 0:
            self.broker.reads.fetch(follower, request, message)
            return
        if not message.one_shot and not message.new_session and not self._knows(follower):
            self.broker.close_connection(follower)
            return
        session = self._session(follower, request, message)
        session.last_fetch_us = self.kernel.now
        due = dict.fromkeys(message.partitions)
        if session.ready:
            due.update(session.ready)
            session.ready = {}
        if session.outside:
            due.update(session.outside)
        rows, answer = self._read_all(session, due)
        if answer or message.max_wait_us <= 0:
            self._send(session, request, rows)
            return
        session.parked = request
        session.deadline_us = self.kernel.now + message.max_wait_us
        self.broker.arm("fetch-timeout", session.deadline_us)
        if self.quick and self._untold(session):
            self._answer(session)

    def _knows(self, follower: int) -> bool:
        """Whether the session goes on that a follower believes to have (KIP-227)."""
        return follower in self.broker.state.fetch_sessions

    def _session(self, follower: int, request: int, message: FetchRequest) -> FetchSession:
        state = self.broker.state
        if message.one_shot:
            session = FetchSession(follower, one_shot=True)
            state.single_fetches[request] = session
        else:
            found = state.fetch_sessions.get(follower)
            if found is None or message.new_session:
                found = state.fetch_sessions[follower] = FetchSession(follower)
            session = found
            session.parked = 0
            for tp in message.forgotten:
                session.partitions.pop(tp, None)
                session.ready.pop(tp, None)
                session.news.pop(tp, None)
                session.outside.pop(tp, None)
        for tp, partition in message.partitions.items():
            session.news[tp] = None
            session.partitions[tp] = partition
        return session

    def _untold(self, session: FetchSession) -> bool:
        """2.4-2.5: whether a parked partition's HW is above what its follower was told."""
        for tp in session.news:
            replica = self.broker.state.replicas.get(tp)
            remote = None if replica is None else replica.remotes.get(session.follower)
            if (
                replica is not None
                and remote is not None
                and replica.high_watermark > max(0, remote.told_hw)
            ):
                return True
        return False

    def _read_all(
        self, session: FetchSession, due: dict[str, None]
    ) -> tuple[dict[str, FetchedPartition], bool]:
        rows: dict[str, FetchedPartition] = {}
        answer = False
        for tp in due:
            asked = session.partitions.get(tp)
            if asked is None:
                continue
            row = self._read(session, tp, asked)
            if row is not None:
                rows[tp] = row
                answer = True
        return rows, answer

    def _read(
        self, session: FetchSession, tp: str, asked: FetchPartition
    ) -> FetchedPartition | None:
        """The answer for one partition; None: nothing new to read."""
        follower = session.follower
        replica = self.broker.state.replicas.get(tp)
        error = self.broker.leader.check_epoch(replica, asked.current_leader_epoch)
        if error != NONE or replica is None:
            return FetchedPartition(error, -1, -1, [])
        if asked.last_fetched_epoch >= 0:
            diverging = self._diverging(replica, asked)
            if diverging is not None:
                return diverging
        log = replica.log
        if asked.offset < log.start or asked.offset > log.end:
            return FetchedPartition("OFFSET_OUT_OF_RANGE", -1, log.start, [])
        if follower not in replica.remotes:
            return FetchedPartition("NOT_LEADER_OR_FOLLOWER", -1, -1, [])
        if self.recorded_first:
            self._record(replica, follower, asked.offset)
        high_watermark = replica.high_watermark
        batches = log.read(asked.offset, log.end) if asked.offset < log.end else []
        if not self.recorded_first:
            self._record(replica, follower, asked.offset)
        if follower in replica.isr:
            session.outside.pop(tp, None)
        else:
            session.outside[tp] = None
        return FetchedPartition(NONE, high_watermark, log.start, batches) if batches else None

    def _diverging(self, replica: Replica, asked: FetchPartition) -> FetchedPartition | None:
        """Truncation on fetch (Partition.readRecords 2.7+).

        Where the follower's last epoch ends here.
        """
        if replica.epochs is None:
            return None
        epoch, end = self.broker.end_offset_for(replica, asked.last_fetched_epoch)
        if end == truncation.UNDEFINED:
            return FetchedPartition("OFFSET_OUT_OF_RANGE", -1, replica.log.start, [])
        if epoch < asked.last_fetched_epoch or end < asked.offset:
            return FetchedPartition(
                NONE, replica.high_watermark, replica.log.start, [], (epoch, end)
            )
        return None

    def _record(self, replica: Replica, follower: int, offset: int) -> None:
        remote = replica.remotes[follower]
        moved = remote.leo != offset
        remote_replica.record_fetch(self.profile, remote, offset, replica.log.end, self.kernel.now)
        if moved:
            self.kernel.emit(
                events.RemoteLogEndOffsetChanged, replica.tp, self.broker.id, follower, offset
            )
        if follower not in replica.isr:
            self.broker.isr.maybe_expand(replica, follower)
        if moved:
            self.broker.leader.note_lag(replica)
            if replica.high_watermark < replica.log.end:
                self.broker.leader.check_high_watermark(replica, "fetch")

    # ---- parked fetches

    def _answer_if_ready(self, session: FetchSession) -> None:
        due, session.ready = session.ready, {}
        rows, answer = self._read_all(session, due)
        if answer:
            self._send(session, session.parked, rows)

    def _answer(self, session: FetchSession) -> None:
        due, session.ready = session.ready, {}
        rows, _ = self._read_all(session, due)
        self._send(session, session.parked, rows)

    def expire_parked(self) -> None:
        """Answer the fetches that have waited long enough; what they get is read afresh."""
        now = self.kernel.now
        state = self.broker.state
        left: list[int] = []
        for session in [*state.fetch_sessions.values(), *state.single_fetches.values()]:
            if not session.parked:
                continue
            if session.deadline_us <= now:
                self._answer(session)
            else:
                left.append(session.deadline_us)
        if left:
            self.broker.arm("fetch-timeout", min(left))

    def _send(self, session: FetchSession, request: int, rows: dict[str, FetchedPartition]) -> None:
        replicas, follower = self.broker.state.replicas, session.follower
        session.parked = 0
        later: dict[str, None] = {}
        nothing = FetchedPartition(NONE, 0, 0, [])
        for tp in session.news:
            replica = replicas.get(tp)
            if replica is None or replica.role != LEADER:
                continue
            high_watermark, start = replica.high_watermark, replica.log.start
            row = rows.get(tp)
            if row is None:
                if nothing.high_watermark != high_watermark or nothing.log_start != start:
                    nothing = FetchedPartition(NONE, high_watermark, start, [])
                row = rows[tp] = nothing
            elif row.high_watermark < high_watermark:
                later[tp] = None
            if self.quick and (remote := replica.remotes.get(follower)) is not None:
                remote.told_hw = row.high_watermark
        session.news = later
        if session.one_shot:
            self.broker.state.single_fetches.pop(request, None)
        self.broker.respond(session.follower, request, FetchResponse(request, rows))

    def connection_lost(self, follower: int) -> None:
        """A follower's connection broke: nobody waits for the answer to its parked fetch."""
        session = self.broker.state.fetch_sessions.get(follower)
        if session is not None:
            session.parked = 0

    def drop_partition(self, tp: str) -> None:
        """The partition is no longer led here: parked fetches that name it are answered at once."""
        state = self.broker.state
        for session in [*state.fetch_sessions.values(), *state.single_fetches.values()]:
            if tp in session.partitions and session.parked:
                session.ready[tp] = None
                self._answer_if_ready(session)
