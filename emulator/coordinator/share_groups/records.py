"""The records of share groups in the log of __consumer_offsets.

Kafka numbers these kinds by the version of the key: 11 the group's epoch, 10 a member's
subscription, 12 the target assignment's epoch and 13 the target assignment of a member, 14 a
member's current assignment, 15 the partitions that the group has begun with. Source:
``GroupCoordinatorRecordHelpers`` 4.1.
"""

from msgspec import Struct, field

from emulator.coordinator.modern_groups import records as modern


class ShareGroupEpochRecord(modern.EpochRecord, frozen=True, tag="share_group"):
    """Key version 11."""


class ShareMemberRecord(modern.MemberRecord, frozen=True, tag="share_group_member"):
    """Key version 10."""


class ShareTargetEpochRecord(modern.TargetEpochRecord, frozen=True, tag="share_group_target_epoch"):
    """Key version 12."""


class ShareTargetRecord(modern.TargetAssignmentRecord, frozen=True, tag="share_group_target"):
    """Key version 13."""


class ShareCurrentRecord(modern.CurrentAssignmentRecord, frozen=True, tag="share_group_current"):
    """Key version 14."""


class Begun(Struct, frozen=True, array_like=True):
    """Partitions of a topic with whose state a group begins, or has begun, and since when."""

    name: str
    partitions: list[int]
    at_us: int = 0


class SharePartitionsRecord(modern.GroupRecord, frozen=True, tag="share_group_partitions"):
    """Key version 15: the topics whose state is being made, is there, or is deleted, by id."""

    initializing: dict[str, Begun] = field(default_factory=dict)
    initialized: dict[str, Begun] = field(default_factory=dict)
    deleting: dict[str, str] = field(default_factory=dict)
    is_tombstone: bool = False


Record = (
    ShareGroupEpochRecord
    | ShareMemberRecord
    | ShareTargetEpochRecord
    | ShareTargetRecord
    | ShareCurrentRecord
    | SharePartitionsRecord
)
