"""The records of consumer groups in the log of __consumer_offsets.

Kafka numbers these kinds by the version of the key: 3 the group's epoch, 4 the metadata of the
topics that it subscribes to (up to 4.0), 5 a member's subscription, 6 the target assignment's epoch
and 7 the target assignment of a member, 8 a member's current assignment, 16 a resolved regular
expression. Source: ``GroupCoordinatorRecordHelpers`` 4.0, 4.1.
"""

from msgspec import Struct, field

from emulator.coordinator.modern_groups import records as modern
from emulator.coordinator.modern_groups.records import TopicMetadata
from emulator.coordinator.modern_groups.specification import Partitions


class ClassicProtocol(Struct, frozen=True, array_like=True, gc=False):
    """A protocol of a classic member, with its opaque metadata."""

    name: str
    metadata: bytes


class ClassicMember(Struct, frozen=True, array_like=True):
    """The settings of a member that uses the classic protocol in a consumer group.

    ``is_scripted``: it is an emulated consumer, whose responses have partitions by name.
    """

    session_timeout_ms: int
    protocols: list[ClassicProtocol]
    is_scripted: bool = False


class GroupEpochRecord(modern.EpochRecord, frozen=True, tag="consumer_group"):
    """Key version 3; up to 4.0 without a hash."""


class SubscriptionMetadataRecord(modern.GroupRecord, frozen=True, tag="consumer_group_topics"):
    """Key version 4: the topics that the group subscribes to; None is a tombstone."""

    topics: dict[str, TopicMetadata] | None = None


class MemberRecord(modern.MemberRecord, frozen=True, tag="consumer_group_member"):
    """Key version 5."""

    instance_id: str = ""
    regex: str = ""
    rebalance_timeout_ms: int = -1
    assignor: str = ""
    classic: ClassicMember | None = None


class TargetEpochRecord(modern.TargetEpochRecord, frozen=True, tag="consumer_group_target_epoch"):
    """Key version 6."""


class TargetAssignmentRecord(
    modern.TargetAssignmentRecord, frozen=True, tag="consumer_group_target"
):
    """Key version 7."""


class CurrentAssignmentRecord(
    modern.CurrentAssignmentRecord, frozen=True, tag="consumer_group_current"
):
    """Key version 8; ``revoking`` are partitions that the member has to give up first.

    In 3.7 it has ``target_epoch`` and ``assigning``, the partitions that the member is to get.
    """

    state: str = "STABLE"
    revoking: Partitions = field(default_factory=dict)
    target_epoch: int = 0
    assigning: Partitions = field(default_factory=dict)


class RegularExpressionRecord(modern.GroupRecord, frozen=True, tag="consumer_group_regex"):
    """Key version 16: the topics that match a regular expression; None is a tombstone."""

    regex: str
    topics: list[str] | None = None
    at_us: int = 0
    version: int = 0

    @property
    def key(self) -> str:
        """The record's key for log compaction."""
        return f"{super().key} {self.regex}"


Record = (
    GroupEpochRecord
    | SubscriptionMetadataRecord
    | MemberRecord
    | TargetEpochRecord
    | TargetAssignmentRecord
    | CurrentAssignmentRecord
    | RegularExpressionRecord
)
