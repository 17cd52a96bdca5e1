"""AlterPartition: ISR changes requested by leaders.

Source: ``ReplicationControlManager`` (alterPartition, validateAlterPartitionData), 3.9 to 4.1;
KIP-497, KIP-704 (leader recovery state), KIP-841 (eligible ISR members), KIP-903 (broker epochs).
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from emulator.metadata_log.changes import TopicIdPartition, TopicImage
from emulator.metadata_log.records import NO_LEADER_CHANGE, RECOVERED, RECOVERING, AnyRecord
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.partition_change_builder import Election, PartitionChangeBuilder
from emulator.quorum_controller.result import Result

UNCHECKED_EPOCH: Final = -1
"""The broker epoch of an ISR member that is not checked."""


class AlterPartitionItem(Struct, frozen=True):
    """A partition's epochs as known to its leader, and the requested ISR.

    ``new_isr`` maps each member to the broker epoch of its last fetch, or -1.
    """

    topic_id: str
    partition: int
    leader_epoch: int
    partition_epoch: int
    new_isr: tuple[tuple[int, int], ...]
    leader_recovery_state: int = RECOVERED


class AlterPartitionResult(Struct, frozen=True):
    """The error, or the partition's current state.

    NEW_LEADER_ELECTED is returned together with a record: the change completed a reassignment that
    removed the leader.
    """

    error: str
    partition: PartitionRegistration | None = None


def alter_partition(
    context: Context, broker: int, broker_epoch: int, items: Iterable[AlterPartitionItem]
) -> Result[dict[TopicIdPartition, AlterPartitionResult]]:
    """Change the ISRs of partitions led by ``broker``.

    Raises:
        ApiException: STALE_BROKER_EPOCH for the whole request.
    """
    context.check_broker_epoch(broker, broker_epoch)
    records: list[AnyRecord] = []
    response = {}
    for item in items:
        key = TopicIdPartition(item.topic_id, item.partition)
        topic = context.image.topics.get(item.topic_id)
        error = "UNKNOWN_TOPIC_ID" if topic is None else _refusal(context, broker, topic, item)
        if topic is None or error is not None:
            response[key] = AlterPartitionResult(error or "UNKNOWN_TOPIC_ID")
            continue
        partition = topic.partitions[item.partition]
        record = PartitionChangeBuilder(
            partition,
            context.active_brokers(),
            context.image.brokers,
            context.election_rules(topic),
            Election.UNCLEAN if context.elects_uncleanly(topic.name) else Election.ONLINE,
            target_isr=tuple(member for member, _ in item.new_isr),
            target_leader_recovery_state=item.leader_recovery_state,
        ).build(key)
        if record is not None:
            records.append(record)
            partition = partition.merge(record)
            if record.leader not in (broker, NO_LEADER_CHANGE):
                response[key] = AlterPartitionResult("NEW_LEADER_ELECTED")
                continue
        response[key] = AlterPartitionResult("NONE", partition)
    return Result(records, response)


def _refusal(
    context: Context, broker: int, topic: TopicImage, item: AlterPartitionItem
) -> str | None:
    """Return the error for an invalid change, or None."""
    partition = topic.partitions.get(item.partition)
    if partition is None:
        return "UNKNOWN_TOPIC_OR_PARTITION"
    return (
        _stale_epoch(broker, partition, item)
        or _invalid_isr(partition, item)
        or _ineligible_replica(context, item)
    )


def _stale_epoch(
    broker: int, partition: PartitionRegistration, item: AlterPartitionItem
) -> str | None:
    # A leader with newer epochs than the controller: this controller is no longer active.
    if (
        item.leader_epoch > partition.leader_epoch
        or item.partition_epoch > partition.partition_epoch
    ):
        return "NOT_CONTROLLER"
    if item.leader_epoch < partition.leader_epoch:
        return "FENCED_LEADER_EPOCH"
    if broker != partition.leader:
        return "INVALID_REQUEST"
    return "INVALID_UPDATE_VERSION" if item.partition_epoch < partition.partition_epoch else None


def _invalid_isr(partition: PartitionRegistration, item: AlterPartitionItem) -> str | None:
    isr = [member for member, _ in item.new_isr]
    is_valid = (
        len(set(isr)) == len(isr)
        and set(isr) <= set(partition.replicas)
        and partition.leader in isr
    )
    recovers = item.leader_recovery_state == RECOVERING
    if recovers and (len(isr) > 1 or partition.leader_recovery_state == RECOVERED):
        is_valid = False
    return None if is_valid else "INVALID_REQUEST"


def _ineligible_replica(context: Context, item: AlterPartitionItem) -> str | None:
    for member, epoch in item.new_isr:
        registration = context.image.brokers.get(member)
        is_eligible = registration is not None and registration.is_active
        if not is_eligible or epoch not in (UNCHECKED_EPOCH, context.image.brokers[member].epoch):
            return "INELIGIBLE_REPLICA"
    return None
