"""What a broker has of a membership of one kind, for tests that know of which kind it is."""

from emulator.broker.kraft_membership.state import KRaftMembershipState
from emulator.broker.membership import ProducerIdBlock
from emulator.broker.zookeeper_membership.membership import (
    ZooKeeperMembership,
    ZooKeeperMembershipState,
)
from emulator.cluster import Cluster


def zookeeper_membership(cluster: Cluster, broker: int) -> ZooKeeperMembership:
    """The parts by which a broker belongs to a cluster with ZooKeeper."""
    membership = cluster.brokers[broker].membership
    assert isinstance(membership, ZooKeeperMembership)
    return membership


def zookeeper_state(cluster: Cluster, broker: int) -> ZooKeeperMembershipState:
    """Their state."""
    return zookeeper_membership(cluster, broker).state


def kraft_state(cluster: Cluster, broker: int) -> KRaftMembershipState:
    """What a broker in KRaft mode has of the metadata log."""
    state = cluster.kraft_membership(broker)
    assert state is not None
    return state


def producer_ids(cluster: Cluster, broker: int) -> ProducerIdBlock:
    """The block of producers' ids of a broker in either mode."""
    state = cluster.kraft_membership(broker)
    return zookeeper_state(cluster, broker).producer_ids if state is None else state.block
