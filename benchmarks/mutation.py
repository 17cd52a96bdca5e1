"""Mutation testing of the rules: do the tests notice when a rule is changed?

``python -m benchmarks.mutation [MODULE ..] [--sample N] [--copy FOLDER [--again]]``. Each module
that ``mutation.toml`` names is changed by cosmic-ray in one place at a time, and its tests run; a
change that they all let pass is printed. ``--sample`` tries N changes of each module only, always
the same ones. Everything happens in a copy of the checkout, which is kept where
``--copy`` says: begun again there, a run goes on where it stopped, with ``--again`` it tries what
passed against the tests as they are now. Cosmic-ray's own reports open ``FOLDER/mutations``.

Each change is tested in a fork of one process that has pytest loaded, so that a module of a hundred
lines takes minutes. Random examples are drawn alike each time, and are not made smaller.
"""

import argparse
import ast
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from random import Random

import pytest
from cosmic_ray import plugins
from cosmic_ray.commands.init import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult
from hypothesis import Phase, settings

HERE = Path(__file__).parent
FOLDERS = (
    *("commands", "console", "docs", "emulator", "sessions", "tests", "tidegauge"),
    "pyproject.toml",
)
PLAIN = (
    *("-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # what is loaded before the fork
)
MEMORY_MAX = 4 << 30
"""Memory limit, in bytes, for a mutant that never stops."""
SEED = 1
"""Random seed of the sample, if not all mutants are tried."""
SECONDS_MIN = 20.0
"""Minimum time limit of tests, after which a mutant counts as detected."""


class Examples:
    """A plugin: hypothesis draws the same examples each time."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Take effect before test modules are imported."""
        phases = (Phase.explicit, Phase.generate)
        same = settings(deadline=None, derandomize=True, database=None, phases=phases)
        settings.register_profile("mutation", same)
        settings.load_profile("mutation")


def copy_checkout(folder: Path, *, again: bool) -> None:
    """Copy what the tests need, unless it has been copied before; ``again``: the tests."""
    root = HERE.parent
    begun = (folder / "pyproject.toml").exists()
    wanted = FOLDERS if not begun else ("tests",) if again else ()
    if not wanted:
        return
    listed = subprocess.run(
        ["git", "ls-files", *wanted], cwd=root, check=True, capture_output=True, text=True
    )
    for name in listed.stdout.splitlines():
        if (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, folder / name)


def is_noticed(tests: Sequence[str], seconds: float, *, quiet: bool = True) -> bool:
    """Return whether these tests, run in a fork, fail, hang, or exhaust memory."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
            signal.alarm(int(seconds) + 1)
            if quiet:
                sys.dont_write_bytecode = True
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
            status = int(pytest.main([*PLAIN, *tests], plugins=[Examples()]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitpid(child, 0)[1] != 0


def annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the positions of type annotations: changing them has no effect at run time."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            found.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
    return [
        ((each.lineno, each.col_offset), (each.end_lineno or 0, each.end_col_offset or 0))
        for each in found
        if each is not None
    ]


@contextmanager
def session_of(module: str, sessions: Path, keep: str) -> Iterator[WorkDB]:
    """Cosmic-ray's list of changes to a module, with those left out marked as such."""
    sessions.mkdir(exist_ok=True)
    path = sessions / f"{module.replace('/', '.')}.sqlite"
    with use_db(str(path), WorkDB.Mode.create) as found:
        if not found.num_work_items:
            init([Path(module)], found, {})
            types = annotations(Path(module).read_text("utf-8"))
            for item in found.work_items:
                [change] = item.mutations
                in_type = any(start <= change.start_pos <= end for start, end in types)
                if in_type or not re.fullmatch(keep, change.operator_name):
                    found.set_result(item.job_id, WorkResult(WorkerOutcome.SKIPPED))
        yield found


def try_one(change: MutationSpec, tests: Sequence[str], seconds: float) -> WorkResult:
    """Apply one mutation, run the tests file by file until one fails, and revert it."""
    operator = plugins.get_operator(change.operator_name)(**change.operator_args)
    with use_mutation(change.module_path, operator, change.occurrence) as (before, after):
        noticed = any(is_noticed([test], seconds) for test in tests)
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    outcome = TestOutcome.KILLED if noticed else TestOutcome.SURVIVED
    return WorkResult(WorkerOutcome.NORMAL, "", outcome, "\n".join(list(lines)[2:]))


def to_try(found: WorkDB, sample: int | None, *, again: bool) -> list[WorkItem]:
    """What has not been tried, and ``again`` what passed; no more than ``sample`` in all."""
    results = dict(found.results)
    skipped = WorkerOutcome.SKIPPED
    passed = [each for each, result in results.items() if has_passed(result)]
    wanted = {item.job_id for item in found.pending_work_items} | set(passed if again else ())
    items = [
        item
        for item in found.work_items
        if item.job_id not in results or results[item.job_id].worker_outcome is not skipped
    ]
    if sample is not None and sample < len(items):
        drawn = frozenset(Random(SEED).sample(range(len(items)), sample))
        items = [item for place, item in enumerate(items) if place in drawn]
    return [item for item in items if item.job_id in wanted]


def has_passed(result: WorkResult) -> bool:
    """Return whether the tests pass despite a mutation."""
    return result.test_outcome is TestOutcome.SURVIVED


def line_of(diff: str) -> int:
    """Where a change was made."""
    return int(re.findall(r"\d+", diff)[0])


def mutate(
    module: str,
    tests: Sequence[str],
    keep: str,
    sessions: Path,
    *,
    sample: int | None,
    again: bool,
) -> tuple[int, int]:
    """Try the mutations of a module. Return the number detected, and the total."""
    began = time.monotonic()
    if is_noticed(tests, 600, quiet=False):
        sys.exit(f"{module}: its tests fail without any change")
    seconds = max(SECONDS_MIN, 10 * (time.monotonic() - began))
    for compiled in Path(module).parent.glob(f"__pycache__/{Path(module).stem}.*.pyc"):
        compiled.unlink()  # a change may leave size and time of the source as they were
    with session_of(module, sessions, keep) as found:
        for item in to_try(found, sample, again=again):
            found.set_result(item.job_id, try_one(item.mutations[0], tests, seconds))
        outcomes = [
            result for _, result in found.results if result.worker_outcome is WorkerOutcome.NORMAL
        ]
    passed = [each for each in outcomes if has_passed(each)]
    print(f"{module}: {len(outcomes) - len(passed)} of {len(outcomes)} changes noticed")
    for diff in sorted((str(each.diff) for each in passed), key=line_of):
        print("    " + diff.replace("\n", "\n    "))
    sys.stdout.flush()
    return len(outcomes) - len(passed), len(outcomes)


def main() -> None:
    """Change one module after the other, and print the score."""
    configured = tomllib.loads((HERE / "mutation.toml").read_text("utf-8"))
    modules: dict[str, list[str]] = configured["modules"]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="some of mutation.toml's only")
    parser.add_argument("--copy", type=Path, help="where the copy is made, and kept")
    parser.add_argument("--sample", type=int, metavar="N", help="try N changes of each module")
    parser.add_argument("--again", action="store_true", help="try what passed once more")
    wanted = parser.parse_args()
    unknown = [name for name in wanted.modules if name not in modules]
    if unknown:
        parser.error(f"no such module in mutation.toml: {', '.join(unknown)}")
    folder = wanted.copy or Path(tempfile.mkdtemp(prefix="tidegauge-mutation-"))
    copy_checkout(folder, again=wanted.again)
    os.chdir(folder)
    sys.path[0] = str(Path.cwd())
    keep = "|".join(configured["operators"]["keep"])
    noticed = total = 0
    for module in wanted.modules or modules:
        for_one = mutate(
            module,
            modules[module],
            keep,
            Path("mutations"),
            sample=wanted.sample,
            again=wanted.again,
        )
        noticed, total = noticed + for_one[0], total + for_one[1]
    print(f"all: {noticed} of {total} changes noticed ({100 * noticed / max(total, 1):.1f} %)")
    print(f"the copy, with cosmic-ray's sessions: {folder}")


if __name__ == "__main__":
    main()
