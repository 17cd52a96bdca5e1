"""Spark's analysis: seconds from the start of the program to its end, by events and executors.

Beside the clock stands the CPU time of the program and of all that it starts, servers included.

``python -m benchmarks.analysis [EVENTS ..] [--executors N ..] [--job NAME ..]``: 5,000,000 events
on ``local[2]`` if left out; with ``--executors`` on a standalone cluster of so many workers of one
core, each with one executor. The sessions are those of :mod:`benchmarks.synthetic`, one for each
million events; making and exporting them is not counted.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from benchmarks.spark_servers import standalone_cluster
from benchmarks.synthetic import synthetic_events
from sessions.dataset.export import export_session
from sessions.dataset.rows.sessions import SessionFacts

SESSION_EVENTS = 1_000_000
EVENTS = 5_000_000
MEMORY = "2g"
LOCAL = "local[2]"
PROGRAM = "from commands.cli.main import main; main()"


def make_dataset(events: int, dataset: Path) -> int:
    """Export as many sessions as that takes; returns how many events there are."""
    made = 0
    for number in range(max(1, events // SESSION_EVENTS)):
        size = min(events, SESSION_EVENTS)
        made += export_session(synthetic_events(size), SessionFacts(f"s{number}"), dataset).events
    return made


def seconds_of(dataset: Path, master: str, jobs: list[str]) -> dict[str, float]:
    """Seconds until each job began, and until the program ended (``total``)."""
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", f"{folder}/out",
             "--master", master, *(word for job in jobs for word in ("--job", job))],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert process.stderr is not None
        begun = {}
        for line in process.stderr:
            print(f"    {time.perf_counter() - begin:6.1f} s  {line.rstrip()}", file=sys.stderr)
            begun[line.partition(":")[0].strip()] = time.perf_counter() - begin
        if process.wait():
            raise SystemExit(f"the analysis ended with exit status {process.returncode}")
    return {**begun, "total": time.perf_counter() - begin}


def main() -> None:
    """Print a row of Markdown for each size and way to run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("events", nargs="*", type=int, default=[EVENTS])
    parser.add_argument("--executors", nargs="+", type=int, default=[])
    parser.add_argument("--job", nargs="+", default=[])
    given = parser.parse_args()
    print("| events | on | seconds | CPU seconds | events/s |\n|--|--|--|--|--|")
    for events in given.events:
        with tempfile.TemporaryDirectory() as folder:
            dataset = Path(folder) / "dataset"
            made = make_dataset(events, dataset)
            for executors in given.executors or [0]:
                before = _cpu_seconds()
                where = f"{executors} executors of 1 core" if executors else LOCAL
                cluster = standalone_cluster(Path(folder) / "spark", executors, MEMORY)
                with cluster if executors else nullcontext(LOCAL) as url:
                    seconds = seconds_of(dataset, url, given.job)["total"]
                cpu, rate = _cpu_seconds() - before, made / seconds
                print(
                    f"| {made:,} | {where} | {seconds:.0f} | {cpu:.0f} | {rate:,.0f} |", flush=True
                )


def _cpu_seconds() -> float:
    """CPU time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
