from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.runs import export as exporting
from sessions.dataset.export_files import session_id
from sessions.dataset.layout import Dataset
from tests.sessions.examples import edited, record_story, small_chunks


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


def recorded(path: Path, text: str = "cluster; settle") -> str:
    assert run_program(["run", "-c", text, "--record", str(path)]) == 0
    return str(path)


def export(dataset: Path, *files: str) -> int:
    return run_program(["sessions", "export", *files, "--out", str(dataset)])


def test_a_session_is_exported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded(tmp_path / "one.tide.db")
    capsys.readouterr()
    assert export(tmp_path / "dataset", path) == 0
    assert capsys.readouterr().err.startswith(f"{path}: ")
    assert Dataset(tmp_path / "dataset").sessions() == ["one"]
    assert export(tmp_path / "dataset", path) == 0
    assert f"{path}: in {tmp_path / 'dataset'} already" in capsys.readouterr().err


def test_an_export_that_was_broken_off_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [recorded(tmp_path / f"{name}.tide.db") for name in "abc"]
    real = exporting.export_file
    done: list[str] = []

    def interrupted(*given: object, **named: object) -> str:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append("")
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(exporting, "export_file", interrupted)
    assert export(tmp_path / "dataset", *paths) == 130
    assert Dataset(tmp_path / "dataset").sessions() == ["a", "b"]
    monkeypatch.setattr(exporting, "export_file", real)
    capsys.readouterr()
    assert export(tmp_path / "dataset", *paths) == 0
    said = capsys.readouterr().err
    assert said.count(" already, with its ") == 2
    assert Dataset(tmp_path / "dataset").sessions() == ["a", "b", "c"]


def test_files_that_cannot_be_exported_do_not_keep_the_others_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.tide.db").write_text("no database")
    files = [str(tmp_path / "none.tide.db"), str(tmp_path / "notes.tide.db")]
    files.append(recorded(tmp_path / "good.tide.db"))
    capsys.readouterr()
    assert export(tmp_path / "dataset", *files) == 3
    said = capsys.readouterr().err.splitlines()
    assert "none.tide.db cannot be read" in said[0]
    assert "not a database" in said[1]
    assert said[2].startswith(files[2])
    assert said[3] == "2 of 3 files were not exported"
    assert Dataset(tmp_path / "dataset").sessions() == ["good"]


def test_another_session_of_a_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    one = recorded(tmp_path / "a.tide.db")
    other = recorded(tmp_path / "other" / "a.tide.db", "cluster; wait 5s")
    capsys.readouterr()
    assert export(tmp_path / "dataset", one, other) == 3
    assert "has another session called a" in capsys.readouterr().err


def test_a_dataset_that_is_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded(tmp_path / "a.tide.db")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "holiday.jpg").touch()
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "_tidegauge.json").write_text('{"dataset": "tidegauge", "layout": 99}')
    assert export(tmp_path / "photos", path) == 3
    assert export(tmp_path / "newer", path) == 5
    assert [each.name for each in (tmp_path / "photos").iterdir()] == ["holiday.jpg"]


def test_a_session_that_is_missing_is_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(tmp_path, str(tmp_path / "x")) == 3
    assert capsys.readouterr().err.count("\n") == 1


def sessions_row(dataset: Path) -> dict[str, object]:
    from pyarrow.parquet import read_table

    (row,) = read_table(dataset / "sessions").to_pylist()
    return dict(row)


def test_a_session_that_was_not_closed_has_a_status_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(recorded(tmp_path / "a.tide.db"))
    edited(path, "DELETE FROM meta WHERE key = 'outcome'")
    assert export(tmp_path / "dataset", str(path)) == 6
    assert f"{path} is not complete" in capsys.readouterr().err
    row = sessions_row(tmp_path / "dataset")
    assert (row["complete"], row["damaged_at"]) == (False, None)


def test_a_session_without_its_last_events_has_a_status_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.tide.db"
    with small_chunks():
        record_story(path)
    edited(path, "DELETE FROM chunks WHERE first_seq > 1000")
    assert export(tmp_path / "dataset", str(path)) == 6
    said = capsys.readouterr().err
    assert "are missing" in said
    assert "it is damaged, so it ends at its last event" in said
    row = sessions_row(tmp_path / "dataset")
    assert (row["complete"], row["damaged_at"], row["state_hash"]) == (False, 1025, None)
