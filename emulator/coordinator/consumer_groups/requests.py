"""A consumer group's requests as pure functions: what they change, and what they are answered.

Each returns the records to write; the caller applies them to the group. Source: the methods
``consumerGroupHeartbeat``, ``consumerGroupLeave``, ``consumerGroupFenceMember`` and
``maybeUpdateRegularExpressions`` of ``GroupMetadataManager`` 4.0 and 4.1.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from emulator.common.errors import NONE
from emulator.common.java_collections import ids_in_order, timeline_order
from emulator.common.regular_expressions import is_valid
from emulator.coordinator.consumer_groups import early_reconciliation
from emulator.coordinator.consumer_groups.assignors import range_assignor, uniform_assignor
from emulator.coordinator.consumer_groups.group import (
    AWAY,
    UNREVOKED,
    ConsumerGroup,
    Member,
    current_assignment_record,
    preferred_assignor,
    subscription_record,
)
from emulator.coordinator.consumer_groups.reconciliation import reconcile
from emulator.coordinator.consumer_groups.records import (
    CurrentAssignmentRecord,
    GroupEpochRecord,
    MemberRecord,
    Record,
    RegularExpressionRecord,
    SubscriptionMetadataRecord,
    TargetAssignmentRecord,
    TargetEpochRecord,
)
from emulator.coordinator.modern_groups import requests as modern
from emulator.coordinator.modern_groups.records import TopicMetadata
from emulator.coordinator.modern_groups.requests import (
    FENCED_EPOCH,
    INVALID,
    UNKNOWN_MEMBER,
    Refused,
    Topics,
    changed_targets,
    existing,
    first_epochs,
    hash_of,
    known_member,
    may_compute,
)
from emulator.coordinator.modern_groups.specification import (
    AssignorError,
    GroupSpec,
    MemberSpec,
    Partitions,
)
from emulator.protocol.consumer_groups import ConsumerGroupHeartbeatRequest

Outcome = modern.Outcome[Record, Member]

Assignors = Mapping[str, Callable[[GroupSpec], dict[str, Partitions]]]
ASSIGNORS: Final[Assignors] = {
    "uniform": uniform_assignor.assign,
    "range": range_assignor.assign,
}
"""The assignors by name, the default first."""
PREVIEWED_ASSIGNORS: Final[Assignors] = {
    "uniform": uniform_assignor.assign_as_previewed,
    "range": range_assignor.assign,
}
"""The assignors of 3.9."""
KEEPING_ASSIGNORS: Final[Assignors] = {
    "uniform": uniform_assignor.assign_as_previewed,
    "range": range_assignor.assign_and_keep,
}
"""The assignors of 3.8."""
EARLY_ASSIGNORS: Final[Assignors] = {
    "uniform": uniform_assignor.assign_in_turn,
    "range": range_assignor.assign_and_keep,
}
"""The assignors of 3.7."""
BOTH: Final = ("uniform", "range")
ASSIGNOR_ORDERS: Final = (BOTH, ("range", "uniform"), ("uniform",), ("range",), BOTH)
"""The values of group.consumer.assignors, the last one by classes."""
MEMBER_ID_SINCE: Final = 1
"""The first heartbeat version in which members make their ids themselves (KIP-1082)."""


class Rules(NamedTuple):
    """What a release and the configuration say about consumer groups.

    ``hashes_metadata``: the group's record has a hash of the topics' metadata in place of a record
    of its own (4.1, KIP-1101). ``drops_unsubscribed``: a member gives up topics as soon as it does
    not subscribe to them (4.2, KAFKA-19431). ``interval_us`` is the time between two target
    assignments of a group, None before 4.3 (KIP-1263). ``bumps_for_assignor``: the group's epoch is
    bumped if its members prefer another assignor (4.4). ``previewed`` are the rules of 3.9: other
    assignors, members that join with names of topics, partitions that a member has revoked but gets
    again only with its next heartbeat, classic groups that become consumer groups without the
    metadata of their topics, and static members of theirs that none of the new protocol replaces.
    ``keeps_ranges`` and ``reassigns_static`` are those of 3.8: the assignor ``range`` leaves
    members what they have, and a member that replaces a static one has a new target computed.
    ``is_early``: those of 3.7, which moves members in other steps, and assigns in turn.
    ``joins_again`` (4.2): members may join again with epoch 0.
    """

    max_size: int
    hashes_metadata: bool
    drops_unsubscribed: bool = False
    interval_us: int | None = None
    bumps_for_assignor: bool = False
    assignors: tuple[str, ...] = tuple(ASSIGNORS)
    previewed: bool = False
    keeps_ranges: bool = False
    reassigns_static: bool = False
    is_early: bool = False
    joins_again: bool = True

    @property
    def assign(self) -> Assignors:
        """The assignors by name."""
        if not self.previewed:
            return ASSIGNORS
        if self.is_early:
            return EARLY_ASSIGNORS
        return KEEPING_ASSIGNORS if self.keeps_ranges else PREVIEWED_ASSIGNORS


def validate(request: ConsumerGroupHeartbeatRequest, rules: Rules) -> None:
    """Check a heartbeat by itself.

    Raises:
        Refused: it is invalid.
    """
    _require(bool(request.group), "GroupId can't be empty.")
    _require(request.instance_id != "", "InstanceId can't be empty.")
    _require(request.rack_id != "", "RackId can't be empty.")
    makes_id = request.version >= MEMBER_ID_SINCE or request.member_epoch != 0
    if request.member_epoch < AWAY:
        raise Refused(INVALID, "MemberEpoch is invalid.")
    _require(bool(request.member_id) or not makes_id, "MemberId can't be empty.")
    if request.member_epoch == 0:
        timeout = request.rebalance_timeout_ms
        _require(timeout != -1, "RebalanceTimeoutMs must be provided in first request.")
        _require(request.owned == {}, "TopicPartitions must be empty when (re-)joining.")
        subscribes = request.topics is not None or request.regex is not None
        needed = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null"
        if rules.previewed:
            _require(bool(request.topics), "SubscribedTopicNames must be set in first request.")
        _require(subscribes, f"{needed} when (re-)joining.")
    if request.member_epoch == AWAY:
        _require(request.instance_id is not None, "InstanceId can't be null.")
    if request.assignor is not None and request.assignor not in rules.assignors:
        known = ", ".join(rules.assignors)
        raise Refused(
            "UNSUPPORTED_ASSIGNOR",
            f"ServerAssignor {request.assignor} is not supported. Supported assignors: {known}.",
        )


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise Refused(INVALID, message)


# ---- joining and staying


def heartbeat(
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    topics: Topics,
    rules: Rules,
    now_us: int,
) -> Outcome:
    """Add or update a member, and move it towards the target assignment.

    ``group`` is empty if it does not exist yet.

    Raises:
        Refused: the member is unknown or fenced, or the group is full.
    """
    name, joins = request.member_id, request.member_epoch == 0
    check_size(group, name, rules)
    records: list[Record] = []
    static = group.static_member(request.instance_id or "")
    old = _member_of(group, request, static, rules, records)
    step = subscribe(group, old, _updated(old, request), static, topics, rules, records, joins)
    member = advance(group, step, static, request.owned, topics, rules, now_us, records)
    is_full = joins or (
        request.rebalance_timeout_ms != -1
        and (request.topics is not None or request.regex is not None)
        and request.owned is not None
    )
    sends_assignment = is_full or member.assigned != old.assigned
    if rules.is_early:
        sends_assignment = joins or request.owned is not None or member != step.member
    assigned = member.assigned if sends_assignment else None
    return Outcome(records, member, assigned, step.reason, step.resolves)


def check_size(group: ConsumerGroup, name: str, rules: Rules) -> None:
    """Check that there is room for a member.

    Raises:
        Refused: the group is full, and the member is not in it.
    """
    if len(group.members) >= rules.max_size and name not in group.members:
        raise Refused(
            "GROUP_MAX_SIZE_REACHED",
            f"The consumer group has reached its maximum capacity of {rules.max_size} members.",
        )


class Step(NamedTuple):
    """A member as a request changes it, before it gets partitions.

    ``subscribed`` are the topics of the group's ``members``, and ``epoch`` is its epoch after the
    request, bumped for a ``reason``. ``changes``: the member subscribes to something else.
    """

    member: Member
    members: Mapping[str, Member]
    subscribed: Mapping[str, TopicMetadata]
    epoch: int
    reason: str
    changes: bool
    resolves: bool


def subscribe(  # noqa: PLR0917 - what a request is about
    group: ConsumerGroup,
    old: Member,
    new: Member,
    static: Member | None,
    topics: Topics,
    rules: Rules,
    records: list[Record],
    joins: bool,
) -> Step:
    """Let a member subscribe; ``static`` is the one that has its instance id until now."""
    if new != old:
        records.append(subscription_record(group.name, new))
    is_known, resolves = _regexes(group, old, new, records)
    bumps = ""
    # A new group leaves epoch 0, even if its regular expressions are not resolved yet.
    if new.topics != old.topics or is_known or not group.epoch:
        bumps = "a member joined" if joins else "a subscription changed"
    # A static member's former incarnation counts no more, whatever its id was.
    others = {m.id: m for m in group.members.values() if static is None or m.id != static.id}
    members = others | {new.id: new}
    subscribed = subscribed_topics(group, members, topics)
    default = rules.assignors[0]
    wants_other = group.preferred_assignor(default) != preferred_assignor(members, default)
    if rules.bumps_for_assignor and wants_other:
        bumps = bumps or "another assignor is preferred"
    epoch, reason = _epoch(group, subscribed, rules, bumps, records)
    changes = (old.topics, old.regex) != (new.topics, new.regex)
    return Step(new, members, subscribed, epoch, reason, changes, resolves)


def advance(  # noqa: PLR0917 - what a request is about
    group: ConsumerGroup,
    step: Step,
    static: Member | None,
    owned: Mapping[str, list[int]] | None,
    topics: Topics,
    rules: Rules,
    now_us: int,
    records: list[Record],
) -> Member:
    """Compute the target assignment if it is time, and move a member towards it."""
    new = step.member
    target = group.target.get(static.id if static is not None else new.id, {})
    target_epoch = group.assignment_epoch
    members = dict(step.members)
    replaced = static if rules.reassigns_static and not new.epoch else None
    if replaced is not None and replaced.id == new.id:
        del members[new.id]  # it is removed as the one that it replaces
        if rules.is_early:
            raise Refused("UNKNOWN_SERVER_ERROR", "")  # then it has no target: NullPointerException
    is_due = step.epoch > target_epoch and may_compute(group, rules.interval_us, now_us)
    if is_due or replaced is not None:
        try:
            computed = _target(group, members, step.subscribed, static, rules)
        except AssignorError as error:
            text = f"Failed to compute a new target assignment for epoch {step.epoch}: {error}"
            raise Refused("UNKNOWN_SERVER_ERROR", text) from None
        records += _target_records(group, rules, members, computed, step.epoch, now_us)
        target, target_epoch = computed.get(new.id, {}), step.epoch
    member = new
    gives_up = step.changes and rules.drops_unsubscribed
    if gives_up or not new.is_reconciled_to(target_epoch):
        owners = group.partition_epochs()
        if not rules.previewed:
            owners = _without(owners, new.revoking)
        if static is not None and static.id != new.id:
            owners = _without(owners, static.assigned, static.revoking)
        left = _unsubscribed(group, new, target, topics) if rules.drops_unsubscribed else set()
        if rules.is_early:
            member = early_reconciliation.reconcile(new, target, target_epoch, owners, owned)
        else:
            member = reconcile(new, target, target_epoch, owners, owned, left, gives_up=gives_up)
    if member != new:
        records.append(current_assignment_record(group.name, member))
    return member


def _unsubscribed(
    group: ConsumerGroup, member: Member, target: Partitions, topics: Topics
) -> set[str]:
    """The ids of topics that a member has or is to get, but does not subscribe to."""
    known = existing(topics_of(group, member), topics)
    subscribed = {topic.id for topic in known.values()}
    return {*member.assigned, *target} - subscribed


def _without(
    owners: dict[tuple[str, int], int], *passing: Partitions
) -> dict[tuple[str, int], int]:
    """Owners without those of partitions that a member may have at once.

    It has revoked them itself, or takes the place of the member that has them.
    """
    gone = {
        (topic, number)
        for partitions in passing
        for topic, numbers in partitions.items()
        for number in numbers
    }
    return {key: epoch for key, epoch in owners.items() if key not in gone}


def _member_of(
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    static: Member | None,
    rules: Rules,
    records: list[Record],
) -> Member:
    """The member before the request; a static one may take the place of its predecessor."""
    name, joins = request.member_id, request.member_epoch == 0
    if request.instance_id is None:
        if joins and name not in group.members:
            return Member(name)
        member = known_member(group, name)
        if not (joins and rules.joins_again):
            check_epoch(member, request.member_epoch, request.owned)
        return member
    if static is None:
        if not joins:
            raise Refused(UNKNOWN_MEMBER, f"Instance id {request.instance_id} is unknown.")
        return group.members.get(name, Member(name))
    if joins:
        if (rules.previewed or static.classic is None) and static.epoch != AWAY:
            raise Refused(
                "UNRELEASED_INSTANCE_ID",
                f"Static member {name} with instance id {request.instance_id} cannot join the "
                f"group because the instance id is owned by {static.id} member.",
            )
        return replace_static(group, static, name, rules, records)
    if static.id != name:
        raise Refused(
            "FENCED_INSTANCE_ID",
            f"Static member {name} with instance id {request.instance_id} was fenced by member "
            f"{static.id}.",
        )
    check_epoch(static, request.member_epoch, request.owned)
    return static


def replace_static(
    group: ConsumerGroup, static: Member, name: str, rules: Rules, records: list[Record]
) -> Member:
    """Let a member take the place of a static one, with its partitions."""
    records += removal_records(group, static)
    if rules.reassigns_static:
        return Member(name, topics=static.topics, assigned=static.assigned, regex=static.regex)
    successor = replace(static, id=name, epoch=0, previous_epoch=0)
    records.append(subscription_record(group.name, successor))
    records.append(TargetAssignmentRecord(group.name, name, group.target.get(static.id, {})))
    records.append(current_assignment_record(group.name, successor))
    return successor


def check_epoch(member: Member, epoch: int, owned: Mapping[str, list[int]] | None) -> None:
    """Check the epoch that a member sends.

    The previous epoch is accepted if it owns no more than it was assigned since: the response with
    the new epoch may have been lost.

    Raises:
        Refused: it must give up all partitions, and join again.
    """
    known = member.epoch
    if epoch > known:
        size = "greater"
    elif epoch < known and not (
        epoch == member.previous_epoch and _is_subset(owned, member.assigned)
    ):
        size = "smaller"
    else:
        return
    raise Refused(
        FENCED_EPOCH,
        f"The consumer group member has a {size} member epoch ({epoch}) than the one known by the "
        f"group coordinator ({known}). The member must abandon all its partitions and rejoin.",
    )


def _is_subset(owned: Mapping[str, list[int]] | None, assigned: Partitions) -> bool:
    if owned is None:
        return False
    return all(set(numbers) <= set(assigned.get(topic, ())) for topic, numbers in owned.items())


def _updated(member: Member, request: ConsumerGroupHeartbeatRequest) -> Member:
    """The member with what the request says; None in it means that nothing has changed."""
    timeout = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout == -1 else timeout,
        assignor=request.assignor or member.assignor,
        topics=member.topics if request.topics is None else sorted(set(request.topics)),
        regex=member.regex if request.regex is None else request.regex,
        client=request.client,
        host=request.host,
        classic=None,
    )


# ---- regular expressions


def _regexes(
    group: ConsumerGroup, old: Member, new: Member, records: list[Record]
) -> tuple[bool, bool]:
    """Whether a member has another regular expression that is known, and whether one is not.

    The topics of one that nobody has yet are found later, which bumps the group's epoch then.
    """
    if old.regex == new.regex:
        return False, False
    if old.regex and _subscribers(group, old.regex) == 1 and old.regex in group.regexes:
        records.append(RegularExpressionRecord(group.name, old.regex))
    if new.regex and not _subscribers(group, new.regex):
        if not is_valid(new.regex):
            raise Refused(
                "INVALID_REGULAR_EXPRESSION",
                f"SubscribedTopicRegex `{new.regex}` is not a valid regular expression.",
            )
        return False, True
    return True, False


def _subscribers(group: ConsumerGroup, regex: str) -> int:
    return sum(member.regex == regex for member in group.members.values())


# ---- the group's epoch and its target assignment


def subscribed_topics(
    group: ConsumerGroup, members: Mapping[str, Member], topics: Topics
) -> dict[str, TopicMetadata]:
    """The topics that members subscribe to, by name or regular expression, as far as they exist."""
    return existing(
        (name for member in members.values() for name in topics_of(group, member)), topics
    )


def topics_of(group: ConsumerGroup, member: Member) -> list[str]:
    """The names of the topics that a member subscribes to."""
    resolved = group.regexes.get(member.regex) if member.regex else None
    return sorted({*member.topics, *(resolved.topics if resolved else ())})


def _epoch(
    group: ConsumerGroup,
    subscribed: dict[str, TopicMetadata],
    rules: Rules,
    bumps: str,
    records: list[Record],
) -> tuple[int, str]:
    """The group's epoch after a request, and why it was bumped."""
    metadata_hash = hash_of(subscribed)
    if rules.hashes_metadata:
        changed_topics = metadata_hash != group.metadata_hash
    else:
        changed_topics = subscribed != group.subscribed
        if changed_topics:
            records.append(SubscriptionMetadataRecord(group.name, subscribed))
    reason = bumps or ("topics changed" if changed_topics else "")
    if not reason:
        return group.epoch, ""
    epoch = group.epoch + 1
    records.append(
        GroupEpochRecord(group.name, epoch, metadata_hash if rules.hashes_metadata else 0)
    )
    return epoch, reason


def refreshed(group: ConsumerGroup, topics: Topics, rules: Rules) -> list[Record]:
    """The records of a new epoch of a group whose regular expressions match other topics."""
    records: list[Record] = []
    _epoch(group, subscribed_topics(group, group.members, topics), rules, "resolved", records)
    return records


def _target(
    group: ConsumerGroup,
    members: Mapping[str, Member],
    subscribed: Mapping[str, TopicMetadata],
    static: Member | None,
    rules: Rules,
) -> dict[str, Partitions]:
    """Compute the target assignment of all members."""
    assignor = preferred_assignor(members, rules.assignors[0])
    specs: dict[str, MemberSpec] = {}
    for name in ids_in_order(
        [*(m for m in timeline_order(group.members) if m in members), *members]
    ):
        member = members[name]
        former = name
        if static is not None and member.instance_id == static.instance_id:
            former = static.id
        ids = [subscribed[t].id for t in topics_of(group, member) if t in subscribed]
        specs[name] = MemberSpec(member.instance_id, ids, group.target.get(former, {}))
    subscriptions = {tuple(spec.topics) for spec in specs.values()}
    mixed = {(bool(m.regex), m.regex) for m in members.values()}
    spec = GroupSpec(
        specs,
        {topic.id: topic.partitions for topic in subscribed.values()},
        len(subscriptions) <= 1 and len(mixed) <= 1,
        group.taken(),
    )
    return rules.assign[assignor](spec)


def _target_records(
    group: ConsumerGroup,
    rules: Rules,
    members: Mapping[str, Member],
    computed: Mapping[str, Partitions],
    epoch: int,
    now_us: int,
) -> list[Record]:
    """The records of a target assignment: of members with another one, then its epoch."""
    records: list[Record] = [
        TargetAssignmentRecord(group.name, name, target)
        for name, target in changed_targets(group, members, computed)
    ]
    at_us = 0 if rules.interval_us is None else now_us
    return [*records, TargetEpochRecord(group.name, epoch, at_us)]


# ---- leaving


def new_group(name: str, rules: Rules) -> ConsumerGroup:
    """A group without members; from 4.3 on its first epoch has an empty target assignment."""
    return ConsumerGroup(name, *first_epochs(rules.interval_us))


def leave(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> Member:
    """Return the member that leaves.

    Raises:
        Refused: there is no such member, or another has its instance id.
    """
    name, instance_id = request.member_id, request.instance_id
    if instance_id is None:
        return known_member(group, name)
    static = group.static_member(instance_id)
    if static is None:
        raise Refused(UNKNOWN_MEMBER, f"Instance id {instance_id} is unknown.")
    if static.id != name:
        raise Refused(
            "FENCED_INSTANCE_ID",
            f"Static member {name} with instance id {instance_id} was fenced by member "
            f"{static.id}.",
        )
    return static


def away(group: ConsumerGroup, member: Member) -> Outcome:
    """A static member that leaves for a while: it keeps its partitions until its session ends."""
    leaving = replace(member, epoch=AWAY, revoking={})
    return Outcome([current_assignment_record(group.name, leaving)], leaving)


def remove(
    group: ConsumerGroup, leaving: Sequence[Member], topics: Topics, rules: Rules
) -> Outcome:
    """Remove members that leave, or are fenced; the others get their partitions as they ask."""
    records = [record for member in leaving for record in removal_records(group, member)]
    gone = {member.id for member in leaving}
    members = {name: member for name, member in group.members.items() if name not in gone}
    subscribed_regexes = {member.regex for member in members.values()}
    for regex in dict.fromkeys(member.regex for member in leaving):
        if regex in group.regexes and regex not in subscribed_regexes:
            records.append(RegularExpressionRecord(group.name, regex))
    subscribed = subscribed_topics(group, members, topics)
    if not rules.hashes_metadata and subscribed != group.subscribed:
        records.append(SubscriptionMetadataRecord(group.name, subscribed))
    metadata_hash = hash_of(subscribed) if rules.hashes_metadata else 0
    records.append(GroupEpochRecord(group.name, group.epoch + 1, metadata_hash))
    if not members and rules.interval_us is not None:
        records.append(TargetEpochRecord(group.name, group.epoch + 1))
    return Outcome(records, leaving[0], None, "a member left")


def removal_records(group: ConsumerGroup, member: Member) -> list[Record]:
    """The tombstones of a member."""
    return [
        CurrentAssignmentRecord(group.name, member.id, is_tombstone=True),
        TargetAssignmentRecord(group.name, member.id),
        MemberRecord(group.name, member.id, is_tombstone=True),
    ]


def deletion_records(group: ConsumerGroup, names: Mapping[str, str] | None = None) -> list[Record]:
    """The tombstones of a whole group; ``names`` are other ids that some members have now."""
    members = [(names or {}).get(name, name) for name in timeline_order(group.members)]
    return [
        *(CurrentAssignmentRecord(group.name, name, is_tombstone=True) for name in members),
        *(TargetAssignmentRecord(group.name, name) for name in members),
        TargetEpochRecord(group.name, -1),
        *(MemberRecord(group.name, name, is_tombstone=True) for name in members),
        *(RegularExpressionRecord(group.name, regex) for regex in group.regexes),
        SubscriptionMetadataRecord(group.name),
        GroupEpochRecord(group.name, -1),
    ]


def creation_records(group: ConsumerGroup, rules: Rules) -> list[Record]:
    """The records of a group that was another one, with all members."""
    members = [group.members[name] for name in timeline_order(group.members)]
    topics: list[Record] = [SubscriptionMetadataRecord(group.name, group.subscribed)]
    return [
        *(subscription_record(group.name, member) for member in members),
        *([] if rules.hashes_metadata or rules.previewed else topics),
        GroupEpochRecord(group.name, group.epoch, group.metadata_hash),
        *(TargetAssignmentRecord(group.name, m.id, group.target[m.id]) for m in members),
        TargetEpochRecord(group.name, group.assignment_epoch),
        *(current_assignment_record(group.name, member) for member in members),
    ]


# ---- offsets


def offset_error(group: ConsumerGroup, member_id: str, epoch: int) -> str:
    """The error for a commit or fetch of offsets by a member with an epoch."""
    member = group.members.get(member_id)
    if member is None:
        return UNKNOWN_MEMBER
    if epoch == member.epoch:
        return NONE
    return "STALE_MEMBER_EPOCH" if member.classic is None else "ILLEGAL_GENERATION"


def revocation_due_us(member: Member, now_us: int) -> tuple[int, int] | None:
    """By when a member must have revoked, and in which epoch; None if it has nothing to revoke."""
    if member.state != UNREVOKED:
        return None
    return now_us + member.rebalance_timeout_ms * 1_000, member.epoch
