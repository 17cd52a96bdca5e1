"""What is so in a cluster, told from its own state in a few plain lines, to compare screens with.

Nothing here uses events or the read model: the znodes or the quorum's log, processes, links and the
brokers' replicas are looked at directly.
"""

from collections.abc import Iterable, Set
from typing import NamedTuple

from emulator.broker.replication.replica import LEADER
from emulator.cluster import Cluster
from emulator.events import ZOOKEEPER
from emulator.releases.config import resolve

ALL_PERCENT = 100
MIN_ISR = "min.insync.replicas"


class PartitionTruth(NamedTuple):
    """One partition: whether the metadata names a leader, who acts as it, who is waited for.

    ``min_isr`` is min.insync.replicas as written; a leader knows it moments later.
    """

    is_offline: bool
    acting: bool
    leader: int
    named_serves: bool
    waits_for: tuple[int, ...]
    out: tuple[int, ...]
    lost: int
    isr: tuple[int, ...]
    min_isr: int
    has_led: bool

    @property
    def is_served(self) -> bool:
        """Whether anybody acts as leader, or is about to for the first time."""
        return not self.is_offline and (self.acting or (self.named_serves and not self.has_led))

    @property
    def is_blocked(self) -> bool:
        """Whether writes with acks=all wait: for a leader, or for a broker in the ISR."""
        if self.is_offline or self.leader < 0 or self.is_refused:
            return False
        return bool(self.waits_for) or not self.is_served

    @property
    def is_refused(self) -> bool:
        """Whether the acting leader refuses writes with acks=all."""
        return self.acting and len(self.isr) < self.min_isr


class Truth(NamedTuple):
    """The cluster: its partitions, and whether anybody controls it."""

    partitions: dict[str, PartitionTruth]
    controls: bool
    reaches_zookeeper: tuple[int, ...]
    serving: tuple[int, ...]
    has_zookeeper: bool
    is_quorum_lost: bool = False

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


def judge(cluster: Cluster, led: Set[str] = frozenset()) -> Truth:
    """What is so at this moment; ``led`` are the partitions that had a leader before."""
    cluster.look()
    serving = tuple(broker for broker in cluster.brokers if serves(cluster, broker))
    partitions = {tp: _partition(cluster, tp, tp in led) for tp in cluster.partitions()}
    if cluster.kraft is not None:
        return Truth(
            partitions, _has_majority(cluster), (), serving, False, _is_quorum_lost(cluster)
        )
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


def _is_quorum_lost(cluster: Cluster) -> bool:
    """Whether there is a leader without a majority, or no majority to elect one."""
    assert cluster.kraft is not None
    members = cluster.kraft.controllers
    working = [each for each in members if cluster.host_works(each)]
    leader = cluster.active_controller()
    if leader is not None:
        working = [each for each in working if each == leader or connects(cluster, each, leader)]
    return 2 * len(working) <= len(members)


def _partition(cluster: Cluster, tp: str, has_led: bool) -> PartitionTruth:
    info = cluster.state_of(tp)
    leader = -1 if info is None else info.leader
    isr = () if info is None else tuple(info.isr)
    acts = _acts(cluster, tp, leader)
    waits = tuple(b for b in isr if not _fetches(cluster, tp, b, leader)) if acts else ()
    out = tuple(b for b in cluster.assigned(tp) or () if b not in isr) if info is not None else ()
    audit = cluster.state.audit.partitions.get(tp)
    named_serves = leader >= 0 and serves(cluster, leader)
    lost = 0 if audit is None else len(audit.lost)
    topic = tp.rpartition("-")[0]
    own = cluster.state.topic_configs.get(topic, {}).get(MIN_ISR)
    min_isr = int(own or cluster.state.spec.config.get(MIN_ISR, "1"))
    is_offline = info is not None and leader < 0
    return PartitionTruth(
        is_offline, acts, leader, named_serves, waits, out, lost, isr, min_isr, has_led
    )


def _fetches(cluster: Cluster, tp: str, broker: int, leader: int) -> bool:
    """Whether a member of the ISR serves, and leads or can fetch from the leader."""
    if broker == leader or not serves(cluster, broker):
        return serves(cluster, broker)
    replica = cluster.replica(tp, broker)
    is_paused = replica is not None and replica.paused
    is_held = _holds(cluster, broker, leader, "FetchRequest", "Fetch")
    is_held = is_held or _holds(cluster, leader, broker, "FetchResponse")
    return not (is_paused or is_held) and connects(cluster, broker, leader)


def _holds(cluster: Cluster, source: int, destination: int, *names: str) -> bool:
    link = cluster.state.network.links.get((source, destination))
    return link is not None and any(name in link.holding for name in ("*", *names))


def _acts(cluster: Cluster, tp: str, leader: int) -> bool:
    """Whether a broker acts as the leader of a partition whose metadata names ``leader``."""
    acting = [broker for broker in _leaders(cluster, tp) if serves(cluster, broker)]
    return leader in acting or (bool(acting) and leader >= 0 and serves(cluster, leader))


def _leaders(cluster: Cluster, tp: str) -> list[int]:
    """Who considers itself the leader and is awake; a starting broker does so before it serves."""
    return [
        broker
        for broker in cluster.brokers
        if cluster.host_works(broker)
        and (replica := cluster.replica(tp, broker)) is not None
        and replica.role == LEADER
    ]


class HighWatermarks:
    """Since when each leader's high watermark stands below its log end, told from looks at it."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[tuple[int, int], int]] = {}

    def look(self, cluster: Cluster) -> None:
        """Notice where they stand now."""
        since, self._since = self._since, {}
        for tp, info in cluster.state.states.items():
            replica = cluster.replica(tp, info.leader)
            if replica is not None and replica.log_end > replica.high_watermark:
                place = (info.leader, replica.high_watermark)
                before, begin_us = since.get(tp, (None, 0))
                self._since[tp] = (place, begin_us if before == place else cluster.now_us)

    def is_stalled(self, cluster: Cluster, tp: str, now_us: int) -> bool:
        """Whether one has not moved for replica.lag.time.max.ms."""
        spec = cluster.state.spec
        allowed_us = resolve(spec.version, spec.config).replica_lag_time_max_us
        return tp in self._since and now_us - self._since[tp][1] > allowed_us


class Elections:
    """What became of each partition's elections, told from looks after every change.

    ``unclean``: whether the leader was elected uncleanly. A leader is clean that was in the ISR, or
    among the eligible leader replicas (KIP-966), or, in KRaft, has nothing to recover: there one
    change of the metadata may add a leader to the ISR and elect it, at the end of a reassignment.
    ``led`` are the partitions that a broker has led since their topic was created, be it one that
    the metadata no longer names.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int, set[int]]] = {}
        self.unclean: dict[str, bool] = {}
        self.led: set[str] = set()

    def look(self, cluster: Cluster) -> None:
        """Notice who leads now."""
        self.led &= cluster.state.states.keys()
        for tp, info in cluster.state.states.items():
            epoch, leader, electable = self._seen.get(tp, (-1, -1, set()))
            if info.leader_epoch < epoch:  # the topic was deleted, and there is another one
                epoch, leader, electable = -1, -1, set()
                self.unclean[tp] = False
                self.led.discard(tp)
            if _leaders(cluster, tp):
                self.led.add(tp)
            if info.leader != leader:
                is_outside = epoch >= 0 and 0 <= info.leader not in electable
                must_recover = cluster.kraft is None or bool(info.leader_recovery_state)
                self.unclean[tp] = is_outside and must_recover
            self._seen[tp] = (info.leader_epoch, info.leader, {*info.isr, *_elr(cluster, tp)})
        for tp in [tp for tp in self._seen if tp not in cluster.state.states]:
            del self._seen[tp]
            self.unclean.pop(tp, None)


def _elr(cluster: Cluster, tp: str) -> Iterable[int]:
    if cluster.kraft is None:
        return ()
    topic, _, number = tp.rpartition("-")
    registered = cluster.kraft.committed.image.partition(topic, int(number))
    return () if registered is None else registered.elr


def verdict(truth: Truth) -> str:
    """How the headline begins; empty where nobody has lost anything."""
    partitions = truth.partitions.values()
    offline = sum(each.is_offline for each in partitions)
    blocked = sum(each.is_blocked for each in partitions)
    refused = sum(each.is_refused for each in partitions)
    lost = sum(each.lost for each in partitions)
    if offline:
        return f"NO LEADER: {offline:,} partition"
    if blocked:
        return f"WRITES BLOCKED: {blocked:,} partition"
    if refused:
        return f"WRITES REFUSED: {refused:,} partition"
    if truth.is_zookeeper_gone:
        return "ZOOKEEPER UNREACHABLE"
    if not truth.controls:
        return "QUORUM LOST" if truth.is_quorum_lost else "NO CONTROLLER"
    return f"{lost:,} RECORD" if lost else ""
