"""Faults at random in clusters without ZooKeeper: once they end, everybody agrees again."""

from random import Random

import pytest

from emulator.cluster import Cluster
from emulator.inputs import statements as inputs
from emulator.inputs.statements import AnyInput, CreateCluster, Statement
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Runner

CONFIG = {
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "4000",
    "min.insync.replicas": "2",
}


def cluster(version: str, seed: int, controllers: int = 3) -> Runner:
    spec = CreateCluster(
        version=version, mode="kraft", controllers=controllers, seed=seed, config=CONFIG
    )
    return Runner(Cluster(spec))


def give(runner: Runner, wanted: AnyInput) -> Outcome:
    return runner.execute(Statement(wanted, type(wanted).__name__))


def wait(runner: Runner, ms: int) -> None:
    runner.run_until(runner.now_us + ms * 1000)


def faults(random: Random, number: int) -> list[AnyInput]:
    """Something that goes wrong; what makes no sense at the moment is refused."""
    broker, controller = random.randrange(3), str(100 + random.randrange(3))
    ends = random.sample([0, 1, 2, 100, 101, 102], 2)
    chosen: list[AnyInput] = [
        inputs.CrashBroker(broker=broker),
        inputs.StartBroker(broker=broker, wait=False),
        inputs.FreezeBroker(broker=broker),
        inputs.ThawBroker(broker=broker),
        inputs.ChangeController(action="crash", which=controller),
        inputs.ChangeController(action="start", which=controller, wait=False),
        inputs.ChangeController(action="freeze", which=controller),
        inputs.ChangeController(action="thaw", which=controller),
        inputs.CutLink(source=ends[0], destination=ends[1]),
        inputs.CutLink(source=ends[0], destination=ends[1], one_way=True),
        inputs.DelayLink(source=ends[0], destination=ends[1], delay_us=40_000),
        inputs.DropOnLink(source=ends[0], destination=ends[1], percent=10),
        inputs.HealLinks(),
    ]
    record = inputs.Produce(
        topic="t", value=f"v{number}", acks=-1, retries=2, timeout_us=2_000_000, background=True
    )
    return [random.choice(chosen), record]


def end_faults(runner: Runner) -> None:
    """Everything works again."""
    cluster = runner.cluster
    give(runner, inputs.HealLinks())
    for controller in cluster.controllers:
        which = str(controller)
        give(runner, inputs.ChangeController(action="thaw", which=which))
        give(runner, inputs.ChangeController(action="start", which=which, wait=False))
    for broker in cluster.brokers:
        give(runner, inputs.ThawBroker(broker=broker))
        give(runner, inputs.StartBroker(broker=broker, wait=False))


SEEDS = (*range(4), 108)
"""In 108 a refusal rests on records that never were committed."""


@pytest.mark.parametrize("version", ["3.9", "4.0", "4.1"])
@pytest.mark.parametrize("seed", SEEDS)
def test_after_faults_everybody_agrees(version: str, seed: int) -> None:
    random = Random(f"{version} {seed}")
    runner = cluster(version, seed)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2], [1, 2, 0]]))
    for number in range(20):
        for each in faults(random, number):
            give(runner, each)
        wait(runner, random.randrange(50, 1500))
    end_faults(runner)
    wait(runner, 60_000)
    found = runner.cluster
    kraft = found.kraft
    assert kraft is not None
    active = found.active_controller()
    assert active is not None
    committed = kraft.committed.image
    for broker in kraft.brokers.values():
        image = broker.image
        assert image.topics == committed.topics
        assert image.brokers == committed.brokers
        assert image.configs == committed.configs
        assert committed.offset - image.offset <= 2  # no-ops are on the way
    assert all(each.is_active for each in committed.brokers.values())
    for _, _, partition in committed.partitions():
        assert sorted(partition.isr) == sorted(partition.replicas)
        assert partition.leader >= 0
    leader = kraft.controllers[active].quorum
    for controller in kraft.controllers.values():
        shared = min(controller.quorum.high_watermark, leader.high_watermark)
        assert controller.quorum.log.from_offset(0, shared) == leader.log.from_offset(0, shared)
    unexpected = found.state.invariants.violated.keys() - found.invariants.known.keys()
    assert not unexpected


def test_a_fork_goes_on_as_its_original() -> None:
    runner = cluster("4.1", 5)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    give(runner, inputs.CrashBroker(broker=0))
    give(runner, inputs.ChangeController(action="freeze", which="active"))
    wait(runner, 900)
    fork = runner.fork()
    assert fork.state_hash == runner.state_hash
    wait(runner, 9_000)
    wait(fork, 9_000)
    assert fork.state_hash == runner.state_hash
    assert fork.cluster.active_controller() is not None


def test_the_same_seed_gives_the_same_state() -> None:
    hashes = set()
    for _ in range(2):
        runner = cluster("4.0", 7)
        give(runner, inputs.CreateTopic(topic="t", partitions=4, replication_factor=3))
        give(runner, inputs.ChangeController(action="crash", which="active"))
        wait(runner, 8_000)
        hashes.add(runner.state_hash)
    assert len(hashes) == 1
