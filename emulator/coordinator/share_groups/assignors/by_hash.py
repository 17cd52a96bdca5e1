"""The simple assignor of 4.1: members begin at the partitions that the hashes of their ids give.

Partitions that nobody begins at stay where they were, or are dealt out in turn. Source:
``SimpleAssignor`` 4.1.
"""

from collections.abc import Iterable
from itertools import chain

from emulator.common.java_collections import java_hash, topics_in_order, uuid_hash
from emulator.coordinator.modern_groups.specification import GroupSpec, Partitions
from emulator.coordinator.share_groups.assignors.ordering import (
    Partition,
    computed_order,
    partition_hash,
)

Assigned = dict[Partition, list[str]]
"""The members of each partition."""
_SIGN = 1 << 31


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member."""
    if not group.members:
        return {}
    return _homogeneous(group) if group.is_homogeneous else _heterogeneous(group)


def _targets(group: GroupSpec, topics: Iterable[str]) -> list[Partition]:
    return [(topic, number) for topic in topics for number in group.partitions_of(topic)]


def _present(group: GroupSpec) -> Assigned:
    """The members of each partition now, in the order of a HashMap."""
    members: Assigned = {}
    for name, member in group.members.items():
        for topic in topics_in_order(member.assigned):
            for number in member.assigned[topic]:
                members.setdefault((topic, number), []).append(name)
    return {partition: members[partition] for partition in computed_order(members, partition_hash)}


def _hashed(members: Iterable[str], partitions: list[Partition], assigned: Assigned) -> None:
    """Let each member have the partition that its id's hash points at."""
    for name in members if partitions else ():
        code = java_hash(name)
        signed = code - 2 * _SIGN if code & _SIGN else code
        assigned.setdefault(partitions[abs(signed) % len(partitions)], []).append(name)


def _homogeneous(group: GroupSpec) -> dict[str, Partitions]:
    topics = list(next(iter(group.members.values())).topics)
    if not topics:
        return {}
    targets = _targets(group, topics)
    quota = -(-len(targets) // len(group.members))
    hashed: Assigned = {}
    _hashed(group.members, targets, hashed)
    final: dict[str, set[Partition]] = {}
    taken: set[Partition] = set()
    for partition, names in hashed.items():
        for name in names:
            final.setdefault(name, set()).add(partition)
            taken.add(partition)
    for partition, names in _present(group).items():
        for name in names if partition[0] in topics else ():
            mine = final.setdefault(name, set())
            if len(mine) < quota and partition not in hashed:
                mine.add(partition)
                taken.add(partition)
    free = [target for target in targets if target not in taken]
    _deal(free, list(group.members), final, quota)
    return _result(group, final)


def _deal(
    partitions: list[Partition],
    names: list[str],
    final: dict[str, set[Partition]],
    quota: int,
) -> None:
    """Deal partitions out in turn; who has more than the quota gets none."""
    at = index = 0
    while index < len(partitions):
        if at >= len(names):
            at = 0
        mine = final.setdefault(names[at], set())
        if len(mine) <= quota:
            mine.add(partitions[index])
            index += 1
            at += 1
        else:
            del names[at]


def _heterogeneous(group: GroupSpec) -> dict[str, Partitions]:  # noqa: C901 - step by step
    subscribed = {
        name: _targets(group, member.topics)
        for name, member in group.members.items()
        if member.topics
    }
    subscribers: dict[str, dict[str, None]] = {}
    for name, partitions in subscribed.items():
        for topic, _ in partitions:
            subscribers.setdefault(topic, {})[name] = None
    targets = dict.fromkeys(chain.from_iterable(subscribed.values()))
    present = _present(group)
    assigned: Assigned = {}
    for name, partitions in subscribed.items():
        _hashed([name], partitions, assigned)
    taken = set(assigned)
    free: dict[str, list[Partition]] = {}
    for partition in targets:
        if partition not in taken and partition not in present:
            free.setdefault(partition[0], []).append(partition)
    for topic in computed_order(free, uuid_hash):
        names = list(subscribers[topic])
        for at, partition in enumerate(free[topic]):
            assigned.setdefault(partition, []).append(names[at % len(names)])
    final: dict[str, set[Partition]] = {}
    for partition, names in assigned.items():
        for name in names:
            final.setdefault(name, set()).add(partition)
    for partition, names in present.items():
        for name in names:
            if name in subscribers.get(partition[0], ()) and partition not in assigned:
                final.setdefault(name, set()).add(partition)
    return _result(group, final)


def _result(group: GroupSpec, final: dict[str, set[Partition]]) -> dict[str, Partitions]:
    target: dict[str, Partitions] = {}
    for name in group.members:
        mine: Partitions = {}
        for topic, number in sorted(final.get(name, ())):
            mine.setdefault(topic, []).append(number)
        target[name] = mine
    return target
