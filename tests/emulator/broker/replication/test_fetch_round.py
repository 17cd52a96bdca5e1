"""Single fetch rounds: what a `fetch` statement makes of one follower and one partition."""

import pytest

from emulator.broker.replication.fetch_round import SingleRounds
from emulator.events import MessageSent
from emulator.inputs.statements import (
    CrashBroker,
    DeleteTopic,
    FetchRound,
    HoldMessages,
    ReleaseMessages,
)
from emulator.releases.profiles import VERSIONS
from tests.support.generations import ON_FETCH, since
from tests.support.lab import TP, Lab


def followed_by_1(version: str = "3.9") -> Lab:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(0, 1)
    return lab


def rounds(lab: Lab) -> SingleRounds:
    return lab.cluster.brokers[1].core.rounds


@pytest.mark.parametrize("version", VERSIONS)
def test_a_round_is_a_request_a_response_and_what_is_written_of_it(version: str) -> None:
    lab = followed_by_1(version)
    lab.produce("a", "b")
    assert lab.fetch(1).error == "NONE"
    assert lab.values(1) == "a b"
    assert lab.cluster.brokers[1].state.core.fetchers.single_rounds == {}


def test_an_empty_round_takes_as_long_as_the_leader_parks_it() -> None:
    lab = followed_by_1()
    before_us = lab.cluster.now_us
    lab.fetch(1)
    assert 500_000 <= lab.cluster.now_us - before_us <= 501_000


def test_in_stepwise_mode_nothing_is_fetched_by_itself() -> None:
    lab = followed_by_1()
    lab.produce("a")
    lab.wait(5000)
    assert lab.values(1) == ""


def test_several_rounds_come_one_after_another() -> None:
    lab = followed_by_1()
    lab.produce("a")
    lab.fetch(1, times=3)
    assert len(lab.seen.of(MessageSent, name="FetchRequest")) == 3
    assert lab.ends(0, 1) == "1/1 1/1"


@pytest.mark.parametrize("version", since("0.11"))
def test_a_round_asks_for_the_epoch_first_where_the_release_does(version: str) -> None:
    lab = followed_by_1(version)
    lab.produce("a")
    lab.fetch(1)
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[1])
    lab.fetch(1)
    asked = len(lab.seen.of(MessageSent, name="OffsetsForLeaderEpochRequest"))
    assert asked == (0 if version in ON_FETCH else 1)


@pytest.mark.parametrize("version", since("2.8"))
def test_a_round_that_is_told_of_a_diverging_epoch_truncates_and_writes_nothing(
    version: str,
) -> None:
    lab = followed_by_1(version)
    lab.produce("a", "b")
    lab.fetch(1)
    lab.lose_tail(0, 1)
    lab.tell(leader=0, epoch=1, isr=[0, 1], brokers=[0, 1])
    lab.produce("c")
    lab.fetch(1)
    assert lab.values(1) == "a"
    lab.fetch(1)
    assert lab.values(1) == "a c"


def test_a_round_whose_response_is_held_is_over_for_the_statement() -> None:
    lab = followed_by_1()
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    assert lab.fetch(1).error == "NONE"
    assert lab.values(1) == ""
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(1)
    assert lab.values(1) == "a"


def test_a_round_whose_response_is_lost_can_be_made_again() -> None:
    lab = followed_by_1()
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    lab.fetch(1)
    lab.do(ReleaseMessages(source=0, destination=1, lose=True))
    lab.wait(1)
    assert lab.cluster.brokers[1].state.core.fetchers.single_rounds == {}
    before_us = lab.cluster.now_us
    assert lab.fetch(1).error == "NONE"
    assert lab.cluster.now_us - before_us < 2_000
    assert lab.values(1) == "a"


def test_a_round_that_is_lost_with_a_leader_of_before_is_over() -> None:
    """It was asked of broker 0, and lost with it when the replica followed broker 2 already."""
    lab = followed_by_1()
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    lab.fetch(1)
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[1])
    assert rounds(lab).state.single_rounds != {}
    lab.do(CrashBroker(broker=0))
    lab.do(ReleaseMessages(source=0, destination=1, lose=True))
    lab.wait(1)
    assert rounds(lab).state.single_rounds == {}


@pytest.mark.parametrize("leader", [1, 2])
def test_a_response_of_a_leader_of_before_is_not_taken(leader: int) -> None:
    lab = followed_by_1()
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    lab.fetch(1)
    lab.tell(leader=leader, epoch=1, isr=[1, 2], brokers=[1])
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(1)
    assert lab.values(1) == ""
    assert rounds(lab).state.single_rounds == {}


def test_a_round_to_a_dead_leader_ends_without_anything() -> None:
    lab = followed_by_1()
    lab.do(CrashBroker(broker=0))
    assert lab.fetch(1).error == "NONE"
    assert lab.ends(1) == "0/0"
    assert rounds(lab).state.single_rounds == {}


@pytest.mark.parametrize(
    ("broker", "error"),
    [
        (0, "NOT_LEADER_OR_FOLLOWER"),
        (2, "UNKNOWN_TOPIC_OR_PARTITION"),
        (7, "BROKER_NOT_AVAILABLE"),
    ],
    ids=["leader", "no replica", "no broker"],
)
def test_only_a_follower_can_make_a_round(broker: int, error: str) -> None:
    lab = followed_by_1()
    outcome = lab.do(FetchRound(tp=TP, broker=broker))
    assert (outcome.error, outcome.refused) == (error, True)


@pytest.mark.parametrize("lose", [True, False])
def test_a_response_for_a_replica_that_is_gone_is_nobodys(lose: bool) -> None:
    lab = followed_by_1()
    lab.produce("a")
    lab.do(HoldMessages(source=0, destination=1, api="FetchResponse"))
    lab.fetch(1)
    lab.do(DeleteTopic(topic="t"))
    lab.wait(100)
    lab.do(ReleaseMessages(source=0, destination=1, lose=lose))
    lab.wait(100)
    assert lab.cluster.replica(TP, 1) is None
    assert rounds(lab).state.single_rounds == {}


def test_a_round_beside_a_fetcher_that_runs_writes_nothing_twice() -> None:
    lab = Lab("3.9")
    lab.topic(0, 1)
    lab.produce("a", "b")
    lab.fetch(1, times=3)
    lab.wait(600)
    assert lab.values(1) == "a b"
    assert lab.ends(0, 1) == "2/2 2/2"
