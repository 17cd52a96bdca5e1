"""What a cluster is like at one moment, and how that differs from what it was like before."""

from collections.abc import Mapping

from msgspec import Struct

from emulator.cluster import Cluster
from emulator.common.names import split
from emulator.releases.config import resolve, resolve_topic


class PartitionOutcome(Struct, frozen=True, array_like=True, gc=False):
    """A partition as the cluster's metadata and its leader's broker have it.

    ``leader`` is -1 if there is none, or if its process does not run: nobody serves it then.
    ``log_end`` is that of the leader's log; -1 without leader.
    """

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...] = ()
    log_end: int = -1

    @property
    def online(self) -> bool:
        return self.leader >= 0


class Outcome(Struct, frozen=True):
    """A cluster at one moment, compared with its settled state.

    ``changed`` has the partitions that are not as they were then. ``controller`` is the active
    controller's host, None if nobody controls the cluster.
    """

    changed: dict[str, PartitionOutcome]
    controller: int | None


def outcome_of(cluster: Cluster, settled: Mapping[str, PartitionOutcome]) -> Outcome:
    """Return the outcome of a cluster whose partitions were ``settled``."""
    now = partitions_of(cluster)
    changed = {tp: partition for tp, partition in now.items() if partition != settled.get(tp)}
    controller = cluster.controller_id()
    if controller is not None and not cluster.host_works(controller):
        controller = None
    return Outcome(changed, controller)


def partitions_of(cluster: Cluster) -> dict[str, PartitionOutcome]:
    """Read what a cluster's partitions are like now."""
    elr: dict[str, tuple[int, ...]] = {}
    if cluster.kraft is not None:
        for topic, number, partition in cluster.kraft.committed.image.partitions():
            if partition.elr:
                elr[f"{topic.name}-{number}"] = partition.elr
    works = {broker: cluster.host_works(broker) for broker in cluster.brokers}
    partitions: dict[str, PartitionOutcome] = {}
    known: dict[PartitionOutcome, PartitionOutcome] = {}  # most are equal: one object is enough
    for tp, state in cluster.state.states.items():
        leader = state.leader if works.get(state.leader) else -1
        replica = cluster.replica(tp, leader) if leader >= 0 else None
        outcome = PartitionOutcome(
            leader,
            state.leader_epoch,
            state.zk_version,
            tuple(state.isr),
            elr.get(tp, ()),
            -1 if replica is None else replica.log_end,
        )
        partitions[tp] = known.setdefault(outcome, outcome)
    return partitions


class Requirements:
    """The min.insync.replicas of each topic of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        settings = cluster.settings
        running = [broker for broker in cluster.brokers if cluster.host_works(broker)]
        chosen = next(iter([*running, *cluster.brokers]))
        self._broker = resolve(settings.version, settings.of_broker(chosen))
        self._configs = cluster.state.topic_configs
        self._min_isr: dict[str, int] = {}

    def min_isr(self, tp: str) -> int:
        """Return the min.insync.replicas of a partition's topic."""
        topic, _ = split(tp)
        required = self._min_isr.get(topic)
        if required is None:
            values = resolve_topic(self._broker, self._configs.get(topic, {}))
            required = self._min_isr[topic] = values.min_insync_replicas
        return required
