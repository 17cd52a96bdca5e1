from pathlib import Path

import pytest

from commands.exporting import session_id
from commands.main import run_program


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b-1.tide.db", "b-1"),
        ("x y(2).tide.db", "x-y-2-"),
        (".tide.db", "session"),
        ("__a.tide.db", "a"),
    ],
)
def test_a_session_is_called_after_its_file(name: str, expected: str) -> None:
    assert session_id(Path(name)) == expected


def test_a_session_is_exported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "one.tide.db"
    assert run_program(["run", "-c", "cluster; settle", "--record", str(path)]) == 0
    export = ["sessions", "export", str(path), "--out", str(tmp_path / "dataset")]
    capsys.readouterr()
    assert run_program(export) == 0
    assert capsys.readouterr().err.startswith(f"{path}: ")
    assert list((tmp_path / "dataset" / "sessions").glob("session=one/*.parquet"))
    assert run_program(export) == 3
    assert "one" in capsys.readouterr().err


def test_a_session_that_is_missing_is_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["sessions", "export", str(tmp_path / "x"), "--out", str(tmp_path)]) == 3
    assert capsys.readouterr().err.count("\n") == 1
