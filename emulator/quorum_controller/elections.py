"""Requested and periodic leader elections.

Source: ``ReplicationControlManager`` (electLeaders, maybeBalancePartitionLeaders,
maybeElectUncleanLeaders), 3.9 to 4.1.
"""

from collections.abc import Iterable
from typing import Final

from emulator.metadata_log.changes import TopicIdPartition, TopicImage
from emulator.metadata_log.records import AnyRecord, PartitionChangeRecord
from emulator.quorum_controller.context import Context
from emulator.quorum_controller.partition_change_builder import Election, PartitionChangeBuilder
from emulator.quorum_controller.result import ApiError, ApiException, Result, user_operation

MAX_ELECTIONS_PER_IMBALANCE: Final = 1_000
"""The maximum number of elections in a periodic check, which is then repeated at once."""

TopicPartition = tuple[str, int]


def elect_leaders(
    context: Context, election: Election, partitions: Iterable[TopicPartition] | None
) -> Result[dict[TopicPartition, ApiError]]:
    """Elect preferred leaders, or leaders uncleanly; None means all partitions.

    A requested unclean election ignores the configuration. For all partitions, those that need no
    election are omitted from the response.
    """
    records: list[AnyRecord] = []
    response = {}
    keys = partitions
    if partitions is None:
        keys = [(topic.name, number) for topic, number, _ in context.image.partitions()]
    for key in keys or ():
        try:
            records.append(_elect(context, election, key))
        except ApiException as refused:
            if partitions is not None or refused.error != "ELECTION_NOT_NEEDED":
                response[key] = refused.as_error()
        else:
            response[key] = ApiError()
    return user_operation(records, response, is_atomic=False)


def maybe_elect_unclean_leaders(context: Context) -> Result[bool]:
    """Elect leaders uncleanly for leaderless partitions whose configuration allows it.

    The response is whether there may be more to do.
    """
    records: list[AnyRecord] = []
    for key in context.state.partitions.partitions_with_no_leader():
        topic = context.image.topics[key.topic_id]
        if not context.elects_uncleanly(topic.name):
            continue
        record = _change(context, topic, key, Election.UNCLEAN)
        if record is not None:
            records.append(record)
            if len(records) >= MAX_ELECTIONS_PER_IMBALANCE:
                break
    return Result(records, len(records) >= MAX_ELECTIONS_PER_IMBALANCE)


def maybe_balance_partition_leaders(context: Context) -> Result[bool]:
    """Move leadership back to the preferred replicas that are eligible.

    Unlike in ZooKeeper mode, the imbalance percentage of a broker does not matter. The response is
    whether there may be more to do.
    """
    records: list[AnyRecord] = []
    for key in context.state.partitions.imbalanced_partitions():
        topic = context.image.topics[key.topic_id]
        record = _change(context, topic, key, Election.PREFERRED)
        if record is not None:
            records.append(record)
            if len(records) >= MAX_ELECTIONS_PER_IMBALANCE:
                break
    return Result(records, len(records) >= MAX_ELECTIONS_PER_IMBALANCE)


def _elect(context: Context, election: Election, key: TopicPartition) -> PartitionChangeRecord:
    name, number = key
    topic = context.topic(name)
    partition = topic.partitions.get(number)
    if partition is None:
        raise ApiException(
            "UNKNOWN_TOPIC_OR_PARTITION",
            f"Topic {name!r} has the partitions 0 to {len(topic.partitions) - 1}, not {number}.",
        )
    is_preferred = election is Election.PREFERRED
    if partition.has_preferred_leader if is_preferred else partition.has_leader:
        raise ApiException(
            "ELECTION_NOT_NEEDED", f"Broker {partition.leader} leads {name}-{number}."
        )
    record = _change(context, topic, TopicIdPartition(topic.id, number), election)
    if record is None and is_preferred:
        raise ApiException(
            "PREFERRED_LEADER_NOT_AVAILABLE",
            f"Broker {partition.preferred_replica}, which {name}-{number} prefers, is not in sync,"
            " fenced, or shutting down.",
        )
    if record is None:
        raise ApiException(
            "ELIGIBLE_LEADERS_NOT_AVAILABLE",
            f"No replica of {name}-{number} is unfenced: {list(partition.replicas)}.",
        )
    return record


def _change(
    context: Context, topic: TopicImage, key: TopicIdPartition, election: Election
) -> PartitionChangeRecord | None:
    return PartitionChangeBuilder(
        topic.partitions[key.partition],
        context.active_brokers(),
        context.image.brokers,
        context.election_rules(topic),
        election,
    ).build(key)
