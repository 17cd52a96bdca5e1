"""Who is in the ISR, and what the HW waits for: fetches by hand, value by value."""

import pytest

from emulator.events import IsrChangeStarted
from emulator.inputs.statements import (
    CrashBroker,
    CutLink,
    FreezeBroker,
    HoldMessages,
    ReleaseMessages,
    StartBroker,
    ThawBroker,
)
from emulator.releases.profiles import VERSIONS
from tests.support.generations import since
from tests.support.lab import Lab

FENCED = since("2.1")
BY_CONTROLLER = since("2.7")
"""Leaders ask the controller for ISR changes."""


def out_of_the_isr(version: str, *replicas: int) -> Lab:
    """The first replica leads in epoch 1; the second died, returned, and is not in the ISR."""
    leader, outside, *others = replicas
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(*replicas)
    lab.do(CrashBroker(broker=outside))
    lab.wait(21_000)
    lab.do(StartBroker(broker=outside))
    lab.wait(40_000)
    assert lab.replica(leader).isr == [leader, *others]
    return lab


def fetch_at(lab: Lab, follower: int, offset: int, leader: int = 0) -> None:
    """A fetch by hand; what it changes has been stored."""
    fenced = lab.cluster.spec.version in FENCED
    epoch = lab.replica(leader).leader_epoch if fenced else -1
    lab.fetch_at(follower, leader, offset, epoch)
    lab.wait(5)


# ---- joining


@pytest.mark.parametrize("version", VERSIONS)
def test_v19_joining_takes_the_high_watermark_and_not_the_log_end(version: str) -> None:
    lab = out_of_the_isr(version, 0, 1, 2)
    lab.produce("r", count=20)
    fetch_at(lab, 2, 15)
    assert lab.ends(0) == "20/15"
    fetch_at(lab, 1, 14)
    assert lab.replica(0).isr == [0, 2]
    fetch_at(lab, 1, 15)
    assert lab.replica(0).isr == [0, 2, 1]
    assert lab.ends(0) == "20/15"


@pytest.mark.parametrize("version", VERSIONS)
def test_v19_from_2_0_1_joining_takes_the_start_of_the_leaders_epoch_too(version: str) -> None:
    """A leader may begin with a HW behind its LEO: what lies between is not committed again yet."""
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(1, 2, 3)
    lab.fetch(2)
    lab.produce("r", count=4)
    lab.fetch(2)
    lab.do(CrashBroker(broker=3))
    lab.do(CrashBroker(broker=1))
    lab.wait(21_000)
    leader = lab.replica(2)
    leader.high_watermark = 1
    epoch = leader.leader_epoch if version in FENCED else -1
    lab.do(StartBroker(broker=1))
    lab.wait(100)
    lab.fetch_at(1, 2, 2, epoch)
    lab.wait(5)
    assert (1 in leader.isr) == (version not in since("2.0.1"))
    lab.fetch_at(1, 2, 4, epoch)
    lab.wait(5)
    assert 1 in leader.isr


@pytest.mark.parametrize("version", since("0.8.2"))
def test_v31_a_slow_joiner_joins_from_0_10_2_and_waits_for_ever_before(version: str) -> None:
    """KAFKA-4485: the leader writes on while the follower is always one batch behind."""
    lab = out_of_the_isr(version, 0, 1)
    holds = version in since("0.10.2")
    lab.produce("r", count=90)
    fetch_at(lab, 1, 80)
    lab.produce("r", count=10, batch=10)
    assert lab.ends(0) == "100/100"
    lab.wait(1000)
    fetch_at(lab, 1, 90)
    assert lab.replica(0).isr == [0]
    lab.produce("r", count=10, batch=10)
    assert lab.ends(0) == ("110/100" if holds else "110/110")
    lab.wait(1000)
    fetch_at(lab, 1, 100)
    assert lab.replica(0).isr == ([0, 1] if holds else [0])


# ---- leaving


@pytest.mark.parametrize("version", since("documents", "0.8.2"))
def test_v32_up_to_0_8_a_member_leaves_that_is_more_than_4000_messages_behind(version: str) -> None:
    lab = Lab(version, stepwise=True)
    lab.topic(0, 1)
    lab.produce("r", count=1000, batch=1000)
    fetch_at(lab, 1, 1000)
    lab.produce("r", count=4000, batch=4000)
    lab.tick("isr")
    assert lab.replica(0).isr == [0, 1]
    lab.produce("r")
    lab.tick("isr")
    assert lab.replica(0).isr == [0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_hung_follower_leaves_within_one_and_a_half_or_two_lag_times(version: str) -> None:
    lab = Lab(version, brokers=2, config={"replica.lag.time.max.ms": "4000"})
    lab.topic(0, 1)
    lab.do(FreezeBroker(broker=1))
    begun_us = lab.cluster.now_us
    lab.produce("a")
    lab.wait(8_500)
    shrunk = lab.seen.of(IsrChangeStarted, change="shrink")
    if lab.state().startswith("leader 0 e0"):
        late_us = shrunk[0].time_us - begun_us
        longest_us = 6_000_000 if version in since("0.10.2") else 8_000_000
        assert 4_000_000 - 500_000 < late_us <= longest_us
    assert lab.state().split(" isr ")[1].startswith("[0]")
    lab.do(ThawBroker(broker=1))
    lab.wait(3000)
    assert lab.state().split(" isr ")[1].startswith("[0, 1]")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_silent_follower_that_has_everything_stays_from_2_1(version: str) -> None:
    lab = Lab(version, config={"replica.lag.time.max.ms": "2000"})
    lab.topic(0, 1)
    lab.do(CutLink(source=0, destination=1))
    lab.wait(5000)
    stays = version in since("2.1")
    assert lab.replica(0).isr == ([0, 1] if stays else [0])
    assert lab.state() == ("leader 0 e0 isr [0, 1] v0" if stays else "leader 0 e0 isr [0] v1")


# ---- asking the controller (KIP-497)


def joining(version: str) -> Lab:
    """1 leads with 10/10; 2 is about to join, and the controller's response is held back."""
    lab = out_of_the_isr(version, 1, 2, 3)
    lab.produce("r", count=10)
    fetch_at(lab, 3, 10, leader=1)
    assert lab.ends(1) == "10/10"
    lab.do(HoldMessages(source=0, destination=1, api="AlterPartitionResponse"))
    fetch_at(lab, 2, 10, leader=1)
    return lab


@pytest.mark.parametrize("version", BY_CONTROLLER)
def test_v23_an_admission_counts_for_the_high_watermark_before_it_is_granted(version: str) -> None:
    lab = joining(version)
    assert lab.replica(1).isr == [1, 3]
    assert lab.replica(1).maximal_isr == [1, 3, 2]
    lab.produce("x")
    fetch_at(lab, 3, 11, leader=1)
    assert lab.ends(1) == "11/10"
    fetch_at(lab, 2, 11, leader=1)
    assert lab.ends(1) == "11/11"
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(5)
    assert lab.replica(1).isr == [1, 3, 2]
    assert lab.replica(1).pending is None


@pytest.mark.parametrize("version", BY_CONTROLLER)
def test_v23_one_change_of_a_partition_is_under_way_at_a_time(version: str) -> None:
    lab = joining(version)
    before = len(lab.seen.of(IsrChangeStarted))
    fetch_at(lab, 2, 10, leader=1)
    lab.tick("isr")
    assert len(lab.seen.of(IsrChangeStarted)) == before


@pytest.mark.parametrize("version", BY_CONTROLLER)
def test_v23_a_removal_counts_only_when_it_is_granted(version: str) -> None:
    lab = Lab(version, brokers=4, stepwise=True, config={"replica.lag.time.max.ms": "2000"})
    lab.topic(1, 2, 3)
    lab.produce("r", count=10)
    fetch_at(lab, 2, 10, leader=1)
    fetch_at(lab, 3, 10, leader=1)
    lab.produce("x")
    lab.wait(2100)
    fetch_at(lab, 2, 11, leader=1)
    lab.do(HoldMessages(source=0, destination=1, api="AlterPartitionResponse"))
    lab.tick("isr")
    assert lab.replica(1).isr == [1, 2, 3]
    assert lab.ends(1) == "11/10"
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(5)
    assert lab.replica(1).isr == [1, 2]
    rechecked = version in since("3.5")
    assert lab.ends(1) == ("11/11" if rechecked else "11/10")
    lab.produce("y")
    fetch_at(lab, 2, 12, leader=1)
    assert lab.ends(1) == "12/12"


@pytest.mark.parametrize("version", BY_CONTROLLER)
def test_a_lost_response_makes_the_leader_ask_again(version: str) -> None:
    lab = joining(version)
    lab.do(ReleaseMessages(source=0, destination=1, count=1, lose=True))
    lab.do(ReleaseMessages(source=0, destination=1))
    lab.wait(200)
    assert lab.replica(1).isr == [1, 3, 2]
    assert lab.state() == "leader 1 e1 isr [1, 3, 2] v2"
