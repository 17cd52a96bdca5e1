"""The share of event rows with JSON in ``payload``, and the size of files, of random sessions.

``python -m benchmarks.dataset_columns [SESSIONS]`` (40 if left out): scripts drawn from seeds, half
of them with ZooKeeper and half in KRaft mode, each exported into one new dataset. The same seeds
give the same sessions everywhere, so two versions of the program can be compared.
"""

import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs.statements import CreateCluster, Statement
from emulator.scenario.runner import Runner
from sessions.dataset.export import export_session
from sessions.dataset.rows.sessions import SessionFacts
from tests.support.random_scripts import BROKERS, script_of, spec_of

STATEMENTS = 40


def events_of(seed: int) -> list[Event]:
    """Run a random script: with ZooKeeper if the seed is even, else in KRaft mode."""
    seen: list[Event] = []
    kraft = CreateCluster(brokers=BROKERS, controllers=3, version="4.1", mode="kraft", seed=seed)
    runner = Runner(Cluster(kraft if seed % 2 else spec_of(seed), [seen.append]))
    for wanted in script_of(seed, STATEMENTS):
        runner.execute(Statement(wanted, type(wanted).__name__))
    return seen


def main() -> None:
    """Print the figures."""
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as folder:
        dataset = Path(folder) / "dataset"
        for seed in range(sessions):
            export_session(events_of(seed), SessionFacts(f"s{seed}"), dataset)
        rows = with_json = 0
        for file in sorted((dataset / "events").glob("*.parquet")):
            payload = pq.read_table(file, columns=["payload"])["payload"]
            rows += len(payload)
            with_json += len(payload) - payload.null_count
        sizes = [file.stat().st_size for file in dataset.rglob("*.parquet")]
    print(f"payload: {with_json:,} of {rows:,} event rows have JSON, {with_json / rows:.1%}")
    print(f"size: {sum(sizes):,} bytes in {len(sizes):,} files of {sessions} sessions")


if __name__ == "__main__":
    main()
