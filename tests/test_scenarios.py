"""Every scenario runs on each release that it names, and all that it expects holds.

A scenario's second line lists its releases; its name begins with the row of the seed documents, or
with the worked example, that it shows. Those that come with the program are links to its library.
"""

import re
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from commands.language.parser import Script, parse_script
from commands.runs.driver import Pace
from commands.runs.script_runner import ScriptRunner
from emulator.releases.profiles import VERSIONS
from tests.scenario_mutations import checked, hash_of, marked, outcomes, version_of
from tests.support.releases import THOROUGH

FOLDER = Path(__file__).parent / "scenarios"
ROWS = (
    *("A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "A11"),
    *("B1", "B2", "B3", "B4", "B5", "B6", "B7", "C0", "C1", "C2", "C3", "C4", "C5", "C6"),
    *("D1", "D2", "D3", "D4", "D5", "E0", "E1", "E1b", "E2", "E3", "E4"),
    *("E5", "E6", "E7", "E8", "E9", "E10", "E11"),
)
VECTORS = (
    *("V1", "V2", "V4", "V5", "V6", "V7", "V8", "V9", "V10", "V12", "V14", "V16", "V23", "V24"),
    *(
        "V17",
        "V21",
        "V30",
        "V31",
        "V25",
        "V26",
        "V27",
        "V28",
        "V32",
        "V37",
        "V38",
        "V39",
        "KAFKA-7128",
        "KIP-455",
    ),
)
"""Worked examples of the protocol, each named in the first line of a scenario."""
TWINS = (
    ("A10-high-watermark-decides", "A10-leader-epochs-decide"),
    ("B6-loss-by-high-watermark", "B7-kept-entry-with-first-write"),
    ("B6-loss-by-high-watermark", "B7-kept-entry-at-election"),
    ("A8-loss-3-real", "A8-loss-3-prevented"),
    ("A8-loss-3-literal", "A8-loss-3-literal-kept"),
    ("B6-loss-documents", "B7-kept-documents"),
    ("V10-power-loss-high-watermark", "V10-power-loss-epochs"),
    ("B5-leader-epochs-first-write", "B5-leader-epochs-election"),
    ("V30-epochs-over-bounces-first-write", "V30-epochs-over-bounces-election"),
)
"""Scenarios that do the very same on either side of a release that changed what comes of it."""


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


@cache
def _parsed(path: Path) -> Script:
    """A scenario, parsed once for all its releases: that took a third of the time of its runs."""
    options = ("--version", _versions(path)[0])
    return parse_script(path.read_text(), str(path), cluster_options=options)


@pytest.mark.parametrize(("path", "version"), CASES)
def test_everything_a_scenario_expects_holds(path: Path, version: str) -> None:
    script = _parsed(path)
    options = ("--version", version)
    cluster = parse_script(script.cluster.text, str(path), cluster_options=options).cluster
    script = replace(script, cluster=cluster)
    runner = ScriptRunner(script, Pace())
    runner.run(lambda step, outcome: None)
    assert runner.tally.failed == []
    assert runner.violations == 0


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("A8-loss-2-acks-1", {"ACKS": "0"}),
        ("A8-loss-3-literal", {"ACKS": "0"}),
        ("A8-loss-3-literal", {"ACKS": "1"}),
        ("B6-loss-documents", {"ACKS": "all", "MIN_ISR": "2"}),
        ("B6-loss-documents", {"ACKS": "-1", "MIN_ISR": "2"}),
    ],
)
def test_the_documents_losses_are_the_same_with_other_acks(
    name: str, values: dict[str, str]
) -> None:
    path = FOLDER / f"{name}.tide"
    script = parse_script(path.read_text(), str(path), values, ("--version", "documents"))
    runner = ScriptRunner(script, Pace())
    runner.run(lambda step, outcome: None)
    assert runner.tally.failed == []


@pytest.mark.parametrize("row", ROWS)
def test_each_row_has_a_scenario(row: str) -> None:
    assert list(FOLDER.glob(f"{row}-*.tide"))


@pytest.mark.parametrize("vector", VECTORS)
def test_each_worked_example_has_a_scenario(vector: str) -> None:
    heads = [path.read_text().partition("\n")[0] for path in FOLDER.glob("*.tide")]
    assert any(re.search(rf"\b{vector}\b", head) for head in heads)


@pytest.mark.parametrize("twins", TWINS, ids=" ".join)
def test_on_both_sides_of_a_change_the_same_is_done(twins: tuple[str, str]) -> None:
    before, after = (_statements(FOLDER / f"{name}.tide") for name in twins)
    assert before == after


def _statements(path: Path) -> list[str]:
    """What a scenario does, without what it expects."""
    lines = (line.partition("  # ")[0] for line in path.read_text().splitlines())
    return [line for line in lines if not line.startswith(("#", "expect ", "mark "))]


COUNTED = ("E6-values-of-the-documents",)
"""Scenarios that expect numbers of transactions, in which every statement before has part."""


SAMPLE = frozenset(path.stem for path in sorted(FOLDER.glob("*.tide"))[::16])
"""Scenarios that are checked however they have been before: a rule may have changed."""


@pytest.mark.parametrize(
    "path",
    sorted(path for path in FOLDER.glob("*.tide") if path.stem not in COUNTED),
    ids=lambda path: path.stem,
)
def test_each_statement_is_noticed_or_marked_as_scenery(path: Path) -> None:
    """Without a statement some expectation fails: else it is there for those who watch.

    A text that was checked before is checked again by ``make thorough``.
    """
    was_checked = checked().get(path.stem) == hash_of(path)
    if THOROUGH or not was_checked or path.stem in SAMPLE:
        found = outcomes(path, version_of(path))
        assert {each.line for each in found if not each.noticed} == marked(path)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.tide")), ids=lambda path: path.stem)
def test_a_scenario_checks_something(path: Path) -> None:
    assert "expect " in path.read_text()
