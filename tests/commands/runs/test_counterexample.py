"""What the explorer finds happens on the emulator as well, and so does everything else it does."""

import random
from typing import Any

import pytest

from commands.language.parser import parse_script
from commands.runs.counterexample import script_of
from emulator.cluster import Cluster
from emulator.explorer.bounds import (
    ACKNOWLEDGED_KEPT,
    COMMITTED_AGREEMENT,
    ISR_HAS_COMMITTED,
    Bounds,
)
from emulator.explorer.partition_model import partition_model
from emulator.explorer.search import Violation
from emulator.explorer.successors import successors
from emulator.inputs.statements import Statement
from emulator.releases.profiles import KRAFT_VERSIONS
from emulator.scenario.runner import Runner
from tests.support.generations import since
from tests.support.releases import THOROUGH
from tests.support.searches import TOGETHER, searched

pytestmark = TOGETHER

STEPS = 30
WALKS = 15 if THOROUGH else 5
"""So many random paths for each release, with seeds of its own."""


def failures(script: str) -> list[tuple[str, object]]:
    """The statements of a script that failed, and what was so instead."""
    parsed = parse_script(script, "counterexample")
    runner = Runner(Cluster(parsed.spec))
    found: list[tuple[str, object]] = []
    for step in parsed.steps:
        assert isinstance(step, Statement)
        outcome = runner.execute(step)
        if outcome.error != "NONE" or outcome.passed is False:
            found.append((step.text, outcome.actual or outcome.message))
    return found


FOUND: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    *(
        ({"version": version, "elections": 2, "crashes": 1}, ())
        for version in ("seed", *since("0.8.1", "2.0.1"))
    ),
    *(
        ({"version": version, "records": 3, "elections": 2, "crashes": 0}, (COMMITTED_AGREEMENT,))
        for version in since("0.11", "2.0.0")
    ),
    *(
        (
            {"version": version, "elections": 0, "crashes": 1, "power_losses": 1},
            (ISR_HAS_COMMITTED,),
        )
        for version in since("0.8.1", "2.0.1")
    ),
    (
        {"version": "2.0.0", "replicas": 3, "records": 1, "elections": 1, "crashes": 2},
        (ACKNOWLEDGED_KEPT,),
    ),
    *(
        ({"version": version, "kraft": True, "elr": elr, **bounds}, (ACKNOWLEDGED_KEPT,))
        for version in ("4.0", "4.1")
        for elr in (False, True)
        for bounds in (
            {"acks": 1, "elections": 1},
            {"records": 1, "elections": 0, "crashes": 0, "power_losses": 2},
            {"acks": 1, "elections": 0, "crashes": 0, "fencings": 1},
            {"acks": 1, "elections": 0, "crashes": 0, "shutdowns": 1},
        )
    ),
    (
        {
            **{"version": "4.1", "kraft": True, "elr": True, "replicas": 3, "records": 1},
            **{"elections": 0, "isr_changes": 1, "min_insync_replicas": 2},
        },
        (ACKNOWLEDGED_KEPT,),
    ),
    *(
        ({"version": version, **bounds}, (ACKNOWLEDGED_KEPT,))
        for version in ("2.8", "3.9")
        for bounds in (
            {"acks": 1, "elections": 1},
            {"elections": 0, "crashes": 2, "power_losses": 1},
            {"elections": 0, "crashes": 1, "isr_changes": 1, "unclean": True},
        )
    ),
]


@pytest.mark.parametrize(("bounds", "properties"), FOUND, ids=str)
def test_every_counterexample_happens_on_the_emulator(
    bounds: dict[str, Any], properties: tuple[str, ...]
) -> None:
    asked = Bounds(**bounds)
    result = searched(asked, *properties)
    assert result.violations
    for violation in result.violations:
        assert failures(script_of(violation, asked)) == []


def wandered(bounds: Bounds, seed: int) -> Violation:
    """A path that is chosen at random, as if it ended in a violation."""
    chance = random.Random(seed)
    model = partition_model(bounds)
    path, states = [], [model.initial]
    for _ in range(STEPS):
        rules = model.faults if chance.random() < 0.1 else model.rules
        following = list(successors(rules, states[-1])) or list(successors(model.rules, states[-1]))
        if not following:
            break
        action, state = chance.choice(following)
        path.append(action)
        states.append(state)
    return Violation(COMMITTED_AGREEMENT, 0, path, states)


RELEASES = ["seed", *since("0.8.1")]


@pytest.mark.parametrize(
    ("version", "seed"),
    [
        (version, seed)
        for number, version in enumerate(RELEASES)
        for seed in range(number * WALKS, (number + 1) * WALKS)
    ],
)
def test_the_emulator_ends_where_a_random_path_of_the_explorer_does(
    version: str, seed: int
) -> None:
    """Logs, HWs and roles of all replicas, the leader and the ISR."""
    bounds = Bounds(
        version,
        replicas=2 + seed % 2,
        records=3,
        elections=2,
        crashes=seed % 3,
        isr_changes=seed % 2,
    )
    assert failures(script_of(wandered(bounds, seed), bounds)) == []


@pytest.mark.parametrize(
    ("version", "seed"),
    [
        (version, seed)
        for number, version in enumerate(KRAFT_VERSIONS)
        for seed in range(number * 3 * WALKS, (number + 1) * 3 * WALKS)
    ],
)
def test_so_does_a_cluster_without_zookeeper(version: str, seed: int) -> None:
    """With and without eligible leader replicas, which are compared too.

    Brokers are also shut down in an orderly way, and fenced while they run.
    """
    bounds = Bounds(
        version,
        replicas=2 + seed % 2,
        records=3,
        elections=2,
        crashes=seed % 3,
        isr_changes=seed // 4 % 2,
        min_insync_replicas=1 + seed // 2 % 2,
        kraft=True,
        elr=version != "3.9" and seed // 3 % 2 == 0,
        shutdowns=seed // 5 % 3,
        fencings=seed // 7 % 3,
    )
    assert failures(script_of(wandered(bounds, seed), bounds)) == []


def test_the_script_says_what_it_shows() -> None:
    bounds = Bounds("0.10.2", elections=2, crashes=1)
    (violation,) = searched(bounds, ACKNOWLEDGED_KEPT).violations
    script = script_of(violation, bounds).splitlines()
    assert script[0] == "# AcknowledgedKept is violated in 0.10.2: 11 steps"
    assert sum(line.startswith("# ") and line[2].isdigit() for line in script) == 11
    assert script[-1] == "expect audit.lost > 0"
