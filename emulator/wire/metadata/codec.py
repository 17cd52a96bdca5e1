"""Encoding and decoding of the values of metadata records.

A value begins with three unsigned varints: the version of this frame (1), the key of the record's
type and its version. Source: ``AbstractApiMessageSerde`` and ``MetadataRecordSerde`` of 4.1.
"""

import struct
from typing import Final

from msgspec import Struct

from emulator.wire.compiler import Reader, UnknownTags, keeping_reader, writer
from emulator.wire.exceptions import MalformedFrame
from emulator.wire.metadata import messages
from emulator.wire.types import Message
from emulator.wire.varints import read_unsigned_varint, unsigned_varint

FRAME_VERSION: Final = 1
Tags = tuple[tuple[int, bytes], ...]
"""Tagged fields by their numbers."""


class RecordType(Struct, frozen=True):
    """A type of records: its message, and the newest version of it that is known."""

    message: type[Message]
    newest: int = 0


RECORD_TYPES: Final[dict[int, RecordType]] = {
    0: RecordType(messages.RegisterBrokerRecord, 4),
    1: RecordType(messages.UnregisterBrokerRecord),
    2: RecordType(messages.TopicRecord),
    3: RecordType(messages.PartitionRecord, 2),
    4: RecordType(messages.ConfigRecord),
    5: RecordType(messages.PartitionChangeRecord, 2),
    7: RecordType(messages.FenceBrokerRecord),
    8: RecordType(messages.UnfenceBrokerRecord),
    9: RecordType(messages.RemoveTopicRecord),
    10: RecordType(messages.DelegationTokenRecord),
    11: RecordType(messages.UserScramCredentialRecord),
    12: RecordType(messages.FeatureLevelRecord),
    14: RecordType(messages.ClientQuotaRecord),
    15: RecordType(messages.ProducerIdsRecord),
    17: RecordType(messages.BrokerRegistrationChangeRecord, 3),
    18: RecordType(messages.AccessControlEntryRecord),
    19: RecordType(messages.RemoveAccessControlEntryRecord),
    20: RecordType(messages.NoOpRecord),
    21: RecordType(messages.ZkMigrationStateRecord),
    22: RecordType(messages.RemoveUserScramCredentialRecord),
    23: RecordType(messages.BeginTransactionRecord),
    24: RecordType(messages.EndTransactionRecord),
    25: RecordType(messages.AbortTransactionRecord),
    26: RecordType(messages.RemoveDelegationTokenRecord),
    27: RecordType(messages.RegisterControllerRecord),
    28: RecordType(messages.ClearElrRecord),
    29: RecordType(messages.UnregisterControllerRecord),
}
"""The types of records by their key (``apiKey``); gaps were used before 3.3 only."""
_START_BYTES: Final = 3
"""The size of the three numbers at the start of a value, of which all known ones take a byte."""
_KNOWN: Final[dict[bytes, tuple[Reader, UnknownTags, int]]] = {}
"""The reader of each type and version that was met, and the version, by the start of the value."""
_KEYS: Final = {record_type.message: key for key, record_type in RECORD_TYPES.items()}


class UnknownRecord(MalformedFrame):
    """A value of a type or version that no release up to 4.4 writes."""


def decode_value(value: bytes) -> tuple[Message, int]:
    """Return the record in a value, and its version.

    Tagged fields that are not known are left out; :func:`decode_with_tags` returns them, too.

    Raises:
        UnknownRecord: its type or version is unknown.
        MalformedFrame: it is not a value of this topic.
    """
    record, version, _ = decode_with_tags(value)
    return record, version


def decode_with_tags(value: bytes) -> tuple[Message, int, Tags]:
    """Return the record in a value, its version, and its unknown tagged fields by their numbers.

    Raises:
        UnknownRecord, MalformedFrame: as :func:`decode_value`.
    """
    try:
        known = _KNOWN.get(value[:_START_BYTES])
        if known is None:
            record_type, version, at = _start_of(value)
            read, unknown = keeping_reader(record_type.message, version)
            if at == _START_BYTES:
                _KNOWN[value[:at]] = read, unknown, version
        else:
            (read, unknown, version), at = known, _START_BYTES
        if unknown:  # a record before it was malformed
            unknown.clear()
        record, end = read(value, at)
    except (IndexError, struct.error) as error:
        raise MalformedFrame(f"a value of {len(value)} bytes ends too early") from error
    if end != len(value):
        raise MalformedFrame(
            f"{len(value) - end} bytes are left over after {type(record).__name__}"
        )
    if not unknown:
        return record, version, ()
    tags = tuple(unknown)
    unknown.clear()
    return record, version, tags


def _start_of(value: bytes) -> tuple[RecordType, int, int]:
    """The type and version of the record in a value, and where its fields begin."""
    frame, at = read_unsigned_varint(value, 0)
    key, at = read_unsigned_varint(value, at)
    version, at = read_unsigned_varint(value, at)
    if frame != FRAME_VERSION:
        raise MalformedFrame(f"a value with the frame version {frame}")
    record_type = RECORD_TYPES.get(key)
    if record_type is None or version > record_type.newest:
        name = f"type {key}" if record_type is None else record_type.message.__name__
        raise UnknownRecord(f"a record of {name} in version {version}")
    return record_type, version, at


def encode_value(record: Message, version: int) -> bytes:
    """Return the value of a record in a version."""
    start = b"".join(map(unsigned_varint, (FRAME_VERSION, _KEYS[type(record)], version)))
    return start + writer(type(record), version, flexible=True)(record)
