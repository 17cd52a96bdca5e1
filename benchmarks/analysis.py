"""Spark's analysis: seconds from the start of the program to its end, by events and executors.

CPU time of the program and all its child processes, servers included, is given as well.

``python -m benchmarks.analysis [EVENTS ..] [--sessions N ..] [--executors N ..] [--job NAME ..]``:
5,000,000 events in 5 and in 10,000 sessions on ``local[2]`` if left out; with ``--executors`` on a
standalone cluster of so many workers of one core, each with one executor. The sessions are those of
:mod:`benchmarks.synthetic`; making and exporting them is not counted. Many sessions are exported as
a campaign's task does it, many in one commit.

``--duckdb`` asks the same question of DuckDB, in the same run: percentiles of commit latency by
session, partition and acks, and the worst of them.
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
from sessions.dataset.export import RowsWriter
from sessions.dataset.layout import Dataset
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.session_rows import SessionRows

EVENTS = 5_000_000
SESSIONS = (5, 10_000)
COMMITS_MAX = 64
BLOCK = 16_384
MEMORY = "2g"
LOCAL = "local[2]"
PROGRAM = "from commands.cli.main import main; main()"
QUESTION = """\
WITH batch AS (
    SELECT session, tp, acks, committed_us - sent_us AS us, count(*) AS records
    FROM '{dataset}/produced/*.parquet' WHERE committed_us IS NOT NULL GROUP BY ALL
), ranked AS (
    SELECT *, sum(records) OVER (PARTITION BY session, tp, acks ORDER BY us) AS rank,
           sum(records) OVER (PARTITION BY session, tp, acks) AS total
    FROM batch
)
SELECT session, tp, acks, max(total) AS n,
       min(us) FILTER (rank * 100 >= total * 50) AS p50,
       min(us) FILTER (rank * 100 >= total * 99) AS p99
FROM ranked GROUP BY ALL ORDER BY p99 DESC, session, tp LIMIT 50
"""
"""The first query of the job ``latency``."""


def make_dataset(events: int, sessions: int, dataset: Path) -> int:
    """Export a number of events in a number of sessions; return the number of events."""
    made, size = 0, events // sessions
    partitions = max(3, min(100, size // 200))
    into = Dataset(dataset)
    each_commit = -(-sessions // min(sessions, COMMITS_MAX))
    names = [f"s{number:05d}" for number in range(sessions)]
    for first in range(0, sessions, each_commit):
        together = names[first : first + each_commit]
        with into.staging() as staging, RowsWriter(staging.path, staging.id) as writer:
            count = 0
            for name in together:
                rows = SessionRows(name)
                block = []
                for event in synthetic_events(size, partitions):
                    block.append(event)
                    if len(block) == BLOCK:
                        rows.add(block)
                        writer.take(rows)
                        block = []
                if block:
                    rows.add(block)
                rows.finish(SessionFacts(name))
                writer.take(rows)
                count += rows.events
            writer.finish()
            staging.commit(together, count)
            made += count
    return made


def seconds_of_duckdb(dataset: Path) -> float:
    """Return the seconds that DuckDB, a library with two threads, takes to answer."""
    import duckdb

    begin = time.perf_counter()
    with duckdb.connect(config={"threads": 2}) as connection:
        connection.execute(QUESTION.format(dataset=dataset)).fetchall()
    return time.perf_counter() - begin


def seconds_of(dataset: Path, master: str, jobs: list[str]) -> dict[str, float]:
    """Return the seconds until each job started, and until the program ended (``total``)."""
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
    parser.add_argument("--sessions", nargs="+", type=int, default=list(SESSIONS))
    parser.add_argument("--executors", nargs="+", type=int, default=[])
    parser.add_argument("--job", nargs="+", default=[])
    parser.add_argument("--duckdb", action="store_true")
    given = parser.parse_args()
    print("| events | sessions | on | seconds | CPU seconds | events/s |\n|--|--|--|--|--|--|")
    for events in given.events:
        for sessions in given.sessions:
            with tempfile.TemporaryDirectory() as folder:
                dataset = Path(folder) / "dataset"
                made = make_dataset(events, sessions, dataset)
                files = sum(1 for _ in dataset.rglob("*.parquet"))
                print(f"    {files} files", file=sys.stderr)
                for executors in given.executors or [0]:
                    where = f"{executors} executors of 1 core" if executors else LOCAL
                    cluster = standalone_cluster(Path(folder) / "spark", executors, MEMORY)
                    before = _cpu_seconds()
                    with cluster if executors else nullcontext() as started:
                        master = LOCAL if started is None else started.url
                        seconds = seconds_of(dataset, master, given.job)["total"]
                    _print(made, sessions, where, seconds, _cpu_seconds() - before)
                if given.duckdb:
                    before = time.process_time()
                    seconds = seconds_of_duckdb(dataset)
                    where = "DuckDB, commit latency alone"
                    _print(made, sessions, where, seconds, time.process_time() - before)
                    before = _cpu_seconds()
                    seconds = seconds_of(dataset, LOCAL, ["latency"])["total"]
                    where = f"{LOCAL}, the job latency alone"
                    _print(made, sessions, where, seconds, _cpu_seconds() - before)


def _print(events: int, sessions: int, where: str, seconds: float, cpu: float) -> None:
    rate = events / seconds
    print(
        f"| {events:,} | {sessions:,} | {where} | {seconds:.1f} | {cpu:.1f} | {rate:,.0f} |",
        flush=True,
    )


def _cpu_seconds() -> float:
    """Return the CPU time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
