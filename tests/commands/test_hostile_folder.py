"""The program called in a folder whose modules are named like its own.

Campaigns on Spark are, too: :mod:`tests.sessions.campaign.test_runner`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands.cli.main import run_program
from commands.cli.web import page_command
from sessions.child_process import ROOT, import_path
from sessions.dataset import export_files
from sessions.dataset.layout import Dataset
from tests.support.hostile_folder import make_hostile, traces


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; each of its modules leaves a trace when it is imported."""
    folder = make_hostile(tmp_path / "hostile")
    monkeypatch.chdir(folder)
    return folder


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
