"""The way in: it starts, and notices packages of others that have our names."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tidegauge.rooms import ROOMS, intruder

ROOT = Path(__file__).parents[2]


def started(*options: str, folder: Path, path: str = "") -> "subprocess.CompletedProcess[str]":
    """The program, started with ``python -m`` in a folder."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (path, str(ROOT))))}
    command = [sys.executable, *options, "-m", "tidegauge", "--version"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_package_starts_the_program(tmp_path: Path) -> None:
    done = started(folder=tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (0, "tidegauge")


def test_importing_it_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import tidegauge; print(set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{'tidegauge'}"


@pytest.mark.parametrize("name", ROOMS)
def test_a_package_of_somebody_else_is_named_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemExit('run by mistake')")
    done = started(folder=tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith(f"tidegauge cannot start: '{tmp_path / name}' is another package")
    assert done.stderr.count("\n") == 1
    assert started("-P", folder=tmp_path).returncode == 0


def test_a_module_in_one_file_is_noticed_too(tmp_path: Path) -> None:
    (tmp_path / "console.py").write_text("")
    done = started(folder=tmp_path, path=str(tmp_path))
    assert f"'{tmp_path / 'console.py'}' is another package named 'console'" in done.stderr


def test_here_nobody_intrudes() -> None:
    assert [intruder(name) for name in ROOMS] == [""] * len(ROOMS)


def test_the_wheel_has_these_packages_and_nothing_else_at_its_top(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="the extra `test` brings it")
    code = f"from hatchling.build import build_wheel; print(build_wheel({str(tmp_path)!r}))"
    subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {*ROOMS, "tidegauge"}
    assert "commands/library/scripts/demo.tide" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".db")]
    files = (file for room in tops for file in (ROOT / room).rglob("*") if file.is_file())
    needed = {str(file.relative_to(ROOT)) for file in files if "__pycache__" not in file.parts}
    assert needed - {*names} == set()
