"""Whether the jobs agree with plain Python on random sessions, half of them in KRaft mode.

``python -m benchmarks.agreement [--sessions 60] [--seed 0]``: runs a script for each seed from the
given one on, exports the sessions, analyses them, and counts everything again from their events.
It ends with status 1 and the first difference of each group of results that differ.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.sessions.analysis.both_modes import GROUPS, told_of
from tests.sessions.analysis.test_agreement import analysed


def main() -> int:
    """Compare, print the figures, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first session")
    chosen = parser.parse_args()
    told = told_of(range(chosen.seed, chosen.seed + chosen.sessions))
    events = sum(len(of_session) for of_session, _ in told.values())
    print(f"{len(told)} sessions, {events:,} events", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = analysed(told, Path(folder))
    rows = sum(len(of_table) for name, of_table in found.items() if name != "sessions")
    print(f"{rows:,} rows of results", flush=True)
    status = 0
    for name, agrees in GROUPS.items():
        try:
            agrees(told, found)
        except AssertionError as difference:
            status = 1
            print(f"{name}: differs\n{difference}", flush=True)
        else:
            print(f"{name}: agrees", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
