"""KRaft's controller raises leader epochs without an election, and that is not told as one."""

from emulator.cluster import Cluster
from emulator.events import Event, LeaderElected, PartitionStateChanged
from emulator.inputs import statements as inputs
from emulator.inputs.statements import CreateCluster
from emulator.scenario.runner import Runner
from tests.support.kraft_faults import CONFIG, give, wait


def test_a_shrunk_isr_raises_the_epoch_of_the_leader_that_stays() -> None:
    events: list[Event] = []
    spec = CreateCluster(version="3.5", mode="kraft", controllers=3, config=CONFIG)
    runner = Runner(Cluster(spec, observers=[events.append]))
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    give(runner, inputs.CrashBroker(broker=2))
    wait(runner, 10_000)
    states = [event for event in events if isinstance(event, PartitionStateChanged)]
    assert [(each.leader, each.leader_epoch) for each in states] == [(0, 0), (0, 1)]
    give(runner, inputs.CrashBroker(broker=0))
    wait(runner, 10_000)
    elected = [event for event in events if isinstance(event, LeaderElected)]
    assert [(each.leader, each.strategy) for each in elected] == [(0, "New"), (1, "Offline")]
