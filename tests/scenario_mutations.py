"""Which statements of a scenario its expectations notice: each is removed in turn.

A statement whose absence changes no expectation is scenery: it sets the scene for whoever watches.
It is marked so by a comment at the end of its line, ``# scenery``. ``python -m
tests.scenario_mutations`` prints the statements that need the mark, and those that no longer do.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from commands.exits import CommandError
from commands.language.parser import Script, ShowStatement, Step, parse_script
from commands.runs.driver import Pace, TimeLimitError
from commands.runs.script_runner import ScriptRunner
from emulator.inputs.statements import Expect, ExpectError, ExpectEvents, Mark, Statement, ZkCommand

FOLDER = Path(__file__).parent / "scenarios"
SCENERY = "# scenery"
LIMIT_US = 3_000_000
"""Of wall time: a run that has lost its bearings counts as noticed."""
LOOKS = ("ls", "get", "stat", "watches")


class Outcome(NamedTuple):
    """A statement's line, and whether its absence is noticed."""

    line: int
    noticed: bool


def is_act(step: Step) -> bool:
    """Whether a statement does something: it neither asserts, nor prints, nor sets a bookmark."""
    if isinstance(step, ShowStatement) or not isinstance(step, Statement):
        return False
    if isinstance(step.input, ZkCommand) and step.input.command in LOOKS:
        return False
    return not isinstance(step.input, Expect | ExpectError | ExpectEvents | Mark)


def outcomes(path: Path, version: str) -> Iterator[Outcome]:
    """Each statement that does something, removed in turn."""
    script = parse_script(path.read_text(), str(path), cluster_options=("--version", version))
    for place, step in enumerate(script.steps):
        if is_act(step):
            rest = (*script.steps[:place], *script.steps[place + 1 :])
            yield Outcome(step.line, _fails(msgspec.structs.replace(script, steps=rest)))


def _fails(script: Script) -> bool:
    try:
        runner = ScriptRunner(script, Pace(limit_us=LIMIT_US))
        runner.run(lambda step, outcome: None)
    except (CommandError, TimeLimitError):
        return True
    return bool(runner.tally.failed)


def marked(path: Path) -> set[int]:
    """The lines that are marked as scenery."""
    lines = path.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith(SCENERY)}


def version_of(path: Path) -> str:
    """The newest release that a scenario names."""
    for line in path.read_text().splitlines():
        if line.startswith("# versions:"):
            return line.split()[-1]
    return "3.9"


if __name__ == "__main__":
    for scenario in sorted(FOLDER.glob("*.tide")):
        if sys.argv[1:] and scenario.stem not in sys.argv[1:]:
            continue
        unnoticed = {
            each.line for each in outcomes(scenario, version_of(scenario)) if not each.noticed
        }
        for number in sorted(unnoticed ^ marked(scenario)):
            what = "is scenery" if number in unnoticed else "is noticed"
            sys.stdout.write(f"{scenario.name}:{number}: {what}\n")
        sys.stdout.flush()
