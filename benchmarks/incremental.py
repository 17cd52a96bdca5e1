"""Incremental analysis: what adding sessions to an analysis costs, beside analysing all at once.

``python -m benchmarks.incremental [--sessions N] [--added N] [--events N] [--times N]``: 880
sessions at once, and 80 of them added to an analysis of the other 800, with 20,000 events each.
Both are measured twice: from the start of the program to its end, and in a Spark session that is
already running and has analysed the dataset before, as in a notebook. Seconds and processor time,
which other programs on the machine disturb less; the medians and their ratios are printed.
The sessions are those of :mod:`benchmarks.synthetic`.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.analysis import LOCAL, PROGRAM
from benchmarks.synthetic import synthetic_events
from sessions.analysis.run import analyze
from sessions.analysis.session import spark_session
from sessions.dataset.export import RowsWriter
from sessions.dataset.layout import Dataset
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.session_rows import SessionRows

EACH_COMMIT = 20
PARTITIONS = 12


def add(dataset: Path, numbers: range, events: int) -> None:
    """Add sessions to a dataset, many in one commit."""
    into = Dataset(dataset)
    for first in range(numbers.start, numbers.stop, EACH_COMMIT):
        names = [f"s{each:05d}" for each in range(first, min(first + EACH_COMMIT, numbers.stop))]
        with into.staging() as staging, RowsWriter(staging.path, staging.id) as writer:
            for name in names:
                rows = SessionRows(name)
                rows.add(list(synthetic_events(events, PARTITIONS)))
                rows.finish(SessionFacts(name))
                writer.take(rows)
            writer.finish()
            staging.commit(names, len(names) * events)


class Cost(NamedTuple):
    """What one run of the program takes: seconds, and seconds of the processor."""

    wall_s: float
    cpu_s: float


def cost_of(dataset: Path, out: Path) -> Cost:
    """Return what one run of the program takes, with all processes that it starts."""
    begin, used = time.perf_counter(), _processor_s()
    subprocess.run(
        [sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", str(out),
         "--master", LOCAL],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return Cost(time.perf_counter() - begin, _processor_s() - used)


def _processor_s() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Program:
    """Runs each analysis as a program of its own."""

    name = "program"

    def cost_of(self, dataset: Path, out: Path) -> Cost:
        """Return what the analysis takes."""
        return cost_of(dataset, out)


class RunningSession:
    """Runs each analysis in one Spark session, which ``jvm`` executes (a process ID)."""

    name = "running session"

    def __init__(self, jvm: int) -> None:
        self._jvm = jvm

    def cost_of(self, dataset: Path, out: Path) -> Cost:
        """Return what the analysis takes, in this process and in the JVM."""
        begin, used = time.perf_counter(), self._used_s()
        analyze(dataset, out)
        return Cost(time.perf_counter() - begin, self._used_s() - used)

    def _used_s(self) -> float:
        stat = Path(f"/proc/{self._jvm}/stat").read_text(encoding="utf-8")
        # After the name, which ends with the last parenthesis, utime to cstime are fields 11 to 14.
        ticks = sum(map(int, stat.rpartition(")")[2].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


def print_rows(given: Any, runner: Program | RunningSession, dataset: Path, before: Path) -> None:  # noqa: ANN401 - argparse's
    """Measure both analyses ``given.times`` times, and print two rows of Markdown."""
    at_once, incremental = [], []
    out = before.with_name("out")
    for _ in range(given.times):
        at_once.append(runner.cost_of(dataset, out))
        shutil.rmtree(out)
        shutil.copytree(before, out)
        incremental.append(runner.cost_of(dataset, out))
        shutil.rmtree(out)
    for what, *costs in zip(
        ("wall clock", "processor"), _median(at_once), _median(incremental), strict=True
    ):
        whole, part = costs
        shown = f"{whole:.1f} | {part:.1f} | {part / whole:.2f}"
        print(f"| {given.sessions} | {given.added} | {runner.name}, {what} | {shown} |", flush=True)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def main() -> None:
    """Print rows of Markdown with the medians and their ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=880)
    parser.add_argument("--added", type=int, default=80)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    first = given.sessions - given.added
    print("| sessions | added | | at once, s | incremental, s | ratio |\n|--|--|--|--|--|--|")
    with tempfile.TemporaryDirectory() as folder:
        dataset, before = Path(folder) / "dataset", Path(folder) / "before"
        add(dataset, range(first), given.events)
        cost_of(dataset, before)
        add(dataset, range(first, given.sessions), given.events)
        print_rows(given, Program(), dataset, before)
        with spark_session(LOCAL) as spark:
            gateway: Any = spark.sparkContext._gateway
            running = RunningSession(gateway.proc.pid)
            shutil.copytree(before, before.with_name("first"))
            running.cost_of(dataset, before.with_name("first"))
            print_rows(given, running, dataset, before)


if __name__ == "__main__":
    main()
