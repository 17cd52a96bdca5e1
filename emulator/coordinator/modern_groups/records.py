"""The kinds of records that groups of both types have in the log of __consumer_offsets.

Each type has them under its own numbers. A tombstone has no value in Kafka's log.
"""

from msgspec import Struct

from emulator.coordinator.modern_groups.specification import Partitions


class TopicMetadata(Struct, frozen=True, array_like=True, gc=False):
    """A topic that a group subscribes to: its id, and its number of partitions."""

    id: str
    partitions: int


class GroupRecord(Struct, frozen=True, tag_field="record", omit_defaults=True):
    """A record of a group."""

    group: str

    @property
    def key(self) -> str:
        """The record's key for log compaction."""
        return f"{self.__struct_config__.tag} {self.group}"


class EpochRecord(GroupRecord, frozen=True):
    """The group's epoch, and a hash of its topics; epoch -1 is a tombstone."""

    epoch: int
    metadata_hash: int = 0


class TargetEpochRecord(GroupRecord, frozen=True):
    """The epoch of the target assignment; -1 is a tombstone.

    ``at_us`` is when it was computed (4.3, KIP-1263).
    """

    epoch: int
    at_us: int = 0


class OfMember(GroupRecord, frozen=True):
    """A record of a member."""

    member: str

    @property
    def key(self) -> str:
        """The record's key for log compaction."""
        return f"{super().key} {self.member}"


class MemberRecord(OfMember, frozen=True):
    """A member's subscription."""

    rack_id: str = ""
    client: str = ""
    host: str = ""
    topics: list[str] = []
    is_tombstone: bool = False


class TargetAssignmentRecord(OfMember, frozen=True):
    """The target assignment of a member; None is a tombstone."""

    partitions: Partitions | None = None


class CurrentAssignmentRecord(OfMember, frozen=True):
    """A member's epoch and its partitions."""

    epoch: int = 0
    previous_epoch: int = 0
    assigned: Partitions = {}
    is_tombstone: bool = False
