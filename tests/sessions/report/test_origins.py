"""Which command opens a session at an event."""

from pathlib import Path

from sessions.campaign.manifest import Ledger
from sessions.campaign.worker import Task, Worker
from sessions.report.origins import Origins
from tests.sessions.campaign.plans import short_plan


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    origins = Origins(tmp_path)
    origins.look_up({"run"})
    assert origins.command("run", 1289) == "tidegauge replay run.tide.db --paused --at '#1289'"


def test_a_campaigns_run_is_run_again(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    ledger = Ledger(tmp_path)
    ledger.begin(short_plan())
    row = Worker(Task(short_plan(), str(tmp_path), 60, "now")).row(1)
    row["command"] = "tidegauge console s.tide --from-start --paused --seed 1"
    ledger.runs.mkdir()
    pq.write_table(pa.Table.from_pylist([row]), ledger.runs / "part-0.parquet")
    (ledger.runs / "_SUCCESS").touch()
    origins = Origins(tmp_path)
    origins.look_up({"seed-1", "other"})
    assert origins.command("seed-1", 12) == "tidegauge console s.tide --paused --seed 1 --at '#12'"
    assert origins.command("other", 3) == "tidegauge replay other.tide.db --paused --at '#3'"
