"""Check that an image could be that of a cluster, wherever it was read."""

from typing import Final

from emulator.cluster_image.image import NO_LEADER, ClusterImage, Partition, Topic
from emulator.common.names import is_topic_name
from sessions.own_cluster.reading import FormatError
from sessions.text import clean

ID_MAX: Final = (1 << 31) - 1
OFFSET_MAX: Final = (1 << 63) - 1


def validate(image: ClusterImage) -> None:
    """Check ids, names and offsets.

    Raises:
        FormatError: a value is none that a cluster could have.
    """
    brokers = [broker.id for broker in image.brokers]
    _require_ids(brokers, "broker")
    if len({*brokers}) < len(brokers):
        raise FormatError("names a broker twice")
    if image.quorum is not None:
        _require_ids([controller.id for controller in image.quorum.controllers], "controller")
    names: set[str] = set()
    for topic in image.topics:
        if not is_topic_name(topic.name) or topic.name in names:
            reason = "twice" if topic.name in names else "which is no name of a topic"
            raise FormatError(f"has the topic {clean(topic.name[:60])!r} {reason}")
        names.add(topic.name)
        _validate_topic(topic)


def _validate_topic(topic: Topic) -> None:
    numbers: set[int] = set()
    for partition in topic.partitions:
        number = partition.partition
        if not 0 <= number <= ID_MAX or number in numbers:
            raise FormatError(
                f"has partition {number} of topic {topic.name}, twice or out of range"
            )
        numbers.add(number)
        reason = _wrong(partition)
        if reason:
            raise FormatError(f"is damaged: {topic.name}-{number} has {reason}")


def _wrong(partition: Partition) -> str:
    replicas = partition.replicas
    if len({*replicas}) < len(replicas):
        return "a replica twice"
    leader = partition.leader
    brokers = [*replicas, *(partition.isr or ()), *(partition.elr or ())]
    if leader is not None and leader != NO_LEADER:
        brokers.append(leader)
    if brokers and not 0 <= min(brokers) <= max(brokers) <= ID_MAX:
        return "a broker whose id is out of range"
    offsets = (partition.log_start, partition.log_end, partition.high_watermark)
    offsets_known = [offset for offset in offsets if offset is not None]
    if offsets_known and not -1 <= min(offsets_known) <= max(offsets_known) <= OFFSET_MAX:
        return "an offset that is out of range"
    return ""


def _require_ids(ids: list[int], kind: str) -> None:
    for number in ids:
        if not 0 <= number <= ID_MAX:
            raise FormatError(f"has the {kind} id {number}, and ids are 0 to {ID_MAX:,}")
