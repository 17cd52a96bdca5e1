"""Which release breaks which invariant, and why: each with short scripts that show it.

What stands here is all that is known; anything else that random scripts break is a fault of the
emulator (see :mod:`tests.emulator.test_anything_goes`).
"""

from pathlib import Path

import pytest
from msgspec import Struct

from commands.language.parser import parse_script
from emulator.audit.invariants import INVARIANTS, known_violations
from emulator.cluster import Cluster
from emulator.inputs.statements import Statement
from emulator.releases.profiles import PROFILES, VERSIONS
from emulator.scenario.runner import Runner
from tests.support.generations import since

SCENARIOS = Path(__file__).parents[2] / "scenarios"


class Known(Struct, frozen=True):
    """An invariant that releases from ``first`` up to ``last`` break.

    ``shown`` are scenarios, each with the first and the last release that it is run on.
    """

    invariant: str
    last: str
    why: str
    shown: tuple[tuple[str, str, str], ...]
    first: str = "documents"


KNOWN = (
    Known(
        "HighWatermarkInLog",
        "2.2",
        "the HW is kept apart from the log, so truncating the log below it leaves it standing until"
        " the next fetch response (KAFKA-8457 moved it into the log in 2.4)",
        (
            ("B6-loss-by-high-watermark", "0.8.1", "0.10.2"),
            ("E1b-unclean-loses", "0.11", "2.2"),
        ),
        first="0.8.1",
    ),
    Known(
        "CommittedInIsr",
        "2.0.1",
        "a follower truncates to a HW that lags (before KIP-101), or because its leader does not"
        " know the epoch yet, or in an epoch that is over, which nobody notices before KIP-320",
        (
            ("V12-fallback-to-high-watermark", "documents", "2.0.1"),
            ("V14-stale-epoch-fetch", "documents", "2.0.1"),
            ("KAFKA-7128-joins-early", "documents", "2.0.0"),
        ),
    ),
    Known(
        "TrueLeader",
        "2.0.1",
        "who has cut what was committed while in the ISR may be elected from it",
        (
            ("V12-fallback-to-high-watermark", "documents", "2.0.1"),
            ("KAFKA-7128-joins-early", "documents", "2.0.0"),
            ("A8-loss-3-literal", "documents", "documents"),
        ),
    ),
    Known(
        "IsrInAssigned",
        VERSIONS[-1],
        "a move that is taken back drops the replicas that it added at once, even the last members"
        " of the ISR",
        (("KIP-455-taken-back-to-the-dead", "2.4", VERSIONS[-1]),),
        first="2.4",
    ),
    Known(
        "LastReplica",
        VERSIONS[-1],
        "records are not flushed before they are acknowledged: the last ISR member is elected again"
        " after it lost its tail with its power (KIP-966, only without ZooKeeper)",
        (("V24-last-replica-loses", "documents", VERSIONS[-1]),),
    ),
)


def violated(scenario: str, version: str) -> dict[str, int]:
    """The invariants that a scenario breaks on a release; all of them are known to."""
    path = SCENARIOS / f"{scenario}.tide"
    script = parse_script(path.read_text(), str(path), cluster_options=("--version", version))
    cluster = Cluster(script.spec)
    runner = Runner(cluster)
    for step in script.steps:
        if isinstance(step, Statement):
            runner.execute(step)
    assert cluster.state.invariants.unexpected == 0
    return cluster.state.invariants.violated


@pytest.mark.parametrize("version", VERSIONS)
def test_a_release_is_known_to_break_what_stands_here_and_nothing_else(version: str) -> None:
    expected = {each.invariant for each in KNOWN if version in since(each.first, each.last)}
    assert set(known_violations(PROFILES[version])) == expected


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.invariant)
def test_every_release_that_breaks_it_has_a_script_that_shows_it(known: Known) -> None:
    assert known.invariant in INVARIANTS
    shown = {v for _, first, last in known.shown for v in since(first, last)}
    assert shown == set(since(known.first, known.last))


@pytest.mark.parametrize(
    ("invariant", "scenario", "version"),
    [
        pytest.param(
            known.invariant, scenario, version, id=f"{known.invariant}-{scenario}-{version}"
        )
        for known in KNOWN
        for scenario, first, last in known.shown
        for version in since(first, last)
    ],
)
def test_a_short_script_shows_it(invariant: str, scenario: str, version: str) -> None:
    assert invariant in violated(scenario, version)


@pytest.mark.parametrize("version", since("2.1"))
def test_from_2_1_the_same_histories_break_nothing_but_the_last_replica(version: str) -> None:
    for scenario in ("V14-fenced", "V12-unknown-leader-epoch", "KAFKA-7128-joins-past-epoch-start"):
        assert violated(scenario, version) == {}
