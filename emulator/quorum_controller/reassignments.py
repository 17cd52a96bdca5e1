"""Requests to start, cancel or list reassignments.

Source: ``ReplicationControlManager`` (alterPartitionReassignments, listPartitionReassignments), 3.9
to 4.1; KIP-455, KIP-860 (allow.replication.factor.change).
"""

from collections.abc import Iterable, Mapping

from emulator.metadata_log.changes import TopicIdPartition, TopicImage
from emulator.metadata_log.records import AnyRecord, PartitionChangeRecord, Replicas
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.quorum_controller import reassignment
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.partition_change_builder import Election, PartitionChangeBuilder
from emulator.quorum_controller.result import ApiError, ApiException, Result, take_room
from emulator.quorum_controller.topics import check_manual_assignment

TopicPartition = tuple[str, int]


def alter_partition_reassignments(
    context: Context,
    targets: Mapping[TopicPartition, Replicas | None],
    *,
    allow_replication_factor_change: bool = True,
) -> Result[dict[TopicPartition, ApiError]]:
    """Reassign partitions, or with None cancel their reassignment; one atomic batch.

    ``allow_replication_factor_change`` has no effect before 4.1 (KIP-860).
    """
    keeps_factor = (
        context.rules.replication_factor_change_refusable and not allow_replication_factor_change
    )
    records: list[AnyRecord] = []
    response = {}
    for key, target in targets.items():
        try:
            record = _alter(context, key, target, keeps_factor=keeps_factor)
            take_room(records, [] if record is None else [record])
        except ApiException as refused:
            response[key] = refused.as_error()
        else:
            response[key] = ApiError()
    return Result(records, response, is_atomic=True)


def list_partition_reassignments(
    context: Context, partitions: Iterable[TopicPartition] | None = None
) -> dict[TopicPartition, PartitionRegistration]:
    """Return the ongoing reassignments of these partitions; None means all."""
    if partitions is None:
        ongoing = {
            (context.image.topics[topic_id].name, number): None
            for topic_id, numbers in context.state.partitions.reassigning.items()
            for number in numbers
        }
        partitions = ongoing
    listed = {}
    for name, number in partitions:
        registration = context.image.partition(name, number)
        if registration is not None and registration.is_reassigning:
            listed[name, number] = registration
    return listed


def _alter(
    context: Context, key: TopicPartition, target: Replicas | None, *, keeps_factor: bool
) -> PartitionChangeRecord | None:
    name, number = key
    topic = context.topic(name)
    partition = topic.partitions.get(number)
    if partition is None:
        raise ApiException(
            "UNKNOWN_TOPIC_OR_PARTITION",
            f"Topic {name!r} has the partitions 0 to {len(topic.partitions) - 1}, not {number}.",
        )
    partition_id = TopicIdPartition(topic.id, number)
    if target is None:
        return _cancel(context, topic, partition_id, partition)
    check_manual_assignment(context, target, None)
    if keeps_factor:
        _check_replication_factor(partition, target)
    started = reassignment.begin(partition.replicas, target)
    return PartitionChangeBuilder(
        partition,
        context.active_brokers(),
        context.image.brokers,
        context.election_rules(topic),
        target_replicas=started.replicas,
        target_removing=started.removing or None,
        target_adding=started.adding or None,
    ).build(partition_id)


def _cancel(
    context: Context, topic: TopicImage, key: TopicIdPartition, partition: PartitionRegistration
) -> PartitionChangeRecord | None:
    if not partition.is_reassigning:
        raise ApiException(
            "NO_REASSIGNMENT_IN_PROGRESS",
            f"Nothing is being reassigned in {topic.name}-{key.partition}.",
        )
    is_unclean = context.elects_uncleanly(topic.name)
    reverted = reassignment.revert(partition)
    if reverted.unclean and not is_unclean:
        raise ApiException(
            "INVALID_REPLICA_ASSIGNMENT",
            f"Only added replicas of {topic.name}-{key.partition} are in sync: without them it"
            " needs an unclean election, which unclean.leader.election.enable forbids.",
        )
    return PartitionChangeBuilder(
        partition,
        context.active_brokers(),
        context.image.brokers,
        context.election_rules(topic),
        Election.UNCLEAN if is_unclean else Election.ONLINE,
        target_isr=reverted.isr,
        target_replicas=reverted.replicas,
        target_removing=(),
        target_adding=(),
    ).build(key)


def _check_replication_factor(partition: PartitionRegistration, target: Replicas) -> None:
    now = {*partition.replicas, *partition.adding_replicas} - {*partition.removing_replicas}
    if len(now) != len(target):
        raise ApiException(
            "INVALID_REPLICATION_FACTOR",
            f"The replication factor is {len(now)} and may not become {len(target)}.",
        )
