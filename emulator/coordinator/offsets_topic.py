"""__consumer_offsets: which partition a group belongs to, and how the topic comes to be.

Any broker that is asked for a group's coordinator makes the topic if there is none. Source:
``KafkaApis.getOrCreateGroupMetadataTopic``, ``GroupMetadataManager.partitionFor`` 0.9 to 3.9.
"""

from typing import Final

from emulator.broker_context import BrokerContext
from emulator.replication import assignment
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors

TOPIC: Final = "__consumer_offsets"
PREFIX: Final = f"{TOPIC}-"
CONFIG: Final = {
    "compression.type": "producer",
    "cleanup.policy": "compact",
    "segment.bytes": "104857600",
}
_MASK: Final = (1 << 32) - 1
_POSITIVE: Final = (1 << 31) - 1


def java_hash(text: str) -> int:
    """Java's ``String.hashCode`` of a text, as an unsigned number."""
    found = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + (high << 8 | low)) & _MASK
    return found


def partition_of(group: str, partitions: int) -> str:
    """The partition that holds a group (``Utils.abs``: the sign bit is dropped)."""
    return f"{TOPIC}-{(java_hash(group) & _POSITIVE) % partitions}"


def partition_count(context: BrokerContext) -> int:
    """How many partitions the topic has, or would be made with.

    Raises:
        ConnectionLoss: ZooKeeper does not answer.
    """
    configured = context.config.offsets_topic_num_partitions
    if context.topics is not None:
        return context.topics.partition_count(TOPIC) or configured
    node = context.zk.find(znodes.topic_path(TOPIC))
    found = znodes.topic_in(None if node is None else node.data)
    return len(found.replicas if found else ()) or configured


def _factor(context: BrokerContext) -> int:
    """How many replicas it gets: as configured, before KIP-115 at most as many as brokers live."""
    factor = context.config.offsets_topic_replication_factor
    waits = context.profile.has("offsets_topic_needs_replication_factor")
    return factor if waits else min(factor, len(context.process.live_brokers))


def hindrance(context: BrokerContext) -> str:
    """Why the topic cannot be made, in a sentence; empty if it can be, or is there."""
    live, factor = len(context.process.live_brokers), _factor(context)
    if context.topics is not None:
        exists = context.topics.partition_count(TOPIC) > 0
    else:  # this is said to whoever waits for the topic, not asked by a broker: it sees the tree
        exists = context.zk.zookeeper.find(znodes.topic_path(TOPIC)) is not None
    if exists or factor <= live:
        return ""
    return (
        f"{TOPIC} is made with offsets.topic.replication.factor={factor}, and {live} brokers are"
        f" alive: give the cluster more, or --config offsets.topic.replication.factor={live}."
    )


def create(context: BrokerContext) -> None:
    """Make the topic if there is none and enough brokers live.

    Without an answer of ZooKeeper that is left to whoever asks again.
    """
    live, factor = context.process.live_brokers, _factor(context)
    if not live or factor > len(live):
        return
    if context.topics is not None:
        partitions = context.config.offsets_topic_num_partitions
        context.topics.create(TOPIC, partitions, factor, CONFIG)
        return
    try:
        if context.zk.find(znodes.topic_path(TOPIC)) is None:
            _write(context, live, factor)
    except errors.ConnectionLoss:
        return


def _write(context: BrokerContext, live: list[int], factor: int) -> None:
    draw = context.kernel.random_below
    start, shift = draw(len(live)), draw(len(live))
    partitions = context.config.offsets_topic_num_partitions
    racks = {b: rack for b, rack in context.settings.racks.items() if b in live}
    if racks and context.profile.has("broker_rack"):
        lists = assignment.assign_rack_aware(racks, partitions, factor, start, shift)
    else:
        lists = assignment.assign_kafka(live, partitions, factor, start, shift)
    topic = znodes.new_topic_json(context.profile, lists, draw)
    context.zk.write(znodes.topic_config_path(TOPIC), znodes.config_json(CONFIG))
    context.zk.write(znodes.topic_path(TOPIC), topic)
