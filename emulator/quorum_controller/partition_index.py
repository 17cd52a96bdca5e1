"""Indexes of partitions by broker, which avoid scanning all partitions.

Source: ``BrokersToIsrs``, ``BrokersToElrs`` and ``ReplicationControlManager``
(imbalancedPartitions, reassigningTopics). Within a topic, partitions are in Kafka's order, in which
they were added to the broker. Topics are in the order of their random ids in Kafka, but in order of
addition here.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.image import MetadataImage
from emulator.metadata_log.registrations import PartitionRegistration

PartitionSet = dict[str, dict[int, None]]
"""Partitions by topic id."""


class PartitionIndex(Struct):
    """Partitions by the controller's criteria; plain state, derived from the image.

    ``leaderships`` counts the partitions led by a broker.
    """

    in_isr: dict[int, PartitionSet] = field(default_factory=dict)
    in_elr: dict[int, PartitionSet] = field(default_factory=dict)
    leaderships: dict[int, int] = field(default_factory=dict)
    leaderless: PartitionSet = field(default_factory=dict)
    imbalanced: PartitionSet = field(default_factory=dict)
    reassigning: PartitionSet = field(default_factory=dict)

    @staticmethod
    def of(image: MetadataImage) -> "PartitionIndex":
        """Return the index of an image's partitions."""
        index = PartitionIndex()
        for topic, number, registration in image.partitions():
            index.update(TopicIdPartition(topic.id, number), None, registration)
        return index

    def update(
        self,
        key: TopicIdPartition,
        before: PartitionRegistration | None,
        after: PartitionRegistration | None,
    ) -> None:
        """Apply a partition's change; None: it did not exist before, or does not any more."""
        _move(self.in_isr, key, before.isr if before else (), after.isr if after else ())
        _move(self.in_elr, key, before.elr if before else (), after.elr if after else ())
        _mark(self.imbalanced, key, after is not None and not after.has_preferred_leader)
        _mark(self.leaderless, key, after is not None and not after.has_leader)
        _mark(self.reassigning, key, after is not None and after.is_reassigning)
        was_leader = before.leader if before and before.has_leader else None
        is_leader = after.leader if after and after.has_leader else None
        if was_leader != is_leader:
            self._count(was_leader, -1)
            self._count(is_leader, 1)

    def partitions_with_broker_in_isr(self, broker: int) -> Iterator[TopicIdPartition]:
        return _keys(self.in_isr.get(broker, {}))

    def partitions_with_broker_in_elr(self, broker: int) -> Iterator[TopicIdPartition]:
        return _keys(self.in_elr.get(broker, {}))

    def partitions_with_no_leader(self) -> Iterator[TopicIdPartition]:
        return _keys(self.leaderless)

    def imbalanced_partitions(self) -> Iterator[TopicIdPartition]:
        """The partitions whose leader is not the preferred replica, or that have none."""
        return _keys(self.imbalanced)

    def has_leaderships(self, broker: int) -> bool:
        return self.leaderships.get(broker, 0) > 0

    def _count(self, broker: int | None, step: int) -> None:
        if broker is None:
            return
        count = self.leaderships.get(broker, 0) + step
        if count:
            self.leaderships[broker] = count
        else:
            del self.leaderships[broker]


def _keys(partitions: PartitionSet) -> Iterator[TopicIdPartition]:
    return (
        TopicIdPartition(topic_id, number)
        for topic_id, numbers in partitions.items()
        for number in numbers
    )


def _move(
    members: dict[int, PartitionSet],
    key: TopicIdPartition,
    before: tuple[int, ...],
    after: tuple[int, ...],
) -> None:
    if before == after:
        return
    for broker in before:
        if broker not in after:
            _mark(members[broker], key, False)
            if not members[broker]:
                del members[broker]
    for broker in after:
        if broker not in before:
            _mark(members.setdefault(broker, {}), key, True)


def _mark(partitions: PartitionSet, key: TopicIdPartition, belongs: bool) -> None:
    topic_id, number = key
    if belongs:
        partitions.setdefault(topic_id, {})[number] = None
    elif (numbers := partitions.get(topic_id)) is not None and number in numbers:
        del numbers[number]
        if not numbers:
            del partitions[topic_id]
