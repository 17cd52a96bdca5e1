"""The coordinators' internal topics: the partition of a key, and the topics' creation.

Groups are stored in __consumer_offsets, transactions in __transaction_state. A broker that receives
FindCoordinator creates the topic if it is missing. Source: ``KafkaApis.getOrCreateInternalTopic``,
``AutoTopicCreationManager``, ``GroupMetadataManager.partitionFor`` and
``TransactionStateManager.partitionFor`` 0.9 to 4.1.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from emulator.broker_context import BrokerContext
from emulator.releases.config import BrokerConfig
from emulator.replication import assignment
from emulator.zookeeper import data as znodes
from emulator.zookeeper import errors

_MASK: Final = (1 << 32) - 1
_POSITIVE: Final = (1 << 31) - 1


class InternalTopic(Struct, frozen=True):
    """An internal topic, with its settings as functions of a broker's configuration.

    ``factor_setting`` is the name of the setting for its replication factor.
    """

    name: str
    partitions: Callable[[BrokerConfig], int]
    factor: Callable[[BrokerConfig], int]
    factor_setting: str
    config: Callable[[BrokerConfig], dict[str, str]]

    def holds(self, tp: str) -> bool:
        """Whether a partition belongs to this topic."""
        return tp.rpartition("-")[0] == self.name

    def partition_of(self, key: str, partitions: int) -> str:
        """The partition for a key (``Utils.abs``: the sign bit is dropped)."""
        return f"{self.name}-{(java_hash(key) & _POSITIVE) % partitions}"


OFFSETS: Final = InternalTopic(
    "__consumer_offsets",
    lambda config: config.offsets_topic_num_partitions,
    lambda config: config.offsets_topic_replication_factor,
    "offsets.topic.replication.factor",
    lambda _config: {
        "compression.type": "producer",
        "cleanup.policy": "compact",
        "segment.bytes": "104857600",
    },
)
TRANSACTIONS: Final = InternalTopic(
    "__transaction_state",
    lambda config: config.transaction_topic_num_partitions,
    lambda config: config.transaction_topic_replication_factor,
    "transaction.state.log.replication.factor",
    lambda config: {
        "unclean.leader.election.enable": "false",
        "compression.type": "uncompressed",
        "cleanup.policy": "compact",
        "min.insync.replicas": str(config.transaction_topic_min_isr),
        "segment.bytes": "104857600",
    },
)
INTERNAL_TOPICS: Final = {topic.name: topic for topic in (OFFSETS, TRANSACTIONS)}
"""The internal topics by name."""


def is_internal(tp: str) -> bool:
    """Whether a partition belongs to an internal topic."""
    return tp.rpartition("-")[0] in INTERNAL_TOPICS


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``, as an unsigned number."""
    found = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        found = (31 * found + (high << 8 | low)) & _MASK
    return found


def partition_count(context: BrokerContext, topic: InternalTopic) -> int:
    """The topic's partition count, or the one that it would be created with.

    Raises:
        ConnectionLoss: ZooKeeper does not respond.
    """
    configured = topic.partitions(context.config)
    if context.topics is not None:
        return context.topics.partition_count(topic.name) or configured
    node = context.zk.find(znodes.topic_path(topic.name))
    found = znodes.topic_in(None if node is None else node.data)
    return len(found.replicas if found else ()) or configured


def _factor(context: BrokerContext, topic: InternalTopic) -> int:
    """The replication factor: as configured, before KIP-115 at most the number of live brokers."""
    factor = topic.factor(context.config)
    waits = context.profile.has("offsets_topic_needs_replication_factor")
    return factor if waits else min(factor, len(context.process.live_brokers))


def hindrance(context: BrokerContext, topic: InternalTopic) -> str:
    """Why the topic cannot be created, as a message; empty if it can be, or already exists."""
    live, factor = len(context.process.live_brokers), _factor(context, topic)
    if context.topics is not None:
        exists = context.topics.partition_count(topic.name) > 0
    else:  # this informs the waiting client and is no broker request: read the tree directly
        exists = context.zk.zookeeper.find(znodes.topic_path(topic.name)) is not None
    if exists or factor <= live:
        return ""
    setting = topic.factor_setting
    return (
        f"{topic.name} is made with {setting}={factor}, and {live} brokers are"
        f" alive: give the cluster more, or --config {setting}={live}."
    )


def create(context: BrokerContext, topic: InternalTopic) -> None:
    """Create the topic if it is missing and enough brokers are alive.

    If ZooKeeper does not respond, this is left to the next request.
    """
    live, factor = context.process.live_brokers, _factor(context, topic)
    if not live or factor > len(live):
        return
    if context.topics is not None:
        config = context.config
        context.topics.create(topic.name, topic.partitions(config), factor, topic.config(config))
        return
    try:
        if context.zk.find(znodes.topic_path(topic.name)) is None:
            _write(context, topic, live, factor)
    except errors.ConnectionLoss:
        return


def _write(context: BrokerContext, topic: InternalTopic, live: list[int], factor: int) -> None:
    draw = context.kernel.random_below
    start, shift = draw(len(live)), draw(len(live))
    partitions = topic.partitions(context.config)
    racks = {b: rack for b, rack in context.settings.racks.items() if b in live}
    if racks and context.profile.has("broker_rack"):
        lists = assignment.assign_rack_aware(racks, partitions, factor, start, shift)
    else:
        lists = assignment.assign_kafka(live, partitions, factor, start, shift)
    data = znodes.new_topic_json(context.profile, lists, draw)
    config = znodes.config_json(topic.config(context.config))
    context.zk.write(znodes.topic_config_path(topic.name), config)
    context.zk.write(znodes.topic_path(topic.name), data)
