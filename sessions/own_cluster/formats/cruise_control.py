"""JSON of Cruise Control: ``kafka_cluster_state``, and ``partition_load`` with sizes of partitions.

Source: ``ClusterPartitionState``, ``ClusterBrokerState`` and ``PartitionLoadState`` of Cruise
Control 2.5.
"""

from typing import Final

from msgspec import Struct

from emulator.cluster_image.image import Broker, ClusterImage, Partition, ReplicaLog, Topic
from sessions.own_cluster.content import Content
from sessions.own_cluster.reading import Authority, Reading

NAME: Final = "Cruise Control"
_MEGABYTE: Final = 1 << 20
_START: Final = 4000


class _Partition(Struct, rename={"in_sync": "in-sync"}):
    topic: str
    partition: int
    leader: int = -1
    replicas: list[int] = []
    in_sync: list[int] = []


class _Brokers(Struct, frozen=True, rename="pascal"):
    online_log_dirs_by_broker_id: dict[int, list[str]] = {}
    replica_count_by_broker_id: dict[int, int] = {}


class _State(Struct, rename={"partitions": "KafkaPartitionState", "brokers": "KafkaBrokerState"}):
    partitions: dict[str, list[_Partition]] = {}
    brokers: _Brokers = _Brokers()


class _Load(Struct):
    topic: str
    partition: int
    leader: int
    followers: list[int] = []
    disk: float | None = None


class _Loads(Struct):
    records: list[_Load]


def recognizes(head: str) -> bool:
    """Whether a text begins as one of these objects."""
    start = head[:_START]
    return "KafkaPartitionState" in start or "KafkaBrokerState" in start or _is_load(start)


def read(content: Content) -> Reading:
    """Return the state of the cluster, or the placement and size of its partitions.

    Raises:
        FormatError: it is not complete.
    """
    image = _loads(content) if _is_load(content.text_head[:_START]) else _state(content)
    return Reading(content.name, NAME, Authority.MONITOR, image)


def _is_load(start: str) -> bool:
    return '"records"' in start and '"followers"' in start


def _state(content: Content) -> ClusterImage:
    state = content.json(_State)
    topics: dict[str, dict[int, Partition]] = {}
    for partition in (partition for listed in state.partitions.values() for partition in listed):
        topics.setdefault(partition.topic, {})[partition.partition] = Partition(
            partition.partition,
            tuple(partition.replicas),
            partition.leader,
            tuple(partition.in_sync),
        )
    online = state.brokers.online_log_dirs_by_broker_id
    ids = sorted({*online, *state.brokers.replica_count_by_broker_id})
    brokers = (
        Broker(broker, up=broker in online, log_dirs=tuple(online.get(broker, ())) or None)
        for broker in ids
    )
    return ClusterImage(brokers=tuple(brokers) if online else (), topics=_topics(topics))


def _loads(content: Content) -> ClusterImage:
    topics: dict[str, dict[int, Partition]] = {}
    for record in content.json(_Loads).records:
        replicas = (record.leader, *record.followers)
        size = None if record.disk is None else int(record.disk * _MEGABYTE)
        logs = tuple(ReplicaLog(broker, size=size) for broker in sorted(replicas))
        topics.setdefault(record.topic, {})[record.partition] = Partition(
            record.partition, replicas, record.leader, logs=() if size is None else logs
        )
    return ClusterImage(topics=_topics(topics))


def _topics(topics: dict[str, dict[int, Partition]]) -> tuple[Topic, ...]:
    return tuple(
        Topic(name, partitions=tuple(numbered.values())) for name, numbered in topics.items()
    )
