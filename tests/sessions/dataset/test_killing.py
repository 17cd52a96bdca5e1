"""An export that is killed at any moment: a session is there as a whole or not at all."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.dataset.layout import STAGING, Dataset
from sessions.dataset.tables import TABLES
from tests.sessions.dataset.reading import exported, files, rows
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

    left = Dataset(dataset)
    left.recover()
    whole = left.sessions()
    assert "s0" in whole
    commits = {commit.id: commit for commit in left.commits()}
    for table in TABLES:
        named = {file.name for each in commits.values() for file in each.files.get(table.name, ())}
        assert {path.name for path in files(dataset, table.name)} == named
    events = [rows(dataset, "sessions", session)[0]["events"] for session in whole]
    assert events == [len(rows(dataset, "events", session)) for session in whole]
    assert list(dataset.glob(f"{STAGING}/*")) == []
    exported(committed_story().events, dataset, "after")
