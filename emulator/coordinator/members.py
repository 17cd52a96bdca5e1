"""Group membership: joining, rebalances, leaving, and session timeouts.

Source: ``GroupCoordinator`` 0.9 to 3.9 (``prepareRebalance``, ``onCompleteJoin``,
``InitialDelayedJoin`` of KIP-134, pending members of KIP-394).
"""

from typing import Final

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
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
    TASK,
    Group,
    Member,
    Replacement,
    Store,
    chosen_protocol,
    group_key,
    supports,
)
from emulator.coordinator.records import GroupRecord
from emulator.protocol import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    Subscription,
    SyncGroupRequest,
    SyncGroupResponse,
    TxnOffsetCommitRequest,
)

FENCED: Final = "FENCED_INSTANCE_ID"
"""The broker's timer for all deadlines of a group coordinator."""
NEW_MEMBER_JOIN_US: Final = 300_000_000
"""How long a new member is kept while its first JoinGroup waits (it cannot send heartbeats yet)."""


class GroupMembership:
    """Manages the members of the groups that a broker coordinates."""

    def __init__(self, context: BrokerContext, metadata: GroupMetadataManager) -> None:
        self.context = context
        self.metadata = metadata
        self.kernel = context.kernel
        self.profile = context.profile

    def check(
        self,
        message: SyncGroupRequest | HeartbeatRequest | OffsetCommitRequest | TxnOffsetCommitRequest,
    ) -> str:
        """The error for a request that does not come from a current member."""
        group = self.metadata.group(message.group)
        if group is None:
            return REFUSED
        error = self.identity_error(group, message.member_id, message.instance_id)
        if error == NONE and message.generation != group.generation:
            return "ILLEGAL_GENERATION"
        return error

    @staticmethod
    def identity_error(group: Group, member_id: str, instance_id: str) -> str:
        """The error for a member id that is not current: another member has its instance id.

        Source: ``GroupCoordinator.validateCurrentMember``.
        """
        if not instance_id:
            return NONE if member_id in group.members else REFUSED
        current = group.static_member(instance_id)
        if current is None:
            return REFUSED
        return NONE if current.id == member_id else "FENCED_INSTANCE_ID"

    def alive(self, group: Group, member_id: str) -> None:
        """Record a sign of life of a member."""
        member = group.members[member_id]
        member.deadline_us = self.kernel.now + member.session_timeout_us
        self._watch(group, member.deadline_us)

    # ---- joining

    def join(self, request: int, message: JoinGroupRequest) -> None:
        """Add a member (KIP-394: assigning its id first), or let it rejoin."""
        group, name = self.metadata.group(message.group), message.member_id
        is_new = group is None
        if group is None and name:
            self._refuse_join(request, message, REFUSED, name)
            return
        group = group or self.metadata.make(message.group)
        if not _is_consistent(group, message):
            self._refuse_join(request, message, "INCONSISTENT_GROUP_PROTOCOL", name)
        elif name in group.pending:
            self._add(group, name, request, message)
        elif name:
            error = self.identity_error(group, name, message.instance_id)
            if error == NONE:
                self._join_again(group, group.members[name], request, message)
            else:
                self._refuse_join(request, message, error, name)
        elif message.instance_id:
            self._join_static(group, request, message)
        elif message.takes_id and self.profile.has("member_id_required"):
            name = self._new_id(message.consumer)
            due_us = group.pending[name] = self.kernel.now + message.session_timeout_us
            self._watch(group, due_us)
            self._refuse_join(request, message, "MEMBER_ID_REQUIRED", name)
        else:
            self._add(group, self._new_id(message.consumer), request, message)
        if is_new and self.profile.has("new_groups_written"):
            self.metadata.write(Store(group.name), [GroupRecord(group.name, 0)])
        self._try_to_complete(group)

    def _refuse_join(
        self, request: int, message: JoinGroupRequest, error: str, member_id: str = ""
    ) -> None:
        response = JoinGroupResponse(request, message.group, error, member_id)
        self.metadata.respond(request, response)

    def _new_id(self, consumer: str) -> str:
        return f"{consumer}-{self.kernel.random_below(1 << 32):08x}"

    def _add(self, group: Group, name: str, request: int, message: JoinGroupRequest) -> None:
        group.pending.pop(name, None)
        if group.state == PREPARING and group.delay_left_us >= 0:
            group.newcomer = True
        if not group.members:  # the others' are compatible; the protocol is that of the generation
            group.assignor, group.protocol_type = message.assignor, message.protocol_type
        member = group.members[name] = Member(
            name,
            message.consumer,
            message.subscription,
            message.session_timeout_us,
            message.rebalance_timeout_us,
            self.kernel.now + NEW_MEMBER_JOIN_US,
            request,
            protocols=message.protocols,
            instance_id=message.instance_id,
        )
        self._watch(group, member.deadline_us)
        group.leader = group.leader or name
        self.kernel.emit(
            events.MemberJoined, group.name, self.context.id, member.consumer, member.id
        )
        self.prepare(group)

    def _join_again(
        self, group: Group, member: Member, request: int, message: JoinGroupRequest
    ) -> None:
        """Handle the rejoin of a member: it matters from the leader, or with changed metadata."""
        same = member.subscription == message.subscription
        same = same and member.protocols == message.protocols
        leads = group.leader == member.id and group.state == STABLE
        member.join = request
        if same and not leads and group.state in (COMPLETING, STABLE):
            self._tell_generation(group, member)
            return
        member.subscription, member.protocols = message.subscription, message.protocols
        self.prepare(group)

    # ---- static members (KIP-345)

    def _join_static(self, group: Group, request: int, message: JoinGroupRequest) -> None:
        """Add a static member, or let it take its place again under a new member id.

        In a stable group that is no rebalance, if it supports the group's protocol. Source:
        ``GroupCoordinator.updateStaticMemberAndRebalance``.
        """
        name = self._new_id(message.instance_id)
        old = group.static_member(message.instance_id)
        if old is None:
            self._add(group, name, request, message)
            return
        leader = group.leader
        member = self._replace(group, old, name)
        member.subscription, member.protocols = message.subscription, message.protocols
        member.session_timeout_us = message.session_timeout_us
        member.rebalance_timeout_us = message.rebalance_timeout_us
        member.join = request
        self.alive(group, name)
        if group.state == STABLE and chosen_protocol(group) == group.assignor:
            self.metadata.store_assignment(
                group,
                {other.id: other.partitions for other in group.members.values()},
                {other.id: other.assignment for other in group.members.values()},
                Replacement(name, leader, message.can_skip),
            )
        else:
            self.prepare(group)

    def _replace(self, group: Group, old: Member, name: str) -> Member:
        """Give a member a new id; what waits for a response under the old one is fenced."""
        if old.join:
            request, old.join = old.join, 0
            response = JoinGroupResponse(request, group.name, FENCED, old.id)
            self.metadata.respond(request, response)
        if old.sync:
            request, old.sync = old.sync, 0
            self.metadata.respond(request, SyncGroupResponse(request, group.name, FENCED))
        members = list(group.members.values())
        if group.leader == old.id:
            group.leader = name
        old.id = name
        group.members = {other.id: other for other in members}
        return old

    def _replaced(self, group: Group, replacing: Replacement, error: str) -> None:
        """Tell a static member that it is back, once its new id is stored.

        One that leads assigns nothing: it is told to skip that (KIP-814), or that its predecessor
        leads.
        """
        member = group.members.get(replacing.member_id)
        if member is None or not member.join or group.state != STABLE:
            return
        if error != NONE:
            request, member.join = member.join, 0
            self.metadata.respond(request, JoinGroupResponse(request, group.name, error))
        elif replacing.can_skip:
            skips = group.leader == member.id
            self._tell_generation(group, member, group.leader, skip_assignment=skips)
        else:
            self._tell_generation(group, member, replacing.leader)

    # ---- the rebalance

    def prepare(self, group: Group) -> None:
        """Start a rebalance, unless one is already in progress."""
        if PREPARING not in NEXT[group.state]:
            return
        if group.state == COMPLETING:
            self._fail_syncs(group, REBALANCING)
        group.sync_deadline_us = 0
        timeout_us = _rebalance_timeout_us(group)
        group.delay_left_us, group.newcomer = -1, False
        if group.state == EMPTY:
            delay_us = self.context.config.group_initial_rebalance_delay_us
            group.delay_left_us = max(0, timeout_us - delay_us)
            timeout_us = delay_us
        group.join_deadline_us = self.kernel.now + timeout_us
        self._watch(group, group.join_deadline_us)
        self.metadata.to(group, PREPARING)

    def _try_to_complete(self, group: Group) -> None:
        """Complete once all have joined; a group that was empty waits for its delay to end."""
        waits = group.pending or any(not member.join for member in group.members.values())
        if group.state == PREPARING and group.delay_left_us < 0 and not waits:
            self._complete(group)

    def _waited(self, group: Group) -> None:
        """End the wait for members; a group that was empty is delayed further as members join."""
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
        """Start a generation with the joined members, and respond to them (``onCompleteJoin``)."""
        group.join_deadline_us, group.delay_left_us = 0, -1
        for member in [m for m in group.members.values() if not (m.join or m.instance_id)]:
            self._drop(group, member, "did not join again")
        if group.members and not self._elects_leader(group):
            group.join_deadline_us = self.kernel.now + _rebalance_timeout_us(group)
            self._watch(group, group.join_deadline_us)
            return
        group.generation += 1
        if not group.members:
            group.leader = group.assignor = ""
            group.empty_since_us = self.kernel.now
            self.metadata.to(group, EMPTY)
            self.metadata.store_assignment(group, {})
            return
        self.metadata.to(group, COMPLETING)
        if group.protocol_type:
            group.assignor = chosen_protocol(group)
        for member in group.members.values():
            self.alive(group, member.id)
            member.is_new, member.partitions, member.assignment = False, [], b""
            self._tell_generation(group, member)
        if self.profile.has("unsynced_members_removed"):
            group.unsynced = dict.fromkeys(group.members)
            group.sync_deadline_us = self.kernel.now + _rebalance_timeout_us(group)
            self._watch(group, group.sync_deadline_us)

    @staticmethod
    def _elects_leader(group: Group) -> bool:
        """Let one that joined lead if the leader did not; False if none did.

        Static members stay in the group without joining again, until their sessions time out.
        """
        leader = group.members.get(group.leader)
        if leader is None or not leader.join:
            joined = next((member.id for member in group.members.values() if member.join), "")
            group.leader = joined or group.leader
            return bool(joined)
        return True

    def _tell_generation(
        self, group: Group, member: Member, leader: str = "", *, skip_assignment: bool = False
    ) -> None:
        """Answer the join of a member, if it waits; ``leader`` is the group's if empty."""
        leader = leader or group.leader
        members, metadata = dict[str, Subscription](), dict[str, bytes]()
        instances: dict[str, str] = {}
        if member.id == leader and group.protocol_type:
            protocol = group.assignor
            metadata = {other.id: other.metadata_of(protocol) for other in group.members.values()}
            instances = {other.id: other.instance_id for other in group.members.values()}
        elif member.id == leader:
            members = {other.id: other.subscription for other in group.members.values()}
        if not member.join:
            return
        request, member.join = member.join, 0
        self._watch(group, member.deadline_us)
        response = JoinGroupResponse(
            request,
            group.name,
            NONE,
            member.id,
            group.generation,
            leader,
            members,
            group.protocol_type,
            group.assignor,
            metadata,
            instances,
            skip_assignment,
        )
        self.metadata.respond(request, response)

    # ---- the assignment

    def sync(self, request: int, message: SyncGroupRequest) -> None:
        """Store the leader's assignment, then send each member its own."""
        group = self.metadata.group(message.group)
        error = self.check(message)
        if error == NONE and group is not None:
            error = SYNC[group.state] if _is_of(group, message) else "INCONSISTENT_GROUP_PROTOCOL"
        if error != NONE or group is None:
            self.metadata.respond(request, SyncGroupResponse(request, message.group, error))
            return
        member = group.members[message.member_id]
        self.alive(group, member.id)
        member.sync = request
        group.unsynced.pop(member.id, None)
        if not group.unsynced:
            group.sync_deadline_us = 0
        if group.state == STABLE:
            self._tell_partitions(group, member)
        elif member.id == group.leader:
            self.metadata.store_assignment(group, message.assignment, message.assignments)

    def assignment_stored(self, group: Group, store: Store, error: str) -> None:
        """Handle the outcome of storing an assignment; an outdated one is ignored."""
        if store.replacing is not None:
            self._replaced(group, store.replacing, error)
            return
        if group.state != COMPLETING or group.generation != store.generation:
            return
        if error != NONE:
            self._fail_syncs(group, error)
            self.prepare(group)
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
        response = SyncGroupResponse(
            request,
            group.name,
            NONE,
            member.partitions,
            member.assignment,
            group.protocol_type,
            group.assignor,
        )
        self.metadata.respond(request, response)

    def _fail_syncs(self, group: Group, error: str) -> None:
        for member in group.members.values():
            if member.sync:
                request, member.sync = member.sync, 0
                self._watch(group, member.deadline_us)
                self.metadata.respond(request, SyncGroupResponse(request, group.name, error))

    def fail_waiting(self, group: Group, error: str) -> None:
        """Fail all waiting requests: this broker is no longer the coordinator."""
        self._fail_syncs(group, error)
        for member in group.members.values():
            if member.join:
                request, member.join = member.join, 0
                response = JoinGroupResponse(request, group.name, error, member.id)
                self.metadata.respond(request, response)

    # ---- leaving

    def leave(self, group: Group, member_id: str, instance_id: str) -> str:
        """Remove a member that leaves, and return the error if it is none.

        Source: ``GroupCoordinator.handleLeaveGroup``.
        """
        if not member_id:
            static = group.static_member(instance_id) if instance_id else None
            if static is None:
                return REFUSED
            member_id = static.id
        elif group.pending.pop(member_id, None) is not None:
            self._try_to_complete(group)
            return NONE
        error = self.identity_error(group, member_id, instance_id)
        if error == NONE:
            self.remove(group, member_id, "left")
        return error

    def remove(self, group: Group, member_id: str, reason: str) -> None:
        """Remove a member, which triggers a rebalance."""
        self._drop(group, group.members[member_id], reason)
        self.prepare(group)
        self._try_to_complete(group)

    def _drop(self, group: Group, member: Member, reason: str) -> None:
        if member.join:
            response = JoinGroupResponse(member.join, group.name, REFUSED)
            self.metadata.respond(member.join, response)
        del group.members[member.id]
        if group.leader == member.id:
            group.leader = next(iter(group.members), "")
        self.kernel.emit(
            events.MemberLeft, group.name, self.context.id, member.consumer, member.id, reason
        )

    # ---- time

    def _watch(self, group: Group, due_us: int) -> None:
        """Schedule a check of a group by ``due_us``; its deadlines may have moved by then."""
        timers, key = self.context.timers, group_key(group.name)
        set_us = timers.deadline_of(TASK, key)
        if set_us is None or due_us < set_us:
            timers.set_deadline(TASK, key, due_us)

    def watch(self, group: Group) -> None:
        """Schedule a check of a group at its next deadline."""
        due = self.deadlines(group)
        if due:
            self.context.timers.set_deadline(TASK, group_key(group.name), min(due))

    def expire(self, group: Group) -> None:
        """Expire sessions and waits that are due, and schedule the next check."""
        now = self.kernel.now
        for name in [name for name, due_us in group.pending.items() if due_us <= now]:
            del group.pending[name]
            self._try_to_complete(group)
        for member in list(group.members.values()):
            if member.deadline_us <= now and self._can_expire(member):
                self.remove(group, member.id, "session expired")
        if 0 < group.join_deadline_us <= now:
            self._waited(group)
        if 0 < group.sync_deadline_us <= now:
            self._remove_unsynced(group)
        self.watch(group)

    def _remove_unsynced(self, group: Group) -> None:
        """Rebalance without the members that have not asked for their assignment (KAFKA-12890).

        Source: ``GroupCoordinator.onExpirePendingSync``.
        """
        for name in group.unsynced:
            if name in group.members:
                self._drop(group, group.members[name], "did not ask for its assignment")
        self.prepare(group)
        self._try_to_complete(group)

    @staticmethod
    def _can_expire(member: Member) -> bool:
        """Whether a session can time out: not while the member waits for the coordinator."""
        return member.is_new or not (member.join or member.sync)

    def deadlines(self, group: Group) -> list[int]:
        due = [member.deadline_us for member in group.members.values() if self._can_expire(member)]
        waits = [due_us for due_us in (group.join_deadline_us, group.sync_deadline_us) if due_us]
        return [*due, *group.pending.values(), *waits]


def _rebalance_timeout_us(group: Group) -> int:
    return max((member.rebalance_timeout_us for member in group.members.values()), default=0)


def _is_of(group: Group, message: SyncGroupRequest) -> bool:
    """Whether a request names the group's protocol and its type, or does not name them (KIP-559).

    Source: ``GroupCoordinator.validateSyncGroup``.
    """
    named = ((message.protocol_type, group.protocol_type), (message.protocol, group.assignor))
    return all(name in (None, own) for name, own in named)


def _is_consistent(group: Group, message: JoinGroupRequest) -> bool:
    """Whether a joining member's protocols are compatible with the group's.

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
        all(supports(member, protocol.name) for member in members) for protocol in message.protocols
    )
