"""Assignment of replicas to log directories (KIP-858).

Source: ``ReplicationControlManager.handleAssignReplicasToDirs`` 3.9 to 4.1.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from emulator.metadata_log.changes import TopicIdPartition
from emulator.metadata_log.records import AnyRecord
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.partition_change_builder import PartitionChangeBuilder
from emulator.quorum_controller.result import Result


def assign_replicas_to_dirs(
    context: Context,
    broker: int,
    broker_epoch: int,
    directory: int,
    partitions: Iterable[TopicIdPartition],
) -> Result[dict[TopicIdPartition, str]]:
    """Note that a broker has its replicas of some partitions in one of its directories.

    Each is a change of the partition, so its partition epoch rises. The replica cannot be elected
    in this very change: a partition without a leader waits for the next unfencing of a broker. The
    response has the error of each partition. From 4.0 to 4.2 the change also empties the ELR: it is
    made as if ELR were off.

    Raises:
        ApiException: STALE_BROKER_EPOCH if the broker's registered epoch differs.
    """
    context.check_broker_epoch(broker, broker_epoch)
    records: list[AnyRecord] = []
    response: dict[TopicIdPartition, str] = {}
    for key in partitions:
        topic = context.image.topics.get(key.topic_id)
        partition = None if topic is None else topic.partitions.get(key.partition)
        if topic is None or partition is None:
            response[key] = "UNKNOWN_TOPIC_OR_PARTITION" if topic else "UNKNOWN_TOPIC_ID"
        elif broker not in partition.replicas:
            response[key] = "NOT_LEADER_OR_FOLLOWER"
        else:
            rules = context.election_rules(topic)
            if context.rules.directory_assignment_clears_elr:
                rules = replace(rules, elr_enabled=False)
            record = PartitionChangeBuilder(
                partition,
                context.active_brokers(),
                context.image.brokers,
                rules,
                directory=(broker, directory),
            ).build(key)
            records += [record] if record is not None else []
            response[key] = "NONE"
    return Result(records, response)
