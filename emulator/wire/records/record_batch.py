"""Record batches of format 2 (KIP-98), as Kafka sends and stores them.

::

     0 base offset          8    | outside the checksum: the leader sets both when it appends
     8 length               4      bytes that follow it
    12 partition leader epoch 4  |
    16 magic                1      2
    17 CRC32C               4      of everything that follows it
    21 attributes           2      0-2 codec, 3 timestamp type, 4 transactional, 5 control
    23 last offset delta    4
    27 base timestamp       8
    35 max timestamp        8
    43 producer id          8      -1: not idempotent
    51 producer epoch       2
    53 base sequence        4
    57 record count         4
    61 records                     compressed as a whole

Numbers in records are zigzag varints: length, attributes (one byte), timestamp delta, offset delta,
key, value, headers. Offsets and timestamps are deltas to the base.
"""

import struct
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from emulator.wire.exceptions import CorruptRecords, InvalidRecords, LibraryMissing, MalformedFrame
from emulator.wire.records.checksum import crc32c
from emulator.wire.records.compression import MASK, Compression, compress, decompress
from emulator.wire.records.record import RECORDS_MAX, Header, Record, TimestampType
from emulator.wire.varints import read_zigzag_varint, zigzag_varint

MAGIC: Final = 2
_LAYOUT: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES: Final = _LAYOUT.size
_PLACE: Final = struct.Struct(">qii")
_AFTER_LENGTH: Final = 12
_EPOCH_END: Final = 16
_CRC_AT: Final = 17
_CHECKED_FROM: Final = 21
_CRC: Final = struct.Struct(">I")
_ATTRIBUTES_TO_MAX_TIMESTAMP: Final = struct.Struct(">hiqq")
_TIMESTAMP_TYPE_BIT: Final = 0x08
_TRANSACTIONAL_BIT: Final = 0x10
_CONTROL_BIT: Final = 0x20
_INT32_MASK: Final = 0x7FFFFFFF
NO_PRODUCER: Final = -1
_NULL: Final = 1
"""The length -1 of what is null, as a zigzag varint."""
RECORD_BYTES_MIN: Final = 7
"""The size of a record with neither key, value nor headers: one byte for each of its numbers."""

_MARKER: Final = struct.Struct(">hh")
_MARKER_VALUE: Final = struct.Struct(">hi")
_MARKER_VERSION: Final = 0
_ABORT: Final = 0
_COMMIT: Final = 1


class BatchHeader(Struct, frozen=True, array_like=True, gc=False):
    """The header of a batch; see the layout above."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    @property
    def size_bytes(self) -> int:
        return self.length + _AFTER_LENGTH

    @property
    def last_offset(self) -> int:
        """The offset of its last record, even if compaction has removed that record."""
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The sequence number of its last record; it wraps around to 0 after 2147483647."""
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) & _INT32_MASK

    @property
    def compression(self) -> int:
        """The number of its codec."""
        return self.attributes & MASK

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType(bool(self.attributes & _TIMESTAMP_TYPE_BIT))

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & _TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        """Whether it contains a marker in place of a producer's records."""
        return bool(self.attributes & _CONTROL_BIT)


class Producer(Struct, frozen=True):
    """The producer of a batch: the fields of idempotence and transactions."""

    producer_id: int = NO_PRODUCER
    producer_epoch: int = -1
    base_sequence: int = -1


NOBODY: Final = Producer()
"""A producer without idempotence."""


def read_header(batch: bytes) -> BatchHeader:
    """Return the header of the batch at the start of the bytes.

    Raises:
        CorruptRecords: There are too few bytes, or they have an older format.
    """
    if len(batch) < HEADER_BYTES:
        raise CorruptRecords(
            f"a batch of {len(batch)} bytes; its header alone takes {HEADER_BYTES}"
        )
    header = BatchHeader(*_LAYOUT.unpack_from(batch))
    if header.magic != MAGIC:
        raise CorruptRecords(f"a record batch has magic {MAGIC}, and not {header.magic}")
    return header


def check(batch: bytes) -> BatchHeader:
    """Return the header of a complete batch, after checking its length and checksum.

    Source: ``DefaultRecordBatch.ensureValid``.
    """
    header = read_header(batch)
    if header.size_bytes != len(batch):
        raise CorruptRecords(f"a batch of {len(batch)} bytes says that it has {header.size_bytes}")
    checksum = crc32c(memoryview(batch)[_CHECKED_FROM:])
    if checksum != header.crc:
        raise CorruptRecords(f"a batch has the CRC {checksum:#010x} and says {header.crc:#010x}")
    return header


def check_produced(batch: bytes) -> BatchHeader:
    """Return the header of a batch that a leader may append for a producer.

    Raises:
        CorruptRecords: As :func:`check`, or its records cannot be decompressed.
        InvalidRecords: It has no records, more than its bytes can hold or than
            :data:`~emulator.wire.records.record.RECORDS_MAX`, its offsets have gaps, or it is a
            control batch.

    Source: ``LogValidator.validateBatch``.
    """
    header = check(batch)
    if header.count < 1:
        raise InvalidRecords(f"a batch from a client with {header.count} records")
    if header.last_offset_delta != header.count - 1:
        raise InvalidRecords(
            f"a batch with {header.count} records whose last offset delta is"
            f" {header.last_offset_delta}"
        )
    if header.is_control:
        raise InvalidRecords("a control batch from a client")
    if header.is_transactional and header.producer_id < 0:
        raise InvalidRecords("a transactional batch without a producer id")
    _check_count(batch, header)
    return header


def _check_count(batch: bytes, header: BatchHeader) -> None:
    """Refuse a count that the bytes cannot hold, before anything is allocated for it."""
    if header.count > RECORDS_MAX:
        raise InvalidRecords(
            f"a batch with {header.count} records; at most {RECORDS_MAX} are taken"
        )
    size = len(batch) - HEADER_BYTES
    if header.compression:
        try:
            size = len(decompress(batch[HEADER_BYTES:], header.compression))
        except LibraryMissing:
            return  # without the library, compressed records are passed on unseen
    if header.count * RECORD_BYTES_MIN > size:
        raise InvalidRecords(f"a batch with {header.count} records in {size} bytes")


def place(batch: bytes, base_offset: int, leader_epoch: int) -> bytes:
    """Return the batch with the leader's offset and epoch; its checksum remains valid."""
    length = int.from_bytes(batch[8:_AFTER_LENGTH], "big")
    return _PLACE.pack(base_offset, length, leader_epoch) + batch[_EPOCH_END:]


def with_log_append_time(batch: bytes, timestamp: int) -> bytes:
    """Return the batch with the broker's time in milliseconds in place of the producer's."""
    header = read_header(batch)
    changed = bytearray(batch)
    _ATTRIBUTES_TO_MAX_TIMESTAMP.pack_into(
        changed,
        _CHECKED_FROM,
        header.attributes | _TIMESTAMP_TYPE_BIT,
        header.last_offset_delta,
        header.base_timestamp,
        timestamp,
    )
    _CRC.pack_into(changed, _CRC_AT, crc32c(memoryview(changed)[_CHECKED_FROM:]))
    return bytes(changed)


def decode(batch: bytes) -> list[Record]:
    """Return the records of a batch, after checking it.

    With the broker's time, all records have the batch's timestamp.
    """
    return records_of(batch, check(batch))


def records_of(batch: bytes, header: BatchHeader) -> list[Record]:
    """Return the records of a batch whose header :func:`check` has returned."""
    body = decompress(batch[HEADER_BYTES:], header.compression)
    by_broker = header.timestamp_type is TimestampType.LOG_APPEND_TIME
    records: list[Record] = []
    at = items = 0
    try:
        for _ in range(header.count):
            record, at = _decode_record(body, at, header)
            items += 1 + len(record.headers)
            if items > RECORDS_MAX:
                raise CorruptRecords(f"a batch with more than {RECORDS_MAX} records and headers")
            if by_broker:
                record = Record(
                    record.key, record.value, header.max_timestamp, record.headers, record.offset
                )
            records.append(record)
    except (IndexError, MalformedFrame) as error:
        raise CorruptRecords(f"record {len(records)} of {header.count} ends too early") from error
    if at != len(body):
        raise CorruptRecords(f"{len(body) - at} bytes are left after {header.count} records")
    return records


def empty(end_offset: int, offsets: int, leader_epoch: int) -> bytes:
    """Return a batch that occupies ``offsets`` offsets below ``end_offset`` and has no records.

    It can have at most 2,147,483,648 (the delta of its last offset is an Int); the last ones are
    kept, so that readers continue at the right offset. Source:
    ``DefaultRecordBatch.writeEmptyHeader``.
    """
    offsets = min(offsets, 1 << 31)
    size = HEADER_BYTES - _AFTER_LENGTH
    no_time, nobody = -1, (-1, -1, -1)
    header = _LAYOUT.pack(
        *(end_offset - offsets, size, leader_epoch, MAGIC, 0, 0, offsets - 1),
        *(no_time, no_time, *nobody, 0),
    )
    checked = header[_CHECKED_FROM:]
    return header[:_CRC_AT] + _CRC.pack(crc32c(checked)) + checked


def build(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer: Producer = NOBODY,
    compression: Compression = Compression.NONE,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytes:
    """Return a batch of the records, with offsets from ``base_offset`` on."""
    if not records:
        raise InvalidRecords("a batch has at least one record")
    base_timestamp = records[0].timestamp
    body = compress(
        b"".join(
            _encode_record(record, record.timestamp - base_timestamp, delta)
            for delta, record in enumerate(records)
        ),
        compression,
    )
    attributes = compression | (timestamp_type * _TIMESTAMP_TYPE_BIT)
    attributes |= (is_transactional * _TRANSACTIONAL_BIT) | (is_control * _CONTROL_BIT)
    header = _LAYOUT.pack(
        base_offset,
        HEADER_BYTES - _AFTER_LENGTH + len(body),
        leader_epoch,
        MAGIC,
        0,
        attributes,
        len(records) - 1,
        base_timestamp,
        max(record.timestamp for record in records),
        producer.producer_id,
        producer.producer_epoch,
        producer.base_sequence,
        len(records),
    )
    checked = header[_CHECKED_FROM:] + body
    return header[:_CRC_AT] + _CRC.pack(crc32c(checked)) + checked


def end_transaction_marker(
    producer: Producer,
    *,
    commit: bool,
    timestamp: int,
    coordinator_epoch: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytes:
    """Return the control batch that ends a transaction in a partition.

    Source: ``EndTransactionMarker``, KIP-98.
    """
    marker = Record(
        _MARKER.pack(_MARKER_VERSION, _COMMIT if commit else _ABORT),
        _MARKER_VALUE.pack(_MARKER_VERSION, coordinator_epoch),
        timestamp,
    )
    return build(
        [marker],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer=producer,
        is_transactional=True,
        is_control=True,
    )


def _decode_record(body: bytes, start: int, batch: BatchHeader) -> tuple[Record, int]:
    """Return the record at ``start`` of the decompressed bytes, and its end."""
    length, at = read_zigzag_varint(body, start)
    end = at + length
    if length < 0 or end > len(body):
        raise CorruptRecords(f"a record of {length} bytes at {at} of {len(body)}")
    timestamp_delta, at = read_zigzag_varint(body, at + 1)  # an attributes byte, unused
    offset_delta, at = read_zigzag_varint(body, at)
    key, at = _decode_bytes(body, at, end)
    value, at = _decode_bytes(body, at, end)
    count, at = read_zigzag_varint(body, at)
    timestamp = batch.base_timestamp + timestamp_delta
    if not count and at == end:
        return Record(key, value, timestamp, (), batch.base_offset + offset_delta), end
    if count < 0 or count > min(end - at, RECORDS_MAX):
        raise CorruptRecords(f"a record with {count} headers in {end - at} bytes")
    headers: list[Header] = []
    for _ in range(count):
        name, at = _decode_bytes(body, at, end)
        if name is None:
            raise CorruptRecords("a header without a key")
        header_value, at = _decode_bytes(body, at, end)
        headers.append(Header(name.decode("utf-8", "replace"), header_value))
    if at != end:
        raise CorruptRecords(f"a record of {length} bytes ends {end - at} bytes early")
    return Record(key, value, timestamp, tuple(headers), batch.base_offset + offset_delta), end


def _decode_bytes(body: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    if body[at] == _NULL:
        return None, at + 1
    length, at = read_zigzag_varint(body, at)
    if length < 0:
        return None, at
    if length > end - at:
        raise CorruptRecords(f"a field of {length} bytes at {at} of a record that ends at {end}")
    return body[at : at + length], at + length


def record_bytes(record: Record, index: int = 0) -> int:
    """The size of a record in a batch at an index, uncompressed and with the batch's timestamp."""
    return len(_encode_record(record, 0, index))


def _encode_record(record: Record, timestamp_delta: int, offset_delta: int) -> bytes:
    parts = [
        b"\0",
        zigzag_varint(timestamp_delta),
        zigzag_varint(offset_delta),
        *_encode_bytes(record.key),
        *_encode_bytes(record.value),
        zigzag_varint(len(record.headers)),
    ]
    for header in record.headers:
        parts += (*_encode_bytes(header.key.encode()), *_encode_bytes(header.value))
    encoded = b"".join(parts)
    return zigzag_varint(len(encoded)) + encoded


def _encode_bytes(value: bytes | None) -> tuple[bytes, bytes]:
    return (zigzag_varint(-1), b"") if value is None else (zigzag_varint(len(value)), value)
