"""Consumer groups on their coordinator: what they do otherwise than share groups.

Source: ``GroupMetadataManager`` 4.0 in ``org.apache.kafka.coordinator.group``.
"""

from typing import Final

from msgspec.structs import replace

from emulator.common.errors import NONE
from emulator.common.names import random_uuid
from emulator.coordinator.consumer_groups import requests
from emulator.coordinator.consumer_groups.group import AWAY, UNREVOKED, ConsumerGroup, Member
from emulator.coordinator.consumer_groups.records import Record, RegularExpressionRecord
from emulator.coordinator.consumer_groups.regular_expressions import matching
from emulator.coordinator.consumer_groups.requests import Outcome, Rules
from emulator.coordinator.groups import EMPTY, Group, Store
from emulator.coordinator.modern_group_manager import (
    TASK,
    ModernGroupManager,
    Progress,
    copied,
)
from emulator.coordinator.modern_groups.requests import NO_GROUP, Refused
from emulator.coordinator.modern_groups.specification import Partitions
from emulator.coordinator.records import GroupRecord as ClassicRecord
from emulator.metadata_log.metadata_version import GROUP_VERSION
from emulator.protocol import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerMemberDescription,
)

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
        )

    @property
    def timeouts_us(self) -> tuple[int, int]:
        config = self.context.config
        return config.consumer_session_timeout_us, config.consumer_heartbeat_interval_us

    def state_of(self, group: Group) -> ConsumerGroup | None:
        return group.consumer

    def _validate(self, message: ConsumerGroupHeartbeatRequest) -> None:
        requests.validate(message, self.rules.assignors)

    # ---- heartbeats

    def _new(self, name: str) -> ConsumerGroup:
        return requests.new_group(name, self.rules)

    def _state_for(
        self, group: Group | None, message: ConsumerGroupHeartbeatRequest
    ) -> ConsumerGroup:
        if group is not None and group.modern is None and _is_replaceable(group, message):
            return self._new(group.name)
        return super()._state_for(group, message)

    def _decide(self, state: ConsumerGroup, message: ConsumerGroupHeartbeatRequest) -> Outcome:
        if not message.member_id:
            message = replace(message, member_id=random_uuid(self.kernel.random_below))
        return requests.heartbeat(state, message, self, self.rules, self.kernel.now)

    def _become(self, group: Group, state: ConsumerGroup) -> None:
        is_classic = group.modern is None
        group.modern = state
        if is_classic:
            self._forget_classic(group)

    def _forget_classic(self, group: Group) -> None:
        """Delete the last generation of a classic group that becomes a consumer group."""
        if group.generation:
            group.leader = group.assignor = group.protocol_type = ""
            self.metadata.write(Store(group.name), [ClassicRecord(group.name, -1)])

    def _stayed(self, group: Group, outcome: Outcome) -> None:
        if outcome.resolves or self._has_to_resolve(self._state(group)):
            self._resolve(group)

    def _keep_session(self, state: ConsumerGroup, member: Member, *, was: Member | None) -> None:
        """Note a member's sign of life; its time to revoke begins when it is told to."""
        if member.state != UNREVOKED:
            state.revocations.pop(member.id, None)
        elif was is None or (was.state, was.epoch) != (member.state, member.epoch):
            due = requests.revocation_due_us(member, self.kernel.now)
            if due is not None:
                state.revocations[member.id] = due
        super()._keep_session(state, member, was=was)

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
            self._remove(group, member, "left", answer)

    def _removal(self, state: ConsumerGroup, member: Member) -> Outcome:
        return requests.remove(state, member, self, self.rules)

    def make_way(self, name: str) -> bool:
        """Let a classic member join: an empty consumer group becomes a classic one."""
        group = self.metadata.group(name)
        if group is None or group.consumer is None:
            return True
        if group.consumer.members:
            return False
        records = requests.deletion_records(group.consumer)
        group.modern, group.generation = None, 0
        self.metadata.write(Store(name), records)
        return True

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
        for name, (due_us, epoch) in list(consumers.revocations.items()):
            member = consumers.members.get(name)
            if due_us <= now:
                consumers.revocations.pop(name, None)
                if member is not None and member.epoch == epoch:
                    self._remove(group, member, "did not revoke in time")
        self.watch(consumers)

    def loaded(self, group: Group) -> None:
        """Start the sessions of a group that was loaded anew."""
        consumers = self._state(group)
        for member in consumers.members.values():
            due = requests.revocation_due_us(member, self.kernel.now)
            if due is not None:
                consumers.revocations[member.id] = due
        super().loaded(group)


def _is_replaceable(group: Group, message: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether a joining member may make a classic group its own: one without members."""
    return not message.member_epoch and group.state == EMPTY and not group.members
