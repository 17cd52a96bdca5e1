"""Export to Parquet: events a second, and how much memory more a ten times longer session takes.

``python -m benchmarks.export [EVENTS]`` (1,000,000 if left out). Making the events is not counted:
each block is made before the clock goes on.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.synthetic import synthetic_events
from emulator.events import Event
from sessions.collector import collect_seldom
from sessions.dataset.export import ExportReport, export_session
from sessions.dataset.totals import SessionFacts

BLOCK = 100_000


class Paused:
    """Events that are made by blocks, with the time that making them took."""

    def __init__(self, events: int) -> None:
        self.seconds = 0.0
        self._source = synthetic_events(events)

    def __iter__(self) -> Iterator[Event]:
        while block := self._made():
            yield from block

    def _made(self) -> list[Event]:
        begin = time.perf_counter()
        block = list(islice(self._source, BLOCK))
        self.seconds += time.perf_counter() - begin
        return block


def measured(events: int) -> tuple[ExportReport, float]:
    """Export so many events; returns what was written and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        source = Paused(events)
        begin = time.perf_counter()
        report = export_session(source, SessionFacts("synthetic"), Path(folder) / "dataset")
        return report, time.perf_counter() - begin - source.seconds


def memory_mib() -> float:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print the figures."""
    collect_seldom()
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    measured(events // 10)
    before = memory_mib()
    report, seconds = measured(events)
    rate, size = report.events / seconds, report.size_bytes / report.events
    print(f"export: {report.events:,} events in {seconds:.2f} s: {rate:,.0f} events/s")
    print(f"size: {size:.1f} bytes/event in all tables")
    print(f"memory: {before:,.0f} MiB for a tenth of them, {memory_mib():,.0f} MiB for all")
    print("rows: " + ", ".join(f"{name} {rows:,}" for name, rows in report.rows.items() if rows))


if __name__ == "__main__":
    main()
