"""Records of partitions that follow each other in the log, applied once for all who read them.

In a large cluster every broker and controller reads the same records into an image that was the
same before. With a copy of the partitions for each of them, memory and time would grow with brokers
times partitions.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from emulator.metadata_log.changes import Change, MetadataDelta, TopicIdPartition, TopicImage
from emulator.metadata_log.records import PartitionChangeRecord, PartitionRecord
from emulator.metadata_log.registrations import PartitionRegistration, partition_of

PartitionRecords = list[PartitionChangeRecord | PartitionRecord]

LATEST: Final = 1 << 20
"""How large the runs are in all that are kept for the next reader."""
RUN: Final = 256
"""The size of a run, beside the number of partitions that its topics have."""


class SharedPartitions(dict[int, PartitionRegistration]):
    """A topic's partitions by number, in several images: nobody modifies them."""

    __slots__ = ("_by_broker",)
    _by_broker: dict[int, list[int]]

    def of_broker(self, broker: int) -> Sequence[int]:
        """Return the partitions with a replica on a broker."""
        try:
            by_broker = self._by_broker
        except AttributeError:
            by_broker = self._by_broker = {}
            for number, partition in self.items():
                for replica in partition.replicas:
                    by_broker.setdefault(replica, []).append(number)
        return by_broker.get(broker, ())


NO_PARTITIONS: Final = SharedPartitions()
"""Those of a new topic."""


class _Run(Struct, frozen=True):
    """Consecutive records of partitions and what they change, for everybody and for each broker.

    ``before`` and ``after`` have the partitions of each topic by its id.
    """

    records: PartitionRecords
    before: dict[str, SharedPartitions]
    after: dict[str, SharedPartitions]
    whole: MetadataDelta
    by_broker: dict[int, MetadataDelta]

    @property
    def size(self) -> int:
        """How much memory it takes, roughly in dict entries."""
        return RUN + sum(map(len, self.after.values()))

    def is_of(self, records: PartitionRecords, topics: Mapping[str, TopicImage]) -> bool:
        """Whether these are its records, and it begins with the partitions of these topics."""
        return self.records == records and all(
            topic_id in topics and topics[topic_id].partitions is before
            for topic_id, before in self.before.items()
        )


class _LatestRuns:
    """The latest runs by the identity of their first record."""

    def __init__(self) -> None:
        self.runs: dict[int, _Run] = {}
        self.size = 0

    def keep(self, run: _Run) -> None:
        """Keep a run, and forget the older half if all of them are large."""
        self.forget(id(run.records[0]))
        self.runs[id(run.records[0])] = run
        self.size += run.size
        if self.size > LATEST:
            for first in list(self.runs)[: len(self.runs) // 2]:
                self.forget(first)

    def forget(self, first: int) -> None:
        """Forget the run that begins with the record of this identity."""
        run = self.runs.pop(first, None)
        self.size -= 0 if run is None else run.size


_latest: Final = _LatestRuns()
_UNCHANGED: Final = MetadataDelta()


def replay_run(
    topics: Mapping[str, TopicImage], records: PartitionRecords, delta: MetadataDelta | None
) -> bool:
    """Apply records to topics whose partitions are shared, and add the changes to ``delta``.

    Returns:
        False if nothing was applied, because the partitions of a topic are the image's own.

    Raises:
        KeyError: a record refers to something unknown; nothing was applied.
    """
    run = _latest.runs.get(id(records[0]))
    if run is None or not run.is_of(records, topics):
        run = _replayed(topics, records)
        if run is None:
            return False
        _latest.keep(run)
    for topic_id, partitions in run.after.items():
        topics[topic_id].partitions = partitions
    if delta is not None:
        own = run.whole if delta.broker is None else run.by_broker.get(delta.broker, _UNCHANGED)
        delta.add(own)
        delta.topics |= run.whole.topics
    return True


def _replayed(topics: Mapping[str, TopicImage], records: PartitionRecords) -> _Run | None:
    before: dict[str, SharedPartitions] = {}
    after: dict[str, SharedPartitions] = {}
    whole = MetadataDelta()
    by_broker: dict[int, MetadataDelta] = {}
    for record in records:
        topic, number = topics[record.topic_id], record.partition_id
        partitions = after.get(topic.id)
        if partitions is None:
            if not isinstance(topic.partitions, SharedPartitions):
                return None
            before[topic.id] = topic.partitions
            partitions = after[topic.id] = SharedPartitions(topic.partitions)
        if isinstance(record, PartitionRecord):
            previous, now = partitions.get(number), partition_of(record)
        else:
            previous = partitions[number]
            now = previous.merge(record)
        partitions[number] = now
        key, change = TopicIdPartition(topic.id, number), Change(topic.name, previous, now)
        whole.topics[topic.name] = None
        whole.follow(key, change)
        holders = now.replicas if previous is None else {*previous.replicas, *now.replicas}
        for broker in holders:
            by_broker.setdefault(broker, MetadataDelta()).follow(key, change)
    return _Run(records, before, after, whole, by_broker)
