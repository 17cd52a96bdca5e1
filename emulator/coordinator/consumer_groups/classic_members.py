"""Members of the classic protocol in a consumer group, as pure functions.

A JoinGroup moves such a member towards its target assignment, as a heartbeat does one of the new
protocol; a SyncGroup tells it its partitions. It joins again when its heartbeats are answered with
REBALANCE_IN_PROGRESS. Source: the methods ``classicGroup..ToConsumerGroup`` of
``GroupMetadataManager`` 4.0 to 4.3.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from emulator.common.errors import NONE
from emulator.coordinator.consumer_groups import embedded_protocol
from emulator.coordinator.consumer_groups.embedded_protocol import (
    ConsumerSubscription,
    MalformedError,
)
from emulator.coordinator.consumer_groups.group import UNRELEASED, UNREVOKED, ConsumerGroup, Member
from emulator.coordinator.consumer_groups.records import ClassicMember, Record
from emulator.coordinator.consumer_groups.requests import (
    Outcome,
    Rules,
    advance,
    check_size,
    replace_static,
    subscribe,
)
from emulator.coordinator.modern_groups.requests import (
    UNKNOWN_MEMBER,
    Refused,
    Topics,
    known_member,
)

REBALANCING: Final = "REBALANCE_IN_PROGRESS"
INCONSISTENT: Final = "INCONSISTENT_GROUP_PROTOCOL"


class Join(NamedTuple):
    """A JoinGroup: of whom, and what it says of the member."""

    member_id: str
    instance_id: str
    protocol_type: str
    classic: ClassicMember
    rebalance_timeout_ms: int
    client: str
    host: str


class Joined(NamedTuple):
    """What a JoinGroup comes to; ``replaces`` is the static member whose place is taken.

    ``rebalances``: if the group becomes a classic one now, its members have to join again.
    """

    outcome: Outcome
    replaces: Member | None
    rebalances: bool


def supports(group: ConsumerGroup, join: Join) -> bool:
    """Whether all classic members support one of the protocols of a member that joins."""
    if join.protocol_type != embedded_protocol.TYPE:
        return False
    others = [member.classic for member in group.members.values() if member.classic is not None]
    return any(
        all(offered.name in {known.name for known in other.protocols} for other in others)
        for offered in join.classic.protocols
    )


def join(
    group: ConsumerGroup,
    request: Join,
    name: str,
    topics: Topics,
    rules: Rules,
    now_us: int,
    *,
    ends: bool,
) -> Joined:
    """Add or update a member with the id ``name``.

    ``ends``: the group becomes a classic one if it replaces the last member of the new protocol.

    Raises:
        Refused: the member is unknown or fenced, the group is full, or its protocols do not match.
    """
    records: list[Record] = []
    static = group.static_member(request.instance_id)
    old = _member_of(group, request, name, static, rules, records)
    said = _subscription(request.classic)
    new = replace(
        old,
        instance_id=request.instance_id or old.instance_id,
        rack_id=said.rack_id or old.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=sorted(set(said.topics)),
        regex="",
        client=request.client,
        host=request.host,
        classic=request.classic,
    )
    step = subscribe(group, old, new, static, topics, rules, records, joins=True)
    ids = {topic: known.id for topic in said.owned if (known := topics.topic(topic)) is not None}
    owned = {ids[topic]: numbers for topic, numbers in said.owned.items() if topic in ids}
    replaces = static if ends else None
    waits = rules.interval_us is not None
    rebalances = step.epoch > group.assignment_epoch if waits else bool(step.reason)
    if replaces is None:
        member = advance(group, step, static, owned, topics, rules, now_us, records)
    elif rebalances:
        member = new
    else:
        settled = step._replace(epoch=group.assignment_epoch)
        member = advance(group, settled, static, owned, topics, rules, now_us, records)
    outcome = Outcome(records, member, member.assigned, step.reason, step.resolves)
    return Joined(outcome, replaces, rebalances)


def check_join(group: ConsumerGroup, request: Join, name: str, rules: Rules) -> None:
    """Check that a member may join.

    Raises:
        Refused: the group is full, or the member's protocols are not supported.
    """
    check_size(group, name, rules)
    if not supports(group, request):
        raise Refused(INCONSISTENT, f"Member {name}'s protocols are not supported.")


def _member_of(
    group: ConsumerGroup,
    request: Join,
    name: str,
    static: Member | None,
    rules: Rules,
    records: list[Record],
) -> Member:
    """The member before the request; a static one takes the place of its predecessor."""
    if not request.instance_id:
        return group.members.get(name, Member(name))
    if not request.member_id:
        if static is None:
            return group.members.get(name, Member(name))
        return replace_static(group, static, name, rules, records)
    return current(group, name, request.instance_id)


def current(group: ConsumerGroup, name: str, instance_id: str) -> Member:
    """A member by its id, and by its instance id if it has one.

    Raises:
        Refused: it is unknown, or another has its instance id.
    """
    if not instance_id:
        return known_member(group, name)
    static = group.static_member(instance_id)
    if static is None:
        raise Refused(UNKNOWN_MEMBER, f"Instance id {instance_id} is unknown.")
    if static.id != name:
        raise Refused("FENCED_INSTANCE_ID", f"Instance id {instance_id} is that of {static.id}.")
    return static


def _subscription(classic: ClassicMember) -> ConsumerSubscription:
    """What a member subscribes to, by the first of its protocols."""
    try:
        return embedded_protocol.subscription_of(classic.protocols[0].metadata)
    except MalformedError as cause:
        raise Refused(INCONSISTENT, str(cause)) from cause


def checked(group: ConsumerGroup, name: str, instance_id: str, generation: int) -> Member:
    """A member that sends a Heartbeat or SyncGroup.

    Raises:
        Refused: it is not a classic member of this group in this generation.
    """
    member = current(group, name, instance_id)
    if member.classic is None:
        raise Refused(UNKNOWN_MEMBER, f"Member {name} does not use the classic protocol.")
    if member.epoch != generation:
        raise Refused("ILLEGAL_GENERATION", f"The member's epoch is {member.epoch}.")
    return member


def heartbeat_error(group: ConsumerGroup, member: Member, rules: Rules) -> str:
    """What a classic member's heartbeat is answered with: whether it has to join again."""
    joins_again = (
        member.epoch < _awaited_epoch(group, rules)
        or member.state == UNREVOKED
        or (member.state == UNRELEASED and not group.waits_for_others(member))
    )
    return REBALANCING if joins_again else NONE


def sync_error(
    group: ConsumerGroup,
    member: Member,
    rules: Rules,
    protocol_type: str | None,
    protocol: str | None,
) -> str:
    """The error for a classic member's SyncGroup."""
    assert member.classic is not None
    if protocol_type not in (None, embedded_protocol.TYPE):
        return INCONSISTENT
    if protocol not in (None, member.classic.protocols[0].name):
        return INCONSISTENT
    is_behind = _awaited_epoch(group, rules) > member.epoch and member.state != UNREVOKED
    return REBALANCING if is_behind else NONE


def _awaited_epoch(group: ConsumerGroup, rules: Rules) -> int:
    """The epoch that members move to; from 4.3 on that of the target assignment."""
    return group.epoch if rules.interval_us is None else group.assignment_epoch


def assignment_of(member: Member, names: Mapping[str, str]) -> bytes:
    """A classic member's assignment in the consumers' own format."""
    assert member.classic is not None
    version = embedded_protocol.version_of(member.classic.protocols[0].metadata)
    return embedded_protocol.assignment(by_name(member.assigned, names), version)


def by_name(partitions: Mapping[str, list[int]], names: Mapping[str, str]) -> dict[str, list[int]]:
    """Partition numbers by topic name, without topics that do not exist any more."""
    return {names[topic]: numbers for topic, numbers in partitions.items() if topic in names}


def ends_without(
    group: ConsumerGroup, leaving: Collection[str], *, may_be_empty: bool = False
) -> bool:
    """Whether members are left when some leave, and all of these use the classic protocol."""
    left = [member for name, member in group.members.items() if name not in leaving]
    return (bool(left) or may_be_empty) and all(member.classic is not None for member in left)
