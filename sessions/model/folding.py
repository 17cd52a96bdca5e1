"""The state that events are folded into: copy on write, notes of what changed, counts.

Objects are shared between snapshots until they are touched. An object whose ``changed`` is at or
below :attr:`Model.frozen` belongs to a snapshot too and is copied before it is changed; so a
snapshot of 100,000 partitions costs a few milliseconds and later costs follow activity. Lists
inside objects are replaced, never changed in place, but for those that
:mod:`sessions.model.copies` copies.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

from msgspec import Struct

from emulator.events import Event, MessageSent
from emulator.releases.profiles import PROFILES
from sessions.model import copies
from sessions.model.authority import severed_followers, trouble_of
from sessions.model.changes import Changes
from sessions.model.health import (
    BLOCKED,
    FLAGGED,
    LEADERLESS,
    REFUSED,
    SERVING,
    Counts,
    flags_of,
    has_acting_leader,
    missing_from_isr,
)
from sessions.model.states import (
    BrokerState,
    ConsumerState,
    GroupState,
    PartitionState,
    ProducerState,
    ReplicaState,
    ViewState,
    ZnodeState,
)

MIN_ISR: Final = "min.insync.replicas"
PLACE_OF: Final = {name: place for place, (_, name) in enumerate(FLAGGED)}
COUNTED_AT: Final = tuple(PLACE_OF[name] for name in Counts.__struct_fields__ if name in PLACE_OF)
"""The places of the totals in the order in which :class:`Counts` has them, without a gap."""
CACHE: Final = -1
"""The controller's cache; other parties that have a view of a partition are broker ids."""

Handlers = dict[type[Event], Callable[["Model", Any], None]]
"""The function that applies each type of event to a model."""

Key = TypeVar("Key")
Object = TypeVar("Object", BrokerState, ConsumerState, GroupState, ProducerState)

Judged = Callable[[str, int, int], None]
"""Takes notice of a partition whose flags change: its name, and the flags before and now."""


class Snapshot(Struct, frozen=True):
    """An immutable state, shared with the views that continued from it.

    ``lost`` has the number of lost records of each partition that lost any.
    """

    state: ViewState
    flags: dict[str, int]
    totals: list[int]
    lost: dict[str, int]

    @property
    def seq(self) -> int:
        """The number of the last event in it."""
        return self.state.seq


class Blocked(Struct, frozen=True):
    """The causes of waiting and refused writes: ``brokers`` do not respond or fetch.

    Between two brokers that do not reach each other, it is the one that reaches fewer others.
    ``is_stuck``: for some partition no other broker can lead, so waiting is of no use. ``absent``
    are the replicas out of the ISR of partitions whose writes are refused.
    """

    brokers: tuple[int, ...]
    is_stuck: bool
    absent: tuple[int, ...] = ()


class Model:
    """One mutable state; handlers get its objects through methods that record the change."""

    def __init__(self, state: ViewState) -> None:
        self._begin(state, {}, [0] * len(FLAGGED), {}, frozen=-1)
        for tp in state.partitions:
            self.take_over(tp)

    def _begin(
        self,
        state: ViewState,
        flags: dict[str, int],
        totals: list[int],
        lost: dict[str, int],
        frozen: int,
    ) -> None:
        self.state = state
        self.partitions = state.partitions
        self.frozen = frozen
        self.last_sent: MessageSent | None = None
        self.has_epochs = False
        self.history: list[tuple[int, int, Counts]] | None = None
        self.judged: Judged | None = None
        self.by_broker: dict[int, dict[str, None]] | None = None
        self._flags = flags
        self._totals = totals
        self._lost_counts = lost
        self._trouble = 0
        self._blocked: Blocked | None = None
        self._moved: tuple[int, int] | None = None
        self._counts: Counts | None = None
        self.release_changed()
        self.believers_changed()
        self.count_brokers()
        self.start_noting()

    def start_noting(self) -> None:
        """Start recording changes from here on."""
        seq = self.state.seq
        self.mark = seq
        self.partition_changes = Changes(seq)
        self.znode_changes = Changes(seq)

    def snapshot(self) -> Snapshot:
        """The present state; later events change copies of the parts that they touch."""
        self.look()
        self.frozen = self.state.seq
        if self.last_sent is not None:
            sent = self.last_sent
            self.state.sent = (sent.seq, sent.source, sent.destination)
        state = copies.view_state(self.state)
        return Snapshot(state, self._flags.copy(), self._totals.copy(), self._lost_counts.copy())

    def look(self) -> None:
        """Start a new list of touched objects."""
        seq = self.state.seq
        self.mark = seq
        self.partition_changes.look(seq)
        self.znode_changes.look(seq)

    def release_changed(self) -> None:
        """Update what depends on the cluster's release, once it is known."""
        profile = PROFILES.get(self.state.version)
        self.has_epochs = profile is not None and profile.has("leader_epochs")

    def believers_changed(self) -> None:
        """Update which brokers have metadata, and the controller's cache."""
        believers = (b.id for b in self.state.brokers.values() if b.live_brokers is not None)
        self.believers = (CACHE, *believers)

    # ---- objects, for change

    def partition(self, tp: str, seq: int) -> PartitionState:
        """The partition, about to be changed by event ``seq``; made if nobody named it yet."""
        partition = self.partitions.get(tp)
        if partition is None or partition.changed <= self.mark:
            partition = self._first_touch(tp, partition)
        partition.changed = seq
        return partition

    def _first_touch(self, tp: str, partition: PartitionState | None) -> PartitionState:
        self.partition_changes.current.append(tp)
        if partition is None:
            topic, _, number = tp.rpartition("-")
            partition = copies.new_partition(topic, int(number), self.state.time_us)
        elif partition.changed <= self.frozen:
            partition = copies.copied(partition)
        else:
            return partition
        self.partitions[tp] = partition
        return partition

    def replica(self, tp: str, broker: int, seq: int) -> tuple[PartitionState, ReplicaState]:
        """The partition and its replica on ``broker``, about to be changed by event ``seq``."""
        partition = self.partitions.get(tp)
        if partition is None or partition.changed <= self.mark:
            partition = self._first_touch(tp, partition)
        partition.changed = seq
        replica = partition.replica_states.get(broker)
        if replica is None:
            replica = (
                copies.unknown_replica(broker, seq)
                if self.state.is_observed
                else copies.new_replica(broker, seq, self.has_epochs)
            )
            partition.replica_states[broker] = replica
            if self.by_broker is not None:
                self.names(tp, (broker,))
        elif replica.changed <= self.frozen:
            replica = partition.replica_states[broker] = copies.copied(replica)
        replica.changed = seq
        return partition, replica

    def names(self, tp: str, brokers: Iterable[int]) -> None:
        """Take notice of brokers that a partition has from now on, as leader, ISR or replica."""
        if self.by_broker is not None:
            for broker in brokers:
                self.by_broker.setdefault(broker, {})[tp] = None

    def naming(self, broker: int) -> list[str]:
        """The partitions that a broker leads, or has in their ISR, or has a replica of.

        Very large clusters would otherwise be looked through for each broker that comes or goes;
        while one is built, brokers only come.
        """
        if not self.partitions:
            return []
        if self.by_broker is None:
            self.by_broker = {}
            for tp, partition in self.partitions.items():
                leader = () if partition.leader is None else (partition.leader,)
                self.names(tp, (*partition.isr, *leader, *partition.replica_states))
        partitions = self.by_broker[broker] = {
            tp: None
            for tp in self.by_broker.get(broker, ())
            if (state := self.partitions.get(tp)) is not None
            and (broker in state.isr or broker == state.leader or broker in state.replica_states)
        }
        return list(partitions)

    def broker(self, broker: int, seq: int) -> BrokerState:
        """The broker, about to be changed by event ``seq``."""
        return self.changing(self.state.brokers, broker, seq, BrokerState)

    def changing(
        self, objects: dict[Key, Object], key: Key, seq: int, make: Callable[[Key], Object]
    ) -> Object:
        """One of the objects, about to be changed by event ``seq``; made if it is not there yet."""
        changed = objects.get(key)
        if changed is None:
            changed = objects[key] = make(key)
        elif changed.changed <= self.frozen:
            changed = objects[key] = copies.copied(changed)
        changed.changed = seq
        return changed

    def znode(self, path: str, seq: int) -> ZnodeState | None:
        """The znode, about to be changed by event ``seq``; None if there is none."""
        node = self.state.znodes.get(path)
        if node is None:
            return None
        if node.changed <= self.mark:
            self.znode_changes.current.append(path)
            if node.changed <= self.frozen:
                node = self.state.znodes[path] = copies.copied(node)
        node.changed = seq
        return node

    def remove_partition(self, tp: str) -> None:
        if self.partitions.pop(tp, None) is not None:
            self.state.beliefs.pop(tp, None)
            self.partition_changes.current.append(tp)
            self._counts_move()
            self._lost_counts.pop(tp, None)
            flags = self._flags.pop(tp, 0)
            if flags & BLOCKED:
                self._blocked = None
            self._count_flags(flags, -1)

    # ---- what is wrong

    @property
    def lost(self) -> Mapping[str, int]:
        """How many acknowledged records, or offsets, each partition has lost, if any."""
        return self._lost_counts

    def flags(self, tp: str) -> int:
        """The partition's flags of :mod:`sessions.model.health`."""
        return self._flags.get(tp, 0)

    def take_over(self, tp: str) -> None:
        """Work out the flags of a partition that was read from a file.

        Up to schema 6 nothing said there whether it has been led.
        """
        partition = self.partitions[tp]
        partition.led = partition.led or has_acting_leader(partition, self.serving)
        self.judge(tp, partition)

    def judge(self, tp: str, partition: PartitionState) -> None:
        """Recompute a partition's flags after a relevant change."""
        flags = flags_of(partition, self.serving, self.severed)
        before = self._flags.get(tp)
        if (flags | (before or 0)) & (BLOCKED | REFUSED):
            self._blocked = None
        lost = partition.lost_count
        if lost != self._lost_counts.get(tp, 0):
            self._counts_move()
            if lost:
                self._lost_counts[tp] = lost
            else:
                del self._lost_counts[tp]
        if before == flags:
            return
        self._counts_move()
        self._flags[tp] = flags
        if self.judged is not None:
            self.judged(tp, before or 0, flags)
        if before:
            self._count_flags(before, -1)
        self._count_flags(flags, 1)

    def _count_flags(self, flags: int, step: int) -> None:
        if flags:
            totals = self._totals
            for index in _total_indexes(flags):
                totals[index] += step

    def count_brokers(self) -> None:
        self._counts_move()
        brokers = self.state.brokers.values()
        self._brokers_up = sum(broker.state == "running" for broker in brokers)
        self.serving = {broker.id for broker in brokers if broker.state in SERVING}
        self.watch_authority()

    def watch_authority(self) -> None:
        """Work out the cluster's own trouble again, after a change of what it depends on."""
        self.severed = severed_followers(self.state)
        self._blocked = None
        trouble = trouble_of(self.state)
        if trouble != self._trouble:
            self._counts_move()
            self._trouble = trouble

    def blocked(self) -> "Blocked":
        """The causes of the blocked partitions' waiting, and of refusals."""
        if self._blocked is None:
            self._blocked = self._find_blocked()
        return self._blocked

    def _find_blocked(self) -> "Blocked":
        brokers, absent, is_stuck = set[int](), set[int](), False
        out_of_reach = Counter(follower for follower, _ in self.severed)
        for tp, flags in self._flags.items():
            if flags & REFUSED:
                absent.update(self.partitions[tp].osr)
            elif flags & BLOCKED:
                partition = self.partitions[tp]
                leader = partition.leader or 0
                silent = {
                    leader if out_of_reach[leader] > out_of_reach[broker] else broker
                    for broker in missing_from_isr(partition, self.serving, self.severed)
                }
                if flags & LEADERLESS:
                    is_stuck = is_stuck or not set(partition.isr) & self.serving
                    silent = {leader} - self.serving or silent
                brokers |= silent
        return Blocked(tuple(sorted(brokers)), is_stuck, tuple(sorted(absent)))

    def _counts_move(self) -> None:
        """The counts are about to change: keep what the last event that moved them left."""
        if self.history is not None:
            self._keep_history()
        self._counts = None

    def _keep_history(self) -> None:
        state = self.state
        moved = self._moved
        if moved is not None and moved[0] != state.seq:
            self.settle_history()
        self._moved = (state.seq, state.time_us)

    def settle_history(self) -> list[tuple[int, int, Counts]]:
        """The counts after each event that moved them since :attr:`history` was emptied."""
        history = [] if self.history is None else self.history
        if self._moved is not None:
            history.append((*self._moved, self.counts()))
            self._moved = None
        return history

    def counts(self) -> Counts:
        """How many brokers and partitions are in which state."""
        if self._counts is None:
            totals = [self._totals[index] for index in COUNTED_AT]
            others = (self._brokers_up, len(self.state.brokers), len(self.partitions))
            numbers = [*others, *totals, sum(self._lost_counts.values()), self._trouble]
            self._counts = Counts(*numbers)
        return self._counts

    def tally(self, name: str) -> int:
        """How many partitions are in a state that has a flag."""
        return self._totals[PLACE_OF[name]]

    # ---- configuration

    def min_isr(self, topic: str, leader: int | None) -> int:
        """min.insync.replicas: the topic's, the leading broker's, the cluster's, or 1.

        What an outsider wrote into a znode may be no number, and counts for nothing.
        """
        state = self.state
        for values in (
            state.topic_configs.get(topic),
            None if leader is None else state.broker_configs.get(leader),
            state.config,
        ):
            if values is not None and values.get(MIN_ISR, "").isdecimal():
                return int(values[MIN_ISR])
        return 1


@lru_cache(maxsize=4096)
def _total_indexes(flags: int) -> tuple[int, ...]:
    """The places of the totals that count a partition with these flags."""
    return tuple(index for index, (flag, _) in enumerate(FLAGGED) if flags & flag)
