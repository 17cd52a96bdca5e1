"""Compressed records, against the usual libraries and against hostile data."""

import gzip
import sys

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from emulator.wire.exceptions import CorruptRecords, LibraryMissing, WireError
from emulator.wire.records.compression import Compression, compress, decompress

LIMIT = 1_000_000
CODECS = list(Compression)[1:]
DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize("codec", CODECS)
@given(st.binary(max_size=100) | st.just(DATA))
def test_what_was_compressed_comes_back(codec: Compression, data: bytes) -> None:
    assert decompress(compress(data, codec), codec) == data


def test_other_libraries_understand_it() -> None:
    assert gzip.decompress(compress(DATA, Compression.GZIP)) == DATA
    assert lz4.frame.decompress(compress(DATA, Compression.LZ4)) == DATA
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress
    assert unpacked(compress(DATA, Compression.ZSTD)) == DATA


def test_it_understands_other_libraries() -> None:
    assert decompress(gzip.compress(DATA), Compression.GZIP) == DATA
    assert decompress(lz4.frame.compress(DATA), Compression.LZ4) == DATA
    assert decompress(zstandard.ZstdCompressor().compress(DATA), Compression.ZSTD) == DATA
    # librdkafka sends one block without a frame
    assert decompress(snappy.compress(DATA), Compression.SNAPPY) == DATA


@pytest.mark.parametrize("codec", CODECS)
@given(st.binary(max_size=50))
def test_data_of_no_codec_raises_only_wire_errors(codec: Compression, data: bytes) -> None:
    for found in (data, b"\x82SNAPPY\0" + data, compress(DATA, codec)[: len(data)]):
        try:
            decompress(found, codec, LIMIT)
        except WireError:
            continue


@pytest.mark.parametrize("codec", CODECS)
def test_a_small_batch_cannot_grow_without_limit(codec: Compression) -> None:
    bomb = compress(bytes(LIMIT + 1), codec)
    assert len(bomb) < LIMIT / 15
    with pytest.raises(CorruptRecords):
        decompress(bomb, codec, LIMIT)
    assert len(decompress(compress(bytes(LIMIT), codec), codec, LIMIT)) == LIMIT


def test_a_codec_that_does_not_exist_is_corrupt() -> None:
    with pytest.raises(CorruptRecords, match="no compression has the number 7"):
        decompress(b"x", 7)


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cramjam", None)
    assert decompress(b"plain", Compression.NONE) == b"plain"
    with pytest.raises(LibraryMissing, match=r"pip install 'tidegauge\[serve\]'"):
        decompress(b"x", Compression.GZIP)
