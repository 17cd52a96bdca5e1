"""The state of a share group, and how its records change it.

``epoch`` numbers the group's members, subscriptions and topics; ``assignment_epoch`` is the epoch
for which ``target`` was computed. A member gets its target at once, since partitions are shared.
Source: ``ShareGroup``, ``ShareGroupMember`` and the ``replay`` methods of ``GroupMetadataManager``
4.1.
"""

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.coordinator.consumer_groups.assignors.specification import Partitions
from emulator.coordinator.share_groups.records import (
    Begun,
    Record,
    ShareCurrentRecord,
    ShareGroupEpochRecord,
    ShareMemberRecord,
    SharePartitionsRecord,
    ShareTargetEpochRecord,
    ShareTargetRecord,
)

EMPTY: Final = "Empty"
STABLE: Final = "Stable"
LEFT: Final = -1
"""The member epoch with which a member leaves."""


class ShareMember(Struct, frozen=True, array_like=True):
    """A member: what it subscribes to (sorted names), its epoch, and its partitions."""

    id: str
    rack_id: str = ""
    client: str = ""
    host: str = ""
    topics: list[str] = field(default_factory=list)
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Partitions = field(default_factory=dict)


class ShareGroup(Struct, array_like=True):
    """A share group. ``target`` is the assignment of its members, by member id.

    ``initialized`` are the topics with whose partitions the group has begun, by id; only these are
    assigned. ``sessions`` are the times by which members must send a heartbeat.
    """

    name: str
    epoch: int = 0
    assignment_epoch: int = -1
    members: dict[str, ShareMember] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    metadata_hash: int = 0
    initializing: dict[str, Begun] = field(default_factory=dict)
    initialized: dict[str, Begun] = field(default_factory=dict)
    deleting: dict[str, str] = field(default_factory=dict)
    has_partitions: bool = False
    sessions: dict[str, int] = field(default_factory=dict)
    assigned_at_us: int = 0

    @property
    def state(self) -> str:
        """The group's state: whether it has members."""
        return STABLE if self.members else EMPTY

    def replay(self, record: Record) -> None:  # noqa: C901 - one case for each kind
        """Apply a record."""
        match record:
            case ShareGroupEpochRecord(epoch=epoch, metadata_hash=metadata_hash):
                self.epoch, self.metadata_hash = epoch, metadata_hash
            case ShareTargetEpochRecord(epoch=epoch, at_us=at_us):
                self.assignment_epoch, self.assigned_at_us = epoch, at_us
            case ShareTargetRecord(member=member, partitions=None):
                self.target.pop(member, None)
            case ShareTargetRecord(member=member, partitions=partitions):
                self.target[member] = partitions or {}
            case SharePartitionsRecord():
                self.has_partitions = not record.is_tombstone
                self.initializing = dict(record.initializing)
                self.initialized = dict(record.initialized)
                self.deleting = dict(record.deleting)
            case ShareMemberRecord(member=name, is_tombstone=True):
                self.members.pop(name, None)
                self.sessions.pop(name, None)
            case ShareMemberRecord(member=name):
                self.members[name] = replace(
                    self.members.get(name, ShareMember(name)),
                    rack_id=record.rack_id,
                    client=record.client,
                    host=record.host,
                    topics=record.topics,
                )
            case ShareCurrentRecord(member=name, is_tombstone=True):
                if name in self.members:
                    self.members[name] = replace(
                        self.members[name], epoch=LEFT, previous_epoch=LEFT, assigned={}
                    )
            case ShareCurrentRecord(member=name):
                self.members[name] = replace(
                    self.members.get(name, ShareMember(name)),
                    epoch=record.epoch,
                    previous_epoch=record.previous_epoch,
                    assigned=record.assigned,
                )


def copy(group: ShareGroup) -> ShareGroup:
    """A copy that later records do not change."""
    return ShareGroup(
        group.name,
        group.epoch,
        group.assignment_epoch,
        dict(group.members),
        dict(group.target),
        group.metadata_hash,
        dict(group.initializing),
        dict(group.initialized),
        dict(group.deleting),
        group.has_partitions,
        dict(group.sessions),
        group.assigned_at_us,
    )
