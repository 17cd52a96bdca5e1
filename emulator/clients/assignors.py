"""Kafka's partition assignors, as pure functions.

Each takes the partition counts of the topics, each member's subscription and (for cooperative
sticky only) the partitions each member owns, and returns every member's partitions. Members are
ordered by id. Source: ``RangeAssignor``, ``RoundRobinAssignor``, and ``CooperativeStickyAssignor``
0.9 to 3.9, without racks.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Final

from emulator.clients.sticky_assignor import assign_sticky

Counts = Mapping[str, int]
Subscriptions = Mapping[str, Sequence[str]]
Partitions = dict[str, list[str]]
Owned = Mapping[str, Sequence[str]]


def assign_range(counts: Counts, subscriptions: Subscriptions, _owned: Owned) -> Partitions:
    """Assign each subscriber of a topic a range of its partitions; the first ones get one more."""
    assignment: Partitions = {member: [] for member in subscriptions}
    for topic in sorted(counts):
        members = sorted(m for m, topics in subscriptions.items() if topic in topics)
        if not members:
            continue
        share, more = divmod(counts[topic], len(members))
        first = 0
        for index, member in enumerate(members):
            end = first + share + (index < more)
            assignment[member] += [f"{topic}-{number}" for number in range(first, end)]
            first = end
    return assignment


def assign_round_robin(counts: Counts, subscriptions: Subscriptions, _owned: Owned) -> Partitions:
    """Assign the partitions of all topics in turn, skipping members that are not subscribed."""
    assignment: Partitions = {member: [] for member in subscriptions}
    turns = cycle(sorted(subscriptions))
    for topic in sorted(counts):
        if not any(topic in topics for topics in subscriptions.values()):
            continue
        for number in range(counts[topic]):
            member = next(candidate for candidate in turns if topic in subscriptions[candidate])
            assignment[member].append(f"{topic}-{number}")
    return assignment


def assign_cooperative_sticky(
    counts: Counts, subscriptions: Subscriptions, owned: Owned
) -> Partitions:
    """Assign evenly with few moves; withhold partitions until their owners revoke them.

    Members that have to revoke partitions rejoin after doing so (KIP-429).
    """
    assignment = assign_sticky(counts, subscriptions, owned)
    given_up = {
        tp for member, mine in owned.items() for tp in mine if tp not in assignment.get(member, ())
    }
    return {
        member: [tp for tp in mine if tp not in given_up or tp in owned.get(member, ())]
        for member, mine in assignment.items()
    }


ASSIGNORS: Final[dict[str, Callable[[Counts, Subscriptions, Owned], Partitions]]] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    "cooperative-sticky": assign_cooperative_sticky,
}
"""Every assignor by its protocol name; the first one is Kafka's default."""

COOPERATIVE: Final = "cooperative-sticky"
"""The assignor whose members keep their partitions while they rejoin."""
