"""``tidegauge config``, and the settings that the console begins with."""

import json
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.cli.settings import ScreenArguments
from commands.exits import CommandError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file, empty."""
    path = tmp_path / "config.toml"
    path.write_text("")
    monkeypatch.setenv("TIDEGAUGE_CONFIG", str(path))
    return path


def test_each_setting_is_printed_with_its_origin(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("theme = 'light'\n[keys]\n'time.live' = 'f5'\n")
    assert run_program(["config"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["theme", "light", str(file)] in rows
    assert ["mouse", "True", "default"] in rows
    assert ["keys.time.live", "f5", str(file)] in rows


def test_keys_are_printed_as_the_file_has_them(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("[keys]\n'time.live' = 'f5'\n'no.such.action' = 'f6'\n")
    assert run_program(["keys"]) == 0
    told = capsys.readouterr()
    rows = [line.split() for line in told.out.splitlines()]
    assert next(row[1] for row in rows if row[:1] == ["time.live"]) == "f5"
    assert next(row[-1] for row in rows if row[:1] == ["time.live"]) == str(file)
    assert next(row[-1] for row in rows if row[:1] == ["time.pause"]) == "default"
    assert "no.such.action" in told.err


@pytest.mark.parametrize(("options", "expected"), [([], ["f5"]), (["--defaults"], ["L"])])
def test_keys_are_plain_data_of_four_fields(
    options: list[str], expected: list[str], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("[keys]\n'time.live' = 'f5'\n")
    assert run_program(["keys", "--json", *options]) == 0
    found = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    assert {tuple(row) for row in found.values()} == {("id", "keys", "screens", "help")}
    assert found["time.live"]["keys"] == expected


def test_problems_make_the_status_2(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("them = 1\n")
    assert run_program(["config", "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["problems"] == [
        f"{file}: unknown setting 'them'; did you mean 'theme'?"
    ]
    assert "did you mean 'theme'?" in said.err


def test_the_example_can_be_used_as_it_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_program(["config", "--example"]) == 0
    file.write_text(capsys.readouterr().out)
    assert run_program(["config"]) == 0


@pytest.mark.usefixtures("file")
def test_options_beat_everything() -> None:
    found = ScreenArguments(theme="nord", ascii_only=True).settings(read_only=True)
    assert found.settings["theme"].origin == "--theme"
    assert (found.value("ascii"), found.value("read_only")) == (True, True)


@pytest.mark.usefixtures("file")
def test_a_wrong_theme_names_the_nearest() -> None:
    with pytest.raises(CommandError, match="--theme: 'ligth' is not a theme; did you mean 'light'"):
        ScreenArguments(theme="ligth").settings()
