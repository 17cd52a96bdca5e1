"""Dataset folders from strangers: what they name is inside, and nothing beside them changes."""

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from sessions.dataset.layout import MANIFEST, Dataset, DatasetError, DatasetUnreadable
from sessions.dataset.location import Location, LocationError
from sessions.dataset.maintenance import compact
from sessions.dataset.verify import verify
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story
from tests.support.fuzzing import hold
from tests.support.fuzzing.dataset import target

KEPT = ("0/80", "0/143", "0/222", "0/355", "second/808", "second/889")
"""Attempts that once failed."""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    for name in ("s1", "s2"):
        exported(committed_story().events, tmp_path / "dataset", name)
    return tmp_path / "dataset"


def test_a_file_that_a_manifest_names_outside_is_not_deleted(dataset: Path) -> None:
    victim = dataset.parent / "victim.parquet"
    victim.write_text("precious")
    entry = min((dataset / MANIFEST).glob("*.json"))
    content = msgspec.json.decode(entry.read_bytes())
    content["files"]["events"][0]["name"] = "../../victim.parquet"
    entry.write_bytes(msgspec.json.encode(content))
    with pytest.raises(DatasetUnreadable, match="is damaged"):
        compact(Dataset(dataset))
    assert victim.read_text() == "precious"


def test_what_lies_behind_a_link_is_not_deleted(dataset: Path) -> None:
    elsewhere = dataset.parent / "elsewhere"
    (dataset / "events").rename(elsewhere)
    (dataset / "events").symlink_to(elsewhere)
    before = sorted(elsewhere.iterdir())
    with pytest.raises(DatasetError, match="outside"):
        compact(Dataset(dataset))
    assert sorted(elsewhere.iterdir()) == before


def test_a_pipe_in_the_place_of_a_file_blocks_nobody(dataset: Path) -> None:
    file = min((dataset / "sessions").glob("*.parquet"))
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(DatasetError, match="named pipe"):
        Dataset(dataset).sessions()
    with pytest.raises(DatasetError, match="named pipe"):
        compact(Dataset(dataset))
    (problem,) = verify(Dataset(dataset)).problems
    assert "named pipe" in problem.problem


@pytest.mark.parametrize("place", ["dataset", "s3://bucket/dataset"])
@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", "a\\b", "a\x00", "\x1b[2J"])
def test_only_a_plain_name_is_below_a_location(place: str, name: str) -> None:
    with pytest.raises(LocationError, match="plain name"):
        Location(place) / name


def test_a_table_that_is_a_link_to_itself_is_one_sentence(dataset: Path) -> None:
    shutil.rmtree(dataset / "produced")
    (dataset / "produced").symlink_to(dataset / "produced")
    with pytest.raises(DatasetError, match="could not be written to: Too many levels"):
        exported(committed_story().events, dataset, "s3")


def test_no_attempt_changes_anything_beside_a_dataset_or_ends_in_a_traceback(
    tmp_path: Path,
) -> None:
    hold(target, tmp_path, (*KEPT, *(f"gate/{number}" for number in range(40))))
