"""A campaign on a standalone cluster and over Spark Connect, whose workers know no tidegauge."""

import json
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pyarrow.parquet as pq
import pytest

from benchmarks.spark_servers import connect_server, standalone_cluster
from sessions.dataset.layout import MARKER, Dataset
from tests.conftest import SMALL
from tests.sessions.dataset.reading import rows

ROOT = Path(__file__).parents[3]
PROGRAM = "from commands.cli.main import main; main()"
SCRIPT = "cluster --brokers 2\nmark ${word}\nexpect time < 0\n"
LONGER = """\
cluster --brokers 3
topic create t --partitions 4 --replication-factor 3
produce t --count 200
settle
broker crash 1
wait 20s
settle
"""
RUNS = 160
BARE = """\
#!/bin/sh
# Python with the packages that are installed, and without what a .pth file adds to them
PYTHONPATH="$PYTHONPATH:{packages}" exec {python} -S "$@"
"""

pytestmark = [
    pytest.mark.spark,
    pytest.mark.servers,
    pytest.mark.usefixtures("hasty_java", "bare_python"),
]


@pytest.fixture
def bare_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers' Python cannot import what the driver's can."""
    program = tmp_path / "bare-python"
    packages = sysconfig.get_path("purelib")
    program.write_text(BARE.format(packages=packages, python=sys.executable))
    program.chmod(0o755)
    lacking = subprocess.run(
        [program, "-c", "import msgspec, pyarrow, sessions"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "No module named 'sessions'" not in lacking.stderr:
        pytest.skip("tidegauge is not installed as a link here")
    monkeypatch.setenv("PYSPARK_PYTHON", str(program))


def ran(tmp_path: Path, *where: str) -> dict[str, Any]:
    """What ``tidegauge campaign --json`` says, run as a program of its own."""
    (tmp_path / "s.tide").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "campaign", str(tmp_path / "s.tide"), "--seeds", "1..3",
         "--vary", "word=a,b", "--out", str(tmp_path / "dataset"), *where, "--json"],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def judge(told: dict[str, Any], dataset: Path) -> None:
    assert [each["outcomes"]["failed"] for each in told["variants"]] == [3, 3]
    (session,) = rows(dataset, "sessions", "word-b_seed-2")
    assert (session["seed"], session["expectations_failed"]) == (2, 1)


def test_a_standalone_cluster_runs_it(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path / "spark") as cluster:
        judge(ran(tmp_path, "--master", cluster.url), tmp_path / "dataset")


def test_a_killed_driver_and_a_killed_worker_lose_no_run(tmp_path: Path) -> None:
    """The driver is killed first, then a worker of the one that goes on."""
    (tmp_path / "s.tide").write_text(LONGER)
    out = tmp_path / "dataset"
    with standalone_cluster(tmp_path / "spark", workers=2) as cluster:
        command = [
            *(sys.executable, "-c", PROGRAM, "campaign", str(tmp_path / "s.tide")),
            *("--seeds", f"1..{RUNS}", "--out", str(out), "--master", cluster.url, "--json"),
        ]
        driver = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        wait_until(lambda: sessions_in(out) > 0, driver)
        driver.kill()
        driver.wait()
        made = sessions_in(out)
        second = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        wait_until(lambda: sessions_in(out) > made, second)
        cluster.kill_worker(0)
        output, _ = second.communicate(timeout=600)
    assert 0 < made < RUNS
    assert second.returncode == 0
    told = json.loads(output)
    assert [each["outcomes"]["passed"] for each in told["variants"]] == [RUNS]
    for table in ("runs", "sessions"):
        seeds = pq.read_table(out / table, columns=["seed"]).column("seed").to_pylist()
        assert sorted(seeds) == list(range(1, RUNS + 1))


def sessions_in(dataset: Path) -> int:
    """How many sessions have been committed."""
    return len(Dataset(dataset).sessions()) if (dataset / MARKER).exists() else 0


def wait_until(holds: Callable[[], bool], process: "subprocess.Popen[Any]") -> None:
    deadline = monotonic() + 300
    while not holds():
        assert monotonic() < deadline
        assert process.poll() is None, process.returncode
        sleep(0.1)


def test_spark_connect_runs_it(tmp_path: Path) -> None:
    with connect_server(tmp_path / "spark", SMALL) as url:
        judge(ran(tmp_path, "--remote", url), tmp_path / "dataset")
