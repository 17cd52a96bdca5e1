"""__consumer_offsets: which partition a group belongs to, and how the topic comes to be.

Any broker that is asked for a group's coordinator makes the topic if there is none. Source:
``KafkaApis.getOrCreateGroupMetadataTopic``, ``GroupMetadataManager.partitionFor`` 0.9 to 3.9.
"""

from typing import TYPE_CHECKING, Final

import msgspec

from emulator.replication import assignment
from emulator.zookeeper.data import write_topic
from emulator.zookeeper.metadata import TopicJson

if TYPE_CHECKING:
    from emulator.broker.broker import Broker

TOPIC: Final = "__consumer_offsets"
PREFIX: Final = f"{TOPIC}-"
CONFIG: Final = {
    "compression.type": "producer",
    "cleanup.policy": "compact",
    "segment.bytes": "104857600",
}
_topic = msgspec.json.Decoder(TopicJson)
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


def partition_count(broker: "Broker") -> int:
    """How many partitions the topic has, or would be made with."""
    node = broker.world.zookeeper.find(f"/brokers/topics/{TOPIC}")
    try:
        found = {} if node is None else _topic.decode(node.data or "").partitions
    except msgspec.MsgspecError:
        found = {}
    return len(found) or broker.config.offsets_topic_num_partitions


def _exists(broker: "Broker") -> bool:
    return broker.world.zookeeper.find(f"/brokers/topics/{TOPIC}") is not None


def _factor(broker: "Broker") -> int:
    """How many replicas it gets: as configured, before KIP-115 at most as many as brokers live."""
    factor = broker.config.offsets_topic_replication_factor
    waits = broker.world.profile.has("offsets_topic_needs_replication_factor")
    return factor if waits else min(factor, len(broker.state.live_brokers))


def hindrance(broker: "Broker") -> str:
    """Why the topic cannot be made, in a sentence; empty if it can be, or is there."""
    live, factor = len(broker.state.live_brokers), _factor(broker)
    if _exists(broker) or factor <= live:
        return ""
    return (
        f"{TOPIC} is made with offsets.topic.replication.factor={factor}, and {live} brokers are"
        f" alive: give the cluster more, or --config offsets.topic.replication.factor={live}."
    )


def create(broker: "Broker") -> None:
    """Make the topic, if enough brokers live."""
    world, config = broker.world, broker.config
    live, factor = broker.state.live_brokers, _factor(broker)
    if _exists(broker) or not live or factor > len(live) or not broker.zk.usable():
        return
    draw = world.kernel.random_below
    start, shift = draw(len(live)), draw(len(live))
    partitions = config.offsets_topic_num_partitions
    racks = {b: rack for b, rack in world.settings.racks.items() if b in live}
    if racks and world.profile.has("broker_rack"):
        lists = assignment.assign_rack_aware(racks, partitions, factor, start, shift)
    else:
        lists = assignment.assign_kafka(live, partitions, factor, start, shift)
    write_topic(world, TOPIC, lists, CONFIG)
