"""Consumers: up to the high watermark, never past it."""

import pytest

from emulator.clients.consumer import Consumers
from emulator.clients.network_client import RESPONSE_US
from emulator.cluster import Cluster
from emulator.events import CLIENTS
from emulator.inputs.statements import (
    Consume,
    CrashBroker,
    CutLink,
    FreezeBroker,
    HealLinks,
    Settle,
    Statement,
)
from emulator.scenario.runner import Runner
from tests.support.running import do, produce, until, with_topic


def _values(cluster: Cluster, name: str = "c1") -> list[str]:
    consumer = cluster.clients.state.consumers[name]
    value_of = cluster.clients.value_of
    return [value_of(first + i) for first, count in consumer.runs for i in range(count)]


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Four committed records, and two above the high watermark."""
    made, _ = with_topic(1, 2)
    do(made, produce("a", count=4), Settle(), FreezeBroker(broker=2), Settle())
    do(made, produce("b", acks=1, count=2))
    assert isinstance(made.clients.consumers, Consumers)
    return made


@pytest.mark.parametrize(
    ("wanted", "values", "position"),
    [
        (Consume(topic="t"), ["a-0", "a-1", "a-2", "a-3"], 4),
        (Consume(topic="t", offset=2), ["a-2", "a-3"], 4),
        (Consume(topic="t", max_records=3), ["a-0", "a-1", "a-2"], 3),
        (Consume(topic="t", offset=4), [], 4),
        (Consume(topic="t", offset=6), [], 6),
    ],
)
def test_what_a_consumer_is_given(
    cluster: Cluster, wanted: Consume, values: list[str], position: int
) -> None:
    assert do(cluster, wanted).error == "NONE"
    assert _values(cluster) == values
    assert cluster.clients.state.consumers["c1"].position == position


def test_past_the_log_end_is_out_of_range(cluster: Cluster) -> None:
    outcome = do(cluster, Consume(topic="t", offset=7, consumer="past"))
    assert outcome.error == "OFFSET_OUT_OF_RANGE"
    assert cluster.clients.state.consumers["past"].position == 7


def test_a_partition_without_leader_is_not_available() -> None:
    cluster, _ = with_topic(1)
    do(cluster, CrashBroker(broker=1), until("t-0", "leader", -1))
    assert do(cluster, Consume(topic="t")).error == "LEADER_NOT_AVAILABLE"


def test_a_topic_that_does_not_exist_is_unknown() -> None:
    cluster, _ = with_topic(1)
    assert do(cluster, Consume(topic="x")).error == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_consumer_that_gives_up_loses_nobody_elses_requests() -> None:
    cluster, _ = with_topic(1)
    do(cluster, produce("a"), Consume(topic="t", consumer="hasty"))
    do(cluster, CutLink(source=CLIENTS, destination=1))
    runner = Runner(cluster)
    hasty = runner.submit(Statement(Consume(topic="t", consumer="hasty"), "consume t"))
    runner.run_until(cluster.now_us + RESPONSE_US - 100_000)
    patient = runner.submit(Statement(produce("b", acks=1), "produce t"))
    runner.run_until(cluster.now_us + 200_000)
    assert hasty.outcome is not None
    assert hasty.outcome.error == "NETWORK_EXCEPTION"
    do(cluster, HealLinks())
    runner.run_until(cluster.now_us + 1_000_000)
    assert patient.outcome is not None
    assert patient.outcome.error == "NONE"
