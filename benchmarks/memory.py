"""The memory of a process and of all that it starts, together: ``with PeakMemory() as peak: ..``.

Memory that forks share counts once (``Pss`` of Linux). Another process looks, so that the measured
one has no thread beside it.
"""

import os
import subprocess
import sys
from pathlib import Path
from select import select

LOOK_S = 0.5


class PeakMemory:
    """Measures this process and its children; ``mib`` is the most that was seen, in MiB."""

    mib = 0.0

    def __enter__(self) -> "PeakMemory":
        """Begin to look."""
        command = [sys.executable, "-m", "benchmarks.memory", str(os.getpid())]
        self.looking = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *raised: object) -> None:
        """Look no more."""
        self.mib = float(self.looking.communicate()[0])


def _together(root: int) -> float:
    """The memory of a process and its descendants, but for this one."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
        except OSError:
            continue  # it has ended
    family = {root}
    while (
        more := {pid for pid, parent in parents.items() if parent in family}
        - family
        - {os.getpid()}
    ):
        family |= more
    return sum(map(_pss_kib, family)) / 1024


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it has ended
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def main() -> None:
    """Look until standard input is closed, then print the peak."""
    root, peak = int(sys.argv[1]), 0.0
    while not select([0], [], [], LOOK_S)[0]:
        peak = max(peak, _together(root))
    print(f"{peak:.1f}")


if __name__ == "__main__":
    main()
