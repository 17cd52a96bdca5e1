"""Real KRaft clusters in known states, as the events of the scripts that lead there."""

from functools import cache

from commands.language.parser import parse_script
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import Statement
from emulator.scenario.runner import Runner

CLUSTER = "cluster --brokers 3 --controllers 3 --version 4.1"
TOPIC = "topic create orders --partitions 3 --replication-factor 3 --config min.insync.replicas=2"
FENCED = (CLUSTER, TOPIC, "produce orders --value paid --acks all", "broker crash 2", "wait 12s")
"""Broker 2 dies and is fenced: it led orders-2."""
ELIGIBLE = (*FENCED, "broker crash 1", "wait 12s")
"""Broker 1 dies as well: it is eligible in each partition, whose ISR is below the minimum."""


@cache
def events_of(*statements: str) -> list[Event]:
    """All that happens in a script."""
    script = parse_script("\n".join(statements), "kraft.tide")
    seen: list[Event] = []
    cluster = Cluster(script.spec, [seen.append])
    runner = Runner(cluster)
    for step in script.steps:
        assert isinstance(step, Statement)
        runner.execute(step)
    return seen
