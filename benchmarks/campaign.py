"""What a run costs in a campaign, beside the same run in this process.

``python -m benchmarks.campaign [RUNS]`` (400 if left out). The cost of a run is the slope between a
small campaign and a large one; what is left is the cost of beginning: Spark, and the workers'
imports. Everything is wall time, measured in turns.
"""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from commands.ranges import Seeds, Variation
from commands.variations import Given, plan
from sessions.campaign.campaign import run_campaign
from sessions.campaign.emulation import Emulation, run_into
from sessions.campaign.plan import Plan

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
TURNS = 3
LIMIT_S = 60


def campaign(folder: Path, runs: int) -> Plan:
    """So many runs of the script."""
    script = folder / "campaign.tide"
    script.write_text(SCRIPT)
    vary = [Variation("acks", ["1", "all"])]
    return plan(Given(str(script), Seeds([(0, runs // 2 - 1)]), vary, {}, None, ()))[0]


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


def emulated(made: Plan) -> int:
    """Make the runs without writing anything; how many events they have."""
    events = 0
    for number in range(made.runs):
        run = made.run(number)
        events += sum(1 for _ in Emulation(made.variants[run.variant], run.seed).events())
    return events


def written(made: Plan, dataset: Path) -> None:
    """Make the runs one after another, with all their tables."""
    for number in range(made.runs):
        run = made.run(number)
        run_into(dataset, made.variants[run.variant], run, made.name)


def in_process(small: Plan, folder: Path) -> None:
    """Print what a run costs here."""
    events = emulated(small) / SMALL
    written(small, folder / "warm")
    bare, whole = [], []
    for turn in range(TURNS):
        bare.append(seconds(partial(emulated, small)) / SMALL)
        whole.append(seconds(partial(written, small, folder / f"turn-{turn}")) / SMALL)
    print(
        f"in one process: {1_000 * median(bare):.1f} ms a run of {events:,.0f} events, "
        f"{1_000 * median(whole):.1f} ms with its tables"
    )


def on_spark(small: Plan, large: Plan, folder: Path, master: str) -> None:
    """Print what a run costs in a campaign, and the campaign itself."""
    least, most = (
        seconds(partial(run_campaign, made, folder / f"{master}-{made.runs}", LIMIT_S, master))
        for made in (small, large)
    )
    slope = (most - least) / (large.runs - small.runs)
    begin = least - slope * small.runs
    print(f"campaign on {master}: {1_000 * slope:.1f} ms a run, {begin:.1f} s to begin and end")


def main() -> None:
    """Print the figures."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        small, large = campaign(folder, SMALL), campaign(folder, runs)
        in_process(small, folder)
        for master in ("local[1]", "local[2]"):
            on_spark(small, large, folder, master)


if __name__ == "__main__":
    main()
