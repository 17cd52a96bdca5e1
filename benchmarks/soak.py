"""Random faults for as long as wanted: do the truths agree, and does every cluster recover?

``python -m benchmarks.soak [--mode MODE] [--seeds N] [--first S] [--rounds N] [--length N]
[--version V]`` runs N seeds (100) in ZooKeeper or KRaft mode, release after release, each with so
many rounds (3) of so many statements (40); see :mod:`tests.support.soak` and
:mod:`tests.support.kraft_soak`. Prints each seed that fails with what it broke, and exits with 1 if
one did. A seed is the same run everywhere.
"""

import argparse
import sys
import time

from emulator.releases.profiles import VERSIONS
from tests.support.kraft_soak import KRAFT_VERSIONS, KraftSoak
from tests.support.soak import Soak

MODES: dict[str, type[Soak | KraftSoak]] = {"zookeeper": Soak, "kraft": KraftSoak}


def failure(mode: str, seed: int, version: str | None, rounds: int, length: int) -> str:
    """What a seed breaks; empty if nothing."""
    soak = MODES[mode](seed, version)
    try:
        soak.run(rounds, length)
    except Exception as error:  # whatever it is: the emulator must not raise
        return f"seed {seed}: {type(error).__name__}: {error}"
    return ""


def main() -> int:
    """Run the program; 1 if a seed failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--mode", choices=MODES, default="zookeeper")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--version")
    given = parser.parse_args()
    versions = KRAFT_VERSIONS if given.mode == "kraft" else VERSIONS
    if given.version is not None and given.version not in versions:
        parser.error(f"--version: {given.version} is none of {', '.join(versions)}")
    failed, begin = 0, time.process_time()
    for seed in range(given.first, given.first + given.seeds):
        found = failure(given.mode, seed, given.version, given.rounds, given.length)
        if found:
            failed += 1
            print(found, flush=True)
    seconds = time.process_time() - begin
    print(f"{given.seeds} seeds, {failed} failed, {seconds:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
