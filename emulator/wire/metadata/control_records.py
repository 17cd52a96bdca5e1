"""The control records of a Raft log: who leads, who votes, and where a snapshot starts and ends.

Source: ``clients/src/main/resources/common/message/LeaderChangeMessage.json`` and its neighbours,
``ControlRecordType`` and ``ControlRecordUtils`` of 4.1; KIP-595, KIP-630, KIP-853.
"""

import struct
from typing import Annotated, Final

from emulator.wire.compiler import reader, writer
from emulator.wire.exceptions import MalformedFrame
from emulator.wire.types import NO_UUID, Int16, Int32, Int64, Message, String, Uint16, Uuid, since


class Voter(Message, frozen=True):
    """A voter in :class:`LeaderChangeMessage`."""

    voter_id: Int32 = 0
    voter_directory_id: Annotated[Uuid, since(1)] = NO_UUID


class LeaderChangeMessage(Message, frozen=True):
    """A new epoch begins: its leader, all voters, and those that voted for it."""

    version: Int16 = 0
    leader_id: Int32 = 0
    voters: list[Voter] = []
    granting_voters: list[Voter] = []


class SnapshotHeaderRecord(Message, frozen=True):
    """The first record of a snapshot, with the time of the last record in it."""

    version: Int16 = 0
    last_contained_log_timestamp: Int64 = 0


class SnapshotFooterRecord(Message, frozen=True):
    """The last record of a complete snapshot."""

    version: Int16 = 0


class KRaftVersionRecord(Message, frozen=True):
    """The level of ``kraft.version``: from 1 on, voters can be added and removed (KIP-853)."""

    version: Int16 = 0
    k_raft_version: Int16 = 0


class VoterEndpoint(Message, frozen=True):
    """An address of a voter."""

    name: String = ""
    host: String = ""
    port: Uint16 = 0


class KRaftVersionFeature(Message, frozen=True):
    """The levels of ``kraft.version`` that a voter supports."""

    min_supported_version: Int16 = 0
    max_supported_version: Int16 = 0


class VotersRecordVoter(Message, frozen=True):
    """A voter in :class:`VotersRecord`."""

    voter_id: Int32 = 0
    voter_directory_id: Uuid = NO_UUID
    endpoints: list[VoterEndpoint] = []
    k_raft_version_feature: KRaftVersionFeature = KRaftVersionFeature()


class VotersRecord(Message, frozen=True):
    """All voters of a dynamic quorum (KIP-853)."""

    version: Int16 = 0
    voters: list[VotersRecordVoter] = []


CONTROL_RECORDS: Final[dict[int, type[Message]]] = {
    2: LeaderChangeMessage,
    3: SnapshotHeaderRecord,
    4: SnapshotFooterRecord,
    5: KRaftVersionRecord,
    6: VotersRecord,
}
"""The control records of Raft by their type; 0 and 1 are markers of transactions."""
_KEY: Final = struct.Struct(">hh")
_VERSION: Final = struct.Struct(">h")


def decode_control_record(key: bytes | None, value: bytes | None) -> Message:
    """Return a control record.

    Raises:
        MalformedFrame: it is of an unknown type, or ends early.
    """
    try:
        _, kind = _KEY.unpack_from(key or b"")
        (version,) = _VERSION.unpack_from(value or b"")
        message = CONTROL_RECORDS[kind]
        record, _ = reader(message, version, flexible=True)(value or b"", 0)
    except KeyError as error:
        raise MalformedFrame(f"a control record of the unknown type {error}") from error
    except (IndexError, struct.error) as error:
        raise MalformedFrame("a control record ends too early") from error
    decoded: Message = record
    return decoded


def encode_control_record(record: Message) -> tuple[bytes, bytes]:
    """Return the key and the value of a control record; its ``version`` is the one written."""
    kind = next(kind for kind, message in CONTROL_RECORDS.items() if message is type(record))
    version: int = record.version  # type: ignore[attr-defined]
    return _KEY.pack(0, kind), writer(type(record), version, flexible=True)(record)
