"""Message sets of format 0 (up to 0.9) and 1 (0.10, KIP-32), with separate messages.

::

     0 offset         8
     8 size           4     bytes that follow it
    12 CRC32          4     of everything that follows it
    16 magic          1     0 or 1
    17 attributes     1     0-2 codec, 3 timestamp type (format 1)
    18 timestamp      8     format 1 only
       key            4+n   -1: null
       value          4+n

A compressed set is one message, the wrapper, whose value is another set. Its offset is that of its
last message. In format 0 the inner messages have absolute offsets, so a broker had to recompress
them; in format 1 their offsets are relative, starting at 0 (KIP-31).
"""

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from emulator.wire.exceptions import CorruptRecords, UnsupportedCompression
from emulator.wire.records.compression import LIMIT_BYTES, MASK, Compression, compress, decompress
from emulator.wire.records.record import NO_TIMESTAMP, RECORDS_MAX, Record, TimestampType

_ENTRY: Final = struct.Struct(">qi")
_START: Final = struct.Struct(">qiIbb")
_TIMESTAMP: Final = struct.Struct(">q")
_LENGTH: Final = struct.Struct(">i")
_CHECKED_FROM: Final = 16
_TIMESTAMP_TYPE_BIT: Final = 0x08
_NULL: Final = _LENGTH.pack(-1)


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """One entry of a set, which may be a wrapper."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def compression(self) -> int:
        """The codec number of a wrapper; 0 if it is not a wrapper."""
        return self.attributes & MASK

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType(bool(self.magic and self.attributes & _TIMESTAMP_TYPE_BIT))


def read_entries(data: bytes) -> Iterator[Entry]:
    """Return the entries with wrappers unopened.

    Raises:
        CorruptRecords: An entry is incomplete, its checksum is wrong, or there are too many.
    """
    at = count = 0
    while at < len(data):
        count += 1
        if count > RECORDS_MAX:
            raise CorruptRecords(f"a message set with more than {RECORDS_MAX} messages")
        if at + _ENTRY.size > len(data):
            raise CorruptRecords(f"a message set ends within the entry at byte {at}")
        offset, size = _ENTRY.unpack_from(data, at)
        end = at + _ENTRY.size + size
        if size < _START.size - _ENTRY.size or end > len(data):
            raise CorruptRecords(f"a message of {size} bytes at byte {at} of {len(data)}")
        yield _entry(data, at, end, offset)
        at = end


def decode(data: bytes) -> list[Record]:
    """Return all records of a set, including those in wrappers, with their offsets.

    The limits of a wrapper's decompressed size and of records hold for the whole set.
    """
    records: list[Record] = []
    left_bytes = LIMIT_BYTES
    for entry in read_entries(data):
        unwrapped = _unwrapped(entry, left_bytes)
        if entry.compression:
            left_bytes -= sum(_size_bytes(record, entry.magic) for record in unwrapped)
        records += unwrapped
        if len(records) > RECORDS_MAX:
            raise CorruptRecords(f"a message set with more than {RECORDS_MAX} messages")
    return records


def build(
    records: Sequence[Record],
    magic: int,
    compression: Compression = Compression.NONE,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
) -> bytes:
    """Return a set of records with their offsets; headers are not supported.

    Raises:
        UnsupportedCompression: zstd is newer than these formats.
    """
    if compression is Compression.ZSTD:
        raise UnsupportedCompression(f"format {magic} has no zstd compression (KIP-110)")
    bits = timestamp_type * _TIMESTAMP_TYPE_BIT if magic else 0
    if compression is Compression.NONE or not records:
        return b"".join(
            _encode(r.offset, magic, bits, r.timestamp, r.key, r.value) for r in records
        )
    first = records[0].offset if magic else 0
    inner = b"".join(
        _encode(r.offset - first, magic, bits, r.timestamp, r.key, r.value) for r in records
    )
    latest = max(record.timestamp for record in records)
    wrapped = compress(inner, compression)
    return _encode(records[-1].offset, magic, bits | compression, latest, None, wrapped)


def place(data: bytes, base_offset: int) -> bytes:
    """Return the set with offsets from ``base_offset`` on.

    Wrappers of format 0 are opened and compressed again, as brokers did.
    """
    placed: list[bytes] = []
    offset = base_offset
    at = 0
    for entry in read_entries(data):
        end = at + _ENTRY.size + _LENGTH.unpack_from(data, at + 8)[0]
        if not entry.compression:
            placed.append(_ENTRY.pack(offset, end - at - _ENTRY.size) + data[at + 12 : end])
            offset += 1
        else:
            records = _unwrapped(entry)
            if entry.magic:
                last = offset + len(records) - 1
                placed.append(_ENTRY.pack(last, end - at - _ENTRY.size) + data[at + 12 : end])
            else:
                moved = [
                    Record(record.key, record.value, offset=offset + number)
                    for number, record in enumerate(records)
                ]
                placed.append(build(moved, 0, Compression(entry.compression)))
            offset += len(records)
        at = end
    return b"".join(placed)


def with_log_append_time(data: bytes, timestamp: int) -> bytes:
    """Return the set with the broker's time in milliseconds in place of the producer's.

    Only a wrapper's own timestamp changes: readers take it for all messages in it. Format 0 has no
    timestamps. Source: ``LogValidator.validateMessagesAndAssignOffsetsCompressed``, KIP-32.
    """
    return b"".join(
        _encode(
            entry.offset,
            entry.magic,
            entry.attributes | (_TIMESTAMP_TYPE_BIT if entry.magic else 0),
            timestamp,
            entry.key,
            entry.value,
        )
        for entry in read_entries(data)
    )


def _entry(data: bytes, at: int, end: int, offset: int) -> Entry:
    _, _, crc, magic, attributes = _START.unpack_from(data, at)
    if magic not in (0, 1):
        raise CorruptRecords(f"a message of a set has magic 0 or 1, and not {magic}")
    checksum = zlib.crc32(memoryview(data)[at + _CHECKED_FROM : end])
    if checksum != crc:
        raise CorruptRecords(f"a message has the CRC {checksum:#010x} and says {crc:#010x}")
    at += _START.size
    timestamp = NO_TIMESTAMP
    if magic:
        if at + _TIMESTAMP.size > end:
            raise CorruptRecords("a message ends within its timestamp")
        (timestamp,) = _TIMESTAMP.unpack_from(data, at)
        at += _TIMESTAMP.size
    key, at = _read_bytes(data, at, end)
    value, at = _read_bytes(data, at, end)
    if at != end:
        raise CorruptRecords(f"a message ends {end - at} bytes early")
    return Entry(offset, magic, attributes, timestamp, key, value)


def _read_bytes(data: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    if at + _LENGTH.size > end:
        raise CorruptRecords("a message ends within a length")
    (length,) = _LENGTH.unpack_from(data, at)
    at += _LENGTH.size
    if length < 0:
        return None, at
    if length > end - at:
        raise CorruptRecords(f"a field of {length} bytes in the last {end - at} of a message")
    return data[at : at + length], at + length


def _size_bytes(record: Record, magic: int) -> int:
    """Return the size of a record as an entry of a set."""
    fixed = _START.size + (_TIMESTAMP.size if magic else 0) + 2 * _LENGTH.size
    return fixed + len(record.key or b"") + len(record.value or b"")


def _unwrapped(entry: Entry, limit_bytes: int = LIMIT_BYTES) -> list[Record]:
    """Return an entry's record, or the records that it wraps, of at most ``limit_bytes``."""
    if not entry.compression:
        return [Record(entry.key, entry.value, entry.timestamp, offset=entry.offset)]
    if entry.value is None:
        raise CorruptRecords("a compressed message set without a value")
    inner = list(read_entries(decompress(entry.value, entry.compression, limit_bytes)))
    if not inner:
        raise CorruptRecords("a compressed message set with no message in it")
    if any(message.compression or message.magic != entry.magic for message in inner):
        raise CorruptRecords("a compressed message set within another, or of another format")
    base = entry.offset - inner[-1].offset if entry.magic else 0
    by_broker = entry.timestamp_type is TimestampType.LOG_APPEND_TIME
    return [
        Record(
            message.key,
            message.value,
            entry.timestamp if by_broker else message.timestamp,
            offset=base + message.offset,
        )
        for message in inner
    ]


def _encode(
    offset: int, magic: int, attributes: int, timestamp: int, key: bytes | None, value: bytes | None
) -> bytes:
    checked = b"".join(
        (
            struct.pack(">bb", magic, attributes),
            _TIMESTAMP.pack(timestamp) if magic else b"",
            *_encode_bytes(key),
            *_encode_bytes(value),
        )
    )
    crc = zlib.crc32(checked)
    return _ENTRY.pack(offset, len(checked) + 4) + struct.pack(">I", crc) + checked


def _encode_bytes(value: bytes | None) -> tuple[bytes, bytes]:
    return (_NULL, b"") if value is None else (_LENGTH.pack(len(value)), value)
