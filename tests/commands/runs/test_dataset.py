"""``tidegauge dataset verify``: what it prints, and the status with which it ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commands.cli.main import run_program
from commands.exits import ExitCode
from sessions.dataset.layout import Dataset
from sessions.dataset.maintenance import info
from tests.sessions.dataset.harm import (
    a_file,
    damage,
    intrude,
    lose,
    miscount,
    write_other_columns,
)
from tests.sessions.dataset.reading import exported
from tests.sessions.dataset.streams import committed_story


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    for name in ("s1", "s2"):
        exported(committed_story().events, tmp_path / "dataset", name)
    return tmp_path / "dataset"


def verified(dataset: Path, status: int, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What ``--json`` says, with the expected status."""
    capsys.readouterr()
    assert run_program(["dataset", "verify", str(dataset), "--json"]) == status
    said: dict[str, Any] = msgspec.json.decode(capsys.readouterr().out)
    return said


def test_a_whole_dataset_is_counted(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = verified(dataset, ExitCode.OK, capsys)
    there = info(Dataset(dataset))
    assert said["problems"] == []
    assert (said["dataset"], said["sessions"], said["commits"]) == (str(dataset), 2, 2)
    assert said["rows"] == sum(table.rows for table in there.tables)
    assert said["files"] == len(list(dataset.rglob("*.parquet")))
    assert said["size_bytes"] == sum(file.stat().st_size for file in dataset.rglob("*.parquet"))
    assert said["without_digest"] == 0
    assert run_program(["dataset", "verify", str(dataset)]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert f"dataset {dataset}" in shown
    assert "PROBLEM" not in shown


@pytest.mark.parametrize(
    ("harm", "status", "kind", "told"),
    [
        (lose, ExitCode.BAD_SESSION, "damaged", "this file is missing"),
        (damage, ExitCode.BAD_SESSION, "damaged", "its SHA-256 is not that of the manifest"),
        (miscount, ExitCode.BAD_SESSION, "damaged", "it has 3 rows, the manifest says 77"),
        (
            write_other_columns,
            ExitCode.BAD_SESSION,
            "damaged",
            "its columns are not those of produced",
        ),
        (intrude, ExitCode.FAILED, "untidy", "this file is not in the manifest"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_problem_is_told_with_its_place_and_a_status(
    dataset: Path,
    harm: Callable[[Path], None],
    status: ExitCode,
    kind: str,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = a_file(dataset)
    harm(dataset)
    place = dataset / "produced" / "mine.parquet" if harm is intrude else file
    said = verified(dataset, status, capsys)
    assert said["problems"] == [{"kind": kind, "place": str(place), "problem": told}]
    assert run_program(["dataset", "verify", str(dataset)]) == status
    shown = "".join(capsys.readouterr().out.split())
    assert kind in shown
    assert "".join(told.split()) in shown


def test_what_is_no_dataset_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "nothing"
    assert run_program(["dataset", "verify", str(place)]) == ExitCode.UNREACHABLE
    assert capsys.readouterr().err.strip() == f"there is no dataset at {place}"
    place.mkdir()
    (place / "holiday.jpg").touch()
    assert run_program(["dataset", "verify", str(place)]) == ExitCode.UNREACHABLE
    assert "is not a dataset of tidegauge" in capsys.readouterr().err


def test_a_damaged_manifest_is_one_sentence(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = min((dataset / "_manifest").glob("*.json"))
    entry.write_text("{")
    assert run_program(["dataset", "verify", str(dataset)]) == ExitCode.BAD_SESSION
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith(f"{entry} is damaged")
