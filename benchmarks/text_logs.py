"""How fast text logs are read: ``python -m benchmarks.text_logs LOG.. --mib 256``.

The logs (as those in ``tests/sessions/postmortem/recordings/text_logs``) are repeated until the
text has the size that is asked for; nothing of them is changed. Half of it is the log of one node,
half that of another, so that two processes read it. It is read as it is, compressed
with gzip, in a layout whose logger is not at the end of the line, and in one without it. Printed
are MB of text per second of the wall clock and of the processor time of whichever process used
more, which is what two free cores take at least; and the most memory of one process.
"""

import argparse
import gzip
import re
import resource
import tempfile
from collections.abc import Iterable
from pathlib import Path
from shutil import rmtree
from time import perf_counter, process_time

from sessions.postmortem.text_logs.merging import find_text_logs

RECORDINGS = Path("tests/sessions/postmortem/recordings/text_logs")
MB = 1e6
PROCESSES = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_LINE = re.compile(rb"^\[([^\]]{23})\] ([A-Z]+) (.*) \(([\w.$]+)\)$", re.M)


def text_of(paths: Iterable[Path]) -> bytes:
    """Everything in some logs, compressed or not."""
    parts = []
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                data = file.read_bytes()
                parts.append(gzip.decompress(data) if file.suffix == ".gz" else data)
    return b"\n".join(parts)


def measure(name: str, folder: Path, size: int) -> None:
    """Read the logs in a folder and print how long it takes."""
    began, began_cpu, began_fork = perf_counter(), process_time(), _fork_time()
    logs = find_text_logs([folder])
    entries = sum(1 for _ in logs.entries())
    took = perf_counter() - began
    took_cpu = max(process_time() - began_cpu, _fork_time() - began_fork)
    memory = max(resource.getrusage(whose).ru_maxrss / 1024 for whose in PROCESSES)
    print(
        f"{name:24} {size / MB / took:6.0f} MB/s {size / MB / took_cpu:6.0f} MB/s of CPU "
        f"{entries:9,} entries, {logs.progress.repeated:,} repeated; {memory:.0f} MiB at most"
    )


def _fork_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="*", type=Path, default=[RECORDINGS])
    parser.add_argument("--mib", type=int, default=256)
    asked = parser.parse_args()
    text = text_of(asked.logs)
    times = max(1, (asked.mib << 20) // len(text))
    other = _LINE.sub(rb"\1 \2 [main] \4: \3", text)
    without = _LINE.sub(rb"[\1] \2 \3", text)
    with tempfile.TemporaryDirectory() as folder:
        for name, part, suffix in (
            ("Kafka's layout", text, "log"),
            ("gzip", text, "log.gz"),
            ("another layout", other, "log"),
            ("no logger", without, "log"),
        ):
            middle = part.index(b"\n", len(part) // 2) + 1
            for node, half in enumerate((part[:middle], part[middle:])):
                path = Path(folder) / f"node{node}" / f"server.{suffix}"
                path.parent.mkdir(exist_ok=True)
                with gzip.open(path, "wb", 6) if suffix == "log.gz" else path.open("wb") as file:
                    for _ in range(times):
                        file.write(half)
            measure(name, Path(folder), times * len(part))
            for node_folder in Path(folder).iterdir():
                rmtree(node_folder)


if __name__ == "__main__":
    main()
