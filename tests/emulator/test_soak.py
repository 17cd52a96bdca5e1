"""A modest number of random runs in rounds; ``python -m benchmarks.soak`` makes more."""

import msgspec
import pytest

from emulator.inputs.statements import CrashBroker, Produce, StartBroker, Wait
from emulator.releases.profiles import VERSIONS
from emulator.replication.partition import NO_BROKERS, NO_REMOTES
from emulator.zookeeper.data import state_in
from tests.support.agreement import disagreements, incomplete
from tests.support.lab import Lab
from tests.support.releases import THOROUGH
from tests.support.soak import SECOND_US, Soak

SEEDS = range((4 if THOROUGH else 1) * len(VERSIONS))


@pytest.mark.parametrize("seed", SEEDS)
def test_after_each_round_the_truths_agree_and_the_cluster_is_whole(seed: int) -> None:
    Soak(seed).run(rounds=2, length=25)


def test_a_run_is_the_same_again() -> None:
    hashes = []
    for _ in range(2):
        soak = Soak(5)
        soak.run(rounds=1, length=20)
        hashes.append(soak.cluster.state_hash)
    assert hashes[0] == hashes[1]


def test_what_replicas_and_states_share_is_never_modified() -> None:
    """New replicas have the same empty lists, and equal states of partitions the same ISR."""
    soak = Soak(5)
    soak.run(rounds=1, length=20)
    assert (NO_BROKERS, NO_REMOTES) == ([], {})
    states = {
        node.data
        for path, node in soak.cluster.state.zookeeper.nodes.items()
        if path.endswith("/state") and node.data is not None
    }
    assert states
    for data in states:
        state = state_in(data)
        assert state is not None
        assert state.isr == msgspec.json.decode(data)["isr"]


# ---- what the soak looks with


def test_a_dead_leader_is_a_disagreement_until_somebody_has_noticed() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    lab.do(Wait(duration_us=SECOND_US))
    assert disagreements(lab.cluster) == []
    assert incomplete(lab.cluster) == []
    lab.do(CrashBroker(broker=1))
    lab.do(Wait(duration_us=30 * SECOND_US))
    assert disagreements(lab.cluster) == []
    assert incomplete(lab.cluster) == ["t-0 has leader 2 and ISR [2] of [1, 2]"]
    cache = lab.cluster.controller_cache(0)
    assert cache is not None
    del cache.live[2]
    lab.cluster.state.brokers[2].process.metadata.clear()
    lab.cluster.state.brokers[2].replicas["t-0"].leader_epoch = 7
    assert disagreements(lab.cluster) == [
        "controller 0 believes [0] to be alive, not [0, 2]",
        "broker 2 has t-0 in epoch 7, not 1",
        "broker 2's metadata has t-0 as (), not (2, 1, [2], 1)",
    ]


def test_a_follower_that_lacks_records_makes_a_cluster_incomplete() -> None:
    lab = Lab("3.9", brokers=3)
    lab.topic(1, 2)
    lab.do(CrashBroker(broker=2))
    lab.do(Wait(duration_us=30 * SECOND_US))
    lab.do(Produce(topic="t", partition=0, value="a", acks=1))
    assert "t-0 has logs that end at {1: 1, 2: 0}" in incomplete(lab.cluster)
    lab.do(StartBroker(broker=2))
    lab.do(Wait(duration_us=30 * SECOND_US))
    assert incomplete(lab.cluster) == []
