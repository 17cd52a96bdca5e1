"""What a shell is offered: asked as bash asks, in a process of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
START = [sys.executable, "-c", "from commands.cli.main import main; main()"]


def offered(line: str) -> list[str]:
    """The candidates at the end of a line that is being typed in bash."""
    words = line.split(" ")
    asked = {
        "_TIDEGAUGE_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        START, cwd=ROOT, env=os.environ | asked, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "candidates"),
    [
        ("tidegauge sce", ["scenarios"]),
        ("tidegauge scenarios r", ["run"]),
        ("tidegauge run --ver", ["--version"]),
        ("tidegauge run --version 0.10.2", ["0.10.2", "0.10.2.0", "0.10.2.1", "0.10.2.2"]),
        ("tidegauge console --theme high", ["high-contrast"]),
        ("tidegauge scenarios run E8", ["E8-broker-failover"]),
        ("tidegauge matrix --versions 0.9,2.0.", ["0.9,2.0.0", "0.9,2.0.1"]),
        ("tidegauge statements network h", ["heal", "hold"]),
        ("tidegauge run scenario", []),
    ],
)
def test_what_may_stand_at_the_cursor_is_offered(line: str, candidates: list[str]) -> None:
    assert offered(line) == candidates


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_that_it_can_read(shell: str, tmp_path: Path) -> None:
    asked = [*START, "--show-completion"]
    environment = os.environ | {
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    done = subprocess.run(
        [*asked, shell], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert "_TIDEGAUGE_COMPLETE" in done.stdout
    if shutil.which(shell) is None:
        return
    script = tmp_path / "completion"
    script.write_text(done.stdout)
    subprocess.run([shell, "-n", str(script)], check=True)
