"""What an assignor is given, and what it returns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Partitions = dict[str, list[int]]
"""Sorted partition numbers by topic id."""


class AssignorError(Exception):
    """An assignor cannot assign (``PartitionAssignorException``)."""


class MemberSpec(NamedTuple):
    """A member: its instance id (empty if it is dynamic), its topics, and its present target.

    ``topics`` are the ids of subscribed topics that exist.
    """

    instance_id: str
    topics: Sequence[str]
    assigned: Mapping[str, Sequence[int]]


class GroupSpec(NamedTuple):
    """A group: its members in the order of a HashMap, and the partition counts of all topics.

    ``is_homogeneous``: all members subscribe to the same topics. ``taken`` has the partitions that
    any target assignment includes. Other partitions than the ``assignable`` ones are left out, if
    these are given.
    """

    members: Mapping[str, MemberSpec]
    partitions: Mapping[str, int]
    is_homogeneous: bool
    taken: Mapping[str, set[int]]
    assignable: Mapping[str, set[int]] | None = None

    def partitions_of(self, topic: str) -> list[int]:
        """The numbers of a topic's partitions that can be assigned."""
        numbers = range(self.partitions[topic])
        if self.assignable is None:
            return list(numbers)
        known = self.assignable.get(topic, ())
        return [number for number in numbers if number in known]
