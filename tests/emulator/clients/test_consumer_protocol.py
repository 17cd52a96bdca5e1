"""Scripted consumers with the protocol `consumer` (KIP-848)."""

from typing import Any

import pytest

from emulator import events
from emulator.inputs.statements import (
    Consume,
    CrashBroker,
    CreateTopic,
    Produce,
)
from emulator.protocol import ProduceRequest, ProduceResponse
from tests.support.lab import Lab

SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "4000",
    "offsets.topic.num.partitions": "1",
}


@pytest.fixture
def lab() -> Lab:
    made = Lab("4.1", 3, config=SETTINGS)
    made.do(CreateTopic(topic="t", partitions=4, replication_factor=3))
    return made


def consume(lab: Lab, consumer: str, **more: Any) -> str:
    wanted = Consume(topic="t", group="g", protocol="consumer", consumer=consumer, **more)
    return lab.do(wanted).error


def produce(lab: Lab) -> None:
    """A record in each partition."""
    for number in range(4):
        given = Produce(topic="t", partition=number, value=f"v{number}", acks=-1)
        assert lab.do(given).error == "NONE"


def reads(lab: Lab, consumer: str) -> list[str]:
    """The partitions that a consumer was last told to read."""
    return lab.seen.of(events.AssignmentChanged, consumer=consumer)[-1].partitions


def committed(lab: Lab) -> dict[str, int]:
    return {each.tp: each.offset for each in lab.seen.of(events.OffsetCommitted)}


def test_members_share_the_partitions_and_commit_what_they_read(lab: Lab) -> None:
    produce(lab)
    assert consume(lab, "a") == "NONE"
    assert committed(lab) == {f"t-{number}": 1 for number in range(4)}
    assert consume(lab, "b") == "NONE"
    lab.wait(3_000)
    assert (reads(lab, "a"), reads(lab, "b")) in [
        (["t-0", "t-1"], ["t-2", "t-3"]),
        (["t-2", "t-3"], ["t-0", "t-1"]),
    ]
    produce(lab)
    assert [consume(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    assert committed(lab) == {f"t-{number}": 2 for number in range(4)}


def test_what_a_dead_member_had_goes_to_the_others(lab: Lab) -> None:
    assert [consume(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    lab.wait(3_000)
    assert consume(lab, "b", then="die") == "NONE"
    lab.wait(6_000)
    assert reads(lab, "a") == ["t-0", "t-1", "t-2", "t-3"]
    (left,) = lab.seen.of(events.MemberLeft)
    assert (left.consumer, left.reason) == ("b", "session expired")
    assert lab.seen.of(events.GroupEpochBumped)[-1].reason == "b: session expired"


def test_a_member_that_leaves_is_missed_by_nobody(lab: Lab) -> None:
    assert consume(lab, "a", then="leave") == "NONE"
    assert [each.reason for each in lab.seen.of(events.MemberLeft)] == ["left"]
    assert consume(lab, "b") == "NONE"
    assert reads(lab, "b") == ["t-0", "t-1", "t-2", "t-3"]


def test_members_stay_when_their_coordinator_crashes(lab: Lab) -> None:
    produce(lab)
    assert [consume(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    lab.wait(3_000)
    before = reads(lab, "a"), reads(lab, "b")
    coordinator = lab.seen.of(events.MemberJoined)[0].broker
    lab.do(CrashBroker(broker=coordinator))
    lab.wait(20_000)
    produce(lab)
    assert [consume(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    assert (reads(lab, "a"), reads(lab, "b")) == before
    assert lab.seen.of(events.MemberLeft) == []
    assert committed(lab) == {f"t-{number}": 2 for number in range(4)}


def test_older_releases_do_not_have_the_protocol() -> None:
    old = Lab("3.9")
    old.topic(0)
    wanted = Consume(topic="t", group="g", protocol="consumer")
    assert "4.0" in old.do(wanted).error or "4.0" in str(old.do(wanted))


def classic(lab: Lab, consumer: str, **more: Any) -> str:
    """Let a consumer of the classic protocol read from the same group."""
    return lab.do(Consume(topic="t", group="g", consumer=consumer, **more)).error


def conversions(lab: Lab) -> list[tuple[str, str]]:
    return [(event.protocol, event.reason) for event in lab.seen.of(events.GroupConverted)]


def test_a_group_changes_its_protocol_with_its_members(lab: Lab) -> None:
    produce(lab)
    assert classic(lab, "a") == "NONE"
    assert consume(lab, "b") == "NONE"
    lab.wait(15_000)
    assert conversions(lab) == [("consumer", "b uses the protocol consumer")]
    assert sorted(reads(lab, "a") + reads(lab, "b")) == ["t-0", "t-1", "t-2", "t-3"]
    assert len(reads(lab, "a")) == len(reads(lab, "b"))
    produce(lab)
    assert [classic(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    assert committed(lab) == {f"t-{number}": 2 for number in range(4)}
    assert consume(lab, "b", then="leave") == "NONE"
    lab.wait(15_000)
    assert conversions(lab)[1:] == [("classic", "b: left")]
    upgrade, downgrade = lab.seen.of(events.GroupConverted)
    bumps = lab.seen.of(events.GroupEpochBumped)
    assert bumps[0].cause == upgrade.seq
    rebalance = next(
        event
        for event in lab.seen.of(events.GroupStateChanged, state="PreparingRebalance")
        if event.seq > upgrade.seq
    )
    assert rebalance.cause == downgrade.seq
    assert reads(lab, "a") == ["t-0", "t-1", "t-2", "t-3"]
    produce(lab)
    assert classic(lab, "a") == "NONE"
    assert committed(lab) == {f"t-{number}": 3 for number in range(4)}


def test_members_of_both_protocols_outlive_their_coordinator(lab: Lab) -> None:
    produce(lab)
    assert [classic(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    lab.wait(3_000)
    coordinator = lab.seen.of(events.GroupConverted)[-1].broker
    lab.do(CrashBroker(broker=coordinator))
    lab.wait(30_000)
    assert sorted(reads(lab, "a") + reads(lab, "b")) == ["t-0", "t-1", "t-2", "t-3"]
    produce(lab)
    assert [classic(lab, "a"), consume(lab, "b")] == ["NONE", "NONE"]
    assert committed(lab) == {f"t-{number}": 2 for number in range(4)}


def test_nothing_is_converted_while_the_policy_forbids_it() -> None:
    settings = SETTINGS | {"group.consumer.migration.policy": "disabled"}
    lab = Lab("4.4", 3, config=settings)
    lab.do(CreateTopic(topic="t", partitions=4, replication_factor=3))
    assert classic(lab, "a") == "NONE"
    assert consume(lab, "b") == "GROUP_ID_NOT_FOUND"
    assert conversions(lab) == []


def test_a_group_whose_conversion_cannot_be_written_is_what_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = Lab("4.1", 3, config=SETTINGS)
    lab.do(CreateTopic(topic="t", partitions=4, replication_factor=3))
    assert classic(lab, "a") == "NONE"
    lab.wait(3_000)
    coordinator = lab.seen.of(events.GroupStateChanged)[-1].broker
    metadata = lab.cluster.brokers[coordinator].core.coordinator.offsets

    def refuse(_client: int, number: int, message: ProduceRequest) -> None:
        metadata.stored(number, ProduceResponse(number, message.tp, "KAFKA_STORAGE_ERROR", -1))

    monkeypatch.setattr(metadata, "_append", refuse)
    consume(lab, "b", timeout_us=3_000_000)
    group = lab.cluster.brokers[coordinator].core.coordinator.group("g")
    assert conversions(lab)
    assert group is not None
    assert group.modern is None
    assert [member.consumer for member in group.members.values()] == ["a"]
