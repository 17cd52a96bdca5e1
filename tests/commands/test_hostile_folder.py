"""The program called in a folder whose modules are named like its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.cli.web import page_command
from sessions.child_process import ROOT, SAFE_PATH, environment, import_path, python_command
from sessions.dataset import export_files
from sessions.dataset.layout import Dataset

NAMES = ("commands", "console", "emulator", "sessions", "pyspark", "msgspec", "zipfile", "json")
PROGRAM = "from commands.cli.main import main; main()"
SCRIPT = """\
cluster --brokers 1
topic create t --partitions 1 --replication-factor 1
produce t --value m --acks ${acks}
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; each of its modules leaves a trace when it is imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in NAMES:
        trace = f"open({str(folder / 'ran')!r}, 'a').write({name!r}); raise SystemExit(9)"
        (folder / f"{name}.py").write_text(f"{trace}\n")
    monkeypatch.chdir(folder)
    return folder


def traces(folder: Path) -> str:
    ran = folder / "ran"
    return ran.read_text() if ran.exists() else ""


def test_python_by_itself_would_import_them(hostile: Path) -> None:
    command = [sys.executable, "-m", "sessions.dataset"]
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
    assert traces(hostile)


def test_the_import_path_of_children_has_no_current_folder(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", ".", str(hostile), *sys.path])
    assert str(ROOT) in import_path()
    assert not {"", ".", str(hostile)} & set(import_path())
    monkeypatch.chdir(ROOT)
    assert str(ROOT) in import_path()


def test_a_second_process_of_an_export_imports_nothing_from_here(
    hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_files, "WORTH_EVENTS", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert run_program(["run", "-c", "cluster; settle", "--record", "a.tide.db"]) == 0
    assert run_program(["sessions", "export", "a.tide.db", "--out", "dataset"]) == 0
    assert Dataset(hostile / "dataset").sessions() == ["a"]
    assert traces(hostile) == ""


def test_a_page_of_the_console_imports_nothing_from_here(hostile: Path) -> None:
    done = subprocess.run(page_command(["--help"]), capture_output=True, text=True, check=True)
    assert "Usage" in done.stdout
    assert traces(hostile) == ""


@pytest.mark.spark
@pytest.mark.usefixtures("hasty_java")
def test_spark_and_its_workers_import_nothing_from_here(hostile: Path) -> None:
    (hostile / "s.tide").write_text(SCRIPT)
    arguments = ["campaign", "s.tide", "--set", "acks=1", "--seeds", "1..2", "--out", "dataset"]
    done = subprocess.run(
        python_command("-c", PROGRAM, *arguments),
        env={name: value for name, value in environment().items() if name != SAFE_PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(Dataset(hostile / "dataset").sessions()) == 2
    assert traces(hostile) == ""
