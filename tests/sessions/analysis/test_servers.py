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
from emulator.inputs.statements import (
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
from emulator.scenario.runner import Runner
from sessions.analysis.jobs import JOBS
from sessions.analysis.run import ANALYSED, NOTE, analyze
from tests.conftest import SMALL
from tests.sessions.dataset.reading import exported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[3]
PROGRAM = "from commands.cli.main import main; main()"
LIMIT_S = 1_200
TROUBLED = {"durability_records", "outages", "failovers", "anomalies", "controller_work"}
"""Results that would be empty, were it not for the trouble in the session."""

ACKED = [140, 7]
"""Records that were acknowledged in the two sessions."""

Results = dict[str, list[dict[str, Any]]]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.servers,
    pytest.mark.usefixtures("hasty_java", "small"),
]


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
        Runner(cluster).execute(Statement(wanted, ""))
    return events


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "dataset"
    exported(troubled(), path, "troubled")
    exported(synthetic_events(300, partitions=4), path, "synthetic")
    return path


def rows_in(folder: Path) -> list[dict[str, Any]]:
    """A result's rows in an order of their own."""
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: repr(list(row.values())))


def found(dataset: Path, out: Path, *where: str) -> Results:
    """What ``tidegauge analyze``, run as a program of its own, finds."""
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
    expected = {*told["results"], "report.html", NOTE, ANALYSED}
    assert {path.name for path in out.iterdir()} == expected
    return {name: rows_in(out / name) for name in told["results"]}


def test_a_standalone_cluster_and_spark_connect_run_all_jobs(dataset: Path, tmp_path: Path) -> None:
    with standalone_cluster(tmp_path / "spark") as cluster:
        on_cluster = found(dataset, tmp_path / "on-cluster", "--master", cluster.url)
    with connect_server(tmp_path / "spark", SMALL) as url:
        over_connect = found(dataset, tmp_path / "over-connect", "--remote", url)
    assert all(on_cluster[name] for name in TROUBLED)
    assert [row["equal"] for row in on_cluster["replay"]] == [True, True]
    assert [row["acked_recorded"] for row in on_cluster["replay"]] == ACKED
    assert over_connect == on_cluster


def test_a_killed_driver_and_a_killed_worker_change_no_result(
    dataset: Path, tmp_path: Path, spark: "SparkSession"
) -> None:
    """The driver is killed first, and leaves nothing; then a worker of the next one."""
    out, jobs = tmp_path / "results", ("durability", "failover", "replay")
    words = [word for job in jobs for word in ("--job", job)]
    with standalone_cluster(tmp_path / "spark", workers=2) as cluster:
        command = [
            *(sys.executable, "-c", PROGRAM, "analyze", str(dataset), "--out", str(out)),
            *(*words, "--master", cluster.url),
        ]
        for kill in ("driver", "worker"):
            with subprocess.Popen(
                command, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            ) as process:
                assert process.stderr is not None
                said = iter(process.stderr)
                assert any(line.startswith("durability") for line in said)
                assert not out.exists()
                if kill == "driver":
                    process.kill()
                else:
                    cluster.kill_worker(0)
                told = list(said)
            assert out.exists() == (kill == "worker"), told
    assert process.returncode == 0
    here = analyze(dataset, tmp_path / "here", jobs=jobs)
    for table in here.tables:
        assert rows_in(out / table.name) == rows_in(tmp_path / "here" / table.name)
    assert rows_in(out / "failovers")
