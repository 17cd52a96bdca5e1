"""Consumer groups on their coordinator: writing what was decided, answering, and timing out.

A request's records are applied at once, and appended; the answer is sent when they are replicated.
If they cannot be appended, the group is again as it was before. Source: ``GroupCoordinatorService``
and ``CoordinatorRuntime`` 4.0.
"""

from typing import Final

from msgspec.structs import replace

from emulator import events
from emulator.broker_context import BrokerContext
from emulator.common.errors import NONE
from emulator.common.java_collections import timeline_order
from emulator.common.names import as_sent, random_uuid
from emulator.coordinator.consumer_groups import requests
from emulator.coordinator.consumer_groups.assignors.specification import Partitions
from emulator.coordinator.consumer_groups.group import (
    AWAY,
    EMPTY,
    LEFT,
    UNREVOKED,
    ConsumerGroup,
    Member,
)
from emulator.coordinator.consumer_groups.records import (
    CurrentAssignmentRecord,
    GroupEpochRecord,
    Record,
    RegularExpressionRecord,
    TargetEpochRecord,
    TopicMetadata,
)
from emulator.coordinator.consumer_groups.regular_expressions import matching
from emulator.coordinator.consumer_groups.requests import Outcome, Refused, Rules
from emulator.coordinator.group_metadata import GroupMetadataManager
from emulator.coordinator.groups import Group, Store, group_key
from emulator.coordinator.records import GroupRecord as ClassicRecord
from emulator.coordinator.write_errors import UNKNOWN_ERROR, WRITE_ERRORS
from emulator.metadata_log.metadata_version import GROUP_VERSION
from emulator.protocol import (
    ConsumerGroupDescription,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerMemberDescription,
)

TASK: Final = "groups"
US_PER_MS: Final = 1_000
RESOLVE_MIN_US: Final = 10_000_000
"""How long resolved regular expressions are kept at least, although topics changed."""
RESOLVE_MAX_US: Final = 600_000_000
"""After how long they are resolved again in any case."""


class ConsumerGroupManager:
    """The consumer groups that a broker coordinates."""

    def __init__(self, context: BrokerContext, metadata: GroupMetadataManager) -> None:
        """Act in ``context`` on the groups of ``metadata``."""
        self.context = context
        self.metadata = metadata
        self.kernel = context.kernel

    @property
    def is_enabled(self) -> bool:
        """Whether the release has the protocol, and the cluster its feature."""
        level = self.context.metadata.feature_level(GROUP_VERSION)
        return level > 0 and self.context.profile.has("consumer_group_protocol")

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

    def topic(self, name: str) -> TopicMetadata | None:
        """A topic as this broker knows it."""
        found = self.context.metadata.topic(name)
        return None if found is None else TopicMetadata(as_sent(found.id), found.partitions)

    # ---- heartbeats

    def accepts(self, request: int, message: ConsumerGroupHeartbeatRequest) -> bool:
        """Whether a heartbeat is valid by itself; if it is not, it is answered."""
        try:
            requests.validate(message, self.rules.assignors)
        except Refused as refused:
            self._refuse(request, message, refused)
            return False
        return True

    def heartbeat(self, request: int, message: ConsumerGroupHeartbeatRequest) -> None:
        """Handle a member's heartbeat."""
        try:
            if message.member_epoch in (LEFT, AWAY):
                self._leave(request, message)
            else:
                self._stay(request, message)
        except Refused as refused:
            self._refuse(request, message, refused)

    def _refuse(
        self, request: int, message: ConsumerGroupHeartbeatRequest, refused: Refused
    ) -> None:
        if refused.error in (requests.FENCED_EPOCH, "FENCED_INSTANCE_ID"):
            self.kernel.emit(
                events.MemberFenced,
                message.group,
                self.context.id,
                message.client,
                message.member_id,
                refused.error,
                message.member_epoch,
            )
        self.metadata.respond(
            request,
            ConsumerGroupHeartbeatResponse(request, message.group, refused.error, str(refused)),
        )

    def _stay(self, request: int, message: ConsumerGroupHeartbeatRequest) -> None:
        group = self.metadata.group(message.group)
        if group is None and message.member_epoch:
            raise Refused(requests.NO_GROUP, f"Consumer group {message.group} not found.")
        if group is not None and group.consumer is None and not _is_replaceable(group, message):
            raise Refused(requests.NO_GROUP, f"Group {message.group} is not a consumer group.")
        if not message.member_id:
            message = replace(message, member_id=random_uuid(self.kernel.random_below))
        consumers = None if group is None else group.consumer
        consumers = consumers or requests.new_group(message.group, self.rules)
        is_new = message.member_id not in consumers.members
        outcome = requests.heartbeat(consumers, message, self, self.rules, self.kernel.now)
        group = group or self.metadata.make(message.group)
        if group.consumer is None:
            group.consumer = consumers
            self._forget_classic(group)
        before = dict(consumers.members)
        answer = ConsumerGroupHeartbeatResponse(
            request,
            message.group,
            NONE,
            "",
            outcome.member.id,
            outcome.member.epoch,
            self.heartbeat_interval_ms(message.group),
            outcome.assignment,
            self.names(consumers, outcome.member) if outcome.assignment else {},
        )
        self._write(group, outcome.records, answer)
        self._keep_session(consumers, outcome.member, was=before.get(outcome.member.id))
        if is_new:
            self.kernel.emit(
                events.MemberJoined,
                group.name,
                self.context.id,
                outcome.member.client,
                outcome.member.id,
            )
        self._tell(group, outcome, before)
        if outcome.resolves or self._has_to_resolve(consumers):
            self._resolve(group)

    def _forget_classic(self, group: Group) -> None:
        """Delete the last generation of a classic group that becomes a consumer group."""
        if group.generation:
            group.leader = group.assignor = group.protocol_type = ""
            self.metadata.write(Store(group.name), [ClassicRecord(group.name, -1)])

    def _keep_session(
        self, consumers: ConsumerGroup, member: Member, *, was: Member | None
    ) -> None:
        """Note a member's sign of life; its time to revoke begins when it is told to."""
        now = self.kernel.now
        consumers.sessions[member.id] = now + self.session_timeout_us(consumers.name)
        if member.state != UNREVOKED:
            consumers.revocations.pop(member.id, None)
        elif was is None or (was.state, was.epoch) != (member.state, member.epoch):
            due = requests.revocation_due_us(member, now)
            if due is not None:
                consumers.revocations[member.id] = due
        self.watch(consumers)

    def _leave(self, request: int, message: ConsumerGroupHeartbeatRequest) -> None:
        group = self.metadata.group(message.group)
        if group is None or group.consumer is None:
            raise Refused(requests.NO_GROUP, f"Group {message.group} not found.")
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

    def _remove(
        self,
        group: Group,
        member: Member,
        reason: str,
        answer: ConsumerGroupHeartbeatResponse | None = None,
    ) -> None:
        assert group.consumer is not None
        before = dict(group.consumer.members)
        outcome = requests.remove(group.consumer, member, self, self.rules)
        self._write(group, outcome.records, answer)
        if not group.consumer.members:
            group.empty_since_us = self.kernel.now
        self.kernel.emit(
            events.MemberLeft, group.name, self.context.id, member.client, member.id, reason
        )
        outcome = outcome._replace(reason=f"{member.client}: {reason}")
        self._tell(group, outcome, before)

    def make_way(self, name: str) -> bool:
        """Let a classic member join: an empty consumer group becomes a classic one."""
        group = self.metadata.group(name)
        if group is None or group.consumer is None:
            return True
        if group.consumer.members:
            return False
        records = requests.deletion_records(group.consumer)
        group.consumer, group.generation = None, 0
        self.metadata.write(Store(name), records)
        return True

    # ---- writing

    def _write(
        self,
        group: Group,
        records: list[Record],
        answer: ConsumerGroupHeartbeatResponse | None,
    ) -> None:
        """Apply records and append them; answer when all that was decided before is replicated."""
        assert group.consumer is not None
        answers = [] if answer is None else [answer]
        if not records:
            pending = [s for s in self.metadata.state.stores.values() if s.group == group.name]
            if pending and answer is not None:
                pending[-1].answers.append(answer)
            else:
                self._answer(answers)
            return
        before = _copy(group.consumer)
        for record in records:
            group.consumer.replay(record)
        self._note_state(group)
        self.metadata.write(Store(group.name, answers=answers, before=before), records)

    def stored(self, store: Store, error: str) -> None:
        """Handle the outcome of a write: answer, or restore the group as it was."""
        if error == NONE:
            self._answer(store.answers)
            return
        group = self.metadata.group(store.group)
        if group is not None and error != "REQUEST_TIMED_OUT" and store.before is not None:
            sessions = group.consumer.sessions if group.consumer is not None else {}
            group.consumer = store.before
            group.consumer.sessions.update(sessions)
            self._note_state(group)
        told = WRITE_ERRORS.get(error, UNKNOWN_ERROR)
        self._answer(
            [
                ConsumerGroupHeartbeatResponse(each.request, each.group, told)
                for each in store.answers
            ]
        )

    def _answer(self, answers: list[ConsumerGroupHeartbeatResponse]) -> None:
        for answer in answers:
            self.metadata.respond(answer.request, answer)

    # ---- what is told

    def _note_state(self, group: Group) -> None:
        """Keep the state and the epoch where those of classic groups are."""
        assert group.consumer is not None
        group.state, group.generation = group.consumer.state, group.consumer.epoch

    def _tell(self, group: Group, outcome: Outcome, before: dict[str, Member]) -> None:
        """Emit what a request has changed."""
        consumers, kernel = group.consumer, self.kernel
        assert consumers is not None
        epochs = [r for r in outcome.records if isinstance(r, GroupEpochRecord)]
        if epochs:
            kernel.emit(
                events.GroupEpochBumped,
                group.name,
                self.context.id,
                consumers.epoch,
                outcome.reason,
            )
        if any(isinstance(r, TargetEpochRecord) for r in outcome.records):
            kernel.emit(
                events.TargetAssignmentComputed,
                group.name,
                self.context.id,
                consumers.assignment_epoch,
                consumers.preferred_assignor(self.rules.assignors[0]),
            )
        for record in outcome.records:
            if isinstance(record, CurrentAssignmentRecord) and not record.is_tombstone:
                member = consumers.members[record.member]
                if member != before.get(member.id):
                    self._tell_member(consumers, member)
        if epochs or outcome.records:
            kernel.emit(
                events.GroupStateChanged,
                group.name,
                self.context.id,
                consumers.state,
                consumers.epoch,
            )

    def _tell_member(self, consumers: ConsumerGroup, member: Member) -> None:
        names = self.names(consumers)
        self.kernel.emit(
            events.MemberAssignmentChanged,
            consumers.name,
            self.context.id,
            member.client,
            member.id,
            member.epoch,
            member.state,
            _named(member.assigned, names),
            _named(member.revoking, names),
            sorted(consumers.awaited(member)),
        )

    def names(self, consumers: ConsumerGroup, member: Member | None = None) -> dict[str, str]:
        """The names of topics by id, as far as they still exist; also those of a new member."""
        found = {topic.id: name for name, topic in consumers.subscribed.items()}
        members = [*consumers.members.values(), *([member] if member is not None else [])]
        for name in {t for m in members for t in requests.topics_of(consumers, m)}:
            topic = self.topic(name)
            if topic is not None:
                found[topic.id] = name
        return found

    def description(self, group: Group | None, name: str) -> ConsumerGroupDescription:
        """A group as its coordinator describes it."""
        if group is None or group.consumer is None:
            text = (
                f"Group {name} not found."
                if group is None
                else f"Group {name} is not a consumer group."
            )
            return ConsumerGroupDescription(requests.NO_GROUP, text)
        consumers = group.consumer
        members = [consumers.members[each] for each in timeline_order(consumers.members)]
        return ConsumerGroupDescription(
            NONE,
            "",
            consumers.state,
            consumers.epoch,
            consumers.assignment_epoch,
            consumers.preferred_assignor(self.rules.assignors[0]),
            [
                ConsumerMemberDescription(
                    member.id,
                    member.instance_id,
                    member.rack_id,
                    member.epoch,
                    member.client,
                    member.host,
                    member.topics,
                    member.regex,
                    self._owned(member),
                    consumers.target.get(member.id, {}),
                    member.classic is not None,
                )
                for member in members
            ],
            self.names(consumers),
        )

    def _owned(self, member: Member) -> Partitions:
        """What a member is said to own: from 4.3 on also what it has still to revoke."""
        if not self.context.profile.has("revoking_partitions_described"):
            return member.assigned
        return {
            topic: sorted({*member.assigned.get(topic, ()), *member.revoking.get(topic, ())})
            for topic in {**member.assigned, **member.revoking}
        }

    # ---- settings

    def session_timeout_us(self, group: str) -> int:
        """How long a member of a group may be silent."""
        default_us = self.context.config.consumer_session_timeout_us
        return self.context.group_duration_us(group, "consumer.session.timeout.ms", default_us)

    def heartbeat_interval_ms(self, group: str) -> int:
        """How often the members of a group send heartbeats."""
        default_us = self.context.config.consumer_heartbeat_interval_us
        return (
            self.context.group_duration_us(group, "consumer.heartbeat.interval.ms", default_us)
            // US_PER_MS
        )

    # ---- regular expressions

    def _has_to_resolve(self, consumers: ConsumerGroup) -> bool:
        """Whether regular expressions are unresolved, or topics have changed since."""
        regexes = {member.regex for member in consumers.members.values() if member.regex}
        if not regexes or consumers.resolving:
            return False
        now = self.kernel.now
        last_us = max((each.at_us for each in consumers.regexes.values()), default=-RESOLVE_MAX_US)
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
        """The records of a new epoch, with the topics that were found."""
        after = _copy(consumers)
        for record in resolved:
            after.replay(record)
        return requests.refreshed(after, self, self.rules)

    # ---- time

    def watch(self, consumers: ConsumerGroup) -> None:
        """Schedule a check of a group at its next deadline."""
        due = [*consumers.sessions.values(), *(at for at, _ in consumers.revocations.values())]
        if due:
            self.context.timers.set_deadline(TASK, group_key(consumers.name), min(due))

    def expire(self, group: Group) -> None:
        """Fence members that were silent, or have not revoked, for too long."""
        consumers, now = group.consumer, self.kernel.now
        assert consumers is not None
        for name, due_us in list(consumers.sessions.items()):
            if due_us <= now and name in consumers.members:
                self._remove(group, consumers.members[name], "session expired")
        for name, (due_us, epoch) in list(consumers.revocations.items()):
            member = consumers.members.get(name)
            if due_us <= now:
                consumers.revocations.pop(name, None)
                if member is not None and member.epoch == epoch:
                    self._remove(group, member, "did not revoke in time")
        self.watch(consumers)

    def loaded(self, group: Group) -> None:
        """Start the sessions of a group that was loaded anew."""
        consumers, now = group.consumer, self.kernel.now
        assert consumers is not None
        for member in consumers.members.values():
            consumers.sessions[member.id] = now + self.session_timeout_us(group.name)
            due = requests.revocation_due_us(member, now)
            if due is not None:
                consumers.revocations[member.id] = due
        self._note_state(group)
        if consumers.state == EMPTY:
            group.empty_since_us = now
        self.watch(consumers)


def _is_replaceable(group: Group, message: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether a joining member may make a classic group its own: one without members."""
    return not message.member_epoch and group.state == EMPTY and not group.members


def _copy(group: ConsumerGroup) -> ConsumerGroup:
    """A copy that later records do not change."""
    return ConsumerGroup(
        group.name,
        group.epoch,
        group.assignment_epoch,
        dict(group.members),
        dict(group.target),
        dict(group.subscribed),
        group.metadata_hash,
        dict(group.regexes),
        dict(group.sessions),
        dict(group.revocations),
        group.resolving,
        group.assigned_at_us,
    )


def _named(partitions: Partitions, names: dict[str, str]) -> list[str]:
    return [
        f"{names.get(topic, topic)}-{number}"
        for topic, numbers in partitions.items()
        for number in numbers
    ]
