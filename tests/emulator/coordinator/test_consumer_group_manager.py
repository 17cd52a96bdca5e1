"""Consumer groups on their coordinator, beyond what real brokers were asked."""

from emulator.coordinator.consumer_group_manager import ConsumerGroupManager
from emulator.coordinator.consumer_groups.group import ConsumerGroup
from emulator.coordinator.groups import Store
from emulator.coordinator.modern_group_manager import copied
from emulator.events import GroupConverted, GroupEpochBumped, GroupRecordsWritten, MemberLeft
from emulator.inputs.statements import CrashBroker, StartBroker
from emulator.protocol import ConsumerGroupHeartbeatRequest, LeaveGroupRequest, ProduceResponse
from tests.emulator.coordinator.bench import Bench


def bench_with(*members: str, brokers: int = 1, **config: str) -> Bench:
    """A consumer group of static members, each with its name as its instance id too."""
    config["group_consumer_migration_policy"] = "bidirectional"
    bench = Bench("4.2", brokers, 0, (), **config)
    for name in members:
        assert bench.ask(joining(name)).error == "NONE"
    return bench


def joining(name: str) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        "g",
        name,
        0,
        topics=["t"],
        client=name,
        instance_id=name,
        rebalance_timeout_ms=60_000,
        owned={},
    )


def log_end(bench: Bench) -> int:
    log, _ = bench.lab.cluster.brokers[0].core.replica_manager.log_of("__consumer_offsets-0")
    return log.end


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


def test_a_write_waits_for_replicas_however_few_are_in_sync_and_is_not_undone() -> None:
    bench = bench_with("a", brokers=2, min_insync_replicas="2")
    bench.lab.do(CrashBroker(broker=1))
    bench.lab.wait(30_000)
    epoch, end = bench.group().generation, log_end(bench)
    asked = bench.send(joining("b"))
    assert bench.response_to(asked) is None
    assert log_end(bench) > end
    bench.lab.wait(5_000)
    assert bench.response_to(asked).error == "COORDINATOR_NOT_AVAILABLE"
    assert bench.group().generation > epoch
    bench.lab.do(StartBroker(broker=1))
    bench.lab.wait(10_000)
    # The member is there, and has not left: whoever joins again with its instance id is refused.
    assert bench.ask(joining("b")).error == "UNRELEASED_INSTANCE_ID"


def test_a_write_that_is_refused_at_once_is_undone() -> None:
    bench = bench_with("a")
    metadata = bench.lab.cluster.brokers[0].core.coordinator.offsets
    group = bench.group()
    assert isinstance(group.consumer, ConsumerGroup)
    before = copied(group.consumer)
    before.epoch = 0
    metadata.state.stores[99] = Store("g", before=before)
    metadata.stored(99, ProduceResponse(99, "__consumer_offsets-0", "MESSAGE_TOO_LARGE", -1))
    assert bench.group().generation == 0


def test_a_group_whose_first_write_is_refused_at_once_is_not_there() -> None:
    bench = bench_with("a")
    metadata = bench.lab.cluster.brokers[0].core.coordinator.offsets
    group = bench.group()
    assert isinstance(group.consumer, ConsumerGroup)
    metadata.state.stores[99] = Store("g", before=copied(group.consumer), first=True)
    assert metadata.committed(["g"]) == metadata.committed() == {}
    metadata.stored(99, ProduceResponse(99, "__consumer_offsets-0", "MESSAGE_TOO_LARGE", -1))
    assert metadata.group("g") is None
