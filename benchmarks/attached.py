"""What it costs to look at a running cluster: ``python -m benchmarks.attached --partitions 10000``.

The cluster is an emulated one, served by a process of its own; the figures are of this process, in
which the console would run: processor time of all its threads, without drawing.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.rehearse import fleet
from emulator.inputs.statements import CreateCluster
from sessions.attached.poller import Poller
from sessions.format.metadata import Origin
from sessions.model.states import NO_SEED
from sessions.own_cluster.image_files import write_image
from sessions.recording.recorder import Recorder
from sessions.sources.attached import AttachedSource

EVERY_S = 2.0
SERVERS = re.compile(r"bootstrap\.servers=(\S+)")


def served(folder: Path, partitions: int, brokers: int) -> tuple[subprocess.Popen[str], str]:
    """Start a cluster of this size; return its process and its address."""
    path = folder / "fleet.cluster.json"
    write_image(fleet(partitions, brokers), path)
    words = ["serve", str(path), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tidegauge", *words], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if found := SERVERS.search(line):
            return process, f"kafka://{found[1]}"
    raise SystemExit("the cluster did not start")


def measured(address: str, folder: Path, seconds: float) -> None:
    """Look at the cluster for a while, and print what that took."""
    began, used = time.perf_counter(), time.process_time()
    poller = Poller(address, {}, EVERY_S)
    spec = CreateCluster(version=poller.release)
    origin = Origin("fleet", "benchmark", poller.release, NO_SEED, spec, sources=[address])
    with Recorder(folder / "fleet.tide.db", origin) as recorder:
        source = AttachedSource(poller, recorder, lambda text: [], "fleet")
        source.keep_up()
        wall, core = time.perf_counter() - began, time.process_time() - used
        print(f"first look: {wall:.1f} s, {core:.1f} s of a core, {source.last_seq:,} events")
        poller.start()
        time.sleep(EVERY_S)
        began, used, seq = time.perf_counter(), time.process_time(), source.last_seq
        worst = 0.0
        while (gone := time.perf_counter() - began) < seconds:
            time.sleep(0.1)
            frame = time.process_time()
            source.keep_up()
            worst = max(worst, time.process_time() - frame)
        core = time.process_time() - used
        print(
            f"then, every {EVERY_S:g} s for {gone:.0f} s: {core / gone:.1%} of a core,"
            f" {source.last_seq - seq:,} events, the longest frame {worst * 1_000:.0f} ms"
        )
        for note in poller.notes:
            print(note)
        source.close()


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--brokers", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--address", help="look at this cluster instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.address:
            measured(given.address, folder, given.seconds)
            return
        process, address = served(folder, given.partitions, given.brokers)
        try:
            measured(address, folder, given.seconds)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
