"""Every scenario runs on each release that it names, and all that it expects holds.

A scenario's second line lists its releases; its name begins with the row of the seed documents that it shows.
"""

from pathlib import Path

import pytest

from commands.parser import parse_script
from emulator.cluster import Cluster
from emulator.execution import Outcome
from emulator.inputs import ExpectError
from emulator.profiles import VERSIONS

FOLDER = Path(__file__).parent / "scenarios"
ROWS = ("A1", "A2", "A3", "A4", "B1", "B2", "B3", "B4", "D2", "D3", "E2", "E3", "E4")


def _versions(path: Path) -> list[str]:
    for line in path.read_text().splitlines():
        if line.startswith("# versions:"):
            return line.removeprefix("# versions:").split()
    return list(VERSIONS)


CASES = [
    pytest.param(path, version, id=f"{path.stem}-{version}")
    for path in sorted(FOLDER.glob("*.tide"))
    for version in _versions(path)
]


def _is_failure(outcome: Outcome, *, expected_next: bool) -> bool:
    return outcome.passed is False or (outcome.refused and not expected_next)


@pytest.mark.parametrize(("path", "version"), CASES)
def test_everything_a_scenario_expects_holds(path: Path, version: str) -> None:
    script = parse_script(path.read_text(), str(path), cluster_options=("--version", version))
    cluster = Cluster(script.spec)
    steps = [step for step in script.steps if hasattr(step, "input")]
    failures = []
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        outcome = cluster.execute(step)
        expected = following is not None and isinstance(following.input, ExpectError)
        if _is_failure(outcome, expected_next=expected) and not (expected and outcome.refused):
            failures.append(f"{path.name}:{step.line}: {step.text}: {outcome.message}")
    assert failures == []
    assert cluster.state.invariants.unexpected == 0


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_scenario(row: str) -> None:
    assert list(FOLDER.glob(f"{row}-*.tide"))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.tide")), ids=lambda path: path.stem)
def test_a_scenario_checks_something(path: Path) -> None:
    assert "expect " in path.read_text()
