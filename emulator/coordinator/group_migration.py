"""Groups that change between the classic and the consumer protocol while they have members.

A classic group of consumers becomes a consumer group when a member of the new protocol joins, and
a classic one again when the last such member is gone. Source: ``ConsumerGroup.fromClassicGroup``
and ``ClassicGroup.fromConsumerGroup`` 4.0 to 4.3, ``ConsumerGroupMigrationPolicy``.
"""

from collections.abc import Collection, Mapping
from enum import IntFlag
from typing import Final

from emulator.common.java_collections import timeline_order
from emulator.coordinator.consumer_groups import embedded_protocol
from emulator.coordinator.consumer_groups.classic_members import by_name
from emulator.coordinator.consumer_groups.embedded_protocol import (
    MalformedError,
    assigned,
    subscription_of,
)
from emulator.coordinator.consumer_groups.group import ConsumerGroup, Member
from emulator.coordinator.consumer_groups.records import ClassicMember, ClassicProtocol
from emulator.coordinator.consumer_groups.requests import Rules, subscribed_topics
from emulator.coordinator.groups import Group, chosen_protocol
from emulator.coordinator.groups import Member as ClassicGroupMember
from emulator.coordinator.modern_groups.requests import NO_GROUP, Refused, Topics, hash_of
from emulator.coordinator.modern_groups.specification import Partitions
from emulator.protocol import JoinGroupRequest, Protocol, Subscription

US_PER_MS: Final = 1_000
HOST: Final = "/127.0.0.1"


class MigrationPolicy(IntFlag):
    """Which groups may change their protocol (group.consumer.migration.policy)."""

    DOWNGRADE = 1
    UPGRADE = 2


def classic_settings(
    subscription: Subscription, assignor: str, protocols: list[Protocol], session_timeout_us: int
) -> ClassicMember:
    """The settings of a classic member; those of a scripted one in the form of real consumers."""
    is_scripted = not protocols
    if is_scripted:
        owned: dict[str, list[int]] = {}
        for tp in subscription.owned:
            topic, _, number = tp.rpartition("-")
            owned.setdefault(topic, []).append(int(number))
        metadata = embedded_protocol.subscription(subscription.topics, owned)
        protocols = [Protocol(assignor, metadata)]
    return ClassicMember(
        session_timeout_us // US_PER_MS,
        [ClassicProtocol(offered.name, offered.metadata) for offered in protocols],
        is_scripted,
    )


def settings_of(message: JoinGroupRequest) -> ClassicMember:
    """The settings of a member that sends a JoinGroup."""
    return classic_settings(
        message.subscription, message.assignor, message.protocols, message.session_timeout_us
    )


def upgraded(group: Group, policy: MigrationPolicy, topics: Topics, rules: Rules) -> ConsumerGroup:
    """The consumer group that a classic group becomes, with the same members and partitions.

    Raises:
        Refused: it may not, or its members are no consumers.
    """
    beginning = f"Cannot upgrade classic group {group.name} to consumer group because"
    if not policy & MigrationPolicy.UPGRADE:
        raise Refused(NO_GROUP, f"{beginning} online upgrade is disabled.")
    if group.protocol_type not in ("", embedded_protocol.TYPE):
        text = "the group does not use the consumer embedded protocol."
        raise Refused(NO_GROUP, f"{beginning} {text}")
    if len(group.members) > rules.max_size:
        text = "the group size exceeds the consumer group maximum size."
        raise Refused(NO_GROUP, f"{beginning} {text}")
    state = ConsumerGroup(group.name, group.generation, group.generation)
    for member in group.members.values():
        try:
            modern = _modern_member(group, member, topics)
        except MalformedError:
            text = "the embedded consumer protocol is malformed."
            raise Refused(NO_GROUP, f"{beginning} {text}") from None
        if modern is None:
            text = (
                "an unsupported custom assignor is in use. Please refer to the documentation or "
                "switch to a default assignor before re-attempting the upgrade."
            )
            raise Refused(NO_GROUP, f"{beginning} {text}")
        state.members[member.id], state.target[member.id] = modern, modern.assigned
    if not rules.previewed:  # there the first heartbeat brings them
        state.subscribed = subscribed_topics(state, state.members, topics)
    state.metadata_hash = hash_of(state.subscribed) if rules.hashes_metadata else 0
    return state


def _modern_member(group: Group, member: ClassicGroupMember, topics: Topics) -> Member | None:
    """A member of a consumer group; None if its assignment would lose data of its assignor."""
    classic = classic_settings(
        member.subscription, group.assignor, member.protocols, member.session_timeout_us
    )
    if classic.is_scripted:
        names = [tp.rpartition("-") for tp in member.partitions]
        partitions: dict[str, list[int]] = {}
        for topic, _, number in names:
            partitions.setdefault(topic, []).append(int(number))
        has_data = False
    else:
        partitions, has_data = assigned(member.assignment)
    if has_data:
        return None
    protocol = next((p for p in classic.protocols if p.name == group.assignor), None)
    said = subscription_of((protocol or classic.protocols[0]).metadata)
    known = {topic: topics.topic(topic) for topic in partitions}
    return Member(
        member.id,
        said.rack_id,
        member.consumer,
        HOST,
        sorted(set(said.topics)),
        group.generation,
        group.generation,
        {
            topic.id: sorted(partitions[name])
            for name, topic in known.items()
            if topic is not None and partitions[name]
        },
        member.instance_id,
        member.rebalance_timeout_us // US_PER_MS,
        classic=classic,
    )


def downgrade(
    group: Group,
    state: ConsumerGroup,
    leaving: Collection[str],
    joining: Member | None,
    names: Mapping[str, str],
) -> None:
    """Let a consumer group become a classic one, without some members.

    A static member that is ``joining`` takes the place, and the partitions, of another. ``names``
    are those of topics by id.
    """
    order = [state.members[name] for name in timeline_order(state.members) if name not in leaving]
    former = joining and state.static_member(joining.instance_id)
    members = [member for member in order if member is not former]
    targets = {member.id: state.target.get(member.id, {}) for member in members}
    if joining is not None:
        members.append(joining)
        targets[joining.id] = state.target.get(former.id, {}) if former is not None else {}
    group.modern = None
    group.members = {}
    for member in members:
        group.members[member.id] = _classic_member(member, targets[member.id], names)
    is_scripted = all(member.classic and member.classic.is_scripted for member in members)
    group.protocol_type = "" if is_scripted else embedded_protocol.TYPE
    group.generation, group.leader = state.epoch, members[0].id if members else ""
    group.assignor = _first_protocol(members[0]) if is_scripted else chosen_protocol(group)


def _classic_member(
    member: Member, target: Partitions, names: Mapping[str, str]
) -> ClassicGroupMember:
    classic = member.classic
    assert classic is not None
    by_topic = by_name(target, names)
    version = embedded_protocol.version_of(classic.protocols[0].metadata)
    return ClassicGroupMember(
        member.id,
        member.client,
        Subscription(member.topics),
        classic.session_timeout_ms * US_PER_MS,
        member.rebalance_timeout_ms * US_PER_MS,
        is_new=False,
        partitions=[f"{topic}-{n}" for topic, numbers in by_topic.items() for n in numbers],
        protocols=[]
        if classic.is_scripted
        else [Protocol(offered.name, offered.metadata) for offered in classic.protocols],
        assignment=b"" if classic.is_scripted else embedded_protocol.assignment(by_topic, version),
        instance_id=member.instance_id,
    )


def _first_protocol(member: Member) -> str:
    return member.classic.protocols[0].name if member.classic is not None else ""
