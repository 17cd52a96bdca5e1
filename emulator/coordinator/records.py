"""The records in the log of __consumer_offsets: a group's offsets and its last generation.

Kafka's ``GroupMetadataManager`` writes keys and values in binary formats of its own; here they are
JSON, so that a log is readable.
"""

import msgspec
from msgspec import Struct

from emulator.coordinator.consumer_groups import records as consumer_records
from emulator.coordinator.groups import Group
from emulator.coordinator.share_groups import records as share_records


class OffsetRecord(Struct, frozen=True, tag="offset", tag_field="record", omit_defaults=True):
    """A group's offset in a partition, committed at ``at_us``.

    -1 is a tombstone (Kafka writes null). ``epoch`` is the leader epoch of the last consumed
    record, -1 if it was not committed.
    """

    group: str
    tp: str
    offset: int
    at_us: int = 0
    epoch: int = -1
    note: str = ""


class MemberRecord(Struct, frozen=True, omit_defaults=True):
    """A member of a generation and its assignment; for an external client in its own bytes."""

    consumer: str
    topics: list[str]
    partitions: list[str]
    session_timeout_us: int
    rebalance_timeout_us: int
    protocols: dict[str, bytes] = {}
    assignment: bytes = b""
    instance_id: str = ""


class GroupRecord(Struct, frozen=True, tag="group", tag_field="record", omit_defaults=True):
    """A generation of a group; without members it has been empty since ``since_us``.

    Generation -1 is a tombstone (Kafka writes null).
    """

    group: str
    generation: int
    leader: str = ""
    assignor: str = ""
    members: dict[str, MemberRecord] = {}
    since_us: int = 0
    protocol_type: str = ""


Record = OffsetRecord | GroupRecord | consumer_records.Record | share_records.Record
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def key_of(record: Record) -> str:
    """The record's key for log compaction."""
    match record:
        case OffsetRecord():
            return f"{record.group} {record.tp}"
        case GroupRecord():
            return record.group
        case _:
            return record.key


def text_of(record: Record) -> str:
    """A record's value in the log."""
    return msgspec.json.encode(record).decode()


def size_of(record: Record, text: str) -> int:
    """About how many bytes a record with a value takes in Kafka's own format.

    A group's record there has the metadata of its members for their protocol alone, and no base64.
    """
    size = len(text)
    if isinstance(record, GroupRecord):
        for member in record.members.values():
            own = (member.protocols.get(record.assignor, b""), member.assignment)
            encoded = (*member.protocols.values(), member.assignment)
            size += sum(map(len, own)) - sum(4 * -(-len(data) // 3) for data in encoded)
    return size


def read(value: str) -> Record | None:
    """Decode a record's value; None if it is malformed (another client wrote to the topic)."""
    try:
        return _decoder.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def group_record(
    group: Group,
    assignment: dict[str, list[str]],
    assignments: dict[str, bytes] | None = None,
) -> GroupRecord:
    """A group's current generation with its members' assignments."""
    encoded = assignments or {}
    members = {
        member.id: MemberRecord(
            member.consumer,
            member.subscription.topics,
            assignment.get(member.id, []),
            member.session_timeout_us,
            member.rebalance_timeout_us,
            {offered.name: offered.metadata for offered in member.protocols},
            encoded.get(member.id, b""),
            member.instance_id,
        )
        for member in group.members.values()
    }
    since_us = 0 if members else group.empty_since_us
    return GroupRecord(
        group.name,
        group.generation,
        group.leader,
        group.assignor,
        members,
        since_us,
        group.protocol_type,
    )
