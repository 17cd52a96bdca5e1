"""Scripted members of share groups (KIP-932)."""

from typing import Any

import pytest

from emulator import events
from emulator.inputs.statements import (
    AbortTransaction,
    BeginTransaction,
    CommitTransaction,
    ConfigureGroup,
    Consume,
    CrashBroker,
    CreateTopic,
    Produce,
    ProduceInTransaction,
)
from tests.support.lab import Lab

SETTINGS = {
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "4000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "3000",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}


@pytest.fixture
def lab() -> Lab:
    """A cluster with a group that has begun at the ends of two partitions."""
    made = Lab("4.2", 3, config=SETTINGS)
    made.do(CreateTopic(topic="t", partitions=2, replication_factor=3))
    assert consume(made, "a", timeout_us=5_000_000) == []
    return made


def consume(lab: Lab, consumer: str, **more: Any) -> list[tuple[str, int]]:
    """The partitions and first offsets of what a consumer is given by a statement."""
    before = len(lab.seen.of(events.RecordsConsumed, consumer=consumer))
    wanted = Consume(topic="t", group="g", protocol="share", consumer=consumer, **more)
    assert lab.do(wanted).error == "NONE"
    given = lab.seen.of(events.RecordsConsumed, consumer=consumer)[before:]
    return sorted((each.tp, each.offset) for each in given)


def produce(lab: Lab, partition: int = 0, count: int = 1) -> None:
    given = Produce(topic="t", partition=partition, value="v", acks=-1, count=count)
    assert lab.do(given).error == "NONE"


def test_members_accept_what_they_are_given(lab: Lab) -> None:
    produce(lab, 0)
    produce(lab, 1)
    assert consume(lab, "a", timeout_us=1_000_000) == [("t-0", 0), ("t-1", 0)]
    assert consume(lab, "a", timeout_us=1_000_000) == []
    acknowledged = {e.acknowledgement for e in lab.seen.of(events.RecordsAcknowledged)}
    assert acknowledged == {"accept"}


def test_the_transaction_after_an_aborted_one_is_given(lab: Lab) -> None:
    lab.do(ConfigureGroup(group="g", config={"share.isolation.level": "read_committed"}))
    record = ProduceInTransaction(topic="t", partition=0, value="v")
    for end in (AbortTransaction(), CommitTransaction()):
        lab.do(BeginTransaction())
        lab.do(record)
        lab.do(end)
    assert consume(lab, "a", timeout_us=1_000_000) == [("t-0", 1)]  # the marker is not read
    (read,) = lab.seen.of(events.RecordsConsumed)
    committed = lab.seen.of(events.RecordsAppended, tp="t-0", base_offset=2)[0]
    assert [tuple(run) for run in read.runs] == [(committed.first_record, 1)]
    archived = lab.seen.of(events.RecordsReleased, reason="transaction aborted")
    assert [(event.first_offset, event.last_offset) for event in archived] == [(0, 0)]


def test_what_is_released_is_given_again_and_what_is_rejected_is_not(lab: Lab) -> None:
    produce(lab)
    given = consume(lab, "a", acknowledge="release", timeout_us=1_000_000)
    assert given == [("t-0", 0)] * 5
    assert lab.seen.of(events.RecordsArchived)[-1].deliveries == 5
    produce(lab)
    assert consume(lab, "a", acknowledge="reject", timeout_us=1_000_000) == [("t-0", 1)]
    assert consume(lab, "a", timeout_us=1_000_000) == []


def test_a_lock_that_expires_gives_the_record_to_another(lab: Lab) -> None:
    assert consume(lab, "b", timeout_us=3_000_000) == []
    produce(lab)
    first = consume(lab, "a", acknowledge="none", max_records=1, timeout_us=2_000_000)
    assert first == [("t-0", 0)]
    lab.wait(3_500)
    again = [*consume(lab, "a", timeout_us=1_000_000), *consume(lab, "b", timeout_us=1_000_000)]
    assert again == [("t-0", 0)]
    assert lab.seen.of(events.RecordsReleased)[0].reason == "lock expired"


def test_a_member_that_dies_gives_its_records_back(lab: Lab) -> None:
    produce(lab)
    given = consume(lab, "a", acknowledge="none", max_records=1, then="die")
    assert given == [("t-0", 0)]
    lab.wait(6_000)
    assert lab.seen.of(events.RecordsReleased)[0].reason == "session ended"
    assert consume(lab, "b", timeout_us=5_000_000) == [("t-0", 0)]


def test_a_group_outlives_a_leader(lab: Lab) -> None:
    produce(lab, count=3)
    assert consume(lab, "a", timeout_us=1_000_000) == [("t-0", 0)]
    leader = lab.seen.of(events.SharePartitionLoaded, tp="t-0")[-1].broker
    lab.do(CrashBroker(broker=leader))
    lab.wait(15_000)
    produce(lab)
    assert ("t-0", 3) in consume(lab, "a", timeout_us=10_000_000)
