"""The console in a real terminal for as long as wanted, under random keys, mouse, paste and sizes.

``python -m benchmarks.console_soak [--minutes N] [--seconds N] [--first SEED] [--only SOURCE]``
runs for N minutes (60): seed after seed, each for so many seconds (90) on another source (live,
paused, replay, served) and in the other mode. Prints a line for each; a seed that fails prints its
last keys and what the terminal showed, and the exit status is 1. Needs tmux.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from tests.console.mashing import Kind, soak

KINDS = [
    Kind(source, mode)
    for mode, other in (("zookeeper", "kraft"), ("kraft", "zookeeper"))
    for source, mode in (("live", mode), ("paused", other), ("replay", mode), ("served", other))
]
LAST_KEYS = 40


def main() -> int:
    """Run the program; 1 if a seed failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", choices=sorted({kind.source for kind in KINDS}))
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if options.only in (None, kind.source)]
    end, failed = time.monotonic() + options.minutes * 60, 0
    for seed, kind in zip(itertools.count(options.first), itertools.cycle(kinds)):
        if time.monotonic() > end:
            break
        done: deque[str] = deque(maxlen=LAST_KEYS)
        title = f"seed {seed}, {kind.source} in {kind.mode} mode"
        with tempfile.TemporaryDirectory(prefix="console-soak-") as folder:
            try:
                count = soak(Path(folder), kind, seed, options.seconds, done.append)
                print(f"{title}: {count} things done", flush=True)
            except AssertionError as error:
                failed += 1
                print(f"{title}: FAILED after {' | '.join(done)}\n{error}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
