"""What a statement costs follows what it does, and neither the cluster's size nor its past.

Costs are counted in calls of functions, which are the same on every machine.
"""

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import msgspec

from emulator.cluster import Cluster
from emulator.inputs.statements import (
    Consume,
    CreateCluster,
    CreateTopic,
    ElectPreferred,
    Produce,
    Settle,
    Wait,
)
from tests.support.running import do

SECOND_US = 1_000_000


def calls(work: Callable[[], object]) -> int:
    """The number of Python functions that ``work`` calls."""
    count = 0

    def called(_frame: FrameType, event: str, _argument: Any) -> None:  # noqa: ANN401
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def cluster_with(partitions: int, brokers: int = 3) -> Cluster:
    cluster = Cluster(
        CreateCluster(brokers=brokers, config={"auto.leader.rebalance.enable": "false"})
    )
    do(cluster, CreateTopic(topic="t", partitions=partitions, replication_factor=2), Settle())
    return cluster


def test_preferred_elections_of_all_partitions_cost_so_much_each() -> None:
    counted: list[int] = []
    for size in (100, 400):
        cluster = cluster_with(size)
        counted.append(calls(lambda of=cluster: do(of, ElectPreferred(), Settle())))  # type: ignore[misc]
    few, many = counted
    assert many < 4.4 * few


def written(cluster: Cluster, batches: int) -> None:
    do(cluster, Produce(topic="t", partition=0, value="v", count=batches, producer="p", batch=1))


def test_a_record_costs_the_same_however_long_the_log_is() -> None:
    cluster = cluster_with(1)
    written(cluster, 50)
    early = calls(lambda: written(cluster, 50))
    written(cluster, 1_000)
    late = calls(lambda: written(cluster, 50))
    assert late < 1.15 * early


def test_truncating_costs_the_same_however_long_the_log_is() -> None:
    """The states of producers are not rebuilt from all of it."""

    def truncation(batches: int) -> int:
        cluster = cluster_with(1, brokers=2)
        given = Produce(topic="t", partition=0, value="v", count=batches, idempotent=True, acks=-1)
        do(cluster, given)
        replica = cluster.brokers[1].core.replicas.by_name["t-0"]
        assert replica.log_end == batches
        assert replica.producers.producers
        replica.log.truncate(batches - 5)
        return calls(lambda: replica.producers.truncate(replica.log))

    assert truncation(2_000) <= truncation(100)


def group_states(cluster: Cluster) -> Iterator[int]:
    for broker in cluster.brokers.values():
        yield len(broker.core.coordinator.state.groups)


def test_a_group_costs_the_same_however_many_others_there_are() -> None:
    cluster = cluster_with(1)
    written(cluster, 5)

    def consumed(name: str) -> int:
        return calls(lambda: do(cluster, Consume(topic="t", max_records=5, group=name)))

    consumed("warm")
    early = consumed("first")
    for number in range(30):
        consumed(f"g{number}")
    assert sum(group_states(cluster)) >= 30
    assert consumed("last") < 1.15 * early


def test_what_is_finished_leaves_nothing_behind() -> None:
    """Neither jobs nor errors pile up: of statements, only records and their fates remain."""
    cluster = cluster_with(1)

    def size() -> int:
        return len(msgspec.msgpack.encode(cluster.clients.state, enc_hook=lambda _records: []))

    def round_of_statements() -> None:
        written(cluster, 1)
        do(cluster, Produce(topic="none", partition=0, value="v", producer="p", retries=0))
        do(cluster, Wait(duration_us=SECOND_US))

    for _ in range(5):
        round_of_statements()
    early = size()
    for _ in range(40):
        round_of_statements()
    assert size() < early + 200
