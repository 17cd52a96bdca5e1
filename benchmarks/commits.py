"""What a consumer group's commits leave behind: memory, and the time in which they are loaded.

``python -m benchmarks.commits [COMMITS]``. Three brokers hold one partition of
``__consumer_offsets``; a group commits its positions in ten partitions, one request after another.
Memory is the process's own, less what it had before.
"""

import argparse
import time
from pathlib import Path

from emulator.cluster import Cluster
from emulator.inputs.statements import CreateCluster, CreateTopic, Statement, Wait
from emulator.protocol.groups import OffsetCommitRequest
from emulator.scenario.runner import Runner

TP = "__consumer_offsets-0"
PARTITIONS = 10
STEPS = 4
SEGMENT_BYTES = 100 * 1024 * 1024
"""What Kafka makes this topic with (offsets.topic.segment.bytes)."""


def resident_bytes() -> int:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4_096


def main() -> None:
    """Commit, and print a line for each part of the work."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", type=int, nargs="?", default=1_000_000)
    commits = parser.parse_args().commits
    config = {"offsets.topic.num.partitions": "1"}
    cluster = Cluster(CreateCluster(brokers=3, config=config))
    runner = Runner(cluster)
    runner.execute(Statement(CreateTopic(topic="__consumer_offsets", assignment=[[0, 1, 2]]), ""))
    runner.execute(Statement(Wait(duration_us=1_000_000), ""))
    offsets = cluster.brokers[0].core.coordinator.offsets
    group = offsets.make("g")
    before = resident_bytes()
    for number in range(commits):
        positions = {f"orders-{partition}": number for partition in range(PARTITIONS)}
        offsets.commit(group, 0, OffsetCommitRequest("g", -1, "", positions))
        while offsets.state.stores:
            cluster.step()
        if (number + 1) % (commits // STEPS) == 0:
            log = cluster.brokers[0].core.replicas.by_name[TP].log
            grown = resident_bytes() - before
            size_bytes = sum(batch.size_bytes for batch in log.batches)
            print(
                f"{number + 1:,} commits: {grown / (number + 1):.0f} bytes of memory a commit,"
                f" {size_bytes / SEGMENT_BYTES:.2f} segments of 100 MiB"
            )
    begin = time.process_time()
    del offsets.state.groups[group.name]
    found = offsets.load(TP)
    assert found[0].offsets["orders-0"] == commits - 1
    print(f"loaded by a new coordinator in {time.process_time() - begin:.1f} s of CPU time")


if __name__ == "__main__":
    main()
