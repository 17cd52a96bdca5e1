"""The file of commands: every run to look at, with why."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sessions.campaign import summary
from sessions.campaign.manifest import Ledger
from sessions.campaign.runs import RUNS
from sessions.dataset.schema import arrow_schema
from tests.sessions.campaign.plans import short_plan


def row(number: int, findings: list[str], error: str | None = None) -> dict[str, Any]:
    empty: dict[str, Any] = {
        column.name: None if column.null else {"int64": 0, "int32": 0}.get(column.type, "")
        for column in RUNS.columns
    }
    return empty | {
        "run": number, "findings": findings, "error": error, "command": f"open {number}",
    }  # fmt: skip


def test_every_run_to_look_at_has_a_line(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(short_plan())
    ledger.runs.mkdir()
    rows = [row(0, []), row(1, ["lost", "diverged"]), row(2, ["raised"], "ValueError: two\n lines")]
    table = pa.Table.from_pylist(rows, arrow_schema(RUNS))
    pq.write_table(table, ledger.runs / "part-00000.parquet")
    summary._write_commands(ledger)
    assert ledger.failing.read_text().splitlines() == [
        "open 1  # lost, diverged",
        "open 2  # raised: ValueError: two lines",
    ]
