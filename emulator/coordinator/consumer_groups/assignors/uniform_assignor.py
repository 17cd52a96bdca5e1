"""The uniform assignor: equal numbers of partitions, with as few moves as possible.

Members whose subscriptions differ are balanced topic by topic. Source: ``UniformAssignor``,
``UniformHomogeneousAssignmentBuilder`` and ``UniformHeterogeneousAssignmentBuilder`` 4.0 in
``org.apache.kafka.coordinator.group.assignor``.
"""

from collections import deque

from emulator.common.java_collections import (
    ids_in_order,
    numbers_in_order,
    topics_in_order,
    uuid_order,
)
from emulator.coordinator.consumer_groups.assignors import heterogeneous, sticky
from emulator.coordinator.modern_groups.specification import AssignorError, GroupSpec, Partitions

_Partition = tuple[str, int]


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member."""
    if not group.members:
        return {}
    if group.is_homogeneous:
        return _homogeneous(group, extra_stays=True)
    return heterogeneous.assign(group)


def assign_as_previewed(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member, as the assignor of 3.9 does."""
    if not group.members:
        return {}
    return _homogeneous(group, extra_stays=False) if group.is_homogeneous else sticky.assign(group)


def assign_in_turn(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member, as the assignor of 3.7 does where nobody has a rack.

    Members keep what they have up to their quota, and the rest is dealt out in turn.
    Source: ``OptimizedUniformAssignmentBuilder`` and ``GeneralUniformAssignmentBuilder`` 3.7.
    """
    if not group.members:
        return {}
    if not group.is_homogeneous:
        if not all(member.topics for member in group.members.values()):
            raise AssignorError("a member subscribes to nothing")  # NullPointerException
        return sticky.assign(group)
    topics = next(iter(group.members.values())).topics
    quota, extra = divmod(sum(group.partitions[topic] for topic in topics), len(group.members))
    taken: dict[str, list[_Partition]] = {}
    missing: dict[str, int] = {}
    for name, member in group.members.items():
        owned = [
            (topic, number)
            for topic in topics_in_order(member.assigned)
            if topic in topics
            for number in numbers_in_order(member.assigned[topic])
        ]
        has_extra = extra > 0 and len(owned) > quota
        extra -= has_extra
        taken[name] = owned[: quota + has_extra]
        if len(owned) <= quota:
            missing[name] = quota - len(owned)
    free = {(topic, number) for topic in topics for number in range(group.partitions[topic])}
    free.difference_update(*taken.values())
    _deal(sorted(free, key=lambda tp: (uuid_order(tp[0]), tp[1])), missing, extra, taken)
    target: dict[str, Partitions] = {name: {} for name in group.members}
    for name, partitions in taken.items():
        for topic, number in sorted(partitions):
            target[name].setdefault(topic, []).append(number)
    return target


def _deal(
    free: list[_Partition],
    missing: dict[str, int],
    extra: int,
    taken: dict[str, list[_Partition]],
) -> None:
    """Give free partitions in turn to members that miss some, or may have one ``extra``.

    A search for a taker ends after as many tries as members are left, also if some were not asked.
    """
    turns = deque(ids_in_order(missing))
    for partition in free:
        tries, taker = 0, ""
        while tries < len(turns) and not taker:
            name = turns.popleft()
            left = missing[name]
            if left or extra:
                taker, missing[name] = name, left - 1
                extra -= not left
            is_full = name == taker and (not left or (left == 1 and not extra))
            if not is_full:
                turns.append(name)
            tries += 1
        if not taker:
            raise AssignorError("Partitions were left unassigned")
        taken[taker].append(partition)


def _homogeneous(group: GroupSpec, *, extra_stays: bool) -> dict[str, Partitions]:
    """Keep what each member has up to its quota, and give the rest to those with less.

    As many members as needed have one partition more than the others: the first ones or, if the
    ``extra_stays``, first those that had it, as long as enough members follow that could have it
    instead.
    """
    topics = topics_in_order(next(iter(group.members.values())).topics, copied=True)
    if not topics:
        return {}
    free = [
        (topic, number)
        for topic in topics
        for number in range(group.partitions[topic])
        if number not in group.taken.get(topic, ())
    ]
    total = sum(group.partitions[topic] for topic in topics)
    quota, extra = divmod(total, len(group.members))
    target: dict[str, Partitions] = {}
    room: dict[str, int] = {}
    for at, (name, member) in enumerate(group.members.items()):
        has_extra = extra > 0
        left = quota + has_extra
        kept = target[name] = dict[str, list[int]]()
        for topic in topics_in_order(member.assigned):
            if topic not in topics:
                continue
            numbers = numbers_in_order(member.assigned[topic])
            if kept_numbers := sorted(numbers[:left]):
                kept[topic] = kept_numbers
            free += [(topic, number) for number in numbers[left:]]
            left -= min(left, len(numbers))
        if extra_stays and left and has_extra and len(group.members) - at > extra:
            left, has_extra = left - 1, False
        extra -= has_extra
        room[name] = left
    waiting = iter(free)
    for name, left in room.items():
        for _, (topic, number) in zip(range(left), waiting, strict=False):
            target[name].setdefault(topic, []).append(number)
    return {
        name: {topic: sorted(numbers) for topic, numbers in partitions.items()}
        for name, partitions in target.items()
    }
