"""Positions and generations in the log: written, replicated, loaded."""

import pytest

from emulator.common.errors import ERRORS
from emulator.coordinator.group_metadata import STORING_ERRORS, GroupMetadataManager
from emulator.events import GroupRecordsWritten, GroupsLoaded, OffsetCommitted
from emulator.inputs.statements import (
    ConfigureBroker,
    CrashBroker,
    HoldMessages,
    PauseReplica,
    ReleaseMessages,
    StartBroker,
)
from tests.emulator.coordinator.bench import Bench

OFFSETS = "__consumer_offsets-0"


def two_brokers(version: str = "2.1") -> Bench:
    """The coordinator's log on brokers 0 and 1."""
    return Bench(version, brokers=2)


def test_a_commit_is_a_record_that_tells_what_it_is() -> None:
    bench = Bench()
    assert bench.response_to(bench.commit(5)).error == "NONE"
    (written,) = bench.lab.seen.of(GroupRecordsWritten)
    text = '{"record":"offset","group":"g","tp":"t-0","offset":5,"at_us":%d}'
    assert (written.keys, written.values) == (["g t-0"], [text % written.time_us])
    assert bench.lab.cluster.clients.value_of(written.first_record) == written.values[0]
    assert [event.offset for event in bench.lab.seen.of(OffsetCommitted)] == [5]
    assert isinstance(bench.lab.cluster.brokers[0].core.coordinator.offsets, GroupMetadataManager)


def test_a_commit_is_answered_when_it_is_replicated() -> None:
    bench = two_brokers()
    bench.lab.do(HoldMessages(source=1, destination=0, api="Fetch"))
    bench.lab.wait(600)
    asked = bench.commit(5)
    bench.lab.wait(1_000)
    assert bench.response_to(asked) is None
    assert bench.committed().offsets["t-0"] == -1
    bench.lab.do(ReleaseMessages(source=1, destination=0))
    bench.lab.wait(600)
    assert bench.response_to(asked).error == "NONE"
    assert bench.committed().offsets["t-0"] == 5


def test_a_commit_that_is_not_replicated_in_time_says_so() -> None:
    bench = two_brokers()
    bench.lab.do(PauseReplica(tp=OFFSETS, broker=1))
    asked = bench.commit(5)
    bench.lab.wait(5_100)
    assert bench.response_to(asked).error == "REQUEST_TIMED_OUT"


def test_too_small_an_isr_makes_the_coordinator_unavailable() -> None:
    bench = Bench()
    bench.lab.do(ConfigureBroker(broker=0, config={"min.insync.replicas": "2"}))
    assert bench.response_to(bench.commit(5)).error == "COORDINATOR_NOT_AVAILABLE"


@pytest.mark.parametrize(
    ("version", "at_once"), [("3.9", "COORDINATOR_NOT_AVAILABLE"), ("4.0", None)]
)
def test_from_4_0_a_commit_waits_for_replicas_however_few_are_in_sync(
    version: str, at_once: str | None
) -> None:
    bench = Bench(version, brokers=2, min_insync_replicas="2")
    bench.lab.do(CrashBroker(broker=1))
    bench.lab.wait(60_000)
    asked = bench.commit(5)
    answer = bench.response_to(asked)
    assert (answer and answer.error) == at_once
    bench.lab.wait(5_000)
    assert bench.response_to(asked).error == "COORDINATOR_NOT_AVAILABLE"


def test_an_assignment_that_is_not_stored_begins_the_rebalance_again() -> None:
    bench = Bench()
    joined = bench.response_to(bench.join("a"))
    bench.lab.do(ConfigureBroker(broker=0, config={"min.insync.replicas": "2"}))
    assert bench.response_to(bench.sync(joined)).error == "COORDINATOR_NOT_AVAILABLE"
    assert bench.group().state == "PreparingRebalance"


def test_every_error_that_storing_is_translated_to_is_kafkas() -> None:
    assert set(STORING_ERRORS) | set(STORING_ERRORS.values()) <= set(ERRORS)


def test_a_member_commits_while_a_rebalance_is_prepared_but_not_while_it_completes() -> None:
    bench = Bench()
    leader, _ = bench.stable("a", "b")
    waiting = bench.join("c")
    assert bench.response_to(bench.commit(4, leader)).error == "NONE"
    for member in list(bench.group().members.values())[:2]:
        bench.join(member.consumer, member.id)
    assert bench.group().state == "CompletingRebalance"
    joined = bench.response_to(waiting)
    assert bench.response_to(bench.commit(5, joined)).error == "REBALANCE_IN_PROGRESS"


def test_who_is_no_member_commits_to_an_empty_group_only() -> None:
    bench = Bench()
    assert bench.response_to(bench.commit(1)).error == "NONE"
    (member,) = bench.stable("a")
    assert bench.response_to(bench.commit(2)).error == "UNKNOWN_MEMBER_ID"
    bench.leave(member)
    assert bench.response_to(bench.commit(3)).error == "NONE"
    assert bench.response_to(bench.commit(4, member)).error == "UNKNOWN_MEMBER_ID"


def test_a_generation_of_a_group_that_nobody_knows_is_illegal() -> None:
    bench = Bench()
    (member,) = bench.stable("a")
    del bench.lab.cluster.brokers[0].state.core.coordinator.groups["g"]
    assert bench.response_to(bench.commit(1, member)).error == "ILLEGAL_GENERATION"


# ---- another coordinator


def fail_over(bench: Bench) -> None:
    """Broker 1 takes over."""
    bench.lab.do(CrashBroker(broker=0))
    bench.lab.wait(8_000)


def test_the_next_coordinator_knows_members_and_positions() -> None:
    bench = two_brokers()
    (member,) = bench.stable("a")
    bench.commit(7, member)
    fail_over(bench)
    (loaded,) = [e for e in bench.lab.seen.of(GroupsLoaded) if e.broker == 1]
    assert loaded.groups == ["g"]
    group = bench.group(1)
    assert (group.state, group.generation, group.offsets) == ("Stable", 1, {"t-0": 7})
    assert group.members[member.member_id].partitions == ["t-0"]
    assert bench.committed(1).offsets["t-0"] == 7


def test_a_member_that_the_next_coordinator_hears_nothing_of_is_out() -> None:
    bench = two_brokers()
    bench.stable("a")
    fail_over(bench)
    bench.lab.wait(10_000)
    assert bench.group(1).state == "Empty"


def test_a_restarted_coordinator_loads_the_last_of_what_it_wrote() -> None:
    bench = Bench()
    bench.commit(1)
    bench.commit(9)
    bench.lab.do(CrashBroker(broker=0))
    bench.lab.do(StartBroker(broker=0))
    bench.lab.wait(500)
    assert bench.committed().offsets["t-0"] == 9


def test_what_others_wrote_to_the_topic_is_passed_over() -> None:
    bench = Bench()
    bench.commit(1)
    coordinator = bench.lab.cluster.brokers[0].core.coordinator
    first = bench.lab.cluster.ledger.enter(
        "somebody", OFFSETS, ["k"], ["nonsense"], acks=-1, now_us=0
    )
    log = bench.lab.replica(0, OFFSETS).log
    log.append(type(log.batches[0])(log.end, 1, 0, first))
    bench.lab.cluster.brokers[0].state.core.coordinator.groups.clear()
    coordinator.offsets.load(OFFSETS)
    assert bench.group().offsets == {"t-0": 1}


@pytest.mark.parametrize(("version", "known"), [("0.10.2", -1), ("0.11", 7)])
def test_up_to_0_10_2_loading_stops_at_the_hw(version: str, known: int) -> None:
    bench = Bench(version)
    bench.commit(7)
    replica = bench.lab.replica(0, OFFSETS)
    replica.high_watermark = 0
    bench.lab.cluster.brokers[0].state.core.coordinator.groups.clear()
    bench.lab.cluster.brokers[0].core.coordinator.offsets.load(OFFSETS)
    assert bench.committed().offsets["t-0"] == known
