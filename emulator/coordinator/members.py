"""Who is in a group: joining, the rebalance, leaving, and sessions that run out.

Source: ``GroupCoordinator`` 0.9 to 3.9 (``prepareRebalance``, ``onCompleteJoin``,
``InitialDelayedJoin`` of KIP-134, pending members of KIP-394).
"""

from typing import Final

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.groups import (
    COMPLETING,
    EMPTY,
    NEXT,
    PREPARING,
    REBALANCING,
    REFUSED,
    STABLE,
    SYNC,
    Group,
    Member,
    Store,
)
from emulator.protocol import (
    JoinGroupRequest,
    JoinGroupResponse,
    Subscription,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.protocol.errors import NONE

TASK: Final = "groups"
"""The broker's timer for everything that a coordinator waits for."""
NEW_MEMBER_JOIN_US: Final = 300_000_000
"""How long a new member that waits for its first answer is kept (it cannot send heartbeats yet)."""


class GroupMembership:
    """Keeps the members of the groups that a broker coordinates."""

    def __init__(self, context: BrokerContext, metadata: GroupMetadataManager) -> None:
        """Act in ``context`` on the groups of ``metadata``."""
        self.context = context
        self.metadata = metadata
        self.kernel = context.kernel
        self.profile = context.profile

    def check(self, name: str, member_id: str, generation: int) -> str:
        """The error for what does not come from a present member."""
        group = self.metadata.group(name)
        if group is None or member_id not in group.members:
            return REFUSED
        return NONE if generation == group.generation else "ILLEGAL_GENERATION"

    def alive(self, group: Group, member_id: str) -> None:
        """A member was heard of."""
        member = group.members[member_id]
        member.deadline_us = self.kernel.now + member.session_timeout_us
        self._watch(group, member.deadline_us)

    # ---- joining

    def join(self, request: int, message: JoinGroupRequest) -> None:
        """Take a member in (KIP-394: the id first), or again."""
        group = self.metadata.group(message.group)
        known = group is not None and message.member_id in group.members
        pending = group is not None and message.member_id in group.pending
        if message.member_id and not known and not pending:
            self._refuse_join(request, message, REFUSED)
            return
        group = group or self.metadata.make(message.group)
        if not _is_consistent(group, message):
            self._refuse_join(request, message, "INCONSISTENT_GROUP_PROTOCOL")
        elif known:
            self._join_again(group, group.members[message.member_id], request, message)
        elif not pending and message.takes_id and self.profile.has("member_id_required"):
            name = self._new_id(message.consumer)
            due_us = group.pending[name] = self.kernel.now + message.session_timeout_us
            self._watch(group, due_us)
            self._refuse_join(request, message, "MEMBER_ID_REQUIRED", name)
        else:
            self._add(group, message.member_id or self._new_id(message.consumer), request, message)
        self._try_to_complete(group)

    def _refuse_join(
        self, request: int, message: JoinGroupRequest, error: str, member_id: str = ""
    ) -> None:
        answer = JoinGroupResponse(request, message.group, error, member_id)
        self.metadata.answer(request, answer)

    def _new_id(self, consumer: str) -> str:
        return f"{consumer}-{self.kernel.random_below(1 << 32):08x}"

    def _add(self, group: Group, name: str, request: int, message: JoinGroupRequest) -> None:
        group.pending.pop(name, None)
        if group.state == PREPARING and group.delay_left_us >= 0:
            group.newcomer = True
        member = group.members[name] = Member(
            name,
            message.consumer,
            message.subscription,
            message.session_timeout_us,
            message.rebalance_timeout_us,
            self.kernel.now + NEW_MEMBER_JOIN_US,
            request,
            protocols=message.protocols,
        )
        self._watch(group, member.deadline_us)
        group.assignor, group.protocol_type = message.assignor, message.protocol_type
        group.leader = group.leader or name
        self.kernel.emit(
            events.MemberJoined, group.name, self.context.id, member.consumer, member.id
        )
        self._prepare(group)

    def _join_again(
        self, group: Group, member: Member, request: int, message: JoinGroupRequest
    ) -> None:
        """A member joins that is in the group: that matters if it leads, or wants other things."""
        same = member.subscription == message.subscription
        same = same and member.protocols == message.protocols
        leads = group.leader == member.id and group.state == STABLE
        member.join = request
        if same and not leads and group.state in (COMPLETING, STABLE):
            self._tell_generation(group, member)
            return
        member.subscription, member.protocols = message.subscription, message.protocols
        self._prepare(group)

    # ---- the rebalance

    def _prepare(self, group: Group) -> None:
        """Let all members join again, if that is not under way already."""
        if PREPARING not in NEXT[group.state]:
            return
        if group.state == COMPLETING:
            self._fail_syncs(group, REBALANCING)
        timeout_us = max((m.rebalance_timeout_us for m in group.members.values()), default=0)
        group.delay_left_us, group.newcomer = -1, False
        if group.state == EMPTY:
            delay_us = self.context.config.group_initial_rebalance_delay_us
            group.delay_left_us = max(0, timeout_us - delay_us)
            timeout_us = delay_us
        group.join_deadline_us = self.kernel.now + timeout_us
        self._watch(group, group.join_deadline_us)
        self.metadata.to(group, PREPARING)

    def _try_to_complete(self, group: Group) -> None:
        """Go on as soon as all have joined; a group that was empty waits for its delay to end."""
        waits = group.pending or any(not member.join for member in group.members.values())
        if group.state == PREPARING and group.delay_left_us < 0 and not waits:
            self._complete(group)

    def _waited(self, group: Group) -> None:
        """The wait for members is over; one that was empty waits on while members come."""
        if group.newcomer and group.delay_left_us > 0:
            group.newcomer = False
            delay_us = self.context.config.group_initial_rebalance_delay_us
            more_us = min(delay_us, group.delay_left_us)
            group.delay_left_us -= more_us
            group.join_deadline_us = self.kernel.now + more_us
            self._watch(group, group.join_deadline_us)
        else:
            self._complete(group)

    def _complete(self, group: Group) -> None:
        """Begin a generation with those who joined, and tell them (``onCompleteJoin``)."""
        group.join_deadline_us, group.delay_left_us = 0, -1
        for member in [m for m in group.members.values() if not m.join]:
            self._drop(group, member, "did not join again")
        group.generation += 1
        if not group.members:
            group.leader = group.assignor = group.protocol_type = ""
            group.empty_since_us = self.kernel.now
            self.metadata.to(group, EMPTY)
            self.metadata.store_assignment(group, {})
            return
        self.metadata.to(group, COMPLETING)
        if group.protocol_type:
            group.assignor = _chosen_protocol(group)
        for member in group.members.values():
            self.alive(group, member.id)
            member.is_new, member.partitions, member.assignment = False, [], b""
            self._tell_generation(group, member)

    def _tell_generation(self, group: Group, member: Member) -> None:
        members, metadata = dict[str, Subscription](), dict[str, bytes]()
        if member.id == group.leader and group.protocol_type:
            protocol = group.assignor
            metadata = {each.id: each.metadata_of(protocol) for each in group.members.values()}
        elif member.id == group.leader:
            members = {each.id: each.subscription for each in group.members.values()}
        request, member.join = member.join, 0
        self._watch(group, member.deadline_us)
        answer = JoinGroupResponse(
            request,
            group.name,
            NONE,
            member.id,
            group.generation,
            group.leader,
            members,
            group.protocol_type,
            group.assignor,
            metadata,
        )
        self.metadata.answer(request, answer)

    # ---- the assignment

    def sync(self, request: int, message: SyncGroupRequest) -> None:
        """Take the leader's assignment, and tell each member its own when that is stored."""
        group = self.metadata.group(message.group)
        error = self.check(message.group, message.member_id, message.generation)
        if error == NONE and group is not None:
            error = SYNC[group.state]
        if error != NONE or group is None:
            self.metadata.answer(request, SyncGroupResponse(request, message.group, error))
            return
        member = group.members[message.member_id]
        self.alive(group, member.id)
        member.sync = request
        if group.state == STABLE:
            self._tell_partitions(group, member)
        elif member.id == group.leader:
            self.metadata.store_assignment(group, message.assignment, message.assignments)

    def assignment_stored(self, group: Group, store: Store, error: str) -> None:
        """The leader's assignment is in the log, or could not be; too late, it says nothing."""
        if group.state != COMPLETING or group.generation != store.generation:
            return
        if error != NONE:
            self._fail_syncs(group, error)
            self._prepare(group)
            self._try_to_complete(group)
            return
        self.metadata.to(group, STABLE)
        for member in group.members.values():
            member.partitions = (store.assignment or {}).get(member.id, [])
            member.assignment = store.assignments.get(member.id, b"")
            if member.sync:
                self._tell_partitions(group, member)

    def _tell_partitions(self, group: Group, member: Member) -> None:
        request, member.sync = member.sync, 0
        self.alive(group, member.id)
        answer = SyncGroupResponse(
            request,
            group.name,
            NONE,
            member.partitions,
            member.assignment,
            group.protocol_type,
            group.assignor,
        )
        self.metadata.answer(request, answer)

    def _fail_syncs(self, group: Group, error: str) -> None:
        for member in group.members.values():
            if member.sync:
                request, member.sync = member.sync, 0
                self._watch(group, member.deadline_us)
                self.metadata.answer(request, SyncGroupResponse(request, group.name, error))

    def fail_waiting(self, group: Group, error: str) -> None:
        """Answer whoever waits with an error: this is no longer the coordinator."""
        self._fail_syncs(group, error)
        for member in group.members.values():
            if member.join:
                request, member.join = member.join, 0
                answer = JoinGroupResponse(request, group.name, error, member.id)
                self.metadata.answer(request, answer)

    # ---- going

    def remove(self, group: Group, member_id: str, reason: str) -> None:
        """A member goes: the others share what it had."""
        self._drop(group, group.members[member_id], reason)
        self._prepare(group)
        self._try_to_complete(group)

    def _drop(self, group: Group, member: Member, reason: str) -> None:
        if member.join:
            answer = JoinGroupResponse(member.join, group.name, REFUSED)
            self.metadata.answer(member.join, answer)
        del group.members[member.id]
        if group.leader == member.id:
            group.leader = next(iter(group.members), "")
        self.kernel.emit(
            events.MemberLeft, group.name, self.context.id, member.consumer, member.id, reason
        )

    # ---- time

    def _watch(self, group: Group, due_us: int) -> None:
        """Look at a group at ``due_us`` at the latest; what it waits for may have moved by then."""
        timers, key = self.context.timers, group_key(group.name)
        set_us = timers.deadline_of(TASK, key)
        if set_us is None or due_us < set_us:
            timers.set_deadline(TASK, key, due_us)

    def watch(self, group: Group) -> None:
        """Look at a group when the next thing is due for it."""
        due = self.deadlines(group)
        if due:
            self.context.timers.set_deadline(TASK, group_key(group.name), min(due))

    def expire(self, group: Group) -> None:
        """End sessions and waits whose time has come, and look again when the next one's will."""
        now = self.kernel.now
        for name in [name for name, due_us in group.pending.items() if due_us <= now]:
            del group.pending[name]
            self._try_to_complete(group)
        for member in list(group.members.values()):
            if member.deadline_us <= now and self._can_expire(member):
                self.remove(group, member.id, "session expired")
        if 0 < group.join_deadline_us <= now:
            self._waited(group)
        self.watch(group)

    @staticmethod
    def _can_expire(member: Member) -> bool:
        """A member that waits for an answer of the coordinator cannot show that it is alive."""
        return member.is_new or not (member.join or member.sync)

    def deadlines(self, group: Group) -> list[int]:
        """When something is due for a group."""
        due = [member.deadline_us for member in group.members.values() if self._can_expire(member)]
        waits = [group.join_deadline_us] if group.join_deadline_us else []
        return [*due, *group.pending.values(), *waits]


def group_key(group: str) -> str:
    """What the deadline of a group is set for."""
    return f"group {group}"


def _is_consistent(group: Group, message: JoinGroupRequest) -> bool:
    """Whether who joins can share the work with those who are there.

    Source: ``GroupMetadata.supportsProtocols``.
    """
    members = group.members.values()
    if not members:
        return True
    if group.protocol_type != message.protocol_type:
        return False
    if not message.protocol_type:
        return group.assignor == message.assignor
    return any(
        all(_supports(member, protocol.name) for member in members)
        for protocol in message.protocols
    )


def _supports(member: Member, protocol: str) -> bool:
    return any(each.name == protocol for each in member.protocols)


def _chosen_protocol(group: Group) -> str:
    """The protocol that most members prefer of those that all support.

    Each votes for the first of its own that is a candidate (``GroupMetadata.selectProtocol``).
    """
    members = list(group.members.values())
    votes: dict[str, int] = {}
    for member in members:
        for protocol in member.protocols:
            if all(_supports(other, protocol.name) for other in members):
                votes[protocol.name] = votes.get(protocol.name, 0) + 1
                break
    return max(votes, key=lambda name: votes[name], default="")
