"""Short ways through a metadata log: they read what the long way reads, and refuse what it does."""

import io
from random import Random

import pytest

from emulator.wire.exceptions import CorruptRecords, MalformedFrame
from emulator.wire.metadata import batches as module
from emulator.wire.metadata.batches import (
    MetadataBatch,
    NotMetadata,
    Torn,
    decode_batch,
    read_batches,
)
from emulator.wire.metadata.codec import encode_value
from emulator.wire.metadata.messages import NoOpRecord, PartitionChangeRecord, TopicRecord
from emulator.wire.records.record import Header, Record
from emulator.wire.records.record_batch import build, read_header
from emulator.wire.types import Message

IDLE = encode_value(NoOpRecord(), 0)
IDLE_BYTES = 72


def idle(offset: int, time_ms: int, epoch: int = 1) -> bytes:
    return build([Record(None, IDLE, time_ms)], base_offset=offset, leader_epoch=epoch)


def log(draw: Random, size: int) -> bytes:
    """Runs of no-ops between other records; epochs change, and the clock goes back once."""
    parts, offset, epoch = [], 0, 1
    while offset < size:
        for _ in range(draw.choice((1, 2, 3, 50))):
            parts.append(idle(offset, 1_000 * offset, epoch))
            offset += 1
        epoch += draw.random() < 0.2
        if draw.random() < 0.5:
            value = encode_value(TopicRecord(f"t{offset}", bytes(16)), 0)
            parts.append(build([Record(None, value, 5)], base_offset=offset, leader_epoch=epoch))
            offset += 1
    return b"".join(parts)


def apart(batches: list[MetadataBatch | Torn]) -> list[tuple[int, int, Message]]:
    return [
        (offset, batch.leader_epoch, record)
        for batch in batches
        if isinstance(batch, MetadataBatch)
        for offset, record in enumerate(batch.records, batch.base_offset)
    ]


@pytest.mark.parametrize("piece", [100, 1 << 18])
def test_joined_runs_have_the_same_records(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE_BYTES", piece)
    data = log(Random(piece), 1_000)
    each = list(read_batches(io.BytesIO(data).read))
    joined = list(read_batches(io.BytesIO(data).read, joins_idle=True))
    assert apart(joined) == apart(each)
    assert sum(batch.batches for batch in joined if isinstance(batch, MetadataBatch)) == len(each)
    if piece > 100:
        assert len(joined) < len(each) / 3
        longest = max(joined, key=lambda batch: getattr(batch, "batches", 0))
        assert isinstance(longest, MetadataBatch)
        assert longest.timestamp == 1_000 * (longest.base_offset + longest.batches - 1)
        assert longest.since(longest.base_offset + 3).records == longest.records[3:]


def test_a_run_ends_before_a_damaged_batch_a_gap_or_a_clock_that_goes_back() -> None:
    whole = [idle(offset, 1_000 * offset) for offset in range(10)]
    damaged = bytearray(b"".join(whole))
    damaged[4 * IDLE_BYTES + 30] ^= 1
    stream = read_batches(io.BytesIO(damaged).read, joins_idle=True)
    first = next(stream)
    assert isinstance(first, MetadataBatch)
    assert first.batches == 4
    with pytest.raises(CorruptRecords, match="at byte 288 is damaged"):
        next(stream)
    for other in (idle(11, 4_000), idle(4, 10), idle(4, 4_000, epoch=2)):
        data = b"".join([*whole[:4], other, *whole[5:]])
        runs = list(read_batches(io.BytesIO(data).read, joins_idle=True))
        assert next(getattr(run, "batches", 0) for run in runs) == 4
        assert apart(runs) == apart(list(read_batches(io.BytesIO(data).read)))


def outcome(batch: bytes) -> object:
    try:
        return decode_batch(batch)
    except (CorruptRecords, MalformedFrame) as error:
        return type(error)


def test_whatever_a_byte_becomes_records_are_read_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = Random(3)
    change = encode_value(PartitionChangeRecord(7, bytes(range(16)), [1, 2], 1), 2)
    long = encode_value(TopicRecord("t" * 9_000, bytes(16)), 0)
    plain = [Record(None, change, 1_000 + number) for number in range(150)]
    odd = [Record(b"k", change, 5), Record(None, None, 5), Record(None, b"x", 5)]
    odd += [Record(None, change, 5, (Header("h", b"v"),)), Record(None, long, 5)]
    built = [build(plain, base_offset=3), *(build([*plain[:3], record]) for record in odd)]
    whole, *others = map(outcome, built)
    assert isinstance(whole, MetadataBatch)
    assert len(whole.records) == 150
    assert others[:3] == [NotMetadata] * 3
    assert [len(other.records) for other in others[3:] if isinstance(other, MetadataBatch)] == [
        4,
        4,
    ]
    monkeypatch.setattr(module, "check", read_header)  # the checksum would refuse all
    mutants = []
    for batch in built:
        for _ in range(300):
            mutant = bytearray(batch)
            mutant[draw.randrange(57, len(batch))] = draw.randrange(256)
            mutants.append(bytes(mutant))
    results = [outcome(batch) for batch in mutants]
    assert sum(isinstance(result, MetadataBatch) for result in results) > 100
