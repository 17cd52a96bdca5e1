"""The same script and seed give the same events and the same state, whatever else differs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from emulator.cluster import Cluster
from emulator.events import Event, InputReceived
from emulator.inputs.statements import (
    CrashBroker,
    CreateCluster,
    DropOnLink,
    ElectPreferred,
    ExpireSession,
    ReleaseMessages,
    Statement,
    Wait,
)
from emulator.releases.profiles import VERSIONS
from emulator.scenario.runner import Runner
from tests.support.hashes import LENGTH
from tests.support.random_scripts import run, script_of, spec_of
from tests.support.releases import THOROUGH

ROOT = Path(__file__).parents[2]
SEEDS = 200 if THOROUGH else 72
FEW = range(8)


def hashes(hash_seed: str, recording: str) -> list[str]:
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.hashes", str(SEEDS), recording],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_two_processes_agree_on_all_scripts_recorded_or_not() -> None:
    """Other hash seeds, too: nothing depends on the order of a set."""
    recorded = hashes("1", "recorded")
    assert len(recorded) == SEEDS
    assert recorded == hashes("2", "alone")
    assert len({line.split()[-1] for line in recorded}) == SEEDS


def test_those_scripts_hold_crashes_losses_and_elections_on_every_release() -> None:
    kinds = {type(each) for seed in range(SEEDS) for each in script_of(seed, LENGTH)}
    assert {CrashBroker, DropOnLink, ElectPreferred, ReleaseMessages, ExpireSession} <= kinds
    assert {spec_of(seed).version for seed in range(SEEDS)} == set(VERSIONS)


@pytest.mark.parametrize("seed", FEW)
def test_events_are_the_same_one_by_one(seed: int) -> None:
    runs: list[list[Event]] = [[], []]
    for seen in runs:
        run(Runner(Cluster(spec_of(seed), [seen.append])), script_of(seed, 20))
    assert runs[0] == runs[1]


def test_another_seed_gives_another_run() -> None:
    hashes_of = {Cluster(CreateCluster(version="3.9", seed=seed)).state_hash for seed in range(5)}
    assert len(hashes_of) == 5


@pytest.mark.parametrize("seed", FEW)
def test_a_run_is_repeated_from_what_was_recorded_of_its_inputs(seed: int) -> None:
    """Statements at odd moments, given again after the same number of kernel events."""
    seen: list[Event] = []
    first = Runner(Cluster(spec_of(seed), [seen.append]))
    given: list[Statement] = []
    for number, wanted in enumerate(script_of(seed, 25)):
        first.run_until(first.now_us + 7_777 * number)
        given.append(Statement(wanted, type(wanted).__name__))
        first.submit(given[-1])
    first.run_until(first.now_us + 5_000_000)

    again = Runner(Cluster(spec_of(seed)))
    inputs = [each for each in seen if isinstance(each, InputReceived)][1:]
    for received, statement in zip(inputs, given, strict=True):
        again.return_to(received.time_us, received.steps)
        again.submit(statement)
    again.run_until(first.now_us)
    assert again.state_hash == first.state_hash


@pytest.mark.parametrize("slice_us", [1, 333, 100_000])
def test_time_may_be_cut_in_slices_of_any_size(slice_us: int) -> None:
    whole = Runner(Cluster(CreateCluster(version="3.9", seed=5)))
    sliced = Runner(Cluster(CreateCluster(version="3.9", seed=5)))
    until_us = whole.now_us + (20_000 if slice_us == 1 else 2_000_000)
    whole.run_until(until_us)
    while sliced.now_us < until_us:
        sliced.run_until(min(until_us, sliced.now_us + slice_us))
    assert sliced.state_hash == whole.state_hash


def test_looking_at_the_state_does_not_change_it() -> None:
    cluster = Cluster(CreateCluster(version="3.9"))
    before = cluster.state_hash
    assert cluster.state_hash == before
    cluster.fork()
    assert cluster.state_hash == before


def test_a_wait_of_nothing_changes_no_more_than_the_count_of_events() -> None:
    cluster = Cluster(CreateCluster(version="3.9"))
    now_us, steps = cluster.now_us, cluster.steps
    Runner(cluster).execute(Statement(Wait(duration_us=0), "wait 0s"))
    assert (cluster.now_us, cluster.steps) == (now_us, steps)
