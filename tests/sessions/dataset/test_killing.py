"""An export that is killed at any moment: a session is there as a whole or not at all."""

import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sessions.dataset.layout import HIDDEN, DatasetFolder
from sessions.dataset.tables import TABLES
from tests.sessions.dataset.reading import exported, rows
from tests.sessions.dataset.streams import committed_story

ROOT = Path(__file__).parents[3]

EXPORTING = """
import sys
from itertools import count
from benchmarks.synthetic import synthetic_events
from sessions.dataset.export import export_session
from sessions.dataset.rows.sessions import SessionFacts
for number in count():
    export_session(synthetic_events(3000), SessionFacts(f"s{number}"), sys.argv[1])
    print(number, flush=True)
"""


def sessions_of(dataset: Path, table: str) -> list[str]:
    return sorted(folder.name.partition("=")[2] for folder in (dataset / table).iterdir())


@pytest.mark.parametrize("milliseconds", [0, 15, 40, 90])
def test_what_is_left_is_whole(tmp_path: Path, milliseconds: int) -> None:
    dataset = tmp_path / "dataset"
    with subprocess.Popen(
        [sys.executable, "-c", EXPORTING, str(dataset)], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"0\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(milliseconds / 1_000)
        process.send_signal(signal.SIGKILL)

    folder = DatasetFolder(dataset)
    folder.settle()
    whole = folder.sessions()
    assert "s0" in whole
    for table in TABLES:
        assert sessions_of(dataset, table.name) == whole
        for part in (dataset / table.name).rglob("*.parquet"):
            pq.read_table(part, partitioning=None)
    events = [rows(dataset, "sessions", session)[0]["events"] for session in whole]
    assert events == [len(rows(dataset, "events", session)) for session in whole]
    assert list(dataset.glob(f"{HIDDEN}*")) == []
    exported(committed_story().events, dataset, "after")
