"""The uniform assignor for members whose subscriptions differ.

Free partitions go to the subscribers with the fewest, then partitions move from subscribers with
the most to those with the fewest, topic by topic, until no move improves the balance. Source:
``UniformHeterogeneousAssignmentBuilder`` 4.0.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from emulator.common.java_collections import uuid_order
from emulator.coordinator.modern_groups.specification import GroupSpec, MemberSpec, Partitions

ROUNDS_MAX: Final = 16
NOBODY: Final = -1


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Return the partitions of each member."""
    return _Assignment(group).made()


class _Assignment:
    """An assignment in the making; members are numbered in the order of the group."""

    def __init__(self, group: GroupSpec) -> None:
        self.group = group
        self.names = list(group.members)
        self.subscribers: dict[str, list[int]] = {}
        for number, member in enumerate(group.members.values()):
            for topic in member.topics:
                self.subscribers.setdefault(topic, []).append(number)
        self.owners = {topic: [NOBODY] * group.partitions[topic] for topic in self.subscribers}
        self.sizes = [0] * len(self.names)

    def made(self) -> dict[str, Partitions]:
        if not self.subscribers:
            return {}
        for number, member in enumerate(self.group.members.values()):
            self._keep(number, member)
        for topic in self._by_need(self.owners):
            balancer = _Balancer(self.sizes, self.subscribers[topic])
            for partition, owner in enumerate(self.owners[topic]):
                if owner == NOBODY:
                    self._give(topic, partition, balancer.next_least_loaded())
        self._balance()
        target: dict[str, Partitions] = {name: {} for name in self.names}
        for topic, owners in self.owners.items():
            for partition, owner in enumerate(owners):
                if owner != NOBODY:
                    target[self.names[owner]].setdefault(topic, []).append(partition)
        return target

    def _keep(self, number: int, member: MemberSpec) -> None:
        """Leave a member what it has of the topics that it still subscribes to."""
        for topic in set(member.assigned) & set(member.topics):
            for partition in member.assigned[topic]:
                self.owners[topic][partition] = number
            self.sizes[number] += len(member.assigned[topic])

    def _by_need(self, topics: Iterable[str]) -> list[str]:
        """Topics by descending partitions per subscriber, then by subscribers, then by id."""

        def rank(topic: str) -> tuple[float, int, tuple[int, int]]:
            subscribers = len(self.subscribers[topic])
            return -self.group.partitions[topic] / subscribers, subscribers, uuid_order(topic)

        return sorted(topics, key=rank)

    def _give(self, topic: str, partition: int, member: int) -> None:
        former = self.owners[topic][partition]
        if former != NOBODY:
            self.sizes[former] -= 1
        self.owners[topic][partition] = member
        self.sizes[member] += 1

    def _balance(self) -> None:
        """Balance one topic after another until a whole round has changed nothing."""
        topics = self._by_need(
            topic for topic, members in self.subscribers.items() if len(members) > 1
        )
        last_changed = ""
        for _ in range(ROUNDS_MAX):
            for topic in topics:
                if topic == last_changed:
                    return
                if self._balance_topic(topic) or not last_changed:
                    last_changed = topic

    def _balance_topic(self, topic: str) -> int:
        """Move partitions of a topic from the most to the least loaded; return how many."""
        moved = 0
        owners = self.owners[topic]
        balancer = _Balancer(self.sizes, self.subscribers[topic])
        if balancer.imbalance <= 1:
            return 0
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(owners):
            held.setdefault(owner, []).append(partition)
        while not balancer.is_balanced():
            giver = balancer.next_giver(held)
            if giver == NOBODY:
                break
            partition = held[giver].pop()
            taker = balancer.next_least_loaded()
            if balancer.is_balanced():
                break
            self._give(topic, partition, taker)
            moved += 1
        return moved


class _Balancer:
    """Two ranges of a topic's subscribers, sorted by how many partitions they have.

    The range of the least loaded grows from the left, that of the most loaded from the right. All
    members of a range have the same number of partitions once it has been gone through.
    """

    def __init__(self, sizes: Sequence[int], members: Iterable[int]) -> None:
        self.sizes = sizes
        self.members = sorted(members, key=lambda member: (sizes[member], member))
        smallest, largest = sizes[self.members[0]], sizes[self.members[-1]]
        self.imbalance = largest - smallest
        self.least_end, self.least_count, self.least_next = 0, smallest - 1, 0
        self.most_start = self.most_end = len(self.members)
        self.most_count, self.most_next = largest + 1, len(self.members) - 1

    def is_balanced(self) -> bool:
        return self.most_count - self.least_count <= 1

    def next_least_loaded(self) -> int:
        if self.least_next >= self.least_end:
            self.least_count += 1
            while (
                self.least_end < len(self.members)
                and self.sizes[self.members[self.least_end]] == self.least_count
            ):
                self.least_end += 1
            self.least_next = 0
        self.least_next += 1
        return self.members[self.least_next - 1]

    def next_giver(self, held: Mapping[int, Sequence[int]]) -> int:
        """The next most loaded member that holds partitions of the topic; NOBODY if none does."""
        while True:
            member = self._next_most_loaded()
            if member == NOBODY or held.get(member):
                return member
            self._exclude()

    def _next_most_loaded(self) -> int:
        if self.most_next < self.most_start:
            if self.most_end <= self.most_start and self.most_start > 0:
                self.most_count = self.sizes[self.members[self.most_start - 1]]
            else:
                self.most_count -= 1
            while (
                self.most_start > 0
                and self.sizes[self.members[self.most_start - 1]] == self.most_count
            ):
                self.most_start -= 1
            self.most_next = self.most_end - 1
        if self.most_next < 0:
            return NOBODY
        self.most_next -= 1
        return self.members[self.most_next + 1]

    def _exclude(self) -> None:
        """Take the member that was looked at last out of the range: it has nothing to give."""
        members, at = self.members, self.most_next + 1
        members[at], members[self.most_end - 1] = members[self.most_end - 1], members[at]
        self.most_end -= 1
