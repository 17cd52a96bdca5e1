"""A replica as an immutable value: the broker's partition state, its log, and pending messages.

Transitions are computed by :func:`emulator.replication.partition.step`, which changes a
:class:`Partition` in place. A value is therefore thawed, stepped, and frozen again, and the effects
on the log and the fetcher are carried out here, as :mod:`emulator.broker.replication.replica` and
:mod:`emulator.broker.replication.fetcher` do on a broker.

Time is abstract. A replica that has caught up always did so now; a follower that has not caught up
for ``replica.lag.time.max.ms`` is a separate action.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from emulator.replication.fetching import COMPARING, FAILED, added
from emulator.replication.leader_epoch_cache import LeaderEpochCache
from emulator.replication.partition import (
    FOLLOWER,
    LEADER,
    NEVER_US,
    NONE,
    OFFLINE,
    Append,
    AppendAsFollower,
    AppendAsLeader,
    Command,
    CompleteProduces,
    Effects,
    FixedMoment,
    KeepFetching,
    Moment,
    MoveHighWatermark,
    Partition,
    PendingIsr,
    ProposeIsr,
    RemoteReplica,
    RestartLog,
    Rules,
    StartFetching,
    StopFetching,
    StopLeading,
    Then,
    TruncateLog,
    acks_all_error,
    step,
)

TP: Final = "t-0"
CONTROLLER_EPOCH: Final = 1
NO_FETCHER: Final = ""


class Record(NamedTuple):
    """A record in a log: its number and its leader epoch (-1: none)."""

    id: int
    epoch: int


class Batch(Struct, frozen=True):
    """One record in a fetch response."""

    base_offset: int
    leader_epoch: int
    id: int
    count: int = 1


class FetchResponse(NamedTuple):
    """A pending fetch response: the records from ``offset`` on and related fields."""

    error: str
    offset: int
    records: tuple[Record, ...] = ()
    high_watermark: int = -1
    diverging: tuple[int, int] | None = None


class EpochResponse(NamedTuple):
    """A pending OffsetForLeaderEpoch response."""

    error: str
    asked_epoch: int
    epoch: int
    end_offset: int


class EndsResponse(NamedTuple):
    """A pending response with the leader's log start and end offsets."""

    log_start: int
    log_end: int


class AlterResponse(NamedTuple):
    """A pending AlterPartition response of the controller."""

    isr: tuple[int, ...]
    zk_version: int
    leader_epoch: int
    error: str = NONE


Response = FetchResponse | EpochResponse | EndsResponse


class Replica(NamedTuple):
    """A broker's replica. The fields before ``log`` are a frozen :class:`Partition`.

    ``phase`` is its fetcher's phase (:mod:`emulator.replication.fetching`) under the leader epoch
    ``fetch_epoch``. ``response`` is the pending response to the fetcher, sent by the
    ``response_start``-th process of the leader. ``pending_epochs`` are the broker epochs in the
    request for a ``pending`` ISR, in KRaft mode. ``waiting`` are the records whose producers wait
    for the HW, with the offset that it has to reach. ``hw_fell``: its HW has decreased within an
    epoch in which it is the leader.
    """

    log_end: int = 0
    high_watermark: int = 0
    epochs: tuple[tuple[int, int], ...] | None = None
    role: str = OFFLINE
    leader: int = -1
    leader_epoch: int = -1
    zk_version: int = -1
    isr: tuple[int, ...] = ()
    epoch_start: int | None = None
    remotes: tuple[tuple[int, tuple[int, ...]], ...] = ()
    pending: tuple[tuple[int, ...], str] | None = None
    pending_epochs: tuple[tuple[int, int], ...] = ()
    is_known: bool = False
    log: tuple[Record, ...] = ()
    phase: str = NO_FETCHER
    fetch_epoch: int = -1
    response: Response | None = None
    response_start: int = 0
    alter_response: AlterResponse | None = None
    waiting: tuple[tuple[int, int], ...] = ()
    hw_fell: bool = False

    @property
    def leads(self) -> bool:
        return self.role == LEADER

    def follows(self, leader: int) -> bool:
        """Whether it fetches from that leader."""
        return self.role == FOLLOWER and self.leader == leader and self.phase != NO_FETCHER

    @property
    def fetches(self) -> bool:
        """Whether it has a leader to fetch from and no pending response."""
        follows = self.role == FOLLOWER and self.phase not in {NO_FETCHER, FAILED}
        return follows and self.response is None


class Stepped(Struct):
    """The result of a command: the replica, acknowledged records, and follow-up commands.

    ``replica`` reflects the effects carried out so far.
    """

    replica: Replica
    effects: Effects
    acknowledged: tuple[int, ...] = ()
    proposal: ProposeIsr | None = None
    then: tuple[Command, ...] = ()
    led: bool = False


class ReplicaRules(Struct, frozen=True):
    """One broker's replica under a release's rules."""

    broker: int
    rules: Rules
    assigned: tuple[int, ...]
    min_insync_replicas: int

    def moment(self, live: tuple[int, ...]) -> Moment:
        """The moment of a decision; ``live`` are the brokers known to be alive."""
        return FixedMoment(min_insync_replicas=self.min_insync_replicas, live_brokers=live)

    def do(self, replica: Replica, command: Command, live: tuple[int, ...]) -> Stepped:
        """Execute a command and carry out its effects on the log and the fetcher."""
        state = self.thaw(replica)
        effects = step(state, command, self.rules, self.moment(live))
        stepped = Stepped(replica, effects, led=replica.leads)
        for effect in effects:
            carry_out = CARRY_OUT.get(type(effect))
            if carry_out is not None:
                carry_out(self, stepped, effect, state)
        beside, has_pending = stepped.replica, state.pending is not None
        stepped.replica = self.freeze(state)._replace(
            log=beside.log,
            phase=beside.phase,
            fetch_epoch=beside.fetch_epoch,
            response=beside.response,
            response_start=0 if beside.response is None else beside.response_start,
            alter_response=beside.alter_response if has_pending else None,
            pending_epochs=beside.pending_epochs if has_pending else (),
            waiting=beside.waiting,
            hw_fell=beside.hw_fell,
        )
        return stepped

    def append(self, replica: Replica, record: int, live: tuple[int, ...]) -> Stepped:
        """Append a producer's record as the leader; its producer waits for the HW."""
        waiting = (*replica.waiting, (record, replica.log_end + 1))
        command = Append(Batch(replica.log_end, -1, record), {})
        return self.do(replica._replace(waiting=waiting), command, live)

    def phase_of(self, state: Partition) -> str:
        """The initial phase of the fetcher for a partition."""
        knows_epochs = state.epochs is not None and state.epochs.latest >= 0
        asks = knows_epochs and self.rules.truncates_by_epoch and not self.rules.diverging_fetch
        return added(epoch=state.leader_epoch, asks_epoch=asks).phase

    def thaw(self, replica: Replica) -> Partition:
        """The partition state of a value."""
        is_known = replica.is_known
        return Partition(
            TP,
            self.broker,
            log_end=replica.log_end,
            high_watermark=replica.high_watermark,
            epochs=None if replica.epochs is None else LeaderEpochCache(list(replica.epochs)),
            role=replica.role,
            leader=replica.leader,
            leader_epoch=replica.leader_epoch,
            controller_epoch=CONTROLLER_EPOCH if is_known else 0,
            zk_version=replica.zk_version,
            assigned=list(self.assigned) if is_known else [],
            isr=list(replica.isr),
            epoch_start=replica.epoch_start,
            remotes={follower: RemoteReplica(*fields) for follower, fields in replica.remotes},
            pending=None if replica.pending is None else _thawed_pending(replica.pending),
            is_known=is_known,
        )

    def freeze(self, state: Partition) -> Replica:
        """The value of a partition state."""
        pending = state.pending
        return Replica(
            log_end=state.log_end,
            high_watermark=state.high_watermark,
            epochs=None if state.epochs is None else tuple(state.epochs.entries),
            role=state.role,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            zk_version=state.zk_version if state.role == LEADER else -1,
            isr=tuple(state.isr),
            epoch_start=state.epoch_start,
            remotes=tuple(
                (follower, self._frozen(remote)) for follower, remote in state.remotes.items()
            ),
            pending=None if pending is None else (tuple(pending.isr), pending.change),
            is_known=state.is_known,
        )

    def _frozen(self, remote: RemoteReplica) -> tuple[int, ...]:
        """A follower as the leader remembers it.

        Its last fetch matters only if the follower may later turn out to have been caught up then.
        """
        is_caught_up = remote.last_caught_up_us != NEVER_US
        if is_caught_up or not self.rules.profile.has("caught_up_at_previous_fetch"):
            remote.last_fetch_us, remote.last_fetch_leader_leo = NEVER_US, -1
        return astuple(remote)


# ---- effects


def _append_record(
    _rules: ReplicaRules,
    stepped: Stepped,
    effect: AppendAsLeader | AppendAsFollower,
    _state: Partition,
) -> None:
    batch = effect.batch
    assert isinstance(batch, Batch)
    epoch = effect.leader_epoch if isinstance(effect, AppendAsLeader) else batch.leader_epoch
    log = (*stepped.replica.log, Record(batch.id, epoch))
    stepped.replica = stepped.replica._replace(log=log)


def _truncate(
    _rules: ReplicaRules, stepped: Stepped, effect: TruncateLog, _state: Partition
) -> None:
    stepped.replica = stepped.replica._replace(log=stepped.replica.log[: effect.offset])


def _restart_log(
    _rules: ReplicaRules, stepped: Stepped, _effect: RestartLog, _state: Partition
) -> None:
    stepped.replica = stepped.replica._replace(log=())


def _stop_fetching(
    _rules: ReplicaRules, stepped: Stepped, _effect: StopFetching, _state: Partition
) -> None:
    stepped.replica = stepped.replica._replace(phase=NO_FETCHER, response=None)


def _start_fetching(
    rules: ReplicaRules, stepped: Stepped, effect: StartFetching, state: Partition
) -> None:
    phase = COMPARING if effect.asks_ends else rules.phase_of(state)
    epoch = state.leader_epoch
    stepped.replica = stepped.replica._replace(phase=phase, response=None, fetch_epoch=epoch)


def _keep_fetching(
    _rules: ReplicaRules, stepped: Stepped, _effect: KeepFetching, state: Partition
) -> None:
    stepped.replica = stepped.replica._replace(fetch_epoch=state.leader_epoch)


def _move_hw(
    _rules: ReplicaRules, stepped: Stepped, effect: MoveHighWatermark, state: Partition
) -> None:
    # Becoming a leader starts an epoch, so only a replica that was the leader before has violated
    # the property.
    led = stepped.led and state.role == LEADER
    if led and effect.to < effect.previous:
        stepped.replica = stepped.replica._replace(hw_fell=True)


def _complete_produces(
    rules: ReplicaRules, stepped: Stepped, _effect: CompleteProduces | StopLeading, state: Partition
) -> None:
    moment, waiting = rules.moment(()), []
    for record, required in stepped.replica.waiting:
        error = acks_all_error(state, required, rules.rules, moment)
        if error is None:
            waiting.append((record, required))
        elif error == NONE:
            stepped.acknowledged += (record,)
    stepped.replica = stepped.replica._replace(waiting=tuple(waiting))


def _propose(_rules: ReplicaRules, stepped: Stepped, effect: ProposeIsr, _state: Partition) -> None:
    stepped.proposal = effect


def _then(_rules: ReplicaRules, stepped: Stepped, effect: Then, _state: Partition) -> None:
    stepped.then += (effect.command,)


CARRY_OUT: Final[dict[type, Callable[[ReplicaRules, Stepped, Any, Partition], None]]] = {
    AppendAsLeader: _append_record,
    AppendAsFollower: _append_record,
    TruncateLog: _truncate,
    RestartLog: _restart_log,
    StopFetching: _stop_fetching,
    StartFetching: _start_fetching,
    KeepFetching: _keep_fetching,
    MoveHighWatermark: _move_hw,
    CompleteProduces: _complete_produces,
    StopLeading: _complete_produces,
    ProposeIsr: _propose,
    Then: _then,
}
"""The handler of each effect; other effects are irrelevant to the search."""


def _thawed_pending(pending: tuple[tuple[int, ...], str]) -> PendingIsr:
    isr, change = pending
    return PendingIsr(list(isr), change)
