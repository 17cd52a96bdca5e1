"""An index of partitions: their severity, and tallies by broker, updated change by change.

Every frame :meth:`PartitionIndex.refresh` finds out which partitions differ from what was seen
last. While time goes forward the read model tells, and after a short jump back what the views
before and after it have folded since they were the same. After any other jump the ``changed``
numbers are compared, which say it as well, because a partition's content is a function of the last
event that touched it.
"""

from collections import Counter
from itertools import compress
from operator import attrgetter, ne
from typing import Final, NamedTuple
from weakref import ref

from console.model.severity import HEALTHY, RANKS
from sessions.model.changes import Changes
from sessions.model.cluster_view import ClusterView
from sessions.model.states import PartitionState


class Facts(NamedTuple):
    """A partition's contribution to the tallies."""

    severity: int
    leader: int | None
    replicas: list[int]
    isr: list[int]
    audit: tuple[int, int, int, int]


NO_AUDIT = (0, 0, 0, 0)
_CHANGED: Final = attrgetter("changed")


class PartitionIndex:
    """Severity of every partition, and sums over all of them, kept up to date change by change.

    ``audit`` counts lost, duplicated, diverged and read-and-lost records. ``generation`` grows when
    partitions come or go.
    """

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.generation = 0
        self.severity: dict[str, int] = {}
        self.leaders: Counter[int] = Counter()
        self.replicas: Counter[int] = Counter()
        self.out_of_sync: Counter[int] = Counter()
        self.faults = 0
        self.audit = list(NO_AUDIT)
        self._facts: dict[str, Facts] = {}
        self._versions: dict[str, int] = {}
        self._lagging: set[str] = set()
        self._changes: Changes | None = None
        self._view: ref[ClusterView] | None = None  # a view that was left is not kept in memory
        self._seq = -1
        self._time_us = -1

    @property
    def stalled(self) -> int:
        """How many partitions have a stalled high watermark, and nothing worse."""
        rank = RANKS["hw_stalled"]
        return sum(self.severity.get(tp) == rank for tp in self._lagging)

    def refresh(self, view: ClusterView) -> set[str]:
        """Apply what has changed since the last call, and return it."""
        if self.is_at(view):
            return set()
        state = view.state
        partitions = state.partitions
        if self._is_same(view) and state.seq >= self._seq:
            changed = set(view.changed_partitions_since(self._seq))
        else:
            changed = self._differences(view)
        changed |= self._lagging
        self._changes = view.partition_changes
        self._view, self._seq, self._time_us = ref(view), state.seq, state.time_us
        if len(partitions) != len(self._facts) or not changed <= self._facts.keys():
            self._reload_keys(partitions)
        for tp in changed:
            if tp in partitions:
                self._take(tp, partitions[tp], view)
        return changed

    def is_at(self, view: ClusterView) -> bool:
        """Whether nothing has changed since the last call of :meth:`refresh`."""
        state = view.state
        return self._is_same(view) and (state.seq, state.time_us) == (self._seq, self._time_us)

    def _is_same(self, view: ClusterView) -> bool:
        return self._view is not None and self._view() is view

    def _differences(self, view: ClusterView) -> set[str]:
        """The partitions that differ from those of another view of the same history.

        Events tell, if both views have passed the state that this one began with.
        """
        partitions = view.partitions
        parting = view.partition_changes.floor
        seen = None if self._changes is None else self._changes.since(parting)
        new = view.partition_changes.since(parting)
        if seen is None or new is None or parting > self._seq:
            return self._compared(partitions)
        version = self._versions.get
        return {
            tp
            for tp in (*seen, *new)
            if (p := partitions.get(tp)) is None or p.changed != version(tp)
        }

    def _compared(self, partitions: dict[str, PartitionState]) -> set[str]:
        """The same by a comparison of all, without a step of Python for each."""
        seen = map(self._versions.get, partitions)
        differ = map(ne, map(_CHANGED, partitions.values()), seen)
        changed = set(compress(partitions, differ))
        kept = len(partitions) - len(changed - self._versions.keys())
        gone = kept != len(self._versions)
        return changed | self._versions.keys() - partitions.keys() if gone else changed

    def _reload_keys(self, partitions: dict[str, PartitionState]) -> None:
        for tp in [tp for tp in self._facts if tp not in partitions]:
            self._count(self._facts.pop(tp), -1)
            del self.severity[tp], self._versions[tp]
            self._lagging.discard(tp)
        self.keys = sorted(
            partitions, key=lambda tp: (partitions[tp].topic, partitions[tp].partition)
        )
        self.generation += 1

    def _take(self, tp: str, partition: PartitionState, view: ClusterView) -> None:
        leader = partition.leader
        replica = None if leader is None else partition.replica_states.get(leader)
        lagging = replica is not None and replica.log_end_offset > replica.high_watermark
        suspect = lagging or view.flags(tp)
        severity = RANKS[view.status(partition)] if suspect else HEALTHY
        # Lists of the read model are replaced, never changed: most are the ones seen before.
        new = (severity, leader, partition.replicas, partition.isr, _audit(partition))
        old = self._facts.get(tp)
        if old != new:
            if old is not None:
                self._count(old, -1)
            facts = self._facts[tp] = Facts(*new)
            self._count(facts, 1)
            self.severity[tp] = severity
        self._versions[tp] = partition.changed
        if lagging:
            self._lagging.add(tp)
        else:
            self._lagging.discard(tp)

    def _count(self, facts: Facts, sign: int) -> None:
        severity, leader, replicas, isr, audit = facts
        self.faults += sign * (severity < HEALTHY)
        if leader is not None and leader >= 0:
            self.leaders[leader] += sign
        tally = self.replicas
        for broker in replicas:
            tally[broker] += sign
        if len(isr) < len(replicas):
            for broker in replicas:
                if broker not in isr:
                    self.out_of_sync[broker] += sign
        if audit is not NO_AUDIT:
            self.audit = [total + sign * n for total, n in zip(self.audit, audit, strict=True)]


def _audit(partition: PartitionState) -> tuple[int, int, int, int]:
    duplicated, diverged = partition.duplicated, partition.diverged
    is_lossy = partition.lost or partition.lost_offsets or partition.consumed_lost
    if not is_lossy and not duplicated and not diverged:
        return NO_AUDIT
    return partition.lost_count, len(duplicated), len(diverged), len(partition.consumed_lost)
