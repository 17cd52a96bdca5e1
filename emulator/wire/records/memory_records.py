"""Records of any format, as in a request (Kafka's ``MemoryRecords``).

All formats have their magic byte at the same position, so callers need not know which format they
handle.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from emulator.wire.exceptions import CorruptRecords, InvalidRecords, UnsupportedCompression
from emulator.wire.records import message_set, record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.record import NO_TIMESTAMP, Record
from emulator.wire.records.record_batch import NO_PRODUCER

_MAGIC_AT: Final = 16
_LENGTH_END: Final = 12
FORMATS: Final = (0, 1, 2)
BATCHES_SINCE: Final = 3
"""The first Produce version that requires batches of format 2."""
ZSTD_SINCE: Final = 7
"""The first Produce version that allows zstd compression."""


class Summary(Struct, frozen=True, array_like=True, gc=False):
    """What a broker needs to know of records; the producer's fields are -1 without idempotence."""

    magic: int
    count: int
    size_bytes: int
    max_timestamp: int
    compression: int = 0
    producer_id: int = NO_PRODUCER
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False


def magic_of(records: bytes) -> int:
    """Return the format of the first batch or message."""
    if len(records) <= _MAGIC_AT:
        raise CorruptRecords(f"{len(records)} bytes are too few for records")
    magic = records[_MAGIC_AT]
    if magic not in FORMATS:
        raise CorruptRecords(f"no format has magic {magic}")
    return magic


def split(records: bytes) -> list[bytes]:
    """Return the batches of format 2, or the entries of a message set, each as its own bytes.

    Raises:
        CorruptRecords: The last one is incomplete, as in fetch responses of brokers before 0.11.
    """
    batches: list[bytes] = []
    at = 0
    while at < len(records):
        start = at
        length = int.from_bytes(records[at + 8 : at + _LENGTH_END], "big", signed=True)
        at += _LENGTH_END + length
        if length < 0 or start + _LENGTH_END > len(records) or at > len(records):
            raise CorruptRecords(f"{length} bytes of records at byte {start} of {len(records)}")
        batches.append(records[start:at])
    return batches


def check_version(records: bytes, version: int) -> None:
    """Check that a Produce request of that version may have a partition's records.

    Raises:
        InvalidRecords: A request since version 3 must have exactly one batch of format 2.
        UnsupportedCompression: zstd before version 7 (KIP-110).

    Source: ``ProduceRequest.validateRecords``.
    """
    if version < BATCHES_SINCE:
        return
    if not _is_one_batch(records):
        raise InvalidRecords("a produce request has exactly one batch of format 2 a partition")
    is_zstd = record_batch.read_header(records).compression == Compression.ZSTD
    if is_zstd and version < ZSTD_SINCE:
        raise UnsupportedCompression(f"Produce {version} has no zstd compression (KIP-110)")


def is_transactional(records: bytes) -> bool:
    """Whether records start with a batch that says to belong to a transaction."""
    if len(records) < record_batch.HEADER_BYTES or records[_MAGIC_AT] != record_batch.MAGIC:
        return False
    return record_batch.read_header(records).is_transactional


def check_produced(records: bytes) -> Summary:
    """Return the summary of records that a leader may append for a producer.

    Raises:
        InvalidRecords: They have what clients do not send.
        CorruptRecords: A length, a checksum or a magic byte is wrong.

    Source: ``LogValidator``, and responses of real brokers.
    """
    magic = magic_of(records)
    if magic < record_batch.MAGIC:
        return _summary_of_set(records, magic)
    header = record_batch.check_produced(records)
    return Summary(
        magic,
        header.count,
        len(records),
        header.max_timestamp,
        header.compression,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.is_transactional,
    )


def _is_one_batch(records: bytes) -> bool:
    return (
        len(records) > record_batch.HEADER_BYTES
        and records[_MAGIC_AT] == record_batch.MAGIC
        and len(records) == _LENGTH_END + int.from_bytes(records[8:_LENGTH_END], "big")
    )


def _summary_of_set(records: bytes, magic: int) -> Summary:
    entries = list(message_set.read_entries(records))
    if any(entry.magic != magic for entry in entries):
        raise InvalidRecords("a message set with messages of two formats")
    compression = max(entry.compression for entry in entries)
    count = len(message_set.decode(records)) if compression else len(entries)
    latest = max(entry.timestamp for entry in entries)
    return Summary(magic, count, len(records), latest, compression)


def place(records: bytes, base_offset: int, leader_epoch: int) -> bytes:
    """Return the records with the offsets assigned by a leader, and in format 2 its epoch."""
    if magic_of(records) < record_batch.MAGIC:
        return message_set.place(records, base_offset)
    if _is_one_batch(records):
        return record_batch.place(records, base_offset, leader_epoch)
    placed: list[bytes] = []
    for batch in split(records):
        placed.append(record_batch.place(batch, base_offset, leader_epoch))
        base_offset = record_batch.read_header(placed[-1]).last_offset + 1
    return b"".join(placed)


def with_log_append_time(records: bytes, timestamp: int) -> bytes:
    """Return the records with the broker's time in milliseconds in place of the producer's."""
    if magic_of(records) < record_batch.MAGIC:
        return message_set.with_log_append_time(records, timestamp)
    return b"".join(record_batch.with_log_append_time(batch, timestamp) for batch in split(records))


def decode(records: bytes) -> list[Record]:
    """Return all records with their offsets, including control batches and markers."""
    if not records:
        return []
    if magic_of(records) < record_batch.MAGIC:
        return message_set.decode(records)
    return [record for batch in split(records) for record in record_batch.decode(batch)]


def build(
    records: Sequence[Record],
    magic: int,
    base_offset: int = 0,
    compression: Compression = Compression.NONE,
) -> bytes:
    """Return plain records in a format, with offsets from ``base_offset`` on."""
    if magic >= record_batch.MAGIC:
        return record_batch.build(records, base_offset=base_offset, compression=compression)
    placed = [
        Record(
            record.key,
            record.value,
            record.timestamp if magic else NO_TIMESTAMP,
            offset=base_offset + number,
        )
        for number, record in enumerate(records)
    ]
    return message_set.build(placed, magic, compression)


def convert(records: bytes, magic: int) -> bytes:
    """Return the records in another format, with unchanged offsets.

    Down-conversion loses what the older format lacks: headers, producer ids, and with them control
    batches; below format 1 also timestamps. Up-conversion from format 0 sets the timestamp to -1.
    The records are compressed with their original codec.

    Raises:
        UnsupportedCompression: formats 0 and 1 do not support zstd (KIP-110).

    Source: ``RecordsUtil.downConvert``, ``LogValidator.convertAndAssignOffsetsNonCompressed``.
    """
    if magic == record_batch.MAGIC and records and magic_of(records) < magic:
        return _batch_of_set(records)
    return b"".join(_convert(batch, magic) for batch in split(records))


def _batch_of_set(records: bytes) -> bytes:
    """Return a whole message set as one batch of format 2."""
    entries = list(message_set.read_entries(records))
    decoded = message_set.decode(records)
    return record_batch.build(
        decoded,
        base_offset=decoded[0].offset,
        compression=Compression(max(entry.compression for entry in entries)),
        timestamp_type=max(entry.timestamp_type for entry in entries),
    )


def _convert(batch: bytes, magic: int) -> bytes:
    """Return one batch or entry in an older format, or an entry of format 0 in format 1."""
    batch_magic = magic_of(batch)
    if batch_magic == magic:
        return batch
    if batch_magic == record_batch.MAGIC:
        header = record_batch.read_header(batch)
        if header.is_control:
            return b""
        compression, timestamp_type = header.compression, header.timestamp_type
    else:
        (entry,) = message_set.read_entries(batch)
        compression, timestamp_type = entry.compression, entry.timestamp_type
    return message_set.build(decode(batch), magic, Compression(compression), timestamp_type)
