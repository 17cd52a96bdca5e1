"""The jobs on histories of real clusters: what is known agrees with them, the rest is left out."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from commands.cli.main import run_program
from commands.runs.analysis import plain
from sessions.analysis.run import AnalysisReport
from sessions.analyze import analyze
from sessions.postmortem.incident import read_sources
from sessions.postmortem.session import record

pytestmark = pytest.mark.spark
INCIDENTS = Path(__file__).parents[1] / "postmortem/recordings/incidents"
NAMES = ("last-in-sync", "zombie-leader")
JOBS = ("failover", "leaders", "anomalies")


def rows(report: AnalysisReport, name: str) -> Sequence[dict[str, Any]]:
    (table,) = (table for table in report.tables if table.name == name)
    return [dict(zip(table.headers, row, strict=True)) for row in table.rows]


@pytest.mark.usefixtures("spark")
def test_what_nobody_knows_of_a_real_cluster_is_left_out(tmp_path: Path) -> None:
    sessions = []
    for name in NAMES:
        log, lines = read_sources([str(INCIDENTS / name)])
        path = tmp_path / f"{name}.tide.db"
        record(log, path, [name], lines=lines)
        sessions.append(path)
    assert (
        run_program(["sessions", "export", *map(str, sessions), "--out", f"{tmp_path}/dataset"])
        == 0
    )
    report = analyze(tmp_path / "dataset", tmp_path / "out", jobs=JOBS)

    assert report.remark in plain(report)["left_out"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"Left out: {report.remark}." in page
    assert report.observed == NAMES
    assert report.remark.startswith("last-in-sync and zombie-leader are sessions of a real cluster")
    failed = [
        tuple(
            row[name] for name in ("session", "partition", "fault", "leader", "strategy", "outcome")
        )
        for row in rows(report, "failovers")
    ]
    assert failed == [
        ("last-in-sync", "orders-0", "fenced 1", 2, "Unclean", "failed over"),
        ("zombie-leader", "orders-0", "fenced 1", 2, "Offline", "failed over"),
    ]
    assert {row["serving at"] for row in rows(report, "failovers")} == {None}
    led: Counter[str] = Counter()
    for row in rows(report, "leader_balance"):
        led[row["session"]] += row["led mean"]
    assert led == pytest.approx({"last-in-sync": 1, "zombie-leader": 2}, abs=0.01)
    assert rows(report, "anomaly_counts") == []
