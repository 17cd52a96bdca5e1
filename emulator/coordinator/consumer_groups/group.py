"""The state of a consumer group, and how its records change it.

Each member moves from its current assignment to the target at its own
pace: it first revokes what it must give up (``UNREVOKED_PARTITIONS``), then gets what no other
member owns any more (``UNRELEASED_PARTITIONS`` while it waits for some), and is ``STABLE`` at the
target's epoch. Source: ``ConsumerGroup``, ``ConsumerGroupMember`` and the ``replay`` methods of
``GroupMetadataManager`` 4.0 and 4.1.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from msgspec import Struct, field

from emulator.common.java_collections import ids_in_order
from emulator.coordinator.consumer_groups.records import (
    ClassicMember,
    CurrentAssignmentRecord,
    MemberRecord,
    RegularExpressionRecord,
    SubscriptionMetadataRecord,
)
from emulator.coordinator.modern_groups.group import EMPTY, ModernGroup, ModernMember
from emulator.coordinator.modern_groups.group import STABLE as GROUP_STABLE
from emulator.coordinator.modern_groups.records import GroupRecord, TopicMetadata
from emulator.coordinator.modern_groups.specification import Partitions

RecordT = TypeVar("RecordT", MemberRecord, CurrentAssignmentRecord)

STABLE: Final = "STABLE"
UNREVOKED: Final = "UNREVOKED_PARTITIONS"
UNRELEASED: Final = "UNRELEASED_PARTITIONS"

ASSIGNING: Final = "Assigning"
RECONCILING: Final = "Reconciling"

AWAY: Final = -2
"""The member epoch of a static member that left for a while."""


class Member(ModernMember, frozen=True, array_like=True):
    """A member of a consumer group.

    Its ``assigned`` partitions are those that it may use, ``revoking`` those that it has to give up
    first. ``regex`` and ``assignor`` are empty if it has none. A member that uses the classic
    protocol has its ``classic`` settings. In 3.7 it has the epoch of the target assignment that it
    moves to, and is ``assigning`` what others have to release.
    """

    instance_id: str = ""
    rebalance_timeout_ms: int = -1
    regex: str = ""
    assignor: str = ""
    state: str = STABLE
    revoking: Partitions = field(default_factory=dict)
    classic: ClassicMember | None = None
    target_epoch: int = 0
    assigning: Partitions = field(default_factory=dict)

    @property
    def step(self) -> tuple[str, int, int]:
        """Where it is on its way to the target; each step gives it new time to revoke."""
        return self.state, self.epoch, self.target_epoch

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all partitions of the target assignment of an epoch."""
        return self.state == STABLE and epoch in (self.epoch, self.target_epoch)


class ResolvedRegex(Struct, frozen=True, array_like=True):
    """The topics that matched a regular expression, and when that was looked up."""

    topics: list[str]
    at_us: int
    version: int


class ConsumerGroup(ModernGroup[Member], array_like=True, tag=True):
    """A consumer group.

    ``subscribed`` are the topics of its subscriptions as they were at the group's epoch;
    ``metadata_hash`` replaces their record from 4.1 on (KIP-1101). ``revocations`` are the times by
    which members must have revoked their partitions, with the epoch in which they began to;
    ``joins`` and ``syncs`` are those by which classic members must have joined again, and asked for
    their partitions. ``registered`` are the partitions that a coordinator of 3.7 takes for owned.
    """

    subscribed: dict[str, TopicMetadata] = field(default_factory=dict)
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    revocations: dict[str, tuple[int, int]] = field(default_factory=dict)
    joins: dict[str, int] = field(default_factory=dict)
    syncs: dict[str, int] = field(default_factory=dict)
    resolving: bool = False
    registered: Partitions = field(default_factory=dict)

    @property
    def state(self) -> str:
        """The group's state: empty, or how far its members are from the target."""
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        if all(m.is_reconciled_to(self.assignment_epoch) for m in self.members.values()):
            return GROUP_STABLE
        return RECONCILING

    @property
    def deadlines(self) -> list[int]:
        """When members have to have done something."""
        revocations = (due_us for due_us, _ in self.revocations.values())
        return [*super().deadlines, *revocations, *self.joins.values(), *self.syncs.values()]

    def static_member(self, instance_id: str) -> Member | None:
        if not instance_id:
            return None
        return next((m for m in self.members.values() if m.instance_id == instance_id), None)

    def partition_epochs(self) -> dict[tuple[str, int], int]:
        """The epoch of the member that owns each partition, or still has to revoke it."""
        if any(member.target_epoch for member in self.members.values()):
            return {(topic, n): 0 for topic, numbers in self.registered.items() for n in numbers}
        return {
            (topic, number): member.epoch
            for member in self.members.values()
            for owned in (member.assigned, member.revoking)
            for topic, numbers in owned.items()
            for number in numbers
        }

    def taken(self) -> dict[str, set[int]]:
        """The partitions of all members' target assignments."""
        taken: dict[str, set[int]] = {}
        for partitions in self.target.values():
            for topic, numbers in partitions.items():
                taken.setdefault(topic, set()).update(numbers)
        return taken

    def preferred_assignor(self, default: str) -> str:
        """The assignor that most members want; members without a preference do not count."""
        return preferred_assignor(self.members, default)

    def awaited(self, member: Member) -> dict[str, list[tuple[str, int]]]:
        """For whom a member waits: the partitions of its target that others have not released."""
        owners = {
            (topic, number): other.id
            for other in self.members.values()
            if other.id != member.id
            for owned in (other.assigned, other.revoking)
            for topic, numbers in owned.items()
            for number in numbers
        }
        awaited: dict[str, list[tuple[str, int]]] = {}
        for topic, numbers in self.target.get(member.id, {}).items():
            for number in numbers:
                owner = owners.get((topic, number))
                if owner is not None:
                    awaited.setdefault(owner, []).append((topic, number))
        return awaited

    def waits_for_others(self, member: Member) -> bool:
        """Whether others, or it itself, still have to revoke partitions of a member's target."""
        owned = self.partition_epochs()
        return any(
            number not in member.assigned.get(topic, ()) and (topic, number) in owned
            for topic, numbers in self.target.get(member.id, {}).items()
            for number in numbers
        )

    # ---- records

    def new_member(self, name: str) -> Member:
        """A member of which nothing is known yet."""
        return Member(name)

    def replay(self, record: GroupRecord) -> None:
        if isinstance(record, CurrentAssignmentRecord):
            before = self.members.get(record.member) or Member(record.member)
            self._replay(record)
            after = self.members.get(record.member)
            if after is not None and after.target_epoch:
                self._register(before.assigned, after.assigned)
                self._register(before.revoking, after.revoking)
        else:
            self._replay(record)

    def _register(self, before: Partitions, after: Partitions) -> None:
        """Note what a member owns, or revokes, instead of something else.

        What it is given again while it had to revoke it is therefore taken for free, as in 3.7
        (``ConsumerGroup.maybeUpdatePartitionEpoch``).
        """
        if before == after:
            return
        for topic, numbers in before.items():
            self.registered[topic] = sorted({*self.registered.get(topic, ())} - {*numbers})
        for topic, numbers in after.items():
            self.registered[topic] = sorted({*self.registered.get(topic, ()), *numbers})

    def _replay(self, record: GroupRecord) -> None:
        match record:
            case SubscriptionMetadataRecord(topics=topics):
                self.subscribed = dict(topics or {})
            case RegularExpressionRecord(regex=regex, topics=None):
                self.regexes.pop(regex, None)
            case RegularExpressionRecord(regex=regex, topics=topics):
                self.regexes[regex] = ResolvedRegex(topics or [], record.at_us, record.version)
            case MemberRecord(member=name, is_tombstone=True):
                super().replay(record)
                for deadlines in (self.revocations, self.joins, self.syncs):
                    deadlines.pop(name, None)
            case CurrentAssignmentRecord(member=name, is_tombstone=True):
                super().replay(record)
                if name in self.members:
                    self._change(name, revoking={})
            case _:
                super().replay(record)


def preferred_assignor(members: Mapping[str, Member], default: str) -> str:
    """The assignor that most members want; of several the first in the order of a HashMap."""
    counts: dict[str, int] = {}
    for member in members.values():
        if member.assignor:
            counts[member.assignor] = counts.get(member.assignor, 0) + 1
    return max(ids_in_order(counts), key=lambda name: counts[name], default=default)


def subscription_record(group: str, member: Member) -> MemberRecord:
    """The record of a member's subscription."""
    return _of(MemberRecord, group, member)


def current_assignment_record(group: str, member: Member) -> CurrentAssignmentRecord:
    """The record of a member's epoch and partitions."""
    return _of(CurrentAssignmentRecord, group, member)


def _of(kind: type[RecordT], group: str, member: Member) -> RecordT:
    """A record with what it says of a member."""
    names = [name for name in kind.__struct_fields__[2:] if name != "is_tombstone"]
    return kind(group, member.id, **{name: getattr(member, name) for name in names})
