"""The table of who reacts to what: complete, and each of its methods is of a part that exists."""

from typing import get_args

import pytest

from emulator.broker.broker import REACTIONS, owner_of
from emulator.broker_effects import Effect
from emulator.cluster import Cluster
from emulator.inputs.statements import CreateCluster
from emulator.replication import partition
from emulator.replication.partition import Halt

OF_THE_LOG = {
    partition.AppendAsLeader,
    partition.AppendAsFollower,
    partition.TruncateLog,
    partition.RestartLog,
    partition.MoveLogStart,
    partition.StoreEpochs,
    partition.LoadLog,
    partition.ChangeRole,
    partition.RememberLogEnd,
    partition.ForgetLogEnds,
    partition.AdoptIsr,
    partition.Then,
}
"""Effects that concern the replica alone (:mod:`emulator.broker.replication.replica`)."""
ANSWERED = {partition.AskAgain, partition.RetryChange}
"""Effects to which the part reacts that gave the command."""


def clusters() -> list[Cluster]:
    """One of each kind of membership, and both ways of storing an ISR."""
    return [Cluster(CreateCluster(brokers=1, version=version)) for version in ("2.5", "3.9", "4.1")]


def test_every_effect_has_a_reaction() -> None:
    of_partitions = set(get_args(partition.Effect)) - OF_THE_LOG - ANSWERED
    assert REACTIONS.keys() == of_partitions | set(get_args(Effect))


def test_every_reaction_is_a_method_of_a_part_of_some_broker() -> None:
    parts = {name for cluster in clusters() for name in cluster.brokers[0].parts()}
    assert {owner_of(method) for methods in REACTIONS.values() for method in methods} <= parts


@pytest.mark.parametrize("effect", [partition.ProposeIsr, partition.StartFetching, Halt])
def test_every_broker_reacts_to_what_it_cannot_do_without(effect: type) -> None:
    for cluster in clusters():
        parts = cluster.brokers[0].parts()
        assert any(owner_of(method) in parts for method in REACTIONS[effect])


def test_a_change_of_an_isr_is_stored_in_one_way_only() -> None:
    for cluster in clusters():
        parts = cluster.brokers[0].parts()
        assert len({"ZkIsrManager", "AlterPartitionManager"} & parts.keys()) == 1
