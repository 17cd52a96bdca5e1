"""Any records, and kafka-python's own builders and readers of them."""

from collections.abc import Sequence

from hypothesis import strategies as st
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

from emulator.wire.records.compression import Compression
from emulator.wire.records.record import Header, Record

CODECS = list(Compression)
BLOB = bytes(range(256)) * 130
"""More than a block of snappy."""

contents = st.none() | st.binary(max_size=20) | st.just(BLOB)
headers = st.lists(
    st.builds(Header, st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3
).map(tuple)


@st.composite
def records(draw: st.DrawFn, magic: int = 2) -> list[Record]:
    found = draw(
        st.lists(
            st.builds(
                Record,
                contents,
                contents,
                st.integers(0, 2**42) if magic else st.just(-1),
                headers if magic == 2 else st.just(()),
            ),
            min_size=1,
            max_size=5,
        )
    )
    return at_offsets(found, 0)


def at_offsets(found: Sequence[Record], base_offset: int) -> list[Record]:
    return [
        Record(r.key, r.value, r.timestamp, r.headers, base_offset + number)
        for number, r in enumerate(found)
    ]


def built_by_kafka_python(found: Sequence[Record], magic: int, codec: Compression) -> bytes:
    builder = MemoryRecordsBuilder(magic, codec, batch_size=10_000_000)
    for record in found:
        pairs = [(header.key, header.value) for header in record.headers]
        timestamp = record.timestamp if magic else None
        assert builder.append(timestamp, record.key, record.value, pairs) is not None
    builder.close()
    return bytes(builder.buffer())


def read_by_kafka_python(data: bytes) -> list[Record]:
    batches = MemoryRecords(data)
    found: list[Record] = []
    while (batch := batches.next_batch()) is not None:
        assert batch.validate_crc()
        found += [
            Record(
                record.key,
                record.value,
                -1 if record.timestamp is None else record.timestamp,
                tuple(Header(key, value) for key, value in record.headers),
                record.offset,
            )
            for record in batch
        ]
    return found
