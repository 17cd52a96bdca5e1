"""One run: what it puts into the dataset is what any other way to run the script puts there."""

from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import Event
from emulator.scenario.runner import Runner
from sessions.campaign import run as emulation
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.run import Emulation
from sessions.campaign.worker import Task, Worker
from sessions.dataset.export import export_session
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.tables import TABLES
from tests.sessions.campaign.plans import known_plan
from tests.sessions.dataset.reading import rows

pytest.importorskip("pyarrow")


def straight(seed: int, number: int) -> tuple[list[Event], Runner]:
    """All events of a variant's run, and its runner as it is then."""
    variant = known_plan(seed).variants[number]
    events: list[Event] = []
    text = variant.text.with_seed(seed)
    runner = Runner(Cluster(variant.spec(seed), (events.append,), text, variant.line))
    for statement in variant.steps:
        runner.execute(statement)
    return events, runner


@pytest.mark.parametrize("waiting", [1, 4096])
def test_events_are_read_while_it_runs(waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "EVENTS_WAITING", waiting)
    made = Emulation(known_plan(3).variants[0], 3)
    assert list(made.events()) == straight(3, 0)[0]


def test_a_run_gives_the_tables_that_the_same_events_give(tmp_path: Path) -> None:
    plan = known_plan(7)
    run = plan.run(15)
    CampaignFolder(tmp_path / "made").begin(plan)
    with Worker(Task(plan, str(tmp_path / "made"), 60, "now")) as worker:
        worker.make([14, 15])
    events, runner = straight(7, 1)
    facts = SessionFacts(run.session, "s", {"acks": "all"}, runner.state_hash, runner.now_us)
    export_session(events, facts, tmp_path / "straight")
    for table in TABLES:
        made = rows(tmp_path / "made", table.name, run.session)
        assert made == rows(tmp_path / "straight", table.name, run.session), table.name
