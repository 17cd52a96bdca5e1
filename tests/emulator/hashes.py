"""Prints the ``state_hash`` after each of many random scripts: SEEDS, ``observed`` or ``alone``.

A program of its own, so that a test can run it in processes of different hash seeds.
"""

import sys

from emulator.cluster import Cluster
from emulator.events import Event
from tests.emulator.random_scripts import run, script_of, spec_of

LENGTH = 20


def hash_of(seed: int, *, observed: bool) -> str:
    """The hash after a seed's script, with or without somebody looking at every event."""
    seen: list[Event] = []
    cluster = Cluster(spec_of(seed), [seen.append] if observed else [])
    run(cluster, script_of(seed, LENGTH))
    if observed:
        assert [each.seq for each in seen] == list(range(1, cluster.sequence + 1))
    return f"{seed} {cluster.sequence} {cluster.now_us} {cluster.state_hash}"


def main(seeds: int, observed: bool) -> None:
    """Print one line a seed."""
    lines = [hash_of(seed, observed=observed) for seed in range(seeds)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "observed")
