"""Consumer groups on their coordinator, beyond what real brokers were asked."""

from emulator.coordinator.consumer_group_manager import ConsumerGroupManager
from emulator.coordinator.consumer_groups.group import ConsumerGroup
from emulator.coordinator.groups import Store
from emulator.coordinator.modern_group_manager import copied
from emulator.events import GroupConverted, GroupEpochBumped, GroupRecordsWritten, MemberLeft
from emulator.protocol import (
    ConsumerGroupHeartbeatRequest,
    LeaveGroupRequest,
    ProduceResponse,
)
from tests.emulator.coordinator.bench import Bench


def bench_with(*members: str) -> Bench:
    """A consumer group of static members, each with its name as its instance id too."""
    bench = Bench("4.2", group_consumer_migration_policy="bidirectional")
    for name in members:
        joining = ConsumerGroupHeartbeatRequest(
            "g",
            name,
            0,
            topics=["t"],
            client=name,
            instance_id=name,
            rebalance_timeout_ms=60_000,
            owned={},
        )
        assert bench.ask(joining).error == "NONE"
    return bench


def test_members_that_leave_together_take_one_epoch() -> None:
    bench = bench_with("a", "b", "c")
    seen = bench.lab.seen
    bumps, writes = len(seen.of(GroupEpochBumped)), len(seen.of(GroupRecordsWritten))
    leaving = LeaveGroupRequest("g", "", "a", [("x", ""), ("", "b"), ("x", "c"), ("", "a")])
    told = bench.ask(leaving)
    refused = ["UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"]
    assert told.errors == ["NONE", refused[0], "NONE", refused[1], "NONE"]
    assert told.error == refused[0]
    (bump,) = seen.of(GroupEpochBumped)[bumps:]
    assert (bump.generation, bump.reason) == (bench.group().generation, "a, b: left")
    assert len(seen.of(GroupRecordsWritten)) == writes + 1
    assert [event.member for event in seen.of(MemberLeft)] == ["a", "b"]
    consumer = bench.group().consumer
    assert consumer is not None
    assert (list(consumer.members), list(consumer.target)) == (["c"], ["c"])
    assert isinstance(bench.lab.cluster.brokers[0].core.coordinator.consumers, ConsumerGroupManager)


def test_nothing_is_written_if_nobody_leaves() -> None:
    bench = bench_with("a")
    writes = len(bench.lab.seen.of(GroupRecordsWritten))
    assert (
        bench.ask(LeaveGroupRequest("g", "x", "", [("y", "")])).errors == ["UNKNOWN_MEMBER_ID"] * 2
    )
    assert len(bench.lab.seen.of(GroupRecordsWritten)) == writes


def test_a_group_becomes_classic_as_the_others_leave_together() -> None:
    bench = bench_with("a", "b")
    joined = bench.response_to(bench.join("c"))
    joined = bench.response_to(bench.join("c", joined.member_id))
    assert joined.error == "NONE"
    bumps = len(bench.lab.seen.of(GroupEpochBumped))
    assert bench.ask(LeaveGroupRequest("g", "", "a", [("", "b")])).error == "NONE"
    (converted,) = bench.lab.seen.of(GroupConverted)
    assert (converted.protocol, converted.reason) == ("classic", "a, b: left")
    assert len(bench.lab.seen.of(GroupEpochBumped)) == bumps
    assert list(bench.group().members) == [joined.member_id]


def test_a_replicated_write_is_none_that_failed_though_too_few_replicas_are_left() -> None:
    bench = bench_with("a")
    metadata = bench.lab.cluster.brokers[0].core.coordinator.offsets
    group = bench.group()
    assert isinstance(group.consumer, ConsumerGroup)
    epoch, before = group.generation, copied(group.consumer)
    before.epoch = 0
    for error, left in (("NOT_ENOUGH_REPLICAS_AFTER_APPEND", epoch), ("NOT_ENOUGH_REPLICAS", 0)):
        metadata.state.stores[99] = Store("g", before=before)
        metadata.stored(99, ProduceResponse(99, "__consumer_offsets-0", error, -1))
        assert bench.group().generation == left
