"""The records of share groups in the log of __consumer_offsets.

Kafka numbers these kinds by the version of the key: 11 the group's epoch, 10 a member's
subscription, 12 the target assignment's epoch and 13 the target assignment of a member, 14 a
member's current assignment, 15 the partitions that the group has begun with. A tombstone has no
value there. Source: ``GroupCoordinatorRecordHelpers`` 4.1.
"""

from msgspec import Struct

from emulator.coordinator.consumer_groups.assignors.specification import Partitions


class ShareGroupEpochRecord(
    Struct, frozen=True, tag="share_group", tag_field="record", omit_defaults=True
):
    """Key version 11: the group's epoch and a hash of its topics; epoch -1 is a tombstone."""

    group: str
    epoch: int
    metadata_hash: int = 0


class ShareMemberRecord(
    Struct, frozen=True, tag="share_group_member", tag_field="record", omit_defaults=True
):
    """Key version 10: a member's subscription."""

    group: str
    member: str
    rack_id: str = ""
    client: str = ""
    host: str = ""
    topics: list[str] = []
    is_tombstone: bool = False


class ShareTargetEpochRecord(
    Struct, frozen=True, tag="share_group_target_epoch", tag_field="record", omit_defaults=True
):
    """Key version 12: the epoch of the target assignment; -1 is a tombstone.

    ``at_us`` is when it was computed (4.3, KIP-1263).
    """

    group: str
    epoch: int
    at_us: int = 0


class ShareTargetRecord(
    Struct, frozen=True, tag="share_group_target", tag_field="record", omit_defaults=True
):
    """Key version 13: the target assignment of a member; None is a tombstone."""

    group: str
    member: str
    partitions: Partitions | None = None


class ShareCurrentRecord(
    Struct, frozen=True, tag="share_group_current", tag_field="record", omit_defaults=True
):
    """Key version 14: a member's epoch and its partitions."""

    group: str
    member: str
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Partitions = {}
    is_tombstone: bool = False


class Begun(Struct, frozen=True, array_like=True):
    """Partitions of a topic with whose state a group begins, or has begun, and since when."""

    name: str
    partitions: list[int]
    at_us: int = 0


class SharePartitionsRecord(
    Struct, frozen=True, tag="share_group_partitions", tag_field="record", omit_defaults=True
):
    """Key version 15: the topics whose state is being made, is there, or is deleted, by id."""

    group: str
    initializing: dict[str, Begun] = {}
    initialized: dict[str, Begun] = {}
    deleting: dict[str, str] = {}
    is_tombstone: bool = False


Record = (
    ShareGroupEpochRecord
    | ShareMemberRecord
    | ShareTargetEpochRecord
    | ShareTargetRecord
    | ShareCurrentRecord
    | SharePartitionsRecord
)


def key_of(record: Record) -> str:
    """The record's key for log compaction."""
    kind = record.__struct_config__.tag
    match record:
        case ShareMemberRecord() | ShareTargetRecord() | ShareCurrentRecord():
            return f"{kind} {record.group} {record.member}"
        case _:
            return f"{kind} {record.group}"
