"""The records of a metadata log: declared as Kafka declares them, read and written back alike."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.wire.exceptions import CorruptRecords, MalformedFrame
from emulator.wire.metadata.batches import (
    MetadataBatch,
    NotMetadata,
    Torn,
    decode_batch,
    read_batches,
)
from emulator.wire.metadata.codec import RECORD_TYPES, UnknownRecord, decode_value, encode_value
from emulator.wire.metadata.control_records import (
    CONTROL_RECORDS,
    VotersRecord,
    decode_control_record,
    encode_control_record,
)
from emulator.wire.metadata.messages import NoOpRecord, TopicRecord
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import build, decode
from emulator.wire.schema import Array, Field, fields_of
from emulator.wire.types import Message, Number, Sized
from tests.emulator.wire.random_messages import messages

DECLARED: dict[str, Any] = json.loads(Path(__file__).with_name("kafka-4.4.0.json").read_text())
"""The fields of each record as Kafka's own declarations say: name, type, versions, versions in
which it is nullable, tag, default, and the fields of a nested structure."""
LOG = (
    Path(__file__).parents[3]
    / "sessions/own_cluster/recordings/kraft-4.1.2/06/metadata/00000000000000000000.log"
)
TYPES = {"?": "bool", "b": "int8", "h": "int16", "H": "uint16", "i": "int32", "q": "int64"} | {
    "d": "float64",
    "16s": "uuid",
}
VERSIONS = [
    (each.message, version) for each in RECORD_TYPES.values() for version in range(each.newest + 1)
]


def described(field: Field) -> list[Any]:
    kind, prefix = field.kind, ""
    if isinstance(kind, Array):
        kind, prefix = kind.item, "[]"
    nested = None
    if isinstance(kind, Number):
        name = TYPES[kind.code]
    elif isinstance(kind, Sized):
        name = kind.value
    else:
        assert isinstance(kind, type)
        name, nested = kind.__name__, [described(each) for each in fields_of(kind)]
    versions = f"{field.versions.first}+"
    nullable = (
        "" if field.nullable_since is None else max(field.nullable_since, field.versions.first)
    )
    row: list[Any] = [
        field.name.replace("_", ""),
        prefix + name,
        versions,
        f"{nullable}+" if nullable != "" else "",
        field.tag,
    ]
    return row if nested is None else [*row, nested]


def expected(row: list[Any]) -> list[Any]:
    name, kind, versions, nullable, tag, _, *nested = row
    found = [name.lower(), kind, versions, nullable, tag]
    return [*found, [expected(each) for each in nested[0]]] if nested else found


@pytest.mark.parametrize("key", RECORD_TYPES, ids=lambda key: RECORD_TYPES[key].message.__name__)
def test_every_record_is_declared_as_kafka_declares_it(key: int) -> None:
    found = RECORD_TYPES[key]
    declared = DECLARED[found.message.__name__]
    assert declared["apiKey"] == key
    assert int(declared["validVersions"].rpartition("-")[2]) == found.newest
    assert [described(field) for field in fields_of(found.message)] == [
        expected(row) for row in declared["fields"]
    ]


def test_no_record_of_kafka_is_missing() -> None:
    assert {each.message.__name__ for each in RECORD_TYPES.values()} == DECLARED.keys()


@pytest.mark.parametrize(
    ("message", "version"), VERSIONS, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_any_record_of_any_version_comes_back(message: type[Message], version: int) -> None:
    @given(messages(message, version))
    def comes_back(record: Message) -> None:
        assert decode_value(encode_value(record, version)) == (record, version)

    comes_back()


def test_a_recorded_log_is_read_to_its_last_byte_and_written_back_the_same() -> None:
    data, at, types = LOG.read_bytes(), 0, set()
    for batch in read_batches(io.BytesIO(data).read):
        assert isinstance(batch, MetadataBatch)
        size = int.from_bytes(data[at + 8 : at + 12], "big") + 12
        for raw, record, version in zip(
            decode(data[at : at + size]), batch.records, batch.versions, strict=True
        ):
            types.add(type(record).__name__)
            if batch.is_control:
                assert encode_control_record(record) == (raw.key, raw.value)
            else:
                assert encode_value(record, version) == raw.value
        at += size
    assert at == len(data)
    assert types >= {"PartitionRecord", "PartitionChangeRecord", "RegisterBrokerRecord"}


@given(st.integers(1, 400))
def test_what_is_whole_before_a_torn_end_is_read(cut: int) -> None:
    data = LOG.read_bytes()
    *batches, last = read_batches(io.BytesIO(data[:-cut]).read)
    if isinstance(last, Torn):
        assert last.at + last.size == len(data) - cut
    assert batches == list(read_batches(io.BytesIO(data).read))[: len(batches)]
    assert len(batches) > 100


def test_a_last_batch_with_a_wrong_checksum_is_torn_and_an_earlier_one_is_damage() -> None:
    data = bytearray(LOG.read_bytes())
    data[-1] ^= 1
    *_, last = read_batches(io.BytesIO(data).read)
    assert isinstance(last, Torn)
    data[70] ^= 1
    with pytest.raises(CorruptRecords, match="batch at byte"):
        list(read_batches(io.BytesIO(data).read))


def test_a_preallocated_file_ends_in_zeros() -> None:
    data = LOG.read_bytes()
    padded = list(read_batches(io.BytesIO(data + bytes(100_000)).read))
    assert padded == list(read_batches(io.BytesIO(data).read))


def test_the_log_of_another_partition_is_told_apart() -> None:
    for record in (Record(b"k", b"\1\x02\0"), Record(None, b"paid"), Record(None, None)):
        with pytest.raises(NotMetadata):
            decode_batch(build([record]))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"\x01\x3f\x00", UnknownRecord),
        (b"\x01\x02\x09", UnknownRecord),
        (b"\x01\x02", MalformedFrame),
        (b"\x02\x02\x00", MalformedFrame),
        (encode_value(NoOpRecord(), 0) + b"x", MalformedFrame),
        (encode_value(TopicRecord("t"), 0)[:-3], MalformedFrame),
    ],
)
def test_a_value_that_is_no_record_is_refused(value: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        decode_value(value)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_unexpected(data: bytes) -> None:
    try:
        decode_value(b"\x01" + data)
        list(read_batches(io.BytesIO(bytes(16) + b"\2" + data).read))
    except (MalformedFrame, CorruptRecords):
        pass


@pytest.mark.parametrize("message", CONTROL_RECORDS.values(), ids=lambda each: each.__name__)
def test_control_records_come_back(message: type[Message]) -> None:
    @given(messages(message, 0))
    def comes_back(record: Message) -> None:
        rest = [getattr(record, name) for name in record.__struct_fields__[1:]]
        written = type(record)(0, *rest)
        assert decode_control_record(*encode_control_record(written)) == written

    comes_back()


def test_an_unknown_control_record_is_refused() -> None:
    with pytest.raises(MalformedFrame, match="unknown type 9"):
        decode_control_record(b"\0\0\0\x09", b"\0\0")
    with pytest.raises(MalformedFrame, match="too early"):
        decode_control_record(*encode_control_record(VotersRecord())[:1], b"\0")
