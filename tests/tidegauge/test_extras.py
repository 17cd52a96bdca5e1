"""Without any extra, everything works that needs no other program or real client."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INCIDENTS = ROOT / "tests" / "sessions" / "postmortem" / "recordings" / "incidents"
WITHOUT = """
import sys

sys.modules |= dict.fromkeys(sys.argv.pop(1).split())
from tidegauge import main
main()
"""


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def _modules_of_extras() -> set[str]:
    """The modules that a plain ``pip install tidegauge`` does not bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought: set[str] = set()
    waiting = [_name(requirement) for requirement in project["dependencies"]]
    while waiting:
        distribution = waiting.pop()
        if distribution in brought:
            continue
        brought.add(distribution)
        try:
            lines = requires(distribution) or []
        except PackageNotFoundError:
            continue
        waiting += [_name(line) for line in lines if "extra ==" not in line]
    return {
        module
        for module, distributions in packages_distributions().items()
        if not brought & {_name(distribution) for distribution in distributions}
    } - {"tidegauge", "commands", "console", "emulator", "sessions"}


def without_extras(*words: str) -> subprocess.CompletedProcess[str]:
    missing = " ".join(sorted(_modules_of_extras()))
    assert "cramjam" in missing.split()
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, missing, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["postmortem", str(INCIDENTS / "zombie-leader")],
            "11 records of orders-0 removed; every record is explained.",
        ),
        (
            ["import", str(INCIDENTS / "last-in-sync" / "node100" / "__cluster_metadata-0")],
            "(KRaft metadata log): ",
        ),
        (["run", "-c", "cluster; settle"], "expectations: 0 held, 0 failed"),
    ],
)
def test_a_plain_installation_suffices(words: list[str], said: str) -> None:
    done = without_extras(*words)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "needs", "extra"),
    [
        (["mcp"], "'tidegauge mcp' needs mcp", "mcp"),
        (["web"], "'tidegauge web' needs textual-serve", "web"),
        (["serve"], "'tidegauge serve' needs cramjam", "serve"),
        (["import", "kafka://127.0.0.1:1"], "kafka://127.0.0.1:1 needs kafka-python", "attach"),
        (["analyze", "none", "--out", "report"], "analysis needs PySpark (", "spark"),
    ],
)
def test_a_missing_extra_is_named_in_one_way(words: list[str], needs: str, extra: str) -> None:
    done = without_extras(*words)
    assert done.returncode == 3
    assert done.stderr.startswith(needs)
    assert done.stderr.endswith(f"; install it with: pip install 'tidegauge[{extra}]'\n")
