"""Prints the ``state_hash`` after each of many random scripts: SEEDS, ``recorded`` or ``alone``.

A program of its own, so that a test can run it in processes of different hash seeds.
"""

import sys
import tempfile
from pathlib import Path

from emulator.cluster import Cluster
from emulator.scenario.runner import Runner
from sessions.format.metadata import Origin
from sessions.recording.recorder import Recorder
from tests.support.random_scripts import run, script_of, spec_of

LENGTH = 20


def hash_of(seed: int, recorder: Recorder | None) -> str:
    """The hash after a seed's script, with or without a recording of every event."""
    cluster = Cluster(spec_of(seed), [] if recorder is None else [recorder])
    runner = Runner(cluster)
    run(runner, script_of(seed, LENGTH))
    if recorder is not None:
        recorder.close()
        assert recorder.view.seq == cluster.sequence
    return f"{seed} {cluster.sequence} {cluster.now_us} {runner.state_hash}"


def recorder_of(seed: int, folder: Path) -> Recorder:
    """A recording of a seed's run."""
    spec = spec_of(seed)
    return Recorder(folder / f"{seed}.tide.db", Origin(str(seed), "test", spec.version, seed, spec))


def main(seeds: int, recorded: bool) -> None:
    """Print one line a seed."""
    with tempfile.TemporaryDirectory() as name:
        for seed in range(seeds):
            recorder = recorder_of(seed, Path(name)) if recorded else None
            sys.stdout.write(hash_of(seed, recorder) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "recorded")
