"""How long a rehearsal takes: ``python -m benchmarks.rehearse --partitions 10000 --brokers 12``.

The fleet has three racks, replication factor 3 with the replicas of a partition in three racks, and
500 partitions a topic. Every broker (or the first ``--lose`` of them) and every rack is lost.
"""

import argparse
import resource
from itertools import islice
from os import cpu_count
from time import perf_counter

from benchmarks.memory import PeakMemory
from emulator.cluster_image.assumptions import complete
from emulator.cluster_image.image import Broker, ClusterImage, Partition, Topic
from emulator.inputs.statements import CreateCluster
from sessions.rehearsal.cases import each_broker, each_rack
from sessions.rehearsal.processes import in_processes
from sessions.rehearsal.report import report_of
from sessions.rehearsal.runs import Rehearsal, run_cases

RACKS = "abc"
PER_TOPIC = 500


def fleet(partitions: int, brokers: int) -> ClusterImage:
    """Return the image of a fleet."""
    topics = []
    for begin in range(0, partitions, PER_TOPIC):
        made = []
        for number in range(begin, min(partitions, begin + PER_TOPIC)):
            replicas = tuple((number + 7 * copy) % brokers for copy in range(3))
            made.append(Partition(number - begin, replicas, replicas[0], replicas, log_end=1_000))
        topics.append(Topic(f"topic-{begin // PER_TOPIC}", configs={}, partitions=tuple(made)))
    return ClusterImage(
        "3.9",
        "kraft",
        brokers=tuple(Broker(number, RACKS[number % 3], up=True) for number in range(brokers)),
        topics=tuple(topics),
    )


def _cpu_seconds() -> float:
    """The processor time of this process and of those that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main() -> None:
    """Rehearse, and print how long each part took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--brokers", type=int, default=12)
    parser.add_argument("--lose", type=int, default=0, help="only the first N brokers [all]")
    parser.add_argument("--workers", type=int, default=cpu_count() or 1)
    given = parser.parse_args()
    image = complete(fleet(given.partitions, given.brokers)).image
    spec = CreateCluster(version="3.9", mode="kraft", image=image)
    begun, begun_cpu = perf_counter(), _cpu_seconds()
    with PeakMemory() as memory:
        rehearsal = Rehearsal(spec, image)
        started = perf_counter()
        cases = [*islice(each_broker(image), given.lose or None), *each_rack(image)]
        runs = run_cases(cases, image, in_processes(rehearsal, spec, given.workers))
        report = report_of(rehearsal, runs, [], "fleet.cluster.json")
        ended = perf_counter()
        cpu = _cpu_seconds() - begun_cpu
    print(f"{given.partitions:,} partitions, {given.brokers} brokers, {len(cases)} cases")
    print(f"start from the image and settle  {started - begun:8.1f} s")
    print(f"all cases and the report         {ended - started:8.1f} s")
    print(f"together                         {ended - begun:8.1f} s")
    print(f"CPU time of all processes        {cpu:8.1f} s")
    print(f"peak memory of all processes     {memory.mib:8.0f} MiB")
    print(f"safe: {report.safe}")


if __name__ == "__main__":
    main()
