"""Export to Parquet: events a second, and the most memory up to each quarter of the session.

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


def measured(events: int, quarters: list[float]) -> tuple[ExportReport, float]:
    """Export so many events; returns what was written and the seconds it took.

    ``quarters`` is given the most memory that this process has had up to each quarter, in MiB.
    """

    def note(exported: int) -> None:
        if exported * 4 >= (len(quarters) + 1) * events:
            quarters.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)

    with tempfile.TemporaryDirectory() as folder:
        source = Paused(events)
        begin = time.perf_counter()
        report = export_session(source, SessionFacts("synthetic"), Path(folder) / "dataset", note)
        return report, time.perf_counter() - begin - source.seconds


def main() -> None:
    """Print the figures."""
    collect_seldom()
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    quarters: list[float] = []
    report, seconds = measured(events, quarters)
    rate, size = report.events / seconds, report.size_bytes / report.events
    print(f"export: {report.events:,} events in {seconds:.2f} s: {rate:,.0f} events/s")
    print(f"size: {size:.1f} bytes/event in all tables")
    print("memory: " + ", ".join(f"{most:,.0f}" for most in quarters) + " MiB after each quarter")
    print("rows: " + ", ".join(f"{name} {rows:,}" for name, rows in report.rows.items() if rows))


if __name__ == "__main__":
    main()
