"""What stands in the log of __consumer_offsets: a group's positions and its last generation.

Kafka's ``GroupMetadataManager`` writes keys and values of its own binary forms; here they are JSON,
so that a log can be read.
"""

import msgspec
from msgspec import Struct

from emulator.coordinator.groups import Group


class OffsetRecord(Struct, frozen=True, tag="offset", tag_field="record", omit_defaults=True):
    """A group's position in a partition, committed at ``at_us``.

    -1: it is forgotten (Kafka writes null). ``epoch`` is that of the last record before it, -1 if
    that was not committed.
    """

    group: str
    tp: str
    offset: int
    at_us: int = 0
    epoch: int = -1
    note: str = ""


class MemberRecord(Struct, frozen=True, omit_defaults=True):
    """A member of a generation, and what it reads; of a client outside as bytes of its own."""

    consumer: str
    topics: list[str]
    partitions: list[str]
    session_timeout_us: int
    rebalance_timeout_us: int
    protocols: dict[str, bytes] = {}
    assignment: bytes = b""


class GroupRecord(Struct, frozen=True, tag="group", tag_field="record", omit_defaults=True):
    """A generation of a group; without members it is empty, since ``since_us``.

    Generation -1: the group is forgotten (Kafka writes null).
    """

    group: str
    generation: int
    leader: str = ""
    assignor: str = ""
    members: dict[str, MemberRecord] = {}
    since_us: int = 0
    protocol_type: str = ""


Record = OffsetRecord | GroupRecord
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


def key_of(record: Record) -> str:
    """What compaction would keep the last record of."""
    return f"{record.group} {record.tp}" if isinstance(record, OffsetRecord) else record.group


def text_of(record: Record) -> str:
    """A record's value in the log."""
    return msgspec.json.encode(record).decode()


def read(value: str) -> Record | None:
    """The record of a value; None if that is none (somebody else wrote to the topic)."""
    try:
        return _decoder.decode(value)
    except msgspec.MsgspecError:
        return None


def group_record(
    group: Group,
    assignment: dict[str, list[str]],
    assignments: dict[str, bytes] | None = None,
) -> GroupRecord:
    """A group's present generation with what its members are to read."""
    encoded = assignments or {}
    members = {
        member.id: MemberRecord(
            member.consumer,
            member.subscription.topics,
            assignment.get(member.id, []),
            member.session_timeout_us,
            member.rebalance_timeout_us,
            {each.name: each.metadata for each in member.protocols},
            encoded.get(member.id, b""),
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
