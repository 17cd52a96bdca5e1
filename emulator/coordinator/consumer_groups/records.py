"""The records of consumer groups in the log of __consumer_offsets.

Kafka numbers these kinds by the version of the key: 3 the group's epoch, 4 the metadata of the
topics that it subscribes to (up to 4.0), 5 a member's subscription, 6 the target assignment's epoch
and 7 the target assignment of a member, 8 a member's current assignment, 16 a resolved regular
expression. A tombstone has no value there. Source: ``GroupCoordinatorRecordHelpers`` 4.0, 4.1.
"""

from msgspec import Struct

from emulator.coordinator.consumer_groups.assignors.specification import Partitions


class TopicMetadata(Struct, frozen=True, array_like=True, gc=False):
    """A topic that a group subscribes to: its id, and its number of partitions."""

    id: str
    partitions: int


class ClassicProtocol(Struct, frozen=True, array_like=True, gc=False):
    """A protocol of a classic member, with its opaque metadata."""

    name: str
    metadata: bytes


class ClassicMember(Struct, frozen=True, array_like=True):
    """The settings of a member that uses the classic protocol in a consumer group."""

    session_timeout_ms: int
    protocols: list[ClassicProtocol]


class GroupEpochRecord(
    Struct, frozen=True, tag="consumer_group", tag_field="record", omit_defaults=True
):
    """Key version 3: the group's epoch; epoch -1 is a tombstone."""

    group: str
    epoch: int
    metadata_hash: int = 0


class SubscriptionMetadataRecord(
    Struct, frozen=True, tag="consumer_group_topics", tag_field="record", omit_defaults=True
):
    """Key version 4: the topics that the group subscribes to; None is a tombstone."""

    group: str
    topics: dict[str, TopicMetadata] | None = None


class MemberRecord(
    Struct, frozen=True, tag="consumer_group_member", tag_field="record", omit_defaults=True
):
    """Key version 5: a member's subscription."""

    group: str
    member: str
    instance_id: str = ""
    rack_id: str = ""
    client: str = ""
    host: str = ""
    topics: list[str] = []
    regex: str = ""
    rebalance_timeout_ms: int = -1
    assignor: str = ""
    classic: ClassicMember | None = None
    is_tombstone: bool = False


class TargetEpochRecord(
    Struct, frozen=True, tag="consumer_group_target_epoch", tag_field="record", omit_defaults=True
):
    """Key version 6: the epoch of the target assignment; -1 is a tombstone.

    ``at_us`` is when it was computed (4.3, KIP-1263).
    """

    group: str
    epoch: int
    at_us: int = 0


class TargetAssignmentRecord(
    Struct, frozen=True, tag="consumer_group_target", tag_field="record", omit_defaults=True
):
    """Key version 7: the target assignment of a member; None is a tombstone."""

    group: str
    member: str
    partitions: Partitions | None = None


class CurrentAssignmentRecord(
    Struct, frozen=True, tag="consumer_group_current", tag_field="record", omit_defaults=True
):
    """Key version 8: a member's epoch and its partitions."""

    group: str
    member: str
    epoch: int = 0
    previous_epoch: int = 0
    state: str = "STABLE"
    assigned: Partitions = {}
    revoking: Partitions = {}
    is_tombstone: bool = False


class RegularExpressionRecord(
    Struct, frozen=True, tag="consumer_group_regex", tag_field="record", omit_defaults=True
):
    """Key version 16: the topics that match a regular expression; None is a tombstone."""

    group: str
    regex: str
    topics: list[str] | None = None
    at_us: int = 0
    version: int = 0


Record = (
    GroupEpochRecord
    | SubscriptionMetadataRecord
    | MemberRecord
    | TargetEpochRecord
    | TargetAssignmentRecord
    | CurrentAssignmentRecord
    | RegularExpressionRecord
)


def key_of(record: Record) -> str:
    """The record's key for log compaction."""
    match record:
        case MemberRecord() | TargetAssignmentRecord() | CurrentAssignmentRecord():
            return f"{_kind(record)} {record.group} {record.member}"
        case RegularExpressionRecord():
            return f"{_kind(record)} {record.group} {record.regex}"
        case _:
            return f"{_kind(record)} {record.group}"


def _kind(record: Record) -> str:
    return str(record.__struct_config__.tag)
