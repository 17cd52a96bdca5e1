"""Changes of single partitions: by their leaders, by administrators, and by periodic tasks."""

from collections.abc import Callable, Iterator

from emulator.metadata_log.changes import TopicIdPartition, TopicImage
from emulator.metadata_log.records import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERED,
    AnyRecord,
    PartitionChangeRecord,
)
from emulator.metadata_log.registrations import PartitionRegistration
from emulator.quorum_controller.alter_partition import AlterPartitionItem, alter_partition
from emulator.quorum_controller.directories import assign_replicas_to_dirs
from emulator.quorum_controller.elections import elect_leaders
from emulator.quorum_controller.explanation.match import Attempt, Match, NoRule, in_any_order
from emulator.quorum_controller.explanation.rules import Rule
from emulator.quorum_controller.explanation.text import broker_list, listed
from emulator.quorum_controller.partition_change_builder import Election, PartitionChangeBuilder
from emulator.quorum_controller.reassignments import alter_partition_reassignments
from emulator.quorum_controller.result import ApiException


class Change:
    """A change of a partition, with what it changes."""

    def __init__(self, attempt: Attempt, record: PartitionChangeRecord) -> None:
        observed = attempt.observed
        topic = observed.image.topics.get(record.topic_id)
        if topic is None:
            deleted = observed.deleted.get(record.topic_id)
            if deleted is not None:
                raise NoRule(f"topic {deleted.name} was deleted at offset {deleted.offset:,}")
            raise NoRule(f"there is no topic with the id {record.topic_id}")
        partition = topic.partitions.get(record.partition_id)
        if partition is None:
            count = len(topic.partitions)
            raise NoRule(
                f"topic {topic.name} has {count} partitions, and none is number"
                f" {record.partition_id}"
            )
        self.attempt = attempt
        self.context = attempt.context
        self.record = in_any_order(record)
        self.topic: TopicImage = topic
        self.partition: PartitionRegistration = partition
        self.key = TopicIdPartition(topic.id, record.partition_id)
        self.name = f"{topic.name}-{record.partition_id}"

    def is_one_of(self, records: list[AnyRecord]) -> bool:
        """Whether the rule's records are this one."""
        return any(
            isinstance(record, PartitionChangeRecord) and in_any_order(record) == self.record
            for record in records
        )


def match_change(attempt: Attempt) -> Match:
    """Return the rule that permits the first record, a change of a partition on its own.

    Raises:
        NoRule: there is none.
    """
    record = attempt.entry.record
    assert isinstance(record, PartitionChangeRecord)
    change = Change(attempt, record)
    for rule, outcome in _RULES:
        try:
            because = next(
                (text for text, records in outcome(change) if change.is_one_of(records)), None
            )
        except (ApiException, KeyError, ValueError, IndexError):
            continue
        if because is not None:
            return Match(1, rule, because)
    raise NoRule(reason(change))


Outcomes = Iterator[tuple[str, list[AnyRecord]]]


def _alter_partition(change: Change) -> Outcomes:
    partition, record = change.partition, change.record
    leader = partition.leader
    if leader == NO_LEADER:
        return
    isr = partition.isr if record.isr is None else record.isr
    if leader not in isr and leader in partition.removing_replicas:
        isr = (*isr, leader)
    states = dict.fromkeys((RECOVERED, partition.leader_recovery_state))
    for state in states:
        item = AlterPartitionItem(
            *change.key,
            partition.leader_epoch,
            partition.partition_epoch,
            tuple((member, -1) for member in isr),
            state,
        )
        epoch = change.context.image.brokers[leader].epoch
        yield (
            _isr_change(change, isr),
            alter_partition(change.context, leader, epoch, [item]).records,
        )


def _isr_change(change: Change, isr: tuple[int, ...]) -> str:
    partition = change.partition
    heard = change.attempt.observed.heard
    added = [broker for broker in isr if broker not in partition.isr]
    removed = [broker for broker in partition.isr if broker not in isr]
    parts, since = [], []
    replicas = partition.replicas if change.record.replicas is None else change.record.replicas
    behind = [broker for broker in removed if broker in replicas]
    if added:
        parts.append(f"{broker_list(added)} caught up with it")
        since = [
            f"broker {broker} {heard[broker].removeprefix('it ')}"
            for broker in added
            if broker in heard
        ]
    if behind:
        parts.append(f"{broker_list(behind)} did not catch up within replica.lag.time.max.ms")
    if not added and not removed:
        parts.append("it has recovered from an unclean election")
    if change.record.replicas is not None:
        without = [broker for broker in partition.replicas if broker not in replicas]
        which = f", which takes the partition from {broker_list(without)}" if without else ""
        parts.append(f"that completes the reassignment{which}")
    causes = f"broker {partition.leader} leads, and {', and '.join(parts)}"
    return f"{causes}; {since[0]}" if len(since) == 1 else causes


def _preferred_election(change: Change) -> Outcomes:
    response = elect_leaders(change.context, Election.PREFERRED, [_named(change)])
    preferred = change.partition.preferred_replica
    yield (
        f"broker {preferred} is the preferred replica: an administrator or"
        " auto.leader.rebalance.enable wanted it to lead",
        response.records,
    )


def _unclean_election(change: Change) -> Outcomes:
    response = elect_leaders(change.context, Election.UNCLEAN, [_named(change)])
    configured = change.context.elects_uncleanly(change.topic.name)
    by = "unclean.leader.election.enable is on" if configured else "an administrator wanted it"
    yield f"there was no leader, and {by}", response.records


def _reassignment(change: Change) -> Outcomes:
    record, partition = change.record, change.partition
    replicas = partition.replicas if record.replicas is None else record.replicas
    removing = record.removing_replicas
    if removing is None:
        removing = partition.removing_replicas
    target = tuple(replica for replica in replicas if replica not in removing)
    records = alter_partition_reassignments(change.context, {_named(change): target}).records
    yield f"an administrator reassigned it to {listed(target)}", records


def _cancellation(change: Change) -> Outcomes:
    records = alter_partition_reassignments(change.context, {_named(change): None}).records
    yield "an administrator cancelled the reassignment", records


def _directory(change: Change) -> Outcomes:
    partition, record = change.partition, change.record
    if record.directories is None:
        return
    for index, broker in enumerate(partition.replicas):
        directory = record.directories[index] if record.directories else 0
        if directory == partition.directory(broker):
            continue
        epoch = change.context.image.brokers[broker].epoch
        result = assign_replicas_to_dirs(change.context, broker, epoch, directory, [change.key])
        yield f"broker {broker} told where its replica is", result.records


def _departure(change: Change) -> Outcomes:
    """A broker leaves an ISR that is shutting down, or whose directory is not available."""
    partition, context = change.partition, change.context
    for broker in partition.isr:
        registration = context.image.brokers[broker]
        if registration.in_controlled_shutdown:
            because = f"broker {broker} is shutting down"
        elif not registration.has_online(partition.directory(broker)):
            because = f"broker {broker} has its replica in a failed directory"
        else:
            continue
        is_unclean = context.elects_uncleanly(change.topic.name)
        built = PartitionChangeBuilder(
            partition,
            context.active_brokers() - {broker},
            context.image.brokers,
            context.election_rules(change.topic),
            Election.UNCLEAN if is_unclean else Election.ONLINE,
            target_isr=tuple(member for member in partition.isr if member != broker),
        ).build(change.key)
        yield because, [] if built is None else [built]


def _named(change: Change) -> tuple[str, int]:
    return change.topic.name, change.key.partition


_RULES: tuple[tuple[Rule, Callable[[Change], Outcomes]], ...] = (
    (Rule.ALTER_PARTITION, _alter_partition),
    (Rule.PREFERRED_ELECTION, _preferred_election),
    (Rule.UNCLEAN_ELECTION, _unclean_election),
    (Rule.REASSIGNMENT, _reassignment),
    (Rule.REASSIGNMENT_CANCELLED, _cancellation),
    (Rule.DIRECTORY_ASSIGNMENT, _directory),
    (Rule.CONTROLLED_SHUTDOWN, _departure),
)


# ---- why not


def reason(change: Change) -> str:
    """Return why no rule makes a change: it is impossible, or nothing causes it."""
    for check in (_impossible_replicas, _impossible_isr, _impossible_elr, _impossible_leader):
        impossible = check(change)
        if impossible is not None:
            return impossible
    partition = change.partition
    changes = ", ".join(
        f"{name} {listed(value) if isinstance(value, tuple) else value}"
        for name, value in _changed_fields(change.record)
    )
    return (
        f"nothing causes this change of {change.name}, which has leader {partition.leader} and ISR"
        f" {listed(partition.isr)}: {changes or 'nothing changes'}"
    )


def _changed_fields(record: PartitionChangeRecord) -> Iterator[tuple[str, object]]:
    unchanged = PartitionChangeRecord(record.partition_id, record.topic_id)
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value != getattr(unchanged, name):
            yield name.replace("_", " "), value


def _impossible_replicas(change: Change) -> str | None:
    replicas = change.record.replicas
    if replicas is None:
        return None
    if len(set(replicas)) < len(replicas):
        return f"a replica stands twice in {listed(replicas)} of {change.name}"
    unknown = [replica for replica in replicas if replica not in change.context.image.brokers]
    if unknown:
        return f"{broker_list(unknown)} of the replicas of {change.name} is not registered"
    return None


def _impossible_isr(change: Change) -> str | None:
    isr, image = change.record.isr, change.context.image
    if isr is None:
        return None
    after = change.partition.merge(change.record)
    if len(set(isr)) < len(isr):
        return f"a member stands twice in the ISR {listed(isr)} of {change.name}"
    strangers = [member for member in isr if member not in after.replicas]
    if strangers:
        return (
            f"{broker_list(strangers)} in the ISR of {change.name} is none of its replicas"
            f" {listed(after.replicas)}"
        )
    for member in isr:
        if member not in change.partition.isr and not image.is_active(member):
            return f"broker {member} joins the ISR of {change.name} and {_state(change, member)}"
    return None


def _impossible_elr(change: Change) -> str | None:
    elr, partition = change.record.eligible_leader_replicas, change.partition
    if not elr:
        return None
    if not change.context.image.elr_enabled:
        return f"{change.name} has an ELR, and eligible.leader.replicas.version is 0"
    strangers = [member for member in elr if member not in (*partition.isr, *partition.elr)]
    if strangers:
        return (
            f"{broker_list(strangers)} enters the ELR of {change.name} and was in neither its ISR"
            f" {listed(partition.isr)} nor its ELR {listed(partition.elr)}"
        )
    return None


def _impossible_leader(change: Change) -> str | None:
    leader, partition = change.record.leader, change.partition
    if leader in (NO_LEADER, NO_LEADER_CHANGE, partition.leader):
        return None
    if not change.context.image.is_active(leader):
        return f"broker {leader} is elected for {change.name} and {_state(change, leader)}"
    after = partition.merge(change.record)
    if leader not in after.replicas:
        return f"leader {leader} of {change.name} is none of its replicas {listed(after.replicas)}"
    if leader in (*partition.isr, *partition.elr):
        return None
    is_on = change.context.elects_uncleanly(change.topic.name)
    unclean = "on, but this is no unclean election" if is_on else "off"
    if change.record.leader_recovery_state == NO_RECOVERY_CHANGE or not is_on:
        return (
            f"leader {leader} of {change.name} is outside ISR {listed(partition.isr)} and ELR"
            f" {listed(partition.elr)}, and unclean election is {unclean}"
        )
    return None


def _state(change: Change, broker: int) -> str:
    registration = change.context.image.brokers.get(broker)
    if registration is None:
        return "is not registered"
    return "is fenced" if registration.fenced else "is shutting down"
