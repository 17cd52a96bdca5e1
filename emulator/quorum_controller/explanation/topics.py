"""Topics, partitions and configurations: what administrators asked for."""

from collections.abc import Sequence

from emulator.common.names import is_topic_name
from emulator.metadata_log.records import (
    BROKER_RESOURCE,
    GROUP_RESOURCE,
    METRICS_RESOURCE,
    RECOVERED,
    TOPIC_RESOURCE,
    ClearElrRecord,
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from emulator.metadata_log.registrations import directories_of
from emulator.quorum_controller.context import MIN_INSYNC_REPLICAS
from emulator.quorum_controller.explanation.entry import Entry
from emulator.quorum_controller.explanation.match import Attempt, Match, NoRule
from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.explanation.text import listed
from emulator.quorum_controller.result import ApiException
from emulator.quorum_controller.topics import check_manual_assignment
from emulator.wire.metadata import messages as wire


def match_topic(attempt: Attempt) -> Match:
    """Return the creation of the topic that the first record names, with all its partitions.

    Raises:
        NoRule: its name, or one of its partitions, is not what a new topic may have.
    """
    record, image = attempt.entry.record, attempt.context.image
    assert isinstance(record, TopicRecord)
    if record.name in image.topic_ids:
        raise NoRule(f"there is a topic {record.name} already")
    if record.topic_id in image.topics or record.topic_id in attempt.observed.deleted:
        raise NoRule(f"there was a topic with the id {record.topic_id} already")
    if not is_topic_name(record.name):
        raise NoRule(f"{record.name!r} cannot be a topic's name")
    for other in image.topic_ids:
        if other.replace(".", "_") == record.name.replace(".", "_"):
            raise NoRule(f"topic {record.name} collides with the topic {other}")
    count = 1
    count += _configs(attempt, record.name, attempt.entries[1:])
    partitions = _partitions(attempt.entries[count:], record.topic_id)
    if not partitions:
        raise NoRule(f"topic {record.name} has no partitions")
    _check_partitions(attempt, record.name, partitions, 0, None)
    because = (
        f"topic {record.name} was asked for, with {len(partitions)}"
        f" {'partition' if len(partitions) == 1 else 'partitions'}"
    )
    return Match(count + len(partitions), Rule.TOPIC_CREATION, because)


def match_partitions(attempt: Attempt) -> Match:
    """Return the creation of further partitions of a topic.

    Raises:
        NoRule: the topic does not exist, or may not have such a partition.
    """
    record, observed = attempt.entry.record, attempt.observed
    assert isinstance(record, PartitionRecord)
    topic = observed.image.topics.get(record.topic_id)
    if topic is None:
        deleted = observed.deleted.get(record.topic_id)
        if deleted is not None:
            raise NoRule(f"topic {deleted.name} was deleted at offset {deleted.offset:,}")
        raise NoRule(f"there is no topic with the id {record.topic_id}")
    existing = topic.partitions
    if record.partition_id in existing:
        raise NoRule(f"there is a partition {topic.name}-{record.partition_id} already")
    partitions = _partitions(attempt.entries, record.topic_id)
    factor = len(existing[0].replicas) if 0 in existing else None
    _check_partitions(attempt, topic.name, partitions, len(existing), factor)
    because = f"topic {topic.name} was to have {len(existing) + len(partitions)} partitions"
    return Match(len(partitions), Rule.PARTITION_CREATION, because)


def match_deletion(attempt: Attempt) -> Match:
    """Return the deletion of a topic.

    Raises:
        NoRule: there is no such topic.
    """
    record, observed = attempt.entry.record, attempt.observed
    assert isinstance(record, RemoveTopicRecord)
    topic = observed.image.topics.get(record.topic_id)
    if topic is None:
        deleted = observed.deleted.get(record.topic_id)
        if deleted is not None:
            raise NoRule(f"topic {deleted.name} was deleted before, at offset {deleted.offset:,}")
        raise NoRule(f"there is no topic with the id {record.topic_id}")
    return Match(1, Rule.TOPIC_DELETION, f"an administrator deleted topic {topic.name}")


def match_configs(attempt: Attempt) -> Match:
    """Return the change of configurations: all of one request that follow each other.

    Raises:
        NoRule: the resource does not exist, the value is the one that it has, or the ELRs were not
            cleared with min.insync.replicas.
    """
    first = attempt.entry.record
    if not isinstance(first, ConfigRecord):
        return _foreign_config(attempt)
    count, cleared, names = 0, [], []
    for entry in attempt.entries:
        record = entry.record
        if not isinstance(record, ConfigRecord):
            break
        count += 1
        _check_config(attempt, record)
        names.append(f"{record.name} of {_resource(record)}")
        if record.name == MIN_INSYNC_REPLICAS and attempt.observed.image.elr_enabled:
            is_topic = record.resource_type == TOPIC_RESOURCE
            cleared.append(ClearElrRecord(record.resource_name if is_topic else ""))
        follows = attempt.entries[count : count + len(cleared)]
        if cleared and [entry.record for entry in follows] == cleared:
            break  # a request ends with these
    because = f"an administrator set {', '.join(dict.fromkeys(names))}"
    if cleared:
        follows = attempt.entries[count : count + len(cleared)]
        if [entry.record for entry in follows] != cleared:
            raise NoRule("min.insync.replicas changes, and the ELRs are not cleared (KIP-966)")
    return Match(count + len(cleared), Rule.CONFIGURATION, because)


def _foreign_config(attempt: Attempt) -> Match:
    message = attempt.entry.message
    assert isinstance(message, wire.ConfigRecord)
    key = ("config", message.resource_type, message.resource_name, message.name)
    if attempt.observed.others.get(key) == message.value:
        raise NoRule(f"{message.name} of {message.resource_name} is that already")
    return Match(1, Rule.CONFIGURATION, f"{message.name} of {message.resource_name} was set")


def _check_config(attempt: Attempt, record: ConfigRecord) -> None:
    image, observed = attempt.observed.image, attempt.observed
    resource = record.resource_name
    if record.resource_type == TOPIC_RESOURCE:
        if resource not in image.topic_ids and not _is_created(attempt, resource):
            raise NoRule(f"{record.name} is set for topic {resource}, which does not exist")
        if image.topic_config(resource, record.name) == record.value:
            raise NoRule(f"{record.name} of topic {resource} is {record.value} already")
    elif resource and record.resource_type == BROKER_RESOURCE:
        nodes = {*image.brokers, *image.controllers, *observed.voters, observed.leader}
        if resource not in {str(node) for node in nodes}:
            raise NoRule(f"{record.name} is set for broker {resource}, which is not registered")
    if record.name != MIN_INSYNC_REPLICAS or not image.elr_enabled:
        return
    if record.resource_type == BROKER_RESOURCE and (record.value is None) != bool(resource):
        raise NoRule("min.insync.replicas is the cluster's alone while the ELR is on (KIP-966)")


def _is_created(attempt: Attempt, topic: str) -> bool:
    """Whether the same request creates the topic: up to 3.3 its configurations came first."""
    return any(
        isinstance(entry.record, TopicRecord) and entry.record.name == topic
        for entry in attempt.entries
    )


def _resource(record: ConfigRecord) -> str:
    if record.resource_type == TOPIC_RESOURCE:
        return f"topic {record.resource_name}"
    if record.resource_type == METRICS_RESOURCE:
        return f"subscription {record.resource_name}"
    if record.resource_type == GROUP_RESOURCE:
        return f"group {record.resource_name}"
    return f"broker {record.resource_name}" if record.resource_name else "all brokers"


def _configs(attempt: Attempt, topic: str, entries: Sequence[Entry]) -> int:
    """How many of the records are configurations of a new topic."""
    count = 0
    cleared = []
    for entry in entries:
        record = entry.record
        is_own = isinstance(record, ConfigRecord) and record.resource_name == topic
        if not is_own or not isinstance(record, ConfigRecord):
            break
        count += 1
        if record.name == MIN_INSYNC_REPLICAS and attempt.observed.image.elr_enabled:
            cleared.append(ClearElrRecord(topic))
    follows = [entry.record for entry in entries[count : count + len(cleared)]]
    if follows != cleared:
        raise NoRule(f"min.insync.replicas of topic {topic} is set, and no ClearElr follows")
    return count + len(cleared)


def _partitions(entries: Sequence[Entry], topic_id: str) -> list[PartitionRecord]:
    partitions: list[PartitionRecord] = []
    for entry in entries:
        record = entry.record
        if not isinstance(record, PartitionRecord) or record.topic_id != topic_id:
            break
        if partitions and record.partition_id != partitions[-1].partition_id + 1:
            break
        partitions.append(record)
    return partitions


def _check_partitions(
    attempt: Attempt,
    topic: str,
    partitions: Sequence[PartitionRecord],
    first: int,
    factor: int | None,
) -> None:
    context = attempt.context
    active = context.active_brokers()
    for number, record in enumerate(partitions, first):
        name = f"{topic}-{record.partition_id}"
        if record.partition_id != number:
            raise NoRule(
                f"the next partition of topic {topic} is number {number}, and it is"
                f" {record.partition_id}"
            )
        try:
            check_manual_assignment(context, record.replicas, factor)
        except ApiException as refused:
            reason = refused.message.removeprefix("Replica assignment: ").rstrip(".")
            raise NoRule(f"{name} has the replicas {listed(record.replicas)}: {reason}") from None
        factor = len(record.replicas)
        isr = tuple(broker for broker in record.replicas if broker in active)
        expected = PartitionRecord(
            *(record.partition_id, record.topic_id, record.replicas, isr),
            leader=isr[0] if isr else -1,
            leader_recovery_state=RECOVERED,
            directories=directories_of(record.replicas, context.image.brokers),
        )
        if not isr:
            raise NoRule(f"{name} is created, and none of its replicas is unfenced")
        if record != expected:
            raise NoRule(
                f"{name} begins with leader {record.leader}, ISR {listed(record.isr)}, leader epoch"
                f" {record.leader_epoch}, partition epoch {record.partition_epoch}; a new partition"
                f" has leader {expected.leader}, ISR {listed(isr)}, epochs 0 and 0, and nothing"
                " else"
            )
