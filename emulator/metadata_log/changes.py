"""What records change in an image: each partition before and after them."""

from typing import NamedTuple

from msgspec import Struct, field

from emulator.metadata_log.registrations import PartitionRegistration


class TopicIdPartition(NamedTuple):
    """A partition by topic id."""

    topic_id: str
    partition: int


class TopicImage(Struct):
    """A topic and its partitions by number."""

    name: str
    id: str
    partitions: dict[int, PartitionRegistration] = field(default_factory=dict)


class Change(NamedTuple):
    """A partition before and after some records; None if it does not exist."""

    topic: str
    before: PartitionRegistration | None
    after: PartitionRegistration | None


class MetadataDelta(Struct):
    """The changes of an image by some records; not part of any state.

    ``partitions`` has every changed partition, with None as the new state of those of deleted
    topics; given a ``broker``, only those with a current or former replica on it, which saves work
    on brokers with very many partitions. ``topics`` names all topics with changed partitions,
    ``deleted`` the partitions of deleted topics.
    ``brokers``, ``configs`` and ``features`` name what was written.
    """

    broker: int | None = None
    partitions: dict[TopicIdPartition, Change] = field(default_factory=dict)
    topics: dict[str, None] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    brokers: dict[int, None] = field(default_factory=dict)
    configs: dict[str, None] = field(default_factory=dict)
    features: dict[str, None] = field(default_factory=dict)

    def touch(
        self,
        topic: TopicImage,
        number: int,
        before: PartitionRegistration | None,
        after: PartitionRegistration | None,
    ) -> None:
        """Add a partition's change; if there are several, the first ``before`` is kept."""
        self.topics[topic.name] = None
        if after is None:
            self.deleted.append(f"{topic.name}-{number}")
        broker = self.broker
        if broker is not None and not (
            (after is not None and broker in after.replicas)
            or (before is not None and broker in before.replicas)
        ):
            return
        self.follow(TopicIdPartition(topic.id, number), Change(topic.name, before, after))

    def follow(self, key: TopicIdPartition, change: Change) -> None:
        """Add a partition's change: it keeps what it was before the first of several."""
        earlier = self.partitions.get(key)
        if earlier is not None:
            change = Change(change.topic, earlier.before, change.after)
        self.partitions[key] = change

    def add(self, later: "MetadataDelta") -> None:
        for key, change in later.partitions.items():
            self.follow(key, change)
        self.topics |= later.topics
        self.deleted += later.deleted
        self.brokers |= later.brokers
        self.configs |= later.configs
        self.features |= later.features

    def local_changes(self, broker: int) -> "LocalReplicaChanges":
        """Return the changes of a broker's own replicas (``TopicsDelta.localChanges``)."""
        changes = LocalReplicaChanges()
        for key, change in self.partitions.items():
            _, before, after = change
            if after is None or broker not in after.replicas:
                if before is not None and broker in before.replicas:
                    changes.deletes[key] = change
            elif before is not None and before.partition_epoch == after.partition_epoch:
                continue
            elif after.leader == broker:
                changes.leaders[key] = change
                if before is None or before.leader_epoch != after.leader_epoch:
                    changes.elected_leaders[key] = change
            else:
                changes.followers[key] = change
        return changes


class LocalReplicaChanges(Struct):
    """The changes of a broker's replicas after reading some records.

    ``elected_leaders`` are those of ``leaders`` with a new leader epoch; ``followers`` have a new
    leader, or none.
    """

    deletes: dict[TopicIdPartition, Change] = field(default_factory=dict)
    elected_leaders: dict[TopicIdPartition, Change] = field(default_factory=dict)
    leaders: dict[TopicIdPartition, Change] = field(default_factory=dict)
    followers: dict[TopicIdPartition, Change] = field(default_factory=dict)
