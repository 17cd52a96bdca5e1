"""Scripts that ran on real Kafka brokers of sixteen releases, run on the emulator of each.

``recordings/NAME.json`` holds what was seen (see :mod:`tests.golden.facts`), releases that agreed
together. A pair that is known to differ stands in ``KNOWN``, and must go on differing until it is
taken out there.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from commands.driver import Pace
from commands.parser import parse_script
from commands.report import as_json, json_object
from commands.running import started
from tests.emulator.releases import profile_of
from tests.golden.facts import Facts, differences, facts

HERE = Path(__file__).parent
SCRIPTS = sorted(path.stem for path in HERE.glob("scripts/*.tide"))

KNOWN: dict[tuple[str, str], str] = {}
"""Script and release to what the emulator does not do (yet) as that release did."""


@cache
def recordings(script: str) -> dict[str, Facts]:
    """What each release did."""
    groups = json.loads((HERE / "recordings" / f"{script}.json").read_text("utf-8"))
    return {release: group["facts"] for group in groups for release in group["releases"]}


def emulated(script: str, release: str) -> Facts:
    """What the emulator does, through the command language and the read model."""
    path = HERE / "scripts" / f"{script}.tide"
    options = ("--version", profile_of(release).version)
    runner = started(parse_script(path.read_text("utf-8"), str(path), {}, options), Pace(), None)
    runner.run(lambda step, outcome: None)
    return facts(json.loads(as_json(json_object(runner))))


PAIRS = [
    pytest.param(
        script,
        release,
        id=f"{script}-{release}",
        marks=[pytest.mark.xfail(reason=why, strict=True)]
        if (why := KNOWN.get((script, release)))
        else [],
    )
    for script in SCRIPTS
    for release in recordings(script)
]


@pytest.mark.parametrize(("script", "release"), PAIRS)
def test_the_emulator_does_what_the_release_did(script: str, release: str) -> None:
    assert differences(recordings(script)[release], emulated(script, release)) == []


def test_every_script_was_recorded_on_sixteen_releases() -> None:
    assert len(SCRIPTS) == 25
    assert {len(recordings(script)) for script in SCRIPTS} == {16}


def test_every_known_difference_is_of_a_recording() -> None:
    assert {script for script, _ in KNOWN} <= set(SCRIPTS)
    assert all(release in recordings(script) for script, release in KNOWN)
