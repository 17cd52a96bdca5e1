"""The state of a consumer group, and how its records change it.

``epoch`` numbers the group's members and subscriptions; ``assignment_epoch`` is the epoch for which
``target`` was computed. Each member moves from its current assignment to the target at its own
pace: it first revokes what it must give up (``UNREVOKED_PARTITIONS``), then gets what no other
member owns any more (``UNRELEASED_PARTITIONS`` while it waits for some), and is ``STABLE`` at the
target's epoch. Source: ``ConsumerGroup``, ``ConsumerGroupMember`` and the ``replay`` methods of
``GroupMetadataManager`` 4.0 and 4.1.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from emulator.common.java_collections import ids_in_order
from emulator.coordinator.consumer_groups.assignors.specification import Partitions
from emulator.coordinator.consumer_groups.records import (
    ClassicMember,
    CurrentAssignmentRecord,
    GroupEpochRecord,
    MemberRecord,
    Record,
    RegularExpressionRecord,
    SubscriptionMetadataRecord,
    TargetAssignmentRecord,
    TargetEpochRecord,
    TopicMetadata,
)

STABLE: Final = "STABLE"
UNREVOKED: Final = "UNREVOKED_PARTITIONS"
UNRELEASED: Final = "UNRELEASED_PARTITIONS"

EMPTY: Final = "Empty"
ASSIGNING: Final = "Assigning"
RECONCILING: Final = "Reconciling"
GROUP_STABLE: Final = "Stable"

LEFT: Final = -1
"""The member epoch with which a member leaves."""
AWAY: Final = -2
"""The member epoch of a static member that left for a while."""


class Member(Struct, frozen=True, array_like=True):
    """A member: what it subscribes to, its epoch, and its partitions.

    ``assigned`` are those that it may use, ``revoking`` those that it has to give up first.
    ``topics`` are sorted names; ``regex`` and ``assignor`` are empty if it has none. A member that
    uses the classic protocol has its ``classic`` settings.
    """

    id: str
    instance_id: str = ""
    rack_id: str = ""
    client: str = ""
    host: str = ""
    rebalance_timeout_ms: int = -1
    topics: list[str] = field(default_factory=list)
    regex: str = ""
    assignor: str = ""
    epoch: int = 0
    previous_epoch: int = 0
    state: str = STABLE
    assigned: Partitions = field(default_factory=dict)
    revoking: Partitions = field(default_factory=dict)
    classic: ClassicMember | None = None

    def is_reconciled_to(self, epoch: int) -> bool:
        """Whether it has all partitions of the target assignment of an epoch."""
        return self.state == STABLE and self.epoch == epoch


class ResolvedRegex(Struct, frozen=True, array_like=True):
    """The topics that matched a regular expression, and when that was looked up."""

    topics: list[str]
    at_us: int
    version: int


class ConsumerGroup(Struct, array_like=True):
    """A consumer group. ``target`` is the assignment that its members move to, by member id.

    ``subscribed`` are the topics of its subscriptions as they were at the group's epoch;
    ``metadata_hash`` replaces their record from 4.1 on (KIP-1101). ``sessions`` and ``revocations``
    are the times by which members must send a heartbeat, and have revoked their partitions (with
    the epoch in which they began to). ``assigned_at_us`` is when the target was computed, 0 if the
    next one need not wait.
    """

    name: str
    epoch: int = 0
    assignment_epoch: int = -1
    members: dict[str, Member] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    subscribed: dict[str, TopicMetadata] = field(default_factory=dict)
    metadata_hash: int = 0
    regexes: dict[str, ResolvedRegex] = field(default_factory=dict)
    sessions: dict[str, int] = field(default_factory=dict)
    revocations: dict[str, tuple[int, int]] = field(default_factory=dict)
    resolving: bool = False
    assigned_at_us: int = 0

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

    def static_member(self, instance_id: str) -> Member | None:
        """The member with an instance id."""
        if not instance_id:
            return None
        return next((m for m in self.members.values() if m.instance_id == instance_id), None)

    def partition_epochs(self) -> dict[tuple[str, int], int]:
        """The epoch of the member that owns each partition, or still has to revoke it."""
        return {
            (topic, number): member.epoch
            for member in self.members.values()
            for owned in (member.assigned, member.revoking)
            for topic, numbers in owned.items()
            for number in numbers
        }

    def taken(self) -> dict[str, set[int]]:
        """The partitions of all members' target assignments."""
        found: dict[str, set[int]] = {}
        for partitions in self.target.values():
            for topic, numbers in partitions.items():
                found.setdefault(topic, set()).update(numbers)
        return found

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
        found: dict[str, list[tuple[str, int]]] = {}
        for topic, numbers in self.target.get(member.id, {}).items():
            for number in numbers:
                owner = owners.get((topic, number))
                if owner is not None:
                    found.setdefault(owner, []).append((topic, number))
        return found

    # ---- records

    def replay(self, record: Record) -> None:
        """Apply a record."""
        match record:
            case GroupEpochRecord(epoch=epoch, metadata_hash=metadata_hash):
                self.epoch, self.metadata_hash = epoch, metadata_hash
            case SubscriptionMetadataRecord(topics=topics):
                self.subscribed = {} if topics is None else dict(topics)
            case TargetEpochRecord(epoch=epoch, at_us=at_us):
                self.assignment_epoch, self.assigned_at_us = epoch, at_us
            case RegularExpressionRecord(regex=regex, topics=None):
                self.regexes.pop(regex, None)
            case RegularExpressionRecord(regex=regex, topics=topics, at_us=at_us, version=version):
                self.regexes[regex] = ResolvedRegex(topics or [], at_us, version)
            case TargetAssignmentRecord(member=member, partitions=None):
                self.target.pop(member, None)
            case TargetAssignmentRecord(member=member, partitions=partitions):
                self.target[member] = partitions or {}
            case _:
                self._replay_of_member(record)

    def _replay_of_member(self, record: Record) -> None:
        match record:
            case MemberRecord(member=name, is_tombstone=True):
                self.members.pop(name, None)
                self.sessions.pop(name, None)
                self.revocations.pop(name, None)
            case MemberRecord(member=name):
                old = self.members.get(name, Member(name))
                self.members[name] = with_subscription(old, record)
            case CurrentAssignmentRecord(member=name, is_tombstone=True):
                if name in self.members:
                    old = self.members[name]
                    self.members[name] = changed(
                        old, epoch=LEFT, previous_epoch=LEFT, assigned={}, revoking={}
                    )
            case CurrentAssignmentRecord(member=name):
                old = self.members.get(name, Member(name))
                self.members[name] = changed(
                    old,
                    epoch=record.epoch,
                    previous_epoch=record.previous_epoch,
                    state=record.state,
                    assigned=record.assigned,
                    revoking=record.revoking,
                )


def preferred_assignor(members: Mapping[str, Member], default: str) -> str:
    """The assignor that most members want; of several the first in the order of a HashMap."""
    counts: dict[str, int] = {}
    for member in members.values():
        if member.assignor:
            counts[member.assignor] = counts.get(member.assignor, 0) + 1
    return max(ids_in_order(counts), key=lambda name: counts[name], default=default)


def with_subscription(member: Member, record: MemberRecord) -> Member:
    """A member with what a record says of it."""
    return changed(
        member,
        instance_id=record.instance_id,
        rack_id=record.rack_id,
        client=record.client,
        host=record.host,
        rebalance_timeout_ms=record.rebalance_timeout_ms,
        topics=record.topics,
        regex=record.regex,
        assignor=record.assignor,
        classic=record.classic,
    )


def subscription_record(group: str, member: Member) -> MemberRecord:
    """The record of a member's subscription."""
    return MemberRecord(
        group,
        member.id,
        member.instance_id,
        member.rack_id,
        member.client,
        member.host,
        member.topics,
        member.regex,
        member.rebalance_timeout_ms,
        member.assignor,
        member.classic,
    )


def current_assignment_record(group: str, member: Member) -> CurrentAssignmentRecord:
    """The record of a member's epoch and partitions."""
    return CurrentAssignmentRecord(
        group,
        member.id,
        member.epoch,
        member.previous_epoch,
        member.state,
        member.assigned,
        member.revoking,
    )


def changed(member: Member, **values: object) -> Member:
    """A member with other values."""
    old = {name: getattr(member, name) for name in member.__struct_fields__}
    return Member(**(old | values))
