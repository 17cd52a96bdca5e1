"""Consumers: truncation below their position (KIP-320), waiting, beginning at a time."""

from typing import Any

import pytest

from emulator.clients.fetcher import Fetcher
from emulator.events import (
    CLIENTS,
    ConsumerTruncationDetected,
    MessageSent,
    OffsetCommitted,
    RecordsConsumed,
)
from emulator.inputs.statements import (
    Consume,
    CrashBroker,
    CreateTopic,
    PauseReplica,
    Produce,
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
def test_a_consumer_finds_out_that_records_were_truncated_which_it_has_read(version: str) -> None:
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


# ---- waiting for more


def waits(lab: Lab, timeout_ms: int = 2_000, **options: Any) -> tuple[str, float]:
    """A consume that waits: its error, and how long it took in milliseconds."""
    before = lab.cluster.now_us
    ended = lab.do(Consume(topic="t", timeout_us=timeout_ms * 1_000, **options))
    return ended.error, (lab.cluster.now_us - before) / 1_000


def produced_later(lab: Lab, count: int, every_ms: int = 400, **options: Any) -> None:
    lab.submit(
        Produce(
            topic="t", value="v", count=count, every_us=every_ms * 1_000, background=True, **options
        )
    )


def polls(lab: Lab) -> int:
    return len(lab.seen.of(MessageSent, name="FetchRequest", source=CLIENTS))


@pytest.mark.parametrize("version", ["0.8.1", "0.10.2", "2.4", "3.9"])
def test_a_consumer_waits_for_records_that_come_later(version: str) -> None:
    lab = Lab(version, brokers=2)
    lab.topic(0, 1)
    lab.wait(1_000)
    produced_later(lab, 4)
    error, took_ms = waits(lab)
    assert (error, lab.consumed()) == ("NONE", ["v-0", "v-1", "v-2", "v-3"])
    assert 3_200 <= took_ms <= 3_400


def test_a_consumer_that_has_what_it_wants_waits_no_longer() -> None:
    lab = Lab("3.9", brokers=2)
    lab.topic(0, 1)
    lab.wait(1_000)
    produced_later(lab, 4)
    error, took_ms = waits(lab, max_records=2)
    assert (error, lab.consumed()) == ("NONE", ["v-0", "v-1"])
    assert 400 <= took_ms <= 500


def test_while_nothing_comes_a_fetch_waits_at_the_broker_for_fetch_max_wait_ms() -> None:
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    assert waits(lab)[0] == "NONE"
    assert polls(lab) == 1 + 4  # what there is, then one about every 510 ms
    before = polls(lab)
    waits(lab, max_wait_us=100_000)
    assert polls(lab) - before == 1 + 19


def test_a_broker_collects_fetch_min_bytes() -> None:
    lab = Lab("3.9", brokers=1)
    lab.topic(0)
    produced_later(lab, 7, every_ms=100)
    waits(lab, min_bytes=200, max_wait_us=10_000_000, max_records=7)
    given = [sum(count for _, count in each.runs) for each in lab.seen.of(RecordsConsumed)]
    assert given == [1, 3, 3]
    assert lab.consumed() == [f"v-{number}" for number in range(7)]


def test_a_consumer_waits_for_all_partitions_at_once() -> None:
    lab = Lab("3.9", brokers=3)
    lab.do(CreateTopic(topic="t", assignment=[[0], [1], [1]]))
    lab.wait(1_000)
    for partition in range(3):
        produced_later(lab, 1, producer=f"p{partition}", partition=partition)
    error, took_ms = waits(lab, 1_000, max_records=3)
    assert (error, sorted(lab.consumed())) == ("NONE", ["v"] * 3)
    assert took_ms < 100


@pytest.mark.parametrize("version", ["0.9", "2.1", "3.9"])
def test_a_consumer_that_waits_goes_over_to_the_next_leader(version: str) -> None:
    lab = Lab(version, brokers=3, config={"zookeeper.session.timeout.ms": "4000"})
    lab.topic(1, 2)
    lab.wait(1_000)
    produced_later(lab, 8, every_ms=1_000, acks=-1, retries=20)
    lab.submit(Consume(topic="t", timeout_us=9_000_000, max_records=8))
    lab.wait(2_500)
    lab.do(CrashBroker(broker=1))
    lab.wait(20_000)
    assert lab.cluster.clients.state.consumers["c1"].reading is None
    assert lab.consumed() == [f"v-{number}" for number in range(8)]


def test_a_member_stops_waiting_and_commits_when_its_group_rebalances() -> None:
    lab = Lab("3.9", brokers=1, config=CONFIG)
    lab.do(CreateTopic(topic="__consumer_offsets", assignment=[[0]]))
    lab.do(CreateTopic(topic="t", assignment=[[0], [0]]))
    lab.wait(1_000)
    lab.produce("a", partition=0)
    lab.submit(Consume(topic="t", group="g", timeout_us=30_000_000))
    lab.wait(2_000)
    assert lab.consumed() == ["a"]
    assert lab.seen.of(OffsetCommitted) == []
    assert lab.do(Consume(topic="t", group="g", consumer="c2")).error == "NONE"
    assert lab.cluster.clients.state.consumers["c1"].reading is None
    first = {each.tp: each.offset for each in lab.seen.of(OffsetCommitted)[:2]}
    assert first == {"t-0": 1, "t-1": 0}
    assert lab.consumed("c2") == []


# ---- from a timestamp


def with_times(version: str = "3.9") -> tuple[Lab, list[int]]:
    """Records a, b and c on partition 0, d on 1, and when each was produced."""
    lab = Lab(version, brokers=2)
    lab.do(CreateTopic(topic="t", assignment=[[0], [1]]))
    lab.wait(1_000)
    times = []
    for value, partition in (("a", 0), ("b", 0), ("c", 0), ("d", 1)):
        times.append(lab.cluster.now_us)
        lab.produce(value, partition=partition)
        lab.wait(2_000)
    return lab, times


@pytest.mark.parametrize("version", ["0.10.2", "2.1", "3.9"])
def test_a_consumer_begins_at_the_first_record_that_is_not_older_than_a_timestamp(
    version: str,
) -> None:
    lab, times = with_times(version)
    assert lab.do(Consume(topic="t", from_timestamp_us=times[1])).error == "NONE"
    assert lab.consumed() == ["b", "c", "d"]


def test_where_no_record_is_as_young_it_begins_with_the_next_one() -> None:
    lab, times = with_times()
    young_us = times[3] + 1_000_000
    assert lab.do(Consume(topic="t", from_timestamp_us=young_us)).error == "NONE"
    assert lab.consumed() == []
    produced_later(lab, 1, partition=0)
    assert waits(lab, from_timestamp_us=young_us, max_records=1)[0] == "NONE"
    assert lab.consumed() == ["v"]


def test_a_timestamp_goes_before_the_groups_position() -> None:
    lab, times = with_times()
    lab.do(CreateTopic(topic="__consumer_offsets", assignment=[[0]]))
    assert read(lab).error == "NONE"
    assert lab.do(Consume(topic="t", group="g", from_timestamp_us=times[2])).error == "NONE"
    assert lab.consumed() == ["c", "d"]


def test_before_kip_79_there_are_no_offsets_by_timestamp() -> None:
    lab = Lab("0.10.0", brokers=1)
    lab.topic(0)
    refused = lab.do(Consume(topic="t", from_timestamp_us=1))
    assert refused.message == "Consumers find offsets by timestamp since 0.10.1, not in 0.10.0."
