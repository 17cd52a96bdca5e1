"""One replica of one partition on its broker: the core of replication.

In Kafka this is ``kafka.cluster.Partition`` together with the parts of ``ReplicaManager``,
``UnifiedLog`` and ``AbstractFetcherThread`` that decide what happens to a partition. Here it is one
plain state (:class:`Partition`) and one function, :func:`step`: a command and the release's rules
determine the next state and the effects to be executed. Nothing here depends on a broker, a clock,
a network, ZooKeeper or events, so the same code serves brokers, tests and the explorer.

The roles of a replica::

    offline --Restart--> follower of nobody --BecomeFollower--> follower
       ^                        |                                |   ^
       |                        +--------BecomeLeader-----> leader   |
       +----------Stop, End------------------------------------------+

The transitions between leader and follower are in :data:`TRANSITIONS`. Not included are:

- the response to a fetch. It does not change the state, so it is a query: :func:`fetch_records`.
- the contents of the log. The state has the log's start, end and epoch start offsets, which is all
  that the protocol needs; batches pass from command to effect unchanged.
- the storage of ISR changes. :class:`ProposeIsr` requests it, and the outcome returns as
  :class:`IsrStored` or :class:`IsrRefused`: at once where the leader writes to ZooKeeper itself (up
  to 2.6), later where it asks the controller (KIP-497).
- how a follower fetches: :mod:`emulator.replication.fetching`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.releases.profiles import Profile
from emulator.replication.leader_epoch_cache import UNDEFINED, LeaderEpochCache
from emulator.replication.truncation import truncation_by_response

LEADER: Final = "leader"
FOLLOWER: Final = "follower"
OFFLINE: Final = "offline"

NONE: Final = "NONE"
NOT_LEADER: Final = "NOT_LEADER_OR_FOLLOWER"
UNKNOWN_PARTITION: Final = "UNKNOWN_TOPIC_OR_PARTITION"

EXPAND: Final = "expand"
SHRINK: Final = "shrink"


BEHIND: Final = (
    "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_ID",
    "FENCED_LEADER_EPOCH",
    "INVALID_UPDATE_VERSION",
)
"""Errors for an ISR change by a leader that does not have its partition's latest state."""


NEVER_US = -(10**15)
"""Longer ago than any maximum lag: virtual time begins at 0."""


class RemoteReplica(Struct, array_like=True, gc=False):
    """A leader's record of one follower (Kafka's class Replica); offsets of -1 are unknown.

    ``since_us`` is when the leader's epoch began: earlier fetches do not count. ``told_hw`` is the
    last HW sent to it, in the releases that track it (2.4 and 2.5).
    """

    leo: int = -1
    last_caught_up_us: int = NEVER_US
    last_fetch_us: int = NEVER_US
    last_fetch_leader_leo: int = -1
    told_hw: int = -1
    since_us: int = 0


NO_BROKERS: Final[list[int]] = []
NO_REMOTES: Final[dict[int, RemoteReplica]] = {}
"""What new replicas share: lists of brokers and a leader's records of its followers are replaced,
and never modified."""


class PendingIsr(Struct, array_like=True, gc=False):
    """An ISR change that the controller has not confirmed (2.7+, KIP-497)."""

    isr: list[int]
    change: str


class Partition(Struct, array_like=True, gc=False):
    """The state and view of the partition ``tp`` on ``broker``.

    On disk are ``log_start``, ``log_end`` (the LEO), ``first_segment`` (the base offset of the
    first segment; records between it and ``log_start`` cannot be read any more) and ``epochs``
    (None in releases without leader epochs); everything else is lost when the process ends.
    ``isr`` is the committed ISR that a leader uses, empty on followers. ``epoch_start`` is
    the leader's LEO when its epoch began. ``zk_version`` is the version of the state znode that
    the leader knows. ``is_known`` is False until the controller's first request for the partition
    to this process.
    """

    tp: str
    broker: int
    log_start: int = 0
    log_end: int = 0
    high_watermark: int = 0
    epochs: LeaderEpochCache | None = None
    role: str = OFFLINE
    leader: int = -1
    leader_epoch: int = -1
    controller_epoch: int = 0
    zk_version: int = -1
    assigned: list[int] = field(default_factory=list)
    isr: list[int] = field(default_factory=list)
    epoch_start: int | None = None
    remotes: dict[int, RemoteReplica] = field(default_factory=dict)
    pending: PendingIsr | None = None
    is_known: bool = False
    first_segment: int = 0

    @property
    def maximal_isr(self) -> list[int]:
        """The ISR including a member whose addition is pending.

        A pending removal is ignored (KIP-497): the HW waits for every replica that may be in the
        ISR.
        """
        if self.pending is not None and self.pending.change == EXPAND:
            return self.pending.isr
        return self.isr

    def copied(self) -> "Partition":
        epochs = self.epochs
        return replace(
            self,
            epochs=None if epochs is None else LeaderEpochCache(list(epochs.entries)),
            remotes={follower: replace(remote) for follower, remote in self.remotes.items()},
            pending=None if self.pending is None else replace(self.pending),
        )


class Rules(Struct, frozen=True, gc=False):
    """How a release treats a partition; each field is a feature of :mod:`emulator.releases`."""

    profile: Profile
    leader_epochs: bool
    truncates_by_epoch: bool
    fencing: bool
    isr_by_controller: bool
    min_isr_holds_high_watermark: bool
    epoch_assigned_at_election: bool
    truncates_on_each_epoch: bool
    truncates_epochs_at_log_end: bool
    high_watermark_in_log: bool
    truncates_at_restart: bool
    truncates_surplus_only: bool
    checks_min_isr_first_only: bool
    only_live_members: bool
    only_live_hold_high_watermark: bool
    stored_isr_rechecks: bool
    diverging_fetch: bool
    out_of_range_wipes: bool
    out_of_range_is_fatal: bool
    counts_fetch_first: bool
    tells_raised_high_watermark: bool
    log_start_replicated: bool
    caught_up_by_fetching: bool
    caught_up_at_previous_fetch: bool
    in_sync_at_log_end: bool
    lag_in_messages: bool
    isr_expand_needs_epoch_start: bool
    caught_up_hold_high_watermark: bool
    caught_up_at_log_end: bool

    @staticmethod
    def of(profile: Profile) -> "Rules":
        has = profile.has
        return Rules(
            profile,
            leader_epochs=has("leader_epochs"),
            truncates_by_epoch=has("truncation_by_leader_epoch"),
            fencing=has("leader_epoch_fencing"),
            isr_by_controller=has("alter_isr"),
            min_isr_holds_high_watermark=has("high_watermark_needs_min_isr"),
            epoch_assigned_at_election=has("epoch_assigned_at_election"),
            truncates_on_each_epoch=has("truncate_on_each_epoch"),
            truncates_epochs_at_log_end=has("epoch_cache_truncated_at_log_end"),
            high_watermark_in_log=has("high_watermark_in_log"),
            truncates_at_restart=has("truncate_to_high_watermark_on_restart"),
            truncates_surplus_only=has("surplus_truncated_to_leaders_end"),
            checks_min_isr_first_only=has("min_isr_checked_before_append_only"),
            only_live_members=has("isr_needs_live_replica"),
            only_live_hold_high_watermark=has("high_watermark_ignores_dead_replicas"),
            stored_isr_rechecks=has("high_watermark_checked_after_alter_partition"),
            diverging_fetch=has("truncate_on_fetch"),
            out_of_range_wipes=has("out_of_range_truncates_fully"),
            out_of_range_is_fatal=has("out_of_range_is_fatal"),
            counts_fetch_first=has("fetch_recorded_before_read"),
            tells_raised_high_watermark=has("fetch_recorded_before_read")
            or has("response_has_raised_high_watermark"),
            log_start_replicated=has("log_start_offset_replicated"),
            caught_up_by_fetching=has("lag_time_since_last_fetch"),
            caught_up_at_previous_fetch=has("caught_up_at_previous_fetch"),
            in_sync_at_log_end=has("in_sync_at_log_end"),
            lag_in_messages=has("replica_lag_in_messages"),
            isr_expand_needs_epoch_start=has("isr_expand_needs_epoch_start"),
            caught_up_hold_high_watermark=has("caught_up_replicas_hold_high_watermark"),
            caught_up_at_log_end=has("caught_up_at_log_end"),
        )


class Clock(Protocol):
    """Tells the virtual time."""

    @property
    def now_us(self) -> int:
        """The time."""


class Moment(Protocol):
    """The context of a decision: the time, the broker's settings and the brokers known to be alive.

    Times are microseconds. Few decisions depend on the settings, so a broker looks them up only
    when a rule asks for them.
    """

    @property
    def clock(self) -> Clock:
        """What tells the time."""

    @property
    def lag_time_us(self) -> int:
        """replica.lag.time.max.ms."""

    @property
    def lag_messages(self) -> int:
        """replica.lag.max.messages (0.8)."""

    @property
    def live_brokers(self) -> Collection[int]:
        """The brokers known to be alive."""

    def min_isr(self, tp: str) -> int:
        """min.insync.replicas of a partition's topic, as this broker sees it."""


@dataclass(slots=True)
class FixedMoment:
    """A :class:`Moment` whose values are given."""

    now_us: int = 0
    min_insync_replicas: int = 1
    lag_time_us: int = 10_000_000
    lag_messages: int = 4_000
    live_brokers: Collection[int] = ()

    @property
    def clock(self) -> Clock:
        return self

    def min_isr(self, _tp: str) -> int:
        return self.min_insync_replicas


class Batch(Protocol):
    """Consecutive records as sent; nothing else about them matters here."""

    @property
    def base_offset(self) -> int:
        """The offset of the first record."""

    @property
    def count(self) -> int:
        """The number of records."""

    @property
    def leader_epoch(self) -> int:
        """The epoch of the leader that appended it first; -1 before message format 2."""


# ---- commands: the inputs of a replica


class BecomeLeader(Struct, frozen=True, gc=False):
    """LeaderAndIsr makes this broker the leader (Partition.makeLeader)."""

    leader_epoch: int
    controller_epoch: int
    isr: list[int]
    assigned: list[int]
    zk_version: int


class BecomeFollower(Struct, frozen=True, gc=False):
    """LeaderAndIsr names another leader, or none (-1) (Partition.makeFollower).

    ``leader_is_alive``: the broker knows the leader to be alive.
    """

    leader: int
    leader_epoch: int
    controller_epoch: int
    assigned: list[int]
    zk_version: int
    leader_is_alive: bool


class UpdateLeader(Struct, frozen=True, gc=False):
    """The metadata log changes a partition that this broker still leads in the same epoch.

    The controller has shrunk its ISR, or is reassigning it (Partition.makeLeader in KRaft mode).
    """

    isr: list[int]
    assigned: list[int]
    zk_version: int


class UpdateFollower(Struct, frozen=True, gc=False):
    """The metadata log changes a partition that this broker still follows in the same epoch."""

    assigned: list[int]
    zk_version: int


class FollowNobody(Struct, frozen=True, gc=False):
    """The metadata log leaves the partition without a leader (Partition.makeFollower in KRaft)."""

    leader_epoch: int
    controller_epoch: int
    assigned: list[int]
    zk_version: int


class Stop(Struct, frozen=True, gc=False):
    """StopReplica: the broker stops leading or following the partition."""


class Append(Struct, frozen=True, gc=False):
    """A producer's batch for the leader.

    ``session_fetches`` maps each follower whose fetch session includes the partition to the time of
    that session's last fetch (microseconds): fetches omit partitions without changes (KIP-227), so
    this is how the leader knows that a follower at its LEO was caught up until then.
    """

    batch: Batch
    session_fetches: Mapping[int, int]


class CountFetch(Struct, frozen=True, gc=False):
    """A follower fetched from ``offset``, and therefore has everything below it.

    ``is_current``: the leader knows the follower by the broker epoch that it fetched with, without
    which it may not join the ISR (KIP-903).
    """

    follower: int
    offset: int
    is_current: bool = True


class TellHighWatermark(Struct, frozen=True, gc=False):
    """A follower was sent a HW (Replica.updateLastSentHighWatermark, 2.4 and 2.5)."""

    follower: int
    high_watermark: int


class CheckHighWatermark(Struct, frozen=True, gc=False):
    """Check whether the leader's HW may advance; ``occasion`` is the reason for the check."""

    occasion: str


class ExpireIsr(Struct, frozen=True, gc=False):
    """The isr-expiration task checks the partition (Partition.maybeShrinkIsr)."""

    session_fetches: Mapping[int, int]


class IsrStored(Struct, frozen=True, gc=False):
    """A proposed ISR was written to ZooKeeper, as ``zk_version``."""

    isr: list[int]
    zk_version: int
    leader_epoch: int


class IsrRefused(Struct, frozen=True, gc=False):
    """A proposed ISR was rejected, and why."""

    error: str


class AppendFetched(Struct, frozen=True, gc=False):
    """A follower's fetched data: batches (possibly none), the leader's HW and log start."""

    batches: Sequence[Batch]
    high_watermark: int
    log_start: int = 0


class DeleteRecords(Struct, frozen=True, gc=False):
    """Delete the records below ``offset``, as far as they are committed."""

    offset: int


class DeleteSegments(Struct, frozen=True, gc=False):
    """Retention: delete the segments below ``offset``, as far as they are committed.

    Source: UnifiedLog.deleteOldSegments. Until this broker's own retention does so, the records
    below a log start that has moved stay on its disk.
    """

    offset: int


class TruncateToEpochEnd(Struct, frozen=True, gc=False):
    """The end offset of an epoch in the leader's log; -1 and -1 if it does not know the epoch."""

    epoch: int
    end_offset: int


class AdjustToLeader(Struct, frozen=True, gc=False):
    """The follower's fetch was out of range, and it has looked up the leader's start and end.

    ``unclean_allowed``: unclean.leader.election.enable as this broker sees it.
    Source: AbstractFetcherThread.fetchOffsetAndTruncate (handleOffsetOutOfRange up to 1.1).
    """

    log_start: int
    log_end: int
    unclean_allowed: bool


class Restart(Struct, frozen=True, gc=False):
    """The process has started and loads the log; ``checkpointed`` is the HW on disk."""

    checkpointed: int


class LoseTail(Struct, frozen=True, gc=False):
    """The log has become shorter: unflushed records from ``offset`` on are lost."""

    offset: int
    reason: str


class End(Struct, frozen=True, gc=False):
    """The process has ended: only what is on disk survives."""


Command = (
    BecomeLeader
    | BecomeFollower
    | UpdateLeader
    | UpdateFollower
    | FollowNobody
    | Stop
    | Append
    | CountFetch
    | TellHighWatermark
    | CheckHighWatermark
    | ExpireIsr
    | IsrStored
    | IsrRefused
    | AppendFetched
    | DeleteRecords
    | DeleteSegments
    | TruncateToEpochEnd
    | AdjustToLeader
    | Restart
    | LoseTail
    | End
)


# ---- effects: the outputs, to be executed in this order


class ChangeRole(Struct, frozen=True, gc=False):
    """The replica's role has changed."""

    role: str
    leader: int
    leader_epoch: int


class AppendAsLeader(Struct, frozen=True, gc=False):
    """Write a producer's batch at ``base_offset``, stamped with ``leader_epoch``."""

    batch: Batch
    base_offset: int
    leader_epoch: int


class AppendAsFollower(Struct, frozen=True, gc=False):
    """Write a fetched batch, or its part from ``offset`` on."""

    batch: Batch
    offset: int


class TruncateLog(Struct, frozen=True, gc=False):
    """Remove everything from ``offset`` on; the LEO was ``previous``."""

    offset: int
    previous: int
    reason: str


class MoveLogStart(Struct, frozen=True, gc=False):
    """Nothing below ``offset`` can be read any more; it stays on disk from ``first_segment`` on.

    Source: UnifiedLog.maybeIncrementLogStartOffset; after a truncation the offset may be lower.
    """

    offset: int
    first_segment: int


class RestartLog(Struct, frozen=True, gc=False):
    """Remove everything and start again at ``offset`` (Log.truncateFullyAndStartAt)."""

    offset: int
    previous: int
    reason: str


class StoreEpochs(Struct, frozen=True, gc=False):
    """The leader-epoch cache has changed: write ``entries`` to its checkpoint file."""

    entries: list[tuple[int, int]]


class MoveHighWatermark(Struct, frozen=True, gc=False):
    """The HW has moved; ``occasion`` says why."""

    to: int
    previous: int
    occasion: str


class RememberLogEnd(Struct, frozen=True, gc=False):
    """The leader's record of a follower's LEO has changed."""

    follower: int
    log_end: int


class ForgetLogEnds(Struct, frozen=True, gc=False):
    """The leader does not know the LEOs of these followers (yet)."""

    followers: list[int]


class AdoptIsr(Struct, frozen=True, gc=False):
    """The leader uses this ISR from now on."""

    isr: list[int]
    zk_version: int


class AnnounceIsr(Struct, frozen=True, gc=False):
    """The ISR has changed within the epoch: components that depend on its members recheck."""


class ProposeIsr(Struct, frozen=True, gc=False):
    """Request the storage of another ISR; ``follower`` is the (first) one to leave or join."""

    isr: list[int]
    change: str
    follower: int


class RetryChange(Struct, frozen=True, gc=False):
    """Retry the pending ISR change: the error was not one that a leader expects."""


class BeginEpoch(Struct, frozen=True, gc=False):
    """A leader starts an epoch: what followers sent before has to be checked again."""


class BeginLeading(Struct, frozen=True, gc=False):
    """The leader is ready (components that depend on this partition may start)."""


class StopLeading(Struct, frozen=True, gc=False):
    """This broker no longer leads the partition: fail the requests that wait for it.

    ``leader_epoch`` is the epoch in which it led.
    """

    leader_epoch: int


class CompleteFetches(Struct, frozen=True, gc=False):
    """The HW has advanced: send it to the followers."""


class OfferRecords(Struct, frozen=True, gc=False):
    """There are new records: parked fetches may complete."""


class CompleteProduces(Struct, frozen=True, gc=False):
    """The HW has advanced: complete the acks=all requests that it has reached."""


class StartFetching(Struct, frozen=True, gc=False):
    """Fetch from the leader; ``asks_ends``: cut first what is beyond the end of its log."""

    asks_ends: bool = False


class KeepFetching(Struct, frozen=True, gc=False):
    """The leader is the same in a new epoch, with no reason to truncate: continue fetching."""


class StopFetching(Struct, frozen=True, gc=False):
    """Stop fetching."""


class AskAgain(Struct, frozen=True, gc=False):
    """The logs diverge further down: ask the leader about the next older epoch (KIP-279)."""


class Halt(Struct, frozen=True, gc=False):
    """The broker's process ends (Runtime.halt; from 0.10.0.1 on System.exit)."""


class LoadLog(Struct, frozen=True, gc=False):
    """The log is loaded: rebuild the state derived from it."""


class Then(Struct, frozen=True, gc=False):
    """Continue with a command after the preceding effects.

    Whether a stored ISR counts for the next decision depends on when it is stored.
    """

    command: Command


Effect = (
    ChangeRole
    | AppendAsLeader
    | AppendAsFollower
    | TruncateLog
    | MoveLogStart
    | RestartLog
    | StoreEpochs
    | MoveHighWatermark
    | RememberLogEnd
    | ForgetLogEnds
    | AdoptIsr
    | AnnounceIsr
    | ProposeIsr
    | RetryChange
    | BeginEpoch
    | BeginLeading
    | StopLeading
    | CompleteFetches
    | OfferRecords
    | CompleteProduces
    | StartFetching
    | KeepFetching
    | StopFetching
    | AskAgain
    | Halt
    | LoadLog
    | Then
)
Effects = list[Effect]

ANNOUNCE_ISR: Final = AnnounceIsr()
BEGIN_EPOCH: Final = BeginEpoch()
RETRY_CHANGE: Final = RetryChange()
BEGIN_LEADING: Final = BeginLeading()
COMPLETE_FETCHES: Final = CompleteFetches()
OFFER_RECORDS: Final = OfferRecords()
COMPLETE_PRODUCES: Final = CompleteProduces()
START_FETCHING: Final = StartFetching()
KEEP_FETCHING: Final = KeepFetching()
STOP_FETCHING: Final = StopFetching()
ASK_AGAIN: Final = AskAgain()
HALT: Final = Halt()
LOAD_LOG: Final = LoadLog()


# ---- queries: how a replica responds


class LogReadResult(Struct, frozen=True, gc=False):
    """A leader's response to a follower's fetch.

    With ``diverging``, the (epoch, end offset) where the logs diverge, or an error there are no
    records.
    """

    error: str = NONE
    high_watermark: int = -1
    log_start: int = -1
    diverging: tuple[int, int] | None = None


def fencing_error(epoch: int, leader_epoch: int, rules: Rules) -> str:
    """The error for a request with leader epoch ``epoch`` (-1: none); empty if there is none.

    Source: Partition.checkCurrentLeaderEpoch 2.1+ (KIP-320).
    """
    if epoch in (-1, leader_epoch) or not rules.fencing:
        return ""
    return "FENCED_LEADER_EPOCH" if epoch < leader_epoch else "UNKNOWN_LEADER_EPOCH"


def epoch_error(state: Partition | None, epoch: int, rules: Rules) -> str:
    """The error for a request to a leader with epoch ``epoch`` (-1: none), or NONE."""
    if state is None:
        return UNKNOWN_PARTITION
    if epoch != state.leader_epoch and state.is_known:
        error = fencing_error(epoch, state.leader_epoch, rules)
        if error:
            return error
    return NONE if state.role == LEADER else NOT_LEADER


def produce_error(state: Partition | None, acks: int, rules: Rules, moment: Moment) -> str:
    """The error for a ProduceRequest before anything is written.

    Source: Partition.appendRecordsToLeader.
    """
    if state is None:
        return UNKNOWN_PARTITION
    if state.role != LEADER:
        return NOT_LEADER
    if acks == -1 and len(state.isr) < effective_min_isr(state, rules, moment):
        return "NOT_ENOUGH_REPLICAS"
    return NONE


def acks_all_error(
    state: Partition, required_offset: int, rules: Rules, moment: Moment
) -> str | None:
    """The error code for an acks=all request whose records end at ``required_offset``.

    None if it has to wait. NOT_ENOUGH_REPLICAS_AFTER_APPEND does not remove its records from the
    log; the release ``documents`` does not know it.
    Source: Partition.checkEnoughReplicasReachOffset.
    """
    if state.role != LEADER:
        return NOT_LEADER
    if state.high_watermark < required_offset:
        return None
    if rules.checks_min_isr_first_only:
        return NONE
    enough = len(state.maximal_isr) >= effective_min_isr(state, rules, moment)
    return NONE if enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def effective_min_isr(state: Partition, rules: Rules, moment: Moment) -> int:
    """min.insync.replicas, from 3.7 at most the number of assigned replicas (KIP-966)."""
    min_isr = moment.min_isr(state.tp)
    if rules.min_isr_holds_high_watermark and len(state.assigned) < min_isr:
        return len(state.assigned)
    return min_isr


def end_offset_for(state: Partition, epoch: int, rules: Rules) -> tuple[int, int]:
    """An epoch's end in this log: (epoch, end offset), (-1, -1) if unknown."""
    if state.epochs is None:
        return UNDEFINED, UNDEFINED
    return state.epochs.end_offset_for(epoch, state.log_end, rules.profile)


def divergence(
    state: Partition, offset: int, last_fetched_epoch: int, rules: Rules
) -> LogReadResult | None:
    """The response to a fetch whose last record is not in this log; None if it may be there.

    Truncation on fetch (KIP-595): the leader compares the last fetched epoch of the follower or
    consumer with its own cache.
    """
    if last_fetched_epoch < 0 or state.epochs is None:
        return None
    entries = state.epochs.entries
    if entries and last_fetched_epoch == entries[-1][0] and offset <= state.log_end:
        return None  # as nearly always: it is in the epoch that the log ends in
    epoch, end = state.epochs.end_offset_for(last_fetched_epoch, state.log_end, rules.profile)
    if end == UNDEFINED:
        return LogReadResult("OFFSET_OUT_OF_RANGE", log_start=state.log_start)
    if epoch < last_fetched_epoch or end < offset:
        return LogReadResult(NONE, state.high_watermark, state.log_start, (epoch, end))
    return None


def fetch_records(
    state: Partition | None,
    follower: int,
    offset: int,
    current_epoch: int,
    last_fetched_epoch: int,
    rules: Rules,
) -> LogReadResult:
    """The response to ``follower``'s fetch from ``offset``; epochs of -1 were not sent.

    Source: Partition.fetchRecords and readRecords 2.7+; ReplicaManager.readFromLocalLog before.
    """
    if state is None or state.role != LEADER or current_epoch != state.leader_epoch:
        error = epoch_error(state, current_epoch, rules)
        if error != NONE or state is None:
            return LogReadResult(error)
    if last_fetched_epoch >= 0:
        differs = divergence(state, offset, last_fetched_epoch, rules)
        if differs is not None:
            return differs
    if offset < state.log_start or offset > state.log_end:
        return LogReadResult("OFFSET_OUT_OF_RANGE", log_start=state.log_start)
    if follower not in state.remotes:
        return LogReadResult(NOT_LEADER)
    return LogReadResult(NONE, state.high_watermark, state.log_start)


def log_end_for(state: Partition, epoch: int, rules: Rules) -> int:
    """The LEO that a follower is told; if it sends an epoch, where the log ended at the election.

    So the release ``documents`` cuts what the leader lacked, whatever has been written since.
    """
    if rules.truncates_surplus_only and epoch >= 0 and state.epoch_start is not None:
        return state.epoch_start
    return state.log_end


def caught_up_us(remote: RemoteReplica, log_end: int, session_fetch_us: int) -> int:
    """When a follower was last known to be caught up; ``session_fetch_us`` 0: no session.

    A follower at the LEO was caught up whenever its session fetched in this leader's epoch.
    """
    if remote.leo == log_end and session_fetch_us and session_fetch_us >= remote.since_us:
        return max(remote.last_caught_up_us, session_fetch_us)
    return remote.last_caught_up_us


# ---- the state machine


def step(state: Partition, command: Command, rules: Rules, moment: Moment) -> Effects:
    """Execute a command: modify ``state`` in place and return the effects, in order.

    The effects have to be executed before the next command for this replica, except for commands
    that they trigger themselves. :func:`after` does not modify the state.
    """
    return TRANSITIONS[type(command)](state, command, rules, moment)


def after(
    state: Partition, command: Command, rules: Rules, moment: Moment
) -> tuple[Partition, Effects]:
    """The state after a command, and the effects; ``state`` itself is not modified."""
    copied = state.copied()
    return copied, step(copied, command, rules, moment)


# ---- role changes


def _become_leader(
    state: Partition, command: BecomeLeader, rules: Rules, moment: Moment
) -> Effects:
    """Start a new epoch at the LEO; followers' LEOs are unknown unless it led already."""
    effects: Effects = []
    led_already = state.role == LEADER
    occasion = _occasion(state, command.isr) if led_already else "make-leader"
    if state.role == FOLLOWER:
        effects.append(STOP_FETCHING)
    _take(state, command)
    state.role = LEADER
    me = state.leader = state.broker
    effects.append(ChangeRole(LEADER, me, command.leader_epoch))
    if rules.epoch_assigned_at_election:
        # Before 2.0.1 an epoch begins with its first record (the cause of KAFKA-7128).
        state.epoch_start = state.log_end
        _assign_epoch(state, command.leader_epoch, state.log_end, rules, effects)
    isr = state.isr = command.isr
    effects.append(AdoptIsr(isr, command.zk_version))
    if not led_already:
        state.remotes = NO_REMOTES
        if rules.truncates_surplus_only:
            state.epoch_start = state.log_end
    _take_followers(state, effects)
    now_us = moment.clock.now_us
    for follower, remote in state.remotes.items():
        remote.since_us = now_us
        if follower in isr:
            remote.last_caught_up_us = now_us
        elif led_already:
            remote.last_caught_up_us = NEVER_US
        if led_already:
            remote.last_fetch_us = now_us
            remote.last_fetch_leader_leo = state.log_end
    effects.append(BEGIN_EPOCH)
    if state.high_watermark > state.log_end:  # truncated while it followed (up to 2.3)
        _move_high_watermark(state, state.log_start, "make-leader", effects)
    _raise_high_watermark(state, occasion, rules, moment, effects)
    effects.append(BEGIN_LEADING)
    return effects


def _take_followers(state: Partition, effects: Effects) -> None:
    """Track exactly the current followers; nothing is known about new ones."""
    me, before = state.broker, state.remotes
    remotes: dict[int, RemoteReplica] = {}
    new: list[int] = []
    for replica in state.assigned:
        if replica in before:
            remotes[replica] = before[replica]
        elif replica != me:
            remotes[replica] = RemoteReplica()
            new.append(replica)
    state.remotes = remotes
    if new:
        effects.append(ForgetLogEnds(new))


def _become_follower(
    state: Partition, command: BecomeFollower, rules: Rules, moment: Moment
) -> Effects:
    """Follow a live leader: truncate as the release does, and fetch.

    A leader that is not alive changes nothing, not even the epoch: "only change partition state
    when the leader is available" (ReplicaManager.makeFollowers). A newly created replica then
    follows nobody, as after a restart.
    """
    effects: Effects = []
    if not command.leader_is_alive:
        if state.role == OFFLINE:
            state.role, state.leader = FOLLOWER, -1
            effects.append(ChangeRole(FOLLOWER, -1, -1))
        return effects
    followed = state.role == FOLLOWER
    is_alive_follower = followed and state.is_known  # it has not restarted since it followed
    same_leader = followed and state.leader == command.leader
    goes_on = same_leader and not _truncates_again(state, command, rules)
    if state.role == LEADER:
        effects.append(StopLeading(state.leader_epoch))
    _take(state, command)
    state.role, state.leader = FOLLOWER, command.leader
    state.epoch_start = None
    if state.isr or state.remotes:
        state.isr, state.remotes = [], {}
    effects.append(ChangeRole(FOLLOWER, command.leader, command.leader_epoch))
    if goes_on:
        effects.append(KEEP_FETCHING)
        return effects
    if followed:
        effects.append(STOP_FETCHING)
    if is_alive_follower and rules.truncates_surplus_only:
        effects.append(StartFetching(asks_ends=True))
        return effects
    if not rules.truncates_by_epoch:
        _truncate(state, state.high_watermark, "to high watermark", rules, effects)
    elif state.high_watermark < state.log_end and (state.epochs is None or state.epochs.latest < 0):
        _truncate(state, state.high_watermark, "no epoch: to high watermark", rules, effects)
    effects.append(START_FETCHING)
    return effects


def _truncates_again(state: Partition, command: BecomeFollower, rules: Rules) -> bool:
    """Whether a new epoch of the same leader makes the follower truncate again."""
    if rules.truncates_on_each_epoch:
        return True
    missed = command.leader_epoch > state.leader_epoch + 1
    return missed and rules.epoch_assigned_at_election


def _update_leader(
    state: Partition, command: UpdateLeader, rules: Rules, moment: Moment
) -> Effects:
    """Apply the committed ISR and replicas; the HW may advance, since fewer replicas may count.

    This settles a pending proposal, whether it was stored or not.
    """
    effects: Effects = []
    if command.zk_version < state.zk_version:
        return effects
    occasion = _occasion(state, command.isr)
    state.assigned, state.isr, state.pending = command.assigned, command.isr, None
    state.zk_version = command.zk_version
    _take_followers(state, effects)
    effects += (AdoptIsr(state.isr, state.zk_version), ANNOUNCE_ISR)
    _raise_high_watermark(state, occasion, rules, moment, effects)
    return effects


def _occasion(state: Partition, isr: Collection[int]) -> str:
    """Why a leader that goes on leading checks its HW: most often the controller shrank the ISR."""
    return "dead-replica" if any(member not in isr for member in state.isr) else "make-leader"


def _update_follower(
    state: Partition, command: UpdateFollower, _rules: Rules, _moment: Moment
) -> Effects:
    state.assigned, state.zk_version = command.assigned, command.zk_version
    return []


def _follow_nobody(
    state: Partition, command: FollowNobody, _rules: Rules, _moment: Moment
) -> Effects:
    """Stop leading and fetching; the next leader is followed from the end of the log."""
    effects: Effects = []
    if state.role == LEADER:
        effects.append(StopLeading(state.leader_epoch))
    effects.append(STOP_FETCHING)
    _take(state, command)
    state.role, state.leader, state.epoch_start = FOLLOWER, -1, None
    state.isr, state.remotes = [], {}
    effects.append(ChangeRole(FOLLOWER, -1, command.leader_epoch))
    return effects


def _take(state: Partition, command: BecomeLeader | BecomeFollower | FollowNobody) -> None:
    """Apply what the controller sends for any replica."""
    state.is_known = True
    state.leader_epoch = command.leader_epoch
    state.controller_epoch = command.controller_epoch
    state.zk_version = command.zk_version
    state.assigned = command.assigned
    if state.pending is not None:
        state.pending = None


def _stop(state: Partition, _command: Stop, _rules: Rules, _moment: Moment) -> Effects:
    effects: Effects = []
    if state.role == LEADER:
        effects.append(StopLeading(state.leader_epoch))
        state.remotes = {}
    effects.append(STOP_FETCHING)
    if state.role != OFFLINE:
        state.role = OFFLINE
        effects.append(ChangeRole(OFFLINE, -1, -1))
    return effects


# ---- leading


def _append(state: Partition, command: Append, rules: Rules, moment: Moment) -> Effects:
    """Append as leader: the LEO advances, and so does the HW if no follower counts."""
    effects: Effects = []
    if not command.batch.count:  # nothing to append: only the HW is checked
        _raise_high_watermark(state, "append", rules, moment, effects)
        return effects
    base, remotes = state.log_end, state.remotes
    for follower, fetched_us in command.session_fetches.items():
        # Before the LEO advances: a follower at the LEO was caught up at its session's last fetch.
        remote = remotes.get(follower)
        if remote is not None and remote.leo == base and fetched_us >= remote.since_us:
            remote.last_caught_up_us = max(remote.last_caught_up_us, fetched_us)
            remote.last_fetch_us = fetched_us
            remote.last_fetch_leader_leo = base
    epoch = -1
    if rules.leader_epochs:
        epoch = state.leader_epoch
        _assign_epoch(state, epoch, base, rules, effects)
    state.log_end = base + command.batch.count
    effects.append(AppendAsLeader(command.batch, base, epoch))
    _raise_high_watermark(state, "append", rules, moment, effects)
    effects.append(OFFER_RECORDS)
    return effects


def record_fetch(
    rules: Rules, remote: RemoteReplica, offset: int, leader_leo: int, now_us: int
) -> None:
    """Record a follower's fetch at ``offset``, made while the leader's LEO was ``leader_leo``.

    The offset is the follower's acknowledgement.

    Source: Replica.updateFetchState (0.10.2+), Replica.updateLogReadResult (0.9),
    Replica.logEndOffset (0.8).
    """
    if offset >= leader_leo or rules.caught_up_by_fetching:
        remote.last_caught_up_us = now_us
    elif rules.caught_up_at_previous_fetch and offset >= remote.last_fetch_leader_leo >= 0:
        remote.last_caught_up_us = max(remote.last_caught_up_us, remote.last_fetch_us)
    remote.leo = offset
    remote.last_fetch_leader_leo = leader_leo
    remote.last_fetch_us = now_us


def _count_fetch(state: Partition, command: CountFetch, rules: Rules, moment: Moment) -> Effects:
    """Treat a follower's fetch offset as acknowledgement (Partition.updateFollowerFetchState)."""
    follower, offset = command.follower, command.offset
    remote = state.remotes[follower]
    moved = remote.leo != offset
    record_fetch(rules, remote, offset, state.log_end, moment.clock.now_us)
    effects: Effects = [RememberLogEnd(follower, offset)] if moved else []
    proposed = (
        follower not in state.isr
        and command.is_current
        and _propose_expansion(state, follower, rules, moment, effects)
    )
    if moved and state.high_watermark < state.log_end:
        if proposed:
            # The follower may be in the ISR by the time the HW is computed.
            effects.append(Then(CheckHighWatermark("fetch")))
        else:
            _raise_high_watermark(state, "fetch", rules, moment, effects)
    return effects


def _tell_high_watermark(
    state: Partition, command: TellHighWatermark, _rules: Rules, _moment: Moment
) -> Effects:
    remote = state.remotes.get(command.follower)
    if remote is not None:
        remote.told_hw = command.high_watermark
    return []


def _check_high_watermark(
    state: Partition, command: CheckHighWatermark, rules: Rules, moment: Moment
) -> Effects:
    effects: Effects = []
    _raise_high_watermark(state, command.occasion, rules, moment, effects)
    return effects


def _raise_high_watermark(
    state: Partition, occasion: str, rules: Rules, moment: Moment, effects: Effects
) -> None:
    """HW := max(HW, min(own LEO, LEOs of the replicas that count)); an unknown LEO keeps it.

    Source: Partition.maybeIncrementLeaderHW, every release; the documents' rule 2.
    """
    current, end = state.high_watermark, state.log_end
    if current >= end:
        return
    if rules.min_isr_holds_high_watermark and len(state.isr) < effective_min_isr(
        state, rules, moment
    ):
        return
    members = state.isr if state.pending is None else state.maximal_isr
    to = end
    for follower, remote in state.remotes.items():
        if remote.leo < to and (
            follower in members or _holds_back(follower, remote, end, rules, moment)
        ):
            to = remote.leo
    if to > current:
        _move_high_watermark(state, to, occasion, effects)
        effects += (COMPLETE_FETCHES, COMPLETE_PRODUCES)


def _holds_back(
    follower: int, remote: RemoteReplica, end: int, rules: Rules, moment: Moment
) -> bool:
    """Whether a replica outside the ISR holds back the HW because it is about to join.

    From 3.6 on a dead one does not, however far it had caught up (KAFKA-15021).
    """
    if rules.only_live_hold_high_watermark and follower not in moment.live_brokers:
        return False
    return holds_high_watermark(rules, remote, end, moment.clock.now_us, moment.lag_time_us)


def holds_high_watermark(
    rules: Rules, remote: RemoteReplica, leader_leo: int, now_us: int, lag_time_us: int
) -> bool:
    """Whether an assigned replica outside the ISR holds back the HW because it is caught up.

    Source: Partition.maybeIncrementLeaderHW 0.10.2+, KAFKA-4485.
    """
    if not rules.caught_up_hold_high_watermark:
        return False
    if rules.caught_up_at_log_end and remote.leo == leader_leo:
        return True
    return now_us - remote.last_caught_up_us <= lag_time_us


def _may_be_member(follower: int, rules: Rules, moment: Moment) -> bool:
    """Whether a follower may join an ISR: from 3.3 only while it is known to be alive (KIP-841)."""
    return not rules.only_live_members or follower in moment.live_brokers


def _move_high_watermark(state: Partition, to: int, occasion: str, effects: Effects) -> None:
    effects.append(MoveHighWatermark(to, state.high_watermark, occasion))
    state.high_watermark = to


# ---- the ISR


def _propose_expansion(
    state: Partition, follower: int, rules: Rules, moment: Moment, effects: Effects
) -> bool:
    """Propose to add a follower outside the ISR after a fetch, if it qualifies."""
    if state.pending is not None or not _may_be_member(follower, rules, moment):
        return False
    leo = state.remotes[follower].leo
    if not may_join_isr(rules, leo, state.high_watermark, state.epoch_start):
        return False
    _propose(state, ProposeIsr([*state.isr, follower], EXPAND, follower), rules, effects)
    return True


def may_join_isr(rules: Rules, follower_leo: int, leader_hw: int, epoch_start: int | None) -> bool:
    """Whether a follower's fetch offset admits it to the ISR.

    It must have reached the leader's HW and, from 2.0.1 on, the start of the leader's epoch.

    Source: Partition.isFollowerInSync; KAFKA-7128.
    """
    if follower_leo < leader_hw:
        return False
    if rules.isr_expand_needs_epoch_start:
        return epoch_start is not None and follower_leo >= epoch_start
    return True


def _propose(state: Partition, proposal: ProposeIsr, rules: Rules, effects: Effects) -> None:
    if rules.isr_by_controller:
        state.pending = PendingIsr(proposal.isr, proposal.change)
    effects.append(proposal)


def is_out_of_sync(
    rules: Rules,
    remote: RemoteReplica,
    leader_leo: int,
    now_us: int,
    *,
    lag_time_us: int,
    lag_messages: int,
) -> bool:
    """Whether a member has to leave the ISR.

    Source: Partition.getOutOfSyncReplicas; KIP-16 (0.9: time only); 2.1+: never while it is
    caught up.
    """
    if rules.in_sync_at_log_end and remote.leo == leader_leo:
        return False
    if rules.lag_in_messages and 0 <= remote.leo < leader_leo - lag_messages:
        return True
    return now_us - remote.last_caught_up_us > lag_time_us


def _expire_isr(state: Partition, command: ExpireIsr, rules: Rules, moment: Moment) -> Effects:
    """Remove the members that are out of sync; one change at a time is pending."""
    effects: Effects = []
    if state.role != LEADER or len(state.isr) <= 1 or state.pending is not None:
        return effects
    out: list[int] = []
    for follower in state.isr:
        remote = state.remotes.get(follower)
        if remote is None:
            continue
        fetched_us = command.session_fetches.get(follower, 0)
        remote.last_caught_up_us = caught_up_us(remote, state.log_end, fetched_us)
        if is_out_of_sync(
            rules,
            remote,
            state.log_end,
            moment.clock.now_us,
            lag_time_us=moment.lag_time_us,
            lag_messages=moment.lag_messages,
        ):
            out.append(follower)
    if out:
        staying = [member for member in state.isr if member not in out]
        _propose(state, ProposeIsr(staying, SHRINK, out[0]), rules, effects)
    return effects


def _isr_stored(state: Partition, command: IsrStored, rules: Rules, moment: Moment) -> Effects:
    """Use the ISR that was stored, unless the partition has changed since (KIP-497).

    Where the leader writes to ZooKeeper itself nothing can have changed in between.
    """
    effects: Effects = []
    if rules.isr_by_controller and (
        state.pending is None
        or state.role != LEADER
        or command.leader_epoch != state.leader_epoch
        or command.zk_version < state.zk_version
    ):
        return effects
    state.pending = None
    state.isr, state.zk_version = command.isr, command.zk_version
    effects += (AdoptIsr(state.isr, state.zk_version), ANNOUNCE_ISR)
    if rules.stored_isr_rechecks or not rules.isr_by_controller:
        _raise_high_watermark(state, "isr", rules, moment, effects)
    return effects


def _isr_refused(state: Partition, command: IsrRefused, _rules: Rules, _moment: Moment) -> Effects:
    """Handle a rejected change depending on its error (Partition.handleAlterPartitionError).

    An ineligible replica may be proposed again. After most other errors the leader knows that it
    is behind and waits for the controller's next request: the change stays pending. After an
    unrelated error the change stays pending too, but is retried.
    """
    if command.error == "INELIGIBLE_REPLICA":
        state.pending = None
        return []
    return [] if command.error in BEHIND else [RETRY_CHANGE]


# ---- following


def follower_high_watermark(leader_high_watermark: int, log_end_offset: int) -> int:
    """A follower's HW after a response, min(leader's HW, own LEO), even if it falls.

    Source: ReplicaFetcherThread.processPartitionData; the documents' rule 4.
    """
    return max(0, min(leader_high_watermark, log_end_offset))


def _append_fetched(
    state: Partition, command: AppendFetched, rules: Rules, _moment: Moment
) -> Effects:
    """Append fetched batches, then HW := min(the leader's, own LEO)."""
    effects: Effects = []
    for batch in command.batches:
        end = batch.base_offset + batch.count
        if batch.base_offset > state.log_end or end <= state.log_end:
            continue
        offset = state.log_end
        if batch.leader_epoch >= 0:
            # The epoch starts at the batch's first offset that is new here.
            _assign_epoch(state, batch.leader_epoch, offset, rules, effects)
        state.log_end = end
        effects.append(AppendAsFollower(batch, offset))
    to = follower_high_watermark(command.high_watermark, state.log_end)
    if to != state.high_watermark:
        _move_high_watermark(state, to, "response", effects)
    if rules.log_start_replicated and command.log_start > state.log_start:
        _move_log_start(state, command.log_start, effects)
    return effects


def _delete_records(
    state: Partition, command: DeleteRecords, _rules: Rules, _moment: Moment
) -> Effects:
    """Delete records below the HW; followers learn of it in their next fetch response."""
    effects: Effects = []
    if command.offset > state.log_start:
        _move_log_start(state, command.offset, effects)
        if state.role == LEADER:
            effects.append(COMPLETE_FETCHES)
    return effects


def _delete_segments(
    state: Partition, command: DeleteSegments, _rules: Rules, _moment: Moment
) -> Effects:
    """Delete segments from the start of the log; the log start moves with them."""
    effects: Effects = []
    offset = min(command.offset, state.high_watermark)
    if offset <= state.first_segment:
        return effects
    state.first_segment = offset
    if offset <= state.log_start:
        effects.append(MoveLogStart(state.log_start, offset))
        return effects
    _move_log_start(state, offset, effects)
    if state.role == LEADER:
        effects.append(COMPLETE_FETCHES)
    return effects


def _move_log_start(state: Partition, offset: int, effects: Effects) -> None:
    offset = min(offset, state.high_watermark)
    if offset <= state.log_start:
        return
    state.log_start = offset
    effects.append(MoveLogStart(offset, state.first_segment))
    if state.epochs is not None and state.epochs.truncate_from_start(offset):
        effects.append(StoreEpochs(list(state.epochs.entries)))


def _truncate_to_epoch_end(
    state: Partition, command: TruncateToEpochEnd, rules: Rules, _moment: Moment
) -> Effects:
    """Truncate by the leader's response; :class:`AskAgain` if that is not sufficient."""
    effects: Effects = []
    own = (UNDEFINED, UNDEFINED)
    if command.epoch >= 0:
        own = end_offset_for(state, command.epoch, rules)
    truncation = truncation_by_response(
        rules.profile,
        (command.epoch, command.end_offset),
        own,
        log_end_offset=state.log_end,
        high_watermark=state.high_watermark,
    )
    unknown = command.end_offset == UNDEFINED
    reason = "no such epoch: to high watermark" if unknown else "to end of epoch"
    _truncate(state, truncation.offset, reason, rules, effects)
    if not truncation.done:
        effects.append(ASK_AGAIN)
    return effects


def _adjust_to_leader(
    state: Partition, command: AdjustToLeader, rules: Rules, _moment: Moment
) -> Effects:
    """Truncate to the leader's LEO, or start over at the leader's log start.

    A follower with a longer log halts in some releases unless unclean election allows the loss.
    """
    effects: Effects = []
    if state.role != FOLLOWER:
        return effects
    if command.log_end < state.log_end:
        if rules.out_of_range_is_fatal and not command.unclean_allowed:
            return [HALT]
        _truncate(state, command.log_end, "out of range: to the leader's LEO", rules, effects)
    elif command.log_start > state.log_end or (
        rules.out_of_range_wipes and not rules.truncates_surplus_only
    ):
        _restart_log(state, command.log_start, "out of range: restart", effects)
        _move_high_watermark(state, command.log_start, "truncate", effects)
    return effects


# ---- the log and its epochs


def _truncate(state: Partition, offset: int, reason: str, rules: Rules, effects: Effects) -> None:
    """Truncate a log with its epoch cache and (where the log manages it) its HW."""
    previous = state.log_end
    truncates = offset < previous
    if offset < state.first_segment:
        # Nothing on disk is that old, so nothing is kept (UnifiedLog.truncateTo).
        _restart_log(state, offset, reason, effects)
        if rules.high_watermark_in_log:
            _move_high_watermark(state, offset, "truncate", effects)
        return
    if state.epochs is not None and (truncates or rules.truncates_epochs_at_log_end):
        _truncate_epochs(state, offset, effects)
    if not truncates:
        return
    state.log_end = offset
    effects.append(TruncateLog(offset, previous, reason))
    if offset < state.log_start:
        state.log_start = offset
        effects.append(MoveLogStart(offset, state.first_segment))
    if state.high_watermark > state.log_end and rules.high_watermark_in_log:
        _move_high_watermark(state, state.log_end, "truncate", effects)


def _restart_log(state: Partition, offset: int, reason: str, effects: Effects) -> None:
    if state.epochs is not None:
        state.epochs.clear()
        effects.append(StoreEpochs([]))
    effects.append(RestartLog(offset, state.log_end, reason))
    state.log_start = state.log_end = state.first_segment = offset


def _assign_epoch(
    state: Partition, epoch: int, offset: int, rules: Rules, effects: Effects
) -> None:
    """Add an epoch's start offset to the cache, if it is new."""
    cache = state.epochs
    if cache is None or (cache.entries and cache.entries[-1][0] == epoch):
        return
    if cache.assign(epoch, offset, rules.epoch_assigned_at_election):
        effects.append(StoreEpochs(list(cache.entries)))


def _truncate_epochs(state: Partition, offset: int, effects: Effects) -> None:
    if state.epochs is not None and state.epochs.truncate_from_end(offset):
        effects.append(StoreEpochs(list(state.epochs.entries)))


# ---- the process


def _restart(state: Partition, command: Restart, rules: Rules, _moment: Moment) -> Effects:
    """Load the log; the HW is that of the last checkpoint.

    The release ``documents`` truncates to it whatever role the replica gets next.
    """
    effects: Effects = []
    state.high_watermark = min(command.checkpointed, state.log_end)
    if rules.truncates_at_restart:
        _truncate(state, state.high_watermark, "restart: to high watermark", rules, effects)
        state.high_watermark = min(command.checkpointed, state.log_end)
    _truncate_epochs(state, state.log_end, effects)
    state.role = FOLLOWER
    effects += (LOAD_LOG, ChangeRole(FOLLOWER, state.leader, -1))
    return effects


def _lose_tail(state: Partition, command: LoseTail, rules: Rules, _moment: Moment) -> Effects:
    effects: Effects = []
    _truncate(state, command.offset, command.reason, rules, effects)
    return effects


def _end(state: Partition, _command: End, _rules: Rules, _moment: Moment) -> Effects:
    effects: Effects = []
    if state.role != OFFLINE:
        effects.append(ChangeRole(OFFLINE, -1, -1))
    state.role, state.leader, state.leader_epoch = OFFLINE, -1, -1
    state.zk_version, state.controller_epoch = -1, 0
    state.assigned, state.isr, state.remotes = [], [], {}
    state.epoch_start, state.pending, state.is_known = None, None, False
    return effects


TRANSITIONS: Final[dict[type, Callable[[Any, Any, Rules, Moment], Effects]]] = {
    BecomeLeader: _become_leader,
    BecomeFollower: _become_follower,
    UpdateLeader: _update_leader,
    UpdateFollower: _update_follower,
    FollowNobody: _follow_nobody,
    Stop: _stop,
    Append: _append,
    CountFetch: _count_fetch,
    TellHighWatermark: _tell_high_watermark,
    CheckHighWatermark: _check_high_watermark,
    ExpireIsr: _expire_isr,
    IsrStored: _isr_stored,
    IsrRefused: _isr_refused,
    AppendFetched: _append_fetched,
    DeleteRecords: _delete_records,
    DeleteSegments: _delete_segments,
    TruncateToEpochEnd: _truncate_to_epoch_end,
    AdjustToLeader: _adjust_to_leader,
    Restart: _restart,
    LoseTail: _lose_tail,
    End: _end,
}
"""The function for each command."""
