"""Faults at random in clusters without ZooKeeper: once they end, everybody agrees again."""

import pytest

from emulator.cluster import Cluster
from emulator.inputs import statements as inputs
from emulator.inputs.statements import CreateCluster, Statement
from emulator.scenario.runner import Runner
from tests.support.kraft_faults import CONFIG, give, wait
from tests.support.kraft_soak import KRAFT_VERSIONS, KraftSoak, disagreements
from tests.support.releases import THOROUGH


def cluster(version: str, seed: int, controllers: int = 3) -> Runner:
    spec = CreateCluster(
        version=version, mode="kraft", controllers=controllers, seed=seed, config=CONFIG
    )
    return Runner(Cluster(spec))


@pytest.mark.parametrize("seed", range((2 if THOROUGH else 1) * len(KRAFT_VERSIONS)))
def test_after_each_round_the_truths_agree_and_the_cluster_is_whole(seed: int) -> None:
    """``python -m benchmarks.soak --mode kraft`` makes more and longer runs."""
    KraftSoak(seed).run(rounds=1, length=30)


@pytest.mark.parametrize(
    ("version", "seed", "rounds"),
    [("3.4", 13, 3), ("3.9", 90, 2)],
)
def test_a_topic_made_anew_is_replicated_everywhere(version: str, seed: int, rounds: int) -> None:
    """In these runs a follower fetches the new topic from a leader that knows only the old one."""
    KraftSoak(seed, version, quiet_us=90_000_000).run(rounds, length=40)


def test_a_difference_is_told() -> None:
    runner = cluster("4.1", seed=1)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    wait(runner, 5_000)
    found = runner.cluster
    assert found.kraft is not None
    assert disagreements(found) == []
    give(runner, inputs.CrashBroker(broker=1))
    wait(runner, 20_000)
    assert "broker 1 has other topics than are committed" in disagreements(found)
    assert "broker 1 is fenced" in disagreements(found)
    quorum = found.kraft.controllers[101].quorum
    quorum.log.truncate(quorum.log.end_offset - 4)
    assert [each for each in disagreements(found) if each.startswith("controller 101 has other")]


def test_a_refusal_waits_for_the_records_that_it_rests_on() -> None:
    runner = cluster("4.1", seed=1)
    wait(runner, 5_000)
    active = runner.cluster.active_controller()
    standby = [str(each) for each in runner.cluster.controllers if each != active]
    for each in standby:
        give(runner, inputs.ChangeController(action="freeze", which=each))
    wanted = inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]])
    first, second = (runner.submit(Statement(wanted, "topic create")) for _ in range(2))
    wait(runner, 700)
    assert not first.done
    assert not second.done
    for each in standby:
        give(runner, inputs.ChangeController(action="thaw", which=each))
    wait(runner, 5_000)
    assert first.outcome is not None
    assert second.outcome is not None
    assert (first.outcome.error, second.outcome.error) == ("NONE", "TOPIC_ALREADY_EXISTS")


def test_a_fork_goes_on_as_its_original() -> None:
    runner = cluster("4.1", 5)
    give(runner, inputs.CreateTopic(topic="t", assignment=[[0, 1, 2]]))
    give(runner, inputs.CrashBroker(broker=0))
    give(runner, inputs.ChangeController(action="freeze", which="active"))
    wait(runner, 900)
    fork = runner.fork()
    assert fork.state_hash == runner.state_hash
    wait(runner, 9_000)
    wait(fork, 9_000)
    assert fork.state_hash == runner.state_hash
    assert fork.cluster.active_controller() is not None


def test_the_same_seed_gives_the_same_state() -> None:
    hashes = set()
    for _ in range(2):
        runner = cluster("4.0", 7)
        give(runner, inputs.CreateTopic(topic="t", partitions=4, replication_factor=3))
        give(runner, inputs.ChangeController(action="crash", which="active"))
        wait(runner, 8_000)
        hashes.add(runner.state_hash)
    assert len(hashes) == 1
