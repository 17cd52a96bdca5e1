"""Where batches stand: after a snapshot, in epochs, at offsets."""

from msgspec.structs import replace

from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.control_records import (
    LeaderChangeMessage,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
)
from emulator.wire.types import Message
from tests.emulator.quorum_controller.explanation.made import TOPIC, Log, cluster
from tests.emulator.quorum_controller.explanation.recorded import unexplained


def fenced(epoch: int) -> tuple[Message, ...]:
    """Broker 1, whose broker epoch that is, is fenced."""
    change = wire.PartitionChangeRecord(0, TOPIC, isr=[2], leader=2)
    return change, wire.BrokerRegistrationChangeRecord(1, epoch, 1)


def reasons(log: Log) -> list[str]:
    return [each.because for each in unexplained(log.batches, "3.9.2")]


def test_a_snapshot_does_not_tell_when_brokers_were_heard_of() -> None:
    snapshot = Log(between_ms=100).add(SnapshotHeaderRecord(), is_control=True)
    snapshot = cluster(1, snapshot).add(SnapshotFooterRecord(), is_control=True)
    assert reasons(snapshot.add(*fenced(3))) == []
    (reason,) = reasons(cluster(1, Log(between_ms=100)).add(*fenced(2)))[-1:]
    assert "after the controller heard of it" in reason


def test_offsets_follow_each_other() -> None:
    log = cluster(1)
    log.offset += 3
    assert reasons(log.add(wire.NoOpRecord())) == ["the offset after the last batch is 8"]


def test_an_epoch_has_one_leader_and_does_not_come_back() -> None:
    log = cluster(1).add(LeaderChangeMessage(leader_id=101), is_control=True)
    assert reasons(log) == ["a controller was elected for epoch 1 before"]
    log.batches[-1] = replace(log.batches[-1], leader_epoch=2)
    assert reasons(log) == []
    assert reasons(log.add(wire.NoOpRecord())) == ["epoch 2 has begun, and this was written in 1"]
    log.batches[-1] = replace(log.batches[-1], leader_epoch=3)
    assert reasons(log) == ["no controller was elected for epoch 3"]
