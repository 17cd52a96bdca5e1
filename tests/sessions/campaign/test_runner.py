"""Whole campaigns on Spark: what comes out, and what is left of one that is stopped or killed."""

import random
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path
from time import monotonic

import msgspec
import pyarrow.parquet as pq
import pytest

from sessions.campaign import runner
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.outcome import CampaignReport
from sessions.campaign.plan import Plan
from sessions.campaign.runner import CampaignError, Progress, interruptible, run_campaign
from sessions.child_process import SAFE_PATH, environment, python_command
from sessions.dataset.layout import STAGING, Dataset, DatasetError
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import EVENTS, SESSIONS
from tests.sessions.campaign.plans import (
    LOST,
    known_plan,
    plan,
    short_plan,
    short_story,
    story,
    variant,
)
from tests.sessions.dataset.reading import files
from tests.support.hostile_folder import make_hostile, traces

SEEDS = 150

RUNNING = """
import sys
from pathlib import Path
import msgspec
from sessions.campaign.runner import run_campaign
from sessions.campaign.plan import Plan
plan = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Plan)
run_campaign(plan, Path(sys.argv[2]), 60, "local[2]", tell=lambda p: print(p.done, flush=True))
"""


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_hundreds_of_runs_lose_with_acks_1_and_never_with_acks_all(tmp_path: Path) -> None:
    told: list[Progress] = []
    made = known_plan(SEEDS - 1)
    report = run_campaign(made, tmp_path / "dataset", 60, tell=told.append)
    assert report.runs == 2 * SEEDS
    losing, safe = report.variants
    assert (losing.values, safe.values) == ({"acks": "1"}, {"acks": "all"})
    assert losing.runs == safe.runs == losing.outcomes["passed"] == SEEDS
    assert (losing.lost.runs, losing.lost.records) == (SEEDS, LOST * SEEDS)
    assert (safe.lost.runs, safe.lost.records) == (0, 0)
    assert losing.unavailable_max_us is not None
    assert 1_000_000 < losing.unavailable_max_us < 4_000_000
    assert report.failing_in_all == SEEDS
    assert report.failing[0].command == "tidegauge console s.tide --seed 0"
    commands = Path(report.failing_file).read_text().splitlines()
    assert len(commands) == SEEDS
    assert set(commands) == {f"tidegauge console s.tide --seed {n}  # lost" for n in range(SEEDS)}
    assert told[0] == Progress(2 * SEEDS, 0)
    assert told[-1] == Progress(2 * SEEDS, 2 * SEEDS)
    assert pq.read_table(report.runs_table).num_rows == 2 * SEEDS
    parts = len(files(tmp_path / "dataset", "*"))
    assert parts <= 14 * 15  # a task takes fifty runs, and each core has some tasks
    assert len(Dataset(tmp_path / "dataset").sessions()) == 2 * SEEDS
    assert report.failed == 0
    assert CampaignFolder(tmp_path / "dataset").outcome() == report


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_each_combination_has_its_turn_among_the_runs_to_look_at(tmp_path: Path) -> None:
    losing = [variant({"acks": "1", "of": of}, story(1)) for of in ("a", "b")]
    report = run_campaign(plan(*losing, seeds=[(9, 10)]), tmp_path, 60)
    assert [(each.values["of"], each.seed) for each in report.failing] == [
        ("a", 9), ("b", 9), ("a", 10), ("b", 10)
    ]  # fmt: skip


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_campaign_that_has_ended_is_summed_up_again(tmp_path: Path) -> None:
    first = run_campaign(short_plan(3), tmp_path, 60)
    told: list[Progress] = []
    assert run_campaign(short_plan(3), tmp_path, 60, tell=told.append) == first
    assert told == []


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_campaign_grows_by_what_is_missing(tmp_path: Path) -> None:
    run_campaign(short_plan(3), tmp_path, 60)
    there = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    told: list[Progress] = []
    report = run_campaign(short_plan(9), tmp_path, 60, tell=told.append)
    assert report.runs == report.variants[0].runs == 10
    assert told[0] == Progress(10, 4)
    assert {path: path.stat().st_mtime_ns for path in there} == there
    assert run_campaign(short_plan(1), tmp_path, 60) == report


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_runs_that_raise_are_rows_and_the_others_go_on(tmp_path: Path) -> None:
    broken = variant({"x": "broken"}, short_story())
    steps = [msgspec.structs.replace(broken.steps[0], input=broken.cluster)]  # no statement
    made = plan(
        msgspec.structs.replace(broken, steps=steps),
        variant({"x": "whole"}, short_story()),
        seeds=[(0, 2)],
    )
    report = run_campaign(made, tmp_path, 60)
    assert [each.outcomes for each in report.variants] == [
        {"passed": 0, "failed": 0, "raised": 3, "hung": 0},
        {"passed": 3, "failed": 0, "raised": 0, "hung": 0},
    ]
    assert report.variants[0].unavailable_mean_us is None
    assert report.failed == 3
    assert report.failing[0].error == "KeyError: <class 'emulator.inputs.statements.CreateCluster'>"
    assert (
        Path(report.failing_file)
        .read_text()
        .splitlines()[2]
        .endswith(
            "--seed 2  # raised: KeyError: <class 'emulator.inputs.statements.CreateCluster'>"
        )
    )


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_what_goes_wrong_on_a_worker_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = CampaignFolder.begin

    def spoilt(self: CampaignFolder, made: Plan) -> Plan:
        whole = begin(self, made)
        shutil.rmtree(tmp_path / "dataset" / "events")
        (tmp_path / "dataset" / "events").touch()
        return whole

    monkeypatch.setattr(CampaignFolder, "begin", spoilt)
    with pytest.raises(CampaignError, match=r"could not be written to: .*File exists|Not a dir"):
        run_campaign(short_plan(), tmp_path / "dataset", 60)


def test_a_module_that_a_worker_lacks_is_named() -> None:
    text = "Traceback ..\nModuleNotFoundError: No module named 'msgspec'\n at java"
    said = runner.sentence(RuntimeError(text))
    assert said.startswith("a worker lacks a module (No module named 'msgspec'); workers need")
    assert runner.sentence(RuntimeError("no\nmore")) == "Spark could not finish: no"


def test_termination_is_taken_for_ctrl_c() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def begun(
    tmp_path: Path, made: Plan, dataset: Path, current_folder: Path
) -> "subprocess.Popen[bytes]":
    """A campaign in a process of its own, which alone does not import from its current folder."""
    (tmp_path / "plan.json").write_bytes(msgspec.json.encode(made))
    inherited = {name: value for name, value in environment().items() if name != SAFE_PATH}
    return subprocess.Popen(
        python_command("-c", RUNNING, str(tmp_path / "plan.json"), str(dataset)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        cwd=current_folder, env=inherited | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip


def wait_for_runs(process: "subprocess.Popen[bytes]", count: int) -> None:
    """Until so many have ended."""
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= count:
            return


def whole(dataset: Path) -> list[str]:
    """The sessions of a dataset, each with all of its events."""
    left = Dataset(dataset)
    left.require_whole()
    sessions = left.scan(SESSIONS, [SESSION, "events"]).to_pylist()
    events = Counter(left.scan(EVENTS, [SESSION])[SESSION].to_pylist())
    assert events == {row[SESSION]: row["events"] for row in sessions}
    found = left.sessions()
    assert sorted(row[SESSION] for row in sessions) == found
    return found


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_campaign_that_is_broken_off_goes_on_from_there(
    tmp_path: Path, ending: signal.Signals
) -> None:
    """Nor do Spark and its workers import anything from the current folder."""
    made, dataset, hostile = known_plan(49), tmp_path / "dataset", make_hostile(tmp_path / "here")
    with begun(tmp_path, made, dataset, hostile) as process:
        wait_for_runs(process, random.randint(1, 40))
        process.send_signal(ending)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == -ending, errors
    assert traces(hostile) == ""
    kept: dict[Path, int] = {}
    if ending is signal.SIGINT:  # workers have ended too, and tidied up
        assert errors.decode().strip().endswith("KeyboardInterrupt")
        assert list(dataset.glob(f"{STAGING}/*")) == []
        kept = {part: part.stat().st_mtime_ns for part in dataset.rglob("*.parquet")}
        assert 0 < len(whole(dataset)) < made.runs

    resumed = run_until_free(made, dataset)
    assert [each.lost.records for each in resumed.variants] == [50 * LOST, 0]
    assert len(whole(dataset)) == made.runs
    deadline = monotonic() + 60
    while any(tmp_path.glob("tidegauge-spark-*")):  # Java deletes it, some time after a kill
        assert monotonic() < deadline
    assert {part: part.stat().st_mtime_ns for part in kept} == kept


def run_until_free(made: Plan, dataset: Path) -> CampaignReport:
    """Go on with a campaign; the workers of a driver that was killed may still be at work."""
    deadline = monotonic() + 300
    while True:
        try:
            return run_campaign(made, dataset, 60)
        except (CampaignError, DatasetError):
            assert monotonic() < deadline
