from pathlib import Path

import pytest

from sessions.format import nearest
from sessions.format.nearest import nearest_file


def test_the_file_with_the_nearest_name_is_named(tmp_path: Path) -> None:
    for name in ("failover.tide", "failures.tide", "other"):
        (tmp_path / name).touch()
    meant = tmp_path / "failover.tide"
    assert nearest_file(tmp_path / "failovr.tide") == f"; did you mean '{meant}'?"


def test_nothing_is_said_where_nothing_is_near(tmp_path: Path) -> None:
    (tmp_path / "failover.tide").touch()
    assert nearest_file(tmp_path / "x") == ""


def test_nothing_is_said_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert nearest_file(tmp_path / "nowhere" / "x.tide") == ""


def test_a_very_large_folder_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "LOOKED_AT_MAX", 2)
    for name in ("a.tide", "b.tide", "c.tide"):
        (tmp_path / name).touch()
    assert nearest_file(tmp_path / "a.tid") == ""
