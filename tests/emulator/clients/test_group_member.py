"""Consumers in groups: finding the coordinator, joining, staying, and losing it."""

from typing import Any

import pytest

from emulator.clients.group_member import GroupMembers
from emulator.events import AssignmentChanged, MemberJoined, MemberLeft, MessageSent
from emulator.inputs.statements import (
    AddPartitions,
    Consume,
    CrashBroker,
    CreateTopic,
    CutLink,
    FreezeBroker,
    HealLinks,
)
from emulator.releases.config import consumer_defaults
from emulator.scenario.outcome import Outcome
from tests.support.lab import Lab

CLIENTS = -2
ONE = {"offsets.topic.num.partitions": "1"}
SINCE_GROUPS = ("0.9", "0.10.2", "0.11", "2.1", "2.2", "2.8", "3.9")


def lab(version: str = "3.9", brokers: int = 2, partitions: int = 4) -> Lab:
    """Topic ``t`` on the last broker, ``__consumer_offsets-0`` on all, led by broker 0."""
    made = Lab(version, brokers=brokers, config=ONE)
    made.do(CreateTopic(topic="__consumer_offsets", assignment=[list(range(brokers))]))
    made.do(CreateTopic(topic="t", assignment=[[brokers - 1]] * partitions))
    made.wait(600)
    return made


def consume(made: Lab, consumer: str = "c1", **options: Any) -> Outcome:
    """A statement of a member of ``g`` that reads ``t``."""
    given = {"topic": "t", "group": "g", **options}
    return made.do(Consume(consumer=consumer, **given))


def reads(made: Lab) -> dict[str, list[str]]:
    """The partitions of each consumer."""
    return {
        name: [] if consumer.membership is None else sorted(consumer.membership.partitions)
        for name, consumer in made.cluster.clients.state.consumers.items()
    }


def sent(made: Lab, name: str) -> int:
    return len(made.seen.of(MessageSent, name=name))


@pytest.mark.parametrize("version", SINCE_GROUPS)
def test_a_lone_consumer_reads_everything(version: str) -> None:
    made = lab(version)
    assert consume(made).error == "NONE"
    assert reads(made) == {"c1": ["t-0", "t-1", "t-2", "t-3"]}
    assert isinstance(made.cluster.clients.members, GroupMembers)


def test_groups_are_refused_before_0_9() -> None:
    outcome = Lab("0.8.2", brokers=1).do(Consume(topic="t", group="g"))
    assert (outcome.error, outcome.refused) == ("UNSUPPORTED_VERSION", True)
    assert "since 0.9" in outcome.message


def test_the_cooperative_assignor_is_refused_before_2_4() -> None:
    outcome = consume(lab("2.2"), assignor="cooperative-sticky")
    assert (outcome.error, outcome.refused) == ("UNSUPPORTED_VERSION", True)


@pytest.mark.parametrize(
    ("assignor", "second"), [("range", ["t-2", "t-3"]), ("roundrobin", ["t-1", "t-3"])]
)
def test_a_second_consumer_gets_its_share(assignor: str, second: list[str]) -> None:
    made = lab()
    consume(made, "c1", assignor=assignor)
    consume(made, "c2", assignor=assignor)
    assert reads(made)["c2"] == second
    assert len(reads(made)["c1"]) == 2


def test_with_cooperative_sticky_nobody_stops_reading_what_it_keeps() -> None:
    made = lab()
    consume(made, "c1", assignor="cooperative-sticky")
    consume(made, "c2", assignor="cooperative-sticky")
    made.wait(4_000)
    assert reads(made) == {"c1": ["t-0", "t-1"], "c2": ["t-2", "t-3"]}
    taken = [event.partitions for event in made.seen.of(AssignmentChanged, consumer="c1")]
    assert all({"t-0", "t-1"} <= set(partitions) for partitions in taken)


def test_a_consumer_with_another_assignor_is_turned_away() -> None:
    made = lab()
    consume(made, "c1")
    assert consume(made, "c2", assignor="roundrobin").error == "INCONSISTENT_GROUP_PROTOCOL"
    assert consume(made, "c1").error == "NONE"


def test_members_that_want_different_topics_share_each() -> None:
    made = lab(partitions=2)
    made.do(CreateTopic(topic="u", assignment=[[1], [1]]))
    made.wait(100)
    consume(made, "c1")
    consume(made, "c2", topic="u")
    assert reads(made) == {"c1": ["t-0", "t-1"], "c2": ["u-0", "u-1"]}


def test_a_consumer_that_turns_to_another_topic_joins_again() -> None:
    made = lab(partitions=2)
    made.do(CreateTopic(topic="u", assignment=[[1], [1]]))
    made.wait(100)
    consume(made, "c1")
    consume(made, "c1", topic="u")
    assert reads(made) == {"c1": ["u-0", "u-1"]}
    assert len(made.seen.of(MemberJoined)) == 1


def test_a_consumer_that_turns_to_another_group_leaves_the_first() -> None:
    made = lab()
    consume(made, "c1")
    consume(made, "c1", group="h")
    assert [event.group for event in made.seen.of(MemberLeft)] == ["g"]


def test_a_consumer_stays_a_member_while_nothing_is_asked_of_it() -> None:
    made = lab()
    consume(made)
    made.wait(200_000)
    assert made.seen.of(MemberLeft) == []
    assert sent(made, "HeartbeatRequest") == pytest.approx(67, abs=2)
    assert sent(made, "JoinGroupRequest") == 2


def test_one_that_leaves_is_out_at_once_and_one_that_dies_when_its_session_is_over() -> None:
    made = lab()
    consume(made, "c1", then="leave")
    (left,) = made.seen.of(MemberLeft)
    assert left.reason == "left"
    consume(made, "c2", then="die")
    died_us = made.cluster.now_us
    made.wait(60_000)
    _, expired = made.seen.of(MemberLeft)
    assert expired.reason == "session expired"
    session_us = consumer_defaults("3.9").session_timeout_us
    assert expired.time_us - died_us == pytest.approx(session_us, abs=100_000)


def test_more_consumers_than_partitions_leave_some_with_nothing() -> None:
    made = lab(partitions=1)
    consume(made, "c1")
    assert consume(made, "c2").error == "NONE"
    assert reads(made) == {"c1": ["t-0"], "c2": []}


def test_the_leader_notices_new_partitions_when_it_reads() -> None:
    made = lab(partitions=1)
    consume(made)
    made.do(AddPartitions(topic="t", partitions=2))
    made.wait(500)
    consume(made)
    consume(made)
    assert reads(made) == {"c1": ["t-0", "t-1"]}


# ---- a coordinator that is lost


@pytest.mark.parametrize("version", SINCE_GROUPS)
def test_a_member_finds_the_next_coordinator_and_is_still_in(version: str) -> None:
    made = lab(version)
    consume(made)
    made.wait(1_000)
    made.do(CrashBroker(broker=0))
    made.wait(40_000)
    assert made.seen.of(MemberLeft) == []
    group = made.cluster.brokers[1].core.coordinator.group("g")
    assert group is not None
    assert (group.state, group.generation) == ("Stable", 1)


def test_a_frozen_coordinator_is_given_up_when_the_session_is_over() -> None:
    made = lab()
    consume(made)
    made.wait(1_000)
    made.do(FreezeBroker(broker=0))
    made.wait(60_000)
    membership = made.cluster.clients.state.consumers["c1"].membership
    assert membership is not None
    assert membership.coordinator == 1
    assert consume(made).error == "NONE"


def test_members_that_cannot_be_heard_are_out_and_come_back() -> None:
    made = lab()
    consume(made)
    made.do(CutLink(source=CLIENTS, destination=0))
    made.wait(50_000)
    assert [event.reason for event in made.seen.of(MemberLeft)] == ["session expired"]
    made.do(HealLinks())
    made.wait(20_000)
    assert reads(made) == {"c1": ["t-0", "t-1", "t-2", "t-3"]}
    assert len(made.seen.of(MemberJoined)) == 2


def test_a_statement_that_finds_no_coordinator_ends_after_a_minute() -> None:
    made = Lab("3.9", brokers=2)
    made.topic(0)
    begun_us = made.cluster.now_us
    outcome = consume(made)
    assert outcome.error == "COORDINATOR_NOT_AVAILABLE"
    assert "offsets.topic.replication.factor=3, and 2 brokers are alive" in outcome.message
    assert made.cluster.now_us - begun_us == 60_000_000
