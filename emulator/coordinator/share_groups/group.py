"""The state of a share group, and how its records change it.

A member gets its target at once, since partitions are shared. Source: ``ShareGroup``,
``ShareGroupMember`` and the ``replay`` methods of ``GroupMetadataManager`` 4.1.
"""

from msgspec import field

from emulator.coordinator.modern_groups.group import ModernGroup, ModernMember
from emulator.coordinator.modern_groups.records import GroupRecord
from emulator.coordinator.share_groups.records import Begun, SharePartitionsRecord


class ShareGroup(ModernGroup[ModernMember], array_like=True, tag=True):
    """A share group.

    ``initialized`` are the topics with whose partitions the group has begun, by id; only these are
    assigned.
    """

    initializing: dict[str, Begun] = field(default_factory=dict)
    initialized: dict[str, Begun] = field(default_factory=dict)
    deleting: dict[str, str] = field(default_factory=dict)
    has_partitions: bool = False

    def new_member(self, name: str) -> ModernMember:
        """A member of which nothing is known yet."""
        return ModernMember(name)

    def replay(self, record: GroupRecord) -> None:
        if isinstance(record, SharePartitionsRecord):
            self.has_partitions = not record.is_tombstone
            self.initializing = dict(record.initializing)
            self.initialized = dict(record.initialized)
            self.deleting = dict(record.deleting)
        else:
            super().replay(record)
