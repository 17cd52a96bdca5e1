"""Ground truth: lost, duplicated and diverged records, found when they are and not before."""

import pytest

from emulator.audit.ground_truth import DEFERRED_US
from emulator.events import CLIENTS, AuditChanged, ProduceAcknowledged
from emulator.inputs.statements import (
    CrashBroker,
    FreezeBroker,
    HoldMessages,
    PauseReplica,
    Produce,
    ReleaseMessages,
    ResumeReplica,
    StartBroker,
    ThawBroker,
)
from tests.support.lab import SECOND_US, Lab

FAST = {"zookeeper.session.timeout.ms": "4000", "auto.leader.rebalance.enable": "false"}


def counts(lab: Lab) -> tuple[int, int, int, int]:
    """Acknowledged, lost, duplicated, diverged."""
    count = lab.cluster.audit.count
    return count("acked"), count("lost"), count("duplicated"), count("diverged")


def failed_over(lab: Lab) -> None:
    """Broker 1 dies, broker 2 leads."""
    lab.do(CrashBroker(broker=1))
    lab.wait(10_000)
    assert lab.state().startswith("leader 2")


def pair(version: str = "3.9") -> Lab:
    lab = Lab(version, brokers=3, config=FAST)
    lab.topic(1, 2)
    return lab


# ---- lost


def test_what_only_the_dead_leader_has_is_lost_until_it_leads_again() -> None:
    lab = pair()
    lab.produce("a", acks=-1, retries=9)
    lab.wait(1_000)
    lab.do(PauseReplica(tp="t-0", broker=2))
    lab.produce("b", acks=1)
    assert counts(lab) == (2, 0, 0, 0)
    failed_over(lab)
    assert counts(lab) == (2, 1, 0, 0)
    [change] = lab.seen.of(AuditChanged)
    assert [offset for offset, _ in change.lost] == [1]


def test_an_acknowledgement_that_arrives_after_the_leader_changed_is_of_a_lost_record() -> None:
    lab = pair("2.0.1")
    lab.do(PauseReplica(tp="t-0", broker=2))
    lab.do(HoldMessages(source=1, destination=CLIENTS, api="ProduceResponse"))
    lab.submit(Produce(topic="t", partition=0, value="a", acks=1, retries=0))
    lab.wait(50)
    lab.do(FreezeBroker(broker=1))
    lab.wait(10_000)
    assert lab.state().startswith("leader 2")
    assert counts(lab) == (0, 0, 0, 0)
    lab.do(ReleaseMessages(source=1, destination=CLIENTS))
    lab.wait(50)
    assert counts(lab) == (1, 1, 0, 0)


def test_a_record_without_acks_is_lost_as_long_as_the_leader_does_not_have_it() -> None:
    lab = pair()
    lab.produce("a", acks=0)
    assert counts(lab) == (1, 1, 0, 0)
    lab.wait(50)
    assert counts(lab) == (1, 0, 0, 0)
    assert [len(each.lost) for each in lab.seen.of(AuditChanged)] == [1, 0]


def test_records_without_acks_are_looked_at_together() -> None:
    """Not each on its own: the cost would grow with the square of their number."""
    lab = pair()
    lab.produce("a", acks=0, count=3_000)
    lab.wait(1_000)
    assert counts(lab) == (3_000, 0, 0, 0)
    assert len(lab.seen.of(AuditChanged)) <= 4


def test_a_record_without_acks_that_never_arrives_is_told_as_lost() -> None:
    lab = pair()
    lab.produce("a")
    [first] = lab.seen.of(ProduceAcknowledged)
    wanted = Produce(topic="t", partition=0, value="b", count=2, acks=0, every_us=10_000)
    lab.submit(wanted)
    lab.do(FreezeBroker(broker=1))
    lab.runner.run_until(lab.cluster.now_us + DEFERRED_US + SECOND_US)
    assert first.base_offset == 0
    assert [len(each.lost) for each in lab.seen.of(AuditChanged)] == [1, 2]


def test_a_lost_record_that_is_found_again_is_no_longer_lost() -> None:
    """The old leader comes back with it and is elected, as it is the only one left."""
    lab = Lab("3.9", brokers=3, config={**FAST, "unclean.leader.election.enable": "true"})
    lab.topic(1, 2)
    lab.do(PauseReplica(tp="t-0", broker=2))
    lab.produce("a", acks=1)
    failed_over(lab)
    assert counts(lab) == (1, 1, 0, 0)
    lab.do(CrashBroker(broker=2))
    lab.wait(10_000)
    lab.do(StartBroker(broker=1))
    lab.wait(10_000)
    assert counts(lab) == (1, 0, 0, 0)


# ---- duplicated


@pytest.mark.parametrize("acks", [1, -1])
def test_each_copy_after_the_first_is_a_duplicate(acks: int) -> None:
    lab = pair("2.0.1")
    lab.do(HoldMessages(source=1, destination=CLIENTS, api="ProduceResponse"))
    options = {"batch": 3, "count": 3, "timeout_us": SECOND_US, "retries": 2}
    [outcome] = lab.produce("a", acks=acks, **options)
    assert outcome.error == "NETWORK_EXCEPTION"
    lab.wait(1_000)
    assert counts(lab) == (0, 0, 6, 0)
    offsets = [offset for offset, _ in lab.seen.of(AuditChanged)[-1].duplicated]
    assert offsets == [3, 4, 5, 6, 7, 8]


def test_a_retry_that_cost_nothing_may_duplicate_as_well() -> None:
    """A leader that is told to follow answers NOT_LEADER_OR_FOLLOWER to what it has written."""
    lab = pair()
    lab.do(HoldMessages(source=2, destination=1, api="FetchRequest"))
    ticket = lab.submit(Produce(topic="t", partition=0, value="a", acks=-1, retries=0))
    lab.wait(50)
    assert lab.values(2) == "a"
    assert not ticket.done
    lab.tell(leader=2, epoch=1, isr=[1, 2], brokers=[1, 2])
    lab.wait(1_000)
    assert ticket.outcome is not None
    assert ticket.outcome.error == "NONE"
    assert lab.values(2) == "a a"
    producer = lab.cluster.clients.state.producers["p1"]
    assert (producer.acked, producer.retries) == (1, 0)


def test_copies_that_are_truncated_are_no_duplicates_any_more() -> None:
    lab = pair("2.0.1")
    lab.produce("a", acks=-1, retries=9)
    lab.wait(1_000)
    lab.do(PauseReplica(tp="t-0", broker=2))
    lab.do(HoldMessages(source=1, destination=CLIENTS, api="ProduceResponse"))
    lab.produce("b", acks=1, timeout_us=SECOND_US, retries=1)
    assert counts(lab) == (1, 0, 1, 0)
    failed_over(lab)
    assert counts(lab) == (1, 0, 0, 0)


# ---- diverged


def test_logs_that_differ_below_both_ends_are_diverged() -> None:
    """0.8-0.10: after an unclean election the old leader keeps its record under the new one's."""
    lab = Lab("0.10.2", brokers=3, config=FAST)
    lab.topic(1, 2)
    lab.produce("a", acks=-1, retries=9)
    lab.wait(6_000)
    lab.do(PauseReplica(tp="t-0", broker=2))
    lab.wait(20_000)
    lab.produce("b", acks=1)
    lab.wait(6_000)
    failed_over(lab)
    lab.do(ResumeReplica(tp="t-0", broker=2))
    lab.produce("z", acks=1, retries=9)
    lab.do(StartBroker(broker=1))
    lab.wait(3_000)
    assert lab.values(1) == "a b"
    assert lab.values(2) == "a z"
    assert counts(lab)[3] == 1


def test_a_frozen_leader_loses_nothing_when_it_thaws_in_time() -> None:
    lab = pair()
    lab.produce("a", acks=0)
    lab.do(FreezeBroker(broker=1))
    lab.wait(1_000)
    assert counts(lab)[:2] == (1, 1)
    lab.do(ThawBroker(broker=1))
    lab.wait(1_000)
    assert counts(lab)[:2] == (1, 0)
