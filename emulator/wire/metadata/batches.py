"""The batches of a metadata log or snapshot, read from a stream of bytes.

A log of a running cluster may end in a torn batch. That is normal: what is whole before it is read.
Anything wrong before the last batch is damage.
"""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from emulator.wire.exceptions import CorruptRecords, MalformedFrame
from emulator.wire.metadata.codec import Tags, decode_with_tags
from emulator.wire.metadata.control_records import decode_control_record
from emulator.wire.metadata.messages import NoOpRecord
from emulator.wire.records.record_batch import (
    HEADER_BYTES,
    MAGIC,
    BatchHeader,
    check,
    read_header,
    records_of,
)
from emulator.wire.types import Message

NO_OPS: Final = (NoOpRecord(),)
"""The records of a batch that an idle controller writes twice a second: most of many logs."""
_NO_OP_BODY: Final = bytes.fromhex("140000000108011400" + "00" + "00")
"""A record without key and headers whose value is a NoOpRecord: length, attributes, two deltas, no
key, the value of four bytes, no headers."""
_NO_OP_BYTES: Final = HEADER_BYTES + len(_NO_OP_BODY)
_NO_OP_VERSIONS: Final = (0,)
_LENGTH_AT: Final = 8
_LENGTH_END: Final = 12
BATCH_BYTES_MAX: Final = 64 << 20
"""The maximum size of a batch: KRaft's own limit is 8 MiB (``MAX_BATCH_SIZE_BYTES``)."""

Read = Callable[[int], bytes]
"""Returns up to so many bytes; fewer only at the end."""


class NotMetadata(MalformedFrame):
    """The records are valid, but not those of a metadata log."""


class MetadataBatch(Struct, frozen=True):
    """A batch: its records in order; the first has the offset ``base_offset``.

    ``versions`` are those of the records, -1 for control records; ``timestamp`` is in milliseconds.
    ``unknown_tags`` are tagged fields of a newer release, by the offset of their record.
    """

    base_offset: int
    leader_epoch: int
    timestamp: int
    is_control: bool
    records: tuple[Message, ...]
    versions: tuple[int, ...]
    unknown_tags: dict[int, Tags] = {}


class Torn(Struct, frozen=True):
    """The end of a log within a batch: ``size`` bytes at byte ``at`` are no whole batch."""

    at: int
    size: int


def read_batches(read: Read) -> Iterator[MetadataBatch | Torn]:
    """Yield the batches of a log or snapshot; last, if the log is torn, where that is.

    Raises:
        NotMetadata: it is the log of another partition.
        CorruptRecords: a batch before the last is damaged.
        MalformedFrame: a record cannot be decoded.
    """
    at = 0
    batch = _batch(read, at)
    while isinstance(batch, bytes):
        if not batch:
            return
        try:
            decoded = decode_batch(batch)
        except CorruptRecords as error:
            if read(1):
                raise CorruptRecords(f"the batch at byte {at:,} is damaged: {error}") from error
            yield Torn(at, len(batch))
            return
        yield decoded
        at += len(batch)
        batch = _batch(read, at)
    yield batch


def read_headers(read: Read) -> Iterator[BatchHeader | Torn]:
    """Yield the headers of the batches of a log; their records are neither checked nor decoded.

    Raises:
        CorruptRecords: the bytes are no record batches.
    """
    at = 0
    batch = _batch(read, at)
    while isinstance(batch, bytes):
        if not batch:
            return
        yield read_header(batch)
        at += len(batch)
        batch = _batch(read, at)
    yield batch


def decode_batch(batch: bytes) -> MetadataBatch:
    """Return a batch of a metadata log.

    Raises:
        NotMetadata: its records are no metadata records.
        CorruptRecords: its checksum is wrong, or its records end early.
        MalformedFrame: a record is of an unknown type.
    """
    header = check(batch)
    is_idle = len(batch) == _NO_OP_BYTES and batch.endswith(_NO_OP_BODY)
    if is_idle and not header.attributes and header.count == 1:
        place = header.base_offset, header.leader_epoch, header.max_timestamp
        return MetadataBatch(*place, False, NO_OPS, _NO_OP_VERSIONS)
    records, versions = [], []
    unknown: dict[int, Tags] = {}
    for record in records_of(batch, header):
        if header.is_control:
            records.append(decode_control_record(record.key, record.value))
            versions.append(-1)
            continue
        if record.key is not None or record.value is None or not record.value.startswith(b"\1"):
            raise NotMetadata("a record has a key, or a value that is no metadata record")
        message, version, tags = decode_with_tags(record.value)
        if tags:
            unknown[record.offset] = tags
        records.append(message)
        versions.append(version)
    return MetadataBatch(
        header.base_offset,
        header.leader_epoch,
        header.max_timestamp,
        header.is_control,
        tuple(records),
        tuple(versions),
        unknown,
    )


def _batch(read: Read, at: int) -> bytes | Torn:
    """The next batch, nothing at the end, or where the log is torn."""
    start = read(HEADER_BYTES)
    if len(start) < HEADER_BYTES:
        return Torn(at, len(start)) if start.strip(b"\0") else b""
    if not start.strip(b"\0"):  # a preallocated file ends in zeros
        return b"" if not read(BATCH_BYTES_MAX).strip(b"\0") else Torn(at, HEADER_BYTES)
    if start[16] != MAGIC:
        raise CorruptRecords(f"byte {at:,} is no start of a record batch of format {MAGIC}")
    size = int.from_bytes(start[_LENGTH_AT:_LENGTH_END], "big", signed=True) + _LENGTH_END
    if not HEADER_BYTES <= size <= BATCH_BYTES_MAX:
        raise CorruptRecords(f"the batch at byte {at:,} would have {size:,} bytes")
    rest = read(size - HEADER_BYTES)
    if len(rest) < size - HEADER_BYTES:
        return Torn(at, HEADER_BYTES + len(rest))
    return start + rest
