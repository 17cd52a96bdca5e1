"""Short words for tests that run a whole cluster."""

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    AnyInput,
    CreateCluster,
    CreateTopic,
    Produce,
    Settle,
    Statement,
    WaitUntil,
)
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Runner

QUICK = {"zookeeper.session.timeout.ms": "4000", "auto.leader.rebalance.enable": "false"}


def do(cluster: Cluster, *wanted: AnyInput) -> Outcome:
    """Run statements to their ends; the last one's outcome."""
    runner, outcome = Runner(cluster), Outcome()
    for each in wanted:
        outcome = runner.execute(Statement(each, type(each).__name__))
    return outcome


def partition(tp: str, field: str) -> Subject:
    """A partition's field, as a condition names it."""
    return Subject("partition", tp, field)


def replica(tp: str, broker: int, field: str) -> Subject:
    """A replica's field, as a condition names it."""
    return Subject("replica", f"{tp}@{broker}", field)


def until(tp: str, field: str, value: int | list[int | str | list[int]]) -> WaitUntil:
    """Wait until a partition's field has a value."""
    return WaitUntil(clauses=[Clause(partition(tp, field), "==", value)])


def with_topic(
    *replicas: int, version: str = "3.9", brokers: int = 4, stepwise: bool = False
) -> tuple[Cluster, list[Event]]:
    """A cluster with topic ``t`` of one partition, led by the first of ``replicas``; its events."""
    seen: list[Event] = []
    spec = CreateCluster(version=version, brokers=brokers, config=QUICK, stepwise=stepwise)
    cluster = Cluster(spec, [seen.append])
    do(cluster, CreateTopic(topic="t", assignment=[list(replicas)]))
    do(cluster, until("t-0", "leader", replicas[0]), Settle())
    return cluster, seen


def produce(value: str, *, acks: int = -1, count: int = 1) -> Produce:
    """Records for ``t``."""
    return Produce(topic="t", value=value, acks=acks, count=count, retries=20)  # type: ignore[arg-type]
