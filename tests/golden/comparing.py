"""Recordings of real Kafka, and what the emulator makes of the same scripts."""

import json
from functools import cache
from pathlib import Path
from unittest.mock import patch

from commands.driver import Pace
from commands.parser import parse_script
from commands.report import as_json, json_object
from commands.running import started
from emulator.replication.assignment import assign_seed
from emulator.scenario.admin import Admin
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
    with patch.object(Admin, "assign_added", _assign_as_recorded):
        runner.run(lambda step, outcome: None)
    return facts(json.loads(as_json(json_object(runner))))


def _assign_as_recorded(
    admin: Admin, first: list[int], partitions: int, have: int
) -> list[list[int]]:
    """Where the recorder put added partitions: it wrote the topic's znode by hand, without tools.

    See :func:`tests.golden.real.administration.add_partitions`.
    """
    return assign_seed(admin.live(), partitions, len(first), have)
