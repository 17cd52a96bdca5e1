"""Rules of the house that no linter knows: colours, dead modules, heavy imports, paths.

Every rule reads the tree as it is, so it holds trivially for a room that is still empty.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("commands", "console", "emulator", "sessions", "tidegauge")

STARTUP_MODULE = "tidegauge"
LIBRARIES = ("sessions.spark",)
"""What people import in programs and notebooks of their own."""
HEAVY_IMPORTS = {"pandas", "pyarrow", "pyspark", "textual"}
"""What the shell's start-up must not pay for."""

HEX_COLOUR = re.compile(r"(?<![\w&])#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")
MODULE = re.compile(r"(\w+(?:\.\w+)*)(?::\w+)?\Z")
HOME_PATH = re.compile(r"(?<![\w.~/*-])/(?:farm|home|Users|work)/")
"""The start of an absolute path that exists on somebody's machine and nowhere else."""
TEXT_SUFFIXES = {".cfg", ".json", ".lock", ".md", ".py", ".sh", ".svg", ".tcss", ".tide", ".toml"}

FILE_SYSTEM = "sessions.file_system"
"""The module whose functions prove that what they delete or replace is in the folder named."""
DELETING = {
    "delete_dir",
    "delete_dir_contents",
    "delete_file",
    "removedirs",
    "renames",
    "rmdir",
    "rmtree",
    "unlink",
}
DELETES_ALSO = {
    # On object stores, which have no links; each part of a name is checked to be plain.
    ("sessions.dataset.location", "delete_dir"),
    ("sessions.dataset.location", "delete_file"),
    # Empty folders only, which the same call created.
    ("sessions.dataset.layout", "rmdir"),
    ("sessions.analysis.run", "rmdir"),
    ("commands.cli.conform", "rmdir"),
}
"""What else deletes, and why it may."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def source(path: Path) -> str:
    """The module's text."""
    return path.read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(source(path), filename=str(path))


def module_name(path: Path) -> str:
    """``emulator/cluster.py`` is ``emulator.cluster``; ``__init__.py`` is its package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name."""
    paths = (path for room in ROOMS for path in sorted(ROOT.glob(f"{room}/**/*.py")))
    return {module_name(path): path for path in paths}


def imported_names(tree: ast.Module) -> Iterator[str]:
    """What the module imports anywhere in it; ``from a import b`` may mean the module ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def quoted_names(tree: ast.Module) -> Iterator[str]:
    """Strings that may name a module for a later import, such as ``tidegauge:main``."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (name := MODULE.match(node.value))
        ):
            yield name[1]


def with_parents(name: str) -> Iterator[str]:
    """Importing ``a.b.c`` runs ``a``, ``a.b`` and ``a.b.c``."""
    parts = name.split(".")
    return (".".join(parts[: end + 1]) for end in range(len(parts)))


def docstring_nodes(tree: ast.Module) -> set[int]:
    """The ids of docstrings and of bare strings that document the name above them."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def project_files() -> Iterator[Path]:
    """Text files of the project; hidden folders are tools' own, but for the gate's."""
    tops = [path for path in ROOT.iterdir() if path.is_file()]
    folders = [ROOT / name for name in (*ROOMS, "tests", "benchmarks", "docs")]
    yield ROOT / ".ci" / "run"
    yield ROOT / "Makefile"
    for path in (*tops, *(path for folder in folders for path in folder.rglob("*"))):
        if path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts:
            yield path


needs_program = pytest.mark.skipif(
    STARTUP_MODULE not in modules(), reason=f"there is no {STARTUP_MODULE} yet"
)


def test_colours_live_in_style_sheets_and_themes() -> None:
    found = [
        f"{name}:{node.lineno} {node.value!r}"
        for name, path in modules().items()
        if name != "console.styles.themes" and HEX_COLOUR.search(source(path))
        for documented in [docstring_nodes(parsed(path))]
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documented
        and HEX_COLOUR.search(node.value)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_colour"),
    [
        ("#fff", True),
        ("bold #C0FFEE on #00000080", True),
        ("&#123;", False),
        ("#18207", False),
        ("#18,207", False),
        ("event #", False),
    ],
)
def test_a_hex_colour_is_told_from_an_event_number(text: str, *, is_colour: bool) -> None:
    assert bool(HEX_COLOUR.search(text)) is is_colour


@needs_program
def test_every_module_is_reachable_from_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plugins = project["entry-points"]["pytest11"].values()
    mains = [name for name in modules() if name.endswith(".__main__")]
    folders = ("console.screens.", "sessions.report.sections.")  # what is in them is found there
    found_there = [name for name in modules() if name.startswith(folders)]
    waiting = [STARTUP_MODULE, *LIBRARIES, *plugins, *mains, *found_there]
    reached: set[str] = set()
    while waiting:
        found = {name for name in with_parents(waiting.pop()) if name in modules()} - reached
        reached |= found
        for name in found:
            tree = parsed(modules()[name])
            waiting.extend((*imported_names(tree), *quoted_names(tree)))
    assert sorted(modules().keys() - reached) == []


@needs_program
def test_starting_the_program_imports_nothing_heavy() -> None:
    code = "import sys, commands.cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert HEAVY_IMPORTS.isdisjoint(done.stdout.split())


def changes_of_files(path: Path) -> Iterator[tuple[str, str]]:
    """Calls and imports that delete, replace or rename files: where, and by what name."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil"):
            for alias in node.names:
                if alias.name in {*DELETING, "move", "remove", "rename", "replace"}:
                    yield f"{module_name(path)}:{node.lineno}", alias.name
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, owner = node.func.attr, node.func.value
        of_system = (
            isinstance(owner, ast.Name)
            and owner.id in ("os", "shutil")
            and name in ("move", "remove", "rename", "replace")
        )
        # Strings are replaced, and symmetries renamed, with more than one argument.
        of_path = name in ("rename", "replace") and len(node.args) == 1 and not node.keywords
        if name in DELETING or of_system or of_path:
            yield f"{module_name(path)}:{node.lineno}", name


def test_files_are_deleted_and_replaced_in_one_module() -> None:
    found = {
        (module.partition(":")[0], name): module
        for path in modules().values()
        for module, name in changes_of_files(path)
        if module_name(path) != FILE_SYSTEM
    }
    assert sorted(found[each] for each in found.keys() - DELETES_ALSO) == []
    assert sorted(DELETES_ALSO - found.keys()) == []  # none is left over


@pytest.mark.parametrize(
    "code",
    [
        "path.unlink()",
        "os.remove(path)",
        "os.replace(a, b)",
        "shutil.rmtree(a)",
        "a.rename(b)",
        "a.replace(b)",
        "from shutil import rmtree",
        "from os import remove as r",
        "filesystem.delete_dir(a)",
    ],
)
def test_what_changes_files_is_recognized(code: str, tmp_path: Path) -> None:
    path = ROOT / "sessions" / f"{tmp_path.name}.py"  # of which only the name counts
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "parsed", lambda _: ast.parse(code))
        assert len(list(changes_of_files(path))) == 1
        patch.setitem(globals(), "parsed", lambda _: ast.parse("'a'.replace('b', 'c')"))
        assert not list(changes_of_files(path))


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in project_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if HOME_PATH.search(line)
    ]
    assert found == []


def test_the_lock_pins_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = {
        re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
        for requirement in (*project["dependencies"], *(line for extra in extras for line in extra))
    }
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([\w.-]+)==\S+", lock, flags=re.MULTILINE))
    assert sorted(declared - pinned) == [project["name"]]  # an extra names another one
