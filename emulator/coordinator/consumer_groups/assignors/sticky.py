"""The uniform assignor of 3.9 for members whose subscriptions differ.

Members keep what they have, free partitions go to the subscribers with the fewest, and then
partitions move one by one as long as that improves the balance. It fails if a partition would move
where another one of its topic came from: that one was to go back instead, but its move is taken for
a mistake. Source: ``UniformHeterogeneousAssignmentBuilder`` 3.9.
"""

from collections.abc import Iterable
from typing import NamedTuple

from emulator.common.java_collections import hash_map_order, topics_in_order, uuid_hash
from emulator.coordinator.modern_groups.specification import AssignorError, GroupSpec, Partitions


class _Partition(NamedTuple):
    topic: str
    number: int


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member."""
    return _Assignment(group).made()


class _Assignment:
    """An assignment in the making."""

    def __init__(self, group: GroupSpec) -> None:
        self.group = group
        self.subscribers: dict[str, list[str]] = {}
        for name, member in group.members.items():
            for topic in topics_in_order(member.topics):
                self.subscribers.setdefault(topic, []).append(name)
        self.capacities = {
            name: sum(group.partitions[topic] for topic in member.topics)
            for name, member in group.members.items()
        }
        self.sizes = dict.fromkeys(group.members, 0)
        self.owners: dict[_Partition, str] = {}
        self.givers_and_takers = {name for name, room in self.capacities.items() if room}
        """The members between which partitions may move."""
        self.moves: set[tuple[str, str, str]] = set()
        """The topics of partitions that have moved, with their former and new owners."""

    def made(self) -> dict[str, Partitions]:
        if not self.subscribers:
            return {}
        for name, member in self.group.members.items():
            for topic in set(member.assigned) & set(member.topics):
                for number in member.assigned[topic]:
                    self._give(_Partition(topic, number), name)
        partitions = self._all()
        for partition in self._by_need(p for p in partitions if p not in self.owners):
            takers = [m for m in self.subscribers[partition.topic] if self._has_room(m)]
            self._give(partition, min(takers, key=self._rank))
        self._balance(partitions)
        target: dict[str, Partitions] = {name: {} for name in self.group.members}
        for partition in sorted(self.owners):
            owned = target[self.owners[partition]]
            owned.setdefault(partition.topic, []).append(partition.number)
        return target

    def _all(self) -> list[_Partition]:
        """All partitions in the order of a HashSet."""
        partitions = (
            _Partition(topic, number)
            for topic in topics_in_order(self.subscribers)
            for number in range(self.group.partitions[topic])
        )
        return hash_map_order(partitions, _hash)

    def _by_need(self, partitions: Iterable[_Partition]) -> list[_Partition]:
        """Sort by descending partitions per subscriber, then by subscribers, then by number."""

        def rank(partition: _Partition) -> tuple[float, int, int]:
            subscribers = len(self.subscribers[partition.topic])
            partitions = self.group.partitions[partition.topic]
            return -partitions / subscribers, subscribers, partition.number

        return sorted(partitions, key=rank)

    def _rank(self, member: str) -> tuple[int, str]:
        return self.sizes[member], member

    def _has_room(self, member: str) -> bool:
        return self.sizes[member] < self.capacities[member]

    def _give(self, partition: _Partition, member: str) -> None:
        former = self.owners.get(partition)
        if former is not None:
            self._resize(former, -1)
        self.owners[partition] = member
        self._resize(member, 1)

    def _resize(self, member: str, change: int) -> None:
        self.sizes[member] += change
        if self._has_room(member):
            self.givers_and_takers.add(member)
        else:
            self.givers_and_takers.discard(member)

    # ---- balancing

    def _balance(self, partitions: list[_Partition]) -> None:
        """Move partitions until a whole round moves none, each of them at most once."""
        movable = [p for p in partitions if len(self.subscribers[p.topic]) > 1]
        self.givers_and_takers -= {m for m in self.group.members if not self._may_move(m)}
        changed = True
        while changed:
            changed = moved = False
            for partition in self._by_need(movable):
                if moved and self._is_balanced():
                    return
                owner = self.owners[partition]
                moved = any(
                    self.sizes[owner] > self.sizes[other] + 1
                    for other in self.subscribers[partition.topic]
                )
                if moved:
                    changed = True
                    movable.remove(partition)
                    self._move(partition, owner)

    def _may_move(self, member: str) -> bool:
        """Whether a member has room, or a partition that others subscribe to as well."""
        held = {partition.topic for partition, owner in self.owners.items() if owner == member}
        shared = any(len(self.subscribers[topic]) > 1 for topic in held)
        return self._has_room(member) or shared

    def _move(self, partition: _Partition, owner: str) -> None:
        """Give a partition to the least loaded subscriber."""
        subscribers = self.givers_and_takers.intersection(self.subscribers[partition.topic])
        taker = min(subscribers, key=self._rank, default=None)
        if taker is None or (partition.topic, taker, owner) in self.moves:
            raise AssignorError(f"partition {partition.number} cannot leave {owner}")
        self.moves.add((partition.topic, owner, taker))
        self._give(partition, taker)

    def _is_balanced(self) -> bool:
        members = sorted(self.givers_and_takers, key=self._rank)
        if not members or self.sizes[members[0]] >= self.sizes[members[-1]] - 1:
            return True
        return not any(
            self.sizes[member] + 1 < self.sizes[self.owners[_Partition(topic, number)]]
            for member in members
            for topic in self.group.members[member].topics
            for number in range(self.group.partitions[topic])
            if self.owners[_Partition(topic, number)] != member
        )


def _hash(partition: _Partition) -> int:
    """``TopicIdPartition.hashCode``."""
    return (31 * (31 + uuid_hash(partition.topic)) + partition.number) & 0xFFFFFFFF
