"""Consumer groups on their coordinator: what they do otherwise than share groups.

Source: ``GroupMetadataManager`` 4.0 in ``org.apache.kafka.coordinator.group``.
"""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec.structs import replace

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.names import random_uuid
from emulator.common.regular_expressions import matching
from emulator.coordinator.consumer_groups import classic_members, embedded_protocol, requests
from emulator.coordinator.consumer_groups.classic_members import (
    INCONSISTENT,
    REBALANCING,
    Join,
    check_join,
    ends_without,
)
from emulator.coordinator.consumer_groups.group import AWAY, UNREVOKED, ConsumerGroup, Member
from emulator.coordinator.consumer_groups.records import Record, RegularExpressionRecord
from emulator.coordinator.consumer_groups.requests import (
    ASSIGNOR_ORDERS,
    Outcome,
    Rules,
    deletion_records,
)
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.group_migration import (
    HOST,
    MigrationPolicy,
    downgrade,
    settings_of,
    upgraded,
)
from emulator.coordinator.groups import EMPTY, STABLE, TASK, Group, GroupAnswer, Store, group_key
from emulator.coordinator.members import GroupMembership
from emulator.coordinator.modern_group_manager import (
    US_PER_MS,
    ModernGroupManager,
    Progress,
    copied,
    named,
)
from emulator.coordinator.modern_groups.requests import NO_GROUP, Refused
from emulator.coordinator.modern_groups.specification import Partitions
from emulator.coordinator.records import GroupRecord as ClassicRecord
from emulator.coordinator.records import group_record
from emulator.metadata_log.metadata_version import GROUP_VERSION
from emulator.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerMemberDescription,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

CLASSIC_ONLY: Final = 0
"""The value of group.coordinator.rebalance.protocols without the protocol ``consumer``."""
RESOLVE_MIN_US: Final = 10_000_000
"""How long resolved regular expressions are kept at least, although topics changed."""
RESOLVE_MAX_US: Final = 600_000_000
"""After how long they are resolved again in any case."""


class ConsumerGroupManager(
    ModernGroupManager[ConsumerGroup, Member, ConsumerGroupHeartbeatRequest]
):
    """The consumer groups that a broker coordinates."""

    kind = "consumer"
    feature = GROUP_VERSION
    profile_feature = "consumer_group_protocol"
    response = ConsumerGroupHeartbeatResponse

    def __init__(
        self, context: BrokerContext, metadata: GroupMetadataManager, members: GroupMembership
    ) -> None:
        """Act in ``context``; ``members`` manages groups that become classic ones."""
        super().__init__(context, metadata)
        self.members = members

    @property
    def is_enabled(self) -> bool:
        """Whether brokers are configured with the protocol; a preview needs no feature besides."""
        if self.context.config.group_rebalance_protocols == CLASSIC_ONLY:
            return False
        return self.context.profile.has("consumer_group_preview") or super().is_enabled

    @property
    def rules(self) -> Rules:
        """The rules that the configuration gives now."""
        config, profile = self.context.config, self.context.profile
        waits = profile.has("target_assignments_wait")
        return Rules(
            config.consumer_group_max_size,
            profile.has("group_metadata_hash"),
            profile.has("unsubscribed_partitions_revoked"),
            config.consumer_assignment_interval_us if waits else None,
            profile.has("preferred_assignor_bumps_epoch"),
            ASSIGNOR_ORDERS[config.consumer_assignors],
            profile.has("consumer_group_preview"),
            profile.has("ranges_kept"),
            profile.has("static_members_reassigned"),
            profile.has("consumer_group_early_access"),
            profile.has("consumers_rejoin_with_epoch_zero"),
        )

    @property
    def timeouts_us(self) -> tuple[int, int]:
        config = self.context.config
        return config.consumer_session_timeout_us, config.consumer_heartbeat_interval_us

    def state_of(self, group: Group) -> ConsumerGroup | None:
        return group.consumer

    def _validate(self, message: ConsumerGroupHeartbeatRequest) -> None:
        requests.validate(message, self.rules)

    # ---- heartbeats

    def _new(self, name: str) -> ConsumerGroup:
        return requests.new_group(name, self.rules)

    def _state_for(
        self, group: Group | None, message: ConsumerGroupHeartbeatRequest
    ) -> ConsumerGroup:
        if self.rules.is_early or group is None or group.modern is not None or message.member_epoch:
            return super()._state_for(group, message)
        if group.state == EMPTY and not group.members:
            return self._new(group.name)
        return upgraded(group, self._policy, self, self.rules)

    @property
    def _policy(self) -> MigrationPolicy:
        return MigrationPolicy(self.context.config.consumer_migration_policy)

    def _decide(self, state: ConsumerGroup, message: ConsumerGroupHeartbeatRequest) -> Outcome:
        if not message.member_id:
            message = replace(message, member_id=random_uuid(self.kernel.random_below))
        return requests.heartbeat(state, message, self, self.rules, self.kernel.now)

    def _become(
        self, group: Group, state: ConsumerGroup, member: Member
    ) -> tuple[list[Record | ClassicRecord], Group | None]:
        """Let a group have a state; a classic one becomes a consumer group."""
        if group.modern is not None:
            return [], None
        creation: list[Record] = []
        if group.members:
            self._convert(group, "consumer", f"{member.client} uses the protocol consumer")
            self.members.fail_waiting(group, REBALANCING)
            self.context.timers.clear_deadline(TASK, group_key(group.name))
            creation = requests.creation_records(state, self.rules)
            now = self.kernel.now
            for known in state.members.values():
                state.sessions[known.id] = now + self._session_us(state, known)
        former = copied(group)
        # A group that only just began to exist has no record of the classic protocol.
        was_there = bool(group.generation or group.pending or group.offsets)
        group.leader = group.assignor = group.protocol_type = ""
        group.members, group.pending = {}, {}
        group.join_deadline_us, group.delay_left_us = 0, -1
        group.modern = state
        return [*([ClassicRecord(group.name, -1)] if was_there else []), *creation], former

    def _convert(self, group: Group, protocol: str, reason: str) -> None:
        """Tell that a group changes its protocol, which causes what follows."""
        fields = (group.name, self.context.id, group.generation, protocol, reason)
        self.kernel.cause = self.kernel.emit(events.GroupConverted, *fields)

    def _stayed(self, group: Group, outcome: Outcome) -> None:
        if outcome.resolves or self._has_to_resolve(self._state(group)):
            self._resolve(group)

    def _keep_session(self, state: ConsumerGroup, member: Member, *, was: Member | None) -> None:
        """Note a member's sign of life; its time to revoke begins when it is told to."""
        now = self.kernel.now
        if member.classic is not None or member.state != UNREVOKED:
            state.revocations.pop(member.id, None)
        elif was is None or was.step != member.step:
            due = requests.revocation_due_us(member, now)
            if due is not None:
                state.revocations[member.id] = due
        state.sessions[member.id] = now + self._session_us(state, member)
        self.watch(state)

    def _session_us(self, state: ConsumerGroup, member: Member) -> int:
        """How long a member may be silent; one of the classic protocol has said so."""
        if member.classic is not None:
            return member.classic.session_timeout_ms * US_PER_MS
        return self.session_timeout_us(state.name)

    def _leave(self, request: int, message: ConsumerGroupHeartbeatRequest) -> None:
        group = self.metadata.group(message.group)
        if group is None or group.consumer is None:
            raise Refused(NO_GROUP, f"Group {message.group} not found.")
        member = requests.leave(group.consumer, message)
        epoch = message.member_epoch
        answer = ConsumerGroupHeartbeatResponse(
            request, message.group, NONE, "", member.id, epoch, 0
        )
        if epoch == AWAY:
            before = dict(group.consumer.members)
            outcome = requests.away(group.consumer, member)
            self._write(group, outcome.records, answer)
            group.consumer.revocations.pop(member.id, None)
            self._tell(group, outcome, before)
        else:
            self._remove(group, [member], "left", answer)

    def _removal(self, state: ConsumerGroup, members: Sequence[Member]) -> Outcome:
        return requests.remove(state, members, self, self.rules)

    def _remove(
        self,
        group: Group,
        members: Sequence[Member],
        reason: str,
        answer: GroupAnswer | None = None,
    ) -> None:
        state, leaving = self._state(group), {member.id for member in members}
        if not (ends_without(state, leaving) and self._may_downgrade):
            super()._remove(group, members, reason, answer)
            return
        self._convert(group, "classic", self._tell_left(group, members, reason))
        self._downgrade(group, leaving, None, deletion_records(state), answer)
        self.members.prepare(group)

    @property
    def _may_downgrade(self) -> bool:
        return bool(self._policy & MigrationPolicy.DOWNGRADE)

    def _downgrade(
        self,
        group: Group,
        leaving: Collection[str],
        joining: Member | None,
        records: list[Record],
        answer: GroupAnswer | None,
    ) -> None:
        """Let a consumer group become a classic one, without some members."""
        state = self._state(group)
        former = copied(group)
        downgrade(group, state, leaving, joining, self.names(state))
        self.context.timers.clear_deadline(TASK, group_key(group.name))
        group.state = STABLE
        assignments = {member.id: member.assignment for member in group.members.values()}
        partitions = {member.id: member.partitions for member in group.members.values()}
        store = Store(group.name, before=state, reverts=former)
        store.answers = [] if answer is None else [answer]
        self.metadata.write(store, [*records, group_record(group, partitions, assignments)])
        for member in group.members:
            self.members.alive(group, member)

    def make_way(self, name: str) -> None:
        """Let an empty consumer group become a classic one: a classic member joins."""
        group = self.metadata.group(name)
        if group is None or group.consumer is None or group.consumer.members:
            return
        records = [*deletion_records(group.consumer), ClassicRecord(name, 0)]
        store = Store(name, reverts=copied(group))
        group.modern, group.generation = None, 0
        self.metadata.write(store, records)

    def stored(self, store: Store, error: str) -> None:
        """Handle the outcome of a write; a group that is what it was has its deadlines again."""
        super().stored(store, error)
        group = self.metadata.group(store.group)
        if group is None or group is not store.reverts:
            return
        if group.consumer is None:
            self.members.watch(group)
        else:
            self.watch(group.consumer)

    # ---- members of the classic protocol

    def join(self, request: int, message: JoinGroupRequest) -> None:
        """Let a classic member join a consumer group, or move towards its assignment."""
        group = self.metadata.group(message.group)
        assert group is not None
        state = self._state(group)
        is_new = not message.member_id
        name = message.member_id or random_uuid(self.kernel.random_below)
        join = Join(
            message.member_id,
            message.instance_id,
            message.protocol_type or embedded_protocol.TYPE,
            settings_of(message),
            message.rebalance_timeout_us // US_PER_MS,
            message.consumer,
            HOST,
        )
        try:
            needs_policy = self.context.profile.has("classic_members_need_migration")
            if needs_policy and not self._policy:
                raise Refused(INCONSISTENT, "Group migration is disabled.")
            check_join(state, join, name, self.rules)
            takes_id = message.takes_id and self.context.profile.has("member_id_required")
            if is_new and not message.instance_id and takes_id:
                raise Refused("MEMBER_ID_REQUIRED", "")
            self._joined(group, request, join, name)
        except Refused as refused:
            told = name if refused.error == "MEMBER_ID_REQUIRED" else ""
            response = JoinGroupResponse(request, message.group, refused.error, told)
            self.metadata.respond(request, response)

    def _joined(self, group: Group, request: int, join: Join, name: str) -> None:
        state, now = self._state(group), self.kernel.now
        static = state.static_member(join.instance_id)
        ends = (
            static is not None
            and static.classic is None
            and ends_without(state, (static.id,), may_be_empty=True)
            and self._may_downgrade
        )
        joined = classic_members.join(state, join, name, self, self.rules, now, ends=ends)
        outcome = joined.outcome
        member = outcome.member
        response = JoinGroupResponse(
            request,
            group.name,
            NONE,
            member.id,
            member.epoch,
            protocol_type=join.protocol_type,
            protocol=join.classic.protocols[0].name,
        )
        if joined.replaces is None:
            self._settle(group, state, outcome, response)
            state.joins.pop(member.id, None)
            state.syncs[member.id] = now + join.rebalance_timeout_ms * US_PER_MS
            self.watch(state)
            return
        tombstones = deletion_records(state, {joined.replaces.id: member.id})
        self._convert(group, "classic", f"{member.client} uses the protocol classic")
        self._downgrade(group, (), member, [*outcome.records, *tombstones], response)
        if joined.rebalances:
            self.members.prepare(group)

    def sync(self, request: int, message: SyncGroupRequest) -> None:
        """Tell a classic member its partitions."""
        group = self.metadata.group(message.group)
        assert group is not None
        state = self._state(group)
        try:
            member = self._checked(state, message)
        except Refused as refused:
            response = SyncGroupResponse(request, message.group, refused.error)
            self.metadata.respond(request, response)
            return
        kinds = message.protocol_type, message.protocol
        error = classic_members.sync_error(state, member, self.rules, *kinds)
        if error != NONE:
            if error == REBALANCING:
                self._await_join(state, member)
            self.metadata.respond(request, SyncGroupResponse(request, message.group, error))
            return
        state.syncs.pop(member.id, None)
        self._keep_session(state, member, was=member)
        names = self.names(state)
        assert member.classic is not None
        is_scripted = member.classic.is_scripted
        response = SyncGroupResponse(
            request,
            group.name,
            NONE,
            named(member.assigned, names) if is_scripted else [],
            b"" if is_scripted else classic_members.assignment_of(member, names),
            *(kind or "" for kind in kinds),
        )
        self._write(group, [], response)

    def classic_heartbeat(self, message: HeartbeatRequest) -> str:
        """Keep a classic member's session alive; the error tells whether it has to join again."""
        group = self.metadata.group(message.group)
        assert group is not None
        state = self._state(group)
        try:
            member = self._checked(state, message)
        except Refused as refused:
            return refused.error
        self._keep_session(state, member, was=member)
        error = classic_members.heartbeat_error(state, member, self.rules)
        if error == REBALANCING:
            self._await_join(state, member)
        return error

    def leave(self, request: int, message: LeaveGroupRequest) -> None:
        """Let classic members leave, or an administrator remove static members: in one epoch."""
        group = self.metadata.group(message.group)
        assert group is not None
        state = self._state(group)
        leaving: dict[str, Member] = {}
        errors: list[str] = []
        for name, instance_id in message.members:
            static = state.static_member(instance_id)
            try:
                known = name or (static.id if static is not None else "")
                member = classic_members.current(state, known, instance_id)
            except Refused as refused:
                errors.append(refused.error)
            else:
                leaving[member.id] = member
                errors.append(NONE)
        response = LeaveGroupResponse.of_members(request, message.group, errors)
        if leaving:
            self._remove(group, list(leaving.values()), "left", response)
        else:
            self.metadata.respond(request, response)

    @staticmethod
    def _checked(state: ConsumerGroup, message: SyncGroupRequest | HeartbeatRequest) -> Member:
        return classic_members.checked(
            state, message.member_id, message.instance_id, message.generation
        )

    def _await_join(self, state: ConsumerGroup, member: Member) -> None:
        """Give a classic member its rebalance timeout to join again, unless it runs already."""
        due_us = self.kernel.now + member.rebalance_timeout_ms * US_PER_MS
        state.joins.setdefault(member.id, due_us)
        self.watch(state)

    # ---- what is told

    def _assignor(self, state: ConsumerGroup) -> str:
        return state.preferred_assignor(self.rules.assignors[0])

    def _progress(self, state: ConsumerGroup, member: Member) -> Progress:
        return Progress(member.state, member.revoking, sorted(state.awaited(member)))

    def names(self, state: ConsumerGroup, member: Member | None = None) -> dict[str, str]:
        names = {topic.id: name for name, topic in state.subscribed.items()}
        members = [*state.members.values(), *([member] if member is not None else [])]
        for name in {t for m in members for t in requests.topics_of(state, m)}:
            topic = self.topic(name)
            if topic is not None:
                names[topic.id] = name
        return names

    def _described(self, state: ConsumerGroup, member: Member) -> ConsumerMemberDescription:
        return ConsumerMemberDescription(
            member.id,
            member.instance_id,
            member.rack_id,
            member.epoch,
            member.client,
            member.host,
            member.topics,
            member.regex,
            self._owned(member),
            state.target.get(member.id, {}),
            member.classic is not None,
        )

    def _owned(self, member: Member) -> Partitions:
        """What a member is said to own: from 4.3 on also what it has still to revoke."""
        if not self.context.profile.has("revoking_partitions_described"):
            return member.assigned
        return {
            topic: sorted({*member.assigned.get(topic, ()), *member.revoking.get(topic, ())})
            for topic in {**member.assigned, **member.revoking}
        }

    # ---- regular expressions

    def _has_to_resolve(self, consumers: ConsumerGroup) -> bool:
        """Whether regular expressions are unresolved, or topics have changed since."""
        regexes = {member.regex for member in consumers.members.values() if member.regex}
        if not regexes or consumers.resolving:
            return False
        now = self.kernel.now
        resolved_us = (resolved.at_us for resolved in consumers.regexes.values())
        last_us = max(resolved_us, default=-RESOLVE_MAX_US)
        if now <= last_us + RESOLVE_MIN_US:
            return False
        if regexes - set(consumers.regexes) or now > last_us + RESOLVE_MAX_US:
            return True
        names = self.context.metadata.topic_names()
        return any(matching(regex, names) != consumers.regexes[regex].topics for regex in regexes)

    def _resolve(self, group: Group) -> None:
        """Resolve the group's regular expressions in a moment (Kafka: on another thread)."""
        assert group.consumer is not None
        group.consumer.resolving = True
        self.context.timers.set_deadline(TASK, f"regexes {group.name}", self.kernel.now + 1)

    def resolve(self, group: Group) -> None:
        """Look up the topics that match; a change bumps the group's epoch."""
        consumers = group.consumer
        if consumers is None:
            return
        consumers.resolving = False
        names = list(self.context.metadata.topic_names())
        regexes = sorted({m.regex for m in consumers.members.values() if m.regex})
        records: list[Record] = []
        changes = False
        for regex in regexes:
            topics = matching(regex, names)
            known = consumers.regexes.get(regex)
            changes = changes or topics != ([] if known is None else known.topics)
            records.append(RegularExpressionRecord(group.name, regex, topics, self.kernel.now))
        records += [
            RegularExpressionRecord(group.name, regex)
            for regex in consumers.regexes
            if regex not in regexes
        ]
        before = dict(consumers.members)
        reason = ""
        if changes:
            records += self._epoch_records(consumers, records)
            reason = "topics match its regular expressions"
        self._write(group, records, None)
        member = next(iter(consumers.members.values()), Member(""))
        self._tell(group, Outcome(records, member, reason=reason), before)

    def _epoch_records(self, consumers: ConsumerGroup, resolved: list[Record]) -> list[Record]:
        """The records of a new epoch, with the topics that match."""
        after = copied(consumers)
        for record in resolved:
            after.replay(record)
        return requests.refreshed(after, self, self.rules)

    # ---- time

    def expire(self, group: Group) -> None:
        """Fence members that were silent, or have not revoked, for too long."""
        consumers, now = self._state(group), self.kernel.now
        super().expire(group)
        waits = (
            (consumers.joins, "did not join again in time"),
            (consumers.syncs, "did not sync in time"),
        )
        for deadlines, reason in waits:
            for name in [name for name, due_us in deadlines.items() if due_us <= now]:
                deadlines.pop(name, None)
                if group.consumer is consumers and name in consumers.members:
                    self._remove(group, [consumers.members[name]], reason)
        for name, (due_us, epoch) in list(consumers.revocations.items()):
            member = consumers.members.get(name)
            if due_us <= now and group.consumer is consumers:
                consumers.revocations.pop(name, None)
                if member is not None and member.epoch == epoch:
                    self._remove(group, [member], "did not revoke in time")
        if group.consumer is consumers:
            self.watch(consumers)

    def loaded(self, group: Group) -> None:
        """Start the sessions of a group that was loaded anew."""
        consumers = self._state(group)
        for member in consumers.members.values():
            due = requests.revocation_due_us(member, self.kernel.now)
            if due is not None:
                consumers.revocations[member.id] = due
        super().loaded(group)
