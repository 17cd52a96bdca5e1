"""The program inside PySpark's own ``spark-submit``: the submitter's master and settings count."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tidegauge
from benchmarks.synthetic import synthetic_events
from sessions.child_process import environment
from tests.conftest import SMALL
from tests.sessions.dataset.reading import exported

pytestmark = [
    pytest.mark.spark,
    pytest.mark.servers,
    pytest.mark.usefixtures("hasty_java"),
]

MAIN = Path(tidegauge.__file__).parent / "__main__.py"
NOBODY = "spark://127.0.0.1:9"
"""A master that would not answer: the submitter's is used in its place."""


def submitted(*words: str) -> "subprocess.CompletedProcess[str]":
    """What ``spark-submit`` with a master of its own makes of a command of the program."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    program = Path(spec.origin).parent / "bin" / "spark-submit"
    settings = {**SMALL, "spark.ui.enabled": "false", "spark.app.name": "submitted"}
    conf = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    home = {"SPARK_HOME": str(program.parent.parent), "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [program, "--master", "local[2]", *conf, MAIN, *words],
        env={**os.environ, **environment(), **python, **home},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_an_analysis_runs_on_the_submitters_master(tmp_path: Path) -> None:
    dataset = tmp_path / "dataset"
    exported(synthetic_events(300, partitions=4), dataset, "synthetic")
    words = ["--out", str(tmp_path / "results"), "--job", "replay", "--json"]
    done = submitted("analyze", str(dataset), *words, "--master", NOBODY)
    assert done.returncode == 0, done.stdout
    # Spark's PythonRunner puts both streams of the program on standard output.
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert told["sessions"] == 1
    (row,) = pq.read_table(tmp_path / "results" / "replay").to_pylist()
    assert (row["session"], row["equal"]) == ("synthetic", True)
