"""What a broker does with records of any format."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.wire.exceptions import CorruptRecords, InvalidRecords, UnsupportedCompression
from emulator.wire.records import memory_records, record_batch
from emulator.wire.records.compression import Compression
from emulator.wire.records.memory_records import Summary
from emulator.wire.records.record import Header, Record
from emulator.wire.records.record_batch import Producer
from tests.emulator.wire.records.random_records import at_offsets, read_by_kafka_python, records

PAIR = [Record(b"a", b"1", 5, (Header("h", b"x"),)), Record(None, b"2", 9, offset=1)]
OLD_CODECS = [Compression.NONE, Compression.GZIP, Compression.SNAPPY]


@pytest.mark.parametrize("magic", memory_records.FORMATS)
def test_a_summary_says_what_a_broker_must_know(magic: int) -> None:
    for codec in OLD_CODECS:
        data = memory_records.build(PAIR, magic, compression=codec)
        latest = 9 if magic else -1
        found = memory_records.check_produced(data)
        assert found == Summary(magic, 2, len(data), latest, codec)


def test_a_summary_names_the_producer() -> None:
    data = record_batch.build(PAIR, producer=Producer(7, 1, 30), is_transactional=True)
    assert memory_records.check_produced(data) == Summary(2, 2, len(data), 9, 0, 7, 1, 30, True)


BATCH = record_batch.build(PAIR)


@pytest.mark.parametrize(
    "data",
    [b"", BATCH + BATCH, BATCH[:-1], BATCH[:61], memory_records.build(PAIR, 1)],
    ids=["none", "two", "cut", "header", "message set"],
)
def test_a_producer_sends_one_batch_a_partition(data: bytes) -> None:
    with pytest.raises(InvalidRecords, match="exactly one batch"):
        memory_records.check_version(data, 3)


def test_old_producers_may_send_any_format() -> None:
    for magic in memory_records.FORMATS:
        memory_records.check_version(memory_records.build(PAIR, magic), 2)


def test_zstd_is_for_produce_7_and_newer() -> None:
    batch = record_batch.build(PAIR, compression=Compression.ZSTD)
    memory_records.check_version(batch, 7)
    assert memory_records.check_produced(batch).compression == Compression.ZSTD
    with pytest.raises(UnsupportedCompression, match="Produce 6 has no zstd"):
        memory_records.check_version(batch, 6)


@pytest.mark.parametrize("data", [b"", bytes(16), bytes(16) + b"\3", bytes(16) + b"\2" + bytes(60)])
def test_what_are_no_records_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptRecords):
        memory_records.check_produced(data)


@pytest.mark.parametrize("magic", memory_records.FORMATS)
def test_records_are_placed_one_after_the_other(magic: int) -> None:
    batch = memory_records.build(PAIR, magic)
    placed = memory_records.place(batch + batch, 100, 3)
    assert [record.offset for record in read_by_kafka_python(placed)] == [100, 101, 102, 103]
    assert memory_records.decode(placed) == read_by_kafka_python(placed)


@settings(max_examples=30)
@given(st.data(), st.sampled_from(OLD_CODECS), st.sampled_from([0, 1]))
def test_old_clients_get_new_records_without_what_their_format_lacks(
    data: st.DataObject, codec: Compression, magic: int
) -> None:
    found = data.draw(records())
    batch = record_batch.build(found, base_offset=50, compression=codec)
    converted = memory_records.convert(batch, magic)
    assert memory_records.magic_of(converted) == magic
    assert read_by_kafka_python(converted) == [
        Record(record.key, record.value, record.timestamp if magic else -1, (), record.offset)
        for record in at_offsets(found, 50)
    ]


@settings(max_examples=30)
@given(st.data(), st.sampled_from(OLD_CODECS), st.sampled_from([(0, 1), (0, 2), (1, 2), (1, 0)]))
def test_records_of_old_clients_fit_the_format_of_the_log(
    data: st.DataObject, codec: Compression, magics: tuple[int, int]
) -> None:
    old, new = magics
    found = data.draw(records(old))
    converted = memory_records.convert(memory_records.build(found, old, 7, codec), new)
    assert memory_records.magic_of(converted) == new
    expected = [
        Record(r.key, r.value, r.timestamp if new else -1, offset=r.offset)
        for r in at_offsets(found, 7)
    ]
    assert read_by_kafka_python(converted) == expected
    if new == record_batch.MAGIC:
        assert len(memory_records.split(converted)) == 1


def test_control_batches_are_not_for_old_clients() -> None:
    marker = record_batch.end_transaction_marker(
        Producer(7, 1), commit=True, timestamp=1, coordinator_epoch=0, base_offset=2
    )
    assert memory_records.convert(marker, 1) == b""
    assert memory_records.convert(marker, 2) == marker


def test_zstd_cannot_be_given_to_old_clients() -> None:
    batch = record_batch.build(PAIR, compression=Compression.ZSTD)
    with pytest.raises(UnsupportedCompression):
        memory_records.convert(batch, 1)


def test_no_records_are_no_records() -> None:
    assert memory_records.decode(b"") == []
    assert memory_records.convert(b"", 1) == b""
    assert memory_records.split(b"") == []
