"""Batches of format 2 against kafka-python's, and damaged in every way."""

import struct

import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import ControlRecord
from kafka.record.memory_records import MemoryRecords

from emulator.wire.exceptions import CorruptRecords, InvalidRecords, WireError
from emulator.wire.records import record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.record import Header, Record, TimestampType
from emulator.wire.records.record_batch import Producer
from tests.emulator.wire.records.random_records import (
    CODECS,
    at_offsets,
    built_by_kafka_python,
    read_by_kafka_python,
    records,
)

ORDERS = [
    Record(b"k", b"paid", 1_700_000_000_000, (Header("trace", b"1"), Header("null", None))),
    Record(None, b"shipped", 1_700_000_000_007, (), 1),
]


@given(records())
def test_bytes_are_those_that_kafka_python_builds(found: list[Record]) -> None:
    assert record_batch.build(found, leader_epoch=0) == built_by_kafka_python(
        found, 2, Compression.NONE
    )


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=20)
@given(found=records())
def test_records_of_kafka_python_are_read(codec: Compression, found: list[Record]) -> None:
    assert record_batch.decode(built_by_kafka_python(found, 2, codec)) == found


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=20)
@given(found=records(), base_offset=st.integers(0, 2**50))
def test_kafka_python_reads_our_records(
    codec: Compression, found: list[Record], base_offset: int
) -> None:
    batch = record_batch.build(found, base_offset=base_offset, compression=codec)
    assert read_by_kafka_python(batch) == at_offsets(found, base_offset)
    assert record_batch.decode(batch) == at_offsets(found, base_offset)


def test_the_header_says_what_was_built() -> None:
    batch = record_batch.build(
        ORDERS,
        base_offset=40,
        leader_epoch=3,
        producer=Producer(1000, 5, 2**31 - 1),
        compression=Compression.GZIP,
        is_transactional=True,
    )
    header = record_batch.check(batch)
    assert header.size_bytes == len(batch)
    assert (header.base_offset, header.last_offset, header.count) == (40, 41, 2)
    assert (header.leader_epoch, header.magic, header.compression) == (3, 2, 1)
    assert (header.producer_id, header.producer_epoch) == (1000, 5)
    assert (header.base_sequence, header.last_sequence) == (2**31 - 1, 0)
    assert (header.base_timestamp, header.max_timestamp) == (1_700_000_000_000, 1_700_000_000_007)
    assert (header.is_transactional, header.is_control) == (True, False)


def test_the_leader_sets_offset_and_epoch_outside_of_the_checksum() -> None:
    batch = record_batch.build(ORDERS)
    placed = record_batch.place(batch, 17, 4)
    assert placed[16:] == batch[16:]
    header = record_batch.check(placed)
    assert (header.base_offset, header.leader_epoch) == (17, 4)
    assert read_by_kafka_python(placed) == at_offsets(ORDERS, 17)


def test_log_append_time_replaces_every_timestamp() -> None:
    batch = record_batch.with_log_append_time(record_batch.build(ORDERS), 1_800_000_000_000)
    assert record_batch.check(batch).timestamp_type is TimestampType.LOG_APPEND_TIME
    found = record_batch.decode(batch)
    assert [record.timestamp for record in found] == [1_800_000_000_000] * 2
    assert found == read_by_kafka_python(batch)


@pytest.mark.parametrize("commit", [True, False])
def test_kafka_python_reads_the_marker_that_ends_a_transaction(*, commit: bool) -> None:
    marker = record_batch.end_transaction_marker(
        Producer(1000, 5), commit=commit, timestamp=7, coordinator_epoch=2, base_offset=9
    )
    batch = MemoryRecords(marker).next_batch()
    assert batch is not None
    assert (batch.is_control_batch, batch.is_transactional, batch.producer_id) == (True, True, 1000)
    (record,) = batch
    assert isinstance(record, ControlRecord)
    assert (record.offset, record.commit, record.abort) == (9, commit, not commit)


@pytest.mark.parametrize("at", range(8, len(record_batch.build(ORDERS))))
def test_every_damaged_byte_is_noticed(at: int) -> None:
    batch = bytearray(record_batch.build(ORDERS))
    batch[at] ^= 0x40
    if 12 <= at < 16:  # the leader epoch, which the checksum leaves out
        assert record_batch.check(bytes(batch)).leader_epoch != -1
        return
    with pytest.raises(CorruptRecords):
        record_batch.check(bytes(batch))


@given(st.integers(0, len(record_batch.build(ORDERS)) - 1))
def test_a_cut_batch_is_corrupt(end: int) -> None:
    with pytest.raises(CorruptRecords):
        record_batch.check(record_batch.build(ORDERS)[:end])


@settings(max_examples=400)
@given(st.sampled_from(CODECS), st.data())
def test_damaged_records_with_a_right_checksum_raise_only_wire_errors(
    codec: Compression, data: st.DataObject
) -> None:
    batch = bytearray(record_batch.build(ORDERS, compression=codec))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(21, len(batch) - 1))
        batch[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    try:
        found = record_batch.decode(bytes(batch))
    except WireError:
        return
    assert len(found) == record_batch.read_header(bytes(batch)).count


def with_field(batch: bytes, at: int, code: str, value: int) -> bytes:
    """The batch with another value of one field, and a right checksum."""
    changed = bytearray(batch)
    struct.pack_into(code, changed, at, value)
    changed[17:21] = struct.pack(">I", crc32c(bytes(changed[21:])))
    return bytes(changed)


@pytest.mark.parametrize(
    ("at", "code", "value", "why"),
    [
        (57, ">i", 0, "with 0 records"),
        (57, ">i", 1_000_000_000, "whose last offset delta is 1"),
        (23, ">i", 5, "whose last offset delta is 5"),
        (21, ">h", 0x20, "a control batch"),
        (21, ">h", 0x10, "a transactional batch without a producer id"),
    ],
)
def test_what_producers_do_not_send_is_not_appended(
    at: int, code: str, value: int, why: str
) -> None:
    batch = with_field(record_batch.build(ORDERS), at, code, value)
    record_batch.check(batch)
    with pytest.raises(InvalidRecords, match=why):
        record_batch.check_produced(batch)


def test_a_count_that_the_batch_does_not_have_is_corrupt() -> None:
    with pytest.raises(CorruptRecords, match="record 2 of 2000000000"):
        record_batch.decode(with_field(record_batch.build(ORDERS), 57, ">i", 2_000_000_000))


def test_bytes_after_the_records_are_corrupt() -> None:
    with pytest.raises(CorruptRecords, match="bytes are left after 1 records"):
        record_batch.decode(with_field(record_batch.build(ORDERS), 57, ">i", 1))


def test_a_batch_has_a_record() -> None:
    with pytest.raises(InvalidRecords):
        record_batch.build([])
