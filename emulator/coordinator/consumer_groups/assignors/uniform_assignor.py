"""The uniform assignor: equal numbers of partitions, with as few moves as possible.

Members whose subscriptions differ are balanced topic by topic. Source: ``UniformAssignor``,
``UniformHomogeneousAssignmentBuilder`` and ``UniformHeterogeneousAssignmentBuilder`` 4.0 in
``org.apache.kafka.coordinator.group.assignor``.
"""

from emulator.common.java_collections import numbers_in_order, topics_in_order
from emulator.coordinator.consumer_groups.assignors import heterogeneous, sticky
from emulator.coordinator.modern_groups.specification import GroupSpec, Partitions


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
