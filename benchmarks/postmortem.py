"""How long a long history takes: ``python -m benchmarks.postmortem --records 5000000``.

It writes the metadata log of a cluster that runs for weeks: brokers restart one after another
(controlled shutdown, fencing, registration, unfencing, larger ISRs, preferred leaders), and
between the restarts the controller writes a NoOpRecord every 500 ms, as a real one does
(``metadata.max.idle.interval.ms``). ``--idle`` is the share of these. Then its session is written
by two processes, the log is examined and checked against the rules, and the console's steps in the
session are timed.
"""

import argparse
import gc
import resource
import tempfile
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from random import Random
from time import perf_counter, process_time

from emulator.quorum_controller.explanation.trace import Explainer
from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.codec import encode_value
from emulator.wire.metadata.control_records import (
    LeaderChangeMessage,
    Voter,
    encode_control_record,
)
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import build
from emulator.wire.types import Message
from sessions.postmortem.beside import writing_beside
from sessions.postmortem.incident import examine, read_paths
from sessions.sources.replay import ReplaySource

BEGIN_MS = 1_790_000_000_000
NAME = f"{0:020}.log"
PER_TOPIC = 50
IDLE_MS = 500
AT_ONCE = 200
"""How many partitions a leader's request or an election changes at most."""
SEEKS = 50


class Writer:
    """Writes batches into a file, and counts their records."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("wb")
        self.offset = 0
        self.time_ms = BEGIN_MS

    def add(self, *records: tuple[Message, int]) -> None:
        """Write a batch of records in these versions."""
        values = [Record(None, encode_value(*each), self.time_ms) for each in records]
        self.file.write(build(values, base_offset=self.offset, leader_epoch=1))
        self.offset += len(records)
        self.time_ms += 20

    def lead(self) -> None:
        """Write the election of controller 1000."""
        key, value = encode_control_record(LeaderChangeMessage(0, 1000, [Voter(1000)]))
        made = [Record(key, value, self.time_ms)]
        self.file.write(build(made, base_offset=0, leader_epoch=1, is_control=True))
        self.offset += 1

    def idle(self, count: int) -> None:
        """Write so many no-ops, half a second apart."""
        value = encode_value(wire.NoOpRecord(), 0)
        for _ in range(count):
            made = [Record(None, value, self.time_ms)]
            self.file.write(build(made, base_offset=self.offset, leader_epoch=1))
            self.offset += 1
            self.time_ms += IDLE_MS


class Fleet:
    """Brokers and partitions, as far as their restarts concern them."""

    def __init__(self, writer: Writer, brokers: int, partitions: int) -> None:
        self.writer = writer
        self.draw = Random(1)
        self.epochs: dict[int, int] = {}
        self.replicas: list[list[int]] = []
        self.isrs: list[list[int]] = []
        self.leaders: list[int] = []
        writer.lead()
        writer.add((wire.FeatureLevelRecord("metadata.version", 27), 0))
        for broker in range(brokers):
            self.register(broker)
            self.unfence(broker)
        for topic in range(0, partitions, PER_TOPIC):
            self.create(topic, min(partitions, topic + PER_TOPIC), brokers)

    def register(self, broker: int) -> None:
        self.epochs[broker] = self.writer.offset
        feature = wire.BrokerFeature("metadata.version", 7, 27)
        incarnation = self.draw.randbytes(16)
        rack = f"r{broker % 3}"
        epoch = self.writer.offset
        made = wire.RegisterBrokerRecord(broker, False, incarnation, epoch, [], [feature], rack)
        self.writer.add((made, 3))

    def unfence(self, broker: int) -> None:
        made = wire.BrokerRegistrationChangeRecord(broker, self.epochs[broker], -1)
        self.writer.add((made, 1))

    def create(self, begin: int, end: int, brokers: int) -> None:
        topic_id = (begin // PER_TOPIC + 1).to_bytes(16, "big")
        made: list[tuple[Message, int]] = [
            (wire.TopicRecord(f"topic-{begin // PER_TOPIC}", topic_id), 0)
        ]
        for number in range(begin, end):
            replicas = [(number + 7 * copy) % brokers for copy in range(3)]
            self.replicas.append(replicas)
            self.isrs.append(replicas)
            self.leaders.append(replicas[0])
            record = wire.PartitionRecord(
                *(number - begin, topic_id, replicas, replicas, [], [], replicas[0], 0, 0, 0),
                [bytes(16)] * 3,
            )
            made.append((record, 2))
        self.writer.add(*made)

    def change(self, number: int, isr: list[int] | None, leader: int = -2) -> tuple[Message, int]:
        if isr is not None:
            self.isrs[number] = isr
        if leader >= 0:
            self.leaders[number] = leader
        topic_id = (number // PER_TOPIC + 1).to_bytes(16, "big")
        return wire.PartitionChangeRecord(number % PER_TOPIC, topic_id, isr, leader), 2

    def restart(self, broker: int) -> None:
        """Restart a broker: every partition with a replica on it changes twice or three times."""
        mine = [number for number, each in enumerate(self.replicas) if broker in each]
        writer = self.writer
        shutdown = wire.BrokerRegistrationChangeRecord(broker, self.epochs[broker], 0, 1)
        changes: list[tuple[Message, int]] = [(shutdown, 1)]
        for number in mine:
            replicas, isr = self.replicas[number], self.isrs[number]
            isr = [each for each in isr if each != broker]
            leader = -2
            if self.leaders[number] == broker:
                leader = next(each for each in replicas if each in isr)
            changes.append(self.change(number, isr, leader))
        writer.add(*changes)
        writer.add((wire.BrokerRegistrationChangeRecord(broker, self.epochs[broker], 1), 1))
        self.register(broker)
        self.unfence(broker)
        for numbers in _pieces(mine):
            writer.add(*(self.change(each, [*self.isrs[each], broker]) for each in numbers))
        led = [number for number in mine if self.replicas[number][0] == broker]
        for numbers in _pieces(led):
            writer.add(*(self.change(each, None, broker) for each in numbers))


def _pieces(numbers: list[int]) -> Iterator[list[int]]:
    for begin in range(0, len(numbers), AT_ONCE):
        yield numbers[begin : begin + AT_ONCE]


def write_log(path: Path, records: int, idle: float, brokers: int, partitions: int) -> int:
    """Write a log of about so many records; return their number."""
    writer = Writer(path)
    fleet = Fleet(writer, brokers, partitions)
    while writer.offset < records:
        before = writer.offset
        fleet.restart(fleet.draw.randrange(brokers))
        writer.idle(min(records, int((writer.offset - before) * idle / (1 - idle))))
    writer.file.close()
    return writer.offset


def main() -> None:
    """Write a log, read it, and print how long each part took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--idle", type=float, default=0.6, help="share of NoOpRecords [0.6]")
    parser.add_argument("--brokers", type=int, default=30)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--session", type=Path, help="keep the session in this new file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, NAME)
        begun = perf_counter()
        records = write_log(path, given.records, given.idle, given.brokers, given.partitions)
        written = perf_counter()
        size = path.stat().st_size
        print(f"{records:,} records, {size >> 20:,} MiB, written in {written - begun:.1f} s")
        gc.collect()
        session = given.session or Path(folder, "incident.tide.db")
        begun = perf_counter()
        with writing_beside([folder], session, UTC, None) as writing:
            writing.finish()
        wall = perf_counter() - begun
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = children.ru_utime + children.ru_stime
        print(f"session by two processes  {wall:7.1f} s, {used:.1f} s of CPU time")
        print(f"records                   {records / wall:9,.0f} a second")
        print(f"peak memory of one        {children.ru_maxrss / 1024:7.0f} MiB")
        print(f"session                   {session.stat().st_size >> 20:7,} MiB")
        begun, cpu = perf_counter(), process_time()
        incident = examine(read_paths([folder]), rules=Explainer())
        wall, used = perf_counter() - begun, process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"examined and checked      {wall:7.1f} s, {used:.1f} s of CPU time")
        print(f"not explained             {incident.unexplained_count:7,}")
        print(f"timeline                  {len(incident.timeline.entries):7,} entries")
        print(f"peak memory               {peak / 1024:7.0f} MiB")
        _step(session)


def _step(session: Path) -> None:
    begun = process_time()
    source = ReplaySource(session)
    source.to_tail()
    print(f"open at the end       {process_time() - begun:8.3f} s of CPU time")
    draw = Random(2)
    steps, seeks = [], []
    for _ in range(SEEKS):
        seq = draw.randrange(source.first_seq, source.last_seq)
        begun = process_time()
        source.seek_seq(seq)
        seeks.append(process_time() - begun)
        begun = process_time()
        source.step(1)
        steps.append(process_time() - begun)
    for name, times in (("seek", seeks), ("step", steps)):
        times.sort()
        middle, worst = times[len(times) // 2], times[-1]
        print(f"{name}  median {1000 * middle:8.1f} ms   worst {1000 * worst:8.1f} ms")
    source.close()


if __name__ == "__main__":
    main()
