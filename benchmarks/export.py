"""Export to Parquet: events a second, and memory up to each quarter of the session.

``python -m benchmarks.export [EVENTS]`` (1,000,000 if left out). What is measured is a session file
going into a new dataset, reading it and starting the second process included; making the file is
not. Memory is what all processes have in use together, looked at some ten times a second.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from threading import Event as Signal
from threading import Thread

from benchmarks.synthetic import synthetic_events
from emulator.events import Event
from emulator.inputs.statements import CreateCluster
from sessions.dataset.export import ExportReport
from sessions.dataset.export_files import add_session
from sessions.format.file import SessionFile
from sessions.format.metadata import Origin
from sessions.format.writer import SessionWriter
from sessions.garbage_collection import collect_seldom
from sessions.recording.recorder import CHUNK_EVENTS_MAX

LOOK_EVERY_S = 0.1


def recorded(events: Iterable[Event], path: Path) -> None:
    """Make a session file of events."""
    source = iter(events)
    writer = SessionWriter(path, Origin("synthetic", "tidegauge", "3.9", 0, CreateCluster()))
    while block := list(islice(source, CHUNK_EVENTS_MAX)):
        writer.put_chunk(block)
    writer.close(None)


def memory_mib() -> float:
    """What this process and those that it started have in memory now, what they share twice."""
    ours = str(os.getpid())
    kib = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            values = dict(line.split(":", 1) for line in status.read_text().splitlines())
        except OSError:  # it has ended meanwhile
            continue
        if ours in (values["Pid"].strip(), values["PPid"].strip()) and "VmRSS" in values:
            kib += int(values["VmRSS"].split()[0])
    return kib / 1024


def measured(path: Path, dataset: Path, most: list[float]) -> tuple[ExportReport, float]:
    """Export a session; returns what was written and the seconds it took.

    ``most`` is given the most memory up to each quarter, in MiB.
    """
    ended, done = Signal(), [0]

    def watch(events: int) -> None:
        highest = 0.0
        while not ended.wait(LOOK_EVERY_S):
            highest = max(highest, memory_mib())
            if done[0] * 4 >= (len(most) + 1) * events:
                most.append(highest)
        most[3:] = [highest]  # the last quarter ends with the export

    def note(exported: int) -> None:
        done[0] = exported

    with SessionFile(path) as session:
        watcher = Thread(target=watch, args=(session.last_seq,))
        watcher.start()
        begin = time.perf_counter()
        report = add_session(session, dataset, note).report
        seconds = time.perf_counter() - begin
        ended.set()
        watcher.join()
    assert report is not None
    return report, seconds


def main() -> None:
    """Print the figures."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.tide.db"
        recorded(synthetic_events(events), path)
        collect_seldom()
        most: list[float] = []
        report, seconds = measured(path, Path(folder) / "dataset", most)
    rate, size = report.events / seconds, report.size_bytes / report.events
    print(f"export: {report.events:,} events in {seconds:.2f} s: {rate:,.0f} events/s")
    print(f"size: {size:.1f} bytes/event in all tables")
    print("memory: " + ", ".join(f"{each:,.0f}" for each in most) + " MiB up to each quarter")
    print("rows: " + ", ".join(f"{name} {rows:,}" for name, rows in report.rows.items() if rows))


if __name__ == "__main__":
    main()
