"""What is so in a cluster, told from its own state in a few plain lines, to compare screens with.

Nothing here uses events or the read model: the znodes or the quorum's log, processes, links and the
brokers' replicas are looked at directly.
"""

from typing import NamedTuple

from emulator.broker.replication.replica import LEADER
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER

ALL_PERCENT = 100


class PartitionTruth(NamedTuple):
    """One partition: whether the metadata names a leader, who acts as it, who is waited for."""

    is_offline: bool
    acting: bool
    named_serves: bool
    waits_for: tuple[int, ...]
    out: tuple[int, ...]
    lost: int


class Truth(NamedTuple):
    """The cluster: its partitions, and whether anybody controls it."""

    partitions: dict[str, PartitionTruth]
    controls: bool
    reaches_zookeeper: tuple[int, ...]
    serving: tuple[int, ...]
    has_zookeeper: bool

    @property
    def is_zookeeper_gone(self) -> bool:
        """Whether brokers serve, and none of them reaches ZooKeeper; False without ZooKeeper."""
        return self.has_zookeeper and bool(self.serving) and not self.reaches_zookeeper


def serves(cluster: Cluster, broker: int) -> bool:
    """Whether a broker's process answers requests."""
    return cluster.broker_state(broker) in ("running", "controlled_shutdown")


def connects(cluster: Cluster, host: int, other: int) -> bool:
    """Whether messages can pass both ways."""
    links = cluster.state.network.links
    for way in ((host, other), (other, host)):
        link = links.get(way)
        if link is not None and (link.cut or link.drop_percent >= ALL_PERCENT):
            return False
    return True


def judge(cluster: Cluster) -> Truth:
    """What is so at this moment."""
    cluster.look()
    serving = tuple(broker for broker in cluster.brokers if serves(cluster, broker))
    partitions = {tp: _partition(cluster, tp) for tp in cluster.partitions()}
    if cluster.kraft is not None:
        return Truth(partitions, _has_majority(cluster), (), serving, False)
    reach = tuple(broker for broker in serving if _reaches(cluster, broker))
    return Truth(partitions, cluster.controller_id() in reach, reach, serving, True)


def _reaches(cluster: Cluster, broker: int) -> bool:
    sessions = cluster.state.zookeeper.sessions.live.values()
    has_session = any(session.host == broker for session in sessions)
    return has_session and connects(cluster, broker, ZOOKEEPER)


def _has_majority(cluster: Cluster) -> bool:
    leader = cluster.active_controller()
    if leader is None:
        return False
    assert cluster.kraft is not None
    members = cluster.kraft.controllers
    reached = [
        each
        for each in members
        if cluster.host_works(each) and (each == leader or connects(cluster, each, leader))
    ]
    return 2 * len(reached) > len(members)


def _partition(cluster: Cluster, tp: str) -> PartitionTruth:
    info = cluster.state_of(tp)
    leader = -1 if info is None else info.leader
    isr = () if info is None else tuple(info.isr)
    acting = [
        broker
        for broker in cluster.brokers
        if serves(cluster, broker)
        and (replica := cluster.replica(tp, broker)) is not None
        and replica.role == LEADER
    ]
    acts = leader in acting or (bool(acting) and leader >= 0 and serves(cluster, leader))
    waits = tuple(broker for broker in isr if not serves(cluster, broker)) if acts else ()
    out = tuple(b for b in cluster.assigned(tp) or () if b not in isr) if info is not None else ()
    audit = cluster.state.audit.partitions.get(tp)
    named_serves = leader >= 0 and serves(cluster, leader)
    lost = 0 if audit is None else len(audit.lost)
    return PartitionTruth(info is not None and leader < 0, acts, named_serves, waits, out, lost)
