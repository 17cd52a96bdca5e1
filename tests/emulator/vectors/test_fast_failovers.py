"""Fast failovers and late requests: what each generation of truncation makes of them."""

import pytest

from emulator.events import MessageSent
from tests.support.generations import BY_EPOCH, BY_HIGH_WATERMARK, BY_OFFSET, ON_FETCH, since
from tests.support.lab import Lab

FENCED = since("2.1")


def two_leaders_in_turn(version: str) -> Lab:
    """1 led in epoch 0 and 2 in epoch 1, neither saw the other's records; 1 leads again.

    Common is a0 only; 2 has yet to follow.
    """
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.produce("a0")
    lab.fetch(2, times=2)
    lab.produce("a1", "a2")
    assert lab.ends(1, 2) == "3/1 1/1"
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[2])
    lab.produce("b1", "b2", "b3", producer="p2")
    assert lab.ends(2) == "4/1"
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[1])
    return lab


def follow(lab: Lab) -> None:
    """2 follows 1 in epoch 2, and has truncated."""
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[2])


@pytest.mark.parametrize("version", [*BY_HIGH_WATERMARK, *BY_EPOCH])
def test_v11_by_hw_or_by_epochs_in_responses_the_logs_are_equal_in_the_end(version: str) -> None:
    lab = two_leaders_in_turn(version)
    lab.produce("a3", producer="p3")
    follow(lab)
    lab.fetch(2, times=3)
    assert [lab.values(broker) for broker in (1, 2)] == ["a0 a1 a2 a3"] * 2
    assert lab.cluster.audit.count("diverged") == 0
    if version in BY_EPOCH:
        starts = [lab.epochs(broker) for broker in (1, 2)]
        assert starts == [[(0, 0), (2, 3)]] * 2


@pytest.mark.parametrize("version", BY_OFFSET)
def test_v11_an_offset_alone_leaves_the_logs_different_for_good(version: str) -> None:
    lab = two_leaders_in_turn(version)
    lab.produce("a3", producer="p3")
    follow(lab)
    lab.fetch(2, times=3)
    assert lab.values(1) == "a0 a1 a2 a3"
    assert lab.values(2) == "a0 b1 b2 a3"
    assert lab.ends(1, 2) == "4/4 4/4"
    assert lab.cluster.audit.count("diverged") == 2


@pytest.mark.parametrize("version", BY_OFFSET)
def test_v11_before_the_new_leader_has_written_it_answers_nothing_and_the_hw_helps(
    version: str,
) -> None:
    lab = two_leaders_in_turn(version)
    follow(lab)
    lab.fetch(2, times=3)
    assert [lab.values(broker) for broker in (1, 2)] == ["a0 a1 a2"] * 2


@pytest.mark.parametrize("version", BY_EPOCH)
def test_v11_the_follower_is_truncated_where_the_two_epochs_part(version: str) -> None:
    lab = two_leaders_in_turn(version)
    lab.produce("a3", producer="p3")
    follow(lab)
    lab.fetch(2)
    if version in ON_FETCH:
        assert lab.ends(2) == "1/1"
        assert lab.epochs(2) == [(0, 0)]
        lab.fetch(2)
    assert lab.values(2) == "a0 a1 a2 a3"


# ---- a leader that does not know its epoch yet


def asked_too_early(version: str) -> Lab:
    """m0 is acknowledged by both; 2 led in epoch 1, wrote m1, and follows 1, still in epoch 0."""
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.produce("m0")
    lab.fetch(2)
    lab.fetch_at(2, 1, 1)
    assert lab.ends(1, 2) == "1/1 1/0"
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[2])
    lab.produce("m1", producer="p2")
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[2])
    lab.fetch(2)
    return lab


@pytest.mark.parametrize("version", since("0.11", "2.0.1"))
def test_v12_a_leader_that_knows_no_such_epoch_makes_a_member_truncate_what_is_committed(
    version: str,
) -> None:
    lab = asked_too_early(version)
    asked = lab.seen.of(MessageSent, name="OffsetsForLeaderEpochResponse")[-1]
    assert asked.detail == [["t-0", "NONE", -1, -1]]
    truncated = [each.log_end_offset for each in lab.truncated(2)]
    assert truncated == [0]


@pytest.mark.parametrize("version", FENCED)
def test_v12_with_fencing_the_leader_answers_once_it_has_been_told(version: str) -> None:
    lab = asked_too_early(version)
    assert lab.values(2) == "m0 m1"
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[1])
    lab.fetch(2)
    assert lab.values(2) == "m0"
    lab.fetch(2)
    assert lab.ends(2) == "1/1"
    assert [each.log_end_offset for each in lab.truncated(2)] == [1]


# ---- a fetch under an epoch of the past


@pytest.mark.parametrize("version", FENCED)
def test_v14_a_fetch_of_an_older_epoch_is_fenced_and_acknowledges_nothing(version: str) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[1])
    lab.produce("m0")
    lab.fetch(2)
    assert lab.ends(1, 2) == "1/0 0/0"
    response = lab.seen.of(MessageSent, name="FetchResponse")[-1]
    assert "FENCED_LEADER_EPOCH" in response.detail[0]


@pytest.mark.parametrize("version", FENCED)
def test_v14_a_fetch_of_a_newer_epoch_is_told_that_the_leader_does_not_know_it(
    version: str,
) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[2])
    lab.fetch(2)
    response = lab.seen.of(MessageSent, name="FetchResponse")[-1]
    assert "UNKNOWN_LEADER_EPOCH" in response.detail[0]


@pytest.mark.parametrize("version", since("0.8.2", "2.0.1"))
def test_v14_without_fencing_a_stale_follower_acknowledges_records(version: str) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.tell(leader=1, epoch=2, isr=[1, 2], brokers=[1])
    lab.produce("m0")
    lab.fetch(2)
    lab.fetch_at(2, 1, 1)
    assert lab.ends(1) == "1/1"
