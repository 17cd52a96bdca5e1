"""Import of a cluster with 100,000 partitions on 60 brokers: ``python -m benchmarks.own_cluster``.

Each source is written to a scratch folder and imported in a process of its own, alone and then all
together. Wall-clock time, processor time and peak memory are those of the whole command. The limit
is 15 s and 1 GiB.
"""

import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from emulator.wire.metadata import messages as wire
from emulator.wire.metadata.codec import encode_value
from emulator.wire.records.record import Record
from emulator.wire.records.record_batch import build
from emulator.wire.types import Message

PARTITIONS, BROKERS, TOPICS, REPLICAS = 100_000, 60, 500, 3
BATCH_RECORDS = 1_000


def main() -> None:
    """Print a line for each source."""
    with tempfile.TemporaryDirectory() as folder:
        sources = _written(Path(folder))
        for name in [*sources, "all together"]:
            paths = list(sources.values()) if name == "all together" else [sources[name]]
            wall, cpu, mebibytes = _imported(paths, Path(folder) / "out.cluster.json.zst")
            print(f"{name:<16} {wall:6.1f} s  cpu {cpu:6.1f} s {mebibytes:6.0f} MiB", flush=True)


def _imported(paths: list[Path], out: Path) -> tuple[float, float, float]:
    """Run ``tidegauge import``; return its times in seconds and its peak memory in MiB."""
    start = time.monotonic()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        program = "from commands.cli.main import main; main()"
        arguments = ["import", *map(str, paths), "--out", str(out), "--replace"]
        os.execv(sys.executable, [sys.executable, "-c", program, *arguments])
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"the import of {paths} failed")
    cpu = usage.ru_utime + usage.ru_stime
    return time.monotonic() - start, cpu, usage.ru_maxrss / 1024


def _written(folder: Path) -> dict[str, Path]:
    drawn = random.Random(1)
    placed = {
        f"topic-{topic:03}": [
            drawn.sample(range(BROKERS), REPLICAS) for _ in range(PARTITIONS // TOPICS)
        ]
        for topic in range(TOPICS)
    }
    contents = {
        "kafka-topics": ("topics.txt", _topics(placed).encode()),
        "kcat": ("kcat.json", json.dumps(_kcat(placed)).encode()),
        "kafka-log-dirs": ("log-dirs.json", json.dumps(_log_dirs(placed)).encode()),
        "reassignment": ("reassign.json", json.dumps(_reassignment(placed)).encode()),
        "metadata log": ("00000000000000000000.log", _log(placed)),
    }
    paths = {}
    for name, (file, content) in contents.items():
        paths[name] = folder / file
        paths[name].write_bytes(content)
    return paths


Placed = dict[str, list[list[int]]]


def _topics(placed: Placed) -> str:
    lines = []
    for topic, partitions in placed.items():
        lines.append(
            f"Topic: {topic}\tPartitionCount: {len(partitions)}\tReplicationFactor: {REPLICAS}"
            "\tConfigs: min.insync.replicas=2,cleanup.policy=compact,delete"
        )
        for number, replicas in enumerate(partitions):
            named = ",".join(map(str, replicas))
            lines.append(
                f"\tTopic: {topic}\tPartition: {number}\tLeader: {replicas[0]}"
                f"\tReplicas: {named}\tIsr: {named}\tElr: \tLastKnownElr: "
            )
    return "\n".join(lines) + "\n"


def _kcat(placed: Placed) -> dict[str, object]:
    return {
        "originating_broker": {"id": 0, "name": "h0:9092/0"},
        "brokers": [{"id": each, "name": f"h{each}:9092"} for each in range(BROKERS)],
        "topics": [
            {
                "topic": topic,
                "partitions": [
                    {
                        "partition": number,
                        "leader": replicas[0],
                        "replicas": [{"id": each} for each in replicas],
                        "isrs": [{"id": each} for each in replicas],
                    }
                    for number, replicas in enumerate(partitions)
                ],
            }
            for topic, partitions in placed.items()
        ],
    }


def _log_dirs(placed: Placed) -> dict[str, object]:
    held: dict[int, list[dict[str, object]]] = {each: [] for each in range(BROKERS)}
    for topic, partitions in placed.items():
        for number, replicas in enumerate(partitions):
            for each in replicas:
                name = f"{topic}-{number}"
                held[each].append(
                    {"partition": name, "size": 1_000_000, "offsetLag": 0, "isFuture": False}
                )
    return {
        "brokers": [
            {"broker": each, "logDirs": [{"logDir": "/d", "error": None, "partitions": logs}]}
            for each, logs in held.items()
        ]
    }


def _reassignment(placed: Placed) -> dict[str, object]:
    return {
        "version": 1,
        "partitions": [
            {"topic": topic, "partition": number, "replicas": replicas}
            for topic, partitions in placed.items()
            for number, replicas in enumerate(partitions)
        ],
    }


def _log(placed: Placed) -> bytes:
    records: list[tuple[Message, int]] = [(wire.FeatureLevelRecord("metadata.version", 27), 0)]
    feature = wire.BrokerFeature("metadata.version", 7, 27)
    records += [
        (wire.RegisterBrokerRecord(each, features=[feature], rack=f"r{each % 3}", fenced=False), 3)
        for each in range(BROKERS)
    ]
    for index, (topic, partitions) in enumerate(placed.items(), 1):
        topic_id = index.to_bytes(16, "big")
        records.append((wire.TopicRecord(topic, topic_id), 0))
        records.append((wire.ConfigRecord(2, topic, "min.insync.replicas", "2"), 0))
        for number, replicas in enumerate(partitions):
            record = wire.PartitionRecord(
                number, topic_id, replicas, replicas, leader=replicas[0], leader_epoch=0
            )
            change = wire.PartitionChangeRecord(number, topic_id, leader=replicas[0])
            records += [(record, 2), (change, 2)]
    batches = []
    for start in range(0, len(records), BATCH_RECORDS):
        values = [
            Record(None, encode_value(*each), 1) for each in records[start : start + BATCH_RECORDS]
        ]
        batches.append(build(values, base_offset=start, leader_epoch=1))
    return b"".join(batches)


if __name__ == "__main__":
    main()
