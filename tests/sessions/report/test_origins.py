"""Which command opens a session at an event."""

from pathlib import Path

import msgspec

from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.plan import Around
from sessions.campaign.worker import Task, Worker
from sessions.dataset.location import Location
from sessions.report.origins import Origins
from tests.sessions.campaign.plans import plan, short_plan


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    origins = Origins(Location(tmp_path))
    origins.look_up({"run"})
    assert origins.command("run", 1289) == "tidegauge replay run.tide.db --paused --at '#1289'"


def test_a_campaigns_run_is_run_again(tmp_path: Path) -> None:
    command = Around("tidegauge console s.tide --from-start --paused --seed ")
    of_one = short_plan().variants[0]
    made = plan(msgspec.structs.replace(of_one, command=command))
    CampaignFolder(tmp_path).begin(made)
    with Worker(Task(made, str(tmp_path), 60, "now")) as worker:
        worker.make([0, 1])
    origins = Origins(Location(tmp_path))
    origins.look_up({"seed-1", "other"})
    assert origins.command("seed-1", 12) == "tidegauge console s.tide --paused --seed 1 --at '#12'"
    assert origins.command("other", 3) == "tidegauge replay other.tide.db --paused --at '#3'"
