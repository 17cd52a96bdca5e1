"""The figures of a partition that tables show, and the fields that filters know."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Final

from console.model.filters import NO_VALUE, Field
from sessions.model.states import PartitionState, ReplicaState


def leader_number(partition: PartitionState) -> int | None:
    """The leader's id; None while there is none."""
    return None if partition.leader is None or partition.leader < 0 else partition.leader


def spokesman(partition: PartitionState) -> ReplicaState | None:
    """The replica whose HW and LEO represent the partition.

    That is its leader, or while it is offline the fullest of the ISR.
    """
    states, leader = partition.replica_states, partition.leader
    if leader is not None and leader in states:
        return states[leader]
    held = [states[broker] for broker in partition.isr if broker in states]
    return max(held, key=lambda replica: replica.log_end_offset, default=None)


# The next three are asked of every partition at once when a table is sorted by them: they look
# for the leader's replica themselves, since that is the usual case and a call costs as much.


def high_watermark(partition: PartitionState) -> int | None:
    """The partition's HW."""
    states, leader = partition.replica_states, partition.leader
    replica = states[leader] if leader in states else spokesman(partition)
    return None if replica is None else replica.high_watermark


def log_end_offset(partition: PartitionState) -> int | None:
    """The partition's LEO."""
    states, leader = partition.replica_states, partition.leader
    replica = states[leader] if leader in states else spokesman(partition)
    return None if replica is None else replica.log_end_offset


def lag(partition: PartitionState) -> int:
    """Records in the leader's log that are not committed yet."""
    states, leader = partition.replica_states, partition.leader
    replica = states[leader] if leader in states else spokesman(partition)
    if replica is None:
        return 0
    behind = replica.log_end_offset - replica.high_watermark
    return behind if behind > 0 else 0


def _number(read: Callable[[PartitionState], int | None]) -> Field[PartitionState]:
    """Return a number, or NaN for a missing one."""

    def number_or_none(partition: PartitionState) -> float:
        value = read(partition)
        return NO_VALUE if value is None else value

    return Field(number_or_none)


def partition_fields(
    statuses: Callable[[PartitionState], Iterable[str]],
    writes: Callable[[PartitionState], str],
) -> Mapping[str, Field[PartitionState]]:
    """The fields that a query such as ``isr<min and topic~orders`` can name.

    ``statuses`` gives the states that hold of a partition, as :mod:`sessions.model.health` defines
    them; ``state=`` and ``state~`` find these and ``online``, ``offline``, ``nonexistent``.
    ``writes`` tells what becomes of writes, one of :data:`sessions.model.health.WRITES`.
    """

    def states(partition: PartitionState) -> list[str]:
        held = list(statuses(partition))
        return [partition.state, *(held or ["healthy"])]

    return {**FIELDS, "state": Field(states, "words"), "writes": Field(writes, "word")}


FIELDS: Final[Mapping[str, Field[PartitionState]]] = {
    "topic": Field(attrgetter("topic"), "word"),
    "partition": Field(attrgetter("partition")),
    "leader": _number(leader_number),
    "epoch": _number(attrgetter("leader_epoch")),
    "replicas": Field(attrgetter("replicas"), "list"),
    "isr": Field(attrgetter("isr"), "list"),
    "osr": Field(attrgetter("osr"), "list"),
    "min": Field(attrgetter("min_isr")),
    "hw": _number(high_watermark),
    "leo": _number(log_end_offset),
    "lag": Field(lag),
    "version": _number(attrgetter("zk_version")),
    "unclean": Field(lambda partition: int(partition.unclean)),
    "preferred": Field(lambda partition: int([partition.leader] == partition.replicas[:1])),
    "lost": Field(lambda partition: partition.lost_count),
    "duplicated": Field(lambda partition: len(partition.duplicated)),
    "diverged": Field(lambda partition: len(partition.diverged)),
}
"""The fields that need only the partition itself."""
