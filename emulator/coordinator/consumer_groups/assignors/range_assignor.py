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


def _rank(member_id: str, instance_id: str) -> tuple[bool, str]:
    """Static members come first, by instance id; dynamic ones follow by member id."""
    return (False, instance_id) if instance_id else (True, member_id)
