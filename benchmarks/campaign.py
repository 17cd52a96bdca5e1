"""What a run costs in a campaign, beside the same run in this process.

``python -m benchmarks.campaign [RUNS]`` (400 if left out). Everything is CPU time, Spark's and its
workers' included, so that other work on the machine matters little. In one Spark session there is a
campaign that warms the workers up, then a small and a large one: the difference is what the further
runs cost.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median

from commands.language.ranges import Seeds, Variation
from commands.runs.campaign_plan import CampaignOptions, plan
from sessions.analysis.session import spark_session
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.plan import Plan
from sessions.campaign.run import Emulation
from sessions.campaign.runner import run_campaign
from sessions.campaign.worker import Task, Worker
from sessions.garbage_collection import YOUNG_OBJECTS, collector_resting

SCRIPT = """\
cluster --brokers 3
topic create orders --replica-assignment 1:2:0 --config min.insync.replicas=2
wait until orders-0.leader == 1
network drop 1 2 --percent 5
produce orders --value paid --count 20 --acks ${acks} --every 10ms --async
wait 120ms
broker crash 1
wait until orders-0.leader == 2
wait 5s
"""
SMALL = 40
TASK = 160
"""Runs committed together in this process: a task of a campaign commits once a minute, at first."""
TURNS = 3
LIMIT_S = 60


def campaign(folder: Path, runs: int) -> Plan:
    """So many runs of the script."""
    script = folder / "campaign.tide"
    script.write_text(SCRIPT)
    vary = [Variation("acks", ["1", "all"])]
    return plan(CampaignOptions(str(script), Seeds([(0, runs // 2 - 1)]), vary, {}, None, ()))[0]


def cpu_seconds() -> float:
    """CPU time of this process and of everything that it has begun, directly or not."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            number = int(stat.parent.name)
            parents[number] = int(fields[1])
            ticks[number] = sum(int(each) for each in fields[11:15])
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return sum(ticks.get(number, 0) for number in found) / os.sysconf("SC_CLK_TCK")


def seconds(work: Callable[[], object]) -> float:
    """How much CPU time it takes."""
    begin = cpu_seconds()
    work()
    return cpu_seconds() - begin


def emulated(made: Plan) -> int:
    """Make the runs without writing anything; how many events they have."""
    events = 0
    for number in range(made.runs):
        run = made.run(number)
        events += sum(1 for _ in Emulation(made.variants[run.variant], run.seed).events())
    return events


def written(made: Plan, dataset: Path) -> None:
    """Make the runs as one task does, with all their tables."""
    CampaignFolder(dataset).begin(made)
    task = Task(made, str(dataset), LIMIT_S, "benchmark")
    with Worker(task) as worker, collector_resting(YOUNG_OBJECTS):
        worker.make(range(made.runs))


def in_process(made: Plan, folder: Path) -> None:
    """Print what a run costs here."""
    events = emulated(made) / made.runs
    written(made, folder / "warm")
    bare, whole = [], []
    for turn in range(TURNS):
        bare.append(seconds(partial(emulated, made)) / made.runs)
        whole.append(seconds(partial(written, made, folder / f"turn-{turn}")) / made.runs)
    print(
        f"in one process: {1_000 * median(bare):.1f} ms a run of {events:,.0f} events, "
        f"{1_000 * median(whole):.1f} ms with its tables, {median(whole) / median(bare):.2f} times "
        "as much"
    )


def on_spark(small: Plan, large: Plan, folder: Path) -> None:
    """Print what a run costs in a campaign."""
    with spark_session("local[2]"):
        warm, least, most = (
            seconds(partial(run_campaign, made, folder / name, LIMIT_S))
            for name, made in (("warm-up", small), ("small", small), ("large", large))
        )
    slope = (most - least) / (large.runs - small.runs)
    print(f"in a campaign: {1_000 * slope:.1f} ms a run; {warm:.1f} s for the first {small.runs}")


def main() -> None:
    """Print the figures."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        small, large = campaign(folder, SMALL), campaign(folder, runs)
        in_process(campaign(folder, TASK), folder)
        on_spark(small, large, folder)


if __name__ == "__main__":
    main()
