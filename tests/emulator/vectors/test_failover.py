"""Leaders and followers die and return: what is cut, what is kept, what is there twice."""

import pytest

from emulator.inputs.statements import (
    CrashBroker,
    HoldMessages,
    Produce,
    ReleaseMessages,
    StartBroker,
    Wait,
)
from tests.support.generations import (
    ASSIGNED_AT_ELECTION,
    BY_HIGH_WATERMARK,
    ON_FETCH,
    WITH_EPOCHS,
    since,
)
from tests.support.lab import Lab

EXPIRY_MS = 21_000
"""Longer than any release's ZooKeeper session without a sign of life."""
APART_MS = 4_000
"""So far apart two sessions do not expire at once: who stays in the ISR is not left to an order."""
PRE_BY_HIGH_WATERMARK = since("0.8.2", "0.10.2")


def crash(lab: Lab, broker: int) -> None:
    """A process dies, and everybody has noticed."""
    lab.do(CrashBroker(broker=broker))
    lab.wait(EXPIRY_MS)


def start(lab: Lab, broker: int) -> None:
    """A process returns, and has been told what it is."""
    lab.do(StartBroker(broker=broker))
    lab.wait(100)


def lose_response(lab: Lab, follower: int, leader: int) -> None:
    """One fetch round whose request arrives and whose response does not."""
    lab.do(HoldMessages(source=leader, destination=follower, api="FetchResponse"))
    lab.fetch(follower)
    lab.do(ReleaseMessages(source=leader, destination=follower, lose=True))
    lab.wait(1)


def replicated(version: str, *values: str, replicas: tuple[int, ...]) -> Lab:
    """Records that every replica has and knows to be committed; broker 0 is only controller."""
    lab = Lab(version, brokers=max(replicas) + 1, stepwise=True)
    lab.topic(*replicas)
    followers = replicas[1:]
    for follower in followers:
        lab.fetch(follower)
    lab.produce(*values)
    for _ in range(3):
        for follower in followers:
            lab.fetch(follower)
    lab.tick("checkpoint")
    committed = f"{len(values)}/{len(values)}"
    assert lab.ends(*replicas) == " ".join([committed] * len(replicas))
    return lab


# ---- the leader goes down


def before_the_leader_dies(version: str) -> Lab:
    """Leader 1 has a to f; 2 has a to e, 3 has a to d; all is committed up to c."""
    lab = replicated(version, "a", "b", "c", replicas=(1, 2, 3))
    lab.produce("d")
    lab.fetch(3)
    lab.produce("e")
    lab.fetch(2)
    lab.produce("f")
    assert lab.ends(1, 2, 3) == "6/3 5/3 4/3"
    assert lab.remote(1) == {2: 3, 3: 3}
    return lab


@pytest.mark.parametrize("version", PRE_BY_HIGH_WATERMARK + WITH_EPOCHS)
def test_v3_the_next_leader_takes_its_own_leo_and_hw_with_it(version: str) -> None:
    lab = before_the_leader_dies(version)
    crash(lab, 1)
    assert lab.state() == "leader 2 e1 isr [2, 3] v1"
    assert lab.ends(2) == "5/3"
    assert {lab.remote(2)[1], lab.remote(2)[3]} == {-1}
    if version in WITH_EPOCHS:
        knows = version in ASSIGNED_AT_ELECTION
        assert lab.epochs(2) == ([(0, 0), (1, 5)] if knows else [(0, 0)])


@pytest.mark.parametrize("version", PRE_BY_HIGH_WATERMARK + WITH_EPOCHS)
def test_v3_followers_and_the_old_leader_agree_with_the_new_leader_in_the_end(version: str) -> None:
    by_epochs = version in WITH_EPOCHS
    lab = before_the_leader_dies(version)
    crash(lab, 1)
    if not by_epochs:
        assert lab.ends(3) == "3/3"
    lab.fetch(3)
    assert lab.ends(3, 2) == ("5/3 5/4" if by_epochs else "5/3 5/3")
    lab.fetch(3)
    assert lab.ends(2, 3) == "5/5 5/5"
    lab.produce("g", producer="p2")
    lab.fetch(3, times=2)
    assert lab.ends(2, 3) == "6/6 6/6"
    assert lab.log(2).split()[-1] == ("g/1" if by_epochs else "g/-1")
    start(lab, 1)
    assert lab.replica(1).high_watermark == 3
    lab.fetch(1)
    if version in ON_FETCH:
        assert lab.ends(1) == "5/3"
        lab.fetch(1)
    assert [lab.values(broker) for broker in (1, 2, 3)] == ["a b c d e g"] * 3
    lab.fetch(1)
    assert lab.state() == "leader 2 e1 isr [2, 3, 1] v2"
    if by_epochs:
        assert [lab.epochs(broker) for broker in (1, 2, 3)] == [[(0, 0), (1, 5)]] * 3


@pytest.mark.parametrize("version", BY_HIGH_WATERMARK)
def test_v3_without_epochs_the_returning_leader_is_truncated_to_its_high_watermark(
    version: str,
) -> None:
    lab = before_the_leader_dies(version)
    crash(lab, 1)
    start(lab, 1)
    assert lab.ends(1) == "3/3"


def test_v3_an_acknowledged_record_that_only_the_dead_leader_had_is_lost() -> None:
    lab = before_the_leader_dies("3.9")
    crash(lab, 1)
    lab.fetch(3, times=2)
    start(lab, 1)
    lab.fetch(1, times=3)
    assert "f" not in lab.values(1)
    assert lab.cluster.audit.count("lost") == 1


# ---- a follower goes down


def after_the_follower_died(version: str) -> Lab:
    """1 leads alone with a to f; 2 died with a to e and HW 3."""
    lab = replicated(version, "a", "b", "c", replicas=(1, 2))
    lab.produce("d", "e")
    lab.fetch(2)
    assert lab.ends(1, 2) == "5/3 5/3"
    crash(lab, 2)
    assert lab.state() == "leader 1 e1 isr [1] v1"
    assert lab.ends(1) == "5/5"
    lab.produce("f")
    assert lab.ends(1) == "6/6"
    return lab


@pytest.mark.parametrize("version", ["documents", *PRE_BY_HIGH_WATERMARK])
def test_v4_a_returning_follower_is_truncated_to_its_high_watermark(version: str) -> None:
    lab = after_the_follower_died(version)
    start(lab, 2)
    assert lab.ends(2) == "3/3"
    lab.fetch(2)
    assert lab.values(2) == "a b c d e f"
    lab.fetch(2)
    assert lab.state() == "leader 1 e1 isr [1, 2] v2"
    assert lab.ends(2) == "6/6"


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_v4_with_epochs_a_returning_follower_keeps_what_the_leader_has(version: str) -> None:
    lab = after_the_follower_died(version)
    start(lab, 2)
    assert lab.ends(2) == "5/3"
    lab.fetch(2)
    assert lab.values(2) == "a b c d e f"
    assert lab.epochs(2) == [(0, 0), (1, 5)]
    lab.fetch(2)
    assert lab.state() == "leader 1 e1 isr [1, 2] v2"


# ---- losses


def acknowledged_by_the_leader(version: str) -> Lab:
    """acks=1: 1 and 3 have m1 m2 with HW 1, 2 has m1 with HW 0; m2 is acknowledged."""
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(1, 2, 3)
    lab.fetch(2)
    lab.fetch(3)
    lab.produce("m1")
    lab.fetch(2)
    lab.fetch(3)
    lose_response(lab, 2, 1)
    lab.fetch(3)
    assert lab.produce("m2", acks=1)[0].error == "NONE"
    lab.fetch(3)
    assert lab.ends(1, 2, 3) == "2/1 1/0 2/1"
    assert lab.remote(1) == {2: 1, 3: 1}
    lab.tick("checkpoint")
    return lab


@pytest.mark.parametrize("version", PRE_BY_HIGH_WATERMARK + WITH_EPOCHS)
def test_v6_with_acks_1_a_record_is_lost_in_every_release(version: str) -> None:
    lab = acknowledged_by_the_leader(version)
    crash(lab, 1)
    assert lab.state() == "leader 2 e1 isr [2, 3] v1"
    assert lab.ends(2) == "1/0"
    lab.produce("m3", producer="p2")
    assert lab.ends(2) == "2/0"
    lab.fetch(3)
    if version in ON_FETCH:
        assert lab.ends(3) == "1/1"
        lab.fetch(3)
    assert (lab.values(3), lab.ends(3)) == ("m1 m3", "2/0")
    assert lab.ends(2) == "2/1"
    lab.fetch(3)
    assert lab.ends(2, 3) == "2/2 2/2"
    start(lab, 1)
    lab.fetch(1, times=3)
    assert (lab.values(1), lab.ends(1)) == ("m1 m3", "2/2")
    assert lab.cluster.audit.count("lost") == 1
    assert lab.cluster.audit.count("diverged") == 0


@pytest.mark.parametrize("version", ["documents", "0.8.1", "0.10.2", "2.0.1", "3.9"])
def test_v5_with_acks_0_a_write_that_fails_is_a_success_to_its_producer(version: str) -> None:
    lab = Lab(version, brokers=2)
    lab.topic(1)
    lab.produce("a")
    lab.do(CrashBroker(broker=1))
    (outcome,) = lab.produce("b", acks=0)
    lab.wait(100)
    assert outcome.error == "NONE"
    assert lab.values(1) == "a"
    producer = lab.cluster.clients.state.producers["p1"]
    assert (producer.acked, producer.failed) == (2, 0)
    assert lab.cluster.audit.count("acked") == 2


def with_a_stale_high_watermark(version: str) -> Lab:
    """acks=all: 1 and 2 have m1 m2, m2 is acknowledged, 2 has not heard that HW is 2."""
    config = {"unclean.leader.election.enable": "true"}
    lab = Lab(version, brokers=3, stepwise=True, config=config)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.produce("m1")
    lab.fetch(2, times=2)
    ticket = lab.submit(Produce(topic="t", value="m2", acks=-1, retries=0))
    lab.wait(20)
    lab.fetch(2)
    lose_response(lab, 2, 1)
    lab.wait(20)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"
    lab.tick("checkpoint")
    return lab


@pytest.mark.parametrize("version", PRE_BY_HIGH_WATERMARK)
def test_v7_a_quick_restart_truncates_a_committed_record_and_logs_differ_for_good(
    version: str,
) -> None:
    lab = with_a_stale_high_watermark(version)
    assert lab.ends(1, 2) == "2/2 2/1"
    crash(lab, 2)
    start(lab, 2)
    assert lab.ends(2) == "1/1"
    crash(lab, 1)
    assert lab.state().startswith("leader 2")
    assert lab.cluster.audit.count("lost") == 1
    lab.produce("m3", producer="p2")
    assert (lab.values(2), lab.ends(2)) == ("m1 m3", "2/2")
    start(lab, 1)
    assert (lab.values(1), lab.ends(1)) == ("m1 m2", "2/2")
    assert lab.cluster.audit.count("diverged") == 1


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_v7_with_epochs_the_same_run_loses_nothing(version: str) -> None:
    lab = with_a_stale_high_watermark(version)
    crash(lab, 2)
    start(lab, 2)
    assert lab.values(2) == "m1 m2"
    crash(lab, 1)
    assert lab.state().startswith("leader 2")
    lab.produce("m3", producer="p2")
    start(lab, 1)
    lab.fetch(1, times=2)
    assert [lab.values(broker) for broker in (1, 2)] == ["m1 m2 m3"] * 2
    assert lab.cluster.audit.count("lost") == 0


def both_down_with_hw_0(version: str) -> Lab:
    """m1 is acknowledged by all; 2 has it with HW 0, and both replicas are down."""
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    ticket = lab.submit(Produce(topic="t", value="m1", acks=-1, retries=0))
    lab.wait(20)
    lab.fetch(2)
    lose_response(lab, 2, 1)
    lab.wait(20)
    assert ticket.done
    lab.do(CrashBroker(broker=1))
    lab.wait(APART_MS)
    crash(lab, 2)
    start(lab, 2)
    assert lab.state().startswith("leader 2")
    return lab


def test_v8_the_documents_third_loss_happens_in_their_own_profile_only() -> None:
    lab = both_down_with_hw_0("documents")
    assert lab.ends(2) == "0/0"
    assert lab.cluster.audit.count("lost") == 1


@pytest.mark.parametrize("version", [*BY_HIGH_WATERMARK, *WITH_EPOCHS])
def test_v8_a_replica_that_becomes_leader_is_never_truncated(version: str) -> None:
    lab = both_down_with_hw_0(version)
    assert (lab.values(2), lab.ends(2)) == ("m1", "1/1")
    assert lab.cluster.audit.count("lost") == 0


# ---- duplicates


@pytest.mark.parametrize("version", since("0.8.2"))
def test_v9_a_retry_after_the_leaders_death_writes_the_record_twice(version: str) -> None:
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(1, 2, 3)
    lab.fetch(2)
    lab.fetch(3)
    ticket = lab.submit(Produce(topic="t", value="x", acks=-1, retries=1000))
    lab.wait(20)
    lab.fetch(2)
    assert lab.ends(1, 2, 3) == "1/0 1/0 0/0"
    crash(lab, 1)
    lab.wait(2000)
    x = [f"x/{epoch}" if version in WITH_EPOCHS else "x/-1" for epoch in (0, 1)]
    assert lab.log(2).split() == x
    assert lab.ends(2) == "2/0"
    lab.fetch(3, times=2)
    lab.wait(20)
    assert lab.log(3).split() == x
    assert lab.ends(2, 3) == "2/2 2/2"
    assert ticket.done
    assert lab.cluster.audit.count("duplicated") == 1


@pytest.mark.parametrize("version", WITH_EPOCHS)
def test_v9_an_idempotent_retry_is_recognised_by_what_was_replicated(version: str) -> None:
    lab = Lab(version, brokers=4, stepwise=True)
    lab.topic(1, 2, 3)
    lab.fetch(2)
    lab.fetch(3)
    ticket = lab.submit(Produce(topic="t", value="x", idempotent=True, retries=1000))
    lab.wait(20)
    lab.fetch(2)
    assert lab.ends(1, 2, 3) == "1/0 1/0 0/0"
    crash(lab, 1)
    lab.wait(2000)
    assert (lab.log(2), lab.ends(2)) == ("x/0", "1/0")
    assert not ticket.done
    lab.fetch(3, times=2)
    lab.wait(20)
    assert (lab.log(3), lab.ends(2, 3)) == ("x/0", "1/1 1/1")
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"
    assert lab.cluster.audit.count("duplicated") == 0


# ---- power loss


@pytest.mark.parametrize(
    ("version", "final"),
    [
        *[(version, ("m1 m2", "m1 m3")) for version in PRE_BY_HIGH_WATERMARK],
        *[(version, ("m1 m3", "m1 m3")) for version in WITH_EPOCHS],
    ],
)
def test_v10_a_power_loss_makes_logs_differ_for_good_only_without_epochs(
    version: str, final: tuple[str, str]
) -> None:
    lab = Lab(version, brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.fetch(2)
    lab.produce("m1")
    lab.fetch(2, times=2)
    for broker in (1, 2):
        lab.replica(broker).log.flushed = 1
    lab.produce("m2")
    lab.fetch(2, times=2)
    assert lab.ends(1, 2) == "2/2 2/2"
    lab.tick("checkpoint")
    lab.do(CrashBroker(broker=1))
    lab.wait(APART_MS)
    lab.do(CrashBroker(broker=2, lose_unflushed=True))
    assert lab.values(2) == "m1"
    lab.wait(EXPIRY_MS)
    start(lab, 2)
    assert lab.state().startswith("leader 2")
    lab.produce("m3", producer="p2")
    assert lab.ends(2) == "2/2"
    start(lab, 1)
    lab.fetch(1, times=2)
    assert (lab.values(1), lab.values(2)) == final
    assert lab.cluster.audit.count("lost") == 1


def test_v24_a_last_replica_that_loses_its_tail_is_elected_again_and_that_is_known() -> None:
    lab = Lab("3.9", brokers=3, stepwise=True)
    lab.topic(1, 2)
    lab.produce(*"ab")
    lab.replica(1).log.flushed = 2
    crash(lab, 2)
    assert lab.state() == "leader 1 e1 isr [1] v1"
    assert lab.produce("k", acks=-1)[0].error == "NONE"
    assert lab.ends(1) == "3/3"
    lab.do(CrashBroker(broker=1, lose_unflushed=True))
    lab.do(Wait(duration_us=EXPIRY_MS * 1000))
    assert lab.state() == "leader -1 e2 isr [1] v2"
    start(lab, 1)
    assert lab.state() == "leader 1 e3 isr [1] v3"
    assert lab.values(1) == "a b"
    assert lab.cluster.state.invariants.violated == {"LastReplica": 1}
    assert lab.cluster.state.invariants.unexpected == 0
