"""Positions that nobody needed for long: when they are forgotten, and what is left of the group."""

from collections.abc import Sequence

import pytest

from emulator.coordinator.consumer_groups.records import GroupEpochRecord
from emulator.coordinator.groups import Group, Position, Store
from emulator.coordinator.offset_expiry import OffsetExpiration
from emulator.coordinator.records import GroupRecord, OffsetRecord, Record, read
from emulator.events import GroupRecordsWritten, OffsetExpired
from emulator.inputs.statements import CrashBroker, CreateTopic
from emulator.protocol import (
    ConsumerGroupHeartbeatRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    ShareGroupHeartbeatRequest,
    Subscription,
)
from emulator.releases.profiles import VERSIONS
from tests.emulator.coordinator.bench import Bench
from tests.support.generations import since

WITH_GROUPS = since("0.9")
WHEN_EMPTY = since("2.1")
SOME = ["0.9", "0.11", "2.0.1", "2.1", "2.8", VERSIONS[-1]]
JOINED_AT_ONCE = ["0.9", "0.11", "2.0.1", "2.1"]
"""Where a member is in with its first request (before KIP-394)."""


def bench_of(
    version: str, brokers: int = 1, delay_ms: int = 0, topics: Sequence[CreateTopic] = ()
) -> Bench:
    """Positions live for a minute; every ten seconds somebody looks."""
    return Bench(
        version,
        brokers=brokers,
        delay_ms=delay_ms,
        topics=topics,
        offsets_retention_minutes="1",
        offsets_retention_check_interval_ms="10000",
    )


def position(bench: Bench, broker: int = 0) -> int:
    return bench.committed(broker).offsets["t-0"]


def expired(bench: Bench) -> list[tuple[str, str, int]]:
    return [(each.group, each.tp, each.offset) for each in bench.lab.seen.of(OffsetExpired)]


@pytest.mark.parametrize("version", WITH_GROUPS)
def test_a_position_without_a_group_lives_for_its_time_from_its_commit(version: str) -> None:
    bench = bench_of(version)
    assert bench.response_to(bench.commit(5)).error == "NONE"
    bench.lab.wait(59_000)
    assert position(bench) == 5
    bench.lab.wait(11_000)
    assert position(bench) == -1
    assert expired(bench) == [("g", "t-0", 5)]
    assert isinstance(bench.lab.cluster.brokers[0].core.coordinator.expiry, OffsetExpiration)


@pytest.mark.parametrize("version", SOME)
def test_a_position_that_is_committed_again_lives_on(version: str) -> None:
    bench = bench_of(version)
    bench.commit(5)
    bench.lab.wait(40_000)
    bench.commit(6)
    bench.lab.wait(40_000)
    assert position(bench) == 6


@pytest.mark.parametrize("version", JOINED_AT_ONCE)
def test_from_2_1_a_group_with_members_keeps_its_positions(version: str) -> None:
    bench = bench_of(version)
    [member] = bench.stable("a")
    bench.commit(5, member)
    bench.alive(member, milliseconds=72_000)
    assert position(bench) == (5 if version in WHEN_EMPTY else -1)
    assert bench.states()[-1] == "Stable"


def test_from_2_1_the_time_begins_when_the_last_member_goes() -> None:
    bench = bench_of("2.1")
    [member] = bench.stable("a")
    bench.commit(5, member)
    bench.alive(member, milliseconds=30_000)
    bench.leave(member)
    bench.lab.wait(58_000)
    assert position(bench) == 5
    bench.lab.wait(12_000)
    assert position(bench) == -1


@pytest.mark.parametrize("version", JOINED_AT_ONCE)
def test_an_empty_group_without_positions_is_forgotten_too(version: str) -> None:
    bench = bench_of(version)
    [member] = bench.stable("a")
    bench.commit(5, member)
    bench.leave(member)
    bench.lab.wait(72_000)
    assert bench.states()[-1] == "Dead"
    assert bench.lab.cluster.brokers[0].core.coordinator.group("g") is None
    last = bench.lab.seen.of(GroupRecordsWritten)[-1]
    assert last.keys == ["g t-0", "g"]
    assert '"generation":-1' in last.values[1]


@pytest.mark.parametrize("version", JOINED_AT_ONCE)
def test_what_was_forgotten_is_not_loaded_by_the_next_coordinator(version: str) -> None:
    bench = bench_of(version, brokers=2)
    [member] = bench.stable("a")
    bench.commit(5, member)
    bench.leave(member)
    bench.lab.wait(75_000)
    bench.lab.do(CrashBroker(broker=0))
    bench.lab.wait(30_000)
    assert position(bench, broker=1) == -1
    assert bench.lab.cluster.brokers[1].core.coordinator.group("g") is None


@pytest.mark.parametrize("version", SOME)
def test_the_next_coordinator_goes_on_counting_from_the_same_moment(version: str) -> None:
    bench = bench_of(version, brokers=2)
    bench.commit(5)
    bench.lab.wait(20_000)
    bench.lab.do(CrashBroker(broker=0))
    bench.lab.wait(30_000)
    assert position(bench, broker=1) == 5
    bench.lab.wait(25_000)
    assert position(bench, broker=1) == -1


def test_a_commit_that_is_under_way_is_not_forgotten() -> None:
    bench = bench_of("3.9")
    bench.commit(5)
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    group = bench.group()
    group.committed_us["t-0"] = 0
    state.stores[99] = Store("g", offsets={"t-0": 6})
    bench.lab.wait(75_000)
    assert position(bench) == 5
    del state.stores[99]
    bench.lab.wait(11_000)
    assert position(bench) == -1


@pytest.mark.parametrize("version", ["2.1", "2.3", "2.4", "3.9", "4.4"])
def test_from_2_4_a_stable_group_forgets_topics_to_which_no_member_subscribes(version: str) -> None:
    bench = bench_of(version, topics=[CreateTopic(topic="u", assignment=[[0]])])
    if version == "2.1":
        [member] = bench.stable("a")
    else:
        named = bench.response_to(bench.join("a")).member_id
        member = bench.response_to(bench.join("a", named))
        bench.sync(member, a=["t-0"])
    offsets = {"t-0": 5, "u-0": 6}
    answer = bench.ask(OffsetCommitRequest("g", member.generation, member.member_id, offsets))
    assert answer.error == "NONE"
    bench.alive(member, milliseconds=72_000)
    assert bench.states()[-1] == "Stable"
    forgets = version not in ("2.1", "2.3")
    assert expired(bench) == ([("g", "u-0", 6)] if forgets else [])
    assert position(bench) == 5


@pytest.mark.parametrize("version", ["2.3", "2.7", "2.8.1", "2.8.2", "3.1.0", "3.9"])
def test_once_a_group_forgot_topics_while_its_members_joined_again(version: str) -> None:
    bench = bench_of(version, topics=[CreateTopic(topic="u", assignment=[[0]])])
    member = bench.response_to(bench.join("a", bench.response_to(bench.join("a")).member_id))
    bench.sync(member, a=["t-0"])
    offsets = {"t-0": 5, "u-0": 6}
    bench.ask(OffsetCommitRequest("g", member.generation, member.member_id, offsets))
    bench.alive(member, milliseconds=50_000)
    newcomer = bench.response_to(bench.join("b"))
    bench.join("b", newcomer.member_id, subscription=Subscription(["u"]))
    bench.alive(member, milliseconds=22_000)
    assert bench.states()[-1] == "PreparingRebalance"
    forgets = version in ("2.7", "2.8.1", "3.1.0")
    assert expired(bench) == ([("g", "u-0", 6)] if forgets else [])


@pytest.mark.parametrize(("version", "left"), [("2.8.1", -1), ("2.8.2", 5)])
def test_once_an_empty_group_forgot_topics_that_its_next_member_subscribed_to(
    version: str, left: int
) -> None:
    bench = bench_of(version, delay_ms=30_000)
    joining = bench.join("a", bench.response_to(bench.join("a")).member_id)
    bench.lab.wait(30_000)
    member = bench.response_to(joining)
    bench.sync(member, a=["t-0"])
    bench.commit(5, member)
    bench.alive(member, milliseconds=50_000)
    assert bench.leave(member) == "NONE"
    bench.join("a", bench.response_to(bench.join("a")).member_id)
    bench.lab.wait(25_000)
    assert bench.states()[-1] == "PreparingRebalance"
    assert position(bench) == left


def test_offsets_can_be_deleted_of_topics_to_which_no_member_subscribes() -> None:
    bench = bench_of("3.9", topics=[CreateTopic(topic="u", assignment=[[0]])])
    bench.join("a", bench.response_to(bench.join("a")).member_id)
    told = bench.ask(OffsetDeleteRequest("g", ["t-0", "u-0"]))
    assert told.errors == {"t-0": "GROUP_SUBSCRIBED_TO_TOPIC", "u-0": "NONE"}


@pytest.mark.parametrize("version", ["3.9", "4.0", "4.4"])
def test_from_4_0_a_position_is_kept_for_a_transaction_that_is_open(version: str) -> None:
    bench = bench_of(version)
    bench.commit(5)
    bench.group().unstable[7] = {"t-0": Position(6, 0)}
    bench.lab.wait(75_000)
    assert position(bench) == (-1 if version == "3.9" else 5)
    assert bench.group().unstable, "the group is there as long as its transaction"
    del bench.group().unstable[7]
    bench.lab.wait(11_000)
    assert position(bench) == -1


def test_a_coordinator_without_groups_looks_at_nothing() -> None:
    bench = bench_of("3.9")
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    assert bench.lab.cluster.brokers[0].core.coordinator.expiry.due_us() is None
    before_us = state.next_look_us
    bench.lab.wait(60_000)
    assert state.next_look_us == before_us


def test_a_group_whose_first_commit_is_under_way_is_not_forgotten() -> None:
    bench = bench_of("3.9")
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    state.stores[99] = Store("g", offsets={"t-0": 6})
    group = state.groups["g"] = Group("g")
    state.next_look_us = bench.lab.cluster.now_us
    expiry_of(bench).look()
    assert bench.group() is group
    del state.stores[99]
    state.next_look_us = bench.lab.cluster.now_us
    expiry_of(bench).look()
    assert state.groups == {}


# ---- groups of the new protocols


def modern_bench() -> Bench:
    return Bench(
        "4.2",
        offsets_retention_minutes="1",
        offsets_retention_check_interval_ms="10000",
        group_consumer_session_timeout_ms="45000",
        group_consumer_heartbeat_interval_ms="5000",
    )


def heartbeat(bench: Bench, epoch: int, *topics: str) -> None:
    request = ConsumerGroupHeartbeatRequest(
        "g", "m", epoch, rebalance_timeout_ms=60_000, topics=list(topics), owned={}
    )
    assert bench.ask(request).error == "NONE"


def commit(bench: Bench, epoch: int) -> None:
    request = OffsetCommitRequest("g", epoch, "m", {"t-0": 5}, version=9)
    assert bench.ask(request).error == "NONE"


@pytest.mark.parametrize(("topic", "kept"), [("t", 5), ("other", -1)])
def test_members_keep_the_offsets_of_the_topics_they_subscribe_to(topic: str, kept: int) -> None:
    bench = modern_bench()
    heartbeat(bench, 0, topic)
    commit(bench, 1)
    for _ in range(3):
        bench.lab.wait(25_000)
        heartbeat(bench, 1, topic)
    assert position(bench) == kept
    assert bench.group().has_members


def test_the_offsets_of_an_empty_consumer_group_expire_after_their_commit() -> None:
    bench = modern_bench()
    heartbeat(bench, 0, "t")
    commit(bench, 1)
    for _ in range(2):
        bench.lab.wait(25_000)
        heartbeat(bench, 1, "t")
    heartbeat(bench, -1)
    assert position(bench) == 5
    bench.lab.wait(21_000)
    assert position(bench) == -1
    records = written(bench)
    assert records[0] == OffsetRecord("g", "t-0", -1)
    assert records[-1] == GroupEpochRecord("g", -1)
    assert bench.lab.cluster.brokers[0].state.core.coordinator.groups == {}


def test_an_empty_share_group_stays_until_it_is_deleted() -> None:
    bench = modern_bench()
    assert bench.ask(ShareGroupHeartbeatRequest("g", "m", 0, topics=["t"])).error == "NONE"
    assert bench.ask(ShareGroupHeartbeatRequest("g", "m", -1)).error == "NONE"
    bench.lab.wait(75_000)
    assert bench.group().share is not None
    assert not any(isinstance(record, GroupRecord) for record in written(bench))


# ---- what administrators delete


def written(bench: Bench) -> list[Record | None]:
    """The records of the group's last write to its log."""
    return [read(value) for value in bench.lab.seen.of(GroupRecordsWritten)[-1].values]


def expiry_of(bench: Bench) -> OffsetExpiration:
    return bench.lab.cluster.brokers[0].core.coordinator.expiry


def test_an_expired_offset_leaves_a_tombstone() -> None:
    bench = bench_of("3.9")
    bench.commit(5)
    bench.lab.wait(75_000)
    assert written(bench) == [OffsetRecord("g", "t-0", -1)]


def test_an_offset_expires_at_the_very_end_of_its_retention() -> None:
    bench = bench_of("3.9")
    bench.lab.wait(70_000)
    bench.commit(5)
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    now_us = bench.lab.cluster.now_us
    for age_us, expected in ((59_999_999, []), (60_000_000, [("g", "t-0", 5)])):
        bench.group().committed_us["t-0"] = now_us - age_us
        state.next_look_us = now_us - 1  # a check that comes late is made nevertheless
        expiry_of(bench).look()
        assert expired(bench) == expected
        assert state.next_look_us == now_us + 10_000_000


def test_a_second_begin_does_not_delay_the_first_check() -> None:
    bench = bench_of("3.9")
    bench.commit(5)
    state = bench.lab.cluster.brokers[0].state.core.coordinator
    before_us = state.next_look_us
    bench.lab.wait(1_000)
    expiry_of(bench).begin()
    assert state.next_look_us == before_us > 0


@pytest.mark.parametrize("version", JOINED_AT_ONCE)
def test_a_deleted_group_leaves_nothing_but_tombstones(version: str) -> None:
    bench = bench_of(version, brokers=2)
    [member] = bench.stable("a")
    bench.commit(5, member)
    bench.leave(member)
    expiry_of(bench).forget(bench.group())
    bench.lab.wait(1_000)
    tombstones = [OffsetRecord("g", "t-0", -1), GroupRecord("g", -1)]
    assert written(bench) == tombstones
    bench.lab.do(CrashBroker(broker=0))
    bench.lab.wait(30_000)
    assert position(bench, broker=1) == -1
    assert bench.lab.cluster.brokers[1].core.coordinator.group("g") is None


def test_only_offsets_that_a_group_has_are_deleted() -> None:
    bench = bench_of("3.9")
    bench.commit(5)
    writes = len(bench.lab.seen.of(GroupRecordsWritten))
    answer = OffsetDeleteResponse(1, "NONE", {})
    expiry_of(bench).forget_positions(bench.group(), ["t-1"], answer)
    assert len(bench.lab.seen.of(GroupRecordsWritten)) == writes
    assert position(bench) == 5
    expiry_of(bench).forget_positions(bench.group(), ["t-1", "t-0"], answer)
    bench.lab.wait(100)
    assert written(bench) == [OffsetRecord("g", "t-0", -1)]
    assert bench.lab.cluster.brokers[0].core.coordinator.group("g") is None
    assert position(bench) == -1


@pytest.mark.parametrize(("version", "left"), [("0.10.0", 5), ("0.10.2", -1), ("3.9", -1)])
def test_from_0_10_2_offsets_are_deleted_with_their_topic(version: str, left: int) -> None:
    bench = bench_of(version)
    bench.commit(5)
    bench.lab.wait(1_000)
    expiry_of(bench).forget_deleted(["t-0"])
    bench.lab.wait(1_000)
    assert position(bench) == left


@pytest.mark.parametrize("version", ["2.1", "3.9"])
def test_a_commit_that_is_under_way_is_deleted_with_its_topic(version: str) -> None:
    bench = bench_of(version)
    bench.commit(5)
    bench.lab.wait(1_000)
    store = Store("g", offsets={"t-0": 6, "t-1": 7})
    bench.lab.cluster.brokers[0].state.core.coordinator.stores[99] = store
    expiry_of(bench).forget_deleted(["t-0"])
    assert store.offsets == {"t-1": 7}
