"""Which statements of a scenario its expectations notice: each is removed in turn.

A statement whose absence changes no expectation is scenery: it sets the scene for whoever watches.
It is marked so by a comment at the end of its line, ``# scenery``. ``python -m
tests.scenario_mutations`` prints the statements that need the mark, and those that no longer do.
Scenarios for which the marks are right are listed by the hash of their text in
``scenarios/noticed.json``: tests check again those that have changed, and ``make thorough`` all.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from commands.exits import CommandError
from commands.language.parser import Script, ShowStatement, Step, parse_script
from commands.runs.driver import Pace
from commands.runs.script_runner import ScriptRunner
from emulator.inputs.statements import Expect, ExpectError, ExpectEvents, Mark, Statement, ZkCommand
from emulator.scenario.outcome import Outcome as Ended

FOLDER = Path(__file__).parent / "scenarios"
SCENERY = "# scenery"
CHECKED: Final = FOLDER / "noticed.json"
"""Scenarios whose marks are right, by name: the hash of the text for which they are."""
EVENTS_MAX: Final = 300_000
"""A run that has lost its bearings counts as noticed, after as many kernel events."""
LOOKS = ("ls", "get", "stat", "watches")


class _Noticed(Exception):
    """A run need not go on."""


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
    """Whether an expectation fails, or the run has no end: it is not run further than that."""
    try:
        runner = ScriptRunner(script, Pace())

        def look() -> None:
            if runner.cluster.steps > EVENTS_MAX:
                raise _Noticed

        def finished(_step: Step, _outcome: Ended) -> None:
            if runner.tally.failed:
                raise _Noticed

        runner.watchers.append(look)
        runner.run(finished)
    except (CommandError, _Noticed):
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


def checked() -> dict[str, str]:
    """The scenarios whose marks are right, and the hash of the text for which they are."""
    known: dict[str, str] = msgspec.json.decode(CHECKED.read_bytes()) if CHECKED.exists() else {}
    return known


def hash_of(path: Path) -> str:
    """What identifies a scenario's text."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def main() -> None:
    """Print the marks that are missing or wrong, and note which scenarios need no other."""
    known = checked()
    for scenario in sorted(FOLDER.glob("*.tide")):
        if sys.argv[1:] and scenario.stem not in sys.argv[1:]:
            continue
        unnoticed = {
            each.line for each in outcomes(scenario, version_of(scenario)) if not each.noticed
        }
        wrong = sorted(unnoticed ^ marked(scenario))
        for number in wrong:
            what = "is scenery" if number in unnoticed else "is noticed"
            sys.stdout.write(f"{scenario.name}:{number}: {what}\n")
        sys.stdout.flush()
        if wrong:
            known.pop(scenario.stem, None)
        else:
            known[scenario.stem] = hash_of(scenario)
    there = {path.stem for path in FOLDER.glob("*.tide")}
    lines = msgspec.json.encode({name: known[name] for name in sorted(known) if name in there})
    CHECKED.write_bytes(msgspec.json.format(lines) + b"\n")


if __name__ == "__main__":
    main()
