"""The follower's side of replication.

One fetcher a source broker, truncation, appends, the follower's high watermark. A fetcher has one
request under way at a time. Partitions that have to truncate are asked about first; then all are
fetched. The fetch offset is always the replica's LEO, which is how the leader learns what the
follower has.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from emulator import events
from emulator.broker.replica import Replica
from emulator.protocol import (
    FetchedPartition,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.replication import truncation
from emulator.replication.high_watermark import follower_high_watermark
from emulator.replication.truncation import UNDEFINED
from emulator.storage.log import tail_of

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

NONE = "NONE"
FETCHING = "fetching"
TRUNCATING = "truncating"
FAILED = "failed"
ASKING = "asking"


Question = FetchRequest | OffsetsForLeaderEpochRequest | ListOffsetsRequest
"""What a fetcher asks a leader."""


class FetchState(Struct, array_like=True, gc=False):
    """How a fetcher stands with one partition; ``resume_us`` is when a delayed one is tried again.

    ``epoch`` is the leader epoch under which it was added, ``asked_offset`` where the leader was
    last asked to read, ``asked_epoch`` the epoch under which it was last asked where the follower's
    own epoch ends (-1: not asked since it was added).
    """

    phase: str
    epoch: int
    resume_us: int = 0
    asked_offset: int = UNDEFINED
    asked_epoch: int = UNDEFINED


class Fetcher(Struct, array_like=True, gc=False):
    """A fetcher thread for one source broker. ``request`` is what is under way (0: nothing).

    ``changed`` are partitions whose fetch state the leader has not been told, ``forgotten`` those
    that left. ``in_session`` is what the leader has been told of.
    """

    source: int
    partitions: dict[str, FetchState] = field(default_factory=dict)
    changed: dict[str, None] = field(default_factory=dict)
    forgotten: dict[str, None] = field(default_factory=dict)
    in_session: dict[str, None] = field(default_factory=dict)
    truncating: dict[str, None] = field(default_factory=dict)
    out_of_range: dict[str, None] = field(default_factory=dict)
    request: int = 0
    sent_us: int = 0
    resume_us: int = 0
    session_open: bool = False


class FollowerSide:
    """What a broker does for the partitions that it follows."""

    def __init__(self, broker: "Broker") -> None:
        """Act for ``broker``."""
        self.broker = broker
        self.world = broker.world
        self.kernel = broker.world.kernel
        self.profile = broker.world.profile
        self.epochs_on = self.profile.has("leader_epochs")
        self.fencing = self.profile.has("leader_epoch_fencing")
        self.on_fetch = self.profile.has("truncate_on_fetch")

    # ---- which partitions

    def add(self, replica: Replica) -> None:
        """Begin to follow ``replica.leader``: first truncate as the release does."""
        if not self.epochs_on:
            self.truncate(replica, replica.high_watermark, "to high watermark")
        elif replica.epochs is None or replica.epochs.latest < 0:
            self.truncate(replica, replica.high_watermark, "no epoch: to high watermark")
        if not replica.paused:
            self.begin(replica)

    def begin(self, replica: Replica) -> None:
        """Fetch from ``replica.leader``, where the release does so after asking for an epoch's end.

        Also how a follower goes on after a pause, in which it may have got another leader.
        """
        fetchers = self.broker.state.fetchers
        fetcher = fetchers.get(replica.leader)
        if fetcher is None:
            fetcher = fetchers[replica.leader] = Fetcher(replica.leader)
        asks = not self.on_fetch and replica.epochs is not None and replica.epochs.latest >= 0
        phase = TRUNCATING if asks else FETCHING
        fetcher.partitions[replica.tp] = FetchState(phase, replica.leader_epoch)
        fetcher.forgotten.pop(replica.tp, None)
        if phase == TRUNCATING:
            fetcher.truncating[replica.tp] = None
        fetcher.changed[replica.tp] = None
        self.pump(fetcher)

    def keep(self, replica: Replica) -> None:
        """The same leader in a new epoch, where that is no reason to truncate: fetch on."""
        fetcher = self.broker.state.fetchers.get(replica.leader)
        fetch_state = None if fetcher is None else fetcher.partitions.get(replica.tp)
        if fetch_state is not None:
            fetch_state.epoch = replica.leader_epoch

    def remove(self, tp: str) -> None:
        """Stop fetching a partition, wherever it is fetched from."""
        for fetcher in self.broker.state.fetchers.values():
            if fetcher.partitions.pop(tp, None) is not None:
                fetcher.changed.pop(tp, None)
                fetcher.truncating.pop(tp, None)
                fetcher.out_of_range.pop(tp, None)
                if tp in fetcher.in_session:
                    del fetcher.in_session[tp]
                    fetcher.forgotten[tp] = None

    # ---- the loop

    def pump(self, fetcher: Fetcher) -> None:
        """Send the next request if none is under way; in stepwise mode nothing goes by itself."""
        if fetcher.request or self.world.stepwise:
            return
        if not fetcher.partitions:
            self.broker.control.fetcher_ended()
            return
        now = self.kernel.now
        if fetcher.resume_us > now:
            return
        if fetcher.out_of_range:
            self._send(fetcher, self.broker.out_of_range.question(next(iter(fetcher.out_of_range))))
            return
        asking = [tp for tp in fetcher.truncating if fetcher.partitions[tp].resume_us <= now]
        if asking:
            self._ask_epochs(fetcher, asking)
        else:
            self._fetch(fetcher)

    def _ask_epochs(self, fetcher: Fetcher, asking: list[str]) -> None:
        rows: dict[str, tuple[int, int]] = {}
        for tp in asking:
            replica = self.broker.state.replicas[tp]
            rows[tp] = self.epoch_question(replica)
            fetcher.partitions[tp].asked_epoch = replica.leader_epoch
        request = OffsetsForLeaderEpochRequest(self.broker.id, rows)
        self._send(fetcher, request)

    def epoch_question(self, replica: Replica) -> tuple[int, int]:
        latest = replica.epochs.latest if replica.epochs is not None else UNDEFINED
        return (replica.leader_epoch if self.fencing else UNDEFINED, latest)

    def _fetch(self, fetcher: Fetcher) -> None:
        now = self.kernel.now
        asked: dict[str, FetchPartition] = {}
        later: dict[str, None] = {}
        for tp in fetcher.changed:
            fetch_state = fetcher.partitions[tp]
            if fetch_state.phase == FETCHING and fetch_state.resume_us <= now:
                asked[tp] = self.fetch_partition(self.broker.state.replicas[tp])
                fetch_state.asked_offset = asked[tp].offset
                fetcher.in_session[tp] = None
            else:
                later[tp] = None
        if not fetcher.in_session:
            return
        fetcher.changed = later
        forgotten, fetcher.forgotten = list(fetcher.forgotten), {}
        request = FetchRequest(
            self.broker.id,
            self.broker.config.replica_fetch_wait_max_us,
            asked,
            forgotten,
            new_session=not fetcher.session_open,
        )
        fetcher.session_open = True
        self._send(fetcher, request)

    def fetch_partition(self, replica: Replica) -> FetchPartition:
        epoch = replica.leader_epoch if self.fencing else UNDEFINED
        last = replica.epochs.latest if self.on_fetch and replica.epochs is not None else UNDEFINED
        return FetchPartition(replica.log.end, epoch, last)

    def _send(self, fetcher: Fetcher, message: Question) -> None:
        fetcher.request = self.world.network.send(self.broker.id, fetcher.source, message)
        fetcher.sent_us = self.kernel.now
        self.broker.later("socket-timeout", self.broker.config.replica_socket_timeout_us)

    # ---- answers

    def fetched(self, source: int, message: FetchResponse) -> None:
        """Take a FetchResponse: append, move the HW, and fetch on."""
        state = self.broker.state
        if message.request in state.single_rounds:
            self.broker.rounds.fetched(message)
            return
        fetcher = state.fetchers.get(source)
        if fetcher is None or fetcher.request != message.request:
            return
        fetcher.request, followed, replicas = 0, fetcher.partitions, state.replicas
        for tp, row in message.partitions.items():
            fetch_state = followed.get(tp)
            if fetch_state is None or fetch_state.phase != FETCHING:
                continue
            replica = replicas[tp]
            if fetch_state.asked_offset != replica.log.end:
                fetcher.changed[tp] = None
            elif row.is_news(replica.high_watermark, replica.log.end):
                self._take(fetcher, tp, row)
        self.pump(fetcher)

    def _take(self, fetcher: Fetcher, tp: str, row: FetchedPartition) -> None:
        replica = self.broker.state.replicas[tp]
        if row.error == NONE:
            if row.diverging is not None:
                self.truncate_by_answer(replica, row.diverging)
                fetcher.changed[tp] = None
            elif self.append(replica, row):
                fetcher.changed[tp] = None
        elif row.error == "OFFSET_OUT_OF_RANGE":
            self.broker.out_of_range.found(fetcher, tp)
        elif row.error == "FENCED_LEADER_EPOCH":
            fetcher.partitions[tp].phase = FAILED
            self._leave_session(fetcher, tp)
        else:
            self.delay(fetcher, tp)

    def append(self, replica: Replica, row: FetchedPartition) -> bool:
        """Write what was fetched, then HW := min(the leader's, own LEO).

        True if anything was written.
        """
        log = replica.log
        wrote = False
        for batch in row.batches:
            if batch.base_offset != log.end:
                if batch.end_offset <= log.end or batch.base_offset > log.end:
                    continue
                batch = tail_of(batch, log.end)  # noqa: PLW2901
            if batch.leader_epoch >= 0 and replica.epochs is not None:
                self.broker.assign_epoch(replica, batch.leader_epoch, batch.base_offset)
            log.append(batch)
            wrote = True
            if batch.producer_id >= 0:
                replica.producers.append(batch)
            self.kernel.emit(
                events.RecordsAppended,
                replica.tp,
                self.broker.id,
                batch.base_offset,
                batch.count,
                batch.leader_epoch,
                batch.first_record,
            )
        high_watermark = follower_high_watermark(row.high_watermark, log.end)
        if high_watermark != replica.high_watermark:
            self.broker.set_high_watermark(replica, high_watermark, "response")
        return wrote

    def epochs_answered(self, source: int, message: OffsetsForLeaderEpochResponse) -> None:
        """Take the answer to the epoch question: cut, and perhaps ask again."""
        state = self.broker.state
        if message.request in state.single_rounds:
            self.broker.rounds.epochs_answered(message)
            return
        fetcher = state.fetchers.get(source)
        if fetcher is None or fetcher.request != message.request:
            return
        fetcher.request = 0
        for tp, (error, epoch, end) in message.partitions.items():
            fetch_state = fetcher.partitions.get(tp)
            if fetch_state is None or fetch_state.phase != TRUNCATING:
                continue
            replica = state.replicas[tp]
            asked_for = fetch_state.asked_epoch if self.fencing else fetch_state.epoch
            if asked_for != replica.leader_epoch:
                continue
            if error == "FENCED_LEADER_EPOCH":
                fetch_state.phase = FAILED
                fetcher.truncating.pop(tp, None)
            elif error != NONE:
                fetch_state.resume_us = self._resume(self.broker.config.replica_fetch_backoff_us)
            elif self.truncate_by_answer(replica, (epoch, end)):
                fetch_state.phase = FETCHING
                fetcher.truncating.pop(tp, None)
                fetcher.changed[tp] = None
            else:  # the others are fetched before it asks again
                fetch_state.resume_us = self._resume(self.broker.config.replica_fetch_backoff_us)
        self.pump(fetcher)

    # ---- truncation

    def truncate_by_answer(self, replica: Replica, answer: tuple[int, int]) -> bool:
        """Cut by the leader's (epoch, end offset); True if that settles it, False to ask again."""
        own = (UNDEFINED, UNDEFINED)
        if answer[0] >= 0 and replica.epochs is not None:
            own = self.broker.end_offset_for(replica, answer[0])
        cut = truncation.truncation_by_answer(
            self.profile,
            answer,
            own,
            log_end_offset=replica.log.end,
            high_watermark=replica.high_watermark,
        )
        reason = "no such epoch: to high watermark" if answer[1] == UNDEFINED else "to end of epoch"
        self.truncate(replica, cut.offset, reason)
        return cut.done

    def truncate(self, replica: Replica, offset: int, reason: str) -> None:
        """Cut a log, and with it its epoch cache and (where it lives in the log) its HW."""
        previous = replica.log.end
        cut = offset < previous and replica.log.truncate(offset)
        if replica.epochs is not None and (
            cut or self.profile.has("epoch_cache_truncated_at_log_end")
        ):
            self.broker.truncate_epochs(replica, offset)
        if not cut:
            return
        self.kernel.emit(
            events.LogTruncated, replica.tp, self.broker.id, replica.log.end, previous, reason
        )
        replica.producers.truncate(replica.log)
        if replica.high_watermark > replica.log.end and self.profile.has("high_watermark_in_log"):
            self.broker.set_high_watermark(replica, replica.log.end, "truncate")

    # ---- delays and lost connections

    def _resume(self, backoff_us: int) -> int:
        resume_us = self.kernel.now + backoff_us
        self.broker.arm("fetch-backoff", resume_us)
        return resume_us

    def delay(self, fetcher: Fetcher, tp: str) -> None:
        backoff_us = self.broker.config.replica_fetch_backoff_us
        fetcher.partitions[tp].resume_us = self._resume(backoff_us)
        self._leave_session(fetcher, tp)
        fetcher.changed[tp] = None

    def _leave_session(self, fetcher: Fetcher, tp: str) -> None:
        fetcher.in_session.pop(tp, None)
        fetcher.forgotten[tp] = None

    def resume(self) -> None:
        """A backoff is over: let every idle fetcher go on."""
        fetchers = list(self.broker.state.fetchers.values())
        for fetcher in fetchers:
            self.pump(fetcher)
        waits = [each.resume_us for f in fetchers for each in f.partitions.values()]
        waits += [f.resume_us for f in fetchers]
        due = [wait for wait in waits if wait > self.kernel.now]
        if due:
            self.broker.arm("fetch-backoff", min(due))

    def connection_lost(self, source: int) -> None:
        """The connection to a source broke or timed out: begin a new session after the backoff."""
        fetcher = self.broker.state.fetchers.get(source)
        if fetcher is None or not fetcher.request:
            return
        fetcher.request = 0
        fetcher.out_of_range = {}
        fetcher.session_open = False
        fetcher.in_session = {}
        fetcher.forgotten = {}
        for tp, fetch_state in fetcher.partitions.items():
            if fetch_state.phase == ASKING:
                fetch_state.phase = FETCHING
            if fetch_state.phase == FETCHING:
                fetcher.changed[tp] = None
        fetcher.resume_us = self._resume(self.broker.config.replica_fetch_backoff_us)
        self.broker.control.fetcher_ended()

    def check_timeouts(self) -> None:
        """Requests without an answer for replica.socket.timeout.ms: the connections are closed."""
        timeout_us = self.broker.config.replica_socket_timeout_us
        waiting: list[int] = []
        for fetcher in list(self.broker.state.fetchers.values()):
            if not fetcher.request:
                continue
            if self.kernel.now - fetcher.sent_us >= timeout_us:
                self.world.network.give_up(self.broker.id, fetcher.source)
                self.connection_lost(fetcher.source)
            else:
                waiting.append(fetcher.sent_us + timeout_us)
        if waiting:
            self.broker.arm("socket-timeout", min(waiting))
