"""The audit begins where its marks say, and finds what a scan of everything finds."""

from collections.abc import Callable, Iterator
from random import Random

import pytest

from emulator import events
from emulator.audit.ground_truth import MARKS, Acked, Audit, AuditState, Mark, PartitionAudit
from emulator.cluster import Cluster
from emulator.inputs.statements import (
    AnyInput,
    CrashBroker,
    CreateCluster,
    Produce,
    Settle,
    StartBroker,
    Statement,
    Wait,
)
from emulator.protocol import RecordBatch
from emulator.scenario.runner import Runner
from emulator.simulation.kernel import Kernel, KernelState
from emulator.simulation.packed_list import PackedList
from emulator.storage.log import Log, tail_of
from tests.support.disks import Disks
from tests.support.full_scan import full_scan
from tests.support.random_scripts import script_of, timed_script_of
from tests.support.running import do, with_topic

TP = "t-0"
BROKERS = (1, 2, 3)
RELEASES = ("seed", "0.8.2", "0.10.2", "0.11", "2.0.0", "2.8", "3.9")


class Looks:
    """Compares what the audit finds with a full scan, each time that it looks."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = self.wrong = 0
        plain = Audit.findings

        def findings(audit: Audit, tp: str, found: PartitionAudit) -> Mark:
            mark = plain(audit, tp, found)
            self.count += 1
            now = (mark.lost, mark.duplicated, mark.diverged, mark.consumed_lost)
            assert now == full_scan(audit.logs_of(tp), found)
            self.wrong += any(now)
            return mark

        monkeypatch.setattr(Audit, "findings", findings)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


# ---- in clusters


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("script", [script_of, timed_script_of])
def test_random_scripts_leave_what_a_full_scan_finds(
    version: str, script: Callable[[int, int], list[AnyInput]], looks: Looks
) -> None:
    for seed in range(3):
        cluster = Cluster(CreateCluster(brokers=3, version=version, seed=seed))
        runner = Runner(cluster)
        for each in script(seed, 30):
            runner.execute(Statement(each, type(each).__name__))
            for tp, found in cluster.state.audit.partitions.items():
                cluster.audit.findings(tp, found)
    assert looks.count


# ---- in a model: logs that anything happens to


class Model:
    """Three logs, of which one leads; whatever can happen to them happens, and is stated."""

    def __init__(self, seed: int) -> None:
        self.draw = Random(seed)
        self.kernel = Kernel(KernelState(random_state=1), [])
        self.logs = {broker: Log() for broker in BROKERS}
        self.order = list(BROKERS)
        self.audit = Audit(AuditState(), self.kernel, Disks(TP, self.logs), {TP: self.order})
        self.next_record = 1
        self.sent: list[tuple[int, int]] = []
        self.leader = -1
        self.lead()

    @property
    def found(self) -> PartitionAudit:
        return self.audit.state.partitions[TP]

    def step(self) -> None:
        """Something happens, and the audit looks if it wants to."""
        usual = [self.produce, self.produce, self.replicate, self.replicate, self.acknowledge]
        rare = [self.lead, self.cut, self.retry, self.consume, self.hand_over]
        rarest = [self.delete, self.restart, self.assign]
        pick = self.draw.random()
        self.draw.choice(usual if pick < 0.8 else rare if pick < 0.99 else rarest)()
        if self.draw.random() < 0.7:
            self.audit.flush()
        elif self.draw.random() < 0.1:
            self.audit.settle()

    def write(self, broker: int, batch: RecordBatch) -> None:
        self.logs[broker].append(batch)
        self.kernel.emit(
            events.RecordsAppended,
            TP,
            broker,
            batch.base_offset,
            batch.count,
            batch.leader_epoch,
            batch.first_record,
        )

    def append(self, broker: int, first: int, count: int) -> None:
        log = self.logs.setdefault(broker, Log())
        self.write(broker, RecordBatch(log.end, count, 0, first))

    def produce(self) -> None:
        """The leader writes new records; now and then another broker believes that it leads."""
        broker = self.leader if self.draw.random() < 0.97 else self.draw.choice(BROKERS)
        if broker >= 0:
            count = self.draw.choice([1, 1, 3])
            self.sent.append((self.next_record, count))
            self.append(broker, *self.sent[-1])
            self.next_record += count

    def replicate(self) -> None:
        """A follower writes what the leader has where it ends."""
        broker = self.draw.choice(BROKERS)
        mine, leader = self.logs.setdefault(broker, Log()), self.logs.get(self.leader)
        if leader is not None and leader.start <= mine.end < leader.end:
            for batch in leader.read(mine.end, leader.end)[: self.draw.choice([1, 5, 50])]:
                within = batch.base_offset < mine.end
                self.write(broker, tail_of(batch, mine.end) if within else batch)

    def recent(self) -> tuple[int, int]:
        return self.draw.choice(self.sent[-self.draw.choice([3, 30]) :] or [(1, 1)])

    def acknowledge(self) -> None:
        """Some batch is acknowledged where some log has it, or nobody knows where."""
        first, count = self.recent()
        log = self.logs.get(self.draw.choice(BROKERS), Log())
        places = [batch.base_offset for batch in log.batches if batch.first_record == first]
        base = self.draw.choice(places) if places and self.draw.random() < 0.9 else -1
        self.kernel.emit(events.ProduceAcknowledged, "p", TP, first, count, base)

    def hand_over(self) -> None:
        """A batch without acks: acknowledged before it is written, if it ever is."""
        self.sent.append((self.next_record, 1))
        self.kernel.emit(events.ProduceAcknowledged, "p", TP, self.next_record, 1, -1)
        self.next_record += 1

    def retry(self) -> None:
        """A batch is sent again, and written again."""
        first, count = self.recent()
        self.kernel.emit(events.ProduceRetried, "p", TP, first, "NETWORK_EXCEPTION", True)
        if self.leader >= 0 and self.draw.random() < 0.8:
            self.append(self.leader, first, count)

    def consume(self) -> None:
        """Some log is read, also from within a batch."""
        log = self.logs.get(self.draw.choice(BROKERS), Log())
        if log.start < log.end:
            offset = self.draw.randrange(log.start, log.end)
            first, *rest = log.read(offset, log.end)
            first = tail_of(first, offset)
            runs = [(batch.first_record, batch.count) for batch in [first, *rest[:3]]]
            self.kernel.emit(events.RecordsConsumed, "c", TP, offset, runs, offset)

    def lead(self) -> None:
        self.leader = self.draw.choice([*BROKERS, *BROKERS, -1])
        self.kernel.emit(events.PartitionStateChanged, TP, self.leader, 0, [], 0, 0)

    def cut(self) -> None:
        """A log loses its end, also within a batch."""
        broker = self.draw.choice(BROKERS)
        log = self.logs.setdefault(broker, Log())
        before, at = log.end, max(log.start, log.end - self.draw.choice([1, 2, 5, 40]))
        if log.truncate(at):
            self.kernel.emit(events.LogTruncated, TP, broker, at, before, "")

    def delete(self) -> None:
        broker = self.draw.choice(BROKERS)
        is_stated_first = self.draw.random() < 0.5
        gone = None if is_stated_first else self.logs.pop(broker, None)
        self.kernel.emit(events.LogDeleted, TP, broker)
        if gone is None:
            self.logs.pop(broker, None)

    def restart(self) -> None:
        broker = self.draw.choice(BROKERS)
        log = self.logs.setdefault(broker, Log())
        at, before = self.draw.choice([0, log.end // 2, log.end]), log.end
        log.restart_at(at)
        self.kernel.emit(events.LogTruncated, TP, broker, at, before, "")

    def assign(self) -> None:
        self.order[:] = self.draw.sample(BROKERS, self.draw.choice([1, 2, 3]))
        self.kernel.emit(events.ReplicasAssigned, TP, list(self.order), [], [])


@pytest.mark.parametrize("seed", [*range(30), 552, 1025])
def test_whatever_happens_to_logs_a_full_scan_finds_the_same(seed: int, looks: Looks) -> None:
    model = Model(seed)
    most = 0
    for _ in range(400):
        model.step()
        model.audit.findings(TP, model.found)
        most = max(most, len(model.found.marks))
    assert most >= 2
    assert looks.wrong


# ---- what it costs


class Reads:
    """Counts the items of packed lists that are read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        item, every = PackedList.__getitem__, PackedList.__iter__

        def counted(found: PackedList[Acked], index: int | slice) -> Acked | list[Acked]:
            got = item(found, index)
            self.count += len(got) if isinstance(got, list) else 1
            return got

        def all_counted(found: PackedList[Acked]) -> Iterator[Acked]:
            for each in every(found):
                self.count += 1
                yield each

        monkeypatch.setattr(PackedList, "__getitem__", counted)
        monkeypatch.setattr(PackedList, "__iter__", all_counted)


def long_model(length: int) -> Model:
    """Three equal logs of so many batches, all acknowledged, at which the audit has looked."""
    model = Model(0)
    for _ in range(length):
        written(model)
    lead(model, 2)
    model.audit.settle()
    return model


def written(model: Model) -> None:
    """A batch that all brokers have, and that is acknowledged."""
    record = model.next_record
    for broker in BROKERS:
        model.append(broker, record, 1)
    base = model.logs[1].end - 1
    model.kernel.emit(events.ProduceAcknowledged, "p", TP, record, 1, base)
    model.next_record += 1


def lead(model: Model, broker: int) -> None:
    model.kernel.emit(events.PartitionStateChanged, TP, broker, 0, [], 0, 0)


def cut(model: Model, broker: int, at: int) -> None:
    before = model.logs[broker].end
    model.logs[broker].truncate(at)
    model.kernel.emit(events.LogTruncated, TP, broker, at, before, "")


def test_after_a_truncation_only_the_end_of_a_long_log_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = long_model(20_000)
    for _ in range(20):
        written(model)
    reads = Reads(monkeypatch)
    cut(model, 1, 20_010)
    model.audit.flush()
    assert 0 < reads.count < 500
    lead(model, 1)
    model.audit.flush()
    assert [offset for offset, _ in model.found.lost] == list(range(20_010, 20_020))
    assert reads.count < 1_000


def test_what_was_lost_is_remembered_and_not_looked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = long_model(1_000)
    for broker in BROKERS:
        cut(model, broker, 990)
    model.audit.flush()
    for _ in range(3_000):
        written(model)
    lead(model, 1)
    model.audit.flush()
    reads = Reads(monkeypatch)
    lead(model, 3)
    model.audit.flush()
    assert [offset for offset, _ in model.found.lost] == list(range(990, 1_000))
    assert reads.count < 500


def test_a_partition_keeps_few_marks() -> None:
    model = long_model(10)
    for turn in range(3 * MARKS):
        written(model)
        lead(model, 1 + turn % 2)
        model.audit.flush()
    assert len(model.found.marks) <= MARKS
    assert model.found.marks[-1].offset == model.logs[1].end


def test_marks_are_part_of_a_fork() -> None:
    cluster, _ = with_topic(1, 2, 3)
    do(cluster, Produce(topic="t", value="a", acks=-1, count=20, retries=20), Settle())
    do(cluster, CrashBroker(broker=1), Wait(duration_us=10_000_000), StartBroker(broker=1))
    marks = cluster.state.audit.partitions[TP].marks
    fork = cluster.fork()
    assert marks
    assert fork.state.audit.partitions[TP].marks == marks
    assert fork.state.audit.partitions[TP].marks is not marks
    assert fork.state_hash == cluster.state_hash
