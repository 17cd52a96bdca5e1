"""Records as bytes: batches that a producer sends, and what lies in a log's segments."""

import struct
import time
import zlib
from pathlib import Path
from typing import NamedTuple

HEAD = 17
BATCH_HEAD = 61
NEWEST_MAGIC = 2
CONTROL = 0x20
CASTAGNOLI = 0x82F63B78


class Record(NamedTuple):
    """A record in a log; its ``epoch`` is its batch's, None before format 2."""

    offset: int
    epoch: int | None
    value: str


class Sequence(NamedTuple):
    """Who sends a batch, and what number its first record has."""

    producer: int
    epoch: int
    first: int


def old_batch(value: str) -> bytes:
    """One record in format 0."""
    data = value.encode()
    message = struct.pack(">bbii", 0, 0, -1, len(data)) + data
    message = struct.pack(">I", zlib.crc32(message)) + message
    return struct.pack(">qi", 0, len(message)) + message


def sequenced_batch(value: str, sequence: Sequence) -> bytes:
    """One record in format 2, of an idempotent producer; of now, or retention would take it."""
    now_ms = time.time_ns() // 1_000_000
    data = value.encode()
    record = b"\0" + _zigzag(0) + _zigzag(0) + _zigzag(-1) + _zigzag(len(data)) + data + _zigzag(0)
    records = _zigzag(len(record)) + record
    tail = struct.pack(">hiqqqhii", 0, 0, now_ms, now_ms, *sequence, 1) + records
    body = struct.pack(">ibI", -1, NEWEST_MAGIC, _crc32c(tail)) + tail
    return struct.pack(">qi", 0, len(body)) + body


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ CASTAGNOLI if crc & 1 else crc >> 1
    return crc ^ 0xFFFFFFFF


def _zigzag(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _varint(data: bytes, at: int) -> tuple[int, int]:
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def records_in(data: bytes) -> list[Record]:
    """The records of a segment or of a fetched set, in any format, without control records."""
    found: list[Record] = []
    at = 0
    while at + HEAD <= len(data):
        base, size = struct.unpack_from(">qi", data, at)
        if size <= 0 or at + 12 + size > len(data):
            break
        newest = data[at + 16] >= NEWEST_MAGIC
        found += _batch(data, at, base) if newest else [_message(data, at, base)]
        at += 12 + size
    return found


def _message(data: bytes, at: int, offset: int) -> Record:
    """A message of format 0 or 1."""
    at += 18 + (8 if data[at + 16] == 1 else 0)
    (key,) = struct.unpack_from(">i", data, at)
    at += 4 + max(key, 0)
    (size,) = struct.unpack_from(">i", data, at)
    return Record(offset, None, data[at + 4 : at + 4 + max(size, 0)].decode("utf-8", "replace"))


def _batch(data: bytes, at: int, base: int) -> list[Record]:
    (epoch,) = struct.unpack_from(">i", data, at + 12)
    (attributes,) = struct.unpack_from(">h", data, at + 21)
    (count,) = struct.unpack_from(">i", data, at + 57)
    found: list[Record] = []
    at += BATCH_HEAD
    for _ in range(0 if attributes & CONTROL else count):
        size, at = _varint(data, at)
        found.append(_record(data, at, base, epoch))
        at += size
    return found


def _record(data: bytes, at: int, base: int, epoch: int) -> Record:
    _, at = _varint(data, at + 1)  # past the attributes, the timestamp
    delta, at = _varint(data, at)
    key, at = _varint(data, at)
    size, at = _varint(data, at + max(key, 0))
    return Record(base + delta, epoch, data[at : at + max(size, 0)].decode("utf-8", "replace"))


def log_of(folder: Path) -> tuple[list[Record], int]:
    """The records in a replica's folder, and its log end offset."""
    segments = sorted(folder.glob("*.log"))
    records = [each for segment in segments for each in records_in(segment.read_bytes())]
    if records:
        return records, records[-1].offset + 1
    return records, int(segments[-1].stem) if segments else 0


def epochs_of(folder: Path) -> list[list[int]] | None:
    """The entries of the leader epoch checkpoint; None if there is no such file."""
    file = folder / "leader-epoch-checkpoint"
    if not file.is_file():
        return None
    return [[int(word) for word in line.split()] for line in file.read_text().splitlines()[2:]]


def checkpointed(folder: Path, name: str, tp: str) -> int | None:
    """What a checkpoint file of a data folder says of a partition."""
    file = folder / name
    for line in file.read_text().splitlines()[2:] if file.is_file() else ():
        topic, partition, offset = line.rsplit(" ", 2)
        if f"{topic}-{partition}" == tp:
            return int(offset)
    return None
