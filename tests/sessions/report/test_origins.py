"""Which command opens a session at an event."""

import shlex
from pathlib import Path

from msgspec.structs import replace

from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.plan import Around, Plan
from sessions.campaign.worker import Task, Worker
from sessions.dataset.export import export_session
from sessions.dataset.location import Location
from sessions.dataset.rows.sessions import SessionFacts
from sessions.report.origins import Origins
from tests.sessions.campaign.plans import plan, short_plan


def test_a_recording_is_replayed_from_where_it_was_exported(tmp_path: Path) -> None:
    file = tmp_path / "my runs" / "run.tide.db"
    export_session([], SessionFacts("run", path=str(file)), tmp_path / "dataset")
    origins = Origins(Location(tmp_path / "dataset"))
    command = origins.command("run", 1289)
    assert shlex.split(command) == [
        "tidegauge", "replay", str(file), "--paused", "--at", "#1289",
    ]  # fmt: skip


def test_a_dataset_that_does_not_know_the_file_gives_its_name(tmp_path: Path) -> None:
    export_session([], SessionFacts("run"), tmp_path)
    assert Origins(Location(tmp_path)).command("run", 3) == (
        "tidegauge replay run.tide.db --paused --at '#3'"
    )


def campaign_ran(dataset: Path, path: str = "") -> None:
    """Have a table of runs as a campaign leaves it."""
    command = Around("tidegauge console s.tide --from-start --paused --seed ")
    made = replace(plan(replace(short_plan().variants[0], command=command)), path=path)
    made = replace(made, script="s.tide")
    CampaignFolder(dataset).begin(made)
    with Worker(Task(made, str(dataset), 60, "now")) as worker:
        worker.make([0, 1])


def opened(dataset: Path, session: str, seq: int) -> str:
    assert isinstance(CampaignFolder(dataset).plan(), Plan)
    return Origins(Location(dataset)).command(session, seq)


def test_a_campaigns_run_is_run_again(tmp_path: Path) -> None:
    campaign_ran(tmp_path)
    expected = "tidegauge console s.tide --paused --seed 1 --at '#12'"
    assert opened(tmp_path, "seed-1", 12) == expected
    assert opened(tmp_path, "other", 3) == "tidegauge replay other.tide.db --paused --at '#3'"


def test_a_campaigns_command_finds_the_script_in_any_folder(tmp_path: Path) -> None:
    campaign_ran(tmp_path, "/scripts of mine/s.tide")
    assert opened(tmp_path, "seed-1", 12) == (
        "tidegauge console '/scripts of mine/s.tide' --paused --seed 1 --at '#12'"
    )
