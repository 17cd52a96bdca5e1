"""The coordinators' internal topics: the partition of a key, and the topics' creation.

Groups are stored in __consumer_offsets, transactions in __transaction_state. A broker that receives
FindCoordinator creates the topic if it is missing. Source: ``KafkaApis.getOrCreateInternalTopic``,
``AutoTopicCreationManager``, ``GroupMetadataManager.partitionFor`` and
``TransactionStateManager.partitionFor`` 0.9 to 4.1.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from msgspec import Struct

from emulator.broker_context import BrokerContext
from emulator.common.java_collections import java_hash
from emulator.common.names import OFFSETS_TOPIC
from emulator.releases.config_names import BrokerConfig
from emulator.zookeeper import errors

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
    OFFSETS_TOPIC,
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
SHARE_STATE: Final = InternalTopic(
    "__share_group_state",
    lambda config: config.share_state_num_partitions,
    lambda config: config.share_state_replication_factor,
    "share.coordinator.state.topic.replication.factor",
    lambda config: {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "segment.bytes": "104857600",
        "min.insync.replicas": str(config.share_state_min_isr),
        "retention.ms": "-1",
    },
)
INTERNAL_TOPICS: Final = {topic.name: topic for topic in (OFFSETS, TRANSACTIONS, SHARE_STATE)}
"""The internal topics by name."""


def is_internal(tp: str) -> bool:
    """Whether a partition belongs to an internal topic."""
    return tp.rpartition("-")[0] in INTERNAL_TOPICS


class PartitionCount(Protocol):
    """A coordinator's state, which remembers the partition count of its topic (0: not read yet)."""

    partition_count: int


def partition_of(
    context: BrokerContext, topic: InternalTopic, known: PartitionCount, key: str
) -> str:
    """The partition of an internal topic that a key belongs to.

    A process looks up the partition count once (in Kafka at startup): the topic's, or the one that
    it would be created with. Until ZooKeeper has responded, it uses its configuration.
    """
    count = known.partition_count
    if not count:
        count = topic.partitions(context.config)
        with suppress(errors.ConnectionLoss):
            count = known.partition_count = context.metadata.partition_count(topic.name) or count
    return topic.partition_of(key, count)


def _factor(context: BrokerContext, topic: InternalTopic) -> int:
    """The replication factor: as configured, before KIP-115 at most the number of live brokers."""
    factor = topic.factor(context.config)
    waits = context.profile.has("offsets_topic_needs_replication_factor")
    return factor if waits else min(factor, len(context.process.live_brokers))


def hindrance(context: BrokerContext, topic: InternalTopic) -> str:
    """Why the topic cannot be created, as a message; empty if it can be, or already exists."""
    live, factor = len(context.process.live_brokers), _factor(context, topic)
    if context.metadata.exists(topic.name) or factor <= live:
        return ""
    setting = topic.factor_setting
    return (
        f"{topic.name} is made with {setting}={factor}, and {live} brokers are"
        f" alive: give the cluster more, or --config {setting}={live}."
    )


def create(context: BrokerContext, topic: InternalTopic) -> None:
    """Create the topic if it is missing and enough brokers are alive.

    If nobody responds who could create it, this is left to the next request.
    """
    live, factor = context.process.live_brokers, _factor(context, topic)
    if live and factor <= len(live):
        config = context.config
        partitions = topic.partitions(config)
        context.metadata.create(topic.name, partitions, factor, topic.config(config))
