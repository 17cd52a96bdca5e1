"""The code as one file: what a worker that has nothing of this program can do with it."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.shipping import NEEDED, packages_zip
from sessions.campaign.worker import Task, encoded
from sessions.dataset.layout import Dataset
from tests.sessions.campaign.plans import short_plan

pytest.importorskip("pyarrow")

BARE = """
import sys
sys.path = [path for path in sys.path if "site-packages" not in path]
import importlib
for name in sys.argv[4:]:
    sys.path.insert(0, name)
sys.path.insert(0, sys.argv[1])
import pyarrow as pa
from sessions.campaign import worker
assert worker.__file__.startswith(sys.argv[1]), worker.__file__
task = open(sys.argv[2], "rb").read()
batch = pa.RecordBatch.from_pydict({"id": [0, 1]})
named = list(worker.named_runs(task, [batch]))
made = [row["runs"] for each in worker.run_batches(task, named) for row in each.to_pylist()]
loaded = {name.partition(".")[0] for name in sys.modules}
print(*made, *sorted(loaded & set(sys.argv[3].split())))
"""


def test_the_same_code_gives_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    first, again = packages_zip(tmp_path), packages_zip(tmp_path / "again")
    assert first.name == again.name
    assert first.read_bytes() == again.read_bytes()


def test_a_worker_runs_on_it_alone(tmp_path: Path) -> None:
    """The packages are not importable there, and nothing but what is said to be needed is."""
    dataset = tmp_path / "dataset"
    CampaignFolder(dataset).begin(short_plan())
    task = tmp_path / "task"
    task.write_bytes(encoded(Task(short_plan(), str(dataset), 60, "now")))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    places = {str(Path(module.__file__ or "").parent.parent) for module in (msgspec,)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", BARE, str(packages_zip(tmp_path)), str(task),
         "typer rich textual hypothesis commands console", *places],
        cwd=elsewhere, capture_output=True, text=True, check=False, timeout=300,
        env={"PYTHONPATH": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["2"]
    assert Dataset(dataset).sessions() == ["seed-0", "seed-1"]
    assert "msgspec" in NEEDED
