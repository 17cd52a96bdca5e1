"""Incremental analysis: what adding sessions to an analysis costs, beside analysing all at once.

``python -m benchmarks.incremental [--sessions N] [--added N] [--events N] [--times N]``: 880
sessions at once, and 80 of them added to an analysis of the other 800, with 20,000 events each.
Both are measured from the start of the program to its end, in seconds and in processor time, which
other programs on the machine disturb less; the medians and their ratios are printed.
The sessions are those of :mod:`benchmarks.synthetic`.
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.analysis import LOCAL, PROGRAM
from benchmarks.synthetic import synthetic_events
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


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def main() -> None:
    """Print a row of Markdown with the medians and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=int, default=880)
    parser.add_argument("--added", type=int, default=80)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    first = given.sessions - given.added
    with tempfile.TemporaryDirectory() as folder:
        dataset, before, out = (Path(folder) / name for name in ("dataset", "before", "out"))
        add(dataset, range(first), given.events)
        cost_of(dataset, before)
        add(dataset, range(first, given.sessions), given.events)
        at_once, incremental = [], []
        for _ in range(given.times):
            shutil.rmtree(out, ignore_errors=True)
            at_once.append(cost_of(dataset, out))
            shutil.rmtree(out)
            shutil.copytree(before, out)
            incremental.append(cost_of(dataset, out))
    whole, part = _median(at_once), _median(incremental)
    print("| sessions | added | | at once, s | incremental, s | ratio |\n|--|--|--|--|--|--|")
    for what, all_s, added_s in zip(("wall clock", "processor"), whole, part, strict=True):
        shown = f"{all_s:.1f} | {added_s:.1f} | {added_s / all_s:.2f}"
        print(f"| {given.sessions} | {given.added} | {what} | {shown} |")


if __name__ == "__main__":
    main()
