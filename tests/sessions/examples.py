"""A cluster to which much happens, what it states, and recordings of it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.conditions import Clause, Subject
from emulator.inputs.statements import (
    AddPartitions,
    AnyInput,
    ConfigureTopic,
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    CutLink,
    DeleteTopic,
    ElectPreferred,
    Expect,
    FreezeBroker,
    HealLinks,
    HoldMessages,
    Mark,
    PauseReplica,
    Produce,
    Reassign,
    ReleaseMessages,
    ResumeReplica,
    StartBroker,
    Statement,
    StopBroker,
    ThawBroker,
    Wait,
    ZkCommand,
)
from emulator.scenario.runner import Runner
from sessions.format.metadata import Origin, input_checksum, meta_checksum
from sessions.model.cluster_view import ClusterView
from sessions.recording import keyframe_taker
from sessions.recording import recorder as record
from sessions.recording.recorder import Recorder

SPEC = CreateCluster(
    brokers=4,
    seed=7,
    racks=["a", "b", "a", "b"],
    config={
        "zookeeper.session.timeout.ms": "3000",
        "replica.lag.time.max.ms": "4000",
        "replica.high.watermark.checkpoint.interval.ms": "300",
        "unclean.leader.election.enable": "true",
    },
)


def second(count: float = 1) -> Wait:
    return Wait(duration_us=int(count * 1_000_000))


STORY: tuple[AnyInput, ...] = (
    CreateTopic(topic="orders", assignment=[[0, 1, 2], [1, 2, 3], [2, 3]]),
    CreateTopic(topic="gone", partitions=2, replication_factor=2),
    second(),
    Produce(topic="orders", partition=0, value="a", count=5, acks=-1),
    Produce(topic="orders", partition=1, value="b", count=40, batch=10, acks=-1, producer="p2"),
    Produce(topic="gone", partition=0, value="g", count=2, acks=1, key="k"),
    Mark(name="calm", note="before anything happens"),
    Consume(topic="orders"),
    CrashBroker(broker=1),
    second(5),
    Produce(topic="orders", partition=0, value="c", count=3, acks=1),
    PauseReplica(tp="orders-0", broker=2),
    Produce(topic="orders", partition=0, value="d", count=3, acks=1),
    ResumeReplica(tp="orders-0", broker=2),
    StartBroker(broker=1),
    second(3),
    ElectPreferred(),
    HoldMessages(source=0, destination=2, api="FetchResponse"),
    Produce(topic="orders", partition=0, value="e", count=2, acks=0),
    ReleaseMessages(source=0, destination=2),
    ConfigureTopic(topic="orders", config={"min.insync.replicas": "2"}),
    FreezeBroker(broker=3),
    second(6),
    ThawBroker(broker=3),
    DeleteTopic(topic="gone"),
    second(2),
    AddPartitions(topic="orders", partitions=4),
    CutLink(source=0, destination=-1),
    second(5),
    HealLinks(),
    second(3),
    Expect(clauses=[Clause(Subject("partition", "orders-1", "hw"), "==", -5, text="never")]),
    Expect(clauses=[Clause(Subject("cluster", "", "time"), ">", 5, text="always")]),
    PauseReplica(tp="orders-1", broker=2),
    PauseReplica(tp="orders-1", broker=3),
    Produce(topic="orders", partition=1, value="only on one", count=4, batch=2, acks=1),
    Consume(topic="orders", partition=1, consumer="c2"),
    CrashBroker(broker=1),
    second(5),
    ResumeReplica(tp="orders-1", broker=2),
    ResumeReplica(tp="orders-1", broker=3),
    Produce(topic="orders", partition=1, value="instead", count=3, acks=1),
    StartBroker(broker=1),
    second(5),
    Reassign(tp="orders-0", replicas=[3, 0]),
    second(3),
    ZkCommand(command="set", path="/controller", data="nobody"),
    ZkCommand(command="get", path="/nowhere"),
    Mark(name="late"),
    StopBroker(broker=2),
    Produce(topic="orders", partition=2, value="f", count=2, acks=-1, retries=0),
    second(1),
)


def statement(given: AnyInput, line: int = 0) -> Statement:
    """A statement whose text says which input it is."""
    return Statement(given, type(given).__name__, line)


def execute(runner: Runner, given: AnyInput, line: int = 0) -> None:
    """Give a statement and let it end."""
    runner.execute(statement(given, line))


def run(
    observer: Callable[[Event], None],
    spec: CreateCluster = SPEC,
    story: tuple[AnyInput, ...] = STORY,
    after: Callable[[Cluster], None] = lambda cluster: None,
) -> Runner:
    """Give all statements of a story; ``after`` each of them look at the cluster."""
    runner = Runner(Cluster(spec, (observer,)))
    after(runner.cluster)
    for line, given in enumerate(story, start=2):
        execute(runner, given, line)
        after(runner.cluster)
    return runner


@cache
def story_events(version: str = "3.9") -> tuple[Event, ...]:
    """Everything that the story's cluster states."""
    events: list[Event] = []
    spec = CreateCluster(
        brokers=SPEC.brokers,
        seed=SPEC.seed,
        racks=SPEC.racks,
        version=version,
        config=config_of(version),
    )
    run(events.append, spec)
    return tuple(events)


def config_of(version: str) -> dict[str, str]:
    """The story's configuration, as far as the release knows it."""
    return dict(SPEC.config) if version else {}


def origin(name: str = "story", spec: CreateCluster = SPEC) -> Origin:
    return Origin(name, "tidegauge test", spec.version, spec.seed, spec)


@contextmanager
def small_chunks(events: int = 64, keyframes: int = 200) -> Iterator[None]:
    """Recordings with chunks and keyframes so close that a small one has many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "CHUNK_EVENTS_MAX", events)
        patch.setattr(keyframe_taker, "KEYFRAME_EVENTS_MIN", keyframes)
        patch.setattr(keyframe_taker, "KEYFRAME_EVENTS_MAX", keyframes * 2)
        yield


def record_story(path: Path | None, story: tuple[AnyInput, ...] = STORY) -> Runner:
    """Record the story, announced and closed as it should be."""
    with Recorder(path, origin()) as recorder:
        runner = Runner(Cluster(SPEC, (recorder,)))
        recorder.follow(runner)
        for line, given in enumerate(story, start=2):
            recorder.announce(statement(given, line))
            execute(runner, given, line)
    return runner


def edited(path: Path, statement: str, *values: object) -> None:
    """Change a session's database as somebody does who knows its checksums."""
    with closing(sqlite3.connect(path)) as database, database:
        database.create_function("meta_checksum", 2, meta_checksum)
        database.create_function(
            "input_checksum", 6, lambda *row: input_checksum(row[:4], row[4], row[5])
        )
        database.execute(statement, values)
        database.execute("UPDATE meta SET checksum = meta_checksum(key, value)")
        database.execute(
            "UPDATE inputs "
            "SET checksum = input_checksum(seq, time_us, steps, line, text, statement)"
        )


def folded(events: tuple[Event, ...] | list[Event]) -> ClusterView:
    view = ClusterView()
    view.apply_all(events)
    return view


def comparable(view: ClusterView) -> object:
    """All that two views of one moment must agree on (recordings find batches elsewhere)."""
    state = view.snapshot().state
    state.batches = []
    return state, view.counts(), {tp: view.flags(tp) for tp in state.partitions}
