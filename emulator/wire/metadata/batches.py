"""The batches of a metadata log or snapshot, read from a stream of bytes.

A log of a running cluster may end in a torn batch. That is normal: what is whole before it is read.
Anything wrong before the last batch is damage.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from emulator.wire.exceptions import CorruptRecords, MalformedFrame
from emulator.wire.metadata.codec import Tags, decode_with_tags
from emulator.wire.metadata.control_records import decode_control_record
from emulator.wire.metadata.messages import NoOpRecord
from emulator.wire.records.checksum import crc32c
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
_NO_OP_VERSIONS: Final = (0,)
_IDLE: Final = struct.Struct(">qiibI6s8xq14x15s")
"""Such a batch: base offset, length, leader epoch, magic, CRC, attributes and last offset delta,
maximum timestamp, and its end."""
_IDLE_LENGTH: Final = _IDLE.size - 12
_IDLE_PLAIN: Final = bytes(6)
_IDLE_END: Final = bytes.fromhex("000000011400000001080114000000")
"""The count, 1, and a record without key and headers whose value is a NoOpRecord: length,
attributes, two deltas, no key, the value of four bytes, no headers."""
_IDLE_CHECKED_FROM: Final = 21
IDLE_MAX: Final = 4_096
"""How many batches of an idle controller are taken as one."""
_RUN: Final = 2
"""How many of them are a run."""
_PIECE_BYTES: Final = 1 << 18
"""How much is read at once."""
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
    ``unknown_tags`` are tagged fields of a newer release, by the offset of their record. A run of
    an idle controller's batches can be taken as one, with the last one's time; ``batches`` is how
    many they are.
    """

    base_offset: int
    leader_epoch: int
    timestamp: int
    is_control: bool
    records: tuple[Message, ...]
    versions: tuple[int, ...]
    unknown_tags: dict[int, Tags] = {}
    batches: int = 1

    @property
    def is_idle(self) -> bool:
        """Whether an idle controller wrote it, so that it changes nothing."""
        return self.records is NO_OPS or self.batches > 1

    def since(self, offset: int) -> "MetadataBatch":
        """Return the part of a run of idle batches from an offset on."""
        count = self.base_offset + self.batches - offset
        return _idle(offset, self.leader_epoch, self.timestamp, count)


class Torn(Struct, frozen=True):
    """The end of a log within a batch: ``size`` bytes at byte ``at`` are no whole batch."""

    at: int
    size: int


def read_batches(read: Read, *, joins_idle: bool = False) -> Iterator[MetadataBatch | Torn]:
    """Yield the batches of a log or snapshot; last, if the log is torn, where that is.

    ``joins_idle``: runs of an idle controller's batches are yielded as one batch each.

    Raises:
        NotMetadata: it is the log of another partition.
        CorruptRecords: a batch before the last is damaged.
        MalformedFrame: a record cannot be decoded.
    """
    stream = _Stream(read)
    while True:
        run = stream.idle() if joins_idle else None
        if run is not None:
            yield run
            continue
        at = stream.at
        batch = _batch(stream.read, at)
        if not isinstance(batch, bytes):
            yield batch
            return
        if not batch:
            return
        try:
            decoded = decode_batch(batch)
        except CorruptRecords as error:
            if stream.read(1):
                raise CorruptRecords(f"the batch at byte {at:,} is damaged: {error}") from error
            yield Torn(at, len(batch))
            return
        yield decoded


class _Stream:
    """Bytes read in pieces; ``at`` is the position of the next one."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._piece = b""
        self._place = 0
        self._before = 0

    @property
    def at(self) -> int:
        return self._before + self._place

    def read(self, size: int) -> bytes:
        """Return so many bytes; fewer only at the end."""
        end = self._place + size
        if end > len(self._piece):
            self._fill(size)
            end = self._place + size
        data = self._piece[self._place : end]
        self._place += len(data)
        return data

    def _fill(self, size: int) -> None:
        """Have so many bytes in the piece, unless there are fewer."""
        rest = self._piece[self._place :]
        self._before += self._place
        self._piece = rest + self._read(max(_PIECE_BYTES, size) - len(rest))
        self._place = 0

    def idle(self) -> MetadataBatch | None:
        """Take a run of whole batches of an idle controller, if there are several here."""
        if len(self._piece) - self._place < _RUN * _IDLE.size:
            self._fill(_RUN * _IDLE.size)
        start = self._place
        room = min((len(self._piece) - start) // _IDLE.size, IDLE_MAX)
        if room < _RUN or not self._piece.endswith(_IDLE_END, start, start + _RUN * _IDLE.size):
            return None
        run = memoryview(self._piece)[start : start + room * _IDLE.size]
        offset, _, epoch, *_, time_ms, _ = _IDLE.unpack_from(run)
        at, next_offset = _IDLE_CHECKED_FROM, offset
        for base, size, leader_epoch, magic, crc, plain, stamp, end in _IDLE.iter_unpack(run):
            if (
                size != _IDLE_LENGTH
                or end != _IDLE_END
                or plain != _IDLE_PLAIN
                or magic != MAGIC
                or base != next_offset
                or leader_epoch != epoch
                or stamp < time_ms
                or crc32c(run[at : at + _IDLE.size - _IDLE_CHECKED_FROM]) != crc
            ):
                break
            at += _IDLE.size
            next_offset += 1
            time_ms = stamp
        count = next_offset - offset
        if not count:
            return None
        self._place += count * _IDLE.size
        return _idle(offset, epoch, time_ms, count)


def _idle(offset: int, epoch: int, time_ms: int, count: int) -> MetadataBatch:
    """The batches of an idle controller as one."""
    records, versions = NO_OPS * count, _NO_OP_VERSIONS * count
    return MetadataBatch(offset, epoch, time_ms, False, records, versions, {}, count)


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
    if len(batch) == _IDLE.size and batch.endswith(_IDLE_END) and not header.attributes:
        return _idle(header.base_offset, header.leader_epoch, header.max_timestamp, 1)
    records, versions = [], []
    unknown: dict[int, Tags] = {}
    if header.is_control:
        for record in records_of(batch, header):
            records.append(decode_control_record(record.key, record.value))
            versions.append(-1)
    else:
        for record in records_of(batch, header):
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
