"""Message sets of formats 0 and 1 against kafka-python's."""

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.wire.exceptions import CorruptRecords, UnsupportedCompression, WireError
from emulator.wire.records import message_set
from emulator.wire.records.compression import Compression, compress
from emulator.wire.records.record import Record, TimestampType
from tests.emulator.wire.records.random_records import (
    at_offsets,
    built_by_kafka_python,
    read_by_kafka_python,
    records,
)

# LZ4 in format 0 has a header checksum of its own kind (KAFKA-3160), which libraries do not write.
FORMATS = [
    (0, Compression.NONE),
    (0, Compression.GZIP),
    (0, Compression.SNAPPY),
    (1, Compression.NONE),
    (1, Compression.GZIP),
    (1, Compression.SNAPPY),
    (1, Compression.LZ4),
]
every_format = pytest.mark.parametrize(("magic", "codec"), FORMATS)
PAIR = [Record(b"a", b"1", 5), Record(None, None, 9, offset=1)]


@pytest.mark.parametrize("magic", [0, 1])
@given(data=st.data())
def test_bytes_are_those_that_kafka_python_builds(magic: int, data: st.DataObject) -> None:
    found = data.draw(records(magic))
    assert message_set.build(found, magic) == built_by_kafka_python(found, magic, Compression.NONE)


@every_format
@settings(max_examples=20)
@given(data=st.data())
def test_records_of_kafka_python_are_read(
    magic: int, codec: Compression, data: st.DataObject
) -> None:
    found = data.draw(records(magic))
    placed = message_set.place(built_by_kafka_python(found, magic, codec), 0)
    assert message_set.decode(placed) == found


@every_format
@settings(max_examples=20)
@given(data=st.data(), base_offset=st.integers(0, 2**50))
def test_kafka_python_reads_our_records_where_the_leader_put_them(
    magic: int, codec: Compression, data: st.DataObject, base_offset: int
) -> None:
    found = data.draw(records(magic))
    placed = message_set.place(message_set.build(found, magic, codec), base_offset)
    assert read_by_kafka_python(placed) == at_offsets(found, base_offset)
    assert message_set.decode(placed) == at_offsets(found, base_offset)


def test_a_wrapper_of_format_1_keeps_its_bytes_where_it_is_placed() -> None:
    built = message_set.build(PAIR, 1, Compression.GZIP)
    placed = message_set.place(built, 40)
    assert placed[8:] == built[8:]
    assert struct.unpack_from(">q", placed) == (41,)


def test_the_brokers_time_in_a_wrapper_holds_for_all_messages_in_it() -> None:
    built = message_set.build(PAIR, 1, Compression.GZIP, TimestampType.LOG_APPEND_TIME)
    assert [record.timestamp for record in message_set.decode(built)] == [9, 9]
    assert read_by_kafka_python(built) == message_set.decode(built)


def test_there_is_no_zstd_in_these_formats() -> None:
    with pytest.raises(UnsupportedCompression, match="format 1 has no zstd"):
        message_set.build(PAIR, 1, Compression.ZSTD)


@every_format
@given(data=st.data())
def test_damage_raises_only_wire_errors(
    magic: int, codec: Compression, data: st.DataObject
) -> None:
    damaged = bytearray(message_set.build(PAIR, magic, codec))
    second = 12 + int.from_bytes(damaged[8:12], "big")
    offsets = {*range(8), *range(second, second + 8)}  # which no checksum covers
    at = data.draw(st.sampled_from(sorted({*range(len(damaged))} - offsets)))
    damaged[at] ^= data.draw(st.integers(1, 255))
    with pytest.raises(WireError):
        message_set.decode(bytes(damaged))


@every_format
@given(data=st.data())
def test_a_cut_set_is_corrupt(magic: int, codec: Compression, data: st.DataObject) -> None:
    whole = message_set.build(PAIR, magic, codec)
    first = 12 + int.from_bytes(whole[8:12], "big")
    end = data.draw(st.integers(1, len(whole) - 1).filter(lambda end: end != first))
    with pytest.raises(CorruptRecords):
        message_set.decode(whole[:end])


def test_a_wrapper_in_a_wrapper_is_corrupt() -> None:
    inner = message_set.build(PAIR, 1, Compression.GZIP)
    entry = next(message_set.read_entries(inner))
    twice = message_set.build([Record(None, compress(inner, Compression.GZIP))], 1)
    assert entry.compression == Compression.GZIP
    wrapped = bytearray(twice)
    wrapped[17] = Compression.GZIP
    wrapped[12:16] = struct.pack(">I", zlib.crc32(bytes(wrapped[16:])))
    with pytest.raises(CorruptRecords, match="within another"):
        message_set.decode(bytes(wrapped))


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_log_append_time_replaces_every_timestamp_of_format_1(codec: Compression) -> None:
    produced = message_set.build(PAIR, 1, codec)
    stamped = message_set.with_log_append_time(produced, 1_800_000_000_000)
    (first, last) = read_by_kafka_python(stamped)
    assert (first.timestamp, last.timestamp) == (1_800_000_000_000, 1_800_000_000_000)
    assert [entry.timestamp_type for entry in message_set.read_entries(stamped)] == [
        TimestampType.LOG_APPEND_TIME
    ] * (1 if codec else 2)
    assert [(each.key, each.value) for each in message_set.decode(stamped)] == [
        (b"a", b"1"),
        (None, None),
    ]


def test_format_0_has_no_time_of_the_broker() -> None:
    produced = message_set.build([Record(b"a", b"1")], 0)
    assert message_set.with_log_append_time(produced, 1_800_000_000_000) == produced
