"""Compression of records: the codecs by their attribute values.

The package ``cramjam`` of the extra ``serve`` provides all of them. A broker passes compressed
batches on unchanged, so it is needed only to display records or convert them for old clients.
"""

import struct
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import Final

from emulator.wire.exceptions import CorruptRecords, LibraryMissing

MASK: Final = 0x07
"""The attribute bits of the codec."""
LIMIT_BYTES: Final = 64 * 1024 * 1024
"""The maximum decompressed size of a batch: a small batch can claim to be any size."""
_FIRST_BUFFER_BYTES: Final = 64 * 1024
_GROWTH: Final = 4

_XERIAL_MAGIC: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER: Final = struct.Struct(">8sii")
_XERIAL_VERSION: Final = 1
_BLOCK_LENGTH: Final = struct.Struct(">i")
_BLOCK_BYTES: Final = 32 * 1024


class Compression(IntEnum):
    """``compression.type`` as encoded in attributes; zstd since 2.1 (KIP-110)."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(data: bytes, codec: Compression) -> bytes:
    """Compress data as Kafka's own clients do."""
    if codec is Compression.NONE:
        return data
    if codec is Compression.SNAPPY:
        return _xerial_compress(data)
    return bytes(_module(codec).compress(data))


def decompress(data: bytes, codec_number: int, limit_bytes: int = LIMIT_BYTES) -> bytes:
    """Return the decompressed data.

    Raises:
        CorruptRecords: The codec is unknown, the data is invalid, or larger than ``limit_bytes``
            when decompressed.
        LibraryMissing: ``cramjam`` is not installed.
    """
    try:
        codec = Compression(codec_number)
    except ValueError:
        raise CorruptRecords(f"no compression has the number {codec_number}") from None
    if codec is Compression.NONE:
        return data
    if codec is not Compression.SNAPPY:
        return _into_buffer(_module(codec).decompress_into, data, codec, limit_bytes)
    if data.startswith(_XERIAL_MAGIC):
        return _xerial_decompress(data, limit_bytes)
    return _snappy_block(data, limit_bytes)


def _cramjam() -> ModuleType:
    try:
        import cramjam
    except ImportError:
        raise LibraryMissing("decompressing records", "cramjam") from None
    return cramjam


def _module(codec: Compression) -> ModuleType:
    module: ModuleType = getattr(_cramjam(), codec.name.lower())
    return module


def _into_buffer(
    decompress_into: Callable[[bytes, bytearray], int],
    data: bytes,
    codec: Compression,
    limit_bytes: int,
) -> bytes:
    """Decompress into a buffer that grows up to the limit, whatever size the data declares."""
    size = min(limit_bytes, max(_FIRST_BUFFER_BYTES, _GROWTH * len(data)))
    while True:
        buffer = bytearray(size)
        try:
            return bytes(memoryview(buffer)[: decompress_into(data, buffer)])
        except _cramjam().DecompressionError as error:
            if size >= limit_bytes:
                name = codec.name.lower()
                raise CorruptRecords(
                    f"no {name} data of at most {limit_bytes} bytes: {error}"
                ) from error
        size = min(limit_bytes, _GROWTH * size)


def _snappy_block(data: bytes, limit_bytes: int) -> bytes:
    """Decompress one block, which starts with its size."""
    cramjam = _cramjam()
    try:
        size = cramjam.snappy.decompress_raw_len(data)
        if size > limit_bytes:
            raise CorruptRecords(f"a snappy block of {size} bytes; the limit is {limit_bytes}")
        return bytes(cramjam.snappy.decompress_raw(data)) if data else b""
    except cramjam.DecompressionError as error:
        raise CorruptRecords(f"no snappy data: {error}") from error


def _xerial_compress(data: bytes) -> bytes:
    """Snappy with the Java clients' framing: a header, then blocks with their lengths.

    Source: ``org.xerial.snappy.SnappyOutputStream``.
    """
    snappy = _cramjam().snappy
    written = [_XERIAL_HEADER.pack(_XERIAL_MAGIC, _XERIAL_VERSION, _XERIAL_VERSION)]
    for start in range(0, len(data), _BLOCK_BYTES):
        block = bytes(snappy.compress_raw(data[start : start + _BLOCK_BYTES]))
        written += (_BLOCK_LENGTH.pack(len(block)), block)
    return b"".join(written)


def _xerial_decompress(data: bytes, limit_bytes: int) -> bytes:
    at = _XERIAL_HEADER.size
    blocks: list[bytes] = []
    left_bytes = limit_bytes
    while at < len(data):
        if at + _BLOCK_LENGTH.size > len(data):
            raise CorruptRecords("no snappy data: it ends within the length of a block")
        (length,) = _BLOCK_LENGTH.unpack_from(data, at)
        at += _BLOCK_LENGTH.size
        if length < 0 or at + length > len(data):
            raise CorruptRecords(f"no snappy data: a block of {length} bytes at {at}")
        blocks.append(_snappy_block(data[at : at + length], left_bytes))
        left_bytes -= len(blocks[-1])
        at += length
    return b"".join(blocks)
