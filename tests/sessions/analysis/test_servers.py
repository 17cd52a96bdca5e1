"""The same jobs on a standalone cluster and over Spark Connect, by the program itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.spark_servers import connect_server, standalone_cluster
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs import CreateCluster, CreateTopic, Produce, Settle, Statement
from tests.conftest import SMALL
from tests.sessions.dataset.reading import exported

ROOT = Path(__file__).parents[3]
PROGRAM = "from commands.main import main; main()"
JOBS = ("isr", "replay")
LIMIT_S = 1_200

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("hasty_java", "small")]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings for a handful of rows, where Spark looks for its defaults."""
    lines = [f"{key} {value}\n" for key, value in SMALL.items()]
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    events: list[Event] = []
    cluster = Cluster(CreateCluster(), [events.append])
    topic = CreateTopic(topic="orders", replication_factor=3)
    for wanted in (topic, Settle(), Produce(topic="orders", count=3, acks=-1), Settle()):
        cluster.execute(Statement(wanted, ""))
    exported(events, tmp_path / "dataset", "s1")
    return tmp_path / "dataset"


def analyzed(dataset: Path, out: Path, *where: str) -> dict[str, Any]:
    """What ``tidegauge analyze --json`` says, run as a program of its own."""
    jobs = [word for job in JOBS for word in ("--job", job)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", str(out),
         *where, *jobs, "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "starting Spark"
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def judge(told: dict[str, Any], out: Path) -> None:
    """All results are there, and say of the session what it was."""
    assert told["sessions"] == 1
    assert {path.name for path in out.iterdir()} == {*told["results"], "report.html"}
    (replayed,) = pq.read_table(out / "replay").to_pylist()
    assert replayed["equal"]
    assert (replayed["replicas"], replayed["acked_rebuilt"]) == (3, 3)
    (churn,) = told["results"]["isr_churn"]["worst"]
    assert (churn["changes"], churn["size_min"]) == (0, 3)
    assert {path.name for path in out.iterdir()} == {*told["results"], "report.html"}


def test_a_standalone_cluster_runs_them(dataset: Path, tmp_path: Path) -> None:
    with standalone_cluster(tmp_path / "spark") as url:
        judge(analyzed(dataset, tmp_path / "out", "--master", url), tmp_path / "out")


def test_spark_connect_runs_them(dataset: Path, tmp_path: Path) -> None:
    with connect_server(tmp_path / "spark", SMALL) as url:
        judge(analyzed(dataset, tmp_path / "out", "--remote", url), tmp_path / "out")
