"""Faults at random in clusters without ZooKeeper, and their end."""

from random import Random

from emulator.inputs import statements as inputs
from emulator.inputs.statements import AnyInput, Statement
from emulator.scenario.outcome import Outcome
from emulator.scenario.runner import Runner

CONFIG = {
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "4000",
    "min.insync.replicas": "2",
}


def give(runner: Runner, wanted: AnyInput) -> Outcome:
    """Execute a statement, which may be refused."""
    return runner.execute(Statement(wanted, type(wanted).__name__))


def wait(runner: Runner, ms: int) -> None:
    """Let virtual time pass."""
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
