"""The simple assignor since 4.2: partitions have equally many members, and members partitions.

Members whose subscriptions differ are balanced topic by topic. Members are numbered in the order of
a HashMap, as sets of numbers are in ascending order. Source: ``SimpleHomogeneousAssignmentBuilder``
and ``SimpleHeterogeneousAssignmentBuilder`` 4.2 and 4.3.
"""

from collections.abc import Callable, Hashable, Sequence
from math import ceil
from typing import Generic, TypeVar

from emulator.common.java_collections import hash_map_order, topics_in_order
from emulator.coordinator.modern_groups.specification import GroupSpec, Partitions
from emulator.coordinator.share_groups.assignors.ordering import (
    Partition,
    computed_order,
    number_hash,
    partition_hash,
)

Key = TypeVar("Key", bound=Hashable)


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member."""
    if not group.members:
        return {}
    return _homogeneous(group) if group.is_homogeneous else _heterogeneous(group)


class _Balance(Generic[Key]):
    """Partitions and members that are balanced: ``order`` is how a HashSet has the partitions."""

    def __init__(
        self,
        targets: Sequence[Key],
        members: Sequence[int],
        hash_of: Callable[[Key], int],
    ) -> None:
        self.targets = targets
        self.members = members
        self.hash_of = hash_of
        self.sharing = -(-len(members) // len(targets)) if targets else 0
        precise = self.sharing * len(targets) / len(members)
        self.quota = {
            member: ceil(precise * (at + 1)) - ceil(precise * at)
            for at, member in enumerate(members)
        }
        self.by_partition: dict[Key, set[int]] = {}
        self.by_member: dict[int, dict[Key, None]] = {}
        self.changed: set[int] = set()

    def keep(self, member: int, partition: Key) -> None:
        """Let a member have a partition that it has already."""
        self.by_partition.setdefault(partition, set()).add(member)
        self.by_member.setdefault(member, {})[partition] = None

    def _take(self, member: int, partition: Key) -> None:
        self.by_partition[partition].discard(member)
        self.by_member[member].pop(partition, None)

    def revoke_overfilled(self, members: Sequence[int]) -> None:
        """Take partitions from members that have more than their quota."""
        for member in members:
            mine = self.by_member[member]
            excess = len(mine) - self.quota.get(member, 0)
            for partition in hash_map_order(mine, self.hash_of)[: max(0, excess)]:
                self._take(member, partition)

    def revoke_overshared(self, expected: int) -> set[int]:
        """Take partitions from members where too many share them; return these members."""
        losers: set[int] = set()
        for partition in computed_order(self.by_partition, self.hash_of, expected):
            members = hash_map_order(sorted(self.by_partition[partition]), number_hash)
            for member in members[: max(0, len(members) - self.sharing)]:
                self._take(member, partition)
                losers.add(member)
        return losers

    def fill(self, unfilled: Sequence[int], expected: int) -> None:
        """Give members partitions that too few share."""
        for partition in self.targets:
            self.by_partition.setdefault(partition, set())
        names, at, has_given = list(unfilled), 0, False
        for partition in computed_order(self.by_partition, self.hash_of, expected):
            if not names:
                break
            needed = self.sharing - len(self.by_partition[partition])
            shared = set(self.by_partition[partition])
            while needed > 0:
                if at >= len(names):
                    if not has_given:
                        break
                    at, has_given = 0, False
                    if not names:
                        break
                member = names[at]
                at += 1
                if member in shared:
                    continue
                self.by_member.setdefault(member, {})[partition] = None
                needed -= 1
                has_given = True
                if len(self.by_member[member]) >= self.quota[member]:
                    at -= 1
                    del names[at]


def _homogeneous(group: GroupSpec) -> dict[str, Partitions]:
    names = list(group.members)
    topics = list(next(iter(group.members.values())).topics)
    if not topics:
        return {}
    targets = [(topic, number) for topic in topics for number in group.partitions_of(topic)]
    balance = _Balance[Partition](targets, range(len(names)), partition_hash)
    for at, name in enumerate(names):
        assigned = group.members[name].assigned
        for topic in topics_in_order(assigned):
            for number in assigned[topic] if topic in topics else ():
                balance.keep(at, (topic, number))
    counts = {at: len(balance.by_member.get(at, ())) for at in range(len(names))}
    balance.revoke_overfilled([at for at in counts if counts[at] > balance.quota[at]])
    unfilled = {at for at in counts if counts[at] < balance.quota[at]}
    unfilled |= balance.revoke_overshared(len(targets))
    balance.fill(sorted(unfilled), len(targets))
    target: dict[str, Partitions] = {}
    for at, name in enumerate(names):
        mine: Partitions = {}
        for topic, number in sorted(balance.by_member.get(at, ())):
            mine.setdefault(topic, []).append(number)
        target[name] = mine
    return target


def _heterogeneous(group: GroupSpec) -> dict[str, Partitions]:
    names = list(group.members)
    members = list(group.members.values())
    topics = topics_in_order(dict.fromkeys(topic for member in members for topic in member.topics))
    target: dict[str, Partitions] = {
        name: {topic: sorted(numbers) for topic, numbers in group.members[name].assigned.items()}
        for name in names
    }
    if not topics:
        return {}
    for topic in topics:
        subscribers = [at for at, member in enumerate(members) if topic in member.topics]
        targets = group.partitions_of(topic)
        balance = _Balance[int](targets, subscribers, number_hash)
        for at, member in enumerate(members):
            for number in member.assigned.get(topic, ()):
                balance.keep(at, number)
        with_some = computed_order(balance.by_member, number_hash, len(subscribers))
        balance.revoke_overfilled(with_some)
        balance.revoke_overshared(len(targets))
        unfilled = [
            at for at in subscribers if len(balance.by_member.get(at, ())) < balance.quota[at]
        ]
        balance.fill(unfilled, len(targets))
        for at, name in enumerate(names):
            mine = sorted(balance.by_member.get(at, ()))
            if mine:
                target[name][topic] = mine
            else:
                target[name].pop(topic, None)
    return target
