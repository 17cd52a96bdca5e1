"""The dataset as a folder: whose it is, and what becomes of exports that died."""

import fcntl
import hashlib
import os
from pathlib import Path

import msgspec
import pytest

from sessions.dataset import location
from sessions.dataset.layout import (
    COMMIT,
    LAYOUT,
    LOCK,
    MANIFEST,
    MARKER,
    SCHEMA,
    SCHEMA_FILE,
    STAGING,
    Commit,
    Dataset,
    DatasetError,
    DatasetUnreadable,
    File,
    SessionExists,
    Staging,
)
from sessions.dataset.tables import RUNS, SESSIONS, TABLES
from tests.sessions.dataset.reading import exported, files, rows
from tests.sessions.dataset.streams import committed_story


def add(dataset: Path, session: str = "s1") -> None:
    exported(committed_story().events, dataset, session)


def test_a_commit_has_one_file_for_each_table_with_rows(tmp_path: Path) -> None:
    add(tmp_path)
    (commit,) = Dataset(tmp_path).commits()
    found = {path.parent.name: path.name for path in files(tmp_path, "*")}
    assert found == {name: each[0].name for name, each in commit.files.items()}
    assert all(name.startswith(commit.id) for name in found.values())
    assert {"events", "sessions"} <= found.keys() <= {table.name for table in TABLES}
    assert list(tmp_path.glob(f"{STAGING}*")) == []


def test_the_manifest_counts_what_the_files_hold(tmp_path: Path) -> None:
    add(tmp_path)
    (commit,) = Dataset(tmp_path).commits()
    assert (commit.sessions, commit.events) == (1, len(committed_story().events))
    for name, described in commit.files.items():
        assert described[0].rows == len(rows(tmp_path, name))
        assert described[0].size_bytes == files(tmp_path, name)[0].stat().st_size


def test_a_dataset_can_be_made_before_there_is_a_session(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "deep" / "dataset")
    dataset.make()
    dataset.make()
    assert dataset.exists
    assert Dataset(tmp_path / "deep" / "dataset").sessions() == []
    add(tmp_path / "deep" / "dataset")
    assert "s1" in dataset
    assert "s2" not in dataset


def test_a_dataset_without_declared_columns_has_them_once_something_is_added(
    tmp_path: Path,
) -> None:
    add(tmp_path)
    (tmp_path / MANIFEST / f"{SCHEMA}.json").unlink()
    for file in tmp_path.rglob(SCHEMA_FILE):
        file.unlink()
    older = Dataset(tmp_path)
    assert older.entries() == older.commits()
    assert older.sessions() == ["s1"]
    add(tmp_path, "s2")
    *commits, schemas = older.entries()
    assert commits == older.commits()
    there = {
        file.parent.name: File(SCHEMA_FILE, 0, file.stat().st_size, digest(file))
        for file in tmp_path.rglob(SCHEMA_FILE)
    }
    assert {name: files for name, (files,) in schemas.files.items()} == there
    assert there.keys() == {table.name for table in (*TABLES, RUNS)}


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_new_dataset_that_cannot_be_completed_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Dataset, "_move_in", full)  # the columns are declared already
    with pytest.raises(DatasetError, match="No space left on device"):
        add(tmp_path / "deep" / "dataset")
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match="could not be"):
        Dataset(tmp_path / "file" / "dataset").make()


def test_a_file_is_no_dataset(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(DatasetError, match="is not a dataset"):
        Dataset(path)


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_text("x")
    with pytest.raises(DatasetError, match=r"is not a dataset of tidegauge \(_tidegauge.json"):
        Dataset(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


@pytest.mark.parametrize(
    ("marker", "error", "words"),
    [
        ('{"dataset": "tidegauge", "layout": 99}', DatasetUnreadable, "newer tidegauge"),
        ('{"dataset": "tidegauge", "layout": 2}', DatasetUnreadable, "tidegauge dataset convert"),
        ('{"dataset": "other", "layout": 1}', DatasetError, "but of other"),
        ("not JSON", DatasetUnreadable, "is damaged"),
        ("", DatasetUnreadable, "is damaged"),
    ],
)
def test_a_dataset_of_another_layout_is_refused(
    tmp_path: Path, marker: str, error: type[DatasetError], words: str
) -> None:
    (tmp_path / MARKER).write_text(marker)
    with pytest.raises(error, match=words):
        Dataset(tmp_path)


@pytest.mark.parametrize("session", ["", "a/b", "..", "-x", "a=b", "a b", "é", "x" * 129])
def test_an_id_that_is_no_file_name_is_refused(tmp_path: Path, session: str) -> None:
    with pytest.raises(DatasetError, match="a session's id is made of"):
        add(tmp_path / "dataset", session)
    assert not (tmp_path / "dataset").exists()


@pytest.mark.parametrize("place", ["s3a:bucket/x", "hdfs:/x", "file://host/x", "file:x"])
def test_what_looks_like_a_uri_is_never_taken_for_a_local_name(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match=r"is not the URI|is not a URI"):
        Dataset(place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["hdfs://localhost:1/x", "nosuch://host/x"])
def test_a_file_system_that_cannot_be_reached_is_one_sentence(place: str) -> None:
    with pytest.raises(DatasetError, match=rf"{place} cannot be reached: ") as told:
        Dataset(place)
    assert "\n" not in str(told.value)


def test_a_google_bucket_that_cannot_be_reached_is_not_retried_for_minutes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(location, "GCS_RETRY_S", 0.1)
    bucket = location.Location("gs://anonymous@b/x?scheme=http&endpoint_override=localhost:1")
    assert bucket.arrow_path == "b/x"
    with pytest.raises(OSError, match=r"Retry policy exhausted|Could not connect"):
        bucket.exists()


def test_a_file_uri_is_a_local_folder(tmp_path: Path) -> None:
    add(tmp_path / "a b")
    assert Dataset(f"file://{tmp_path}/a%20b").sessions() == ["s1"]


def test_of_two_exports_of_one_session_at_once_one_is_refused(tmp_path: Path) -> None:
    with Dataset(tmp_path).staging() as staging:
        add(tmp_path)
        (commit,) = Dataset(tmp_path).commits()
        for name, described in commit.files.items():
            (staging.path / name).mkdir()
            path = staging.path / name / f"{staging.id}-00000.parquet"
            path.write_bytes((tmp_path / name / described[0].name).read_bytes())
        with pytest.raises(SessionExists, match=r"session s1 is already in"):
            staging.commit(["s1"], 1)
    assert Dataset(tmp_path).sessions() == ["s1"]
    assert Dataset(tmp_path).commits() == [commit]


# ---- what dead processes leave


def dead_commit(dataset: Path, *, moved: int | None) -> str:
    """What a process left that was killed while writing, or when it had moved so many tables.

    The session is s1; there is another one, ``other``.
    """
    add(dataset, "other")
    (other,) = Dataset(dataset).commits()
    add(dataset)
    commit = next(each for each in Dataset(dataset).commits() if each != other)
    (dataset / MANIFEST / f"{commit.id}.json").unlink()
    folder = dataset / STAGING / commit.id
    folder.mkdir(parents=True)
    (folder / LOCK).touch()
    for number, (name, described) in enumerate(commit.files.items()):
        if moved is None or number >= moved:
            (folder / name).mkdir()
            (dataset / name / described[0].name).rename(folder / name / described[0].name)
    if moved is not None:
        (folder / COMMIT).write_bytes(msgspec.json.encode(commit))
    return commit.id


@pytest.mark.parametrize("moved", range(7))
def test_a_process_that_died_while_moving_in_is_finished_by_the_next(
    tmp_path: Path, moved: int
) -> None:
    dead_commit(tmp_path, moved=moved)
    assert Dataset(tmp_path).sessions() == ["other"]
    Dataset(tmp_path).recover()
    assert Dataset(tmp_path).sessions() == ["other", "s1"]
    assert len(rows(tmp_path, "events")) == len(committed_story().events)
    assert Dataset(tmp_path).left_out() == []


@pytest.mark.parametrize("moved", range(7))
def test_a_session_that_a_dead_process_was_moving_in_is_not_added_again(
    tmp_path: Path, moved: int
) -> None:
    dead_commit(tmp_path, moved=moved)
    with pytest.raises(SessionExists, match=r"session s1 is already in"):
        add(tmp_path)
    assert Dataset(tmp_path).sessions() == ["other", "s1"]
    assert Dataset(tmp_path).left_out() == []


def test_a_process_that_died_while_writing_is_dropped(tmp_path: Path) -> None:
    dead_commit(tmp_path, moved=None)
    Dataset(tmp_path).recover()
    assert Dataset(tmp_path).sessions() == ["other"]
    assert Dataset(tmp_path).left_out() == []
    add(tmp_path)
    assert Dataset(tmp_path).sessions() == ["other", "s1"]


def test_what_is_half_moved_in_is_left_out_by_readers(tmp_path: Path) -> None:
    name = dead_commit(tmp_path, moved=3)
    assert Dataset(tmp_path).left_out() == [name]
    assert rows(tmp_path, "events") == []
    assert len(files(tmp_path, "events")) == 2


def test_a_process_that_died_before_it_dropped_what_it_replaces_is_finished(tmp_path: Path) -> None:
    add(tmp_path)
    add(tmp_path, "s2")
    first, second = Dataset(tmp_path).commits()
    replacing = Commit(second.id, 1, second.events, second.files, (first.id,), second.begun)
    (tmp_path / MANIFEST / f"{second.id}.json").write_bytes(msgspec.json.encode(replacing))
    folder = tmp_path / STAGING / second.id
    folder.mkdir(parents=True)
    (folder / COMMIT).write_bytes(msgspec.json.encode(replacing))
    assert Dataset(tmp_path).sessions() == ["s2"]
    Dataset(tmp_path).recover()
    assert Dataset(tmp_path).sessions() == ["s2"]
    assert len(files(tmp_path, SESSIONS.name)) == 1


def test_work_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    name = dead_commit(tmp_path, moved=None)
    lock = os.open(tmp_path / STAGING / name / LOCK, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        Dataset(tmp_path).recover()
        assert (tmp_path / STAGING / name).exists()
    finally:
        os.close(lock)


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    add(tmp_path)
    (commit,) = Dataset(tmp_path).commits()
    (tmp_path / MANIFEST / f"{commit.id}.json").write_text("{")
    with pytest.raises(DatasetUnreadable, match=rf"{commit.id}.json is damaged"):
        Dataset(tmp_path).commits()


def test_the_layout_is_written_down(tmp_path: Path) -> None:
    Dataset(tmp_path).make()
    marker = msgspec.json.decode((tmp_path / MARKER).read_bytes())
    assert marker == {"dataset": "tidegauge", "layout": LAYOUT}


def test_a_staging_folder_that_is_not_committed_leaves_nothing(tmp_path: Path) -> None:
    with Dataset(tmp_path / "dataset").staging() as staging:
        assert isinstance(staging, Staging)
        (staging.path / "events").mkdir()
    assert [path.name for path in (tmp_path / "dataset").iterdir()] == [MARKER]


def test_a_session_is_added_without_opening_the_files_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(tmp_path, "s1")

    def opened(*_: object) -> None:
        raise AssertionError("a table was read")

    with monkeypatch.context() as patched:
        patched.setattr(Dataset, "scan", opened)
        add(tmp_path, "s2")
        with pytest.raises(SessionExists, match="session s1 is already in"):
            add(tmp_path, "s1")
    assert Dataset(tmp_path).sessions() == ["s1", "s2"]


def test_sessions_that_a_manifest_does_not_name_are_looked_for_in_the_table(tmp_path: Path) -> None:
    """Earlier programs did not name them."""
    add(tmp_path, "s1")
    (entry,) = (path for path in (tmp_path / MANIFEST).glob("*.json") if path.stem != SCHEMA)
    earlier = msgspec.json.decode(entry.read_bytes())
    assert earlier.pop("ids") == ["s1"]
    entry.write_bytes(msgspec.json.encode(earlier))
    add(tmp_path, "s2")
    assert Dataset(tmp_path).present(["s1", "s2", "s3"]) == ["s1", "s2"]
    with pytest.raises(SessionExists, match="session s1 is already in"):
        add(tmp_path, "s1")
