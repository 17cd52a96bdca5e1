"""What a share group's coordinator answers, and the records that it writes: pure functions.

Source: ``GroupMetadataManager`` 4.1.2, 4.2.0 and 4.3.0 in ``org.apache.kafka.coordinator.group``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from emulator.common.java_collections import hash_map_order, ids_in_order, java_hash, timeline_order
from emulator.coordinator.modern_groups import requests as modern
from emulator.coordinator.modern_groups.group import LEFT, ModernMember
from emulator.coordinator.modern_groups.records import TopicMetadata
from emulator.coordinator.modern_groups.requests import (
    FENCED_EPOCH,
    INVALID,
    Refused,
    Topics,
    changed_targets,
    existing,
    first_epochs,
    hash_of,
    known_member,
    may_compute,
)
from emulator.coordinator.modern_groups.specification import GroupSpec, MemberSpec, Partitions
from emulator.coordinator.share_groups.assignors import balanced, by_hash
from emulator.coordinator.share_groups.group import ShareGroup
from emulator.coordinator.share_groups.records import (
    Begun,
    Record,
    ShareCurrentRecord,
    ShareGroupEpochRecord,
    ShareMemberRecord,
    SharePartitionsRecord,
    ShareTargetEpochRecord,
    ShareTargetRecord,
)
from emulator.protocol import ShareGroupHeartbeatRequest

Outcome = modern.Outcome[Record, ModernMember]

ASSIGNOR: Final = "simple"
ID_LENGTH_MAX: Final = 36
"""The length of a member's id at most (4.2); of a UUID in hexadecimal digits."""


class Rules(NamedTuple):
    """What the configuration and the release say.

    ``balances``: the assignor is that of 4.2. ``pends_all`` (4.1): members wait for partitions of
    topics that nobody subscribes to any more. ``checks_ids`` (4.2): long ids are refused.
    ``joins_again`` (4.2): members may join again with epoch 0. ``retry_us`` is after how long a
    group begins again with a partition's state. ``interval_us`` is the least time between two
    target assignments; None before 4.3, where there is none. ``is_early_access`` (4.0): each
    member gets all partitions of the topics that it subscribes to, for whose state nothing is done
    before.
    """

    max_size: int
    retry_us: int
    balances: bool = True
    pends_all: bool = False
    checks_ids: bool = True
    joins_again: bool = True
    interval_us: int | None = None
    is_early_access: bool = False


def validate(request: ShareGroupHeartbeatRequest, rules: Rules) -> None:
    """Check what is wrong in itself.

    Raises:
        Refused: it is.
    """
    if rules.checks_ids and not 0 < len(request.member_id) <= ID_LENGTH_MAX:
        raise Refused(INVALID, "")
    for text, name in (
        (request.member_id, "MemberId"),
        (request.group, "GroupId"),
        (request.rack_id, "RackId"),
    ):
        if text is not None and not text.strip():
            raise Refused(INVALID, f"{name} can't be empty.")
    if not request.member_epoch:
        if not request.topics:
            raise Refused(INVALID, "SubscribedTopicNames must be set in first request.")
    elif request.member_epoch < LEFT:
        raise Refused(INVALID, "MemberEpoch is invalid.")


def new_group(name: str, rules: Rules) -> ShareGroup:
    """A group without members; from 4.3 on its first epoch has an empty target assignment."""
    return ShareGroup(name, *first_epochs(rules.interval_us))


def heartbeat(
    group: ShareGroup,
    request: ShareGroupHeartbeatRequest,
    topics: Topics,
    rules: Rules,
    now_us: int,
) -> Outcome:
    """Let a member join or stay; nothing changes but by the records.

    Raises:
        Refused: it has to join again, or may not.
    """
    name, joins = request.member_id, not request.member_epoch
    former = _member_of(group, request, rules)
    updated = replace(
        former,
        rack_id=request.rack_id or former.rack_id,
        client=request.client,
        host=request.host,
        topics=former.topics if request.topics is None else sorted(set(request.topics)),
    )
    records: list[Record] = []
    if updated != group.members.get(name):
        records.append(
            ShareMemberRecord(
                group.name, name, updated.rack_id, updated.client, updated.host, updated.topics
            )
        )
    reason = _reason(group, former, updated, rules)
    members = group.members | {name: updated}
    subscribed = subscribed_topics(members, topics)
    metadata_hash = hash_of(subscribed)
    if not reason and metadata_hash != group.metadata_hash:
        reason = "topics changed"
    epoch = group.epoch
    if reason:
        epoch += 1
        records.append(ShareGroupEpochRecord(group.name, epoch, metadata_hash))
    target_epoch, target = group.assignment_epoch, group.target.get(name, {})
    if epoch > group.assignment_epoch and may_compute(group, rules.interval_us, now_us):
        computed = _target(group, members, topics, rules)
        target_epoch, target = epoch, computed.get(name, {})
        records += _target_records(group, rules, members, computed, epoch, now_us)
    ids = {topic.id for topic in existing(updated.topics, topics).values()}
    assigned = {topic: numbers for topic, numbers in target.items() if topic in ids}
    if target_epoch != updated.epoch:
        member = replace(
            updated, epoch=target_epoch, previous_epoch=updated.epoch, assigned=assigned
        )
    else:
        member = replace(updated, assigned=assigned) if reason else updated
    if member != updated:
        records.append(
            ShareCurrentRecord(
                group.name, name, member.epoch, member.previous_epoch, member.assigned
            )
        )
    begins = {} if rules.is_early_access else _begins(group, subscribed, rules, now_us)
    if begins:
        records.append(_with_beginning(group, begins))
    is_full = request.topics is not None and not rules.is_early_access
    sends_assignment = joins or is_full or member.assigned != former.assigned
    return Outcome(
        records,
        member,
        member.assigned if sends_assignment else None,
        reason,
        begins={topic: begun.partitions for topic, begun in begins.items()},
    )


def _member_of(
    group: ShareGroup, request: ShareGroupHeartbeatRequest, rules: Rules
) -> ModernMember:
    """The member before the request.

    Raises:
        Refused: it is unknown, has another epoch, or there are too many.
    """
    name, joins = request.member_id, not request.member_epoch
    if name not in group.members and len(group.members) >= rules.max_size:
        text = f"The share group has reached its maximum capacity of {rules.max_size} members."
        raise Refused("GROUP_MAX_SIZE_REACHED", text)
    if joins and name not in group.members:
        return ModernMember(name)
    member = known_member(group, name)
    if not (joins and rules.joins_again):
        _check_epoch(member, request.member_epoch, rules)
    return member


def _reason(group: ShareGroup, former: ModernMember, updated: ModernMember, rules: Rules) -> str:
    """Why the group's epoch is bumped, but for changed topics; empty if it is not."""
    if updated.topics != former.topics:
        return (
            f"{updated.client} subscribes to other topics" if former.topics else "a member joined"
        )
    may_pend = rules.interval_us is None or group.assignment_epoch >= group.epoch
    is_pending = may_pend and _is_pending(group, rules)
    return "the state of its partitions is there" if is_pending else ""


def _check_epoch(member: ModernMember, epoch: int, rules: Rules) -> None:
    """Check the epoch that a member sends: the response with the new one may have been lost.

    Raises:
        Refused: it must give up all partitions, and join again.
    """
    current = member.epoch
    if epoch == current or epoch == member.previous_epoch < current:
        return
    size, reason = "greater", ""
    if epoch < current:
        size = "smaller"
    if epoch < current and not rules.is_early_access:
        reason = f", and it does not match the previous member epoch ({member.previous_epoch})"
    raise Refused(
        FENCED_EPOCH,
        f"The share group member has a {size} member epoch ({epoch}) than the one known by the "
        f"group coordinator ({current}){reason}. The member must abandon all its partitions and "
        "rejoin.",
    )


# ---- topics and their partitions


def subscribed_topics(
    members: Mapping[str, ModernMember], topics: Topics
) -> dict[str, TopicMetadata]:
    """The topics that members subscribe to, as far as they exist."""
    return existing((name for member in members.values() for name in member.topics), topics)


def _is_pending(group: ShareGroup, rules: Rules) -> bool:
    """Whether partitions whose state is there are not assigned yet."""
    if not group.members or not group.has_partitions:
        return False
    assigned: dict[str, set[int]] = {}
    for partitions in group.target.values():
        for topic, numbers in partitions.items():
            assigned.setdefault(topic, set()).update(numbers)
    begun = {topic: set(of_topic.partitions) for topic, of_topic in group.initialized.items()}
    if rules.pends_all:
        return begun != assigned
    subscribed = {name for member in group.members.values() for name in member.topics}
    return any(
        begun[topic] != assigned.get(topic)
        for topic, of_topic in group.initialized.items()
        if of_topic.name in subscribed
    )


def _begins(
    group: ShareGroup, subscribed: Mapping[str, TopicMetadata], rules: Rules, now_us: int
) -> dict[str, Begun]:
    """The subscribed partitions with whose state the group has to begin now, by topic id."""
    begins: dict[str, Begun] = {}
    for name, topic in subscribed.items():
        begun_numbers = set(
            group.initialized[topic.id].partitions if topic.id in group.initialized else ()
        )
        under_way = group.initializing.get(topic.id)
        if under_way is not None and now_us - under_way.at_us < rules.retry_us:
            begun_numbers.update(under_way.partitions)
        if len(begun_numbers) < topic.partitions:
            numbers = [number for number in range(topic.partitions) if number not in begun_numbers]
            begins[topic.id] = Begun(name, numbers, now_us)
    return begins


def _merged(known: Mapping[str, Begun], further: Mapping[str, Begun]) -> dict[str, Begun]:
    merged = dict(known)
    for topic, begun in further.items():
        numbers = set(begun.partitions)
        if topic in known:
            numbers.update(known[topic].partitions)
        merged[topic] = Begun(begun.name, sorted(numbers), begun.at_us)
    return merged


def _with_beginning(group: ShareGroup, begins: Mapping[str, Begun]) -> Record:
    initializing = _merged(group.initializing, begins)
    deleting = {topic: name for topic, name in group.deleting.items() if topic not in initializing}
    return SharePartitionsRecord(group.name, initializing, group.initialized, deleting)


def altering(
    group: ShareGroup, partitions: Partitions, names: Mapping[str, str], at_us: int
) -> Record:
    """The record that the state of partitions, by topic id, is made anew."""
    begins = {topic: Begun(names[topic], numbers, at_us) for topic, numbers in partitions.items()}
    return _with_beginning(group, begins)


def begun(
    group: ShareGroup, partitions: Partitions, names: Mapping[str, str], at_us: int
) -> Record:
    """The record that the state of partitions, by topic id, is there."""
    return SharePartitionsRecord(
        group.name,
        _without(group.initializing, partitions),
        _merged(
            group.initialized,
            {
                topic: Begun(names.get(topic, "<UNKNOWN>"), numbers, at_us)
                for topic, numbers in partitions.items()
            },
        ),
        group.deleting,
    )


def not_begun(group: ShareGroup, partitions: Partitions) -> Record | None:
    """The record that the state of partitions could not be made; None if nobody waits for it."""
    if not group.initializing:
        return None
    initializing = _without(group.initializing, partitions)
    return SharePartitionsRecord(group.name, initializing, group.initialized, group.deleting)


def _without(known: Mapping[str, Begun], partitions: Partitions) -> dict[str, Begun]:
    remaining: dict[str, Begun] = {}
    for topic, begun in known.items():
        numbers = [number for number in begun.partitions if number not in partitions.get(topic, ())]
        if numbers:
            remaining[topic] = Begun(begun.name, numbers, begun.at_us)
    return remaining


# ---- the target assignment


def _target(
    group: ShareGroup, members: Mapping[str, ModernMember], topics: Topics, rules: Rules
) -> dict[str, Partitions]:
    """Compute the assignment of all members: of partitions with whose state the group has begun."""
    specs: dict[str, MemberSpec] = {}
    subscribed = subscribed_topics(members, topics)
    order = ids_in_order([*(m for m in timeline_order(group.members) if m in members), *members])
    for name in order:
        names = hash_map_order(members[name].topics, java_hash)
        ids = [subscribed[topic].id for topic in names if topic in subscribed]
        specs[name] = MemberSpec("", ids, group.target.get(name, {}))
    counts = {topic.id: topic.partitions for topic in subscribed.values()}
    if rules.is_early_access:
        return {
            name: {topic: list(range(counts[topic])) for topic in sorted(spec.topics)}
            for name, spec in specs.items()
        }
    assignable = {topic: set(begun.partitions) for topic, begun in group.initialized.items()}
    same = len({tuple(member.topics) for member in members.values()}) <= 1
    spec = GroupSpec(specs, counts, same, {}, assignable)
    return balanced.assign(spec) if rules.balances else by_hash.assign(spec)


def _target_records(
    group: ShareGroup,
    rules: Rules,
    members: Iterable[str],
    computed: Mapping[str, Partitions],
    epoch: int,
    now_us: int,
) -> list[Record]:
    """The records of a target assignment: of members with another one, then its epoch."""
    records: list[Record] = [
        ShareTargetRecord(group.name, name, target)
        for name, target in changed_targets(group, members, computed)
    ]
    at_us = 0 if rules.interval_us is None else now_us
    return [*records, ShareTargetEpochRecord(group.name, epoch, at_us)]


# ---- leaving


def remove(
    group: ShareGroup, leaving: Sequence[ModernMember], topics: Topics, rules: Rules
) -> Outcome:
    """Remove members that leave, or are silent; the others get their partitions as they ask."""
    leaving_ids = {member.id for member in leaving}
    members = {name: member for name, member in group.members.items() if name not in leaving_ids}
    epoch = group.epoch + 1
    records: list[Record] = []
    for member in leaving:
        records += [
            ShareCurrentRecord(group.name, member.id, is_tombstone=True),
            ShareTargetRecord(group.name, member.id),
            ShareMemberRecord(group.name, member.id, is_tombstone=True),
        ]
    metadata_hash = hash_of(subscribed_topics(members, topics))
    records.append(ShareGroupEpochRecord(group.name, epoch, metadata_hash))
    if not members and rules.interval_us is not None:
        records.append(ShareTargetEpochRecord(group.name, epoch))
    return Outcome(records, leaving[0], reason="a member left")


def deletion_records(group: ShareGroup) -> list[Record]:
    """The tombstones of a group without members."""
    return [
        ShareTargetEpochRecord(group.name, -1),
        SharePartitionsRecord(group.name, is_tombstone=True),
        ShareGroupEpochRecord(group.name, -1),
    ]


def deleting(group: ShareGroup, topics: Mapping[str, str] | None = None) -> Record:
    """The record that the state of topics, names by id, is being deleted; None: of all."""
    deleted = topics
    if deleted is None:
        begun_with = {**group.initialized, **group.initializing}
        deleted = {topic: begun.name for topic, begun in begun_with.items()} | group.deleting
        return SharePartitionsRecord(group.name, {}, {}, dict(deleted))
    initialized = {
        topic: begun for topic, begun in group.initialized.items() if topic not in deleted
    }
    return SharePartitionsRecord(
        group.name, group.initializing, initialized, group.deleting | dict(deleted)
    )


def deleted(group: ShareGroup, topics: Iterable[str]) -> Record:
    """The record that the state of topics, by id, is deleted."""
    left = {topic: name for topic, name in group.deleting.items() if topic not in set(topics)}
    return SharePartitionsRecord(group.name, group.initializing, group.initialized, left)
