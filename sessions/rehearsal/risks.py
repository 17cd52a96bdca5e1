"""What a case puts at risk, by the four kinds that Redpanda's restart probe names too.

A case is judged beside the same cluster without the loss: a partition that has no leader, or too
few replicas in sync, in either case is not blamed on the case.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import ClusterImage, Topic
from emulator.common.names import split
from sessions.rehearsal.outcome import Outcome, PartitionOutcome, Requirements
from sessions.rehearsal.runs import CaseRun

LISTED: Final = 8
"""How many partitions a reason lists before it breaks off."""


class Risks(Struct, frozen=True):
    """The partitions at risk, each list sorted by topic and partition.

    ``rf1_offline``: the only replica is lost. ``unavailable``: there are other replicas, but none
    may lead. ``full_acks_produce_unavailable``: writes with acks=all are refused, because fewer
    replicas than min.insync.replicas are left in sync. ``acks1_data_loss``: another replica leads
    now, and lacks what the old leader had acknowledged with acks=1 and the others had not fetched.
    """

    rf1_offline: list[str]
    unavailable: list[str]
    full_acks_produce_unavailable: list[str]
    acks1_data_loss: list[str]

    @property
    def is_safe(self) -> bool:
        """Whether nothing that was healthy becomes unavailable or unwritable."""
        return not (self.rf1_offline or self.unavailable or self.full_acks_produce_unavailable)


class Broken(Struct, frozen=True):
    """Partitions that are broken before any loss: without a leader, or with too small an ISR."""

    offline: list[str]
    under_min_isr: list[str]


class UnsafeTopic(Struct, frozen=True):
    """A topic that cannot lose one broker, and why."""

    topic: str
    why: str


def broken(partitions: Mapping[str, PartitionOutcome], requirements: Requirements) -> Broken:
    """Return what does not work although nothing was lost."""
    offline = [tp for tp, partition in partitions.items() if not partition.online]
    small = [
        tp for tp, partition in partitions.items() if _is_unwritable(tp, partition, requirements)
    ]
    return Broken(in_order(offline), in_order(small))


def risks_of(
    run: CaseRun,
    settled: Mapping[str, PartitionOutcome],
    nothing: Outcome,
    replicas: dict[str, int],
    requirements: Requirements,
) -> Risks:
    """Judge a case: a partition is at risk if it is in any order of its losses.

    The case is compared with what becomes of the cluster if ``nothing`` is lost; ``replicas`` is
    the number of replicas of each partition.
    """
    alone: set[str] = set()
    unavailable: set[str] = set()
    unwritable: set[str] = set()
    moved: set[str] = set()
    for order in run.orders:
        changed = order.outcome.changed
        for tp in {**changed, **nothing.changed}:
            before = nothing.changed.get(tp, settled.get(tp))
            after = changed.get(tp, settled.get(tp))
            if after is None or before is None or not before.online or after == before:
                continue
            if not after.online:
                (alone if replicas.get(tp) == 1 else unavailable).add(tp)
                continue
            if after.leader != before.leader and before.leader in run.case.brokers:
                moved.add(tp)
            was_unwritable = _is_unwritable(tp, before, requirements)
            if not was_unwritable and _is_unwritable(tp, after, requirements):
                unwritable.add(tp)
    return Risks(*(in_order(tps) for tps in (alone, unavailable, unwritable, moved)))


def _is_unwritable(tp: str, partition: PartitionOutcome, requirements: Requirements) -> bool:
    return partition.online and len(partition.isr) < requirements.min_isr(tp)


def unsafe_topics(image: ClusterImage, requirements: Requirements) -> list[UnsafeTopic]:
    """Return the topics that stop working, or being written, when one broker or rack is lost."""
    racks = {broker.id: broker.rack for broker in image.brokers}
    unsafe: list[UnsafeTopic] = []
    for topic in image.topics:
        if topic.partitions and topic.partitions[0].replicas:
            least = min(len(partition.replicas) for partition in topic.partitions)
            unsafe += _unsafe(topic, requirements.min_isr(f"{topic.name}-0"), least)
            unsafe += _in_one_rack(topic, racks)
    return unsafe


def _unsafe(topic: Topic, required: int, least: int) -> Iterable[UnsafeTopic]:
    if least == 1:
        yield UnsafeTopic(topic.name, "replication factor 1")
    elif required > least:
        yield UnsafeTopic(topic.name, "min.insync.replicas > replication factor")
    elif required == least:
        yield UnsafeTopic(topic.name, "min.insync.replicas = replication factor")


def _in_one_rack(topic: Topic, racks: dict[int, str | None]) -> Iterable[UnsafeTopic]:
    if len(set(racks.values())) == 1:
        return
    alone: dict[str, list[int]] = {}
    for partition in topic.partitions:
        used = {racks.get(broker) for broker in partition.replicas}
        if len(partition.replicas) > 1 and len(used) == 1 and (name := used.pop()):
            alone.setdefault(name, []).append(partition.partition)
    for name, numbers in sorted(alone.items()):
        listed = ", ".join(map(str, numbers[:LISTED])) + (", .." if numbers[LISTED:] else "")
        noun = "partition" if len(numbers) == 1 else "partitions"
        yield UnsafeTopic(topic.name, f"all replicas of {noun} {listed} in rack {name}")


def in_order(tps: Iterable[str]) -> list[str]:
    """Sort partitions by topic and number."""
    return sorted(tps, key=split)
