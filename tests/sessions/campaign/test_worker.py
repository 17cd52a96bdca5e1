"""What a worker does with each run: makes it, keeps how it ended, never does it twice."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sessions.campaign import run as emulation
from sessions.campaign import worker as work
from sessions.campaign.limits import TooLong
from sessions.campaign.manifest import Ledger
from sessions.campaign.plan import Plan
from sessions.campaign.runs import RUNS, runs_schema
from sessions.campaign.worker import Task, Worker, encoded, run_batches
from sessions.dataset.layout import DatasetError, DatasetFolder, DatasetUnreadable, SessionBusy
from sessions.dataset.schema import arrow_schema
from tests.sessions.campaign.plans import LOST, known_plan, short_plan


def worker(dataset: Path, plan: Plan, limit_s: float = 60, campaign: str = "now") -> Worker:
    Ledger(dataset).begin(plan)
    return Worker(Task(plan, str(dataset), limit_s, campaign))


def failing(error: BaseException) -> Callable[..., None]:
    def run(*_: object) -> None:
        raise error

    return run


def test_a_row_tells_what_came_of_a_run(tmp_path: Path) -> None:
    made = worker(tmp_path, known_plan(1))
    losing, safe = made.row(2), made.row(3)
    assert (losing["session"], losing["seed"], losing["varied"]) == (
        "acks-1_seed-1", 1, '{"acks":"1"}',
    )  # fmt: skip
    assert (losing["outcome"], losing["findings"], losing["lost"]) == ("passed", ["lost"], LOST)
    assert losing["command"] == "tidegauge console s.tide --seed 1"
    assert (safe["findings"], safe["lost"], safe["acked"]) == ([], 0, 1)
    # the leader dies right after the last answer, and its session ends two seconds later
    assert 1_000_000 < safe["unavailable_us"] < 4_000_000
    assert losing["time_us"] > losing["unavailable_us"]


def test_rows_have_the_declared_columns(tmp_path: Path) -> None:
    Ledger(tmp_path).begin(short_plan())
    task = encoded(Task(short_plan(), str(tmp_path), 60, "now"))
    (first, second) = run_batches(task, [pa.RecordBatch.from_pydict({"id": [1, 0]})])
    assert first.schema == arrow_schema(RUNS)
    assert first.column("run").to_pylist() + second.column("run").to_pylist() == [1, 0]
    assert runs_schema().startswith("`run` BIGINT, `session` STRING, `variant` INT")


def test_a_run_that_is_there_is_read_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = worker(tmp_path, known_plan(0)).row(0)
    monkeypatch.setattr(work, "run_into", failing(AssertionError("made again")))
    assert worker(tmp_path, known_plan(0)).row(0) == first


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
    made = worker(tmp_path, short_plan())
    monkeypatch.setattr(work, "run_into", failing(error))
    row = made.row(0)
    assert (row["outcome"], row["findings"], row["error"]) == (outcome, [outcome], said)
    assert row["events"] is row["lost"] is row["unavailable_us"] is None
    monkeypatch.undo()
    assert worker(tmp_path, short_plan()).row(0) == row
    assert DatasetFolder(tmp_path).sessions() == []


def test_a_run_that_never_ends_is_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forever(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(work, "run_into", forever)
    assert worker(tmp_path, short_plan(), limit_s=0.1).row(0)["outcome"] == "hung"


def test_a_run_that_hung_is_tried_again_with_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "run_into", failing(TooLong()))
    assert worker(tmp_path, short_plan(), limit_s=1).row(0)["outcome"] == "hung"
    monkeypatch.undo()
    assert worker(tmp_path, short_plan(), limit_s=1).row(0)["outcome"] == "hung"
    assert worker(tmp_path, short_plan(), limit_s=60).row(0)["outcome"] == "passed"
    assert Ledger(tmp_path).failures() == 0


def test_a_limit_that_runs_out_when_all_is_written_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_into = emulation.run_into

    def late(*arguments: Any) -> None:
        run_into(*arguments)
        raise TooLong

    monkeypatch.setattr(work, "run_into", late)
    assert worker(tmp_path, short_plan()).row(0)["outcome"] == "passed"


def test_a_run_that_takes_its_process_with_it_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "run_into", lambda *_: os._exit(9))
    for _ in range(2):
        child = os.fork()
        if not child:
            worker(tmp_path, short_plan()).row(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    row = worker(tmp_path, short_plan()).row(0)
    assert (row["outcome"], row["error"]) == (
        "raised", "the worker's process died of it (out of memory?)",
    )  # fmt: skip


def test_a_run_that_another_process_is_at_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_into = emulation.run_into
    naps: list[float] = []

    def busy(*arguments: Any) -> None:
        if not naps:
            raise SessionBusy("just now")
        run_into(*arguments)

    monkeypatch.setattr(work, "run_into", busy)
    monkeypatch.setattr(work, "sleep", naps.append)
    assert worker(tmp_path, short_plan()).row(0)["outcome"] == "passed"
    assert len(naps) == 1


def test_a_run_that_another_process_has_made_meanwhile_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_into = emulation.run_into

    def overtaken(*arguments: Any) -> None:
        run_into(*arguments)
        raise DatasetError("it is in the dataset already")

    monkeypatch.setattr(work, "run_into", overtaken)
    assert worker(tmp_path, short_plan()).row(0)["outcome"] == "passed"


def test_a_dataset_that_cannot_be_written_is_no_runs_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "run_into", failing(DatasetError("No space left on device")))
    with pytest.raises(DatasetError, match="No space left"):
        worker(tmp_path, short_plan()).row(0)
    assert Ledger(tmp_path).failures() == 0


def test_a_damaged_session_is_named(tmp_path: Path) -> None:
    made = worker(tmp_path, short_plan())
    made.row(0)
    part = tmp_path / "sessions" / "session=seed-0" / "part-00000.parquet"
    part.write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(DatasetUnreadable, match=r"session seed-0 in .* is damaged"):
        made.row(0)


def test_tables_hold_what_the_row_says(tmp_path: Path) -> None:
    row = worker(tmp_path, known_plan(0)).row(0)
    table = pq.read_table(tmp_path / "sessions" / "session=acks-1_seed-0", partitioning=None)
    (session,) = table.to_pylist()
    assert session["lost"] == row["lost"] == LOST
    assert msgspec.json.decode(session["variables"]) == {"acks": "1"}
