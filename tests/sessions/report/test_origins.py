"""Which command opens a session at an event."""

import shlex
from pathlib import Path

from msgspec.structs import replace

from sessions.campaign.manifest import Ledger
from sessions.campaign.plan import Plan
from sessions.campaign.worker import Task, Worker
from sessions.dataset.export import export_session
from sessions.dataset.rows.sessions import SessionFacts
from sessions.report.origins import Origins
from tests.sessions.campaign.plans import short_plan


def test_a_recording_is_replayed_from_where_it_was_exported(tmp_path: Path) -> None:
    file = tmp_path / "my runs" / "run.tide.db"
    export_session([], SessionFacts("run", path=str(file)), tmp_path / "dataset")
    origins = Origins(tmp_path / "dataset")
    command = origins.command("run", 1289)
    assert shlex.split(command) == [
        "tidegauge", "replay", str(file), "--paused", "--at", "#1289",
    ]  # fmt: skip


def test_a_dataset_that_does_not_know_the_file_gives_its_name(tmp_path: Path) -> None:
    export_session([], SessionFacts("run"), tmp_path)
    assert Origins(tmp_path).command("run", 3) == (
        "tidegauge replay run.tide.db --paused --at '#3'"
    )


def test_an_older_dataset_without_paths_can_be_reported_on(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "sessions" / "session=old"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"name": ["old"]}), folder / "part-00000.parquet")
    assert Origins(tmp_path).command("old", 3) == (
        "tidegauge replay old.tide.db --paused --at '#3'"
    )


def campaign_ran(plan: Plan, dataset: Path) -> None:
    """Have a table of runs as a campaign leaves it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ledger = Ledger(dataset)
    ledger.begin(plan)
    row = Worker(Task(plan, str(dataset), 60, "now")).row(1)
    row["command"] = "tidegauge console s.tide --from-start --paused --seed 1"
    ledger.runs.mkdir()
    pq.write_table(pa.Table.from_pylist([row]), ledger.runs / "part-0.parquet")
    (ledger.runs / "_SUCCESS").touch()


def test_a_campaigns_run_is_run_again(tmp_path: Path) -> None:
    campaign_ran(short_plan(), tmp_path)
    origins = Origins(tmp_path)
    assert origins.command("seed-1", 12) == "tidegauge console s.tide --paused --seed 1 --at '#12'"
    assert origins.command("other", 3) == "tidegauge replay other.tide.db --paused --at '#3'"


def test_a_campaigns_command_finds_the_script_in_any_folder(tmp_path: Path) -> None:
    campaign_ran(replace(short_plan(), path="/scripts of mine/s.tide"), tmp_path)
    assert Origins(tmp_path).command("seed-1", 12) == (
        "tidegauge console '/scripts of mine/s.tide' --paused --seed 1 --at '#12'"
    )
