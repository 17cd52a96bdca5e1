"""Offsets of an image that a later leader lacks, in the dataset and by the job durability."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from emulator.cluster import Cluster
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import Broker, ClusterImage, Mode, Partition, ReplicaLog, Topic
from emulator.events import Event, RecordsAppended
from emulator.inputs.statements import (
    CrashBroker,
    CreateCluster,
    DeleteTopic,
    Produce,
    StartBroker,
    Statement,
)
from emulator.scenario.runner import Runner
from sessions.analyze import analyze
from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.tables import SESSIONS

pytestmark = pytest.mark.spark

COMMITTED = range(20, 50)
HELD_BY_THE_FOLLOWER = 40


def image(mode: Mode) -> ClusterImage:
    """Broker 2 is down and behind; the leaders will die, and elections are unclean."""
    partition = Partition(
        *(0, (2, 1), 1, (1,)), leader_epoch=4, log_start=COMMITTED.start, log_end=COMMITTED.stop,
        logs=(ReplicaLog(2, end=HELD_BY_THE_FOLLOWER),),
    )  # fmt: skip
    configs = {"unclean.leader.election.enable": "true"}
    topics = tuple(Topic(name, configs=configs, partitions=(partition,)) for name in ("gone", "t"))
    brokers = (Broker(1, up=True), Broker(2, up=False))
    return complete(ClusterImage("3.9", mode, brokers=brokers, topics=topics)).image


def events_of(mode: Mode) -> tuple[list[Event], set[int]]:
    """A session in which offsets are lost, and those that the last leader's log lacks."""
    events: list[Event] = []
    spec = CreateCluster(version="3.9", mode=mode, image=image(mode))
    runner = Runner(Cluster(spec, [events.append]))
    runner.run_until(5_000_000)
    runner.execute(Statement(CrashBroker(broker=1), ""))
    runner.execute(Statement(StartBroker(broker=2), ""))
    runner.run_until(60_000_000)
    runner.execute(Statement(Produce(topic="t", value="new", acks=1, retries=0), ""))
    runner.execute(Statement(StartBroker(broker=1), ""))
    runner.run_until(90_000_000)
    runner.execute(Statement(DeleteTopic(topic="gone"), ""))
    runner.run_until(120_000_000)
    replica = runner.cluster.replica("t-0", runner.cluster.state.states["t-0"].leader)
    assert replica is not None
    new = {
        offset
        for event in events
        if isinstance(event, RecordsAppended) and event.tp == "t-0"
        for offset in range(event.base_offset, event.base_offset + event.count)
    }
    return events, set(COMMITTED) - (set(range(replica.log_start, replica.log_end)) - new)


def test_the_dataset_and_the_job_count_what_the_leader_lacks(tmp_path: Path) -> None:
    lacked: dict[str, set[int]] = {}
    for mode in ("zk", "kraft"):
        events, lacked[mode] = events_of(mode)
        export_session(events, SessionFacts(mode), tmp_path / "dataset")
    analyze(tmp_path / "dataset", tmp_path / "out", jobs=("durability",))
    rows = pq.read_table(str(tmp_path / "out" / "lost_offsets")).to_pylist()
    told = {row["session"]: set(range(row["first_offset"], row["end_offset"])) for row in rows}
    assert [row["tp"] for row in rows] == ["t-0", "t-0"]
    assert told == lacked
    sessions = Dataset(tmp_path / "dataset").scan(SESSIONS, SESSIONS.names).to_pylist()
    counted = {row["session"]: (row["lost"], row["lost_offsets"]) for row in sessions}
    assert counted == {mode: (0, len(offsets)) for mode, offsets in lacked.items()}
