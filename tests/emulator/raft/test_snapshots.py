"""When snapshots of the metadata are written, what goes with the old ones, who is given one."""

from random import Random

import pytest

from emulator.cluster import Cluster
from emulator.events import MetadataLogStartChanged, MetadataSnapshotTaken
from emulator.events.base import Event
from emulator.inputs.statements import (
    AnyInput,
    ChangeController,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    StartBroker,
    Statement,
)
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.records import NoOpRecord, TopicRecord
from emulator.protocol.raft import MetadataBatch
from emulator.raft import snapshots
from emulator.raft.log import MetadataLog, SegmentLimits
from emulator.raft.quorum import SNAPSHOT_CHUNK_BYTES
from emulator.raft.snapshots import SnapshotRules, reason_for_snapshot, take_snapshot
from emulator.raft.state import QuorumState, SnapshotFetch
from emulator.scenario.runner import Runner
from tests.golden_kraft.metadata_snapshots import MAX_BYTES, SNAPSHOTS, batches
from tests.support.kraft_faults import end_faults, faults
from tests.support.memberships import kraft_state

CONFIG = {
    "metadata.log.max.record.bytes.between.snapshots": "4000",
    "metadata.max.retention.bytes": "3000",
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
}
NEVER = SnapshotRules(1 << 62, 0, -1, -1)
MINUTE_US = 60_000_000
PLAIN = SegmentLimits()


# ---- when


@pytest.mark.parametrize(("node", "caught_up"), [("102", 8), ("1", 8), ("101", 10)])
def test_snapshots_are_written_where_a_real_node_wrote_them(node: str, caught_up: int) -> None:
    """What was there when the node had caught up does not count."""
    rules = SnapshotRules(MAX_BYTES, 0, -1, -1)
    quorum = QuorumState()
    written = []
    for batch in batches():
        quorum.log.append(batch)
        if batch.end_offset < caught_up:
            continue
        quorum.high_watermark = batch.end_offset
        if reason_for_snapshot(quorum, rules, 0):
            made = take_snapshot(quorum, 0)
            assert made is not None
            written.append([*made.id, made.size_bytes])
    assert written == SNAPSHOTS[node]


def no_ops(count: int, first: int = 0, size: int = 72) -> list[MetadataBatch]:
    return [MetadataBatch(at, 1, (NoOpRecord(),), at, size) for at in range(first, first + count)]


def filled(*parts: MetadataBatch, limits: SegmentLimits = PLAIN) -> QuorumState:
    quorum = QuorumState()
    for batch in parts:
        quorum.log.append(batch, limits)
    quorum.high_watermark = quorum.log.end_offset
    return quorum


def test_time_brings_a_snapshot_unless_it_is_zero() -> None:
    quorum = filled(*no_ops(2))
    hourly = SnapshotRules(1 << 62, 60 * MINUTE_US, -1, -1)
    assert reason_for_snapshot(quorum, hourly, 0) == ""
    assert reason_for_snapshot(quorum, hourly, 60 * MINUTE_US - 1) == ""
    assert reason_for_snapshot(quorum, hourly, 60 * MINUTE_US) == snapshots.TIME
    assert reason_for_snapshot(quorum, NEVER, 60 * MINUTE_US) == ""
    assert take_snapshot(quorum, 60 * MINUTE_US) is not None
    assert reason_for_snapshot(quorum, hourly, 61 * MINUTE_US) == ""
    assert take_snapshot(quorum, 61 * MINUTE_US) is None  # nothing has come since


# ---- what is kept


def with_snapshots(*ends: int, limits: SegmentLimits = PLAIN) -> MetadataLog:
    quorum = QuorumState()
    for batch in no_ops(ends[-1] + 5):
        quorum.log.append(batch, limits)
        quorum.high_watermark = batch.end_offset
        if batch.end_offset in ends:
            assert take_snapshot(quorum, 0) is not None
    return quorum.log


def ends_of(log: MetadataLog) -> list[int]:
    return [each.end_offset for each in log.snapshots]


def test_the_latest_snapshot_stays_and_the_log_begins_with_the_oldest() -> None:
    log = with_snapshots(10, 20, 30)
    assert log.clean(0, 1, -1)
    assert (ends_of(log), log.start_offset, log.end_offset) == ([30], 30, 35)
    assert log.size_bytes == 35 * 72  # it is all one file
    assert not log.clean(0, 1, -1)


def test_files_go_once_no_record_of_theirs_is_needed() -> None:
    log = with_snapshots(10, 20, 30, limits=SegmentLimits(size_bytes=8 * 72))
    assert [each.base_offset for each in log.segments] == [0, 8, 16, 24, 32]
    assert log.clean(0, 1, -1)
    assert [each.base_offset for each in log.segments] == [24, 32]
    assert log.size_bytes == 11 * 72


def test_snapshots_go_by_size_or_by_age() -> None:
    log = with_snapshots(10, 20, 30)
    whole = log.size_bytes + sum(each.size_bytes for each in log.snapshots)
    assert not log.clean(0, whole, -1)
    assert log.clean(0, whole - 1, -1)
    assert ends_of(log) == [20, 30]
    assert not log.clean(19 + 50, -1, 50)  # the oldest contains what was appended at 19
    assert log.clean(19 + 51, -1, 50)
    assert ends_of(log) == [30]


def test_whoever_asks_for_what_is_gone_is_told_the_latest_snapshot() -> None:
    log = with_snapshots(10, 20, 30)
    assert log.snapshot_instead(0, -1) is None  # the log still has everything
    assert log.snapshot_instead(12, 1) is None
    assert log.snapshot_instead(12, 0) == (30, 1)  # of an epoch that the log does not know
    log.clean(0, log.size_bytes + 2 * log.snapshots[0].size_bytes, -1)
    assert log.start_offset == 20
    assert log.snapshot_instead(0, -1) == (30, 1)
    assert log.snapshot_instead(19, 1) == (30, 1)
    assert log.snapshot_instead(20, 0) == (30, 1)
    assert log.snapshot_instead(20, 1) is None
    assert (log.epoch_at(19), log.epoch_at(18), log.end_of_epoch(0)) == (1, -1, (1, 20))


def test_a_log_that_is_truncated_has_the_files_of_what_is_left() -> None:
    quorum = filled(*no_ops(20), limits=SegmentLimits(size_bytes=8 * 72))
    quorum.log.truncate(9)
    assert (quorum.log.end_offset, quorum.log.size_bytes) == (9, 9 * 72)
    quorum.log.truncate(3)
    assert [each.base_offset for each in quorum.log.segments] == [0]
    assert quorum.log.size_bytes == 3 * 72


def test_reading_begins_with_the_latest_snapshot() -> None:
    quorum = filled(MetadataBatch(0, 1, (TopicRecord("t", "id"),), 0, 90))
    made = take_snapshot(quorum, 0)
    assert made is not None
    assert quorum.log.snapshot_for(0) is made
    assert quorum.log.snapshot_for(1) is None
    image = snapshots.copy_of(made.image)
    image.topics["id"].partitions.clear()
    image.topics.clear()
    assert list(made.image.topic_ids) == ["t"]
    assert "id" in made.image.topics
    assert MetadataImage() != made.image


# ---- clusters


class Lab:
    """A cluster whose snapshots are noted."""

    def __init__(self, version: str, controllers: int = 3) -> None:
        self.taken: list[MetadataSnapshotTaken] = []
        self.starts: list[MetadataLogStartChanged] = []
        spec = CreateCluster(version=version, mode="kraft", controllers=controllers, config=CONFIG)
        self.runner = Runner(Cluster(spec, observers=[self.note]))
        self.do(CreateTopic(topic="t", assignment=[[0, 1, 2], [1, 2, 0], [2, 0, 1]]))

    def note(self, event: Event) -> None:
        if isinstance(event, MetadataSnapshotTaken):
            self.taken.append(event)
        elif isinstance(event, MetadataLogStartChanged):
            self.starts.append(event)

    def do(self, wanted: AnyInput) -> None:
        self.runner.execute(Statement(wanted, type(wanted).__name__))

    def wait(self, seconds: int) -> None:
        self.runner.run_until(self.runner.now_us + seconds * 1_000_000)

    def agrees(self) -> bool:
        cluster = self.runner.cluster
        assert cluster.kraft is not None
        committed = cluster.kraft.committed.image
        images = [kraft_state(cluster, broker).image for broker in cluster.brokers]
        return all(
            (image.topics, image.brokers, image.configs)
            == (committed.topics, committed.brokers, committed.configs)
            for image in images
        )


def invariants_hold(lab: Lab) -> bool:
    cluster = lab.runner.cluster
    return not cluster.state.invariants.violated.keys() - cluster.invariants.known.keys()


@pytest.mark.parametrize("version", ["3.9", "4.0", "4.1"])
def test_who_was_away_too_long_is_given_a_snapshot(version: str) -> None:
    lab = Lab(version)
    lab.do(CrashBroker(broker=2))
    lab.do(ChangeController(action="crash", which="standby"))
    lab.wait(10)
    lab.do(CreateTopic(topic="u", assignment=[[0, 1], [1, 0]]))
    lab.wait(70)
    assert {each.reason for each in lab.taken} == {snapshots.BYTES}
    assert len({each.host for each in lab.starts}) == 4
    lab.do(StartBroker(broker=2))
    lab.do(ChangeController(action="start", which="last"))
    lab.wait(10)
    fetched = [each for each in lab.taken if each.reason == "fetched"]
    kraft = lab.runner.cluster.kraft
    assert kraft is not None
    away = kraft.meant
    assert sorted(each.host for each in fetched) == [2, away]
    log = kraft.controllers[away].quorum.log
    assert log.start_offset == fetched[0].end_offset
    assert lab.agrees()
    # It has all that a leader needs, which now begins at a snapshot.
    lab.do(ChangeController(action="crash", which="active"))
    lab.wait(20)
    lab.do(CreateTopic(topic="w", assignment=[[2, 1]]))
    lab.wait(5)
    assert lab.agrees()
    assert invariants_hold(lab)


def test_a_process_reads_its_own_snapshot_when_it_starts_again() -> None:
    lab = Lab("4.1", controllers=1)
    lab.wait(140)
    kraft = lab.runner.cluster.kraft
    assert kraft is not None
    assert kraft.controllers[100].quorum.log.start_offset > 0
    lab.do(ChangeController(action="stop", which="active"))
    lab.wait(2)
    lab.do(ChangeController(action="start", which="last"))
    lab.do(CrashBroker(broker=1))
    lab.wait(6)
    lab.do(StartBroker(broker=1))
    lab.wait(10)
    assert all(each.is_active for each in kraft.committed.image.brokers.values())
    assert lab.agrees()
    assert invariants_hold(lab)


def test_a_large_snapshot_comes_in_parts() -> None:
    lab = Lab("4.1")
    lab.do(CrashBroker(broker=2))
    lab.wait(80)
    kraft = lab.runner.cluster.kraft
    active = lab.runner.cluster.active_controller()
    assert kraft is not None
    assert active is not None
    log = kraft.controllers[active].quorum.log
    latest = log.snapshots[-1]
    log.snapshots[-1] = type(latest)(
        *(latest.end_offset, latest.epoch, latest.appended_us, 2 * SNAPSHOT_CHUNK_BYTES + 1),
        latest.image,
    )
    lab.do(StartBroker(broker=2, wait=False))
    positions = set()
    for _ in range(60_000):
        lab.runner.run_until(lab.runner.now_us + 100)
        fetching = kraft_state(lab.runner.cluster, 2).quorum.fetching
        if isinstance(fetching, SnapshotFetch):
            positions.add(fetching.position)
        elif positions:
            break
    assert positions == {0, SNAPSHOT_CHUNK_BYTES, 2 * SNAPSHOT_CHUNK_BYTES}
    assert kraft_state(lab.runner.cluster, 2).quorum.log.start_offset == latest.end_offset


def test_a_fork_with_snapshots_goes_on_as_its_original() -> None:
    lab = Lab("4.1")
    lab.wait(70)
    fork = lab.runner.fork()
    assert fork.state_hash == lab.runner.state_hash
    fork.run_until(fork.now_us + 70_000_000)
    lab.wait(70)
    assert fork.state_hash == lab.runner.state_hash


@pytest.mark.parametrize("version", ["3.9", "4.1"])
@pytest.mark.parametrize("seed", [1, 2])
def test_after_faults_everybody_agrees_although_logs_begin_at_snapshots(
    version: str, seed: int
) -> None:
    lab = Lab(version)
    random = Random(f"snapshots {version} {seed}")
    for number in range(25):
        for each in faults(random, number):
            lab.do(each)
        lab.wait(random.randrange(1, 8))
    end_faults(lab.runner)
    lab.wait(90)
    assert {each.reason for each in lab.taken} >= {snapshots.BYTES}
    assert lab.agrees()
    assert invariants_hold(lab)
    cluster = lab.runner.cluster
    kraft = cluster.kraft
    assert kraft is not None
    logs = [controller.quorum.log for controller in kraft.controllers.values()]
    logs += [kraft_state(cluster, broker).quorum.log for broker in cluster.brokers]
    for log in logs:
        assert log.start_offset > 0
        assert abs(log.end_offset - kraft.committed.image.offset) <= 2
