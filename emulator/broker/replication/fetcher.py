"""The follower's side of replication: one fetcher per source broker.

A fetcher has one request in flight at a time. For partitions that have to truncate it first sends
a request for the leader's epoch end offsets; then it fetches all partitions. The fetch offset is
always the replica's LEO, which is how the leader learns what the follower has. Source:
kafka.server.AbstractFetcherThread, ReplicaFetcherThread.
"""

from msgspec import Struct, field

from emulator.broker.replication.replica import Replica, Replicas
from emulator.broker_context import BrokerContext
from emulator.broker_effects import FetcherIdle
from emulator.common.errors import NONE
from emulator.common.names import split
from emulator.protocol import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.releases.config_names import BrokerConfig
from emulator.replication.fetching import (
    ADJUSTED,
    ASKED_AGAIN,
    COMPARING,
    DISCONNECTED,
    ERROR,
    FENCED,
    FETCHING,
    IS_OUT_OF_RANGE,
    OUT_OF_RANGE,
    SETTLED,
    TRUNCATING,
    FetchState,
    added,
)
from emulator.replication.leader_epoch_cache import UNDEFINED
from emulator.replication.partition import (
    ASK_AGAIN,
    HALT,
    AdjustToLeader,
    AppendFetched,
    KeepFetching,
    Partition,
    StartFetching,
    StopFetching,
    TruncateToEpochEnd,
)

BACKOFF = "fetch-backoff"
SOCKET_TIMEOUT = "socket-timeout"
THREAD_US = 10_000
FIRST_THREAD_US = 30_000
"""How long fetcher threads take to start in KRaft mode, and the first one of a process, which loads
many classes (observed: 25 to 110 ms on a busy machine)."""
NEXT_THREAD_US = 2_000
"""The minimum delay between the starts of two fetchers."""

EXITED = -1
"""In place of a fetcher's request: its thread has asked for the process to exit, and has ended."""

Question = FetchRequest | OffsetsForLeaderEpochRequest | ListOffsetsRequest
"""The requests that a fetcher sends to a leader."""


class Fetcher(Struct, array_like=True, gc=False):
    """A fetcher thread for one source broker. ``request`` is the one in flight (0: none; EXITED).

    ``changed`` are partitions whose fetch state has not been sent to the leader yet, ``forgotten``
    those removed since. ``in_session`` are the partitions in the leader's fetch session.
    """

    source: int
    partitions: dict[str, FetchState] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    forgotten: dict[str, None] = field(default_factory=dict)
    in_session: dict[str, None] = field(default_factory=dict)
    truncating: dict[str, None] = field(default_factory=dict)
    out_of_range: dict[str, None] = field(default_factory=dict)
    request: int = 0
    resume_us: int = 0
    session_open: bool = False


class SingleRound(Struct, frozen=True, array_like=True, gc=False):
    """A round of one partition (a `fetch` statement) waiting for a response from ``source``."""

    tp: str
    source: int


class FetchersState(Struct, array_like=True):
    """The fetchers by source broker, and single rounds by their request.

    ``started_us`` is when the most recently created fetcher starts (KRaft mode; 0: none yet).
    """

    by_source: dict[int, Fetcher] = field(default_factory=dict)
    single_rounds: dict[int, SingleRound] = field(default_factory=dict)
    started_us: int = 0

    def has_round(self, tp: str) -> bool:
        """Whether a single round of a partition waits for a response."""
        return any(single_round.tp == tp for single_round in self.single_rounds.values())


class FetcherManager:
    """Fetches the partitions that a broker follows."""

    def __init__(self, context: BrokerContext, state: FetchersState, replicas: Replicas) -> None:
        self.context = context
        self.kernel = context.kernel
        self.state = state
        self.replicas = replicas
        self.rules = rules = replicas.rules
        self._asks_epochs = rules.truncates_by_epoch and not rules.diverging_fetch
        self.waits_for_idle = context.profile.has("leader_and_isr_waits_for_idle_fetchers")
        self.exited_is_awaited = not context.profile.has("exiting_thread_has_ended")
        self.sends_broker_epoch = context.metadata.has_broker_epochs and context.profile.has(
            "fetch_carries_broker_epoch"
        )
        self.starts_late = context.metadata.fetchers_start_late and not context.stepwise
        self._topic_ids = context.metadata.topic_ids
        self._gathers = False

    # ---- which partitions

    def start(self, replica: Replica, effect: StartFetching) -> None:
        """Start fetching, unless the broker is shutting down (ReplicaManager.isShuttingDown)."""
        if not replica.paused and self.context.process.status != "controlled_shutdown":
            self.begin(replica, asks_ends=effect.asks_ends)

    def begin(self, replica: Replica, *, asks_ends: bool = False) -> None:
        """Fetch from ``replica.leader``, first asking for epoch end offsets where the release does.

        Also called when a follower resumes after a pause, during which the leader may have changed.
        """
        tp, fetcher = replica.tp, self.state.by_source.get(replica.leader)
        if fetcher is None:
            fetcher = self._new_fetcher(replica.leader)
        asks_epoch = self._asks_epochs and replica.epochs is not None and replica.epochs.latest >= 0
        fetcher.partitions[tp] = added(
            replica.leader_epoch, asks_epoch=asks_epoch, asks_ends=asks_ends
        )
        if fetcher.forgotten:  # the leader's session need not lose what it would get back at once
            fetcher.forgotten.pop(tp, None)
        if asks_epoch:
            fetcher.truncating[tp] = None
        if asks_ends:
            fetcher.out_of_range[tp] = None
        fetcher.changed[tp] = None
        if not fetcher.request:
            self.pump(fetcher)

    def _new_fetcher(self, source: int) -> Fetcher:
        """Create a fetcher for a broker; its thread takes a while to start.

        By then, a leader elected while its broker was being unfenced has opened its ports. With
        ZooKeeper the controller's requests take that time instead.
        """
        state = self.state
        fetcher = state.by_source[source] = Fetcher(source)
        if self.starts_late:
            now_us, before_us = self.kernel.state.now_us, state.started_us
            pause_us = THREAD_US if before_us else FIRST_THREAD_US
            if before_us:
                pause_us = max(pause_us, before_us + NEXT_THREAD_US - now_us)
            fetcher.resume_us = state.started_us = self._resume(source, pause_us)
        return fetcher

    def stop(self, replica: Replica, _effect: StopFetching) -> None:
        self.remove(replica.tp)

    def keep(self, replica: Replica, _effect: KeepFetching) -> None:
        """Go on fetching in a new leader epoch of the same leader."""
        fetcher = self.state.by_source.get(replica.leader)
        fetch_state = None if fetcher is None else fetcher.partitions.get(replica.tp)
        if fetch_state is not None:
            fetch_state.epoch = replica.leader_epoch

    def remove(self, tp: str) -> None:
        """Stop fetching a partition from whichever broker it is fetched from."""
        for fetcher in self.state.by_source.values():
            if fetcher.partitions.pop(tp, None) is not None:
                fetcher.changed.pop(tp, None)
                fetcher.truncating.pop(tp, None)
                fetcher.out_of_range.pop(tp, None)
                if tp in fetcher.in_session:
                    del fetcher.in_session[tp]
                    fetcher.forgotten[tp] = None

    def forget(self, tp: str) -> None:
        """Ignore pending responses to single rounds of a deleted replica."""
        rounds = self.state.single_rounds
        self.state.single_rounds = {
            r: single_round for r, single_round in rounds.items() if single_round.tp != tp
        }

    def gather(self) -> None:
        """Send nothing until :meth:`go_on`, so that several partitions can be added together."""
        self._gathers = True

    def go_on(self) -> None:
        """Fetch the partitions that were added."""
        self._gathers = False
        for fetcher in list(self.state.by_source.values()):
            self.pump(fetcher)

    def shut_down_idle(self) -> None:
        """End the fetchers without partitions (shutdownIdleFetcherThreads)."""
        fetchers = self.state.by_source
        for source in [source for source, fetcher in fetchers.items() if not fetcher.partitions]:
            del fetchers[source]
            self.context.timers.clear_deadline(SOCKET_TIMEOUT, source)

    def has_idle_request(self) -> bool:
        """Whether shutdownIdleFetcherThreads waits for an idle fetcher's request (up to 1.0)."""
        fetchers = self.state.by_source.values()
        is_one_idle = any(fetcher.request > 0 and not fetcher.partitions for fetcher in fetchers)
        return self.waits_for_idle and (is_one_idle or self.hangs())

    def hangs(self) -> bool:
        """Whether a thread waits for the end of the process, which waits for that thread."""
        fetchers = self.state.by_source.values()
        return self.exited_is_awaited and any(fetcher.request == EXITED for fetcher in fetchers)

    # ---- the loop

    def pump(self, fetcher: Fetcher) -> None:
        """Send the next request if none is in flight; in stepwise mode only when told to."""
        if fetcher.request or self.context.stepwise or self._gathers:
            return
        if not fetcher.partitions:
            self.context.carry_out(FetcherIdle())
            return
        now = self.kernel.state.now_us
        if fetcher.resume_us > now:
            return
        # Out of range is handled within the fetch that found it, and truncation before the next one
        # (``AbstractFetcherThread.doWork``): both hold up all partitions of the fetcher.
        for tp in fetcher.out_of_range:
            if fetcher.partitions[tp].resume_us <= now:
                self._send(fetcher, self.ends_question(tp), self.context.config)
                return
        if fetcher.truncating:
            asking = [tp for tp in fetcher.truncating if fetcher.partitions[tp].resume_us <= now]
            if asking:
                self._ask_epochs(fetcher, asking)
                return
        self._fetch(fetcher)

    def _ask_epochs(self, fetcher: Fetcher, asking: list[str]) -> None:
        rows: dict[str, tuple[int, int]] = {}
        for tp in asking:
            replica = self.replicas.by_name[tp]
            rows[tp] = self.epoch_question(replica)
            fetcher.partitions[tp].asked_epoch = replica.leader_epoch
        question = OffsetsForLeaderEpochRequest(self.context.id, rows)
        self._send(fetcher, question, self.context.config)

    def epoch_question(self, replica: Replica) -> tuple[int, int]:
        """The follower's current leader epoch (-1: not sent), and the latest epoch in its log."""
        latest = replica.epochs.latest if replica.epochs is not None else UNDEFINED
        return (replica.leader_epoch if self.rules.fencing else UNDEFINED, latest)

    def ends_question(self, tp: str) -> ListOffsetsRequest:
        """Request the start and end offsets of the leader's log."""
        replica = self.replicas.by_name[tp]
        tells_epoch = self.rules.fencing or self.phase_of(replica) == COMPARING
        epoch = replica.leader_epoch if tells_epoch else UNDEFINED
        return ListOffsetsRequest(self.context.id, tp, epoch)

    def phase_of(self, replica: Replica) -> str:
        """The phase in which a partition is fetched from its leader; fetching if it is not."""
        fetcher = self.state.by_source.get(replica.leader)
        fetch_state = None if fetcher is None else fetcher.partitions.get(replica.tp)
        return FETCHING if fetch_state is None else fetch_state.phase

    def _fetch(self, fetcher: Fetcher) -> None:
        config = self.context.config
        requested: dict[str, FetchPartition] = {}
        if fetcher.changed:
            now = self.kernel.state.now_us
            later: dict[str, None] = {}
            partitions, in_session = fetcher.partitions, fetcher.in_session
            replicas, limit_bytes = self.replicas.by_name, config.replica_fetch_max_bytes
            for tp in fetcher.changed:
                fetch_state = partitions[tp]
                if fetch_state.phase == FETCHING and fetch_state.resume_us <= now:
                    partition = requested[tp] = self.fetch_partition(replicas[tp], limit_bytes)
                    fetch_state.asked_offset = partition.offset
                    in_session[tp] = None
                else:
                    later[tp] = None
            if not fetcher.in_session:
                return
            fetcher.changed = later
        elif not fetcher.in_session:
            return
        forgotten: list[str] = []
        if fetcher.forgotten:
            forgotten, fetcher.forgotten = list(fetcher.forgotten), {}
        request = FetchRequest(
            self.context.id,
            config.replica_fetch_wait_max_us,
            requested,
            forgotten,
            new_session=not fetcher.session_open,
            max_bytes=config.replica_fetch_response_max_bytes,
            replica_epoch=self.replica_epoch(),
        )
        fetcher.session_open = True
        self._send(fetcher, request, config)

    def replica_epoch(self) -> int:
        """The broker epoch in this broker's fetches; -1 in releases that do not send it."""
        if not self.sends_broker_epoch:
            return -1
        return self.context.process.broker_epoch or -1  # unknown until the broker has registered

    def fetch_partition(self, replica: Replica, limit_bytes: int) -> FetchPartition:
        """A replica's entry in a fetch: at most ``limit_bytes`` (replica.fetch.max.bytes)."""
        rules, ids = self.rules, self._topic_ids
        epoch = replica.leader_epoch if rules.fencing else UNDEFINED
        last = UNDEFINED
        if rules.diverging_fetch and replica.epochs is not None and replica.epochs.entries:
            last = replica.epochs.entries[-1][0]
        topic_id = ids.get(replica.tp, "") if ids else ""
        return FetchPartition(
            replica.log_end, epoch, last, limit_bytes, replica.log_start, topic_id
        )

    def _send(self, fetcher: Fetcher, message: Question, config: BrokerConfig) -> None:
        context = self.context
        fetcher.request = context.network.send(context.id, fetcher.source, message)
        at_us = self.kernel.state.now_us + config.replica_socket_timeout_us
        context.timers.set_deadline(SOCKET_TIMEOUT, fetcher.source, at_us)

    def _ended(self, source: int, request: int) -> Fetcher | None:
        """The fetcher whose request has completed; None if it waits for another one."""
        fetcher = self.state.by_source.get(source)
        if fetcher is None or fetcher.request != request:
            return None
        fetcher.request = 0
        return fetcher

    # ---- responses

    def fetched(self, source: int, message: FetchResponse) -> None:
        """Handle a FetchResponse: append, move the HW, and keep fetching."""
        fetcher = self._ended(source, message.request)
        if fetcher is None:
            return
        followed, replicas = fetcher.partitions, self.replicas.by_name
        for tp, row in message.partitions.items():
            fetch_state = followed.get(tp)
            if fetch_state is None or fetch_state.phase != FETCHING:
                continue
            replica = replicas[tp]
            # Truncated, or removed and added again, while the request was in flight: the records
            # would not follow the log's end.
            if fetch_state.asked_offset != replica.log_end:
                fetcher.changed[tp] = None
            elif is_news(row, replica):
                self._take(fetcher, replica, fetch_state, row)
        self.pump(fetcher)

    def _take(
        self, fetcher: Fetcher, replica: Replica, fetch_state: FetchState, row: FetchedPartition
    ) -> None:
        tp = replica.tp
        if row.error == NONE:
            end, start = replica.log_end, replica.log_start
            self.take_records(replica, row)
            if row.diverging is not None or replica.log_end != end or replica.log_start != start:
                fetcher.changed[tp] = None
        elif row.error == "OFFSET_OUT_OF_RANGE":
            fetch_state.advance(IS_OUT_OF_RANGE)
            fetcher.out_of_range[tp] = None
        elif row.error == "FENCED_LEADER_EPOCH":
            fetch_state.advance(FENCED)
            self._leave_session(fetcher, tp)
        else:
            self._delay(fetcher, tp, fetch_state)

    def take_records(self, replica: Replica, row: FetchedPartition) -> None:
        """Append the fetched records, or truncate where the logs diverge."""
        if row.diverging is not None:
            self.replicas.do(replica, TruncateToEpochEnd(*row.diverging))
        else:
            self.replicas.do(replica, AppendFetched(row.batches, row.high_watermark, row.log_start))

    def on_epoch_response(self, source: int, message: OffsetsForLeaderEpochResponse) -> None:
        """Handle an OffsetsForLeaderEpoch response: truncate, and perhaps ask again."""
        fetcher = self._ended(source, message.request)
        if fetcher is None:
            return
        for tp, (error, epoch, end) in message.partitions.items():
            fetch_state = fetcher.partitions.get(tp)
            if fetch_state is None or fetch_state.phase != TRUNCATING:
                continue
            replica = self.replicas.by_name[tp]
            # Requests carry the leader epoch from 2.1 on; before, only the fetcher knows with which
            # one the partition was added.
            asked_for = fetch_state.asked_epoch if self.rules.fencing else fetch_state.epoch
            if asked_for != replica.leader_epoch:
                continue
            if error == "FENCED_LEADER_EPOCH":
                fetch_state.advance(FENCED)
                fetcher.truncating.pop(tp, None)
            elif error != NONE:
                fetch_state.advance(ERROR, self._resume(tp))
            elif self.truncate(replica, epoch, end):
                fetch_state.advance(SETTLED)
                fetcher.truncating.pop(tp, None)
                fetcher.changed[tp] = None
            else:  # other partitions are fetched before it asks again
                fetch_state.advance(ASKED_AGAIN, self._resume(tp))
        self.pump(fetcher)

    def truncate(self, replica: Replica, epoch: int, end_offset: int) -> bool:
        """Truncate according to the response; True if that completes it, False to ask again."""
        return ASK_AGAIN not in self.replicas.do(replica, TruncateToEpochEnd(epoch, end_offset))

    def on_ends_response(self, source: int, message: ListOffsetsResponse) -> None:
        """Handle the leader's log start and end offsets, after an out-of-range fetch."""
        fetcher = self._ended(source, message.request)
        if fetcher is None:
            return
        fetcher.out_of_range.pop(message.tp, None)
        fetch_state = fetcher.partitions.get(message.tp)
        if fetch_state is None or fetch_state.phase not in (COMPARING, OUT_OF_RANGE):
            self.pump(fetcher)
            return
        if message.error == "FENCED_LEADER_EPOCH":
            fetch_state.advance(FENCED)
            self._leave_session(fetcher, message.tp)
            self.pump(fetcher)
            return
        if message.error != NONE:
            self._delay(fetcher, message.tp, fetch_state)
            if fetch_state.phase == COMPARING:
                fetcher.out_of_range[message.tp] = None
        else:
            fetch_state.advance(ADJUSTED)
            if not self.adjust(self.replicas.by_name[message.tp], message):
                fetcher.request = EXITED
                return
        fetcher.changed[message.tp] = None
        self.pump(fetcher)

    def adjust(self, replica: Replica, message: ListOffsetsResponse) -> bool:
        """Truncate to the leader's LEO, or start over; False if the process is to end instead."""
        topic, _ = split(replica.tp)
        unclean = self.context.unclean_election(topic)
        command = AdjustToLeader(message.log_start, message.log_end_offset, unclean)
        return HALT not in self.replicas.do(replica, command)

    # ---- delays and lost connections

    def _resume(self, subject: str | int, pause_us: int = 0) -> int:
        """When a partition, or all partitions of a broker, are fetched again (microseconds).

        That is after ``pause_us``, or if it is 0 after replica.fetch.backoff.ms.
        """
        pause_us = pause_us or self.context.config.replica_fetch_backoff_us
        resume_us = self.kernel.state.now_us + pause_us
        self.context.timers.set_deadline(BACKOFF, subject, resume_us)
        return resume_us

    def _delay(self, fetcher: Fetcher, tp: str, fetch_state: FetchState) -> None:
        fetch_state.advance(ERROR, self._resume(tp))
        self._leave_session(fetcher, tp)  # drops it from those that changed: mark it afterwards
        fetcher.changed[tp] = None

    def _leave_session(self, fetcher: Fetcher, tp: str) -> None:
        fetcher.in_session.pop(tp, None)
        fetcher.changed.pop(tp, None)
        fetcher.forgotten[tp] = None

    def resume(self) -> None:
        """Let every idle fetcher continue after a backoff."""
        if self.context.timers.overdue(BACKOFF):
            for fetcher in list(self.state.by_source.values()):
                self.pump(fetcher)

    def connection_lost(self, source: int) -> None:
        """Start a new session after the backoff: the connection to a source broke or timed out."""
        fetcher = self.state.by_source.get(source)
        if fetcher is None or fetcher.request <= 0:
            return
        fetcher.request = 0
        fetcher.out_of_range = {}
        fetcher.session_open = False
        fetcher.in_session = {}
        fetcher.forgotten = {}
        for tp, fetch_state in fetcher.partitions.items():
            fetch_state.advance(DISCONNECTED)
            if fetch_state.phase == FETCHING:
                fetcher.changed[tp] = None
            elif fetch_state.phase == COMPARING:
                fetcher.out_of_range[tp] = None
        fetcher.resume_us = self._resume(source)
        self.context.carry_out(FetcherIdle())

    def check_timeouts(self) -> None:
        """Close connections whose request has been unanswered for replica.socket.timeout.ms."""
        for source in self.context.timers.overdue(SOCKET_TIMEOUT):
            assert isinstance(source, int)
            if self.state.by_source[source].request > 0:  # each request resets the deadline
                self.context.network.give_up(self.context.id, source)
                self.connection_lost(source)


def is_news(row: FetchedPartition, replica: Partition) -> bool:
    """Whether a row of a response has news for a follower; rarely true."""
    high_watermark = replica.high_watermark
    return (
        row.high_watermark != high_watermark
        or high_watermark > replica.log_end
        or row.log_start > replica.log_start
        or row.error != NONE
        or row.diverging is not None
        or bool(row.batches)
    )
