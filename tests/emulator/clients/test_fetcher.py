"""Consumers whose position the log was cut below (KIP-320), and the epochs in their fetches."""

import pytest

from emulator.clients.fetcher import Fetcher
from emulator.events import CLIENTS, ConsumerTruncationDetected, MessageSent
from emulator.inputs.statements import (
    Consume,
    CrashBroker,
    CreateTopic,
    PauseReplica,
    ResumeReplica,
    StopBroker,
)
from emulator.scenario.outcome import Outcome
from tests.support.lab import Lab

CONFIG = {
    "zookeeper.session.timeout.ms": "4000",
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.num.partitions": "1",
    "replica.lag.time.max.ms": "2000",
    "group.initial.rebalance.delay.ms": "0",
}


def read(lab: Lab, *, from_beginning: bool = False) -> Outcome:
    return lab.do(Consume(topic="t", group="g", from_beginning=from_beginning))


def cut_below_a_position(version: str) -> Lab:
    """A group has read a, b and c; only a is left, and x, y and z are written after it."""
    lab = Lab(version, brokers=3, config=CONFIG)
    assert isinstance(lab.cluster.clients.fetcher, Fetcher)
    lab.do(CreateTopic(topic="__consumer_offsets", assignment=[[0]]))
    lab.topic(1, 2, config={"unclean.leader.election.enable": "true"})
    lab.produce("a", acks=-1)
    lab.wait(1_000)
    lab.do(PauseReplica(tp="t-0", broker=2))
    lab.produce("b", "c")
    lab.wait(5_000)
    assert read(lab).error == "NONE"
    assert lab.consumed() == ["a", "b", "c"]
    lab.do(CrashBroker(broker=1))
    lab.do(ResumeReplica(tp="t-0", broker=2))
    lab.wait(10_000)
    lab.produce("x", "y", "z", retries=9)
    assert lab.values(2) == "a x y z"
    return lab


@pytest.mark.parametrize("version", ["2.1", "2.4", "3.9"])
def test_a_consumer_finds_out_that_records_were_cut_which_it_has_read(version: str) -> None:
    lab = cut_below_a_position(version)
    assert read(lab).error == "OFFSET_OUT_OF_RANGE"
    assert lab.consumed() == []
    [found] = lab.seen.of(ConsumerTruncationDetected)
    assert (found.tp, found.position, found.epoch, found.end_offset) == ("t-0", 3, 0, 1)


def test_with_a_reset_policy_it_goes_on_where_the_logs_diverge() -> None:
    lab = cut_below_a_position("3.9")
    assert read(lab, from_beginning=True).error == "NONE"
    assert lab.consumed() == ["x", "y", "z"]
    assert len(lab.seen.of(ConsumerTruncationDetected)) == 1
    assert read(lab).error == "NONE"
    assert lab.consumed() == []


def test_before_2_1_it_reads_on_and_misses_what_was_written_in_place_of_them() -> None:
    lab = cut_below_a_position("2.0.1")
    assert read(lab).error == "NONE"
    assert lab.consumed() == ["z"]
    assert lab.seen.of(ConsumerTruncationDetected) == []


def asked_epochs(lab: Lab) -> list[object]:
    """The leader epoch in each fetch of a consumer."""
    requests = lab.seen.of(MessageSent, name="FetchRequest", source=CLIENTS)
    return [row[2] for request in requests for row in request.detail]


@pytest.mark.parametrize(("version", "epoch"), [("2.0.1", -1), ("2.1", 1), ("3.9", 1)])
def test_a_fetch_carries_the_leader_epoch_of_the_metadata(version: str, epoch: int) -> None:
    lab = Lab(version, brokers=2, config=CONFIG)
    lab.topic(0, 1)
    lab.produce("a", acks=-1)
    lab.do(StopBroker(broker=0))
    lab.wait(1_000)
    lab.do(Consume(topic="t"))
    assert lab.consumed() == ["a"]
    assert set(asked_epochs(lab)) == {epoch}


def test_a_fenced_consumer_asks_for_the_metadata_again() -> None:
    lab = Lab("3.9", brokers=2, config=CONFIG)
    lab.topic(0, 1)
    lab.produce("a", acks=-1)
    lab.wait(1_000)
    lab.replica(0).leader_epoch = 1
    before = lab.cluster.now_us
    assert lab.do(Consume(topic="t")).error == "FENCED_LEADER_EPOCH"
    assert lab.cluster.now_us - before >= 3_000_000


def test_a_position_in_the_epoch_that_goes_on_is_good() -> None:
    lab = Lab("3.9", brokers=2, config=CONFIG)
    lab.do(CreateTopic(topic="__consumer_offsets", assignment=[[0]]))
    lab.topic(1)
    lab.produce("a", "b")
    assert read(lab).error == "NONE"
    lab.produce("c")
    assert read(lab).error == "NONE"
    assert lab.consumed() == ["c"]
    assert len(lab.seen.of(MessageSent, name="OffsetsForLeaderEpochRequest", source=CLIENTS)) == 1
