"""What KRaft guarantees is broken on purpose, in the state of a running cluster, and reported."""

from typing import Literal

from emulator import events
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs import statements as inputs
from emulator.inputs.statements import CreateCluster
from emulator.raft.state import NOBODY, QuorumState
from emulator.scenario.runner import Runner
from tests.support.kraft_faults import CONFIG, give, wait

ControllerAction = Literal["crash", "start", "freeze"]


class Broken:
    """A quiet cluster of 4.1 with one topic, and the violations that are reported of it."""

    def __init__(self) -> None:
        self.violations: list[tuple[str, bool]] = []
        spec = CreateCluster(version="4.1", controllers=3, config=CONFIG)
        self.runner = Runner(Cluster(spec, observers=[self._see]))
        give(self.runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
        give(self.runner, inputs.Produce(topic="t", count=2, acks=-1))
        wait(self.runner, 2_000)

    def _see(self, event: Event) -> None:
        if isinstance(event, events.InvariantViolated):
            self.violations.append((event.name, event.known))

    def active(self) -> int:
        controllers = self.controllers()
        return next(each for each, quorum in controllers.items() if quorum.role == "leader")

    def controllers(self) -> dict[int, QuorumState]:
        kraft = self.runner.cluster.state.kraft
        assert kraft is not None
        return {each: process.quorum for each, process in kraft.controllers.items()}

    def change_controller(self, action: ControllerAction, which: int) -> None:
        give(self.runner, inputs.ChangeController(action=action, which=str(which)))


def test_nothing_is_broken_in_a_failover() -> None:
    cluster = Broken()
    cluster.change_controller("crash", cluster.active())
    give(cluster.runner, inputs.CrashBroker(broker=0))
    wait(cluster.runner, 15_000)
    assert cluster.violations == []


def test_a_second_leader_of_a_quorum_epoch_is_reported() -> None:
    """The standbys forget the epoch and whom they voted for, and elect another in it."""
    cluster = Broken()
    active = cluster.active()
    cluster.change_controller("freeze", active)
    for controller, quorum in cluster.controllers().items():
        if controller != active:
            quorum.epoch -= 1
            quorum.leader = quorum.voted_for = NOBODY
    wait(cluster.runner, 10_000)
    assert ("OneLeaderPerQuorumEpoch", False) in cluster.violations


def test_committed_metadata_that_a_new_leader_lacks_is_reported() -> None:
    """All controllers die, and two return from disks that have lost the end of the log."""
    cluster = Broken()
    lost, *others = cluster.controllers()
    for controller in (lost, *others):
        cluster.change_controller("crash", controller)
    for controller in others:
        del cluster.controllers()[controller].log.batches[-2:]
        cluster.change_controller("start", controller)
    wait(cluster.runner, 10_000)
    assert set(cluster.violations) == {("CommittedMetadata", False)}


def test_an_eligible_replica_without_a_committed_record_is_reported() -> None:
    """Broker 2 is killed, and its log loses a record before the controller notices."""
    cluster = Broken()
    give(cluster.runner, inputs.CrashBroker(broker=1))
    wait(cluster.runner, 6_000)
    give(cluster.runner, inputs.CrashBroker(broker=2))
    assert cluster.violations == []
    replica = cluster.runner.cluster.replica("t-0", 2)
    assert replica is not None
    replica.log_end -= 1
    wait(cluster.runner, 6_000)
    assert cluster.runner.cluster.metadata_facts.eligible("t-0") == (2,)
    assert cluster.violations == [("CommittedInElr", False)]
