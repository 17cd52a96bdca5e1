"""The same jobs on a standalone cluster and over Spark Connect, by the program itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.spark_servers import connect_server, standalone_cluster
from tests.conftest import SMALL
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story

ROOT = Path(__file__).parents[3]
PROGRAM = "from commands.main import main; main()"
JOBS = ("failover", "isr", "replay")

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("hasty_java")]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    return tmp_path / "dataset"


def analyzed(dataset: Path, out: Path, *where: str) -> dict[str, Any]:
    """What ``tidegauge analyze --json`` says, run as a program of its own."""
    jobs = [word for job in JOBS for word in ("--job", job)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", str(out),
         *where, *jobs, "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "starting Spark"
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def judge(told: dict[str, Any], out: Path) -> None:
    """All results are there, and say of the story what it tells."""
    assert told["events"] == len(committed_story().events)
    assert {path.name for path in out.iterdir()} == {*told["results"], "report.html"}
    (replayed,) = pq.read_table(out / "replay").to_pylist()
    assert replayed["equal"]
    assert (replayed["replicas"], replayed["acked_rebuilt"]) == (3, 3)
    (churn,) = told["results"]["isr_churn"]["worst"]
    assert (churn["changes"], churn["size_min"]) == (0, 3)


def test_a_standalone_cluster_runs_them(dataset: Path, tmp_path: Path) -> None:
    with standalone_cluster(tmp_path / "spark") as url:
        judge(analyzed(dataset, tmp_path / "out", "--master", url), tmp_path / "out")


def test_spark_connect_runs_them(dataset: Path, tmp_path: Path) -> None:
    with connect_server(tmp_path / "spark", SMALL) as url:
        judge(analyzed(dataset, tmp_path / "out", "--remote", url), tmp_path / "out")
