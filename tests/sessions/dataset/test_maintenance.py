"""Looking after a dataset: nothing is lost when files are merged, and only what was named goes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sessions.dataset.export import export_session
from sessions.dataset.layout import Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.location import Location
from sessions.dataset.maintenance import compact, convert, info, remove
from sessions.dataset.rows.sessions import SessionFacts
from sessions.dataset.schema import SESSION
from sessions.dataset.tables import SESSIONS, TABLES
from tests.sessions.dataset.earlier import as_layout_2, as_layout_3
from tests.sessions.dataset.reading import Row, exported, files, rows
from tests.sessions.dataset.streams import committed_story

NAMES = ("s10", "s2", "s1")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Three sessions that were closed, each exported by itself."""
    for name in NAMES:
        facts = SessionFacts(name, state_hash="0" * 64)
        export_session(committed_story().events, facts, tmp_path / "dataset")
    return tmp_path / "dataset"


def contents(dataset: Path) -> dict[str, list[Row]]:
    return {
        f"{table.name} {name}": rows(dataset, table.name, name)
        for table in TABLES
        for name in Dataset(dataset).sessions()
    }


def test_merging_keeps_every_row_in_one_file_for_each_table(dataset: Path) -> None:
    before, small = contents(dataset), info(Dataset(dataset))
    assert compact(Dataset(dataset)) == len(NAMES)
    assert contents(dataset) == before
    merged = info(Dataset(dataset))
    assert (merged.sessions, merged.events) == (small.sessions, small.events)
    assert (merged.commits, merged.small) == (1, 1)
    assert merged.files == small.files // len(NAMES)
    assert all(len(files(dataset, table.name)) <= 1 for table in TABLES)
    (sessions,) = files(dataset, "sessions")
    assert pq.read_table(sessions)[SESSION].to_pylist() == sorted(NAMES)


def test_events_are_clustered_by_type_and_in_order_within_it(dataset: Path) -> None:
    compact(Dataset(dataset))
    (path,) = files(dataset, "events")
    found = pq.read_table(path, columns=["type", "session", "seq"]).to_pylist()
    assert [row["type"] for row in found] == sorted(row["type"] for row in found)
    keys = [(row["type"], row["session"], row["seq"]) for row in found]
    assert keys == sorted(keys)


def test_one_commit_is_not_merged(tmp_path: Path) -> None:
    exported(committed_story().events, tmp_path, "s1")
    assert compact(Dataset(tmp_path)) == 0


def test_a_merge_that_fails_changes_nothing(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(dataset)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("sessions.dataset.writer.TableWriter._write", full)
        with pytest.raises(DatasetError, match="No space left on device"):
            compact(Dataset(dataset))
    assert contents(dataset) == before
    assert Dataset(dataset).left_out() == []


@pytest.mark.parametrize("merged", [False, True], ids=["apart", "merged"])
def test_a_session_is_removed_and_the_others_stay(dataset: Path, merged: bool) -> None:
    if merged:
        compact(Dataset(dataset))
    before = contents(dataset)
    remove(Dataset(dataset), ["s2"])
    assert Dataset(dataset).sessions() == ["s1", "s10"]
    assert contents(dataset) == {key: value for key, value in before.items() if " s2" not in key}
    assert info(Dataset(dataset)).sessions == 2
    remove(Dataset(dataset), ["s1", "s10"])
    assert Dataset(dataset).sessions() == []
    assert files(dataset, "*") == []


def test_of_sessions_that_are_not_all_there_none_is_removed(dataset: Path) -> None:
    with pytest.raises(DatasetError, match=r"there is no session s3 in .*; the nearest is .s2"):
        remove(Dataset(dataset), ["s1", "s3"])
    assert Dataset(dataset).sessions() == sorted(NAMES)


# ---- layout 2: a folder for each session; layout 3: as today; both with fields as JSON


@pytest.mark.parametrize("written", [as_layout_2, as_layout_3])
def test_a_dataset_of_an_earlier_layout_is_converted(
    dataset: Path, tmp_path: Path, written: Callable[[Path, Path], None]
) -> None:
    before = contents(dataset)
    written(dataset, tmp_path / "old")
    with pytest.raises(DatasetUnreadable, match="tidegauge dataset convert"):
        Dataset(tmp_path / "old")
    made = convert(Location(tmp_path / "old"), Location(tmp_path / "new"))
    assert made == sorted(NAMES)
    assert contents(tmp_path / "new") == before


def test_a_session_of_layout_2_whose_end_was_not_recorded_is_not_complete(tmp_path: Path) -> None:
    story = committed_story()
    for name, state_hash in (("closed", "f" * 64), ("killed", None)):
        facts = SessionFacts(name, state_hash=state_hash, complete=state_hash is not None)
        export_session(story.events, facts, tmp_path / "dataset")
    as_layout_2(tmp_path / "dataset", tmp_path / "old")
    convert(Location(tmp_path / "old"), Location(tmp_path / "new"))
    for folder in (tmp_path / "dataset", tmp_path / "new"):
        found = Dataset(folder).scan(SESSIONS, ["session", "complete", "outcome"]).to_pylist()
        assert {row["session"]: (row["complete"], row["outcome"]) for row in found} == {
            "closed": (True, "passed"),
            "killed": (False, "unknown"),
        }


def test_a_conversion_goes_on_where_it_was_broken_off(dataset: Path, tmp_path: Path) -> None:
    as_layout_2(dataset, tmp_path / "old")
    exported(committed_story().events, tmp_path / "new", "s1")
    convert(Location(tmp_path / "old"), Location(tmp_path / "new"))
    assert Dataset(tmp_path / "new").sessions() == sorted(NAMES)


def test_only_a_dataset_of_an_earlier_layout_is_converted(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="has layout 4; only layouts 2 and 3"):
        convert(Location(dataset), Location(tmp_path / "new"))
    shutil.rmtree(dataset)
    with pytest.raises(DatasetError, match="there is no dataset at"):
        convert(Location(dataset), Location(tmp_path / "new"))
