"""The sticky assignor: as balanced as possible, then with as few moves as possible.

If all members subscribe to the same topics, each has a quota, up to which it keeps what it owns;
otherwise partitions are assigned to the member with the fewest and moved while that improves the
balance. Source: ``AbstractStickyAssignor`` 3.9 (``ConstrainedAssignmentBuilder``,
``GeneralAssignmentBuilder``).
"""

from collections.abc import Mapping, Sequence

Partition = tuple[str, int]


def assign_sticky(
    counts: Mapping[str, int],
    subscriptions: Mapping[str, Sequence[str]],
    owned: Mapping[str, Sequence[str]],
) -> dict[str, list[str]]:
    """Assign all partitions; ``owned`` is what each member owns and would prefer to keep.

    A partition claimed by two members is kept by neither.
    """
    kept = _kept(counts, subscriptions, owned)
    topics_of = {member: frozenset(topics) for member, topics in subscriptions.items()}
    if len(set(topics_of.values())) <= 1:
        assignment = _Even(counts, kept).assign()
    else:
        assignment = _Uneven(counts, topics_of, kept).assign()
    return {member: [f"{topic}-{n}" for topic, n in mine] for member, mine in assignment.items()}


def _kept(
    counts: Mapping[str, int],
    subscriptions: Mapping[str, Sequence[str]],
    owned: Mapping[str, Sequence[str]],
) -> dict[str, list[Partition]]:
    claims: dict[Partition, int] = {}
    kept: dict[str, list[Partition]] = {member: [] for member in subscriptions}
    for member, mine in kept.items():
        for tp in owned.get(member, ()):
            topic, _, number = tp.rpartition("-")
            partition = (topic, int(number))
            if topic in counts and partition[1] < counts[topic]:
                claims[partition] = claims.get(partition, 0) + 1
                mine.append(partition)
    return {member: [p for p in mine if claims[p] == 1] for member, mine in kept.items()}


class _Even:
    """Identical subscriptions: each member gets the quota, some get one more."""

    def __init__(self, counts: Mapping[str, int], owned: dict[str, list[Partition]]) -> None:
        self.all = [(topic, n) for topic in sorted(counts) for n in range(counts[topic])]
        self.owned = owned
        self.quota, self.extra = divmod(len(self.all), max(1, len(owned)))
        self.below: list[str] = []
        self.at_quota: list[str] = []

    def assign(self) -> dict[str, list[Partition]]:
        """Keep owned partitions up to the quota, then assign the rest."""
        assignment = {member: self._keep(member) for member in self.owned}
        taken = {partition for mine in assignment.values() for partition in mine}
        self.below.sort()
        self.at_quota = sorted(self.at_quota) if self.extra else []
        turn = 0
        for partition in self.all:
            if partition in taken:
                continue
            if self.below:
                turn %= len(self.below)
                member = self.below[turn]
                if len(assignment[member]) + 1 == self.quota:
                    self.at_quota.append(self.below.pop(turn))
                else:
                    turn += 1
            elif self.at_quota:
                member = self.at_quota.pop(0)
            else:
                break
            assignment[member].append(partition)
        return assignment

    def _keep(self, member: str) -> list[Partition]:
        mine = sorted(self.owned[member], key=lambda partition: (partition[1], partition[0]))
        if len(mine) < self.quota:
            self.below.append(member)
            return mine
        if len(mine) > self.quota and self.extra:
            self.extra -= 1
            return mine[: self.quota + 1]
        self.at_quota.append(member)
        return mine[: self.quota]


class _Uneven:
    """Different subscriptions: assign to the member with the fewest partitions, then rebalance."""

    def __init__(
        self,
        counts: Mapping[str, int],
        topics_of: Mapping[str, frozenset[str]],
        owned: dict[str, list[Partition]],
    ) -> None:
        self.counts = counts
        self.topics_of = {
            m: sorted(t for t in topics if t in counts) for m, topics in topics_of.items()
        }
        self.members = {t: [m for m, own in self.topics_of.items() if t in own] for t in counts}
        self.assignment = {
            member: [p for p in mine if p[0] in self.topics_of[member]]
            for member, mine in owned.items()
        }
        self.revoked = any(len(self.assignment[member]) < len(owned[member]) for member in owned)
        self.owner = {p: member for member, mine in self.assignment.items() for p in mine}
        self.moves: dict[Partition, tuple[str, str]] = {}

    def assign(self) -> dict[str, list[Partition]]:
        """Assign unowned partitions, least subscribed topics first; then rebalance."""
        topics = sorted(self.counts, key=lambda topic: (len(self.members[topic]), topic))
        every = [(topic, n) for topic in topics for n in range(self.counts[topic])]
        fresh = [p for p in every if p not in self.owner]
        began_empty = not self.owner
        for partition in fresh:
            if self.members[partition[0]]:
                member = self._least(partition[0])
                self.assignment[member].append(partition)
                self.owner[partition] = member
        before = {member: list(mine) for member, mine in self.assignment.items()}
        self.free = [member for member in self.assignment if self._may_change(member)]
        movable = [p for p in every if len(self.members[p[0]]) > 1]
        if not self.revoked:
            self._move([p for p in fresh if len(self.members[p[0]]) > 1])
        moved = self._move(movable)
        worse = moved and not began_empty and self._score(self.assignment) >= self._score(before)
        return before if worse else self.assignment

    def _least(self, topic: str) -> str:
        """The subscriber of the topic with the fewest partitions."""
        return min(self.members[topic], key=lambda member: (len(self.assignment[member]), member))

    def _may_change(self, member: str) -> bool:
        mine = self.assignment[member]
        most = sum(self.counts[topic] for topic in self.topics_of[member])
        return len(mine) < most or any(len(self.members[topic]) > 1 for topic, _ in mine)

    def _move(self, movable: list[Partition]) -> bool:
        """Move partitions until no move improves the balance; return True if any was moved."""
        moved, again = False, True
        while again:
            again = False
            for partition in movable:
                if self._balanced():
                    break
                size = len(self.assignment[self.owner[partition]])
                if any(size > len(self.assignment[m]) + 1 for m in self.members[partition[0]]):
                    self._give(partition, self._least(partition[0]))
                    moved = again = True
        return moved

    def _balanced(self) -> bool:
        sizes = {member: len(self.assignment[member]) for member in self.free}
        if not sizes or min(sizes.values()) >= max(sizes.values()) - 1:
            return True
        return not any(
            sizes[member] + 1 < len(self.assignment[self.owner[topic, n]])
            for member in self.free
            for topic in self.topics_of[member]
            for n in range(self.counts[topic])
            if self.owner[topic, n] != member
        )

    def _give(self, partition: Partition, member: str) -> None:
        """Move a partition; prefer reversing an earlier move of the same topic."""
        source = self.moves.get(partition, (self.owner[partition], ""))[0]
        back = (member, source)
        partition = next(
            (p for p, move in self.moves.items() if move == back and p[0] == partition[0]),
            partition,
        )
        giver = self.owner[partition]
        origin = self.moves.pop(partition, (giver, ""))[0]
        if origin != member:
            self.moves[partition] = (origin, member)
        self.assignment[giver].remove(partition)
        self.assignment[member].append(partition)
        self.owner[partition] = member

    @staticmethod
    def _score(assignment: dict[str, list[Partition]]) -> int:
        sizes = [len(mine) for mine in assignment.values()]
        return sum(abs(one - other) for one in sizes for other in sizes)
