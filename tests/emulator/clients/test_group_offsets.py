"""Where a group begins to read, and how its progress is kept."""

import pytest

from emulator.clients.group_offsets import LIMIT_US, GroupOffsets
from emulator.events import MessageSent, OffsetCommitted
from emulator.inputs.statements import (
    Consume,
    CrashBroker,
    HoldMessages,
    PauseReplica,
    ReleaseMessages,
)
from tests.emulator.clients.test_group_member import CLIENTS, consume, lab
from tests.support.lab import Lab


def values(made: Lab, consumer: str = "c1") -> str:
    runs = made.cluster.clients.state.consumers[consumer].runs
    value_of = made.cluster.clients.value_of
    return " ".join(value_of(first + i) for first, count in runs for i in range(count))


def offsets(made: Lab) -> dict[str, int]:
    """The last committed position of each partition."""
    return {event.tp: event.offset for event in made.seen.of(OffsetCommitted)}


def test_a_group_goes_on_where_it_stopped() -> None:
    made = lab(partitions=1)
    made.produce("a", "b")
    consume(made)
    made.produce("c")
    consume(made)
    assert values(made) == "c"
    assert offsets(made) == {"t-0": 3}
    assert isinstance(made.cluster.clients.offsets, GroupOffsets)


def test_another_consumer_of_the_group_goes_on_too() -> None:
    made = lab(partitions=1)
    made.produce("a", "b")
    consume(made, "c1", then="leave")
    made.produce("c")
    consume(made, "c2")
    assert values(made, "c2") == "c"


def test_what_was_not_read_is_not_committed() -> None:
    made = lab(partitions=1)
    made.produce("a", "b", "c")
    consume(made, max_records=2)
    assert offsets(made) == {"t-0": 2}
    consume(made)
    assert values(made) == "c"


def test_an_offset_goes_before_the_groups_position() -> None:
    made = lab(partitions=1)
    made.produce("a", "b", "c")
    consume(made)
    consume(made, offset=1)
    assert values(made) == "b c"


def test_a_partition_that_is_named_needs_no_member() -> None:
    made = lab(partitions=2)
    made.produce("a", "b")
    assert consume(made, partition=0).error == "NONE"
    assert offsets(made) == {"t-0": 2}
    group = made.cluster.brokers[0].core.coordinator.group("g")
    assert group is not None
    assert group.members == {}


def test_who_is_no_member_cannot_commit_for_those_who_are() -> None:
    made = lab(partitions=2)
    consume(made, "c1")
    assert consume(made, "c2", partition=0).error == "UNKNOWN_MEMBER_ID"


def test_a_position_out_of_range_begins_again_only_if_asked_to() -> None:
    made = lab(partitions=1)
    made.produce("a", "b")
    consume(made, offset=0)
    made.replica(1).log.truncate(1)
    made.replica(1).high_watermark = 1
    assert consume(made).error == "OFFSET_OUT_OF_RANGE"
    assert consume(made, from_beginning=True).error == "NONE"
    assert values(made) == "a"
    assert offsets(made) == {"t-0": 1}
    [asked] = made.seen.of(MessageSent, name="ListOffsetsRequest", source=CLIENTS)
    assert asked.destination == 1


@pytest.mark.parametrize("api", ["ListOffsetsRequest", "ListOffsetsResponse"])
def test_a_consumer_does_not_wait_for_ever_to_be_told_where_a_log_begins(api: str) -> None:
    made = lab(partitions=1)
    made.produce("a", "b")
    consume(made, offset=0)
    made.replica(1).log.truncate(1)
    made.replica(1).high_watermark = 1
    ends = (CLIENTS, 1) if api == "ListOffsetsRequest" else (1, CLIENTS)
    made.do(HoldMessages(source=ends[0], destination=ends[1], api=api))
    assert consume(made, from_beginning=True).error == "NETWORK_EXCEPTION"


def test_a_read_that_fails_commits_how_far_it_came() -> None:
    made = lab(partitions=1, brokers=3)
    made.produce("a")
    consume(made)
    made.do(CrashBroker(broker=2))
    assert consume(made).error in ("LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER")
    assert offsets(made) == {"t-0": 1}


def test_a_commit_that_finds_the_group_gone_on_fails_the_statement() -> None:
    made = lab("2.8", partitions=1)
    made.produce("a")
    consume(made, "c1")
    made.do(HoldMessages(source=CLIENTS, destination=1, api="Fetch"))
    ticket = made.submit(Consume(topic="t", group="g", consumer="c1"))
    made.wait(1_000)
    group = made.cluster.brokers[0].core.coordinator.group("g")
    assert group is not None
    made.cluster.brokers[0].core.coordinator.members.remove(
        group, next(iter(group.members)), "left"
    )
    made.do(ReleaseMessages(source=CLIENTS, destination=1))
    made.wait(1_000)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "UNKNOWN_MEMBER_ID"


def test_a_commit_that_is_never_replicated_ends_the_statement_after_a_minute() -> None:
    made = lab(partitions=1)
    consume(made)
    made.do(PauseReplica(tp="__consumer_offsets-0", broker=1))
    made.cluster.brokers[0].state.process.timers.armed["isr-expiration"] = -1
    begun_us = made.cluster.now_us
    assert consume(made).error == "REQUEST_TIMED_OUT"
    assert made.cluster.now_us - begun_us >= LIMIT_US


def test_a_topic_that_does_not_exist_is_said_to_be_unknown() -> None:
    assert consume(lab(), topic="nope").error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_who_is_out_of_the_group_before_it_reads_joins_again_first() -> None:
    made = lab(partitions=1)
    made.produce("a")
    consume(made, then="leave")
    made.do(HoldMessages(source=0, destination=CLIENTS, api="OffsetFetchResponse"))
    ticket = made.submit(Consume(topic="t", group="g", offset=None))
    made.wait(5_000)
    consumer = made.cluster.clients.state.consumers["c1"]
    assert consumer.membership is not None
    consumer.membership.refused("UNKNOWN_MEMBER_ID")
    made.do(ReleaseMessages(source=0, destination=CLIENTS))
    made.wait(60_000)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"
    assert consumer.membership.partitions == ["t-0"]
