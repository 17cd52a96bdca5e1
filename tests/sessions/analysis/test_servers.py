"""All jobs on a standalone cluster and over Spark Connect, by the program itself."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from benchmarks.spark_servers import connect_server, standalone_cluster
from benchmarks.synthetic import synthetic_events
from emulator.cluster import Cluster
from emulator.events import Event
from emulator.inputs import (
    Consume,
    CrashBroker,
    CreateCluster,
    CreateTopic,
    PauseReplica,
    Produce,
    Settle,
    StartBroker,
    Statement,
)
from sessions.analysis.analyze import analyze
from sessions.analysis.jobs import JOBS
from tests.conftest import SMALL
from tests.sessions.dataset.reading import exported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
PROGRAM = "from commands.main import main; main()"
LIMIT_S = 1_200
EMPTY = {"durability_records", "outages", "failovers", "anomalies", "controller_work"}
"""Results that would show nothing, were it not for the trouble in the session."""

Results = dict[str, list[dict[str, Any]]]

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("hasty_java", "small")]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings for a handful of rows, where Spark looks for its defaults."""
    lines = [f"{key} {value}\n" for key, value in SMALL.items()]
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("".join(lines))
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))


def troubled() -> list[Event]:
    """A leader crashes with acknowledged records that its followers did not fetch."""
    events: list[Event] = []
    cluster = Cluster(CreateCluster(), [events.append])
    for wanted in (
        CreateTopic(topic="orders", replication_factor=3),
        Settle(),
        Produce(topic="orders", count=3, acks=-1),
        PauseReplica(tp="orders-0", broker=1),
        PauseReplica(tp="orders-0", broker=2),
        Produce(topic="orders", count=2, acks=1),
        CrashBroker(broker=0),
        Settle(),
        Produce(topic="orders", count=2, acks=1),
        Consume(topic="orders"),
        StartBroker(broker=0),
        Settle(),
    ):
        cluster.execute(Statement(wanted, ""))
    return events


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("servers") / "dataset"
    exported(troubled(), path, "troubled")
    exported(synthetic_events(300, partitions=4), path, "synthetic")
    return path


@pytest.fixture(scope="module")
def expected(spark: "SparkSession", dataset: Path) -> Results:
    """What a local session finds, which is compared with plain Python elsewhere."""
    report = analyze(dataset, dataset.parent / "local")
    found = {table.name: rows_in(table.path) for table in report.tables}
    assert all(found[name] for name in EMPTY)
    assert [row["equal"] for row in found["replay"]] == [True, True]
    return found


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """A result's rows in an order of their own."""
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: repr(list(row.values())))


def judge(dataset: Path, expected: Results, out: Path, *where: str) -> None:
    """``tidegauge analyze``, run as a program of its own, finds what is expected."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", str(out),
         *where, "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert said[0] == "starting Spark"
    assert [line.partition(":")[0] for line in said[1 : 1 + len(JOBS)]] == list(JOBS)
    told = json.loads(done.stdout)
    assert told["sessions"] == 2
    assert {path.name for path in out.iterdir()} == {*told["results"], "report.html"}
    assert {name: rows_in(out / name) for name in told["results"]} == expected


def test_a_standalone_cluster_runs_all_jobs(
    dataset: Path, expected: Results, tmp_path: Path
) -> None:
    with standalone_cluster(tmp_path / "spark") as url:
        judge(dataset, expected, tmp_path / "out", "--master", url)


def test_spark_connect_runs_all_jobs(dataset: Path, expected: Results, tmp_path: Path) -> None:
    with connect_server(tmp_path / "spark", SMALL) as url:
        judge(dataset, expected, tmp_path / "out", "--remote", url)
