"""Running the jobs: what is written, what is said, and what becomes of bad input."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from sessions.analysis.added import AddedSessions, added_since, note_sessions, sessions_of
from sessions.analysis.errors import AnalysisError, SparkUnavailable
from sessions.analysis.jobs import chosen
from sessions.analysis.run import ANALYSED, NOTE
from sessions.analyze import analyze
from sessions.dataset.layout import LAYOUT, MARKER, Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.location import Location
from sessions.dataset.maintenance import compact, remove
from tests.sessions.dataset.reading import exported, files
from tests.sessions.dataset.streams import committed_story

ROOT = Path(__file__).parents[3]
NAME = "data set [1] {a,b}*?"
"""A folder's name in which a careless reader sees a pattern."""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A dataset with two sessions, one of which has a number for a name."""
    exported(committed_story().events, tmp_path / NAME, "s1")
    exported(committed_story().events, tmp_path / NAME, "2024")
    return tmp_path / NAME


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_each_job_leaves_a_folder_and_its_worst_rows(dataset: Path, tmp_path: Path) -> None:
    told: list[str] = []
    out = tmp_path / "deep" / "out*[2]"
    report = analyze(dataset, out, progress=told.append, jobs=("latency", "isr"))
    assert (report.sessions, report.events) == (2, 2 * len(committed_story().events))
    wanted = chosen(("latency", "isr"))
    assert told == ["starting Spark", *(f"{job.name}: {job.question}" for job in wanted)]
    results = [result for job in wanted for result in job.results]
    for result, table in zip(results, report.tables, strict=True):
        written = pq.read_table(str(table.path))
        assert tuple(written.column_names) == result.table.names
        assert written.num_rows == table.rows_in_all
        assert all(len(row) == len(table.headers) for row in table.rows)
    assert [row[:6] for row in report.tables[0].rows] == [
        ("2024", "orders-0", "all", 3, 3, 0.3),
        ("s1", "orders-0", "all", 3, 3, 0.3),
    ]
    latency = report.tables[0]
    slowest = latency.headers.index("slowest sent at")
    assert latency.happened == tuple((row[0], row[slowest]) for row in latency.rows)
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["out*[2]"]
    names = {result.table.name for result in results}
    assert {path.name for path in out.iterdir()} == {*names, "report.html", NOTE, ANALYSED}


def contents(out: Path) -> dict[str, list[str]]:
    """The rows of every result."""
    found = {}
    for folder in out.iterdir():
        if folder.is_dir() and not folder.name.startswith("_"):
            found[folder.name] = sorted(map(repr, pq.read_table(folder).to_pylist()))
    return found


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_files_without_new_sessions_are_not_opened(dataset: Path, tmp_path: Path) -> None:
    jobs = ("failover",)  # it has a result across sessions
    analyze(dataset, tmp_path / "out", jobs=jobs)
    old = [path for path in dataset.rglob("*.parquet") if path.parent.name != "sessions"]
    exported(committed_story().events, dataset, "s3")
    analyze(dataset, tmp_path / "whole", jobs=jobs)
    for path in old:
        path.write_bytes(b"PAR1 no more PAR1")
    assert analyze(dataset, tmp_path / "out").added == 1
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_added_sessions_are_told_from_others_in_their_files(dataset: Path, tmp_path: Path) -> None:
    into, note = Dataset(dataset), Location(tmp_path / "note")
    note_sessions(sessions_of(into), note)
    nothing = added_since(into, sessions_of(into), note)
    assert nothing == AddedSessions((), (), has_others=False)
    exported(committed_story().events, dataset, "s3")
    added = added_since(into, sessions_of(into), note)
    assert added is not None
    assert (added.sessions, len(added.commits), added.has_others) == (("s3",), 1, False)
    compact(into)
    added = added_since(into, sessions_of(into), note)
    assert added is not None
    assert (added.sessions, len(added.commits), added.has_others) == (("s3",), 1, True)
    remove(into, ["s1"])
    assert added_since(into, sessions_of(into), note) is None


def test_a_note_that_cannot_be_written_is_one_sentence(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    place = Location(tmp_path / "file") / "note"
    with pytest.raises(AnalysisError, match=r"file/note could not be written: Not a directory"):
        note_sessions(sessions_of(Dataset(dataset)), place)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_sessions_that_came_since_are_added_also_after_compaction(
    dataset: Path, tmp_path: Path
) -> None:
    jobs = ("isr",)
    assert analyze(dataset, tmp_path / "out", jobs=jobs).added is None
    exported(committed_story().events, dataset, "s3")
    compact(Dataset(dataset))
    again = analyze(dataset, tmp_path / "out")
    assert (again.added, again.sessions) == (1, 3)
    whole = analyze(dataset, tmp_path / "whole", jobs=jobs)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert again.tables[0].rows_in_all == whole.tables[0].rows_in_all
    remove(Dataset(dataset), ["s1"])
    assert analyze(dataset, tmp_path / "out").added is None
    assert analyze(dataset, tmp_path / "out").added == 0
    left = pq.read_table(tmp_path / "out" / "isr_churn")["session"].to_pylist()
    assert sorted(left) == ["2024", "s3"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_damaged_file_is_named_and_nothing_is_left(dataset: Path, tmp_path: Path) -> None:
    part = files(dataset, "produced")[0]
    part.write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(DatasetUnreadable, match=rf"produced/{part.name} is damaged"):
        analyze(dataset, tmp_path / "out", jobs=("latency",))
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


@pytest.mark.spark
@pytest.mark.usefixtures("hasty_java")
def test_a_session_of_its_own_is_quiet_and_leaves_nothing(dataset: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        "import sys, tempfile; tempfile.tempdir = sys.argv[3]\n"
        "from sessions.analysis import run\n"
        "run.chosen = lambda names: ()\n"
        "print(run.analyze(sys.argv[1], sys.argv[2], master='local[1]').events)"
    )
    arguments = [str(dataset), str(tmp_path / "out"), str(scratch)]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == 2 * len(committed_story().events)
    assert list(scratch.iterdir()) == []
    assert not (ROOT / "spark-warehouse").exists()


def test_an_output_folder_that_exists_is_refused(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(AnalysisError, match="out already exists"):
        analyze(dataset, tmp_path / "out")


def test_a_dataset_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        analyze(tmp_path / "nothing", tmp_path / "out")


def test_a_dataset_without_sessions_is_refused(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text(f'{{"dataset": "tidegauge", "layout": {LAYOUT}}}')
    with pytest.raises(DatasetError, match="there is no session in"):
        analyze(tmp_path, tmp_path / "out")


def test_without_spark_nothing_is_made(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(SparkUnavailable, match="analysis needs PySpark"):
        analyze(dataset, tmp_path / "deep" / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("told_by", ["the system", "Spark"])
def test_a_full_disk_is_one_sentence_and_nothing_is_left(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told_by: str
) -> None:
    def full(*_: object) -> NoReturn:
        from pyspark.errors import PySparkException

        reason = os.strerror(errno.ENOSPC)
        if told_by == "Spark":
            raise PySparkException(f"Job aborted.\nCaused by: java.io.IOException: {reason}")
        raise OSError(errno.ENOSPC, reason)

    monkeypatch.setattr("sessions.analysis.run._Work._run", full)
    with pytest.raises(AnalysisError, match="out could not be written: No space left on device"):
        analyze(dataset, tmp_path / "out", jobs=("isr",))
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_state_that_the_events_do_not_build_is_told(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path / "dataset", "s1")
    (part,) = files(tmp_path / "dataset", "replica_states")
    rows = pq.ParquetFile(part).read()
    wrong = pc.if_else(pc.equal(rows["broker"], 2), pc.add(rows["leo"], 1), rows["leo"])
    column = rows.schema.get_field_index("leo")
    pq.write_table(rows.set_column(column, rows.schema.field(column), wrong), part)
    report = analyze(tmp_path / "dataset", tmp_path / "out", jobs=("replay",))
    differences, replayed = report.tables
    assert report.unlike == 1
    of_replicas = [row[1:7] for row in differences.rows if row[1] == "replica"]
    assert of_replicas == [("replica", "orders-0", 2, "leo", "3", "4")]
    assert replayed.rows[0][:2] == ("s1", "NO")
