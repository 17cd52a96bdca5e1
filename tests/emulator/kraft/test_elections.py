"""Which of KRaft's changes of a partition are told as elections, and of which kind."""

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


def test_an_eligible_replica_is_elected_cleanly_while_it_still_recovers() -> None:
    events: list[Event] = []
    spec = CreateCluster(version="4.1", mode="kraft", controllers=3, config=CONFIG)
    runner = Runner(Cluster(spec, observers=[events.append]))
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1]]))
    for broker in (1, 0):
        give(runner, inputs.CrashBroker(broker=broker))
        wait(runner, 10_000)
    give(runner, inputs.StartBroker(broker=1))
    give(runner, inputs.ElectUnclean(tp="t-0"))
    give(runner, inputs.StopBroker(broker=1, wait=False))
    wait(runner, 15_000)
    give(runner, inputs.StartBroker(broker=1))
    wait(runner, 5_000)
    elected = [event for event in events if isinstance(event, LeaderElected)]
    assert [(election.leader, election.strategy) for election in elected] == [
        (0, "New"),
        (1, "Unclean"),
        (1, "Offline"),
    ]
    assert runner.cluster.state.states["t-0"].leader_recovery_state
