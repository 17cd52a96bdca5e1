"""The state that groups of both types have, and how the records of both change it.

``epoch`` numbers the group's members, subscriptions and topics; ``assignment_epoch`` is the epoch
for which ``target`` was computed, the assignment that its members move to. Source: ``ModernGroup``
and ``ModernGroupMember`` 4.1.
"""

from typing import Any, Final, Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from emulator.coordinator.modern_groups.records import (
    CurrentAssignmentRecord,
    EpochRecord,
    GroupRecord,
    MemberRecord,
    TargetAssignmentRecord,
    TargetEpochRecord,
)
from emulator.coordinator.modern_groups.specification import Partitions

EMPTY: Final = "Empty"
STABLE: Final = "Stable"

LEFT: Final = -1
"""The member epoch with which a member leaves."""


class ModernMember(Struct, frozen=True, array_like=True):
    """A member: what it subscribes to (sorted names), its epoch, and its partitions."""

    id: str
    rack_id: str = ""
    client: str = ""
    host: str = ""
    topics: list[str] = field(default_factory=list)
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Partitions = field(default_factory=dict)


MemberT = TypeVar("MemberT", bound=ModernMember)


class ModernGroup(Struct, Generic[MemberT], array_like=True):
    """A group with its ``target`` assignment by member id.

    ``metadata_hash`` changes with the topics of its subscriptions. ``sessions`` are the times by
    which members must send a heartbeat. ``assigned_at_us`` is when the target was computed, 0 if
    the next one need not wait.
    """

    name: str
    epoch: int = 0
    assignment_epoch: int = -1
    members: dict[str, MemberT] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    metadata_hash: int = 0
    sessions: dict[str, int] = field(default_factory=dict)
    assigned_at_us: int = 0

    @property
    def state(self) -> str:
        """The group's state: whether it has members."""
        return STABLE if self.members else EMPTY

    @property
    def deadlines(self) -> list[int]:
        """When members have to have done something."""
        return list(self.sessions.values())

    def replay(self, record: GroupRecord) -> None:
        match record:
            case EpochRecord():
                self.epoch, self.metadata_hash = record.epoch, record.metadata_hash
            case TargetEpochRecord():
                self.assignment_epoch, self.assigned_at_us = record.epoch, record.at_us
            case TargetAssignmentRecord(member=name, partitions=None):
                self.target.pop(name, None)
            case TargetAssignmentRecord(member=name, partitions=partitions):
                self.target[name] = partitions or {}
            case MemberRecord(member=name, is_tombstone=True):
                self.members.pop(name, None)
                self.sessions.pop(name, None)
            case CurrentAssignmentRecord(member=name, is_tombstone=True):
                if name in self.members:
                    self._change(name, epoch=LEFT, previous_epoch=LEFT, assigned={})
            case MemberRecord(member=name) | CurrentAssignmentRecord(member=name):
                values = {of: getattr(record, of) for of in record.__struct_fields__[2:]}
                values.pop("is_tombstone")
                self._change(name, **values)

    def new_member(self, name: str) -> MemberT:
        """A member of which nothing is known yet."""
        raise NotImplementedError

    def _change(self, name: str, **values: Any) -> None:
        member = self.members.get(name) or self.new_member(name)
        self.members[name] = replace(member, **values)
