"""The dataset as a folder: whose it is, and what becomes of exports that died."""

import fcntl
import os
from pathlib import Path

import pytest

from sessions.dataset.layout import (
    COMPLETE,
    HIDDEN,
    LOCK,
    MARKER,
    DatasetError,
    DatasetFolder,
    DatasetUnreadable,
    SessionBusy,
)
from sessions.dataset.tables import TABLES


def written(hidden: Path, tables: int = len(TABLES)) -> None:
    """Write a file for each of the first tables."""
    for table in TABLES[:tables]:
        (hidden / table.name).mkdir(parents=True)
        (hidden / table.name / "part-00000.parquet").write_bytes(b"PAR1")


def add(dataset: Path, session: str = "s1") -> None:
    with DatasetFolder(dataset).adding(session) as hidden:
        written(hidden.path)


def test_a_session_has_a_folder_in_every_table(tmp_path: Path) -> None:
    add(tmp_path)
    for table in TABLES:
        assert (tmp_path / table.name / "session=s1" / "part-00000.parquet").exists()
    assert list(tmp_path.glob(".*")) == []


def test_a_dataset_can_be_made_before_there_is_a_session(tmp_path: Path) -> None:
    folder = DatasetFolder(tmp_path / "deep" / "dataset")
    folder.make()
    folder.make()
    assert folder.exists
    assert DatasetFolder(folder.path).sessions() == []
    add(folder.path)
    assert "s1" in folder
    assert "s2" not in folder


def test_a_dataset_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match="could not be"):
        DatasetFolder(tmp_path / "file" / "dataset").make()


def test_a_file_is_no_dataset(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(DatasetError):
        DatasetFolder(path)


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_text("x")
    with pytest.raises(DatasetError, match=r"is no dataset of tidegauge \(_tidegauge.json is mis"):
        DatasetFolder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


@pytest.mark.parametrize(
    ("marker", "error", "words"),
    [
        ('{"dataset": "tidegauge", "layout": 99}', DatasetUnreadable, "newer tidegauge"),
        ('{"dataset": "tidegauge", "layout": 0}', DatasetUnreadable, "older tidegauge"),
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
        DatasetFolder(tmp_path)


@pytest.mark.parametrize("session", ["", "a/b", "..", "-x", "a=b", "a b", "é", "x" * 129])
def test_an_id_that_is_no_folder_name_is_refused(tmp_path: Path, session: str) -> None:
    with pytest.raises(DatasetError, match="a session's id is made of"):
        add(tmp_path / "dataset", session)
    assert not (tmp_path / "dataset").exists()


def test_two_exports_of_one_session_at_once_are_refused(tmp_path: Path) -> None:
    with DatasetFolder(tmp_path).adding("s1") as hidden:
        with pytest.raises(SessionBusy, match="is being exported"):
            add(tmp_path)
        DatasetFolder(tmp_path).settle()
        written(hidden.path)
    assert DatasetFolder(tmp_path).sessions() == ["s1"]


def dead_export(dataset: Path, *, complete: bool, moved: int = 0) -> None:
    """What is left of an export killed while writing or, ``complete``, while moving tables."""
    add(dataset, "other")
    hidden = dataset / f"{HIDDEN}s1"
    hidden.mkdir()
    (hidden / LOCK).touch()
    written(hidden, len(TABLES) if complete else 3)
    if complete:
        (hidden / COMPLETE).touch()
    for table in TABLES[:moved]:
        (hidden / table.name).rename(dataset / table.name / "session=s1")


@pytest.mark.parametrize("moved", range(len(TABLES) + 1))
def test_an_export_that_died_while_moving_in_is_finished_by_the_next_reader(
    tmp_path: Path, moved: int
) -> None:
    dead_export(tmp_path, complete=True, moved=moved)
    DatasetFolder(tmp_path).settle()
    assert DatasetFolder(tmp_path).sessions() == ["other", "s1"]
    assert all((tmp_path / table.name / "session=s1").exists() for table in TABLES)
    assert list(tmp_path.glob(f"{HIDDEN}*")) == []


def test_an_export_that_died_while_writing_is_dropped(tmp_path: Path) -> None:
    dead_export(tmp_path, complete=False)
    DatasetFolder(tmp_path).settle()
    assert DatasetFolder(tmp_path).sessions() == ["other"]
    assert list(tmp_path.glob(f"{HIDDEN}*")) == []


def test_an_export_that_died_can_be_done_again(tmp_path: Path) -> None:
    dead_export(tmp_path, complete=False)
    add(tmp_path)
    assert DatasetFolder(tmp_path).sessions() == ["other", "s1"]


def test_a_session_that_a_dead_export_had_completed_is_there(tmp_path: Path) -> None:
    dead_export(tmp_path, complete=True, moved=2)
    with pytest.raises(DatasetError, match="already"):
        add(tmp_path)
    assert DatasetFolder(tmp_path).sessions() == ["other", "s1"]
    assert list(tmp_path.glob(f"{HIDDEN}*")) == []


def test_an_export_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    dead_export(tmp_path, complete=False)
    lock = os.open(tmp_path / f"{HIDDEN}s1" / LOCK, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        DatasetFolder(tmp_path).settle()
        assert (tmp_path / f"{HIDDEN}s1").exists()
    finally:
        os.close(lock)
