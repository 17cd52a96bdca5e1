"""Scripts drawn from a seed: produces, faults, elections and time in any order.

The same seed gives the same script in every process: only :class:`random.Random` is asked.
"""

from collections.abc import Callable
from random import Random

from emulator.events import CLIENTS, ZOOKEEPER
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    AddPartitions,
    AnyInput,
    CancelReassignment,
    ConfigureTopic,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    DelayLink,
    DropOnLink,
    ElectPreferred,
    ElectUnclean,
    Expect,
    ExpireSession,
    FetchRound,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    IsolateBroker,
    PauseReplica,
    Produce,
    Reassign,
    ReleaseMessages,
    ResumeReplica,
    Settle,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
    Tick,
    Wait,
    WaitUntil,
    ZkCommand,
)
from emulator.releases.profiles import VERSIONS
from emulator.scenario.runner import Runner

BROKERS = 3
PARTITIONS = 3


def spec_of(seed: int) -> CreateCluster:
    """A cluster of some release."""
    return CreateCluster(brokers=BROKERS, version=Random(seed).choice(VERSIONS), seed=seed)


def script_of(seed: int, length: int) -> list[AnyInput]:
    """A topic, and so many statements about it and the brokers."""
    draw = Random(seed + 1_000_000)
    config = draw.choice([{}, {"min.insync.replicas": "2"}])
    topic = CreateTopic(
        topic="t",
        partitions=PARTITIONS,
        replication_factor=draw.choice([1, 2, 3]),
        policy=draw.choice(["seed", "kafka"]),
        config=config,
    )
    return [topic, *statements(draw, length)]


def statements(draw: Random, length: int) -> list[AnyInput]:
    """So many statements about topic ``t`` and the brokers."""
    return [draw.choice(STATEMENTS)(draw) for _ in range(length)]


def run(runner: Runner, script: list[AnyInput]) -> None:
    """Run a script to its end."""
    for wanted in script:
        runner.execute(Statement(wanted, type(wanted).__name__))


def _broker(draw: Random) -> int:
    return draw.randrange(BROKERS)


def _pair(draw: Random) -> tuple[int, int]:
    source = _broker(draw)
    others = [host for host in (*range(BROKERS), ZOOKEEPER) if host != source]
    return source, draw.choice(others)


def _tp(draw: Random) -> str:
    return f"t-{draw.randrange(PARTITIONS)}"


def _produce(draw: Random) -> AnyInput:
    return Produce(
        topic="t",
        partition=draw.choice([None, None, 0, 1]),
        key=draw.choice([None, "a", "b"]),
        value="v",
        count=draw.choice([1, 3, 6]),
        batch=draw.choice([1, 2]),
        acks=draw.choice([None, 0, 1, -1]),
        retries=draw.choice([0, 3]),
        timeout_us=draw.choice([300_000, 2_000_000]),
        producer=draw.choice(["p1", "p2"]),
        background=draw.random() < 0.7,
        idempotent=draw.random() < 0.2,
    )


def _consume(draw: Random) -> AnyInput:
    group = draw.choice([None, None, "g"])
    return Consume(topic="t", consumer=draw.choice(["c1", "c2"]), group=group)


def _reassign(draw: Random) -> AnyInput:
    replicas = draw.sample(range(BROKERS), draw.choice([1, 2, 3]))
    return Reassign(tp=_tp(draw), replicas=replicas)


def _cut(draw: Random) -> AnyInput:
    source, destination = _pair(draw)
    return CutLink(source=source, destination=destination, one_way=draw.choice([True, False]))


def _drop(draw: Random) -> AnyInput:
    destination = draw.choice([_pair(draw)[1], CLIENTS])
    source = draw.choice([each for each in range(BROKERS) if each != destination])
    return DropOnLink(source=source, destination=destination, percent=draw.choice([5.0, 40.0]))


def _delay(draw: Random) -> AnyInput:
    source, destination = _pair(draw)
    delay_us = draw.choice([1_000, 40_000, 700_000])
    return DelayLink(source=source, destination=destination, delay_us=delay_us)


def _hold(draw: Random) -> AnyInput:
    source, destination = _pair(draw)
    api = draw.choice([None, "FetchResponse", "LeaderAndIsr", "UpdateMetadata"])
    return HoldMessages(source=source, destination=destination, api=api)


def _release(draw: Random) -> AnyInput:
    source, destination = _pair(draw)
    return ReleaseMessages(
        source=source,
        destination=destination,
        count=draw.choice([None, 1]),
        lose=draw.choice([True, False]),
    )


def _crash(draw: Random) -> AnyInput:
    return CrashBroker(broker=_broker(draw), lose_unflushed=draw.random() < 0.2)


def _wait(draw: Random) -> AnyInput:
    return Wait(duration_us=draw.choice([1_000, 200_000, 1_000_000, 7_000_000, 20_000_000]))


STATEMENTS: tuple[Callable[[Random], AnyInput], ...] = (
    *(_produce, _produce, _produce),
    *(_wait, _wait, _wait),
    *(_crash, _cut, _drop, _delay, _hold, _release),
    *(_consume, _reassign),
    lambda draw: CancelReassignment(tp=_tp(draw)),
    lambda draw: ElectUnclean(tp=_tp(draw)),
    lambda draw: StartBroker(broker=_broker(draw)),
    lambda draw: StartBroker(broker=_broker(draw)),
    lambda draw: StopBroker(broker=_broker(draw)),
    lambda draw: FreezeBroker(broker=_broker(draw)),
    lambda draw: ThawBroker(broker=_broker(draw)),
    lambda draw: IsolateBroker(broker=_broker(draw)),
    lambda draw: HealLinks(),
    lambda draw: ExpireSession(broker=_broker(draw)),
    lambda draw: ElectPreferred(),
    lambda draw: ZkCommand(command="delete", path="/controller"),
    lambda draw: PauseReplica(tp=_tp(draw), broker=_broker(draw)),
    lambda draw: ResumeReplica(tp=_tp(draw), broker=_broker(draw)),
    lambda draw: Tick(task=draw.choice(["isr", "checkpoint", "rebalance"])),
    lambda draw: AddPartitions(topic="t", partitions=PARTITIONS + 1),
    lambda draw: ConfigureTopic(
        topic="t", config={"unclean.leader.election.enable": draw.choice(["true", "false"])}
    ),
    lambda draw: Settle(),
)
"""What a random script is made of; what stands twice comes twice as often."""


def timed_script_of(seed: int, length: int) -> list[AnyInput]:
    """A script whose statements end at moments at which other things are due as well.

    Processes that start set their timers for whole seconds ahead, and waits and limits of whole
    seconds end with several of them. It has ``length`` parts, each of one or more statements.
    """
    draw = Random(seed + 2_000_000)
    script = [script_of(seed, 0)[0], Wait(duration_us=_seconds(draw))]
    for _ in range(length):
        script += _restart(draw) if draw.random() < 0.3 else [draw.choice(_ANY)(draw)]
    return script


def _restart(draw: Random) -> list[AnyInput]:
    """A broker goes and comes back, and some of its first timers end with what follows."""
    broker = _broker(draw)
    gone: list[AnyInput] = [CrashBroker(broker=broker), StopBroker(broker=broker)]
    within_us = draw.choice([5, 15, 30]) * 1_000_000
    ends: list[AnyInput] = [
        Wait(duration_us=within_us),
        Wait(duration_us=within_us),
        WaitUntil(clauses=_clauses(draw), within_us=within_us),
    ]
    away = Wait(duration_us=_seconds(draw))
    return [draw.choice(gone), away, StartBroker(broker=broker), draw.choice(ends)]


def _seconds(draw: Random) -> int:
    return draw.choice([0, 1, 2, 3, 5, 10, 18, 20, 30]) * 1_000_000


def _clauses(draw: Random) -> list[Clause]:
    """A condition that may hold now, soon, or never."""
    return [
        draw.choice(
            [
                Clause(Subject("partition", _tp(draw), "leader"), "==", _broker(draw)),
                Clause(Subject("partition", _tp(draw), "isr"), "contains", _broker(draw)),
                Clause(Subject("replica", f"{_tp(draw)}@{_broker(draw)}", "leo"), ">", 3),
                Clause(Subject("producer", "p1", "pending"), "==", 0),
                Clause(Subject("cluster", "", "under_replicated"), "==", 0),
            ]
        )
    ]


TIMED: tuple[Callable[[Random], AnyInput], ...] = (
    lambda draw: Wait(duration_us=_seconds(draw)),
    lambda draw: Wait(duration_us=_seconds(draw)),
    lambda draw: WaitUntil(clauses=_clauses(draw), within_us=_seconds(draw)),
    lambda draw: Expect(clauses=_clauses(draw)),
    lambda draw: Settle(quiet_us=_seconds(draw)),
    lambda draw: FetchRound(tp=_tp(draw), broker=_broker(draw), times=2),
    lambda draw: StartBroker(broker=_broker(draw)),
    lambda draw: CrashBroker(broker=_broker(draw)),
)
"""Statements that wait for something, and those after which timers are due at whole seconds."""

_ANY = (*STATEMENTS, *TIMED * 4)
