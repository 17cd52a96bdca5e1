"""What hosts send each other: every message survives a codec and tells its partitions."""

import msgspec
import pytest

from emulator import protocol as messages
from emulator.protocol import controller as control
from emulator.protocol import fetch as replication
from emulator.protocol import message as base
from emulator.protocol import metadata
from emulator.protocol import produce as clients
from emulator.protocol import zookeeper as coordination
from emulator.protocol.message import Message
from emulator.protocol.record_batch import RecordBatch

MODULES = (base, clients, control, coordination, metadata, replication)
KINDS = [
    kind
    for kind in vars(messages).values()
    if isinstance(kind, type) and issubclass(kind, Message) and kind is not Message
]


def test_every_module_of_messages_is_part_of_the_vocabulary() -> None:
    known = {kind.__module__ for kind in KINDS}
    assert {module.__name__ for module in MODULES} <= known


def test_a_fetch_tells_the_offset_and_epoch_of_each_partition() -> None:
    asked = {"t-0": replication.FetchPartition(5, 2, 1)}
    assert replication.FetchRequest(1, 500_000, asked).detail() == [["t-0", 5, 2]]


def test_a_fetch_response_tells_high_watermark_first_offset_and_count() -> None:
    batch = RecordBatch(5, 3, 2, 9)
    rows = {
        "t-0": replication.FetchedPartition("NONE", 4, 0, [batch]),
        "t-1": replication.FetchedPartition("FENCED_LEADER_EPOCH", -1, -1, []),
    }
    told = replication.FetchResponse(7, rows).detail()
    assert told == [["t-0", 4, 5, 3], ["t-1", -1, -1, 0, "FENCED_LEADER_EPOCH"]]


def test_a_batch_ends_after_its_last_record() -> None:
    assert RecordBatch(5, 3, 2, 9).end_offset == 8


@pytest.mark.parametrize(
    "message",
    [
        metadata.MetadataRequest("t"),
        coordination.ZkPing(7),
        base.ConnectionLost(2, 5),
        base.Timer("checkpoint", "", 3),
        control.LeaderAndIsrResponse(4, 1, "NONE", {"t-0": "STALE_CONTROLLER_EPOCH"}),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_is_the_same_after_a_codec(message: Message) -> None:
    encoded = msgspec.msgpack.encode(message)
    assert msgspec.msgpack.decode(encoded, type=messages.AnyMessage) == message
