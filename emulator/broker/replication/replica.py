"""One broker's replicas: a partition's state and its log, and the loop that carries out effects.

:func:`emulator.replication.partition.step` decides what happens to a replica. This module executes
it: it writes the log, emits the event, and calls the components that act on it. No other code
modifies a log.
"""

from collections.abc import Callable, Collection
from typing import Any, get_args

from msgspec import Struct, field

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.protocol import RecordBatch
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.replication.partition import (
    FOLLOWER,
    LEADER,
    NO_BROKERS,
    NO_REMOTES,
    OFFLINE,
    TRANSITIONS,
    AdoptIsr,
    AppendAsFollower,
    AppendAsLeader,
    ChangeRole,
    Command,
    Effect,
    Effects,
    ForgetLogEnds,
    LoadLog,
    MoveHighWatermark,
    MoveLogStart,
    Partition,
    RememberLogEnd,
    RestartLog,
    Rules,
    StopLeading,
    StoreEpochs,
    Then,
    TruncateLog,
)
from emulator.storage.log import NO_BATCHES, Log, tail_of
from emulator.storage.producer_state import NO_PRODUCERS, ProducerStates

__all__ = ["FOLLOWER", "LEADER", "OFFLINE", "Replica", "ReplicaIndex", "Replicas"]


class Replica(Partition, array_like=True, gc=False):
    """A replica: the partition's state and its stored data.

    ``log``, ``epochs``, ``checkpointed_hw`` and ``recovery_point`` are on disk, the last two as the
    partition's entries in the broker's checkpoint files (-1: none); ``producers`` is rebuilt from
    the log.
    ``paused``: a follower that was told not to fetch. ``told_stable`` is the last stable offset
    last reported; -1: it was equal to the HW.
    """

    log: Log = field(default_factory=Log)
    producers: ProducerStates = field(default_factory=lambda: NO_PRODUCERS)
    checkpointed_hw: int = -1
    paused: bool = False
    told_stable: int = -1
    recovery_point: int = -1

    @property
    def stored_high_watermark(self) -> int:
        """The HW with which a restarted process begins: the checkpointed one, or else 0."""
        return max(0, self.checkpointed_hw)

    @property
    def last_stable_offset(self) -> int:
        """The offset up to which a read_committed consumer can read."""
        return self.producers.transactions.last_stable_offset(self.high_watermark)


class ReplicaIndex(Struct, array_like=True):
    """The replicas that periodic tasks have to check; lost when the process ends.

    ``lagging`` are led partitions with a follower behind the leader: only those can fall out of
    the ISR. ``unchecked_hw`` are those whose HW has moved since the last checkpoint, and
    ``unchecked_recovery`` those whose recovery point has.
    ``unannounced`` are new partitions that no UpdateMetadata has named yet.
    """

    lagging: dict[str, None] = field(default_factory=dict)
    unchecked_hw: dict[str, None] = field(default_factory=dict)
    unannounced: dict[str, None] = field(default_factory=dict)
    unchecked_recovery: dict[str, None] = field(default_factory=dict)


Handler = Callable[[Replica, Any], object]
"""Carries out an effect of one type."""


def _ignore(_replica: Replica, _effect: Effect) -> None:
    """Do nothing: no part of this broker reacts."""


def _in_turn(first: Handler, second: Handler) -> Handler:
    """Both handlers, one after the other."""

    def handle(replica: Replica, effect: Effect) -> None:
        first(replica, effect)
        second(replica, effect)

    return handle


class BrokerMoment:
    """What a broker knows when it decides about a partition."""

    def __init__(self, context: BrokerContext) -> None:
        self.clock = context.kernel.state
        self._context = context
        self._min_isr: dict[str, int] = {}
        self._min_isr_version = -1

    @property
    def lag_time_us(self) -> int:
        return self._context.config.replica_lag_time_max_us

    @property
    def lag_messages(self) -> int:
        return self._context.config.replica_lag_max_messages

    @property
    def live_brokers(self) -> Collection[int]:
        return self._context.process.live_brokers

    def min_isr(self, tp: str) -> int:
        """min.insync.replicas, kept by partition until a setting changes."""
        version = self._context.configuration.version
        if self._min_isr_version != version:
            self._min_isr_version, self._min_isr = version, {}
        min_isr = self._min_isr.get(tp)
        if min_isr is None:
            topic = tp.rpartition("-")[0]
            min_isr = self._min_isr[tp] = self._context.min_insync_replicas(topic)
        return min_isr


class Replicas:
    """A broker's replicas by partition name, and the operations on them."""

    # Methods that run often have `_emit` in a local variable: the interpreter looks for a method
    # of that name first, each time, when an attribute is called.

    def __init__(
        self, context: BrokerContext, replicas: dict[str, Replica], index: ReplicaIndex
    ) -> None:
        self.context = context
        self._id = context.id
        self._emit = context.emit
        self._process = context.process
        self.by_name = replicas
        self.get = replicas.get  # this broker's replica of a partition; None if it has none
        self.index = index
        self.rules = Rules.of(context.profile)
        self._stores_high_watermarks = context.profile.has("high_watermark_stored_at_once")
        self._needs_metadata = context.metadata.arrives_in_requests and context.profile.has(
            "requests_need_metadata"
        )
        self.moment = BrokerMoment(context)
        own: dict[type, Handler] = {
            AppendAsLeader: self._append_as_leader,
            AppendAsFollower: self._append_as_follower,
            TruncateLog: self._truncate,
            RestartLog: self._restart,
            MoveLogStart: self._move_log_start,
            StoreEpochs: self._store_epochs,
            MoveHighWatermark: self._move_high_watermark,
            ChangeRole: self._change_role,
            RememberLogEnd: self._remember_log_end,
            ForgetLogEnds: self._forget_log_ends,
            AdoptIsr: self._adopt_isr,
            LoadLog: self._load,
            StopLeading: lambda replica, _effect: self.index.lagging.pop(replica.tp, None),
            Then: lambda replica, effect: self.do(replica, effect.command),
        }
        self._handlers: dict[type, Handler] = dict.fromkeys(get_args(Effect), _ignore) | own

    def on(self, effect: type, handler: Handler) -> None:
        """Let ``handler`` react to effects of a type, after the log and those added before."""
        earlier = self._handlers[effect]
        self._handlers[effect] = handler if earlier is _ignore else _in_turn(earlier, handler)

    def served(self, tp: str) -> Replica | None:
        """The replica that produce requests and fetches of a partition get to; None if none.

        From 0.10.1 on the broker's metadata must have the partition, so requests for one of a topic
        that is being deleted are refused (``KafkaApis``: ``metadataCache.contains``). Those for a
        new one are served a moment early, before its first UpdateMetadata arrives.
        """
        if tp in self._process.metadata or not self._needs_metadata or tp in self.index.unannounced:
            return self.by_name.get(tp)
        return None

    def unserved(self) -> list[str]:
        """The partitions here that :meth:`served` refuses, in order of their names."""
        unknown = self.by_name.keys() - self._process.metadata.keys()
        return sorted(tp for tp in unknown if self.served(tp) is None)

    def led(self) -> list[Replica]:
        return [replica for replica in self.by_name.values() if replica.role == LEADER]

    # ---- the loop

    def do(self, replica: Replica, command: Command) -> Effects:
        """Execute a command and its effects, in order; return the effects.

        Executing an effect may trigger further commands, for this replica or another; they complete
        before the next effect is executed.
        """
        # As `step` does, without its call.
        effects = TRANSITIONS[type(command)](replica, command, self.rules, self.moment)
        handlers = self._handlers
        for effect in effects:
            handlers[type(effect)](replica, effect)
        return effects

    # ---- creation and deletion

    def create(self, tp: str) -> Replica:
        """Create an empty log for a partition."""
        epochs = LeaderEpochCache() if self.rules.leader_epochs else None
        log = Log(0, 0, 0, NO_BATCHES)
        replica = self.by_name[tp] = Replica(
            tp,
            self._id,
            epochs=epochs,
            assigned=NO_BROKERS,
            isr=NO_BROKERS,
            remotes=NO_REMOTES,
            log=log,
            producers=NO_PRODUCERS,
        )
        index = self.index
        index.unchecked_hw[tp] = index.unchecked_recovery[tp] = None
        emit = self._emit
        emit(events.LogCreated, tp, self._id)
        return replica

    def tell_disk(self) -> None:
        """Report the replicas that are on the disk before the process starts for the first time."""
        watermarks: dict[str, int] = {}
        for replica in self.by_name.values():
            self._emit(events.LogCreated, replica.tp, self._id)
            self._load(replica, LoadLog())
            if replica.checkpointed_hw:
                watermarks[replica.tp] = replica.checkpointed_hw
        if watermarks:
            self._emit(events.HighWatermarksCheckpointed, self._id, watermarks)

    def delete(self, replica: Replica) -> None:
        """Remove a replica that is offline, with its log."""
        # Emitted before the deletion, so that observers can still read the deleted records.
        self._emit(events.LogDeleted, replica.tp, self._id)
        del self.by_name[replica.tp]
        self.index.unchecked_hw.pop(replica.tp, None)
        self.index.unchecked_recovery.pop(replica.tp, None)

    def checkpoint_high_watermarks(self) -> None:
        """Write replication-offset-checkpoint: the HWs that changed since the last checkpoint."""
        changed: dict[str, int] = {}
        find = self.get
        for tp in self.index.unchecked_hw:
            replica = find(tp)
            if replica is not None and replica.checkpointed_hw != replica.high_watermark:
                replica.checkpointed_hw = changed[tp] = replica.high_watermark
        self.index.unchecked_hw = {}
        if changed:
            self._emit(events.HighWatermarksCheckpointed, self._id, changed)

    def checkpoint_recovery_points(self) -> None:
        """Write recovery-point-offset-checkpoint: the offsets up to which logs are flushed."""
        changed: dict[str, int] = {}
        for tp in self.index.unchecked_recovery:
            replica = self.by_name.get(tp)
            if replica is not None and replica.recovery_point != replica.log.flushed:
                replica.recovery_point = changed[tp] = replica.log.flushed
        self.index.unchecked_recovery = {}
        if changed:
            self._emit(events.RecoveryPointsCheckpointed, self._id, changed)

    def store_all(self) -> None:
        """Flush every log and write both checkpoint files, as a clean shutdown does."""
        index = self.index
        for tp, replica in self.by_name.items():
            index.unchecked_hw[tp] = index.unchecked_recovery[tp] = None
            replica.log.flushed = replica.log.end
        self.checkpoint_high_watermarks()
        self.checkpoint_recovery_points()

    # ---- effects on the log

    def _append_as_leader(self, replica: Replica, effect: AppendAsLeader) -> None:
        batch = effect.batch
        assert isinstance(batch, RecordBatch)
        placed = RecordBatch(
            effect.base_offset,
            batch.count,
            effect.leader_epoch,
            batch.first_record,
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            batch.size_bytes,
            batch.kind,
            batch.append_time_ms,
        )
        if replica.remotes:
            self.index.lagging[replica.tp] = None
        self._append(replica, placed)

    def _append_as_follower(self, replica: Replica, effect: AppendAsFollower) -> None:
        batch = effect.batch
        assert isinstance(batch, RecordBatch)
        if batch.base_offset != effect.offset:
            batch = tail_of(batch, effect.offset)
        self._append(replica, batch)

    def _append(self, replica: Replica, batch: RecordBatch) -> None:
        replica.log.append(batch)
        emit = self._emit
        if batch.producer_id >= 0:
            if replica.producers is NO_PRODUCERS:
                replica.producers = ProducerStates()
            replica.producers.append(batch)
        emit(
            events.RecordsAppended,
            replica.tp,
            self._id,
            batch.base_offset,
            batch.count,
            batch.leader_epoch,
            batch.first_record,
        )
        if batch.kind:
            self._note_stable(replica)

    def _note_stable(self, replica: Replica) -> None:
        """Report the last stable offset if it has moved relative to the HW."""
        stable = replica.last_stable_offset
        if stable == replica.high_watermark:
            stable = -1
        if stable != replica.told_stable:
            replica.told_stable = stable
            self._emit(events.LastStableOffsetChanged, replica.tp, self._id, stable)

    def _truncate(self, replica: Replica, effect: TruncateLog) -> None:
        replica.log.truncate(effect.offset)
        self._emit(
            events.LogTruncated,
            replica.tp,
            self._id,
            effect.offset,
            effect.previous,
            effect.reason,
        )
        self._cut(replica)
        replica.producers.truncate(replica.log)
        self._note_stable(replica)

    def _cut(self, replica: Replica) -> None:
        """Write the recovery points after a truncation (LogManager.truncateTo)."""
        if self._process.is_up:
            self.index.unchecked_recovery[replica.tp] = None
            self.checkpoint_recovery_points()

    def _restart(self, replica: Replica, effect: RestartLog) -> None:
        replica.log.restart_at(effect.offset)
        # Not truncated to the new end: that may lie above what producers wrote to the old log
        # (ProducerStateManager.truncateFullyAndStartAt).
        replica.producers = NO_PRODUCERS
        tp, me, at = replica.tp, self._id, effect.offset
        self._emit(events.LogTruncated, tp, me, at, effect.previous, effect.reason)
        self._emit(events.LogStartOffsetChanged, tp, me, at, at)
        self._cut(replica)
        self._note_stable(replica)

    def _move_log_start(self, replica: Replica, effect: MoveLogStart) -> None:
        # Emitted before the deletion, so that observers can still read the deleted records.
        start, first_segment = effect.offset, effect.first_segment
        self._emit(events.LogStartOffsetChanged, replica.tp, self._id, start, first_segment)
        replica.log.start = start
        replica.log.delete_before(first_segment)
        replica.producers.transactions.delete_before(effect.offset)
        self._note_stable(replica)

    def _load(self, replica: Replica, _effect: LoadLog) -> None:
        if replica.producers is not NO_PRODUCERS:
            replica.producers.rebuild(replica.log)
        self.index.unchecked_hw[replica.tp] = self.index.unchecked_recovery[replica.tp] = None
        epochs = None if replica.epochs is None else list(replica.epochs.entries)
        self._emit(
            events.LogLoaded,
            replica.tp,
            self._id,
            replica.log_start,
            replica.log_end,
            replica.high_watermark,
            epochs,
        )
        self._note_stable(replica)

    # ---- effects that only emit events

    def _store_epochs(self, replica: Replica, effect: StoreEpochs) -> None:
        emit = self._emit
        emit(events.EpochCacheChanged, replica.tp, self._id, effect.entries)

    def _move_high_watermark(self, replica: Replica, effect: MoveHighWatermark) -> None:
        self.index.unchecked_hw[replica.tp] = None
        emit = self._emit
        emit(
            events.HighWatermarkChanged,
            replica.tp,
            self._id,
            effect.to,
            effect.previous,
            effect.occasion,
        )
        if self._stores_high_watermarks:
            self.checkpoint_high_watermarks()
        transactions = replica.producers.transactions
        if transactions.ongoing or transactions.unreplicated or replica.told_stable >= 0:
            if transactions.unreplicated:
                transactions.replicated(effect.to)
            self._note_stable(replica)

    def _change_role(self, replica: Replica, effect: ChangeRole) -> None:
        emit = self._emit
        emit(
            events.ReplicaRoleChanged,
            replica.tp,
            self._id,
            effect.role,
            effect.leader,
            effect.leader_epoch,
        )

    def _adopt_isr(self, replica: Replica, effect: AdoptIsr) -> None:
        emit = self._emit
        emit(events.IsrChanged, replica.tp, self._id, effect.isr, effect.zk_version)

    def _remember_log_end(self, replica: Replica, effect: RememberLogEnd) -> None:
        tp, emit = replica.tp, self._emit
        emit(events.RemoteLogEndOffsetChanged, tp, self._id, effect.follower, effect.log_end)
        end, lagging = replica.log_end, self.index.lagging
        for remote in replica.remotes.values():
            if remote.leo != end:
                lagging[tp] = None
                return
        lagging.pop(tp, None)

    def _forget_log_ends(self, replica: Replica, effect: ForgetLogEnds) -> None:
        emit = self._emit
        for follower in effect.followers:
            emit(events.RemoteLogEndOffsetChanged, replica.tp, self._id, follower, -1)
        self.index.lagging[replica.tp] = None
