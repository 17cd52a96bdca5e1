"""Recordings of real Kafka, and what the emulator makes of the same scripts."""

import json
from functools import cache
from pathlib import Path

from commands.language.parser import parse_script
from commands.runs.driver import Pace
from commands.runs.json_result import json_object
from commands.runs.run import started
from sessions.text import json_line
from tests.golden.facts import Facts, facts
from tests.support.releases import profile_of

HERE = Path(__file__).parent
RECORDINGS = HERE / "recordings"


@cache
def recordings(script: str) -> dict[str, Facts]:
    """What each release did with a script of ``scripts/``."""
    groups = json.loads((RECORDINGS / f"{script}.json").read_text("utf-8"))
    return {release: group["facts"] for group in groups for release in group["releases"]}


def emulated(script: Path, release: str) -> Facts:
    """What the emulator does, through the command language and the read model."""
    options = ("--version", profile_of(release).version)
    parsed = parse_script(script.read_text("utf-8"), str(script), {}, options)
    runner = started(parsed, Pace(), None)
    runner.run(lambda step, outcome: None)
    return facts(json.loads(json_line(json_object(runner))))
