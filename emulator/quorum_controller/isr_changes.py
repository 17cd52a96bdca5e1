"""Partition changes when a broker is fenced, unfenced, or shuts down.

Source: ``ReplicationControlManager`` (handleBrokerFenced, handleBrokerUnfenced,
handleBrokerInControlledShutdown, handleBrokerShutdown, generateLeaderAndIsrUpdates).
"""

from collections.abc import Iterable

from emulator.metadata_log.changes import TopicIdPartition, TopicImage
from emulator.metadata_log.records import (
    FENCE,
    IN_CONTROLLED_SHUTDOWN,
    UNFENCE,
    AnyRecord,
    BrokerRegistrationChangeRecord,
    UnregisterBrokerRecord,
)
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.partition_change_builder import (
    Election,
    ElectionRules,
    PartitionChangeBuilder,
)


def broker_fenced(context: Context, broker: int) -> list[AnyRecord]:
    """Remove a broker from every ISR, then fence it."""
    epoch = context.image.brokers[broker].epoch
    return [
        *_without_broker(context, broker),
        BrokerRegistrationChangeRecord(broker, epoch, fenced=FENCE),
    ]


def broker_unfenced(context: Context, broker: int, epoch: int) -> list[AnyRecord]:
    """Unfence a broker, and make it the leader of leaderless partitions where it is eligible.

    It is not added to any ISR: leaders do so with AlterPartition.
    """
    leaderless = context.state.partitions.partitions_with_no_leader()
    acceptable = context.active_brokers() | {broker}
    return [
        BrokerRegistrationChangeRecord(broker, epoch, fenced=UNFENCE),
        *_changes(context, leaderless, acceptable),
    ]


def broker_in_controlled_shutdown(context: Context, broker: int, epoch: int) -> list[AnyRecord]:
    """Mark a broker as shutting down, and remove it from every ISR."""
    records: list[AnyRecord] = []
    if not context.image.brokers[broker].in_controlled_shutdown:
        records.append(
            BrokerRegistrationChangeRecord(
                broker, epoch, in_controlled_shutdown=IN_CONTROLLED_SHUTDOWN
            )
        )
    return [*records, *_without_broker(context, broker)]


def broker_shut_down(context: Context, broker: int, *, is_clean: bool) -> list[AnyRecord]:
    """Remove a broker from the ISRs that re-registers without having been fenced (4.0+).

    After an unclean shutdown it may lack records, so it is also removed from the ELRs (KIP-966,
    KAFKA-18106).
    """
    if not context.rules.registration_handles_shutdown:
        return []
    if is_clean or not context.image.elr_enabled:
        return _without_broker(context, broker)
    partitions = context.state.partitions
    acceptable = context.active_brokers() - {broker}
    return [
        *_changes(
            context,
            partitions.partitions_with_broker_in_isr(broker),
            acceptable,
            remove=broker,
            unclean_shutdown=broker,
        ),
        *_changes(
            context,
            partitions.partitions_with_broker_in_elr(broker),
            acceptable,
            unclean_shutdown=broker,
        ),
    ]


def broker_unregistered(context: Context, broker: int) -> list[AnyRecord]:
    """Remove a broker from every ISR, and unregister it."""
    in_elr = context.state.partitions.partitions_with_broker_in_elr(broker)
    acceptable = context.active_brokers() - {broker}
    return [
        *_without_broker(context, broker),
        *_changes(context, in_elr, acceptable, remove=broker),
        UnregisterBrokerRecord(broker, context.image.brokers[broker].epoch),
    ]


def partitions_without(
    context: Context, broker: int, partitions: Iterable[TopicIdPartition]
) -> list[AnyRecord]:
    """Remove a broker from the ISRs of these partitions, where it does not lead any more."""
    acceptable = context.active_brokers() - {broker}
    return _changes(context, partitions, acceptable, remove=broker)


def _without_broker(context: Context, broker: int) -> list[AnyRecord]:
    in_isr = context.state.partitions.partitions_with_broker_in_isr(broker)
    return partitions_without(context, broker, in_isr)


def _changes(
    context: Context,
    partitions: Iterable[TopicIdPartition],
    acceptable: set[int],
    *,
    remove: int | None = None,
    unclean_shutdown: int | None = None,
) -> list[AnyRecord]:
    """Elect leaders where needed among ``acceptable`` brokers, with ``remove`` not in the ISR."""
    records: list[AnyRecord] = []
    topic: TopicImage | None = None
    rules = ElectionRules()
    election = Election.ONLINE
    for key in partitions:
        if topic is None or topic.id != key.topic_id:
            topic = context.image.topics[key.topic_id]
            rules = context.election_rules(topic)
            is_unclean = context.elects_uncleanly(topic.name)
            election = Election.UNCLEAN if is_unclean else Election.ONLINE
        partition = topic.partitions[key.partition]
        record = PartitionChangeBuilder(
            partition,
            acceptable,
            context.image.brokers,
            rules,
            election,
            target_isr=tuple(member for member in partition.isr if member != remove),
            unclean_shutdown=unclean_shutdown,
        ).build(key)
        if record is not None:
            records.append(record)
    return records
