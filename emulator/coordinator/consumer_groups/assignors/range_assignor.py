"""The range assignor: each topic's partitions in consecutive ranges, by sorted members.

Members that subscribe to the same topics get the same partitions of each, as far as counts allow.
Source: ``org.apache.kafka.coordinator.group.assignor.RangeAssignor`` 4.0.
"""

from emulator.coordinator.modern_groups.specification import GroupSpec, Partitions


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member."""
    members = sorted(group.members, key=lambda name: _rank(name, group.members[name].instance_id))
    subscribers: dict[str, list[str]] = {}
    for name in members:
        for topic in group.members[name].topics:
            subscribers.setdefault(topic, []).append(name)
    target: dict[str, Partitions] = {name: {} for name in members}
    for topic, names in subscribers.items():
        quota, extra = divmod(group.partitions[topic], len(names))
        start = 0
        for at, name in enumerate(names):
            end = start + quota + (at < extra)
            if start < end:
                target[name][topic] = list(range(start, end))
            start = end
    return target


def assign_and_keep(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member, which keeps what it has up to its share (3.8)."""
    subscribers: dict[str, list[str]] = {}
    for name, member in group.members.items():
        for topic in member.topics:
            subscribers.setdefault(topic, []).append(name)
    target: dict[str, Partitions] = {name: {} for name in group.members}
    for topic, names in subscribers.items():
        quota, extra = divmod(group.partitions[topic], len(names))
        owned = {name: sorted(group.members[name].assigned.get(topic, ())) for name in names}
        kept: dict[str, list[int]] = {}
        missing: dict[str, int] = {}
        for name, numbers in owned.items():
            has_extra = extra > 0 and len(numbers) > quota
            extra -= has_extra
            kept[name] = numbers[: quota + has_extra]
            if not has_extra:
                missing[name] = quota - len(numbers)
        taken = {number for numbers in kept.values() for number in numbers}
        free = [number for number in range(group.partitions[topic]) if number not in taken]
        for at, (name, count) in enumerate(missing.items()):
            given = max(0, count + (at < extra))
            kept[name] += free[:given]
            del free[:given]
        for name, numbers in kept.items():
            if numbers:
                target[name][topic] = sorted(numbers)
    return target


def _rank(member_id: str, instance_id: str) -> tuple[bool, str]:
    """Static members come first, by instance id; dynamic ones follow by member id."""
    return (False, instance_id) if instance_id else (True, member_id)
