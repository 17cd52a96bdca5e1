"""Which replica serves a consumer, and how far."""

from typing import Any

import pytest

from emulator.broker.replication.consumer_fetch import ConsumerReads
from emulator.broker.replication.purgatory import PurgatoryState
from emulator.events import CLIENTS, RecordsConsumed
from emulator.inputs.statements import Consume, CrashBroker, CreateTopic, Produce
from emulator.protocol import AnyMessage, FetchPartition, FetchRequest, ListOffsetsRequest
from emulator.protocol.fetch import EARLIEST, LATEST, NO_LIMIT
from tests.emulator.coordinator.bench import Inbox
from tests.support.lab import Lab

RACK_AWARE = {"replica.selector.class": "RackAwareReplicaSelector"}


def lab(version: str = "3.9", racks: str = "abb", **spec: object) -> Lab:
    """Three brokers, the first of which leads ``t-0``; followers fetch when they are told."""
    given = {"config": RACK_AWARE, "stepwise": True, **spec}
    made = Lab(version, brokers=3, racks=list(racks), **given)
    made.topic(0, 1, 2)
    return made


def chosen(made: Lab, rack: str, offset: int = 0) -> int:
    """The broker that the leader names for a consumer of that rack."""
    reads: ConsumerReads = made.cluster.brokers[0].core.reads
    return reads.preferred(made.replica(0), offset, rack)


def test_without_the_selector_the_leader_serves_every_rack() -> None:
    made = lab(config={})
    made.fetch(1)
    assert chosen(made, "b") == 0


def test_the_leader_serves_its_own_rack() -> None:
    made = lab(racks="aab")
    made.fetch(1)
    assert chosen(made, "a") == 0


def test_of_two_followers_in_the_rack_the_one_with_more_records_serves() -> None:
    made = lab()
    made.produce("m", "n")
    made.fetch(1, times=2)
    made.fetch(2)
    assert (chosen(made, "b"), chosen(made, "b", offset=2)) == (1, 1)


def test_of_two_equal_followers_the_one_that_was_caught_up_last_serves() -> None:
    made = lab()
    made.produce("m")
    made.fetch(2, times=2)
    made.fetch(1, times=2)
    assert chosen(made, "b") == 1


def test_a_follower_without_the_offset_is_passed_over() -> None:
    made = lab()
    made.produce("m", "n")
    made.fetch(1)
    made.fetch(2)
    assert chosen(made, "b", offset=1) == 0


def test_a_dead_follower_is_passed_over() -> None:
    made = lab(racks="abc")
    made.fetch(1)
    assert chosen(made, "b") == 1
    made.do(CrashBroker(broker=1))
    made.wait(30_000)
    assert chosen(made, "b") == 0


@pytest.mark.parametrize(("version", "serves"), [("2.8", 1), ("3.5", 0)])
def test_a_follower_outside_the_isr_serves_up_to_3_3(version: str, serves: int) -> None:
    made = lab(version, racks="abc")
    made.fetch(1)
    made.fetch(2)
    made.produce("m")
    made.wait(40_000)
    made.fetch(2, times=2)
    made.tick("isr", 0)
    assert made.replica(0).isr == [0, 2]
    assert chosen(made, "b") == serves


def test_a_rack_is_refused_before_followers_served() -> None:
    made = lab("2.2", config={})
    outcome = made.do(Consume(topic="t", rack="b"))
    assert (outcome.error, outcome.refused) == ("UNSUPPORTED_VERSION", True)
    assert "since 2.4" in outcome.message


def test_a_follower_that_stops_serving_sends_its_consumer_back_to_the_leader() -> None:
    made = lab(racks="abc")
    made.produce("m")
    made.fetch(1, times=2)
    made.fetch(2, times=2)
    made.fetch(1)
    ticket = made.submit(Consume(topic="t", rack="b"))
    made.do(CrashBroker(broker=1))
    while not ticket.done:
        made.runner.advance()
    assert ticket.outcome is not None
    assert ticket.outcome.error in ("NONE", "NOT_LEADER_OR_FOLLOWER")


# ---- by hand: limits, waiting, offsets


class Hand(Inbox):
    """A consumer's end of the line, whose requests are sent by hand."""

    def __init__(self, made: Lab) -> None:
        super().__init__()
        self.lab = made
        made.cluster.kernel.actors[CLIENTS] = self

    def send(self, message: AnyMessage, broker: int = 0) -> int:
        number = self.lab.cluster.network.send(CLIENTS, broker, message)
        self.lab.wait(15)
        return number

    def fetch(self, offset: int = 0, tp: str = "t-0", **options: Any) -> int:
        """Ask for one partition; ``partition_bytes`` is max.partition.fetch.bytes."""
        most = options.pop("partition_bytes", NO_LIMIT)
        asked = {tp: FetchPartition(offset, max_bytes=most)}
        wait_us = options.pop("max_wait_us", 0)
        return self.send(FetchRequest(-1, wait_us, asked, one_shot=True, **options))

    def records(self, number: int) -> int | None:
        """How many records a response held; None: there is none yet."""
        response = self.responses.get(number)
        if response is None:
            return None
        return sum(batch.count for row in response.partitions.values() for batch in row.batches)

    def offset(self, timestamp_ms: int, epoch: int = -1) -> tuple[str, int, int]:
        """Error, offset and time of what is told of a time."""
        response = self.responses[self.send(ListOffsetsRequest(-1, "t-0", epoch, timestamp_ms))]
        return response.error, response.offset, response.timestamp_ms


def alone(version: str = "3.9", **config: str) -> Lab:
    """One broker with ``t-0`` and ``t-1``, each of ten batches of 61 + 7 + 100 bytes."""
    made = Lab(version, config={k.replace("_", "."): v for k, v in config.items()}, brokers=1)
    made.do(CreateTopic(topic="t", assignment=[[0], [0]]))
    made.wait(100)
    for partition in (0, 1):
        for _ in range(10):
            made.produce("v" * 100, partition=partition)
    return made


@pytest.mark.parametrize(
    ("options", "records"),
    [
        ({}, 10),
        ({"partition_bytes": 3 * 168}, 3),
        ({"partition_bytes": 3 * 168 - 1}, 2),
        ({"max_bytes": 4 * 168}, 4),
        ({"partition_bytes": 10}, 1),
    ],
)
def test_a_consumer_is_given_no_more_bytes_than_it_asked_for(
    options: dict[str, Any], records: int
) -> None:
    hand = Hand(alone())
    assert hand.records(hand.fetch(**options)) == records


def test_only_the_first_partition_with_records_may_be_over_the_limit() -> None:
    hand = Hand(alone())
    asked = {tp: FetchPartition(0) for tp in ("t-0", "t-1")}
    rows = hand.responses[hand.send(FetchRequest(-1, 0, asked, max_bytes=100))].partitions
    assert [len(row.batches) for row in rows.values()] == [1, 0]


def test_a_broker_limits_what_consumers_are_given_since_2_5() -> None:
    hand = Hand(alone(fetch_max_bytes="1024"))
    assert hand.records(hand.fetch()) == 1024 // 168


def test_before_kip_74_a_consumer_is_stuck_at_a_message_larger_than_its_limit() -> None:
    hand = Hand(alone("0.10.0"))
    assert hand.records(hand.fetch(partition_bytes=10)) == 0


def test_a_statement_reads_a_long_log_in_pieces() -> None:
    made = Lab("3.9", brokers=1)
    made.topic(0)
    made.produce("v" * 1000, count=3_000, batch=100)
    made.do(Consume(topic="t"))
    assert len(made.consumed()) == 3_000
    given = [sum(count for _, count in e.runs) for e in made.seen.of(RecordsConsumed)]
    assert len(given) == 3
    assert max(given) * 1_000 <= 1_048_576


def test_a_fetch_waits_for_the_high_watermark_and_no_longer_than_it_asked() -> None:
    made = alone()
    hand = Hand(made)
    number = hand.fetch(offset=10, max_wait_us=500_000)
    made.wait(400)
    assert hand.records(number) is None
    made.wait(200)
    assert hand.records(number) == 0


def test_records_above_the_high_watermark_end_no_wait_and_committed_ones_do() -> None:
    made = lab()
    hand = Hand(made)
    number = hand.fetch(max_wait_us=5_000_000)
    made.cluster.kernel.actors[CLIENTS] = made.cluster.clients
    made.do(Produce(topic="t", partition=0, value="a", acks=1))
    made.cluster.kernel.actors[CLIENTS] = hand
    made.wait(200)
    assert (made.replica(0).log.end, hand.records(number)) == (1, None)
    made.fetch(1, times=2)
    made.fetch(2, times=2)
    made.wait(20)
    assert hand.records(number) == 1
    assert made.cluster.brokers[0].state.core.consumer_fetches == PurgatoryState()


def test_a_fetch_may_wait_for_more_bytes_than_there_are() -> None:
    hand = Hand(alone())
    number = hand.fetch(max_wait_us=300_000, min_bytes=10_000)
    assert hand.records(number) is None
    hand.lab.wait(300)
    assert hand.records(number) == 10
    assert hand.records(hand.fetch(max_wait_us=300_000, min_bytes=1_000)) == 10


def test_a_fetch_that_waits_is_answered_when_the_leader_is_none_any_more() -> None:
    made = lab(stepwise=False, config={})
    made.wait(1_000)
    hand = Hand(made)
    number = hand.fetch(max_wait_us=5_000_000)
    made.tell(leader=1, epoch=1, isr=[0, 1, 2], brokers=[0, 1, 2])
    made.wait(20)
    assert hand.responses[number].partitions["t-0"].error == "NOT_LEADER_OR_FOLLOWER"


def test_what_waits_ends_with_the_process() -> None:
    made = lab(stepwise=False, config={})
    made.wait(1_000)
    hand = Hand(made)
    number = hand.fetch(max_wait_us=5_000_000)
    made.do(CrashBroker(broker=0))
    made.wait(6_000)
    assert hand.responses.get(number) is None
    assert made.cluster.brokers[0].state.core.consumer_fetches == PurgatoryState()


def test_an_offset_is_found_by_time() -> None:
    made = Lab("3.9", brokers=1)
    made.topic(0)
    times = []
    for value in "abc":
        times.append(made.cluster.now_us // 1_000)
        made.produce(value)
        made.wait(1_000)
    hand = Hand(made)
    assert hand.offset(EARLIEST) == ("NONE", 0, -1)
    assert hand.offset(LATEST) == ("NONE", 3, -1)
    for offset, sent_ms in enumerate(times):
        error, found, found_ms = hand.offset(sent_ms)
        assert (error, found) == ("NONE", offset)
        assert sent_ms <= found_ms < sent_ms + 500
    assert hand.offset(made.cluster.now_us) == ("NONE", -1, -1)


@pytest.mark.parametrize(("version", "error"), [("2.1", "NONE"), ("2.2", "OFFSET_NOT_AVAILABLE")])
def test_a_new_leader_whose_high_watermark_lags_does_not_tell_the_latest_offset(
    version: str, error: str
) -> None:
    """KIP-207: consumers have read up to the last leader's HW, which may be higher."""
    made = Lab(version, brokers=3, stepwise=True)
    made.topic(0, 1, 2)
    made.produce("a", "b")
    for _ in range(2):
        made.fetch(1)
        made.fetch(2)
    made.replica(1).high_watermark = 1
    made.tell(leader=1, epoch=1, isr=[0, 1, 2], brokers=[1])
    assert (made.replica(1).log.end, made.replica(1).high_watermark) == (2, 1)
    hand = Hand(made)
    request = ListOffsetsRequest(-1, "t-0", -1, LATEST)
    assert hand.responses[hand.send(request, broker=1)].error == error
    request = ListOffsetsRequest(-1, "t-0", -1, EARLIEST)
    assert hand.responses[hand.send(request, broker=1)].error == "NONE"
