"""What a worker does with its runs: makes each once, and commits many at a time."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sessions.campaign import worker as work
from sessions.campaign.limits import TooLong
from sessions.campaign.manifest import CampaignFolder
from sessions.campaign.plan import Plan, Run
from sessions.campaign.worker import Task, Worker, encoded, named_runs, run_batches
from sessions.dataset.layout import (
    STAGING,
    Dataset,
    DatasetError,
    DatasetUnreadable,
    SessionExists,
)
from sessions.dataset.location import Location
from sessions.dataset.maintenance import convert
from sessions.dataset.schema import SESSION
from sessions.dataset.session_rows import SessionRows
from sessions.dataset.tables import RUNS, TABLES
from sessions.dataset.verify import verify
from tests.sessions.campaign.plans import LOST, known_plan, short_plan
from tests.sessions.dataset.earlier import as_layout_3
from tests.sessions.dataset.reading import Row, files, rows

DIED = "the worker's process died of it (out of memory?)"


def worker(dataset: Path, plan: Plan, limit_s: float = 60, campaign: str = "now") -> Worker:
    CampaignFolder(dataset).begin(plan)
    return Worker(Task(plan, str(dataset), limit_s, campaign))


def made(dataset: Path, plan: Plan, *numbers: int, **named: Any) -> list[Row]:
    """The rows of runs, made by one task."""
    with worker(dataset, plan, **named) as one:
        assert one.make(numbers) == len(numbers)
    sessions = [plan.run(number).session for number in numbers]
    return [row for session in sessions for row in rows(dataset, "runs", session)]


def failing(error: BaseException) -> Callable[..., None]:
    def run(*_: object) -> None:
        raise error

    return run


def test_a_row_tells_what_came_of_a_run(tmp_path: Path) -> None:
    losing, safe = made(tmp_path, known_plan(1), 2, 3)
    assert (losing["seed"], losing["varied"]) == (1, [("acks", "1")])
    assert (losing["outcome"], losing["findings"], losing["lost"]) == ("passed", ["lost"], LOST)
    assert losing["command"] == "tidegauge console s.tide --seed 1"
    assert (safe["findings"], safe["lost"], safe["acked"]) == ([], 0, 1)
    # the leader dies right after the last response, and its session ends two seconds later
    assert 1_000_000 < safe["unavailable_us"] < 4_000_000
    assert losing["time_us"] > losing["unavailable_us"]


def test_a_task_writes_one_file_for_each_table(tmp_path: Path) -> None:
    CampaignFolder(tmp_path).begin(known_plan(9))
    task = encoded(Task(known_plan(9), str(tmp_path), 60, "now"))
    numbers = pa.RecordBatch.from_pydict({"id": list(range(20))})
    named = list(named_runs(task, [numbers]))
    (told,) = run_batches(task, named)
    assert told.to_pydict() == {"runs": [20]}
    (commit,) = Dataset(tmp_path).commits()
    assert commit.sessions == 20
    assert len(Dataset(tmp_path).sessions()) == 20
    assert {len(each) for each in commit.files.values()} == {1}
    assert len(files(tmp_path, "*")) == len(commit.files) <= 14


def test_what_takes_long_is_committed_in_between_later_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(0, 10_000, 30))
    monkeypatch.setattr(work, "monotonic", lambda: next(times))
    made(tmp_path, short_plan(15), *range(16))
    sizes = [commit.sessions for commit in Dataset(tmp_path).commits()]
    assert sum(sizes) == 16
    assert 2 <= len(sizes) <= 5
    assert sizes[0] < max(sizes[1:])


def test_a_run_with_many_events_has_a_commit_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "small", known_plan(1), 0, 1)
    monkeypatch.setattr(work, "LARGE_EVENTS", 100)
    monkeypatch.setattr("sessions.campaign.run.EVENTS_WAITING", 50)
    made(tmp_path / "large", known_plan(1), 0, 1)
    assert len(Dataset(tmp_path / "large").commits()) == 2
    for session in ("acks-1_seed-0", "acks-all_seed-0"):
        for table in ("events", "partition_states", "sessions", "runs"):
            large = rows(tmp_path / "large", table, session)
            assert large == rows(tmp_path / "small", table, session)


def test_a_run_that_is_there_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(tmp_path, known_plan(0), 0)
    monkeypatch.setattr(Worker, "_emulated", failing(AssertionError("made again")))
    assert made(tmp_path, known_plan(0), 0) == first


@pytest.mark.parametrize(
    ("error", "outcome", "said"),
    [
        (RuntimeError("it broke\nbadly"), "raised", "RuntimeError: it broke\nbadly"),
        (TooLong(), "hung", "it took longer than 60 s"),
    ],
)
def test_a_run_that_raises_or_hangs_is_a_row_and_stays_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    outcome: str,
    said: str,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_emulated", failing(error))
        (row,) = made(tmp_path, short_plan(), 0)
    assert (row["outcome"], row["findings"], row["error"]) == (outcome, [outcome], said)
    assert row["events"] is row["lost"] is row["unavailable_us"] is None
    assert made(tmp_path, short_plan(), 0) == [row]
    assert Dataset(tmp_path).sessions() == []


def test_a_run_that_never_ends_is_broken_off_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulated = Worker._emulated

    def forever(self: Worker, run: Run, own: list[work.Batch]) -> SessionRows:
        while run.seed == 1:
            pass
        return emulated(self, run, own)

    monkeypatch.setattr(Worker, "_emulated", forever)
    found = made(tmp_path, short_plan(2), 0, 1, 2, limit_s=5)
    assert [row["outcome"] for row in found] == ["passed", "hung", "passed"]
    assert Dataset(tmp_path).sessions() == ["seed-0", "seed-2"]


def test_a_run_that_hung_is_tried_again_with_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Worker, "_emulated", failing(TooLong()))
        assert [row["outcome"] for row in made(tmp_path, short_plan(), 0, limit_s=1)] == ["hung"]
    assert [row["outcome"] for row in made(tmp_path, short_plan(), 0, limit_s=1)] == ["hung"]
    again = made(tmp_path, short_plan(), 0, limit_s=60)
    assert [(row["outcome"], row["limit_s"]) for row in again] == [("hung", 1), ("passed", 60)]


def test_a_run_that_takes_its_process_with_it_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "_emulated", lambda *_: os._exit(9))
    for _ in range(2):
        child = os.fork()
        if not child:
            made(tmp_path, short_plan(), 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    (row,) = made(tmp_path, short_plan(), 0)
    assert (row["outcome"], row["error"]) == ("raised", DIED)


def test_runs_that_another_process_has_made_meanwhile_are_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = work.Batch.commit
    faster: list[int] = []

    def overtaken(self: work.Batch) -> None:
        if not faster:
            faster.append(1)
            self.drop()
            made(tmp_path, short_plan(3), 1, 2)
            raise SessionExists("session seed-1 is there already")
        commit(self)

    monkeypatch.setattr(work.Batch, "commit", overtaken)
    found = made(tmp_path, short_plan(3), 0, 1, 2, 3)
    assert [row["outcome"] for row in found] == ["passed"] * 4
    assert Dataset(tmp_path).sessions() == ["seed-0", "seed-1", "seed-2", "seed-3"]


def test_a_dataset_that_cannot_be_written_is_no_runs_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Worker, "_emulated", failing(DatasetError("No space left on device")))
    with pytest.raises(DatasetError, match="No space left"):
        made(tmp_path, short_plan(), 0)
    assert Dataset(tmp_path).commits() == []
    assert list((tmp_path / STAGING).glob("*")) == []


def test_tables_hold_what_the_row_says(tmp_path: Path) -> None:
    (row,) = made(tmp_path, known_plan(0), 0)
    (session,) = rows(tmp_path, "sessions", "acks-1_seed-0")
    assert session["lost"] == row["lost"] == LOST
    assert session["leaderless_us"] == row["unavailable_us"]
    assert session["variables"] == [("acks", "1")]
    assert len(files(tmp_path, "runs")) == 1


def test_the_dataset_of_a_campaign_is_converted_with_its_runs(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    plan = known_plan(1)
    before = made(tmp_path / "now", plan, 0, 1, 2, 3)
    as_layout_3(tmp_path / "now", old)
    sessions = sorted(plan.run(number).session for number in range(4))
    with pytest.raises(DatasetUnreadable, match="tidegauge dataset convert"):
        Dataset(old)
    assert convert(Location(old), Location(new)) == sessions
    after = [row for number in range(4) for row in rows(new, "runs", plan.run(number).session)]
    assert after == before
    for table in TABLES:
        for session in sessions:
            ours = rows(tmp_path / "now", table.name, session)
            assert rows(new, table.name, session) == ours, table.name
    assert verify(Dataset(new)).problems == ()
    assert convert(Location(old), Location(new)) == sessions  # nothing is added twice
    assert len(Dataset(new).scan(RUNS, [SESSION])) == 4
    assert verify(Dataset(new)).problems == ()
